/* A debugger's access to a hart: reads and changes its state, and sets stops. Nothing here traps or affects a
 * device. */
#ifndef EMU_HART_PROBE_H
#define EMU_HART_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"

/* Access a CSR in any mode. Return false if it does not exist or, for poke, is read-only. */
bool hart_csr_peek(const struct hart *hart, unsigned number, uint64_t *value);
bool hart_csr_poke(struct hart *hart, unsigned number, uint64_t value);

/* Copy length bytes at a virtual address through the hart's current data translation, regardless of permissions. Return
 * false if a byte is neither in main memory nor at a holder (bytes.h) that allows copying; then a first part may have
 * been copied. Overwritten code is forgotten. */
bool hart_memory_read(const struct hart *hart, uint64_t address, void *to, uint64_t length);
bool hart_memory_write(struct hart *hart, uint64_t address, const void *from, uint64_t length);

/* Breakpoints stop hart_run() before the instruction at an address; hart_step() passes over them. Adding one twice is
 * allowed. Return false if there is no room (add) or no such breakpoint (remove). */
bool hart_breakpoint_add(struct hart *hart, uint64_t address);
bool hart_breakpoint_remove(struct hart *hart, uint64_t address);
bool hart_has_breakpoint(const struct hart *hart, uint64_t address);

/* Makes an address a breakpoint of the machine, in place of the one before: adding and removing breakpoints, as a
 * debugger does, leaves it alone. */
void hart_compare(struct hart *hart, uint64_t address);

/* Watchpoints stop the hart after an access that touches a range of virtual addresses. kinds: set of enum hart_watch.
 * Return values as for breakpoints. */
bool hart_watchpoint_add(struct hart *hart, uint64_t address, uint64_t length, unsigned kinds);
bool hart_watchpoint_remove(struct hart *hart, uint64_t address, uint64_t length, unsigned kinds);

#endif
