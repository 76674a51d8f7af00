#include <inttypes.h>
#include <string.h>

#include "emu/cmd/cc/loops/state.h"
#include "isa/disasm.h"

enum {
    MOST_OPS = 192,
    MOST_ROUNDS = 4,
    WIDTH = 2,    /* instructions that an accelerator issues in a clock */
    STALLED = 64, /* clocks without an instruction: no register becomes free any more */
    VALUE =
        REGISTERS, /* numbers of values that have no register yet are from VALUE + 1 on; REGISTER_NONE is not used */
    NO_VALUE = REGISTER_NONE,
    RESERVE = 3, /* registers that later rounds leave to the earliest one */
};

/* An instruction of the interleaved rounds. Operands below REGISTERS are registers, above VALUE values. */
struct op {
    struct insn insn;
    unsigned rd, rs[3];
    const struct nest_access *access; /* or NULL */
    unsigned round, height,
        ready;    /* height: clocks to the end; ready: the first clock in which it can begin */
    int prefetch; /* the number of the far load before which it is a prefetch, or -1 */
    bool done;
};

struct block {
    const struct rewriter *r;
    const struct launch *l;
    const struct nest_unroll *unroll;
    struct nest_unroll sliced; /* `unroll`; of a slice with another limit */
    unsigned rounds, count, values;
    bool folds; /* steps of counters may go to offsets */
    struct op ops[MOST_OPS];
    unsigned order[MOST_OPS]; /* of the schedule */
    unsigned now[REGISTERS];  /* by register: the operand that holds it */
    uint8_t bound;            /* the register that holds the counter's bound */
    uint64_t behind;          /* registers that code behind the loop reads */
    uint64_t folded, carried; /* counters whose steps go to offsets; registers that rounds hand on */
    int64_t delta[REGISTERS]; /* by register: what it holds beyond its operand in now[] */
    int last[REGISTERS];      /* by register: the last instruction of a round that writes it */
    uint8_t place[MOST_OPS + VALUE + 1]; /* by value: its register */
    unsigned uses[MOST_OPS + VALUE + 1]; /* by value: instructions that have yet to read it */
    uint64_t free;                       /* registers for values */
};

static const struct cfg_insn *insn_at(const struct block *b, int at)
{
    return &b->r->cfg->insns[at];
}

/* Returns whether the limit is in a slot of the stack frame, from which each round loads it. */
static bool in_slot(const struct nest_unroll *unroll)
{
    return unroll->limit >= 32 && unroll->limit < NEST_REGISTERS;
}

static uint64_t named_by(const struct cfg_insn *insn)
{
    return register_bit(insn->regs.rs1) | register_bit(insn->regs.rs2) | register_bit(insn->regs.rs3);
}

static bool is_small(int64_t value)
{
    return value >= -2048 && value < 2048;
}

/* Returns the far load that the instruction is, if it has a prefetch; otherwise -1. */
static int prefetch_of(const struct block *b, int at)
{
    for (unsigned i = 0; i < b->l->task->nest.far_count; i++)
        if (b->l->task->nest.fars[i].at == at && nest_is_prefetched(b->r, b->l, i))
            return (int)i;
    return -1;
}

static bool is_step(const struct cfg_insn *insn)
{
    return insn->step.insn.id == INSN_addi && insn->regs.rd < 32 && insn->regs.rd == insn->regs.rs1;
}

/* Finds what an instruction's result changes by if its operands change so. Returns false if it is not known. */
static bool find_change(const struct insn *insn, int64_t first, int64_t second, int64_t *change)
{
    *change = 0;
    switch ((enum insn_id)insn->id) {
    case INSN_addi: *change = first; return true;
    case INSN_add: *change = first + second; return true;
    case INSN_sub: *change = first - second; return true;
    case INSN_sh1add: *change = 2 * first + second; return true;
    case INSN_sh2add: *change = 4 * first + second; return true;
    case INSN_sh3add: *change = 8 * first + second; return true;
    case INSN_slli: *change = insn->imm < 8 ? first * (INT64_C(1) << insn->imm) : 0; return insn->imm < 8;
    default: return first == 0 && second == 0;
    }
}

