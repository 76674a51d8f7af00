/* The rows of the tables in isa/ as micro-operations, made by micro.awk from what Clang makes of emu/jit/rows.c. */
#ifndef EMU_JIT_QUICK_MICRO_H
#define EMU_JIT_QUICK_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

enum micro_operation {
    MICRO_ADD,
    MICRO_SUB,
    MICRO_MUL,
    MICRO_AND,
    MICRO_OR,
    MICRO_XOR,
    MICRO_SHL,
    MICRO_LSHR,
    MICRO_ASHR,
    MICRO_UDIV,
    MICRO_SDIV,
    MICRO_UREM,
    MICRO_SREM,
    MICRO_MULH, /* extra: signed */
    MICRO_ICMP, /* extra: enum micro_predicate */
    MICRO_SELECT,
    MICRO_ZEXT,
    MICRO_SEXT, /* bits: of the source */
    MICRO_TRUNC,
    MICRO_CTLZ,
    MICRO_CTTZ,
    MICRO_CTPOP,
    MICRO_BSWAP,
    MICRO_FSHL,
    MICRO_FSHR,
    MICRO_AT,    /* the place of an access; extra: a store's */
    MICRO_FIELD, /* of the hart, at an offset */
    MICRO_LOAD,
    MICRO_LOAD_SIGNED,
    MICRO_STORE,
    MICRO_REQUIRE,
    MICRO_BRANCH,
    MICRO_JUMP,
    MICRO_NOTHING, /* the row does nothing more */
    MICRO_RET,     /* extra: the upper half of an f register is all ones */
    /* Of floating-point operations, bits: 64, or 32 in the lower half of a register, whose upper half is all ones. */
    MICRO_FADD,
    MICRO_FSUB,
    MICRO_FMUL,
    MICRO_FDIV,
    MICRO_FSQRT,
    MICRO_FMA,
    MICRO_FROM_INTEGER, /* bits: of the source; extra: to single precision */
    MICRO_TRUNCATE,     /* to an integer of 64 bits */
    MICRO_WIDEN,        /* to double precision */
    MICRO_NARROW,       /* to single precision */
    MICRO_BOXED, /* goes on if the f register's upper half is all ones; else, the row's function does all */
    MICRO_CALL_UNLESS, /* extra: a comparison with the bits of a number; the row's function does all unless it holds */
    MICRO_FCMP,    /* extra: enum micro_predicate */
    MICRO_FMASK,   /* all ones if the comparison by CMPSD's number `extra` holds */
    MICRO_CALL_IF, /* the row's function does all if it holds */
    MICRO_NUMBER,  /* goes on if it is a number; else, the row's function does all */
};

enum micro_predicate {
    MICRO_EQ,
    MICRO_NE,
    MICRO_ULT,
    MICRO_ULE,
    MICRO_UGT,
    MICRO_UGE,
    MICRO_SLT,
    MICRO_SLE,
    MICRO_SGT,
    MICRO_SGE,
};

/* Values of a row: its parameters (enum in emu/jit/row_table.h), then the results of its micro-operations. */
enum { MICRO_FIRST = 9, MICRO_MOST = 32 };

struct micro {
    uint8_t operation, bits, extra, constants; /* constants: bit i: operand i is a number, not a value */
    int64_t operand[3];
};

/* What a row is here: a list of micro-operations, or a function, or both (MICRO_NUMBER); neither: it is not known. */
struct micro_row {
    const struct micro *micros;
    uint32_t count;
    uint64_t (*native)(void); /* of the type of the rows' functions (emu/jit/rows.c) */
};

struct micro_row micro_row(enum insn_id id, bool rtz);

/* Returns whether the row does nothing although the interpreter executes it by step.h: a fence. */
bool micro_is_nothing(enum insn_id id);

#endif
