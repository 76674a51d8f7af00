/* Prefetchers: which lines will probably be wanted soon. */
#ifndef EMU_MEM_PREFETCH_H
#define EMU_MEM_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum cache_prefetch { CACHE_PREFETCH_NONE, CACHE_PREFETCH_NEXT_LINE, CACHE_PREFETCH_STRIDE };
extern const char *const cache_prefetch_names[]; /* by value, then NULL */

enum {
    PREFETCH_DEGREE = 8,   /* at most */
    PREFETCH_ENTRIES = 64, /* of the stride table */
    PREFETCH_PAGE = 4096,  /* physical addresses tell nothing about what lies beyond a page */
};

/* Stride: a reference prediction table by pc (Chen and Baer, "Effective hardware-based data prefetching for
 * high-performance processors", IEEE ToC 1995), whose four states are a saturating confidence here. */
struct prefetch_entry {
    uint64_t pc, last; /* address of the latest access */
    int64_t stride;
    uint8_t confidence; /* 0 to 3; from 2 on it prefetches */
};

struct prefetcher {
    enum cache_prefetch kind;
    uint32_t degree; /* lines ahead, at most PREFETCH_DEGREE */
    uint32_t line;   /* bytes */
    struct prefetch_entry *table;
};

/* Allocates (out of memory aborts); release with prefetch_free(). */
void prefetch_init(struct prefetcher *prefetcher, enum cache_prefetch kind, uint32_t degree, uint32_t line);
void prefetch_free(struct prefetcher *prefetcher);

/* An instruction at pc has accessed the address; `fresh` when the line was missing, or has been used for the
 * first time since it was prefetched. Writes the lines to prefetch, nearest first, and returns how many; all
 * are in the page of the address, and none is its line. Next-line looks at fresh accesses only. */
unsigned prefetch_train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, bool fresh,
                        uint64_t lines[PREFETCH_DEGREE]);

#endif
