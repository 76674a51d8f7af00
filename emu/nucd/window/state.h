/* The state shared by the files of the window, and their calls to each other. */
#ifndef EMU_NUCD_WINDOW_STATE_H
#define EMU_NUCD_WINDOW_STATE_H

#include "emu/nucd/window.h"

#include <assert.h>

enum { WINDOW_LINES = 256, WINDOW_LINE_BITS = 6, WINDOW_DECODED = 512 };

/* An instruction decoded from the bits at a pc. Valid whenever the same bits are at that pc. */
struct window_decoded {
    struct insn insn;
    struct stream_op op; /* its member `insn` is not valid */
};

struct window {
    struct hart *hart;
    const struct nucd_depend *tasks;
    unsigned size, stores_limit;
    uint64_t head, tail;             /* entries head to tail - 1 are in the window */
    uint64_t store_head, store_tail; /* indices of the store queue */
    unsigned unknown;                /* number of stores whose address is deferred */
    /* writer[register]: number of its youngest writer; below head: the hart has the value */
    uint64_t writer[STREAM_NONE];
    uint64_t task_number[NUCD_TASKS]; /* task_number[slot] */
    /* number of stores of known address, by a hash of the lines that they touch */
    uint16_t lines[WINDOW_LINES];
    struct window_decoded decoded[WINDOW_DECODED]; /* indexed by a hash of pc */
    uint64_t *stores; /* numbers of entries that are stores; a ring of mask + 1 */
    uint64_t mask;
    struct window_entry entries[]; /* a ring of mask + 1 */
};

/* The result of an evaluation. */
enum window_result { WINDOW_DONE, WINDOW_WAIT, WINDOW_REFUSED };

static inline struct window_entry *window_at(struct window *w, uint64_t number)
{
    return &w->entries[number & w->mask];
}

static inline const struct window_entry *window_seen(const struct window *w, uint64_t number)
{
    return &w->entries[number & w->mask];
}

/* Returns the entry number of store i; stores are counted from the creation of the window. */
static inline uint64_t window_store(const struct window *w, uint64_t i)
{
    return w->stores[i & w->mask];
}

static inline bool window_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* Translates and checks an access. Returns false when it must be executed normally: it crosses a page, is not
 * in main memory, is watched, or faults. */
bool window_locate(struct window *w, uint64_t address, unsigned size, bool store, uint64_t *physical);

/* Loads from memory and the stores of older entries. WINDOW_WAIT: entry->held_for is the entry to wait
 * for. */
enum window_result window_load(struct window *w, struct window_entry *entry, unsigned size, uint64_t *value);

/* Reads bytes as they are after all stores in the window. Returns false if the address of some store is not
 * known, or the data of a store to these bytes. */
bool window_peek(const struct window *w, uint64_t physical, unsigned size, uint64_t *value);

/* Adds (by == 1) or removes (by == -1) a store of known address in `lines`. */
void window_count_lines(struct window *w, const struct window_entry *store, int by);

/* Returns the youngest store in the queue that writes one of the entry's code parcels, or WINDOW_NONE. */
uint64_t window_find_code(const struct window *w, const struct window_entry *entry);

/* Returns whether the store writes one of the entry's code parcels. */
bool window_is_stale(const struct window_entry *entry, const struct window_entry *store);

/* Evaluates the entry as far as its operands are known. */
enum window_result window_evaluate(struct window *w, struct window_entry *entry);

/* Stores the operand's value and returns WINDOW_NONE, or returns the number of the entry that will produce
 * it. */
uint64_t window_operand(const struct window *w, unsigned reg, uint64_t *value);

#endif
