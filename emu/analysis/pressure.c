#include "emu/analysis/pressure.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "isa/csr.h"
#include "isa/flow.h"

/* Sets of registers, numbered as in isa/flow.h. The psABI's convention: */
#define INTEGER_ARGUMENTS  UINT64_C(0x3fc00)            /* a0 to a7 */
#define CALLER_SAVED       (UINT64_C(0xf003fce2))       /* ra, t0 to t2, a0 to a7, t3 to t6 */
#define CALLER_SAVED_FLOAT (UINT64_C(0xf003fcff) << 32) /* ft0 to ft11, fa0 to fa7 */
#define CALLEE_SAVED       (UINT64_C(0x0ffc0302))       /* s0 to s11, and ra, which a function also keeps */
#define CALLEE_SAVED_FLOAT (UINT64_C(0x0ffc0300) << 32) /* fs0 to fs11 */
#define RESULTS            (UINT64_C(0xc00) | UINT64_C(0xc00) << 32) /* a0, a1, fa0, fa1 */
#define UNCOUNTED          UINT64_C(0x1d)                            /* x0, sp, gp, tp */

enum { RA = 1, SP = 2, T0 = 5, REGISTERS = 64, NONE = -1, MOST_MEMBERS = 1 << 22 };

/* What is live: registers, and those whose upper 32 bits are. */
struct live {
    uint64_t any, high;
};

/* What registers hold: a sign-extended or zero-extended word; the value that they had when the function began. */
struct facts {
    uint64_t extended_sign, extended_zero, entry;
};

struct node {
    struct reach_step step;
    struct insn_registers regs;
    int next, target; /* nodes, or NONE; `target` of a call is its function */
    int first, last;  /* nodes that an indirect jump may reach: first <= n < last */
    struct live in, out;
    struct facts before;
    bool reached; /* `before` is valid */
};

struct function {
    int entry;
    int *members; /* nodes */
    size_t count, room;
    struct live results;     /* what callers use of the results */
    uint8_t kept[REGISTERS]; /* units of the registers that callers keep */
};

struct graph {
    struct node *nodes;
    size_t count, room;
    struct function *functions;
    size_t function_count, function_room, members;
    int *function_at; /* by node: the function that begins there, or NONE */
};

static uint64_t bit(unsigned reg)
{
    return reg < REGISTERS ? UINT64_C(1) << reg : 0;
}

static void visit(void *context, const struct reach_step *step)
{
    struct graph *graph = context;
    if (graph->count == graph->room) {
        graph->room = graph->room ? 2 * graph->room : 256;
        graph->nodes = alloc_resize(graph->nodes, graph->room * sizeof *graph->nodes);
    }
    graph->nodes[graph->count++] = (struct node){.step = *step, .regs = insn_registers(&step->insn)};
}

static int by_pc(const void *a, const void *b)
{
    uint64_t x = ((const struct node *)a)->step.pc, y = ((const struct node *)b)->step.pc;
    return x < y ? -1 : x > y;
}

/* Returns the first node at or after pc. */
static int node_from(const struct graph *graph, uint64_t pc)
{
    size_t low = 0, high = graph->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (graph->nodes[middle].step.pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return (int)low;
}

static int node_at(const struct graph *graph, uint64_t pc)
{
    int at = node_from(graph, pc);
    return (size_t)at < graph->count && graph->nodes[at].step.pc == pc ? at : NONE;
}

static bool is_call(const struct node *node)
{
    return node->step.flow & FLOW_CALL;
}

/* Connects the nodes within functions. */
static void connect(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct node *node = &graph->nodes[i];
        const struct reach_step *step = &node->step;
        bool ends = (step->flow & FLOW_JUMP) && !(step->flow & FLOW_CALL);
        node->next = ends ? NONE : node_at(graph, step->pc + step->insn.length);
        node->target = step->known ? node_at(graph, step->target) : NONE;
        if (step->end) {
            node->first = node_from(graph, step->pc + step->insn.length);
            node->last = node_from(graph, step->end);
        }
    }
}

static void add_function(struct graph *graph, int entry)
{
    if (entry == NONE || graph->function_at[entry] != NONE)
        return;
    if (graph->function_count == graph->function_room) {
        graph->function_room = graph->function_room ? 2 * graph->function_room : 16;
        graph->functions = alloc_resize(graph->functions, graph->function_room * sizeof *graph->functions);
    }
    graph->function_at[entry] = (int)graph->function_count;
    graph->functions[graph->function_count++] = (struct function){.entry = entry};
}

