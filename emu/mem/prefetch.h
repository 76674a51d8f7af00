/* Prefetchers, which predict the lines that will be accessed soon. */
#ifndef EMU_MEM_PREFETCH_H
#define EMU_MEM_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum cache_prefetch { CACHE_PREFETCH_NONE, CACHE_PREFETCH_NEXT_LINE, CACHE_PREFETCH_STRIDE };
extern const char *const cache_prefetch_names[]; /* by value, then NULL */

enum {
    PREFETCH_DEGREE = 8,   /* most lines */
    PREFETCH_ENTRIES = 64, /* entries of the stride table */
    PREFETCH_PAGE = 4096,  /* prefetches do not cross a page, whose physical neighbours may be unrelated */
};

/* Stride: a reference prediction table indexed by pc (Chen and Baer, "Effective hardware-based data
 * prefetching for high-performance processors", IEEE ToC 1995). A saturating confidence replaces its four
 * states. */
struct prefetch_entry {
    uint64_t pc, last; /* last: address of the latest access */
    int64_t stride;
    uint8_t confidence; /* 0 to 3; prefetches from 2 on */
};

struct prefetcher {
    enum cache_prefetch kind;
    uint32_t degree; /* number of lines to prefetch, at most PREFETCH_DEGREE */
    uint32_t line;   /* bytes of a line */
    struct prefetch_entry *table;
};

/* Initializes a prefetcher. Aborts if the host has no memory. Release it with prefetch_free(). */
void prefetch_init(struct prefetcher *prefetcher, enum cache_prefetch kind, uint32_t degree, uint32_t line);
void prefetch_free(struct prefetcher *prefetcher);

/* Trains the prefetcher with an access to `address` by the instruction at pc. fresh: the access missed, or
 * was the first use of a prefetched line; next_line considers only fresh accesses. Writes the lines to
 * prefetch, nearest first, and returns their number. All are in the page of `address`, and none is its
 * line. */
unsigned prefetch_train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, bool fresh,
                        uint64_t lines[PREFETCH_DEGREE]);

#endif
