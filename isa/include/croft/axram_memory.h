/* Accelerator memory of AxRAM (croft/axram.h): regions that are spread over the chips, and networks, for programs of
 * `croft run`. Host code calls these functions, one at a time; axram_record() and axram_word() are for threads, too.
 *
 * A region holds `values` words for each of some threads. The words of 32 threads are a record, `values` blocks: value i of
 * thread t is word t % 32 of block i of record t / 32. Records take turns among the chips. So records with the same number of
 * two regions are in the same chip: one has the inputs, the other the results of a warp. Regions are in one half of a chip's
 * banks, networks of at most 128 blocks in the other.
 *
 * Functions that fail set errno and axram_error(). Machines without accelerators end the program at the first call, by an illegal
 * instruction. */
#ifndef CROFT_AXRAM_MEMORY_H
#define CROFT_AXRAM_MEMORY_H

#include <croft/axram.h>
#include <stdint.h>

enum { AXRAM_MOST_VALUES = CROFT_AXRAM_HALF_PAGE / CROFT_AXRAM_BLOCK };

/* Where records lie; set by the functions below. */
struct axram_geometry {
    uint64_t base, turn;    /* address; bytes of one piece of each chip */
    uint32_t chips, halves; /* chips; half pages of each */
    uint32_t pairs;         /* pairs of half pages of a piece */
};
extern struct axram_geometry croft_axram_geometry;

/* Returns a region with undefined contents of `values` words, 1 to AXRAM_MOST_VALUES, for each of `threads` threads, 1 or more.
 * NULL: EINVAL, or ENOMEM (accelerator memory is full). */
void *axram_malloc(unsigned values, uint64_t threads);

/* Copies weights and topology of a network's image (croft neural) to the first `chips` chips, 0 for all of them, and gives it to
 * them; they keep it until the next network for them. Returns its region in chip 0, for axram_free(). NULL: as axram_malloc(). */
void *axram_network(const uint32_t *image, unsigned chips);
/* The same for chips [first, first + chips). */
void *axram_network_at(const uint32_t *image, unsigned first, unsigned chips);

/* Gives a region or a network back; of NULL, does nothing. Returns 0; or -1: EINVAL (not the start of a region, or freed
 * already), or EBUSY (a config.axram or wrt_res.axram that uses it is under way; call it again later). A thread that uses it
 * after that is not found: wait for the end of launches first. A chip whose network is freed must get another one before it is
 * used. */
int axram_free(void *memory);

/* Copies values of the first `threads` threads to a region, or from it: value i of thread t is
 * plain[t * of_thread + i * of_value]. Each word is a load and a store. Returns 0; or -1: EINVAL (not the start of a region, or
 * more threads than it has). */
int axram_copy_in(void *region, const uint32_t *plain, uint64_t of_thread, uint64_t of_value,
                  uint64_t threads);
int axram_copy_out(uint32_t *plain, uint64_t of_thread, uint64_t of_value, const void *region,
                   uint64_t threads);

/* Return the bytes of all regions and networks; and those that networks have more than one copy of each of their weights. */
uint64_t axram_bytes(void);
uint64_t axram_duplicated(void);

/* Returns a sentence about the last failure of these functions. */
const char *axram_error(void);

/* Returns record number `index` in a chip of a region of `values` words. */
static inline uint32_t *axram_record_at(const void *region, unsigned values, uint32_t chip, uint64_t index)
{
    const struct axram_geometry *g = &croft_axram_geometry;
    const uint32_t pair = 2 * CROFT_AXRAM_HALF_PAGE, pairs = g->pairs, each = AXRAM_MOST_VALUES / values;
    const uint64_t first = (uint64_t)(uintptr_t)region - g->base;
    const uint64_t page = first / g->turn * pairs + first % g->turn / pair + index / each;
    return (uint32_t *)(uintptr_t)(g->base + page / pairs * g->turn + chip * (uint64_t)pairs * pair +
                                   page % pairs * pair + first % pair +
                                   index % each * values * CROFT_AXRAM_BLOCK);
}

/* Returns record number `index` of a region of `values` words. */
static inline uint32_t *axram_record(const void *region, unsigned values, uint64_t index)
{
    const uint32_t chips = croft_axram_geometry.chips;
    return axram_record_at(region, values, (uint32_t)(index % chips), index / chips);
}

/* Returns the place of value number `value` of a thread. */
static inline uint32_t *axram_word(const void *region, unsigned values, uint64_t thread, unsigned value)
{
    return axram_record(region, values, thread / CROFT_AXRAM_WORDS) + (uint64_t)value * CROFT_AXRAM_WORDS +
           thread % CROFT_AXRAM_WORDS;
}

/* Evaluates the network of the thread's chip for the thread's values of region `in`, into those of region `out`. The threads of
 * a warp must have neighbouring numbers, from a multiple of 32 on. */
static inline void axram_evaluate(const void *in, unsigned inputs, const void *out, unsigned outputs,
                                  uint64_t thread)
{
    const uint64_t record = thread / CROFT_AXRAM_WORDS;
    croft_axram_thread(axram_record(in, inputs, record), inputs, axram_record(out, outputs, record), outputs,
                       (unsigned)(thread % CROFT_AXRAM_WORDS));
}

#endif
