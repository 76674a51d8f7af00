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

static uint8_t atomic_flags(const struct insn *insn)
{
    if (insn_table[insn->id].format == FORMAT_LR)
        return STREAM_SERIAL | STREAM_LOAD;
    bool conditional = insn->id == INSN_sc_w || insn->id == INSN_sc_d;
    return conditional ? STREAM_SERIAL | STREAM_STORE : STREAM_SERIAL | STREAM_LOAD | STREAM_STORE;
}

static uint8_t flags_of(const struct insn *insn)
{
    if (insn->id == INSN_illegal)
        return STREAM_SERIAL;
    switch ((enum insn_class)insn_table[insn->id].iclass) {
    case CLASS_LOAD:
    case CLASS_FLOAD: return STREAM_LOAD;
    case CLASS_STORE:
    case CLASS_FSTORE: return STREAM_STORE;
    case CLASS_BRANCH: return STREAM_BRANCH;
    case CLASS_JUMP: return jump_flags(insn);
    case CLASS_AMO: return atomic_flags(insn);
    case CLASS_CSR:
    case CLASS_FENCE:
    case CLASS_SYSTEM:
    case CLASS_HINT:
    case CLASS_CUSTOM: return STREAM_SERIAL;
    default: return 0;
    }
}

/* The low two bits of funct3 (bits 14:12) are the logarithm of every access's size. */
static uint8_t size_of(const struct insn *insn)
{
    return (uint8_t)(1u << (insn_table[insn->id].match >> 12 & 3));
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
        .flags = flags_of(insn),
        .length = insn->length,
        .rd = known ? number_of((enum insn_role)format->rd, insn->rd) : STREAM_NONE,
        .rs1 = known ? number_of((enum insn_role)format->rs1, insn->rs1) : STREAM_NONE,
        .rs2 = known ? number_of((enum insn_role)format->rs2, insn->rs2) : STREAM_NONE,
        .rs3 = known ? number_of((enum insn_role)format->rs3, insn->rs3) : STREAM_NONE,
        .imm = insn->imm,
    };
    if (op->flags & (STREAM_LOAD | STREAM_STORE))
        op->size = size_of(insn);
}
