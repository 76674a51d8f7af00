/* Regions of offloaded tasks that have stopped at an accelerator: their registers and backtraces. */
#ifndef EMU_ENV_GUEST_REGION_H
#define EMU_ENV_GUEST_REGION_H

#include "emu/core/tasks.h"
#include "emu/env/guest/guest.h"

/* Fills in *region for the accelerator at which a region has stopped. Returns false if its call cannot be served,
 * because it launches threads or waits for launches, or because the firmware does not report where the region's
 * registers are. */
bool region_call(const struct user *user, unsigned accelerator, struct tasks_region *region);

/* Stores the addresses of the region's frames, innermost first, to frames[max]: `pc`, at which it has
 * stopped, then return addresses in the functions that the region calls, up to the region itself. Returns
 * their number; 0 if the firmware does not report where the region's registers are. */
size_t region_walk(const struct user *user, unsigned accelerator, uint64_t pc, uint64_t *frames, size_t max);

#endif
