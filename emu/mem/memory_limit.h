/* A limit on the bytes of main memory that are in use (croft run --max-memory): of pages that were written, and not given
 * back since.
 *
 * A page that nobody has written is marked like a page with code (code_pages.h), so its first store leaves all fast paths
 * and is told here. Later stores are as fast as without a limit. */
#ifndef EMU_MEM_MEMORY_LIMIT_H
#define EMU_MEM_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys.h"

struct memory_limit {
    uint64_t most, used; /* in bytes */
    bool exceeded;       /* the pages written take more than `most` */
    uint64_t address;    /* then: of the page whose store exceeded it */
    /* Called once, within the store that exceeds the limit; NULL: nobody has asked yet. */
    void (*full)(void *context);
    void *context;

    struct code_watcher watcher;
    const struct phys *memory;
    uint8_t *written; /* by page, as code_pages.h numbers them */
};

/* Limits a memory that nobody has written and no hart was made for. The limit must not move, and the memory must outlive it.
 * Release with memory_limit_free(). */
void memory_limit_init(struct memory_limit *limit, const struct phys *memory, uint64_t most);

/* A zeroed struct is allowed. */
void memory_limit_free(struct memory_limit *limit);

/* Lets the limit call full(); at once if it is exceeded already. */
void memory_limit_call(struct memory_limit *limit, void (*full)(void *context), void *context);

#endif