static void add_member(struct graph *graph, struct function *function, int node, int *marks, int mark)
{
    if (node == NONE || marks[node] == mark)
        return;
    marks[node] = mark;
    if (function->count == function->room) {
        function->room = function->room ? 2 * function->room : 64;
        function->members = alloc_resize(function->members, function->room * sizeof *function->members);
    }
    function->members[function->count++] = node;
    graph->members++;
}

/* Collects the nodes of a function: what its entry leads to without calls. */
static void collect(struct graph *graph, struct function *function, int *marks, int mark)
{
    add_member(graph, function, function->entry, marks, mark);
    for (size_t i = 0; i < function->count && graph->members < MOST_MEMBERS; i++) {
        const struct node *node = &graph->nodes[function->members[i]];
        add_member(graph, function, node->next, marks, mark);
        if (!is_call(node))
            add_member(graph, function, node->target, marks, mark);
        for (int j = node->first; j < node->last; j++)
            add_member(graph, function, j, marks, mark);
    }
}

/* Finds the functions: the entry, and the targets of calls. */
static void find_functions(struct graph *graph, uint64_t entry)
{
    graph->function_at = alloc(graph->count + 1, sizeof *graph->function_at);
    int *marks = alloc(graph->count + 1, sizeof *marks);
    for (size_t i = 0; i < graph->count; i++)
        graph->function_at[i] = marks[i] = NONE;
    add_function(graph, node_at(graph, entry));
    for (size_t i = 0; i < graph->count; i++)
        if (is_call(&graph->nodes[i]))
            add_function(graph, graph->nodes[i].target);
    for (size_t i = 0; i < graph->function_count; i++)
        collect(graph, &graph->functions[i], marks, (int)i);
    free(marks);
}

/* Returns the registers that a call changes. A function that is called by t0 keeps all others (host/simt/entry.S, and
 * the compiler's functions that save registers). */
static uint64_t changed_by(const struct node *call)
{
    return call->regs.rd == T0 ? bit(T0) : CALLER_SAVED | CALLER_SAVED_FLOAT;
}

/* Forwards: the facts about a result. */

static bool in_class(const struct insn *insn, enum insn_class iclass)
{
    return insn_table[insn->id].iclass == iclass;
}

/* Returns what an instruction tells about an integer result: bit 0 a sign-extended, bit 1 a zero-extended word. */
static unsigned result_of(const struct node *node, unsigned of1, unsigned of2)
{
    enum { SIGN = 1, ZERO = 2, BOTH = 3 };
    const struct insn *insn = &node->step.insn;
    const struct insn_info *info = &insn_table[insn->id];
    if (info->access == ACCESS_LOAD || info->access == ACCESS_LR || info->access == ACCESS_AMO ||
        info->access == ACCESS_SC)
        return insn->id == INSN_lwu ? ZERO : info->size == 8 ? 0 : info->size == 4 ? SIGN : BOTH;
    switch ((enum insn_id)insn->id) {
    case INSN_addi:
        if (insn->rs1 == 0)
            return insn->imm >= 0 ? BOTH : SIGN;
        return insn->imm == 0 ? of1 : 0;
    case INSN_lui: return insn->imm >= 0 ? BOTH : SIGN;
    case INSN_andi: return insn->imm >= 0 ? BOTH : of1;
    case INSN_ori:
    case INSN_xori: return insn->imm >= 0 ? of1 : of1 & SIGN;
    case INSN_and: return (of1 & of2) | ((of1 | of2) & ZERO) | (of1 == BOTH || of2 == BOTH ? BOTH : 0);
    case INSN_or:
    case INSN_xor:
    case INSN_min:
    case INSN_max:
    case INSN_minu:
    case INSN_maxu: return of1 & of2;
    case INSN_srli: return insn->imm > 32 ? BOTH : insn->imm == 32 ? ZERO : of1 & ZERO;
    case INSN_srai: return insn->imm >= 32 ? SIGN : of1;
    case INSN_sext_b:
    case INSN_sext_h: return SIGN;
    case INSN_slt:
    case INSN_sltu:
    case INSN_slti:
    case INSN_sltiu:
    case INSN_zext_h:
    case INSN_clz:
    case INSN_ctz:
    case INSN_cpop:
    case INSN_clzw:
    case INSN_ctzw:
    case INSN_cpopw:
    case INSN_bext:
    case INSN_bexti: return BOTH;
    case INSN_fmv_x_d:
    case INSN_fcvt_l_s:
    case INSN_fcvt_lu_s:
    case INSN_fcvt_l_d:
    case INSN_fcvt_lu_d: return 0;
    default: return info->precision == PRECISION_W || insn_is_float(info) ? SIGN : 0;
    }
}

