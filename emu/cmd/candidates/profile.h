/* How many lines warps' loads and stores touch, and how many of the loads' miss, by instruction: from a memory trace of a run
 * (--trace memory, emu/simt/trace/access_trace.h). */
#ifndef EMU_CMD_CANDIDATES_PROFILE_H
#define EMU_CMD_CANDIDATES_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"

/* A multiprocessor's first-level cache: bytes, bytes of a line, ways. */
struct profile_cache {
    uint64_t size, line;
    uint32_t ways;
};

struct profile;

/* Reads a trace. Each multiprocessor's requests go, in the order of the trace, through a first-level cache with least recently used
 * replacement, in which stores allocate nothing and which a launch empties. NULL with err set: the file cannot be read, is no trace, or
 * has no requests. Release it with profile_free(), which accepts NULL. */
struct profile *profile_read(const char *path, const struct profile_cache *cache, struct error *err);
void profile_free(struct profile *profile);

/* Stores the lines that 32 threads of the load or store at pc touch, in the mean over its executions, and the part of its requests
 * that miss. Returns false if the trace has no requests of it. Requests of thread stacks are left out. */
bool profile_rates(const void *profile, uint64_t pc, double *lines, double *misses);

/* Returns the number of requests that the rates are made of. */
uint64_t profile_requests(const struct profile *profile);

#endif
