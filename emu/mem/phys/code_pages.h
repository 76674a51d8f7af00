/* Records which pages of memory hold translated code, so that a store to such a page drops the translations.
 * Every writer of main memory calls phys_note_store() (phys.h), except fast paths that exclude these
 * pages. */
#ifndef EMU_MEM_PHYS_CODE_PAGES_H
#define EMU_MEM_PHYS_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_PAGE = 4096 };

/* A translator of code, or an owner of fast paths for stores. Pages are numbered from the start of memory. */
struct code_watcher {
    /* The bytes first to last of a page have been stored to: drop the code translated from them. Returns whether code
     * of the page is left. */
    bool (*stored)(void *context, uint64_t page, unsigned first, unsigned last);
    /* The bytes of a page below `end` now hold code: remove the fast paths for stores to them. first: the
     * page had no code before. */
    void (*marked)(void *context, uint64_t page, unsigned end, bool first);
    /* The page was given back to the host and reads as zeros. Returns whether the watcher must be told of the
     * next store to it. NULL: `stored` is called for the whole page, if it has code. */
    bool (*released)(void *context, uint64_t page);
    void *context;
    struct code_watcher *next;
};

struct code_pages {
    const uint8_t *bytes; /* host address of the memory's first byte */
    size_t length;        /* of this map, in bytes */
    struct code_watcher *watchers;
    bool limited;    /* pages that have not been written are marked, too (memory_limit.h) */
    uint16_t ends[]; /* by page: the end of the code in it, 1 to CODE_PAGE; 0: it has no code */
};

/* Makes the map for `size` bytes of memory; it takes host memory where there is code. Returns NULL if the host has no address
 * space for it. */
struct code_pages *code_pages_new(const uint8_t *bytes, uint64_t size);
void code_pages_free(struct code_pages *pages);

/* Adds or removes a watcher. `pages` may be NULL: stores to the memory are not noted. */
void code_pages_watch(struct code_pages *pages, struct code_watcher *watcher);
void code_pages_leave(struct code_pages *pages, struct code_watcher *watcher);

/* Notes that the bytes of a page below `end` hold code, and tells all watchers if this is new. */
void code_pages_mark(struct code_pages *pages, uint64_t page, unsigned end);

/* Tells all watchers of a store of `length` bytes, not 0, at the host address. */
void code_pages_store(struct code_pages *pages, const uint8_t *at, uint64_t length);

/* Tells all watchers that the whole pages of `length` bytes at the host address were given back. */
void code_pages_release(struct code_pages *pages, const uint8_t *at, uint64_t length);

#endif
