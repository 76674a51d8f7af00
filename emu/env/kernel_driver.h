/* The emulator's part in the kernel's conventional driver (host/kernel/driver.h): what it is told at the start, its
 * messages, its counters. */
#ifndef EMU_ENV_KERNEL_DRIVER_H
#define EMU_ENV_KERNEL_DRIVER_H

#include "emu/env/guest.h"
#include "emu/machine/machine.h"
#include "emu/nucd/cause.h"
#include "isa/include/croft/door.h"

/* What the driver has on this machine with this firmware: no units unless nucd.mode is driver. */
struct kernel_driver kernel_driver_of(const struct machine_config *machine, const char *firmware);

/* Warns of a nucd whose operands the driver finds malformed, once for each place, and counts it. */
void kernel_driver_malformed(const struct user *user, struct nucd_causes *causes,
                             const struct kernel_frame *frame);

/* Says which task has not ended in time; returns the exit status. */
int kernel_driver_timeout(const struct user *user, const struct machine_config *machine,
                          const struct kernel_frame *frame);

/* Registers "nucd.driver_cycles" and what else the driver, if there is one, counts. */
void kernel_driver_publish(const struct kernel_driver *driver, struct nucd_causes *causes,
                           struct stats *stats);

#endif
