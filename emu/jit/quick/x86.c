#include "emu/jit/quick/x86.h"

#include <string.h>

#include "emu/sim/alloc.h"

void x86_bytes(struct code *code, const void *bytes, uint32_t count)
{
    if (code->size + count > code->room) {
        code->room = 2 * code->room + count + 4096;
        code->bytes = alloc_resize(code->bytes, code->room);
    }
    memcpy(code->bytes + code->size, bytes, count);
    code->size += count;
}

void x86_byte(struct code *code, unsigned byte)
{
    uint8_t one = (uint8_t)byte;
    x86_bytes(code, &one, 1);
}

void x86_word(struct code *code, uint32_t word)
{
    x86_bytes(code, &word, sizeof word);
}

void x86_align(struct code *code, uint32_t alignment)
{
    enum { LONGEST = 9 }; /* bytes, of the form nop [rax + rax + 0] with a prefix */
    static const uint8_t nops[LONGEST][LONGEST] = {
        {0x90},
        {0x66, 0x90},
        {0x0f, 0x1f, 0x00},
        {0x0f, 0x1f, 0x40, 0},
        {0x0f, 0x1f, 0x44, 0, 0},
        {0x66, 0x0f, 0x1f, 0x44, 0, 0},
        {0x0f, 0x1f, 0x80, 0, 0, 0, 0},
        {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
        {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
    };
    uint32_t missing = (alignment - code->size % alignment) % alignment;
    while (missing > 0) {
        const uint32_t bytes = missing < LONGEST ? missing : LONGEST;
        x86_bytes(code, nops[bytes - 1], bytes);
        missing -= bytes;
    }
}

/* Emits ModRM, SIB and displacement. */
static void emit_place(struct code *code, unsigned reg, struct place place)
{
    unsigned field = (reg & 7) << 3;
    if (!place.memory) {
        x86_byte(code, 0xc0 | field | (place.reg & 7));
        return;
    }
    bool small = place.displacement >= -128 && place.displacement <= 127;
    bool none = place.displacement == 0 && (place.reg & 7) != RBP;
    unsigned mode = none ? 0 : small ? 0x40 : 0x80;
    if (place.index != NO_REGISTER || (place.reg & 7) == RSP) {
        unsigned index = place.index == NO_REGISTER ? RSP : place.index & 7U;
        x86_byte(code, mode | field | RSP);
        x86_byte(code, (unsigned)place.scale << 6 | index << 3 | (place.reg & 7));
    } else {
        x86_byte(code, mode | field | (place.reg & 7));
    }
    if (mode == 0x40)
        x86_byte(code, (uint8_t)place.displacement);
    else if (mode)
        x86_word(code, (uint32_t)place.displacement);
}

static void note_touch(struct code *code, struct place place)
{
    if (!place.memory || place.reg != code->touched || !code->touched)
        return;
    if ((code->touch_count & (code->touch_count - 1)) == 0) /* 0 or a power of two: the array is full */
        code->touches =
            alloc_resize(code->touches, (2 * (size_t)code->touch_count + 1) * sizeof *code->touches);
    code->touches[code->touch_count++] = code->size;
}

static unsigned index_bit(struct place place)
{
    return place.memory && place.index != NO_REGISTER ? place.index >> 3 & 1U : 0;
}

static void emit_op(struct code *code, unsigned prefix, unsigned opcode, unsigned rex, unsigned reg,
                    struct place place)
{
    note_touch(code, place);
    rex |= (reg >> 3 & 1) << 2 | index_bit(place) << 1 | (place.reg >> 3 & 1U);
    if (prefix)
        x86_byte(code, prefix);
    if (rex)
        x86_byte(code, 0x40 | rex);
    if (opcode > 0xffff)
        x86_byte(code, opcode >> 16);
    if (opcode > 0xff)
        x86_byte(code, opcode >> 8);
    x86_byte(code, opcode);
    emit_place(code, reg, place);
}

void x86_op(struct code *code, unsigned prefix, unsigned opcode, bool wide, unsigned reg, struct place place)
{
    emit_op(code, prefix, opcode, wide ? 8 : 0, reg, place);
}

void x86_op8(struct code *code, unsigned opcode, unsigned reg, struct place place)
{
    emit_op(code, 0, opcode, 0x40, reg, place);
}

void x86_vex(struct code *code, unsigned map, unsigned pp, unsigned opcode, bool wide, unsigned reg,
             unsigned second, struct place place)
{
    note_touch(code, place);
    x86_byte(code, 0xc4);
    x86_byte(code, (~reg >> 3 & 1) << 7 | (~index_bit(place) & 1) << 6 |
                       (~(unsigned)place.reg >> 3 & 1) << 5 | map);
    x86_byte(code, (unsigned)wide << 7 | (~second & 15) << 3 | pp);
    x86_byte(code, opcode);
    emit_place(code, reg, place);
}

void x86_move(struct code *code, unsigned to, unsigned from)
{
    if (to != from)
        x86_op(code, 0, 0x8b, true, to, in_register(from));
}

void x86_load(struct code *code, unsigned to, struct place from)
{
    if (from.memory || from.reg != to)
        x86_op(code, 0, 0x8b, true, to, from);
}

void x86_store(struct code *code, struct place to, unsigned from)
{
    if (to.memory || to.reg != from)
        x86_op(code, 0, 0x89, true, from, to);
}

void x86_constant(struct code *code, unsigned to, uint64_t value)
{
    if (value <= UINT32_MAX) {
        if (to >> 3)
            x86_byte(code, 0x41);
        x86_byte(code, 0xb8 | (to & 7));
        x86_word(code, (uint32_t)value);
    } else if ((int64_t)value >= INT32_MIN && (int64_t)value < 0) {
        x86_op(code, 0, 0xc7, true, 0, in_register(to));
        x86_word(code, (uint32_t)value);
    } else {
        x86_byte(code, 0x48 | to >> 3);
        x86_byte(code, 0xb8 | (to & 7));
        x86_bytes(code, &value, sizeof value);
    }
}

void x86_lea(struct code *code, unsigned to, struct place place)
{
    x86_op(code, 0, 0x8d, true, to, place);
}

void x86_arithmetic(struct code *code, enum x86_arithmetic what, bool wide, unsigned to, struct place from)
{
    x86_op(code, 0, (unsigned)what << 3 | 3, wide, to, from);
}

void x86_arithmetic_constant(struct code *code, enum x86_arithmetic what, bool wide, struct place to,
                             int32_t value)
{
    bool small = value >= -128 && value <= 127;
    x86_op(code, 0, small ? 0x83 : 0x81, wide, what, to);
    if (small)
        x86_byte(code, (uint8_t)value);
    else
        x86_word(code, (uint32_t)value);
}

void x86_shift(struct code *code, enum x86_shift what, bool wide, unsigned reg, unsigned count)
{
    x86_op(code, 0, 0xc1, wide, what, in_register(reg));
    x86_byte(code, count);
}

uint32_t x86_jump(struct code *code)
{
    x86_byte(code, 0xe9);
    x86_word(code, 0);
    return code->size - 4;
}

uint32_t x86_jump_if(struct code *code, enum x86_condition condition)
{
    x86_byte(code, 0x0f);
    x86_byte(code, 0x80 | condition);
    x86_word(code, 0);
    return code->size - 4;
}

void x86_patch(struct code *code, uint32_t at, uint32_t to)
{
    uint32_t distance = to - (at + 4);
    memcpy(code->bytes + at, &distance, sizeof distance);
}