/* Coordinates are words; thread numbers, addresses and counters need not be. */
static unsigned result_of_csr(const struct insn *insn)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    return number >= CSR_sthread_x && number <= CSR_smp ? 2 : 0;
}

static unsigned known(const struct facts *facts, unsigned reg)
{
    if (reg >= REGISTERS)
        return 3; /* x0 */
    return (unsigned)(facts->extended_sign >> reg & 1) | (unsigned)(facts->extended_zero >> reg & 1) << 1;
}

static struct facts facts_after(const struct node *node)
{
    struct facts facts = node->before;
    uint64_t rd = bit(node->regs.rd), changed = rd;
    unsigned result = in_class(&node->step.insn, CLASS_CSR)
                          ? result_of_csr(&node->step.insn)
                          : result_of(node, known(&facts, node->regs.rs1), known(&facts, node->regs.rs2));
    if (is_call(node)) {
        changed |= changed_by(node);
        result = 0;
    }
    facts.extended_sign &= ~changed;
    facts.extended_zero &= ~changed;
    facts.entry &= ~rd;
    facts.extended_sign |= result & 1 ? rd : 0;
    facts.extended_zero |= result & 2 ? rd : 0;
    return facts;
}

/* Narrows what is known before a node. Returns whether it changes. */
static bool meet(struct graph *graph, int at, const struct facts *facts)
{
    if (at == NONE)
        return false;
    struct node *node = &graph->nodes[at];
    struct facts old = node->before;
    if (!node->reached) {
        node->reached = true;
        node->before = *facts;
        return true;
    }
    node->before.extended_sign &= facts->extended_sign;
    node->before.extended_zero &= facts->extended_zero;
    node->before.entry &= facts->entry;
    return memcmp(&old, &node->before, sizeof old) != 0;
}

static bool spread_facts(struct graph *graph, const struct node *node)
{
    struct facts facts = facts_after(node);
    bool changed = meet(graph, node->next, &facts);
    if (is_call(node)) {
        facts = node->before;
        facts.entry = CALLEE_SAVED | CALLEE_SAVED_FLOAT;
    }
    changed |= meet(graph, node->target, &facts);
    for (int i = node->first; i < node->last; i++)
        changed |= meet(graph, i, &facts);
    return changed;
}

static void find_facts(struct graph *graph)
{
    const struct facts begin = {.entry = CALLEE_SAVED | CALLEE_SAVED_FLOAT};
    (void)meet(graph, graph->functions[0].entry, &begin);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < graph->count; i++)
            if (graph->nodes[i].reached)
                changed |= spread_facts(graph, &graph->nodes[i]);
    }
}

/* Backwards: what an instruction demands of its operands. */

static bool is_store(const struct insn_info *info)
{
    return info->access == ACCESS_STORE;
}

/* Returns whether the low 32 bits of the result depend only on the low 32 bits of the operands. */
static bool passes_words(enum insn_id id)
{
    switch (id) {
    case INSN_add:
    case INSN_sub:
    case INSN_addi:
    case INSN_and:
    case INSN_or:
    case INSN_xor:
    case INSN_andi:
    case INSN_ori:
    case INSN_xori:
    case INSN_andn:
    case INSN_orn:
    case INSN_xnor:
    case INSN_slli:
    case INSN_sll:
    case INSN_mul:
    case INSN_sh1add:
    case INSN_sh2add:
    case INSN_sh3add:
    case INSN_add_uw:
    case INSN_sh1add_uw:
    case INSN_sh2add_uw:
    case INSN_sh3add_uw:
    case INSN_slli_uw: return true;
    default: return false;
    }
}

