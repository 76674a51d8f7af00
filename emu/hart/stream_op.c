#include "emu/hart/stream_op.h"

/* The link registers of calls and returns (unprivileged specification, table 2.1). */
static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

static uint8_t jump_flags(const struct insn *insn)
{
    unsigned flags = STREAM_JUMP;
    if (is_link(insn->rd))
        flags |= STREAM_CALL;
    if (insn_table[insn->id].format == FORMAT_JALR) {
        flags |= STREAM_INDIRECT;
        if (is_link(insn->rs1) && !is_link(insn->rd))
            flags |= STREAM_RETURN;
    }
    return (uint8_t)flags;
}

/* Operations on cache blocks have neither flag. */
static uint8_t access_flags(enum insn_access access)
{
    switch (access) {
    case ACCESS_LOAD:
    case ACCESS_LR: return STREAM_LOAD;
    case ACCESS_STORE:
    case ACCESS_SC: return STREAM_STORE;
    case ACCESS_AMO: return STREAM_LOAD | STREAM_STORE;
    case ACCESS_NONE:
    case ACCESS_BLOCK:
    case ACCESS_ZERO: break;
    }
    return 0;
}

static uint8_t class_flags(const struct insn *insn)
{
    switch ((enum insn_class)insn_table[insn->id].iclass) {
    case CLASS_BRANCH: return STREAM_BRANCH;
    case CLASS_JUMP: return jump_flags(insn);
    case CLASS_AMO:
    case CLASS_CSR:
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_HINT:
    case CLASS_CUSTOM: return STREAM_SERIAL;
    default: return 0;
    }
}

static uint8_t number_of(enum insn_role role, unsigned reg)
{
    if (role == ROLE_F)
        return (uint8_t)(32 + reg);
    return role == ROLE_X && reg != 0 ? (uint8_t)reg : STREAM_NONE;
}

void stream_op_describe(struct stream_op *op, uint64_t pc, const struct insn *insn)
{
    const struct insn_info *info = &insn_table[insn->id];
    const struct format_info *format = &format_table[info->format];
    bool known = insn->id != INSN_illegal;
    *op = (struct stream_op){
        .pc = pc,
        .insn = insn,
        .id = insn->id,
        .iclass = info->iclass,
        .flags = class_flags(insn) | access_flags((enum insn_access)info->access),
        .length = insn->length,
        .rd = known ? number_of((enum insn_role)format->rd, insn->rd) : STREAM_NONE,
        .rs1 = known ? number_of((enum insn_role)format->rs1, insn->rs1) : STREAM_NONE,
        .rs2 = known ? number_of((enum insn_role)format->rs2, insn->rs2) : STREAM_NONE,
        .rs3 = known ? number_of((enum insn_role)format->rs3, insn->rs3) : STREAM_NONE,
        .imm = insn->imm,
    };
    if (op->flags & (STREAM_LOAD | STREAM_STORE))
        op->size = info->size;
}
