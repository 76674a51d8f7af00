/* --check nucd on a machine: what tasks may access (footprint_check.h), and messages about what they should not have. */
#ifndef EMU_NUCD_TASK_CHECK_H
#define EMU_NUCD_TASK_CHECK_H

#include "emu/nucd/accelerators.h"
#include "emu/nucd/machine.h"

struct task_check;

/* Watches the tasks of all accelerators, whoever sends them; hosts' harts are those that call a driver. What is passed must
 * outlive it. Release with task_check_free(), which takes NULL, when nothing runs any more. */
struct task_check *task_check_new(const struct nucd_config *config, struct accelerators *accelerators,
                                  struct hart *hosts, unsigned host_count,
                                  const struct nucd_machine *machine);
void task_check_free(struct task_check *check);

/* All tasks may read and execute bytes first..last: the program's segments that it cannot write. */
void task_check_allow(struct task_check *check, uint64_t first, uint64_t last);

/* Registers "nucd.check.accesses" and all else that is counted. */
void task_check_publish(struct task_check *check, struct stats *stats);

/* Prints what was found on standard error; whether there are findings. */
bool task_check_summary(const struct task_check *check);

#endif
