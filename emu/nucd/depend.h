/* The dependency table: which tasks in flight must wait for which, and which accesses of the host for tasks.
 *
 * It holds the ranges of every task from its packet's making to its completion (NUCD paper, sections IV-A and
 * IV-C.2). A task is blocked while an older one is in the table whose footprint conflicts with its
 * own. Tasks
 * are added in program order and known by their slots; ages, not slots, order them. */
#ifndef EMU_NUCD_DEPEND_H
#define EMU_NUCD_DEPEND_H

#include "emu/nucd/task.h"

enum { NUCD_TASKS = 64, NUCD_NO_TASK = -1 }; /* slots at most */

struct nucd_depend_entry {
    struct nucd_footprint memory;
    uint64_t age;
    uint64_t waits_for; /* set of slots */
};

/* first > last: nothing is touched. */
struct nucd_depend {
    struct nucd_range out, any; /* hull of all output ranges, and of all ranges, in the table */
    uint64_t used;              /* set of slots */
    uint64_t next_age;
    unsigned size;
    struct nucd_depend_entry entry[NUCD_TASKS];
};

/* An empty table with 1 to NUCD_TASKS slots. */
void nucd_depend_init(struct nucd_depend *table, unsigned size);

/* Adds the youngest task; its slot, or NUCD_NO_TASK while the table is full. */
int nucd_depend_add(struct nucd_depend *table, const struct nucd_task *task);

/* Takes out a task that is complete, and returns the set of slots that it was the last to block. */
uint64_t nucd_depend_complete(struct nucd_depend *table, int slot);

/* Takes out a task that never was launched, and all younger ones: the host has squashed their nucds. Returns
 * the set of slots taken out. */
uint64_t nucd_depend_squash(struct nucd_depend *table, int slot);

/* Takes the oldest slot out of the set, which must not be empty. */
int nucd_depend_oldest(const struct nucd_depend *table, uint64_t *set);

static inline bool nucd_depend_blocked(const struct nucd_depend *table, int slot)
{
    return table->entry[slot].waits_for != 0;
}

/* The slow halves of the queries below. */
int nucd_depend_find_load(const struct nucd_depend *table, uint64_t first, uint64_t last, uint64_t age);
int nucd_depend_find_store(const struct nucd_depend *table, uint64_t first, uint64_t last, uint64_t age);

/* Queries for an access of the host to bytes first..last. Tasks in front of it in program order are those
 * below `age`, which is the table's next_age when the access was dispatched. */

/* A load: the youngest task in front of it whose output it would read, or NUCD_NO_TASK. It can be asked again
 * when that task is complete. */
static inline int nucd_depend_load(const struct nucd_depend *table, uint64_t first, uint64_t last,
                                   uint64_t age)
{
    if (first > table->out.last || last < table->out.first)
        return NUCD_NO_TASK;
    return nucd_depend_find_load(table, first, last, age);
}

/* A store: the youngest task in front of it that has the bytes in a range of either kind. */
static inline int nucd_depend_store(const struct nucd_depend *table, uint64_t first, uint64_t last,
                                    uint64_t age)
{
    if (first > table->any.last || last < table->any.first)
        return NUCD_NO_TASK;
    return nucd_depend_find_store(table, first, last, age);
}

#endif
