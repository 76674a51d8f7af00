/* The emulator's part in the kernel's conventional driver (host/kernel/driver.h): what it is told at the start, its
 * messages, its counters. */
#ifndef EMU_NUCD_DRIVER_H
#define EMU_NUCD_DRIVER_H

#include "emu/nucd/cause.h"
#include "emu/schema/tree.h"
#include "isa/include/croft/door.h"

/* Fills in what the kernel's boot block says of accelerators that take tasks with this firmware (NULL: none), and of the
 * driver, which has no units unless nucd.mode is driver. `time` advances by 1 in tick fs. */
void nucd_driver_boot(const struct tree *tree, const char *firmware, uint64_t tick, struct kernel_boot *boot);

/* Says in one line which task has not ended in time, by the frame of DOOR_TIMEOUT; place describes its pc. */
enum { NUCD_DRIVER_TEXT = 768 };
void nucd_driver_timeout(const struct tree *tree, const struct kernel_frame *frame, const char *place,
                         char text[NUCD_DRIVER_TEXT]);

/* Registers "nucd.driver_cycles" and what else the driver, if there is one, counts, with the causes of what it finds
 * malformed. */
void nucd_driver_publish(const struct kernel_driver *driver, struct nucd_causes *causes, struct stats *stats);

#endif