/* Returns whether the steps of a register can go to the offsets of loads and stores: it, and sums with it, are addresses only. */
static bool can_fold(const struct block *b, unsigned reg)
{
    const int adds = b->last[reg];
    uint64_t sums = register_bit(reg);
    bool fits = is_step(insn_at(b, adds)) && is_small(insn_at(b, adds)->step.insn.imm * (int64_t)b->rounds);
    for (int at = b->unroll->first; at < b->unroll->branch && fits; at++) {
        const struct cfg_insn *insn = insn_at(b, at);
        const uint64_t first = register_bit(insn->regs.rs1) & sums,
                       second = register_bit(insn->regs.rs2) & sums;
        bool accesses = insn_table[insn->step.insn.id].access != ACCESS_NONE;
        int64_t change;
        if (at == adds)
            continue;
        fits = insn->regs.rd != reg &&
               (accesses ? !second && !(first && prefetch_of(b, at) >= 0)
                         : find_change(&insn->step.insn, first != 0, second != 0, &change));
        bool sum = !accesses && (first || second);
        sums = sum ? sums | register_bit(insn->regs.rd) : sums & ~register_bit(insn->regs.rd);
    }
    return fits && !(sums & ~register_bit(reg) & b->behind);
}

/* Tells registers apart that the block writes: what a round reads first is folded or handed on, all others hold values of a round. */
static void find_kinds(struct block *b)
{
    uint64_t written = 0;
    for (int at = b->unroll->first; at < b->unroll->branch; at++) {
        const struct cfg_insn *insn = insn_at(b, at);
        b->carried |= named_by(insn) & ~written;
        written |= register_bit(insn->regs.rd);
        if (insn->regs.rd < REGISTERS)
            b->last[insn->regs.rd] = at;
    }
    b->carried = (b->carried | register_bit(b->unroll->counter)) & written;
    for (unsigned reg = 1; reg < 32 && b->folds; reg++)
        if (b->carried >> reg & 1 && can_fold(b, reg))
            b->folded |= register_bit(reg);
    b->carried &= ~b->folded;
}

static unsigned operand_of(const struct block *b, unsigned reg)
{
    return reg < REGISTERS ? b->now[reg] : NO_VALUE;
}

static const struct nest_access *access_of(const struct block *b, int at)
{
    for (unsigned i = 0; i < b->unroll->access_count; i++)
        if (b->unroll->accesses[i].at == at)
            return &b->unroll->accesses[i];
    return NULL;
}

static bool is_store(const struct op *op)
{
    return op->prefetch < 0 && insn_table[op->insn.id].access == ACCESS_STORE;
}

/* Returns whether accesses of two instructions, the first one before the second, have to stay in order. */
static bool are_ordered(const struct op *a, const struct op *b)
{
    if (!a->access || !b->access || !(is_store(a) || is_store(b)))
        return false;
    return !nest_are_apart(a->access, b->access, (int64_t)b->round - (int64_t)a->round);
}

/* Returns whether an earlier instruction has computed, or loaded, the same value. */
static bool is_again(const struct block *b, unsigned earlier, const struct op *op)
{
    const struct op *e = &b->ops[earlier];
    if (e->rd <= VALUE || e->insn.id != op->insn.id || e->insn.rm != op->insn.rm || e->prefetch >= 0)
        return false;
    if (op->access) {
        if (!e->access || !nest_are_same(e->access, op->access, (int64_t)op->round - (int64_t)e->round))
            return false;
        for (unsigned i = earlier + 1; i < b->count; i++)
            if (is_store(&b->ops[i]) && are_ordered(&b->ops[i], op))
                return false;
        return true;
    }
    bool same = e->insn.imm == op->insn.imm;
    for (unsigned i = 0; i < 3; i++)
        same = same && e->rs[i] == op->rs[i] && (e->rs[i] >= REGISTERS || !(b->carried >> e->rs[i] & 1));
    return same;
}

/* Adds an instruction whose register a round does not hand on: none, if its value is there already. */
static void add_value(struct block *b, struct op *op, unsigned reg, bool keeps)
{
    for (unsigned i = b->count; i-- > 0 && !keeps;)
        if (is_again(b, i, op)) {
            b->now[reg] = b->ops[i].rd;
            return;
        }
    op->rd = keeps ? reg : VALUE + ++b->values;
    b->now[reg] = op->rd;
    b->ops[b->count++] = *op;
}

