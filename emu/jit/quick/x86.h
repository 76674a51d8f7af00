/* Machine code of x86-64 in a growing buffer. */
#ifndef EMU_JIT_QUICK_X86_H
#define EMU_JIT_QUICK_X86_H

#include <stdbool.h>
#include <stdint.h>

enum x86_register {
    RAX,
    RCX,
    RDX,
    RBX,
    RSP,
    RBP,
    RSI,
    RDI,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    NO_REGISTER
};

/* Conditions of jumps, moves and sets, as they are encoded. */
enum x86_condition {
    X86_O,
    X86_NO,
    X86_B,
    X86_AE,
    X86_E,
    X86_NE,
    X86_BE,
    X86_A,
    X86_S,
    X86_NS,
    X86_P,
    X86_NP,
    X86_L,
    X86_GE,
    X86_LE,
    X86_G
};

/* Two-operand arithmetic, by the number in its encodings. */
enum x86_arithmetic { X86_ADD, X86_OR, X86_AND = 4, X86_SUB, X86_XOR, X86_CMP };
/* Shifts and rotations by a constant or CL. */
enum x86_shift { X86_ROL, X86_ROR, X86_SHL = 4, X86_SHR, X86_SAR = 7 };

struct code {
    uint8_t *bytes;
    uint32_t size, room;
    uint32_t *touches; /* offsets of the instructions that access memory at register `touched` */
    uint32_t touch_count;
    uint8_t touched; /* 0: none is noted */
};

/* A register, or memory at base + index * scale + displacement. */
struct place {
    bool memory;
    uint8_t reg, index, scale; /* the register, or the base; index: NO_REGISTER for none; scale: 0 to 3 */
    int32_t displacement;
};

static inline struct place in_register(unsigned reg)
{
    return (struct place){.reg = (uint8_t)reg};
}

static inline struct place in_memory(unsigned base, int32_t displacement)
{
    return (struct place){true, (uint8_t)base, NO_REGISTER, 0, displacement};
}

static inline struct place indexed(unsigned base, unsigned index, unsigned scale, int32_t displacement)
{
    return (struct place){true, (uint8_t)base, (uint8_t)index, (uint8_t)scale, displacement};
}

void x86_bytes(struct code *code, const void *bytes, uint32_t count);
void x86_byte(struct code *code, unsigned byte);
void x86_word(struct code *code, uint32_t word);
/* Adds instructions that do nothing, up to a multiple of a number of bytes. */
void x86_align(struct code *code, uint32_t alignment);

/* An instruction with a register and a place; opcode: up to three bytes, 0x0fXX with its prefix; prefix: 0, 0x66, 0xf2 or 0xf3. */
void x86_op(struct code *code, unsigned prefix, unsigned opcode, bool wide, unsigned reg, struct place place);
/* As x86_op(), of bytes: registers 4 to 7 are the low bytes of RSP to RDI. */
void x86_op8(struct code *code, unsigned opcode, unsigned reg, struct place place);
/* An instruction with the VEX prefix: map 1 (0x0f), 2 (0x0f38) or 3 (0x0f3a); pp 0, 1 (0x66), 2 (0xf3) or 3 (0xf2); second: the
 * operand in the prefix. */
void x86_vex(struct code *code, unsigned map, unsigned pp, unsigned opcode, bool wide, unsigned reg,
             unsigned second, struct place place);

void x86_move(struct code *code, unsigned to, unsigned from);
void x86_load(struct code *code, unsigned to, struct place from);
void x86_store(struct code *code, struct place to, unsigned from);
void x86_constant(struct code *code, unsigned to, uint64_t value); /* leaves the flags alone */
void x86_lea(struct code *code, unsigned to, struct place place);
void x86_arithmetic(struct code *code, enum x86_arithmetic what, bool wide, unsigned to, struct place from);
void x86_arithmetic_constant(struct code *code, enum x86_arithmetic what, bool wide, struct place to,
                             int32_t value);
void x86_shift(struct code *code, enum x86_shift what, bool wide, unsigned reg, unsigned count);

/* Jumps with an open distance, whose offset in the code they return. */
uint32_t x86_jump(struct code *code);
uint32_t x86_jump_if(struct code *code, enum x86_condition condition);
/* Sets the distance at an offset so that it leads to another one. */
void x86_patch(struct code *code, uint32_t at, uint32_t to);

#endif
