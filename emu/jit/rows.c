/* The rows as functions for the compiler. Clang compiles this file to bitcode (emu/emu.mk), which croft holds as data;
 * emit.c copies a function's instructions wherever a row occurs in a region.
 *
 * A function returns the new value of its destination register, if it has one. Calls of the functions declared here are
 * not made: emit.c puts checks and exits in their places. */
#include <string.h>

#include "emu/hart/fp.h"
#include "emu/hart/hart.h"
#include "emu/hart/rows/roles.h"
#include "isa/decoder/meaning.h"

#ifdef ROWS_NATIVE
/* Compiled code calls the functions of rows without accesses and jumps only. */
static uint8_t *jit_load_at(uint64_t address)
{
    return (uint8_t *)(uintptr_t)address;
}
#define jit_store_at           jit_load_at
#define jit_require(condition) ((void)(condition))
#define jit_branch             jit_require
#define jit_jump               jit_require
#define jit_nothing()          ((void)0)
#else
/* The host address of an access of up to 8 bytes; leaves the region if it is outside the hart's window. */
uint8_t *jit_load_at(uint64_t address);
uint8_t *jit_store_at(uint64_t address);
/* Leaves the region unless the condition holds. */
void jit_require(bool condition);
/* The outcome of a branch; the target of an indirect jump. */
void jit_branch(bool taken);
void jit_jump(uint64_t target);
/* All that the row does: harts take turns, each in program order. */
void jit_nothing(void);

/* The fields of the hart that rows for the quick compiler access: micro.awk takes their numbers in LLVM's text from these. */
#define FIELD(name)                                                                                          \
    uint64_t field_##name(const struct hart *hart);                                                          \
    uint64_t field_##name(const struct hart *hart)                                                           \
    {                                                                                                        \
        return hart->name;                                                                                   \
    }
FIELD(reserved)
FIELD(reservation)
#endif

#define WINDOW(kind, address, bits) jit_##kind##_at(address)
#define ALIGNED(address, bytes)     jit_require((address) % (bytes) == 0)
#include "emu/hart/rows/accessors.h"
#define branch(condition) jit_branch(condition)
#define jump(target)      jit_jump(target)
#define jump_direct()     ((void)0)

#include "emu/hart/fp/host_rows.h"
#define f64_fma host_f64_fma
#define f32_fma host_f32_fma
#include "emu/hart/rows/stepped.h"
#undef fence
#define fence() jit_nothing()
#undef nucd_order /* it traps on accelerators, which interpret */
#define nucd_order()      jit_nothing()
#define nucd(xn, pair)    ((void)0)
#define prefetch(address) ((void)0)

/* Flags are effects that a compiler does not see: a floating-point row's result is used, so that it is computed. */
#define USED(value) __asm__ volatile("" : : "r"(value))

#define ROW(name, suffix, format, mode, float_, ...)                                                         \
    uint64_t row_##name##suffix(struct hart *hart, uint64_t rs1, uint64_t rs2, uint64_t frs1, uint64_t frs2, \
                                uint64_t frs3, int64_t imm, uint64_t pc, uint64_t next_pc);                  \
    uint64_t row_##name##suffix(struct hart *hart, uint64_t rs1, uint64_t rs2, uint64_t frs1, uint64_t frs2, \
                                uint64_t frs3, int64_t imm, uint64_t pc, uint64_t next_pc)                   \
    {                                                                                                        \
        const uint64_t zimm = 0;                                                                             \
        const unsigned rm = mode;                                                                            \
        uint64_t rd = 0, frd = 0;                                                                            \
        (void)hart, (void)rs1, (void)rs2, (void)frs1, (void)frs2, (void)frs3, (void)imm, (void)pc;           \
        (void)next_pc, (void)zimm, (void)rm;                                                                 \
        {                                                                                                    \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        if (float_ && HAS_ROLE(format, rd, X))                                                               \
            USED(rd);                                                                                        \
        return HAS_ROLE(format, rd, X) ? rd : frd;                                                           \
    }
#define IS_FLOAT(precision, access)                                                                          \
    ((int)ACCESS_##access == (int)ACCESS_NONE && (int)PRECISION_##precision >= (int)PRECISION_H)
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    ROW(name, , format, RM_DYN, IS_FLOAT(precision, access), __VA_ARGS__)
#include "isa/rows.def"

/* Conversions to integers again, for the static mode RTZ: the interpreter has handlers for them only (SHAPE_FXM). */
#define TRUNCATES_FXM              ~, TRUNCATING
#define SECOND(first, second, ...) second
#define SECOND_OF(...)             SECOND(__VA_ARGS__)
#define TRUNCATING(name, format, precision, access, ...)                                                     \
    ROW(name, _rtz, format, RM_RTZ, IS_FLOAT(precision, access), __VA_ARGS__)
#define OTHER(...)
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    SECOND_OF(TRUNCATES_##format, OTHER, )(name, format, precision, access, __VA_ARGS__)
#include "isa/rows.def"