/* Moves what operands hold beyond those in now[] to an offset, or to *change of the result. Returns false if that cannot be. */
static bool adjust(const struct block *b, const struct cfg_insn *insn, struct op *op, int64_t *change)
{
    const int64_t first = insn->regs.rs1 < 32 ? b->delta[insn->regs.rs1] : 0,
                  second = insn->regs.rs2 < 32 ? b->delta[insn->regs.rs2] : 0;
    *change = 0;
    if (insn_table[op->insn.id].access == ACCESS_NONE)
        return find_change(&op->insn, first, second, change);
    op->insn.imm += (int32_t)first;
    return second == 0 && is_small(op->insn.imm) && is_small(first);
}

static void add_prefetch(struct block *b, const struct op *before, int far)
{
    b->ops[b->count] = *before;
    b->ops[b->count].rs[1] = b->ops[b->count].rs[2] = NO_VALUE;
    b->ops[b->count++].prefetch = far;
}

/* Adds an instruction of a round. Returns false if it cannot be. */
static bool add(struct block *b, unsigned round, int at)
{
    const struct cfg_insn *insn = insn_at(b, at);
    const unsigned reg = insn->regs.rd;
    int64_t change;
    struct op op = {
        .insn = insn->step.insn,
        .rd = NO_VALUE,
        .rs = {operand_of(b, insn->regs.rs1), operand_of(b, insn->regs.rs2), operand_of(b, insn->regs.rs3)},
        .round = round,
        .prefetch = -1};
    if (prefetch_of(b, at) >= 0)
        add_prefetch(b, &op, prefetch_of(b, at));
    op.access = access_of(b, at);
    if (reg < REGISTERS && b->folded >> reg & 1) {
        b->delta[reg] += insn->step.insn.imm;
        return true;
    }
    if (!adjust(b, insn, &op, &change))
        return false;
    bool last = round + 1 == b->rounds && reg < REGISTERS && b->last[reg] == at,
         keeps = last && b->behind >> reg & 1;
    if (reg < REGISTERS && !(b->carried >> reg & 1)) {
        add_value(b, &op, reg, keeps);
        b->delta[reg] = change;
        return !keeps || change == 0;
    }
    op.rd = reg < REGISTERS ? reg : NO_VALUE;
    b->ops[b->count++] = op;
    return change == 0;
}

static void count_uses(struct block *b)
{
    for (unsigned i = 0; i < b->count; i++)
        for (unsigned j = 0; j < 3; j++)
            if (b->ops[i].rs[j] > VALUE)
                b->uses[b->ops[i].rs[j]]++;
}

/* Removes instructions whose values nobody reads. */
static void remove_unused(struct block *b)
{
    unsigned left = 0;
    count_uses(b);
    for (unsigned i = b->count; i-- > 0;) {
        struct op *op = &b->ops[i];
        op->done = op->rd > VALUE && !b->uses[op->rd];
        for (unsigned j = 0; j < 3 && op->done; j++)
            if (op->rs[j] > VALUE)
                b->uses[op->rs[j]]--;
    }
    for (unsigned i = 0; i < b->count; i++)
        if (!b->ops[i].done)
            b->ops[left++] = b->ops[i];
    b->count = left;
}

/* Finds the registers that code behind the loop reads. */
static void find_behind(struct block *b)
{
    const struct task_nest *nest = &b->l->task->nest;
    const struct insn_registers *branch = &insn_at(b, b->unroll->branch)->regs;
    b->behind = b->unroll->behind;
    if (!in_slot(b->unroll))
        b->behind |= register_bit(branch->rs1) | register_bit(branch->rs2);
    for (unsigned i = 0; i < nest->sink_count; i++)
        if (nest->sinks[i].branch == b->unroll->branch)
            b->behind |= register_bit(insn_at(b, nest->sinks[i].store)->regs.rs2);
}

/* Writes down the instructions of all rounds, in their order. Returns false if they are too many. */
static bool build(struct block *b)
{
    unsigned length = (unsigned)(b->unroll->branch - b->unroll->first);
    if ((length + NEST_FARS) * b->rounds + 32 > MOST_OPS)
        return false;
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        b->now[reg] = reg;
    find_behind(b);
    find_kinds(b);
    for (unsigned round = 0; round < b->rounds; round++)
        for (int at = b->unroll->first; at < b->unroll->branch; at++)
            if (!nest_is_sunk(b->r, b->l, rewriter_line(b->r, at)) && !slice_drops(b->l, at) &&
                !add(b, round, at))
                return false;
    remove_unused(b);
    for (unsigned reg = 1; reg < 32; reg++)
        if (b->folded >> reg & 1)
            b->ops[b->count++] =
                (struct op){.insn = {.id = INSN_addi, .length = 4, .imm = (int32_t)b->delta[reg]},
                            .rd = reg,
                            .rs = {reg, NO_VALUE, NO_VALUE},
                            .round = b->rounds,
                            .prefetch = -1};
    return true;
}

