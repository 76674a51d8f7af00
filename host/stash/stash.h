/* Internal interface of the stash's runtime: what <croft/stash.h> and <croft/dma.h> do without their hardware. */
#ifndef HOST_STASH_STASH_H
#define HOST_STASH_STASH_H

#include <croft/dma.h>
#include <croft/stash.h>
#include <stdint.h>

/* What entry.S calls. */
void stash_operate(struct croft_stash_call *call);
void stash_copy(const struct croft_dma_call *call);

/* The threads of the block that have not ended, met in one function: their number, and the caller's among them from 0 on. */
struct stash_meeting {
    uint32_t number, count;
};

/* Waits until all threads of the block that have not ended are here. The block must have local memory. */
struct stash_meeting stash_meet(void);

/* Returns to all threads of a meeting what the first one gives: a multiple of 16 below 2^36. */
void *stash_share(const struct stash_meeting *meeting, void *pointer);

/* Words of a tile, copied by all threads of a meeting. */
void stash_gather(const struct stash_meeting *meeting, const struct croft_stash_map *map, uint32_t *copy);
void stash_scatter(const struct stash_meeting *meeting, const struct croft_stash_map *map, uint32_t *copy);

/* Ends the program with a message. `instruction` is its name in the manual. */
_Noreturn void stash_fail(const char *instruction, const struct croft_stash_site *site,
                          struct croft_stash_fault fault);
_Noreturn void stash_fail_memory(const char *instruction, const struct croft_stash_site *site,
                                 uint64_t bytes);

/* Fails if the descriptor is not legal in the calling thread's block. */
void stash_check(const char *instruction, const struct croft_stash_site *site,
                 const struct croft_stash_map *map);

#endif
