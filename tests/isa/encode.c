#include "tests/isa/encode.h"

/* Bits hi..lo of v, moved to bit `to`. */
static uint32_t bits(int32_t v, unsigned hi, unsigned lo, unsigned to)
{
    return ((uint32_t)v >> lo & ((1u << (hi - lo + 1)) - 1)) << to;
}

static uint32_t immediate_bits(enum insn_immediate kind, int32_t imm)
{
    switch (kind) {
    case IMMEDIATE_NONE: return 0;
    case IMMEDIATE_I: return bits(imm, 11, 0, 20);
    case IMMEDIATE_S: return bits(imm, 11, 5, 25) | bits(imm, 4, 0, 7);
    case IMMEDIATE_B:
        return bits(imm, 12, 12, 31) | bits(imm, 10, 5, 25) | bits(imm, 4, 1, 8) | bits(imm, 11, 11, 7);
    case IMMEDIATE_U: return (uint32_t)imm & 0xfffff000;
    case IMMEDIATE_J:
        return bits(imm, 20, 20, 31) | bits(imm, 10, 1, 21) | bits(imm, 11, 11, 20) | bits(imm, 19, 12, 12);
    case IMMEDIATE_SH5: return bits(imm, 4, 0, 20);
    case IMMEDIATE_SH6: return bits(imm, 5, 0, 20);
    case IMMEDIATE_CSR: return bits(imm, 11, 0, 20);
    case IMMEDIATE_FENCE: return bits(imm, 7, 0, 20);
    case IMMEDIATE_BLOCK: return bits(imm, 11, 5, 25);
    case IMMEDIATE_AQRL: return bits(imm, 1, 0, 25);
    }
    return 0;
}

uint32_t encode(enum insn_id id, const struct operands *o)
{
    const struct insn_info *info = &insn_table[id];
    const struct format_info *format = &format_table[info->format];
    uint32_t word = info->match | immediate_bits(format->immediate, o->imm);
    if (format->rd)
        word |= (uint32_t)(o->rd & 31) << 7;
    if (format->rs1)
        word |= (uint32_t)(o->rs1 & 31) << 15;
    if (format->rs2)
        word |= (uint32_t)(o->rs2 & 31) << 20;
    if (format->rs3)
        word |= (uint32_t)(o->rs3 & 31) << 27;
    if (format->rm)
        word |= (uint32_t)(o->rm & 7) << 12;
    return word;
}

bool encode_fits(enum insn_id id, int32_t imm)
{
    switch (format_table[insn_table[id].format].immediate) {
    case IMMEDIATE_NONE: return imm == 0;
    case IMMEDIATE_I:
    case IMMEDIATE_S: return imm >= -2048 && imm <= 2047;
    case IMMEDIATE_BLOCK: return imm >= -2048 && imm <= 2047 && imm % 32 == 0;
    case IMMEDIATE_B: return imm >= -4096 && imm <= 4094 && imm % 2 == 0;
    case IMMEDIATE_U: return (imm & 0xfff) == 0;
    case IMMEDIATE_J: return imm >= -1048576 && imm <= 1048574 && imm % 2 == 0;
    case IMMEDIATE_SH5: return imm >= 0 && imm <= 31;
    case IMMEDIATE_SH6: return imm >= 0 && imm <= 63;
    case IMMEDIATE_CSR: return imm >= 0 && imm <= 4095;
    case IMMEDIATE_FENCE: return imm >= 0 && imm <= 255;
    case IMMEDIATE_AQRL: return imm >= 0 && imm <= 3;
    default: return false;
    }
}
