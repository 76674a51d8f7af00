/* The fast handlers of instructions: their variants, and how to run them.
 *
 * emu/hart/exec/handlers.h makes the handlers from the rows. Each of its variants is a file, named by three choices:
 * the host    base: any x86-64; v3: AVX2, BMI and FMA (compiled with -march=x86-64-v3)
 * _tlb        data accesses go through the hart's TLB; otherwise through its window on memory
 * _direct     data accesses go through the mirror of the hart's address space (emu/hart/mmu/mirror.h)
 * _traced     the handlers leave a trace for stream.c, and refuse what needs step.h (leave_traced.h); otherwise they run on
 *             (leave_plain.h) */
#ifndef EMU_HART_EXEC_H
#define EMU_HART_EXEC_H

#include <stdbool.h>

#include "emu/hart/exec/op.h"

/* A handler for two consecutive ops (fuse.def). */
struct exec_fusion {
    uint16_t first, second; /* enum insn_id */
    uint8_t first_source, second_source;
    op_handler *run;
};

/* The handlers of one build variant. Rows that only `step` executes have NULL. */
struct exec_table {
    op_handler *rows[INSN_COUNT][OP_SOURCES];
    op_handler *truncating[INSN_COUNT]; /* conversions whose static rounding mode is RTZ; NULL otherwise */
    op_handler *slow;                   /* executes one instruction with step.h and continues after it */
    op_handler *step;                   /* executes a block's last instruction with step.h */
    op_handler *stop;                   /* a breakpoint */
    op_handler *go;                     /* leaves the block through the exit slot */
    op_handler *link;                   /* a link stub: finds the exit's target and links the exit to it */
    op_handler *far;                    /* as link, but looks the target up each time */
    op_handler *dropped;                /* the first op of a dropped block: finds its successor */
    op_handler *compiled;               /* the first op of a block that a compiler has compiled */
    op_handler *returns;                /* JALR that is expected to continue in the same block */
    const struct exec_fusion *fusions;
    unsigned fusion_count;
};

extern const struct exec_table exec_base, exec_base_tlb, exec_base_traced, exec_base_tlb_traced;
extern const struct exec_table exec_v3, exec_v3_tlb, exec_v3_traced, exec_v3_tlb_traced, exec_v3_direct;

/* Returns the fastest variant for the host, without traces. */
const struct exec_table *exec_choose(bool tlb);

/* Return the variant for the same host with data accesses through the TLB; with a trace. `table` itself may be it. */
const struct exec_table *exec_paged(const struct exec_table *table);
const struct exec_table *exec_traced(const struct exec_table *table);

struct mirror;

/* Lets a privileged hart that has not run access data through a mirror of its address space. Where the host has no room or no handlers
 * for it, the hart only forgets its blocks when it would leave the mirror, so that it translates as many everywhere. */
void exec_use_mirror(struct hart *hart, const struct mirror *mirror);

/* Lets a hart with a mirror that has not run access data through its TLB, because a compiler's code does. It forgets its blocks when it
 * would leave the mirror. */
void exec_leave_mirror(struct hart *hart);

/* Lets a hart with a window or a mirror access data through a TLB from now on, because it has run code that it can store to: stores
 * to pages with code must leave the fast path. Call it between blocks; it flushes them. */
void exec_use_tlb(struct hart *hart);

/* Returns the first op of the code at hart->pc. Never NULL: calls exec_use_tlb() if that is due. Call block_update()
 * before. */
const union op *exec_enter(struct hart *hart);

/* The budget of a block that runs alone: so far below 0 that nothing is translated for what comes after it. */
#define EXEC_ALONE (INT64_MIN / 2)

/* Runs one block, of which op is the first op, by the interpreter. */
void exec_run_alone(struct hart *hart, const union op *op);

/* Runs the hart's handlers from op on until the run ends. */
void exec_run(struct hart *hart, const union op *op, int64_t budget);

#endif
