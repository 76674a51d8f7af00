/* The oracle of nucd.ranges=oracle: which lines will a task access?
 *
 * When a nucd is dispatched, the oracle executes its region without time and without effect: on the memory as it is
 * before the nucd in program order, that is with the host's older stores, which may not have retired. It knows the
 * registers that are handed over. It does not know
 *   - other registers, and the stack's old contents;
 *   - bytes of lines that an older task in the dependency table writes: only their addresses are known;
 *   - data of older stores that wait for a task.
 * Values that it does not know may pass through registers and memory. If one decides a branch or an address,
 * the oracle gives up, and the task's declared ranges are compared. It also gives up at AMO, LR, SC, CSRs,
 * order points, ECALL, FENCE.I, faults (also of pages that are not present), accesses across pages, and in regions of more
 * than FORESEE_MOST instructions.
 *
 * If it does not give up, its answer is exact, unless another hart changes what the region reads before the task runs;
 * programs synchronize hosts at nucds as at other accesses. The stack is not part of the answer. */
#ifndef EMU_NUCD_WINDOW_FORESEE_H
#define EMU_NUCD_WINDOW_FORESEE_H

#include "emu/nucd/depend/access_set.h"
#include "emu/nucd/window.h"

enum { FORESEE_MOST = 4000000 };

/* Returns the lines that the task will access, or NULL if the oracle gives up. The task's nucd is the window's next
 * entry. `tasks` has the tasks in flight. Free the result with nucd_access_set_free(). */
struct nucd_access_set *foresee(struct window *window, struct hart *hart, const struct nucd_depend *tasks,
                                const struct nucd_task *task);

#endif
