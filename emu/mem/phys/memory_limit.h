/* Limits the bytes of main memory in use (croft run --max-memory): those of pages that were written and not
 * given back since.
 *
 * A page that has not been written is marked like a page with code (code_pages.h), so the first store to it
 * takes no fast path and is reported to the limit. Later stores are as fast as without a limit. */
#ifndef EMU_MEM_PHYS_MEMORY_LIMIT_H
#define EMU_MEM_PHYS_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"

struct memory_limit {
    uint64_t most, used; /* in bytes */
    bool exceeded;       /* the pages written take more than `most` */
    uint64_t address;    /* then: physical address of the page whose first store exceeded it */
    /* Called once, within the store that exceeds the limit; NULL: no function is set. */
    void (*full)(void *context);
    void *context;

    struct code_watcher watcher;
    const struct phys *memory;
    uint8_t *written; /* by page, as code_pages.h numbers them */
};

/* Limits a memory that has not been written and has no hart yet, to `most` bytes. The limit must not move,
 * and the memory must outlive it. Release it with memory_limit_free(). Fails if the host has no memory for the
 * list of pages; *limit is zeroed then. */
bool memory_limit_init(struct memory_limit *limit, const struct phys *memory, uint64_t most,
                       struct error *err);

/* A zeroed struct is allowed. */
void memory_limit_free(struct memory_limit *limit);

/* Sets the function that the limit calls when it is exceeded; calls it at once if that has happened
 * already. */
void memory_limit_call(struct memory_limit *limit, void (*full)(void *context), void *context);

#endif
