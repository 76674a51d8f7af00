/* What the files of the window share. */
#ifndef EMU_NUCD_WINDOW_STATE_H
#define EMU_NUCD_WINDOW_STATE_H

#include "emu/nucd/window.h"

#include <assert.h>

enum { WINDOW_LINES = 256, WINDOW_LINE_BITS = 6, WINDOW_DECODED = 512 };

/* What was decoded from the bits that were found at a pc: valid whenever the same bits are found there again.
 */
struct window_decoded {
    struct insn insn;
    struct stream_op op; /* its insn points to nothing that lasts */
};

struct window {
    struct hart *hart;
    const struct nucd_depend *tasks;
    unsigned rob, stores_limit;
    uint64_t head, tail;             /* entries head to tail - 1 are in the window */
    uint64_t store_head, store_tail; /* likewise in the store queue */
    unsigned unknown;                /* stores whose address is deferred */
    uint64_t writer[STREAM_NONE]; /* by register: its youngest writer; below head: the hart has the value */
    uint64_t task_number[NUCD_TASKS]; /* by slot */
    uint16_t lines[WINDOW_LINES];     /* stores of known address, by a hash of the lines that they touch */
    uint64_t stores[WINDOW_ROB_MOST]; /* entry numbers */
    struct window_entry entries[WINDOW_ROB_MOST];
    struct window_decoded decoded[WINDOW_DECODED]; /* by pc */
};

/* What evaluating an entry led to. */
enum window_result { WINDOW_DONE, WINDOW_WAIT, WINDOW_REFUSED };

static inline struct window_entry *window_at(struct window *w, uint64_t number)
{
    return &w->entries[number % WINDOW_ROB_MOST];
}

static inline const struct window_entry *window_seen(const struct window *w, uint64_t number)
{
    return &w->entries[number % WINDOW_ROB_MOST];
}

/* The number of the i-th store since the window was made. */
static inline uint64_t window_store(const struct window *w, uint64_t i)
{
    return w->stores[i % WINDOW_ROB_MOST];
}

static inline bool window_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* Translates and checks an access. False when it must go the normal way: not wholly in one page of main
 * memory, watched, or faulting. */
bool window_locate(struct window *w, uint64_t address, unsigned size, bool store, uint64_t *physical);

/* The view of a load: memory with the stores of older entries. WINDOW_WAIT: entry->held_for says what for. */
enum window_result window_load(struct window *w, struct window_entry *entry, unsigned size, uint64_t *value);

/* Counts a store of known address in (1) or out (-1). */
void window_count_lines(struct window *w, const struct window_entry *store, int by);

/* The youngest store in the queue that writes one of the entry's parcels of code, or WINDOW_NONE. */
uint64_t window_find_code(const struct window *w, const struct window_entry *entry);

/* Whether the store writes one of the entry's parcels. */
bool window_is_stale(const struct window_entry *entry, const struct window_entry *store);

/* Evaluates as much of the entry as is known. */
enum window_result window_evaluate(struct window *w, struct window_entry *entry);

/* Where an operand comes from: its value, or the number of the entry that will have it. */
uint64_t window_operand(const struct window *w, unsigned reg, uint64_t *value);

#endif
