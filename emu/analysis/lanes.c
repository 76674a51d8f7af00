#include "emu/analysis/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/flow/function.h"
#include "emu/analysis/values.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"

enum { HALF = 32 }; /* bits */

/* A branch whose ways the lanes or warps may take apart. */
struct parting {
    unsigned node;
    int at;
    enum lanes_kind raised; /* what is written on its ways counts as this, where they meet */
};

/* The state of the analysis. */
struct search {
    const struct cfg *cfg;
    struct lanes_sets *before;
    struct lanes_sets *meeting; /* by instruction: what ways that meet there have written differently */
    bool *reached;              /* `before` is valid */
};

enum lanes_kind lanes_kind_of(const struct lanes_sets *sets, unsigned reg)
{
    const uint64_t bit = register_bit(reg);
    return sets->bent & bit     ? LANES_VARYING
           : sets->uneven & bit ? LANES_AFFINE
           : sets->apart & bit  ? LANES_UNIFORM
                                : LANES_SAME;
}

static enum lanes_kind larger(enum lanes_kind a, enum lanes_kind b)
{
    return a > b ? a : b;
}

/* Returns the sets in which the registers are of the kind, and all others the same. */
static struct lanes_sets sets_of(uint64_t registers, enum lanes_kind kind)
{
    return (struct lanes_sets){.apart = kind >= LANES_UNIFORM ? registers : 0,
                               .uneven = kind >= LANES_AFFINE ? registers : 0,
                               .bent = kind >= LANES_VARYING ? registers : 0,
                               .lower = registers,
                               .unmasked = registers};
}

/* Returns whether the sets grow. */
static bool join(struct lanes_sets *sets, struct lanes_sets more)
{
    const struct lanes_sets old = *sets;
    sets->apart |= more.apart;
    sets->uneven |= more.uneven;
    sets->bent |= more.bent;
    sets->lower |= more.lower;
    sets->unmasked |= more.unmasked;
    return memcmp(&old, sets, sizeof old) != 0;
}

static struct lanes_sets without(struct lanes_sets sets, uint64_t registers)
{
    return (struct lanes_sets){sets.apart & ~registers, sets.uneven & ~registers, sets.bent & ~registers,
                               sets.lower & ~registers, sets.unmasked & ~registers};
}

/* What instructions do. */

enum lanes_kind lanes_of_coordinate(unsigned number)
{
    switch (number + CSR_sthread_x) {
    case CSR_sblockdim_x:
    case CSR_sblockdim_y:
    case CSR_sblockdim_z:
    case CSR_sgriddim_x:
    case CSR_sgriddim_y:
    case CSR_sgriddim_z:
    case CSR_sshared_size: return LANES_SAME;
    case CSR_sthread_y:
    case CSR_sthread_z:
    case CSR_sblock_x:
    case CSR_sblock_y:
    case CSR_sblock_z:
    case CSR_swarp:
    case CSR_smp:
    case CSR_sshared: return LANES_UNIFORM;
    case CSR_sthread_x:
    case CSR_slane:
    case CSR_sthread_id: return LANES_AFFINE;
    default: return LANES_VARYING;
    }
}

static enum lanes_kind of_csr(const struct insn *insn)
{
    const bool reads = (insn->id == INSN_csrrs || insn->id == INSN_csrrc) && insn->rs1 == 0;
    return reads ? lanes_of_coordinate(((unsigned)insn->imm & 0xfff) - CSR_sthread_x) : LANES_VARYING;
}

/* Returns whether the result is an affine function of operands that are affine. */
static bool is_linear(enum insn_id id)
{
    switch (id) {
    case INSN_add:
    case INSN_addw:
    case INSN_sub:
    case INSN_subw:
    case INSN_addi:
    case INSN_addiw:
    case INSN_slli:
    case INSN_slliw:
    case INSN_slli_uw:
    case INSN_sh1add:
    case INSN_sh2add:
    case INSN_sh3add:
    case INSN_add_uw:
    case INSN_sh1add_uw:
    case INSN_sh2add_uw:
    case INSN_sh3add_uw: return true;
    default: return false;
    }
}

/* Returns whether the result is affine if one operand is, and the other has one value: a product, and a shift of operand 1. */
static bool is_scaled(enum insn_id id, enum lanes_kind second)
{
    const bool shift = id == INSN_sll || id == INSN_sllw;
    return id == INSN_mul || id == INSN_mulw || (shift && second <= LANES_UNIFORM);
}

/* Returns whether the result is a word that is affine: the zero or sign extension of one, also times a power of 2. */
static bool is_extended(const struct insn *insn, const struct insn_registers *regs,
                        const struct lanes_sets *before)
{
    const bool shifts = insn->id == INSN_srli || insn->id == INSN_srai;
    const uint64_t masks = ~before->unmasked & (register_bit(regs->rs1) | register_bit(regs->rs2));
    return (shifts && insn->imm <= HALF && !(before->lower & register_bit(regs->rs1))) ||
           (insn->id == INSN_and && masks);
}

