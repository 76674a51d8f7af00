/* The trace of the traced handlers (leave_traced.h), read by stream.c. */
#ifndef EMU_HART_STREAM_TRACE_H
#define EMU_HART_STREAM_TRACE_H

#include "emu/hart/stream.h"

struct exec_table;
union op;

/* A path through a block. */
struct trace_run {
    const union op *first; /* the block's first op */
    uint64_t retired;      /* number of instructions retired */
};

/* Why the handlers have returned. */
enum trace_end {
    TRACE_BUDGET,
    TRACE_REFUSED, /* the handlers cannot execute the instruction at pc */
    TRACE_BREAK,   /* a breakpoint at pc */
    TRACE_FULL,    /* the code at pc cannot be translated without flushing the block cache */
};

struct stream_trace {
    enum trace_end end;
    const struct exec_table *plain;          /* the hart's handlers before the stream was made */
    struct trace_run runs[STREAM_BATCH + 1]; /* every path retires an instruction */
    /* The instructions that the batch executed one by one, in order. */
    uint32_t single_count;
    struct stream_op single_ops[STREAM_BATCH];
    struct insn single_insns[STREAM_BATCH];
};

#endif
