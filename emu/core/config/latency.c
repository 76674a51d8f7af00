#include "emu/core/config/latency.h"

enum core_work core_work_of(enum insn_id id)
{
    const struct insn_info *info = &insn_table[id];
    if (info->format ==
        FORMAT_PREFETCH) /* it goes through the pipe of loads, as XiangShan's do (LoadUnit.scala) */
        return CORE_WORK_load;
    bool word = info->precision == PRECISION_W, wide = info->precision == PRECISION_D;
    switch ((enum insn_class)info->iclass) {
    case CLASS_ALU: return CORE_WORK_alu;
    case CLASS_MUL: return word ? CORE_WORK_mulw : CORE_WORK_mul;
    case CLASS_DIV: return word ? CORE_WORK_divw : CORE_WORK_div;
    case CLASS_LOAD:
    case CLASS_FLOAD: return CORE_WORK_load;
    case CLASS_STORE:
    case CLASS_FSTORE: return CORE_WORK_store;
    case CLASS_BRANCH: return CORE_WORK_branch;
    case CLASS_JUMP: return CORE_WORK_jump;
    case CLASS_FADD: return CORE_WORK_fadd;
    case CLASS_FMUL: return CORE_WORK_fmul;
    case CLASS_FMA: return CORE_WORK_fma;
    case CLASS_FDIV: return wide ? CORE_WORK_fdivd : CORE_WORK_fdivs;
    case CLASS_FSQRT: return wide ? CORE_WORK_fsqrtd : CORE_WORK_fsqrts;
    case CLASS_FCVT: return CORE_WORK_fcvt;
    case CLASS_FMISC: return CORE_WORK_fmisc;
    case CLASS_AMO:
    case CLASS_CSR:
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_HINT:
    case CLASS_CUSTOM:
    case CLASS_COUNT: break;
    }
    return CORE_WORK_serial;
}

void core_latencies_expand(const struct core_latencies *latencies, struct core_latency table[INSN_COUNT])
{
    for (unsigned id = 0; id < INSN_COUNT; id++)
        table[id] = latencies->of[core_work_of((enum insn_id)id)];
}
