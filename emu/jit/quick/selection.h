/* The selection of machine code for one row. values.c (values and scratch registers) is below integers.c and floats.c; select.c, which
 * goes through the row's micro-operations, is the top. */
#ifndef EMU_JIT_QUICK_SELECTION_H
#define EMU_JIT_QUICK_SELECTION_H

#include "emu/jit/quick/micro.h"
#include "emu/jit/quick/state.h"

/* A value of a row. All but those in scratch registers are computed where they are used, because guest registers do not change before the
 * row's end. */
enum value_kind {
    NO_VALUE,
    CONSTANT, /* constant */
    PLACED,   /* in `at` */
    SUM,      /* at + constant */
    MASKED,   /* at & constant */
    SHIFTED,  /* at << constant */
    COMPARED, /* the comparison `micro` */
    ADDRESS,  /* the memory at `at` */
    IN_XMM,   /* in the floating-point register at.reg */
};

struct value {
    enum value_kind kind;
    struct place at;
    uint64_t constant;
    const struct micro *micro;
    uint8_t bits;
    bool positive; /* of 32 bits: the register has it extended, by zeros and by its sign */
    uint8_t last;  /* number of the micro-operation that uses it last */
};

enum { XMM_SCRATCH = 6 }; /* floating-point registers 0 to 5 hold values within a row */

struct selection {
    struct quick *q;
    const struct insn *insn;
    const struct micro *micros;
    uint32_t count, current;
    struct value values[MICRO_FIRST + MICRO_MOST];
    uint32_t taken, kept; /* scratch registers of the current micro-operation, and of the row's outcome */
    uint8_t target; /* the host register for the result of the current micro-operation; NO_REGISTER: any */
    unsigned xmms;  /* in use */
    const struct block_insn *site;
    bool failed;
    bool checked; /* the access is in bounds */
    struct outcome *outcome;
};

/* values.c. Where no register is free, these set `failed`. */

bool value_fits(uint64_t value); /* in 32 bits with a sign */
uint64_t value_truncated(uint64_t value, unsigned bits);
uint64_t value_extended(uint64_t value, unsigned bits); /* by the sign */
/* Returns the scratch registers that values hold after micro-operation `after`. */
uint32_t scratch_held(const struct selection *s, uint32_t after);
/* Takes a scratch register: one of a set; any, but RCX, which shifts need, only if there is no other; a floating-point register. */
unsigned scratch_take(struct selection *s, uint32_t among);
unsigned scratch_any(struct selection *s);
unsigned scratch_xmm(struct selection *s);
struct value value_operand(const struct selection *s, const struct micro *micro, unsigned i);
struct value value_in_scratch(unsigned reg, unsigned bits);
/* Computes a value into a register. */
void value_load(struct selection *s, struct value value, unsigned to);
/* Return a place with the value: a register or memory; a register. */
struct place value_place(struct selection *s, struct value value);
unsigned value_register(struct selection *s, struct value value);
/* Returns the register for a result: the wanted one, one of an operand that is not used any more, or a new one. */
unsigned value_result_register(struct selection *s, struct value operand_);
/* Sets the result of the current micro-operation. */
void value_set(struct selection *s, struct value value);
/* Returns the host register into which the result of a micro-operation may be written at once: it is the row's result, nothing
 * follows. */
uint8_t value_target(const struct selection *s, uint32_t i);
/* Lets the row's function do all if the condition holds. */
void value_call_if(struct selection *s, enum x86_condition condition);

/* integers.c */

extern const enum x86_condition integer_conditions[]; /* by enum micro_predicate, after a comparison */
/* Extends the low bits of a value, of which `dying` may be the last use, as the result. */
void integer_extend(struct selection *s, struct place from, unsigned bits, bool sign, struct value dying);
/* Emits a comparison. Returns the condition under which it holds. */
enum x86_condition integer_compare(struct selection *s, struct value value);
/* Each emits a micro-operation: of two operands; a shift, a rotation, a count of bits, the high half of a product, a division; an
 * extension, a truncation, a choice by a comparison. */
void integer_binary(struct selection *s, const struct micro *micro);
void integer_shift(struct selection *s, const struct micro *micro);
void integer_rotate(struct selection *s, const struct micro *micro);
void integer_count(struct selection *s, const struct micro *micro);
void integer_high(struct selection *s, const struct micro *micro);
void integer_divide(struct selection *s, const struct micro *micro);
void integer_convert(struct selection *s, const struct micro *micro);
void integer_truncate(struct selection *s, const struct micro *micro);
void integer_choose(struct selection *s, const struct micro *micro);

/* floats.c: double and single precision. Each emits a micro-operation; float_number(), float_boxed() and float_call_unless() let the row's
 * function do all with a NaN, an f register that holds no number of single precision, and an operand out of range. */
void float_truncate(struct selection *s, const struct micro *micro);
void float_convert(struct selection *s, const struct micro *micro);
void float_boxed(struct selection *s, const struct micro *micro);
void float_call_unless(struct selection *s, const struct micro *micro);
void float_compute(struct selection *s, const struct micro *micro);
void float_from_integer(struct selection *s, const struct micro *micro);
void float_compare(struct selection *s, const struct micro *micro);
void float_number(struct selection *s, const struct micro *micro);
/* Writes a value to the row's f register. */
void float_write(struct selection *s, struct value result);

#endif