/* Returns whether operand 1 or 2, an integer, is demanded only in its low 32 bits whatever the result is for. */
static bool takes_word(const struct insn *insn, unsigned operand)
{
    switch ((enum insn_id)insn->id) {
    case INSN_add_uw:
    case INSN_sh1add_uw:
    case INSN_sh2add_uw:
    case INSN_sh3add_uw:
    case INSN_slli_uw:
    case INSN_sext_b:
    case INSN_sext_h:
    case INSN_zext_h:
    case INSN_fmv_w_x:
    case INSN_fcvt_s_w:
    case INSN_fcvt_s_wu:
    case INSN_fcvt_d_w:
    case INSN_fcvt_d_wu: return operand == 1;
    case INSN_andi: return insn->imm >= 0;
    case INSN_sll:
    case INSN_srl:
    case INSN_sra:
    case INSN_rol:
    case INSN_ror:
    case INSN_bset:
    case INSN_bclr:
    case INSN_binv:
    case INSN_bext: return operand == 2;
    default: return insn_table[insn->id].precision == PRECISION_W && !insn_table[insn->id].size;
    }
}

/* Returns whether the upper half of an operand is demanded. */
static bool demands_high(const struct node *node, unsigned operand, unsigned reg, bool result_high)
{
    const struct insn *insn = &node->step.insn;
    const struct insn_info *info = &insn_table[insn->id];
    if (info->access != ACCESS_NONE)
        return operand == 1 || info->size == 8;
    if (reg >= 32)
        return insn->id == INSN_fcvt_s_d || (info->precision == PRECISION_D && insn->id != INSN_fcvt_d_s);
    if (takes_word(insn, operand))
        return false;
    return result_high || !passes_words((enum insn_id)insn->id);
}

/* Returns whether `live` grows. */
static bool join(struct live *live, struct live other)
{
    bool grows = (other.any & ~live->any) || (other.high & ~live->high);
    live->any |= other.any;
    live->high |= other.high;
    return grows;
}

static void use(struct live *live, unsigned reg, bool high)
{
    live->any |= bit(reg);
    live->high |= high ? bit(reg) : 0;
}

/* Returns whether the instruction only saves a value of the caller, or uses a return address. */
static bool saves(const struct node *node, unsigned operand, unsigned reg)
{
    const struct insn_info *info = &insn_table[node->step.insn.id];
    if (node->step.flow & FLOW_RETURN)
        return operand == 1;
    return is_store(info) && operand == 2 && info->size == 8 && node->step.insn.rs1 == SP &&
           (node->before.entry & bit(reg));
}

static struct live live_before(const struct node *node)
{
    const uint8_t operands[] = {node->regs.rs1, node->regs.rs2, node->regs.rs3};
    uint64_t rd = bit(node->regs.rd);
    struct live live = {node->out.any & ~rd, node->out.high & ~rd};
    for (unsigned i = 0; i < 3; i++)
        if (operands[i] < REGISTERS && !saves(node, i + 1, operands[i]))
            use(&live, operands[i], demands_high(node, i + 1, operands[i], node->out.high & rd));
    if (node->step.insn.id == INSN_ecall)
        (void)join(&live, (struct live){INTEGER_ARGUMENTS, INTEGER_ARGUMENTS});
    return live;
}

static struct live only(struct live live, uint64_t set)
{
    return (struct live){live.any & set, live.high & set};
}

/* Updates what is live at a node. Returns whether it grows. */
static bool update(struct graph *graph, struct node *node)
{
    const struct live none = {0}, after = node->next == NONE ? none : graph->nodes[node->next].in;
    struct live out = after;
    if (is_call(node)) {
        out = only(out, ~changed_by(node));
        if (node->target != NONE)
            (void)join(&out, graph->nodes[node->target].in);
    } else if (node->target != NONE) {
        (void)join(&out, graph->nodes[node->target].in);
    }
    for (int i = node->first; i < node->last; i++)
        (void)join(&out, graph->nodes[i].in);
    (void)join(&node->out, out);
    bool grows = join(&node->in, live_before(node));
    if (is_call(node) && node->target != NONE) {
        struct function *function = &graph->functions[graph->function_at[node->target]];
        grows |= join(&function->results, only(after, RESULTS));
    }
    return grows;
}

/* Gives a function's results to its returns. Returns whether something grows. */
static bool give_results(struct graph *graph, const struct function *function)
{
    bool grows = false;
    for (size_t i = 0; i < function->count; i++) {
        struct node *node = &graph->nodes[function->members[i]];
        if (node->step.flow & FLOW_RETURN)
            grows |= join(&node->out, function->results);
    }
    return grows;
}

