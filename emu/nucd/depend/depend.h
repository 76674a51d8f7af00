/* The dependency table: which tasks in flight must wait for older ones, and which accesses of the host must
 * wait for tasks.
 *
 * The table holds the ranges of every task from the making of its packet to its completion (NUCD paper,
 * sections IV-A and IV-C.2), rounded out to granules: cache lines, or pages as in the paper's load-store
 * queue. If an oracle knows the lines that the task will access, these are compared instead. A task is
 * blocked while the table holds an older task whose footprint conflicts with its own. Tasks are added in
 * program order and identified by their slots, which may be reused in any order; `age` gives program
 * order. */
#ifndef EMU_NUCD_DEPEND_DEPEND_H
#define EMU_NUCD_DEPEND_DEPEND_H

#include "emu/nucd/depend/access_set.h"

enum { NUCD_TASKS = 64, NUCD_NO_TASK = -1 }; /* NUCD_TASKS: maximum number of slots */

struct nucd_depend_entry {
    struct nucd_footprint memory;         /* whole granules */
    const struct nucd_access_set *access; /* compared in place of `memory`; NULL: not known */
    uint64_t age;
    uint64_t waits_for; /* set of slots of older tasks */
};

/* A hull with first > last is empty. */
struct nucd_depend {
    struct nucd_range out, any; /* hull of all output ranges in the table, and of all ranges */
    uint64_t used;              /* set of slots */
    uint64_t next_age;
    uint64_t granule; /* bytes */
    unsigned size;
    struct nucd_depend_entry entry[NUCD_TASKS];
};

/* Initializes an empty table with 1 to NUCD_TASKS slots. `granule` is a power of two, at least NUCD_LINE. */
void nucd_depend_init(struct nucd_depend *table, unsigned size, uint64_t granule);

/* Adds a task, younger than all others. Returns its slot, or NUCD_NO_TASK when the table is full. `access`
 * has the lines that the task will access, and must be valid as long as the task is in the table; NULL: not
 * known. */
int nucd_depend_add(struct nucd_depend *table, const struct nucd_task *task,
                    const struct nucd_access_set *access);

/* Return whether the task reads, and writes, bytes of first..last. */
bool nucd_depend_reads(const struct nucd_depend_entry *entry, uint64_t first, uint64_t last);
bool nucd_depend_writes(const struct nucd_depend_entry *entry, uint64_t first, uint64_t last);

/* Removes a complete task. Returns the set of slots that are no longer blocked because of it. */
uint64_t nucd_depend_complete(struct nucd_depend *table, int slot);

/* Removes a task that was not launched and all younger ones, because the host has squashed their nucds.
 * Returns the set of slots removed. */
uint64_t nucd_depend_squash(struct nucd_depend *table, int slot);

/* Removes the oldest task's slot from *set and returns it. *set must not be empty. */
int nucd_depend_oldest(const struct nucd_depend *table, uint64_t *set);

static inline bool nucd_depend_blocked(const struct nucd_depend *table, int slot)
{
    return table->entry[slot].waits_for != 0;
}

/* The slow paths of nucd_depend_load() and nucd_depend_store(). */
int nucd_depend_find_load(const struct nucd_depend *table, uint64_t first, uint64_t last, uint64_t age);
int nucd_depend_find_store(const struct nucd_depend *table, uint64_t first, uint64_t last, uint64_t age);

/* Queries for an access of the host to bytes first..last. `age` is the table's next_age at the time when the
 * access was dispatched: tasks with a lower age precede the access in program order. */

/* For a load: returns the youngest preceding task with an output range that overlaps the bytes, or
 * NUCD_NO_TASK. Ask again when that task is complete. */
static inline int nucd_depend_load(const struct nucd_depend *table, uint64_t first, uint64_t last,
                                   uint64_t age)
{
    if (first > table->out.last || last < table->out.first)
        return NUCD_NO_TASK;
    return nucd_depend_find_load(table, first, last, age);
}

/* For a store: returns the youngest preceding task with an input or output range that overlaps the bytes, or
 * NUCD_NO_TASK. */
static inline int nucd_depend_store(const struct nucd_depend *table, uint64_t first, uint64_t last,
                                    uint64_t age)
{
    if (first > table->any.last || last < table->any.first)
        return NUCD_NO_TASK;
    return nucd_depend_find_store(table, first, last, age);
}

#endif