/* Returns how long the result of an instruction takes; of cores like Cortex-A53. */
static unsigned latency_of(const struct op *op)
{
    switch ((enum insn_class)insn_table[op->insn.id].iclass) {
    case CLASS_LOAD:
    case CLASS_FLOAD:
    case CLASS_MUL: return 3;
    case CLASS_FADD:
    case CLASS_FMUL:
    case CLASS_FCVT:
    case CLASS_FMISC: return 4;
    case CLASS_FMA: return 8;
    case CLASS_DIV:
    case CLASS_FDIV:
    case CLASS_FSQRT: return 20;
    default: return 1;
    }
}

static bool reads(const struct op *op, unsigned operand)
{
    return operand != NO_VALUE && (op->rs[0] == operand || op->rs[1] == operand || op->rs[2] == operand);
}

/* Returns how many clocks after the first instruction the second one can begin; -1: it does not wait for it. */
static int distance_of(const struct op *a, const struct op *b)
{
    if (reads(b, a->rd))
        return (int)latency_of(a);
    if ((a->rd != NO_VALUE && a->rd == b->rd) || are_ordered(a, b))
        return 1;
    return reads(a, b->rd) ? 0 : -1;
}

static void find_heights(struct block *b)
{
    for (unsigned i = b->count; i-- > 0;)
        for (unsigned j = i + 1; j < b->count; j++) {
            int distance = distance_of(&b->ops[i], &b->ops[j]);
            unsigned height = b->ops[j].height + (unsigned)distance;
            if (distance >= 0 && height > b->ops[i].height)
                b->ops[i].height = height;
        }
}

static bool is_float(const struct op *op)
{
    return format_table[insn_table[op->insn.id].format].rd == ROLE_F;
}

/* Returns the registers that the value of an instruction may have: also those of values that it is the last to read. */
static uint64_t places_of(const struct block *b, const struct op *op)
{
    uint64_t free = b->free;
    for (unsigned i = 0; i < 3 && !op->done; i++) {
        const unsigned value = op->rs[i];
        unsigned times = 0;
        for (unsigned j = 0; j < 3; j++)
            times += op->rs[j] == value;
        if (value > VALUE && b->uses[value] == times)
            free |= register_bit(b->place[value]);
    }
    return free & (is_float(op) ? ~UINT64_C(0) << 32 : UINT64_C(0xffffffff));
}

static enum insn_unit unit_of(const struct op *op)
{
    enum insn_class class = (enum insn_class)insn_table[op->insn.id].iclass;
    bool memory = op->access || op->prefetch >= 0;
    return memory ? UNIT_MEMORY : class == CLASS_ALU ? UNIT_INTEGER : UNIT_FLOAT;
}

/* Returns whether all instructions before it, for which it waits, have begun long enough ago. */
static bool is_ready(const struct block *b, unsigned number, unsigned clock)
{
    for (unsigned i = 0; i < number; i++)
        if (!b->ops[i].done && distance_of(&b->ops[i], &b->ops[number]) >= 0)
            return false;
    return b->ops[number].ready <= clock;
}

/* Returns the instruction that begins next in the clock, or `count`. used: units that are busy. */
static unsigned choose(const struct block *b, unsigned clock, unsigned used)
{
    unsigned best = b->count, earliest = b->rounds;
    for (unsigned i = b->count; i-- > 0;)
        if (!b->ops[i].done && b->ops[i].round < earliest)
            earliest = b->ops[i].round;
    for (unsigned i = 0; i < b->count; i++) {
        const struct op *op = &b->ops[i];
        unsigned unit = 1U << unit_of(op);
        unsigned left = (unsigned)__builtin_popcountll(places_of(b, op));
        if (op->done || (used & unit & ~(1U << UNIT_INTEGER)) || !is_ready(b, i, clock) ||
            (op->rd > VALUE && left < (op->round == earliest ? 1U : 1U + RESERVE)))
            continue;
        if (best == b->count || op->height > b->ops[best].height)
            best = i;
    }
    return best;
}

