/* What the traced handlers leave behind (leave_traced.h), and stream.c reads. */
#ifndef EMU_HART_TRACE_H
#define EMU_HART_TRACE_H

#include "emu/hart/stream.h"

struct exec_table;
union op;

/* A way through a block. */
struct trace_run {
    const union op *first; /* the block's */
    uint64_t retired;      /* instructions */
};

/* Why the handlers have returned. */
enum trace_end {
    TRACE_BUDGET,
    TRACE_REFUSED, /* the instruction at pc is not one for the fast way */
    TRACE_BREAK,   /* a breakpoint at pc */
    TRACE_FULL,    /* the block cache has no room for the code at pc without a flush */
};

struct stream_trace {
    enum trace_end end;
    const struct exec_table *plain;          /* the hart's handlers before */
    struct trace_run runs[STREAM_BATCH + 1]; /* every way out of a block retires something */
    /* Of the instructions that the batch executed one by one, in this order. */
    uint32_t single_count;
    struct stream_op single_ops[STREAM_BATCH];
    struct insn single_insns[STREAM_BATCH];
};

#endif
