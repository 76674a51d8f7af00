#include "emu/analysis/liveness.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

#define KEPT                                                                                                 \
    ((CALLEE_SAVED | CALLEE_SAVED_FLOAT) & ~register_bit(RA)) /* what a function keeps for its caller */

/* The state of the analysis. */
struct search {
    const struct cfg *cfg;
    const struct values *values; /* or NULL */
    struct liveness live;
    struct live *results; /* by function: what known callers use of the results */
    bool known;           /* without values: all callers are known, and nobody calls the entries */
};

/* What an instruction demands of its operands. */

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
    case INSN_fmv_h_x:
    case INSN_fcvt_h_w:
    case INSN_fcvt_h_wu:
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
static bool demands_high(const struct cfg_insn *at, unsigned operand, unsigned reg, bool result_high)
{
    const struct insn *insn = &at->step.insn;
    const struct insn_info *info = &insn_table[insn->id];
    if (info->access != ACCESS_NONE)
        return operand == 1 || info->size == 8;
    if (reg >= 32)
        return insn->id == INSN_fcvt_s_d ||
               (info->precision == PRECISION_D && insn->id != INSN_fcvt_d_s && insn->id != INSN_fcvt_d_h);
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

static struct live whole(uint64_t set)
{
    return (struct live){set, set};
}

static void use(struct live *live, unsigned reg, bool high)
{
    live->any |= register_bit(reg);
    live->high |= high ? register_bit(reg) : 0;
}

/* Returns whether the instruction only saves a value of the caller, or uses a return address. */
static bool saves(const struct search *search, int at, unsigned operand, unsigned reg)
{
    const struct cfg_insn *insn = &search->cfg->insns[at];
    const struct insn_info *info = &insn_table[insn->step.insn.id];
    if (!search->values)
        return false;
    if (insn->step.flow & FLOW_RETURN)
        return operand == 1;
    return is_store(info) && operand == 2 && info->size == 8 && insn->step.insn.rs1 == SP &&
           (search->values->before[at].entry & register_bit(reg));
}

/* Returns the registers that an instruction needs besides its operands. */
static struct live needed(const struct search *search, const struct insn *insn)
{
    struct live live = {0};
    if (insn->id == INSN_ecall || insn->id == INSN_ebreak)
        live = whole(INTEGER_ARGUMENTS);
    else if (insn_table[insn->id].iclass == CLASS_CUSTOM && !search->values)
        live = whole(ALL_REGISTERS); /* task units may read registers that the instruction does not name */
    return live;
}

static struct live live_before(const struct search *search, int at)
{
    const struct cfg_insn *insn = &search->cfg->insns[at];
    const uint8_t operands[] = {insn->regs.rs1, insn->regs.rs2, insn->regs.rs3};
    const struct live out = search->live.out[at];
    uint64_t rd = register_bit(insn->regs.rd);
    struct live live = live_only(out, ~rd);
    for (unsigned i = 0; i < 3; i++)
        if (operands[i] < REGISTERS && !saves(search, at, i + 1, operands[i]))
            use(&live, operands[i], demands_high(insn, i + 1, operands[i], out.high & rd));
    (void)join(&live, needed(search, &insn->step.insn));
    return live;
}

/* Returns what is live when a call enters its function; without `values`. */
static struct live live_at_call(const struct search *search, const struct cfg_insn *call, struct live after)
{
    struct live out = live_only(after, ~register_bit(call->regs.rd));
    if (call->regs.rd == T0) {
        (void)join(&out, whole(search->known ? POINTERS | register_bit(RA) : ALL_REGISTERS));
    } else if (call->target == CFG_NONE) {
        uint64_t arguments =
            call->arguments ? call->arguments & ALL_REGISTERS : INTEGER_ARGUMENTS | FLOAT_ARGUMENTS;
        if (call->arguments) /* from the compiler, which sees no function of another file */
            out = live_only(out, ~(CALLER_SAVED | CALLER_SAVED_FLOAT));
        (void)join(&out, whole(arguments | POINTERS));
    } else {
        (void)join(&out, live_only(search->live.in[call->target], ~KEPT));
        (void)join(&out, whole(POINTERS));
    }
    return out;
}

/* Returns what is live where control leaves a function; without `values`. */
static struct live live_at_end(const struct search *search, const struct cfg_insn *insn)
{
    const uint64_t kept = KEPT | RESULTS | POINTERS;
    if (insn->step.flow & FLOW_RETURN)
        return whole(insn->step.insn.rs1 == T0 ? ALL_REGISTERS : search->known ? POINTERS : kept);
    if (insn->step.flow & FLOW_JUMP)
        return whole(insn->arguments ? (insn->arguments & ALL_REGISTERS) | kept : ALL_REGISTERS);
    return whole(insn->step.flow & FLOW_CALL ? 0 : ALL_REGISTERS);
}

static struct live live_behind(const struct search *search, const struct cfg_insn *insn)
{
    const struct live none = {0};
    return insn->next == CFG_NONE ? none : search->live.in[insn->next];
}

/* Returns what is live after an instruction; for a call, when its function is entered. */
static struct live live_after(const struct search *search, const struct cfg_insn *insn)
{
    struct live out = live_behind(search, insn);
    bool call = cfg_is_call(insn);
    if (call && !search->values)
        return live_at_call(search, insn, out);
    if (call)
        out = live_only(out, ~values_changed_by(insn));
    if (insn->target != CFG_NONE)
        (void)join(&out, search->live.in[insn->target]);
    for (int i = insn->first; i < insn->last; i++)
        (void)join(&out, search->live.in[i]);
    if (!search->values && cfg_leaves(insn))
        (void)join(&out, live_at_end(search, insn));
    return out;
}

/* Updates what is live at an instruction. Returns whether it grows. */
static bool update(const struct search *search, int at)
{
    const struct cfg_insn *insn = &search->cfg->insns[at];
    (void)join(&search->live.out[at], live_after(search, insn));
    bool grows = join(&search->live.in[at], live_before(search, at));
    if (cfg_is_call(insn) && insn->target != CFG_NONE)
        grows |= join(&search->results[search->cfg->function_at[insn->target]],
                      live_only(live_behind(search, insn), search->known ? RESULTS | KEPT : RESULTS));
    return grows;
}

/* Makes what known callers use live at the function's returns. Returns whether something grows. */
static bool give_results(const struct search *search, int number)
{
    const struct cfg *cfg = search->cfg;
    const struct cfg_function *function = &cfg->functions[number];
    bool grows = false;
    if (search->known && function->exposed)
        (void)join(&search->results[number], whole(RESULTS | KEPT));
    for (unsigned i = 0; i < function->count; i++) {
        const struct cfg_block *block = &cfg->blocks[function->blocks[i]];
        if (block->marks & CFG_RETURNS)
            grows |= join(&search->live.out[block->first + block->count - 1], search->results[number]);
    }
    return grows;
}

static struct liveness find(const struct cfg *cfg, const struct values *values, bool known)
{
    size_t insns = (size_t)cfg->count + 1;
    struct search search = {.cfg = cfg,
                            .values = values,
                            .known = known,
                            .live = {alloc(insns, sizeof(struct live)), alloc(insns, sizeof(struct live))},
                            .results = alloc((size_t)cfg->function_count + 1, sizeof *search.results)};
    for (bool grows = !cfg->too_large; grows;) {
        grows = false;
        for (int i = cfg->count; i-- > 0;)
            grows |= update(&search, i);
        for (int i = 0; i < cfg->function_count && (values || known); i++)
            grows |= give_results(&search, i);
    }
    free(search.results);
    return search.live;
}

struct liveness liveness_of(const struct cfg *cfg, const struct values *values)
{
    return find(cfg, values, false);
}

struct liveness liveness_of_kernels(const struct cfg *cfg)
{
    return find(cfg, NULL, true);
}

void liveness_free(struct liveness *liveness)
{
    free(liveness->in);
    free(liveness->out);
    *liveness = (struct liveness){0};
}
