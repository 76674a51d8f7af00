/* An out-of-order core like Cortex-A57: fetch with prediction, renaming, a reorder buffer, issue ports, load and store
 * queues.
 *
 * One pass in program order over the executed stream assigns each instruction its cycles of fetch, dispatch, issue,
 * completion and retirement. An instruction whose operands depend on a pending miss is itself pending, and is scheduled
 * when the miss returns. Dispatch continues meanwhile, until it depends on an unknown time (of a free entry in the
 * reorder buffer or a queue, a mispredicted branch's execution, a serial instruction).
 *
 * Modelled: fetch by aligned blocks, BTB bubbles, instruction-cache lines, wrong-path fetch; limits of reorder buffer,
 * issue queue, load and store queues, physical registers; port conflicts and unpipelined units; forwarding from older
 * stores, memory-order speculation with squashes and load-wait bits; stores that drain after retirement, several misses
 * at a time; cache-block operations, which begin alone and in order, but of which several are under way at a time, and
 * for which fences and other instructions that need drained stores wait; exact CPI stacks.
 *
 * With an offload mechanism (struct core_parts, offload), the core runs ahead of tasks (ahead.c): a task is an
 * instruction that completes when the mechanism says; dependent instructions wait for it, all others continue, and
 * retire in order after it. If the mechanism keeps a checkpoint of the registers before a task, the task and complete
 * instructions after it leave the reorder buffer earlier; their stores stay in the store queue until they retire.
 *
 * Not modelled: data accesses of the wrong path (only its fetches); priority by age for an instruction that was
 * pending, since younger ones have taken their ports already; a separate issue queue for each port (one of `iq` entries
 * serves all); squashes of loads by other cores' stores (load-load order); the TLB for the second page of an access
 * that crosses a page. If a pending load turns out to violate memory order, instructions already dispatched after it
 * keep their times, and only later fetches are redirected. An issue more than PORTS_WINDOW cycles ahead may get a port
 * that is taken. */
#ifndef EMU_CORE_OOO_H
#define EMU_CORE_OOO_H

#include "emu/core/config.h"
#include "emu/core/core.h"

enum {
    OOO_ROB_MOST = 512,
    OOO_QUEUE_MOST = 256, /* entries of the load queue, and of the store queue */
};

/* Makes a core, which sleeps until core_wake(). Config must have passed the check and is copied. Returns NULL if the
 * host has no memory. Free with core_free(). */
struct core *ooo_new(const struct core_config *config, const struct core_parts *parts, struct error *err);

#endif
