/* What timing cores share around instructions that are executed alone: when memory must be quiet before one,
 * executing it at its time, and what the core has to wait for afterwards. */
#ifndef EMU_CORE_SERIAL_H
#define EMU_CORE_SERIAL_H

#include "emu/core/core.h"
#include "emu/hart/priv.h"

enum serial_wait {
    SERIAL_LATENCY,  /* for the instruction's latency only */
    SERIAL_CACHE,    /* for cache_access() of [physical, physical + size) in the data cache, as `use` */
    SERIAL_MAINTAIN, /* for cache_maintain() of that range there, with `op` */
    SERIAL_UNIT,     /* for core->unit, which is told when the unit of a custom instruction is done */
    SERIAL_DEVICE,   /* for `clocks`, the way to a device and back */
};

/* What an instruction that was executed alone has done. */
struct serial {
    struct step_report report;
    enum hart_stop stop; /* HART_STOP_LIMIT: none */
    enum serial_wait wait;
    enum cache_use use;
    enum mem_op op;
    uint64_t physical;
    uint32_t size;
    uint64_t clocks;
    bool refetch; /* pc goes elsewhere, or what was fetched behind the instruction may be stale */
};

/* Whether stores must have left the core before the instruction at the hart's pc: fences, atomics,
 * cache-block operations, accesses to devices and whatever traps, but not CSR accesses and hints. *length is
 * that of the instruction, 0 if it cannot be fetched. */
bool serial_needs_stores(struct core *core, unsigned *length);

/* Whether that instruction is CBO.INVAL, CBO.CLEAN or CBO.FLUSH, of which a core may have several under way. */
bool serial_is_maintenance(struct core *core);

/* Whether an interrupt or a stop is due. */
static inline bool core_interrupted(const struct hart *hart)
{
    return hart->yield || (hart->privileged && priv_due_interrupt(hart));
}

/* Brings the hart's clocks up to now, a time that the queue has reached. */
void serial_clock(struct core *core, uint64_t now);

/* Executes the instruction at the hart's pc, or takes an interrupt, at now. What FENCE.I, SFENCE.VMA and a
 * write of satp, mrange or mlocal do to caches and TLBs of this core is done. */
void serial_step(struct core *core, uint64_t now, struct serial *serial);

/* Hands a stop to the server. False when the core is asleep now. WFI sleeps unless there is an interrupt. */
bool serial_stop(struct core *core, enum hart_stop stop, uint64_t now);

#endif
