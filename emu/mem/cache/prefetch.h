/* Prefetchers, which predict the lines that will be accessed soon.
 *
 *   next_line  the lines after a fresh access (Smith, "Cache memories", ACM Computing Surveys 1982: tagged
 *              prefetch). Uses no table.
 *   stride     a reference prediction table (Chen and Baer, "Effective hardware-based data prefetching for
 *              high-performance processors", IEEE ToC 1995), with a saturating confidence in place of its
 *              four states. Indexed by pc, or by page where accesses have no pc.
 *   stream     by page: the third fresh access in the same direction begins a stream of consecutive lines
 *              (Srinath et al., "Feedback directed prefetching", HPCA 2007, which also defines degree and
 *              distance).
 *
 * An access is fresh if it missed, or was the first use of a prefetched line. A prefetcher that has found
 * a pattern requests at most `degree` lines per access, and none that is more than `distance` steps ahead
 * of the access. So it gets ahead by degree - 1 steps per access until it is `distance` ahead, and then
 * requests one line per step. Prefetches do not cross a page of 4 KiB, because the physical neighbours of
 * a page may be unrelated; entries by pc keep their stride across pages. */
#ifndef EMU_MEM_CACHE_PREFETCH_H
#define EMU_MEM_CACHE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

enum cache_prefetch {
    CACHE_PREFETCH_NONE,
    CACHE_PREFETCH_NEXT_LINE,
    CACHE_PREFETCH_STRIDE,
    CACHE_PREFETCH_STREAM
};
extern const char *const cache_prefetch_names[]; /* by value, then NULL */

enum {
    PREFETCH_DEGREE = 8,    /* most lines per access */
    PREFETCH_PAGE = 4096,   /* bytes */
    PREFETCH_WINDOW = 16,   /* most lines between two accesses of a stream (Srinath et al., section 2.1) */
    PREFETCH_CONFIDENT = 2, /* agreeing steps after which an entry prefetches */
    PREFETCH_FOUND = 64,    /* a power of two */
};

#define PREFETCH_NO_PC UINT64_MAX

struct prefetch_config {
    enum cache_prefetch kind;
    uint32_t degree;   /* 1 to PREFETCH_DEGREE */
    uint32_t distance; /* steps; 0: as many as degree */
    uint32_t table;    /* entries, at least 1 */
    uint32_t line;     /* bytes */
    uint32_t step;     /* bytes between consecutive lines of the cache: a multiple of line */
};

/* What is known of a pc or page. */
struct prefetch_entry {
    uint64_t tag;   /* pc, or page + 1: no instruction has an odd address; 0: free */
    uint64_t last;  /* address of the latest access */
    uint64_t ahead; /* farthest line that was requested, if `running` */
    uint64_t age;   /* number of the latest access, of entries by page */
    int64_t stride;
    uint8_t confidence; /* 0 to 3; prefetches from PREFETCH_CONFIDENT on */
    bool running;
};

struct prefetcher {
    struct prefetch_config config;
    struct prefetch_entry *table;
    uint64_t accesses;              /* number of the latest access by page */
    uint16_t found[PREFETCH_FOUND]; /* where a page with this hash was found last */
    /* of the latest call of prefetch_train(): */
    struct prefetch_entry *trained; /* NULL: without a table */
    uint64_t before;                /* the entry's `ahead` and `running` before it */
    bool ran;
};

/* Initializes a prefetcher. Aborts if the host has no memory. Release it with prefetch_free(). */
void prefetch_init(struct prefetcher *prefetcher, const struct prefetch_config *config);
void prefetch_free(struct prefetcher *prefetcher);

/* Returns whether the prefetcher learns from accesses that are not fresh, so that it must be told of all. */
static inline bool prefetch_wants_all(const struct prefetcher *prefetcher)
{
    return prefetcher->config.kind == CACHE_PREFETCH_STRIDE;
}

/* Trains the prefetcher with an access to `address` (physical) by the instruction at pc, or PREFETCH_NO_PC.
 * Writes the lines to prefetch, nearest first, and returns their number. All are in the page of `address`,
 * and none is its line. */
unsigned prefetch_train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, bool fresh,
                        uint64_t lines[PREFETCH_DEGREE]);

/* Of the lines that prefetch_train() has returned last, only the first `issued` ones could be requested. The
 * prefetcher offers the others again. */
void prefetch_take_back(struct prefetcher *prefetcher, const uint64_t lines[PREFETCH_DEGREE],
                        unsigned issued);

#endif
