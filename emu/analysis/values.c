#include "emu/analysis/values.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "isa/csr.h"

/* The state of the analysis. */
struct search {
    const struct cfg *cfg;
    struct facts *before;
    bool *reached; /* `before` is valid */
};

uint64_t values_changed_by(const struct cfg_insn *call)
{
    return call->regs.rd == T0 ? register_bit(T0) : CALLER_SAVED | CALLER_SAVED_FLOAT;
}

static bool in_class(const struct insn *insn, enum insn_class iclass)
{
    return insn_table[insn->id].iclass == iclass;
}

/* Returns what an instruction tells about an integer result: bit 0 a sign-extended, bit 1 a zero-extended word. */
static unsigned result_of(const struct cfg_insn *at, unsigned of1, unsigned of2)
{
    enum { SIGN = 1, ZERO = 2, BOTH = 3 };
    const struct insn *insn = &at->step.insn;
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
    case INSN_fcvt_l_h:
    case INSN_fcvt_lu_h:
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

unsigned values_known(const struct facts *facts, unsigned reg)
{
    if (reg >= REGISTERS)
        return 3; /* x0 */
    return (unsigned)(facts->extended_sign >> reg & 1) | (unsigned)(facts->extended_zero >> reg & 1) << 1;
}

static struct facts facts_after(const struct cfg_insn *insn, struct facts facts)
{
    uint64_t rd = register_bit(insn->regs.rd), changed = rd;
    unsigned result =
        in_class(&insn->step.insn, CLASS_CSR)
            ? result_of_csr(&insn->step.insn)
            : result_of(insn, values_known(&facts, insn->regs.rs1), values_known(&facts, insn->regs.rs2));
    if (cfg_is_call(insn)) {
        changed |= values_changed_by(insn);
        result = 0;
    }
    facts.extended_sign &= ~changed;
    facts.extended_zero &= ~changed;
    facts.entry &= ~rd;
    facts.extended_sign |= result & 1 ? rd : 0;
    facts.extended_zero |= result & 2 ? rd : 0;
    return facts;
}

/* Narrows what is known before an instruction. Returns whether it changes. */
static bool meet(const struct search *search, int at, const struct facts *facts)
{
    if (at == CFG_NONE)
        return false;
    struct facts *before = &search->before[at], old = *before;
    if (!search->reached[at]) {
        search->reached[at] = true;
        *before = *facts;
        return true;
    }
    before->extended_sign &= facts->extended_sign;
    before->extended_zero &= facts->extended_zero;
    before->entry &= facts->entry;
    return memcmp(&old, before, sizeof old) != 0;
}

static bool spread(const struct search *search, int at)
{
    const struct cfg_insn *insn = &search->cfg->insns[at];
    struct facts facts = facts_after(insn, search->before[at]);
    bool changed = meet(search, insn->next, &facts);
    if (cfg_is_call(insn)) {
        facts = search->before[at];
        facts.entry = CALLEE_SAVED | CALLEE_SAVED_FLOAT;
    }
    changed |= meet(search, insn->target, &facts);
    for (int i = insn->first; i < insn->last; i++)
        changed |= meet(search, i, &facts);
    return changed;
}

struct values values_of(const struct cfg *cfg)
{
    const struct facts begin = {.entry = CALLEE_SAVED | CALLEE_SAVED_FLOAT};
    struct search search = {.cfg = cfg,
                            .before = alloc((size_t)cfg->count + 1, sizeof *search.before),
                            .reached = alloc((size_t)cfg->count + 1, sizeof *search.reached)};
    for (int i = 0; i < cfg->entry_count; i++)
        (void)meet(&search, cfg->functions[i].entry, &begin);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < cfg->count; i++)
            if (search.reached[i])
                changed |= spread(&search, i);
    }
    free(search.reached);
    return (struct values){.before = search.before, .cfg = cfg};
}

void values_free(struct values *values)
{
    free(values->before);
    *values = (struct values){0};
}

struct facts values_after(const struct values *values, int insn)
{
    return facts_after(&values->cfg->insns[insn], values->before[insn]);
}
