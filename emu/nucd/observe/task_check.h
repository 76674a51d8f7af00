/* --check nucd on a machine: connects the checker (footprint_check.h) to the accelerators, and prints its
 * findings. */
#ifndef EMU_NUCD_OBSERVE_TASK_CHECK_H
#define EMU_NUCD_OBSERVE_TASK_CHECK_H

#include "emu/core/services.h"
#include "emu/nucd/units/accelerators.h"

struct task_check;

/* Checks the tasks of all accelerators, of any sender. `hosts` are the harts that may call a driver.
 * Everything passed must outlive the result. Release it with task_check_free(), which accepts NULL, when
 * nothing runs any more. */
struct task_check *task_check_new(const struct nucd_config *config, struct accelerators *accelerators,
                                  struct hart *hosts, unsigned host_count,
                                  const struct core_services *machine);
void task_check_free(struct task_check *check);

/* Lets all tasks read and execute bytes first..last, a segment that the program cannot write. */
void task_check_allow(struct task_check *check, uint64_t first, uint64_t last);

/* Registers "nucd.check.accesses" and the other counters. */
void task_check_publish(struct task_check *check, struct stats *stats);

/* Prints a summary of the findings on standard error. Returns whether there are any. */
bool task_check_summary(const struct task_check *check);

#endif