static void begin(struct block *b, unsigned number, unsigned clock)
{
    struct op *op = &b->ops[number];
    op->done = true;
    for (unsigned i = number + 1; i < b->count; i++) {
        int distance = distance_of(op, &b->ops[i]);
        if (distance >= 0 && clock + (unsigned)distance > b->ops[i].ready)
            b->ops[i].ready = clock + (unsigned)distance;
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned value = op->rs[i];
        if (value > VALUE) {
            op->rs[i] = b->place[value];
            if (--b->uses[value] == 0)
                b->free |= register_bit(b->place[value]);
        }
    }
    if (op->rd > VALUE) {
        unsigned value = op->rd;
        b->place[value] = (uint8_t)__builtin_ctzll(places_of(b, op));
        b->free &= ~register_bit(b->place[value]);
        if (!b->uses[value])
            b->free |= register_bit(b->place[value]);
    }
}

/* Orders the instructions, and finds registers for values. Returns false if there are not enough. */
static bool schedule(struct block *b)
{
    unsigned done = 0, clock = 0, idle = 0;
    find_heights(b);
    for (; done < b->count && idle < STALLED; clock++) {
        unsigned used = 0, begun = 0;
        for (unsigned next; begun < WIDTH && (next = choose(b, clock, used)) < b->count; begun++) {
            used |= 1U << unit_of(&b->ops[next]);
            begin(b, next, clock);
            b->order[done++] = next;
        }
        idle = begun ? 0 : idle + 1;
    }
    return done == b->count;
}

/* Finds the registers that values may have: those that the task does not name, which nobody needs behind it, and those that hold values of
 * one round only; and the bound's. */
static void find_free(struct block *b)
{
    const struct launch *l = b->l;
    uint64_t busy = l->task->named | l->launching | register_bit(l->limit) | register_bit(l->address) |
                    register_bit(l->bound) | register_bit(l->slice),
             temporary = 0;
    for (unsigned i = 0; i < NEST_FARS; i++)
        busy |= register_bit(l->ahead[i]);
    for (int at = b->unroll->first; at < b->unroll->branch; at++)
        temporary |= register_bit(insn_at(b, at)->regs.rd);
    temporary &= ~(b->carried | b->folded | b->behind);
    b->free = ((CALLER_SAVED | CALLER_SAVED_FLOAT | ~l->task->live) & ~busy) | temporary;
    b->free &= ~(POINTERS | UINT64_C(3));
    b->bound = l->bound;
    if (in_slot(b->unroll)) {
        const struct insn_registers *branch = &insn_at(b, b->unroll->branch)->regs;
        b->bound = branch->rs1 == b->unroll->counter ? branch->rs2 : branch->rs1;
    } else if (!b->bound && (uint32_t)b->free) {
        b->bound = (uint8_t)__builtin_ctzll(b->free);
        b->free &= ~register_bit(b->bound);
    }
}

static bool interleave(struct block *b, const struct rewriter *r, const struct launch *l,
                       const struct nest_unroll *unroll)
{
    for (unsigned way = 0; way < 4; way++) {
        memset(b, 0, sizeof *b);
        b->r = r;
        b->l = l;
        b->sliced = *unroll;
        if (l->phase == NEST_SLICES && unroll->first == l->task->nest.slices.first)
            b->sliced.limit = l->slice;
        b->unroll = &b->sliced;
        b->rounds = way < 2 ? MOST_ROUNDS : MOST_ROUNDS / 2;
        b->folds = way % 2 == 0;
        bool fits = !in_slot(b->unroll) || is_small(unroll->step * (int64_t)(1 - (int)b->rounds));
        if (!fits || !build(b))
            continue;
        find_free(b);
        if (b->bound && schedule(b))
            return true;
    }
    return false;
}

static void write_op(FILE *out, const struct block *b, const struct op *op, size_t slots)
{
    char text[96];
    struct insn insn = op->insn;
    if (op->prefetch >= 0) {
        const char *address = register_name[b->l->address];
        (void)fprintf(out, "\tadd\t%s,x%u,%s\n\tori\tx0,%s,1\n", address, op->rs[0],
                      register_name[b->l->ahead[op->prefetch]], address);
        return;
    }
    insn.compressed = 0;
    insn.length = 4;
    insn.rd = (uint8_t)((op->rd > VALUE ? b->place[op->rd] : op->rd) % 32);
    insn.rs1 = (uint8_t)(op->rs[0] % 32);
    insn.rs2 = (uint8_t)(op->rs[1] % 32);
    insn.rs3 = (uint8_t)(op->rs[2] % 32);
    for (unsigned i = 0; i < b->l->task->nest.slot_count && op->rs[0] == SP; i++)
        if (b->l->task->nest.slots[i] == op->insn.imm)
            insn.imm = (int32_t)(slots + (size_t)8 * i);
    disasm(&insn, 0, text, sizeof text);
    (void)fprintf(out, "\t%s\n", text);
}

