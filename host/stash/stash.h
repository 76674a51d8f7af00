/* Internal interface of the stash's runtime: what <croft/stash.h> and <croft/dma.h> do without their hardware. */
#ifndef HOST_STASH_STASH_H
#define HOST_STASH_STASH_H

#include <croft/dma.h>
#include <croft/stash.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/simt/simt.h"

/* What entry.S calls. */
void stash_operate(struct croft_stash_call *call);
void stash_copy(const struct croft_dma_call *call);

/* An instruction that a thread executes. */
struct stash_request {
    const char *name; /* in the manual */
    const struct croft_stash_site *site;
    const struct croft_stash_map *map;
};

struct stash_entry {
    struct croft_stash_map map;
    uint32_t *copy; /* words as they are in global memory */
};

/* What the threads of a block share. The first one of each request writes it, while the others wait. */
struct stash_block {
    struct simt_end end;        /* of each thread that has made a request */
    _Atomic uint32_t threads;   /* such threads that have not ended */
    _Atomic uint32_t led;       /* 1: a request has its first thread */
    _Atomic uint32_t next[2];   /* the words that are copied next, in two copies of a request */
    struct croft_stash_map map; /* of the request */
    uint64_t index;             /* of its entry */
    struct stash_entry old;     /* the entry as it was; copy NULL: there was none */
    uint32_t count;
    struct stash_entry entry[CROFT_STASH_ENTRIES];
};

/* Waits until all threads of the block that have not ended make a request. Returns the block, in which `map` is that of the first
 * thread; *first tells whether the caller is it. The others wait in stash_follow(), which compares maps, until the first one calls
 * it. */
struct stash_block *stash_lead(const struct stash_request *request, bool *first);
void stash_follow(const struct stash_block *block, const struct stash_request *request);

/* Copy the words of a tile that are next, until all have been copied. To local memory; copy, if not NULL, gets them, too: */
void stash_gather(const struct croft_stash_map *map, uint32_t *copy, _Atomic uint32_t *next);
/* To global memory; if copy is not NULL, only words that differ from it, and then to the copy, too: */
void stash_scatter(const struct croft_stash_map *map, uint32_t *copy, _Atomic uint32_t *next);

/* Returns memory; ends the program if there is none. */
void *stash_allocate(const struct stash_request *request, uint64_t bytes);
void stash_free(void *memory);

/* Ends the program with a message. */
_Noreturn void stash_fail(const struct stash_request *request, enum croft_stash_error error, uint64_t value);
_Noreturn void stash_fail_memory(const struct stash_request *request, uint64_t bytes);

/* Fails if the descriptor is not legal in the calling thread's block. */
void stash_check(const struct stash_request *request);

#endif
