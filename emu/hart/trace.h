/* What the traced handlers leave behind: for stream.c and exec_fast.h alone. */
#ifndef EMU_HART_TRACE_H
#define EMU_HART_TRACE_H

#include "emu/hart/stream.h"

struct stream_trace {
    /* Of the instructions that the batch executed one by one, in this order. */
    uint32_t single_count;
    struct stream_op single_ops[STREAM_BATCH];
    struct insn single_insns[STREAM_BATCH];
};

#endif