static void find_live(struct graph *graph)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t i = graph->count; i-- > 0;)
            grows |= update(graph, &graph->nodes[i]);
        for (size_t i = 0; i < graph->function_count; i++)
            grows |= give_results(graph, &graph->functions[i]);
    }
}

/* Counting. */

static unsigned units_of(const struct live *live, const struct facts *facts, unsigned reg)
{
    if (!(live->any >> reg & 1) || UNCOUNTED >> reg & 1)
        return 0;
    bool extended = reg < 32 && known(facts, reg);
    return live->high >> reg & 1 && !extended ? 2 : 1;
}

/* Adds up what is live and what callers keep. */
static unsigned total(const struct function *function, const struct live *live, const struct facts *facts)
{
    unsigned sum = 0;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        unsigned units = units_of(live, facts, reg);
        sum += units > function->kept[reg] ? units : function->kept[reg];
    }
    return sum;
}

/* Returns what a call leaves to be kept. */
static struct live kept_over(const struct graph *graph, const struct node *call)
{
    const struct live none = {0};
    return call->next == NONE ? none : only(graph->nodes[call->next].in, ~changed_by(call));
}

/* Adds what a function keeps over its calls, and what its callers keep, to its callees. */
static bool keep(struct graph *graph, const struct function *function)
{
    bool grows = false;
    for (size_t i = 0; i < function->count; i++) {
        const struct node *node = &graph->nodes[function->members[i]];
        if (!is_call(node) || node->target == NONE)
            continue;
        struct function *callee = &graph->functions[graph->function_at[node->target]];
        const struct live live = kept_over(graph, node);
        for (unsigned reg = 0; reg < REGISTERS; reg++) {
            unsigned units = units_of(&live, &node->before, reg);
            units = units > function->kept[reg] ? units : function->kept[reg];
            grows |= units > callee->kept[reg];
            callee->kept[reg] = (uint8_t)(units > callee->kept[reg] ? units : callee->kept[reg]);
        }
    }
    return grows;
}

static void find_kept(struct graph *graph)
{
    for (bool grows = true; grows;) {
        grows = false;
        for (size_t i = 0; i < graph->function_count; i++)
            grows |= keep(graph, &graph->functions[i]);
    }
}

/* Returns the units that a node of the function needs. */
static unsigned needed(const struct graph *graph, const struct function *function, const struct node *node)
{
    struct facts after = facts_after(node);
    unsigned before = total(function, &node->in, &node->before);
    unsigned behind = total(function, &node->out, &after);
    if (is_call(node) && node->target == NONE) {
        struct live live = kept_over(graph, node);
        uint64_t changed = (CALLER_SAVED | CALLER_SAVED_FLOAT) & ~bit(RA);
        (void)join(&live, (struct live){changed, changed});
        const struct facts nothing = {0};
        behind = total(function, &live, &nothing);
    }
    return before > behind ? before : behind;
}

static void find_most(const struct graph *graph, struct pressure *pressure)
{
    for (size_t i = 0; i < graph->function_count; i++) {
        const struct function *function = &graph->functions[i];
        for (size_t j = 0; j < function->count; j++) {
            const struct node *node = &graph->nodes[function->members[j]];
            unsigned units = needed(graph, function, node);
            if (units <= pressure->units)
                continue;
            pressure->units = units;
            pressure->where = node->step.pc;
        }
    }
}

static void graph_free(struct graph *graph)
{
    for (size_t i = 0; i < graph->function_count; i++)
        free(graph->functions[i].members);
    free(graph->functions);
    free(graph->function_at);
    free(graph->nodes);
}

struct pressure pressure_of(const struct decoder *decoder, const struct reach_code *code, uint64_t entry)
{
    struct graph graph = {0};
    struct reach reach = reach_walk(decoder, code, entry, &(struct reach_visitor){visit, &graph});
    struct pressure pressure = {.units = 1, .named = reach_halves(&reach), .where = entry};
    if (graph.count)
        qsort(graph.nodes, graph.count, sizeof *graph.nodes, by_pc);
    connect(&graph);
    if (reach.insns < REACH_INSNS)
        find_functions(&graph, entry);
    pressure.functions = (unsigned)graph.function_count;
    if (reach.insns >= REACH_INSNS || graph.members >= MOST_MEMBERS) {
        pressure.units = pressure.named;
    } else if (graph.function_count) {
        find_facts(&graph);
        find_live(&graph);
        find_kept(&graph);
        find_most(&graph, &pressure);
    }
    graph_free(&graph);
    return pressure;
}