static enum lanes_kind of_result(const struct cfg_insn *insn, const struct lanes_sets *before)
{
    const struct insn_info *info = &insn_table[insn->step.insn.id];
    const enum insn_id id = (enum insn_id)insn->step.insn.id;
    const enum lanes_kind first = lanes_kind_of(before, insn->regs.rs1),
                          second = lanes_kind_of(before, insn->regs.rs2);
    const enum lanes_kind most = larger(larger(first, second), lanes_kind_of(before, insn->regs.rs3));
    if (info->iclass == CLASS_CSR)
        return of_csr(&insn->step.insn);
    if (info->iclass == CLASS_CUSTOM || (info->access != ACCESS_NONE && info->access != ACCESS_LOAD))
        return LANES_VARYING;
    if (most <= LANES_UNIFORM)
        return most; /* a load at one address, too */
    if (most == LANES_VARYING || info->access == ACCESS_LOAD)
        return LANES_VARYING;
    const bool one = first <= LANES_UNIFORM || second <= LANES_UNIFORM;
    return is_linear(id) || (one && is_scaled(id, second)) ||
                   is_extended(&insn->step.insn, &insn->regs, before)
               ? LANES_AFFINE
               : LANES_VARYING;
}

/* Returns the instruction of the same block that writes the register last before `at`, or NULL. */
static const struct insn *writer(const struct cfg *cfg, int at, unsigned reg)
{
    for (int i = at - 1; i >= 0 && cfg->insns[i].block == cfg->insns[at].block; i--)
        if (cfg->insns[i].regs.rd == reg)
            return &cfg->insns[i].step.insn;
    return NULL;
}

static struct lanes_sets after_of(const struct cfg *cfg, int at, struct lanes_sets before)
{
    const struct cfg_insn *insn = &cfg->insns[at];
    const struct insn *of = &insn->step.insn;
    const uint64_t rd = register_bit(insn->regs.rd);
    struct lanes_sets after = without(before, rd);
    (void)join(&after, sets_of(rd, of_result(insn, &before)));
    if (of->id == INSN_slli && of->imm == HALF)
        after.lower &= ~rd;
    if (of->id == INSN_srli && of->imm == HALF) {
        const struct insn *from = writer(cfg, at, insn->regs.rs1);
        if (from && from->id == INSN_addi && from->rs1 == 0 && from->imm == -1)
            after.unmasked &= ~rd;
    }
    return after;
}

/* Returns whether the branch asks by tp whether it is on a multiprocessor (croft/simt.h). */
static bool asks_where(const struct cfg *cfg, int at)
{
    const struct insn *of = &cfg->insns[at].step.insn;
    const struct insn *from = of->rs2 == 0 ? writer(cfg, at, of->rs1) : NULL;
    return (of->id == INSN_blt || of->id == INSN_bge) && from && from->id == INSN_slli && from->rs1 == TP;
}

/* Where control goes. */

static bool reach(const struct search *search, int at, struct lanes_sets sets)
{
    if (at == CFG_NONE)
        return false;
    const bool first = !search->reached[at];
    search->reached[at] = true;
    return join(&search->before[at], sets) || first;
}

/* Returns what a function gets: any argument, but the addresses of stacks, whose distance is the same from lane to lane. */
static struct lanes_sets any_argument(void)
{
    struct lanes_sets any = sets_of(register_bit(GP), LANES_SAME);
    (void)join(&any, sets_of(ALL_REGISTERS & ~POINTERS, LANES_VARYING));
    (void)join(&any, sets_of(register_bit(SP) | register_bit(TP), LANES_AFFINE));
    return any;
}

static bool spread(const struct search *search, int at)
{
    const struct cfg_insn *insn = &search->cfg->insns[at];
    struct lanes_sets before = search->before[at];
    (void)join(&before, search->meeting[at]);
    bool grows = join(&search->before[at], before);
    struct lanes_sets after = after_of(search->cfg, at, before);
    grows |= reach(search, insn->target, after);
    if (cfg_is_call(insn))
        (void)join(&after, sets_of(values_changed_by(insn), LANES_VARYING));
    grows |= reach(search, insn->next, after);
    for (int i = insn->first; i < insn->last; i++)
        grows |= reach(search, i, after);
    return grows;
}

/* Ways apart. */

static void collect(const struct function *f, unsigned from, unsigned meet, bool *inside)
{
    const struct digraph *graph = &f->part->graph;
    unsigned *stack = alloc(graph->nodes + 1, sizeof *stack), count = 0;
    inside[from] = true;
    for (stack[count++] = from; count > 0;) {
        const unsigned node = stack[--count];
        for (unsigned i = graph->first[node]; i < graph->first[node + 1]; i++) {
            const unsigned to = graph->to[i];
            if (to == meet || inside[to] || to >= f->part->count)
                continue;
            inside[to] = true;
            stack[count++] = to;
        }
    }
    free(stack);
}