/* Writes the bound of the counter: so many rounds before the limit. */
static void write_bound(FILE *out, const struct block *b, size_t slots)
{
    const struct nest_unroll *unroll = b->unroll;
    const char *bound = register_name[b->bound];
    const unsigned limit = unroll->limit % 32;
    int64_t last = unroll->step * (int64_t)(b->rounds - 1);
    if (in_slot(unroll))
        (void)fprintf(out, "\tld\t%s,%zu(sp)\n\taddi\t%s,%s,%" PRId64 "\n", bound, slots + (size_t)8 * limit,
                      bound, bound, -last);
    else if (is_small(-last))
        (void)fprintf(out, "\taddi\t%s,x%u,%" PRId64 "\n", bound, limit, -last);
    else
        (void)fprintf(out, "\tli\t%s,%" PRId64 "\n\tadd\t%s,%s,x%u\n", bound, -last, bound, bound, limit);
}

/* Writes the check that so many rounds are left, and the loop over them. A bound in a slot is loaded again, because all registers have
 * values. */
static void write_loop(FILE *out, const struct block *b, unsigned number, size_t slots)
{
    const struct nest_unroll *unroll = b->unroll;
    const char *task = b->l->suffix;
    const char *bound = register_name[b->bound], *counter = register_name[unroll->counter];
    const char *first = unroll->step > 0 ? counter : bound, *second = unroll->step > 0 ? bound : counter;
    write_bound(out, b, slots);
    (void)fprintf(out, "\tbge\t%s,%s,.Lcroft.rest%s.%u\n.Lcroft.several%s.%u:\n", first, second, task, number,
                  task, number);
    for (unsigned i = 0; i < b->count; i++)
        write_op(out, b, &b->ops[b->order[i]], slots);
    if (in_slot(unroll))
        write_bound(out, b, slots);
    (void)fprintf(out, "\tblt\t%s,%s,.Lcroft.several%s.%u\n", first, second, task, number);
    if (in_slot(unroll))
        (void)fprintf(out, "\tld\t%s,%zu(sp)\n", bound, slots + (size_t)8 * (unroll->limit % 32));
}

static void write_back(FILE *out, const struct block *b, unsigned number)
{
    const struct cfg_insn *branch = insn_at(b, b->unroll->branch);
    char label[48];
    (void)snprintf(label, sizeof label, ".Lcroft.rest%s.%u", b->l->suffix, number);
    if (slice_write_branch(out, b->r, b->l, rewriter_line(b->r, b->unroll->branch), label))
        return;
    (void)fprintf(out, "\t%s\tx%u,x%u,%s\n", insn_table[branch->step.insn.id].name, branch->step.insn.rs1,
                  branch->step.insn.rs2, label);
}

bool unroll_is_possible(const struct rewriter *r, const struct launch *l, unsigned number)
{
    struct block b;
    return interleave(&b, r, l, &l->task->nest.unrolls[number]);
}

bool unroll_write(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t slots)
{
    struct block b;
    for (unsigned i = 0; i < l->task->nest.unroll_count; i++) {
        const struct nest_unroll *unroll = &l->task->nest.unrolls[i];
        bool first = rewriter_line(r, unroll->first) == line, last = rewriter_line(r, unroll->branch) == line;
        if (!(first || last) || slice_drops(l, unroll->branch) || !interleave(&b, r, l, unroll))
            continue;
        if (first)
            write_loop(out, &b, i, slots);
        write_back(out, &b, i);
        if (first)
            (void)fprintf(out, "\tj\t.Lcroft.behind%s.%u\n.Lcroft.rest%s.%u:\n", l->suffix, i, l->suffix, i);
        else
            (void)fprintf(out, ".Lcroft.behind%s.%u:\n", l->suffix, i);
        return last;
    }
    return false;
}
