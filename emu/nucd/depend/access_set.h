/* The cache lines that a task reads and writes, as sorted runs: exact sets, in place of declared ranges. */
#ifndef EMU_NUCD_DEPEND_ACCESS_SET_H
#define EMU_NUCD_DEPEND_ACCESS_SET_H

#include "emu/nucd/task.h"

/* Whole lines, ascending, neither overlapping nor adjacent. */
struct nucd_lines {
    unsigned count, room;
    struct nucd_range *range;
};

/* A line that is both read and written is in both. */
struct nucd_access_set {
    struct nucd_lines in, out;
};

/* Adds the line at an address, a multiple of NUCD_LINE above those added before. */
void nucd_lines_append(struct nucd_lines *lines, uint64_t line);

/* Returns whether a line has a byte of first..last. */
bool nucd_lines_touch(const struct nucd_lines *lines, uint64_t first, uint64_t last);

/* Frees the set, which may be NULL. */
void nucd_access_set_free(struct nucd_access_set *set);

#endif
