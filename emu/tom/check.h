/* The check of coherence between multiprocessors in front and in stacks (--check coherence; TOM 4.4.2).
 *
 * Bytes are in one place, so a stale copy shows in no result. The checker knows when each line was stored to and when each
 * cache has asked for its copy, and reports what a cache that holds bytes would get wrong:
 *
 *   - a block in a stack loads a line to which its multiprocessor in front has stored before it offloaded the block, while a
 *     store is still on its way to memory;
 *   - a load in a stack hits a copy that was asked for before such a store, and filled before the block was spawned;
 *   - when the answer of a block has come, a load of its multiprocessor hits a copy, or gets one from the second level, of a
 *     line to which the block has stored, that was asked for before the block was spawned.
 *
 * It knows lines, not words, and of stores in front only the last one of each line. So it may miss stale loads of lines to
 * which several multiprocessors store, but those that it reports are stale, unless the words of the line that were stored
 * are not those that are loaded. */
#ifndef EMU_TOM_CHECK_H
#define EMU_TOM_CHECK_H

#include "emu/tom/controller/controller.h"
#include "emu/tom/unit/unit.h"

/* Makes a checker for the controllers, whose parts must be made. Never NULL. */
struct tom_check *tom_check_new(struct tom *tom);
void tom_check_free(struct tom_check *check); /* accepts NULL */

/* Tell the checker that, at time `now` (fs), a warp in front has executed a store; that a stack has spawned a block; that the
 * block has executed a load; that the answer of the block has come. */
void tom_check_stored(struct tom_check *check, const struct tom_front *front,
                      const struct warp_report *report, uint64_t now);
void tom_check_spawned(struct tom_check *check, const struct tom_task *task, uint64_t now);
void tom_check_loaded(struct tom_check *check, const struct tom_task *task, const struct warp_report *report,
                      uint64_t now);
void tom_check_answered(struct tom_check *check, const struct tom_task *task, uint64_t now);

/* Prints the number of findings if it is not 0. Returns it. */
uint64_t tom_check_end(const struct tom_check *check);

#endif
