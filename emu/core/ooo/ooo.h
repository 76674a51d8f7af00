/* The out-of-order core: fetch with prediction, renaming, a reorder buffer, issue ports, load and store
 * queues; about a Cortex-A57.
 *
 * One pass in program order over the executed stream gives each instruction its cycles of fetch, dispatch,
 * issue, completion and retirement. An instruction whose operands come from a miss under way is pending and
 * is scheduled when the miss returns; dispatch goes on meanwhile until it needs something of unknown time (a
 * place in the reorder buffer or a queue, a mispredicted branch's outcome, a serial instruction).
 *
 * Modelled: fetch by aligned blocks, BTB bubbles, instruction-cache lines, wrong-path fetch; limits of
 * reorder buffer, issue queue, load and store queues, physical registers; port conflicts and unpipelined
 * units; forwarding from older stores, memory-order speculation with squashes and load-wait bits; stores that
 * drain after retirement, several misses at a time; cache-block operations that begin alone and in order, but of
 * which several are under way at a time, for fences and what else needs stores drained to wait for; exact CPI stacks.
 *
 * With an offload mechanism (struct core_parts, ahead), it runs ahead of tasks: a task is an instruction that takes
 * as long as the mechanism says, what depends on it waits, all else goes on, and retires in order behind it
 * (ooo_ahead.c).
 *
 * Not modelled: data accesses of the wrong path (only its fetches); priority by age for an instruction that
 * was pending: younger ones have taken their ports already; issue queues for each port apart (one of `iq`
 * entries serves all); squashes of loads by other cores' stores (load-load order); the TLB for the second
 * page of an access across two. When a load that was pending is found to violate memory order, what had been
 * dispatched behind it keeps its times; only later fetches are redirected. An issue that lies more than
 * PORTS_WINDOW cycles ahead may be given a port that is taken.
 */
#ifndef EMU_CORE_OOO_OOO_H
#define EMU_CORE_OOO_OOO_H

#include "emu/core/config.h"
#include "emu/core/core.h"

enum {
    OOO_ROB_MOST = 512,
    OOO_QUEUE_MOST = 256, /* of load and store queues */
};

/* A core that is asleep until core_wake(). Config must have passed the check and is copied. NULL when the
 * host has no memory. Free with core_free(). */
struct core *ooo_new(const struct core_config *config, const struct core_parts *parts, struct error *err);

#endif
