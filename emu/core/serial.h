/* Serial instructions, which timing cores execute alone: when stores must have drained before them, their execution,
 * and what the core waits for afterwards. */
#ifndef EMU_CORE_SERIAL_H
#define EMU_CORE_SERIAL_H

#include "emu/core/core.h"
#include "emu/hart/priv.h"

enum serial_wait {
    SERIAL_LATENCY,  /* for the instruction's latency */
    SERIAL_CACHE,    /* for cache_access() of [physical, physical + size) in the data cache, as `use` */
    SERIAL_MAINTAIN, /* for cache_maintain() of [physical, physical + size) with `op` */
    SERIAL_CUSTOM,   /* for core->unit, which is called when the unit of a custom instruction is done */
    SERIAL_DEVICE,   /* for `clocks`, the round trip to a device */
};

/* The outcome of a serial instruction. */
struct serial {
    struct step_report report;
    enum hart_stop stop; /* HART_STOP_LIMIT: none */
    enum serial_wait wait;
    enum cache_use use;
    enum mem_op op;
    uint64_t physical;
    uint32_t size;
    uint64_t clocks;
    bool posted;  /* SERIAL_DEVICE: the core does not wait for the answer */
    bool refetch; /* the next pc differs, or instructions fetched after it may be stale */
};

/* Returns whether stores must have drained, and in a cache by word have been registered (cache_release()), before the instruction at the
 * hart's pc: for fences, atomics, cache-block
 * operations, device accesses and trapping instructions, but not CSR accesses and hints. *length is the length of the
 * instruction, 0 if it cannot be fetched. */
bool serial_needs_stores(struct core *core, unsigned *length);

/* Returns whether the instruction at the hart's pc is CBO.INVAL, CBO.CLEAN or CBO.FLUSH, of which a core may
 * have several under way. */
bool serial_is_maintenance(struct core *core);

/* Returns the cycle before which the instruction at the hart's pc cannot begin because of posted stores to
 * devices, or 0. Loads from devices, atomics and fences with O in their predecessor set wait for all answers.
 * A store waits while parts.posted_stores posted stores have no answer. So devices see a hart's accesses in
 * program order. */
uint64_t serial_awaits(const struct core *core);

/* Returns for how many cycles, at least 1, the core waits for a device access that it has issued in `cycle`.
 * Notes a posted store, so call it once for each access. */
uint64_t serial_device(struct core *core, const struct serial *serial, uint64_t cycle);

/* Returns whether an interrupt or a stop is due. */
static inline bool core_interrupted(const struct hart *hart)
{
    return hart->yield || (hart->privileged && priv_due_interrupt(hart));
}

/* Sets the hart's clocks to now, a time that the queue has reached. */
void serial_clock(struct core *core, uint64_t now);

/* Executes the instruction at the hart's pc, or takes an interrupt, at now. Applies the effects of FENCE, atomics with aq, FENCE.I,
 * SFENCE.VMA and writes of satp, mrange or mlocal to caches and TLBs of this core. */
void serial_step(struct core *core, uint64_t now, struct serial *serial);

#endif