static uint64_t written(const struct function *f, const bool *inside)
{
    uint64_t set = 0;
    for (unsigned node = 0; node < f->part->count; node++)
        for (int i = function_first(f, node); inside[node] && i <= function_last(f, node); i++) {
            const struct cfg_insn *insn = &f->cfg->insns[i];
            set |= register_bit(insn->regs.rd) | (cfg_is_call(insn) ? values_changed_by(insn) : 0);
        }
    return set;
}

/* Returns how many of the nodes lead to the node. The rounds of a loop that begins with it behind the branch do not count: they are
 * those of lanes that came the same way. */
static unsigned ways_to(const struct function *f, unsigned branch, unsigned node, const bool *inside)
{
    const bool around = dominates(&f->dominators, node, branch);
    unsigned ways = 0;
    for (unsigned i = f->reverse.first[node]; i < f->reverse.first[node + 1]; i++) {
        const unsigned from = f->reverse.to[i];
        ways += inside[from] && (around || !dominates(&f->dominators, node, from));
    }
    return ways;
}

/* Marks where the ways of a branch meet. The branch itself may be one of the places, in a loop. */
static bool part_at(const struct search *search, const struct function *f, const struct parting *parting)
{
    bool *inside = alloc(f->part->graph.nodes + 1, sizeof *inside), grows = false;
    const unsigned meet = f->post.parent[parting->node];
    collect(f, parting->node, meet, inside);
    const uint64_t set = written(f, inside);
    for (unsigned node = 0; node < f->part->count; node++)
        if (node == meet || (inside[node] && ways_to(f, parting->node, node, inside) > 1))
            grows |= join(&search->meeting[function_first(f, node)], sets_of(set, parting->raised));
    free(inside);
    return grows;
}

/* Looks at the function's branches anew. Returns whether more registers differ where ways meet. */
static bool part(const struct search *search, const struct function *f, struct parting *partings)
{
    bool grows = false;
    for (unsigned node = 0; node < f->part->count; node++) {
        struct parting *parting = &partings[node];
        const int at = function_last(f, node);
        const struct cfg_insn *insn = &search->cfg->insns[at];
        const bool parts =
            (insn->step.flow & FLOW_BRANCH || insn->first < insn->last) && !asks_where(search->cfg, at);
        const enum lanes_kind kind = larger(lanes_kind_of(&search->before[at], insn->regs.rs1),
                                            lanes_kind_of(&search->before[at], insn->regs.rs2));
        const enum lanes_kind raise = kind > LANES_UNIFORM ? LANES_VARYING : kind;
        if (!parts || raise <= parting->raised)
            continue;
        *parting = (struct parting){node, at, raise};
        grows |= part_at(search, f, parting);
    }
    return grows;
}

static void begin(const struct search *search, bool kernels)
{
    const struct cfg *cfg = search->cfg;
    struct lanes_sets kernel = sets_of(ALL_REGISTERS, LANES_SAME);
    (void)join(&kernel, sets_of(register_bit(SP) | register_bit(TP), LANES_AFFINE));
    for (int i = 0; i < cfg->function_count; i++) {
        const bool entry = i < cfg->entry_count;
        if (entry || cfg->functions[i].exposed)
            (void)reach(search, cfg->functions[i].entry,
                        kernels && entry && !cfg->functions[i].exposed ? kernel : any_argument());
    }
}

static void solve(const struct search *search)
{
    const struct cfg *cfg = search->cfg;
    struct function *functions = alloc((size_t)cfg->function_count + 1, sizeof *functions);
    struct parting **partings = alloc((size_t)cfg->function_count + 1, sizeof *partings);
    for (int i = 0; i < cfg->function_count; i++) {
        functions[i] = function_open(cfg, &cfg->functions[i]);
        partings[i] = alloc((size_t)cfg->functions[i].count + 1, sizeof **partings);
    }
    for (bool grows = true; grows;) {
        grows = false;
        for (int i = 0; i < cfg->count; i++)
            grows |= search->reached[i] && spread(search, i);
        for (int i = 0; i < cfg->function_count; i++)
            grows |= part(search, &functions[i], partings[i]);
    }
    for (int i = 0; i < cfg->function_count; i++) {
        function_close(&functions[i]);
        free(partings[i]);
    }
    free((void *)partings);
    free(functions);
}

struct lanes lanes_of(const struct cfg *cfg, bool kernels)
{
    const size_t count = (size_t)cfg->count + 1;
    struct search search = {.cfg = cfg,
                            .before = alloc(count, sizeof *search.before),
                            .meeting = alloc(count, sizeof *search.meeting),
                            .reached = alloc(count, sizeof *search.reached)};
    begin(&search, kernels);
    if (!cfg->too_large)
        solve(&search);
    free(search.meeting);
    free(search.reached);
    return (struct lanes){.before = search.before};
}

void lanes_free(struct lanes *lanes)
{
    free(lanes->before);
    *lanes = (struct lanes){0};
}
