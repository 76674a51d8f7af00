/* Local memory that a mechanism puts in the place of blocks' scratchpads: where blocks stand in it, accesses that mean other
 * bytes than the scratchpad's, and their time. Without one, the functions are not called.
 *
 * Addresses of the window of local memory (warp_memory.h) beyond a block's scratchpad belong to the mechanism. The instruction's
 * function goes through struct warp_local; the time through struct simt_local_ops. */
#ifndef EMU_SIMT_LOCAL_MEMORY_H
#define EMU_SIMT_LOCAL_MEMORY_H

#include "emu/hart/hart.h"
#include "emu/simt/warp_memory.h"

/* Function. A mechanism sets custom_units.local (emu/hart/custom.h). `offset` is from the window's first address. */
struct warp_local {
    /* Returns the value of the CSR sstash for threads of the block with the scratchpad. */
    uint32_t (*maps)(void *context, const struct warp_scratchpad *pad);
    /* Returns the host address of a byte and stores the number of contiguous bytes from there, as warp_memory_reach() does;
     * NULL if it cannot be accessed. */
    uint8_t *(*reach)(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                      uint64_t offset, enum warp_access access, uint64_t *room);
    /* Returns the physical address of a byte that can be accessed and is in memory; UINT64_MAX: it is in the scratchpad. */
    uint64_t (*place)(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                      uint64_t offset);
    /* Stores the trap of an access that cannot be done; `atomic`: of an atomic instruction, which the mechanism refuses.
     * Returns false if the offset is not the mechanism's: then it traps as outside of the scratchpad. */
    bool (*fault)(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                  uint64_t offset, uint64_t size, enum warp_access access, bool atomic, struct trap *trap);
    void *context;
};

struct simt;
struct simt_block;
struct warp_place;

/* An access of a warp to local memory: offsets in the window by lane. */
struct simt_local_access {
    const struct simt_block *block;
    const uint64_t *offset; /* valid during take() */
    uint32_t mask;
    unsigned size;
    unsigned words; /* each once, whichever lanes want it; of an atomic, once for each lane */
    uint64_t pc;
    bool load, store; /* both: an atomic */
};

/* What a step of an access has done: a sum. 0: all is done, or waits for answers. */
enum {
    SIMT_LOCAL_MORE = 1,
    SIMT_LOCAL_REFUSED = 2,
    SIMT_LOCAL_WAIT = 4 /* for each answer that is to come */
};

/* Time. */
struct simt_local_ops {
    /* Returns whether there is room for a block's local memory. */
    bool (*fits)(const void *local, uint64_t bytes);
    void (*begin)(void *local, const struct simt_block *block, const struct warp_place *place);
    void (*end)(void *local, const struct simt_block *block);
    /* A launch begins: copies of memory that others may have changed are stale. `now` is the queue's. */
    void (*flush)(void *local, uint64_t now);
    /* An access, numbered below SIMT_ACCESSES until it is complete, will be made: looks at its lanes. */
    void (*take)(void *local, uint32_t number, const struct simt_local_access *access);
    /* Makes the access in the cycle of its passes, and again in later cycles while it returns MORE. As many calls of
     * simt_local_answered() will follow as it returns WAIT. REFUSED: simt_local_retry() will be called, then it is made again. */
    unsigned (*step)(void *local, uint32_t number, uint64_t time);
    /* Returns whether all that is stored so far is registered where others find it; if not, simt_local_settled() will be called. NULL:
     * always. */
    bool (*settled)(void *local);
};

/* Sets the multiprocessor's local memory. Call it before the first block. Accesses to it are then not counted as shared ones
 * in simt_counters.work and the energy of the scratchpad. */
void simt_set_local(struct simt *simt, const struct simt_local_ops *ops, void *local);
void simt_local_answered(struct simt *simt, uint32_t number, uint64_t now);
void simt_local_retry(struct simt *simt, uint64_t now);
void simt_local_settled(struct simt *simt, uint64_t now);

#endif
