/* The emulator's side of the kernel's conventional driver (host/kernel/driver/driver.h): its boot parameters,
 * messages and counters. */
#ifndef EMU_NUCD_ENVIRONMENT_DRIVER_H
#define EMU_NUCD_ENVIRONMENT_DRIVER_H

#include "emu/nucd/cause.h"
#include "emu/schema/tree.h"
#include "isa/include/croft/door.h"

/* Fills in the fields of the kernel's boot block that describe the accelerators that take tasks with this
 * firmware (NULL: none), and the driver, which has units only if nucd.mode is driver. `time` advances by 1
 * every `tick` fs. */
void nucd_driver_boot(const struct tree *tree, const char *firmware, uint64_t tick, struct kernel_boot *boot);

/* Writes a line that names the task that has not ended in time. `frame` is the frame of DOOR_TIMEOUT; `place`
 * describes frame->pc. */
enum { NUCD_DRIVER_TEXT = 768 };
void nucd_driver_timeout(const struct tree *tree, const struct kernel_frame *frame, const char *place,
                         char text[NUCD_DRIVER_TEXT]);

/* Registers "nucd.driver_cycles" and the driver's other counters ("nucd.1.driver_cycles" and so on for
 * further hosts), and the causes of malformed nucds of all hosts. Does nothing if there is no driver. The
 * boot block must stay valid. */
void nucd_driver_publish(const struct kernel_boot *boot, struct nucd_causes *causes, struct stats *stats);

#endif
