#include "emu/nucd/window/state.h"

#include <string.h>

#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"

static bool watched(const struct hart *hart, uint64_t address, unsigned size, bool store)
{
    unsigned kind = store ? HART_WATCH_WRITE : HART_WATCH_READ;
    for (unsigned i = 0; i < hart->watchpoint_count; i++) {
        const struct watchpoint *point = &hart->watchpoints[i];
        if ((point->kinds & kind) && window_overlap(address, size, point->address, point->length))
            return true;
    }
    return false;
}

/* Translates without setting A or D, because the access may be squashed and D must be exact (privileged
 * specification, section 4.3.1). If such a bit is clear, returns false as for a fault. */
static bool translate(struct hart *hart, uint64_t address, unsigned size, bool store, uint64_t *physical)
{
    struct trap trap = hart->trap;
    bool hardware_ad = hart->hardware_ad;
    hart->hardware_ad = false;
    bool done = mmu_check(hart, address, size, store ? MMU_STORE : MMU_LOAD, priv_data_mode(hart), physical);
    hart->hardware_ad = hardware_ad;
    hart->trap = trap;
    return done;
}

bool window_locate(struct window *w, uint64_t address, unsigned size, bool store, uint64_t *physical)
{
    struct hart *hart = w->hart;
    if ((address & (MMU_PAGE - 1)) + size > MMU_PAGE || watched(hart, address, size, store))
        return false;
    if (store && !hart->privileged && address < hart->store_base)
        return false;
    if (!translate(hart, address, size, store, physical) || !phys_at(hart->memory, *physical, size))
        return false;
    return !store || !hart->hook || !window_overlap(*physical, size, hart->hook_address, 8);
}

static unsigned line_hash(uint64_t physical)
{
    return (unsigned)(physical >> WINDOW_LINE_BITS) % WINDOW_LINES;
}

/* Returns false only if no store in the window touches the bytes. */
static bool lines_may_hold(const struct window *w, uint64_t physical, unsigned size)
{
    return w->lines[line_hash(physical)] || w->lines[line_hash(physical + size - 1)];
}

void window_count_lines(struct window *w, const struct window_entry *store, int by)
{
    unsigned first = line_hash(store->physical), last = line_hash(store->physical + store->op.size - 1);
    w->lines[first] = (uint16_t)(w->lines[first] + by);
    if (last != first)
        w->lines[last] = (uint16_t)(w->lines[last] + by);
}

/* A load that is assembled from stores, youngest first. */
struct gather {
    uint64_t physical, value;
    unsigned missing; /* set of bytes not found in a store yet */
};

/* Returns the set of the load's bytes that the store writes. */
static unsigned bytes_shared(uint64_t physical, const struct window_entry *store)
{
    unsigned bytes = 0;
    for (unsigned i = 0; i < 8; i++)
        if (physical + i - store->physical < store->op.size)
            bytes |= 1u << i;
    return bytes;
}

static void take_bytes(struct gather *g, const struct window_entry *store, unsigned bytes)
{
    for (; bytes != 0; bytes &= bytes - 1) {
        unsigned i = (unsigned)__builtin_ctz(bytes);
        uint64_t byte = store->data >> 8 * (g->physical + i - store->physical) & 0xff;
        g->value |= byte << 8 * i;
        g->missing &= ~(1u << i);
    }
}

/* Takes the load's bytes from the stores that are younger than `after` and older than `before`. Returns the
 * store whose data it must wait for, or WINDOW_NONE. */
static uint64_t gather_stores(const struct window *w, struct gather *g, uint64_t before, uint64_t after)
{
    for (uint64_t i = w->store_tail; i-- > w->store_head && g->missing;) {
        uint64_t number = window_store(w, i);
        if (number >= before)
            continue;
        if (number < after)
            break;
        const struct window_entry *store = window_seen(w, number);
        assert(store->address_known);
        unsigned bytes = bytes_shared(g->physical, store) & g->missing;
        if (bytes && !store->evaluated)
            return number;
        take_bytes(g, store, bytes);
    }
    return WINDOW_NONE;
}

/* Returns the load's value. Bytes that no store in the window has come from memory. */
static uint64_t fill(const struct window *w, const struct gather *g, unsigned size)
{
    const uint8_t *bytes = phys_at(w->hart->memory, g->physical, size);
    uint64_t value = g->value;
    for (unsigned i = 0; i < size; i++)
        if (g->missing >> i & 1)
            value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

enum window_result window_load(struct window *w, struct window_entry *entry, unsigned size, uint64_t *value)
{
    uint64_t last = entry->address + size - 1, task = WINDOW_NONE;
    struct gather g = {.physical = entry->physical, .missing = (1u << size) - 1};
    int slot = nucd_depend_load(w->tasks, entry->address, last, entry->age);
    if (slot != NUCD_NO_TASK)
        task = w->task_number[slot];
    if (lines_may_hold(w, entry->physical, size))
        entry->held_for = gather_stores(w, &g, entry->number, task);
    if (entry->held_for == WINDOW_NONE && g.missing)
        entry->held_for = task;
    if (entry->held_for != WINDOW_NONE)
        return WINDOW_WAIT;
    *value = fill(w, &g, size);
    return WINDOW_DONE;
}

bool window_peek(const struct window *w, uint64_t physical, unsigned size, uint64_t *value)
{
    struct gather g = {.physical = physical, .missing = (1u << size) - 1};
    if (w->unknown || gather_stores(w, &g, w->tail, WINDOW_NONE) != WINDOW_NONE)
        return false;
    *value = fill(w, &g, size);
    return true;
}

bool window_is_stale(const struct window_entry *entry, const struct window_entry *store)
{
    for (unsigned i = 0; 2 * i < entry->op.length; i++)
        if (window_overlap(entry->code[i], 2, store->physical, store->op.size))
            return true;
    return false;
}

uint64_t window_find_code(const struct window *w, const struct window_entry *entry)
{
    bool may = false;
    for (unsigned i = 0; 2 * i < entry->op.length; i++)
        may |= lines_may_hold(w, entry->code[i], 2);
    for (uint64_t i = w->store_tail; may && i-- > w->store_head;) {
        const struct window_entry *store = window_seen(w, window_store(w, i));
        if (store->address_known && window_is_stale(entry, store))
            return store->number;
    }
    return WINDOW_NONE;
}
