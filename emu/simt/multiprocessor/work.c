/* Names of stalls, and the kind of work of an instruction. */
#include "emu/simt/multiprocessor.h"

const char *simt_stall_name(enum simt_stall stall)
{
    static const char *const names[SIMT_STALLS] = {
#define SIMT_STALL(name, meaning) #name,
#include "emu/simt/multiprocessor/stall.def"
    };
    return names[stall];
}

enum simt_work simt_work_of(enum insn_id id)
{
    const struct insn_info *info = &insn_table[id];
    bool word = info->precision == PRECISION_W, double_precision = info->precision == PRECISION_D;
    switch ((enum insn_class)info->iclass) {
    case CLASS_MUL: return SIMT_WORK_mul;
    case CLASS_DIV: return word ? SIMT_WORK_divw : SIMT_WORK_div;
    case CLASS_LOAD:
    case CLASS_FLOAD: return SIMT_WORK_load;
    case CLASS_STORE:
    case CLASS_FSTORE: return SIMT_WORK_store;
    case CLASS_BRANCH:
    case CLASS_JUMP: return SIMT_WORK_branch;
    case CLASS_FADD:
    case CLASS_FMUL:
    case CLASS_FMA:
    case CLASS_FCVT:
    case CLASS_FMISC: return double_precision ? SIMT_WORK_fp64 : SIMT_WORK_fp32;
    case CLASS_FDIV:
    case CLASS_FSQRT: return double_precision ? SIMT_WORK_fdivd : SIMT_WORK_fdivs;
    case CLASS_AMO: return SIMT_WORK_atomic;
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_CUSTOM: return SIMT_WORK_control;
    case CLASS_ALU:
    case CLASS_CSR:
    case CLASS_HINT:
    case CLASS_COUNT: break;
    }
    return SIMT_WORK_alu;
}
