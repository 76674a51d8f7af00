#include "emu/mem/home.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/home_bits.h"
#include "emu/mem/request.h"
#include "emu/sim/alloc.h"

enum { NO_PAGE = UINT32_MAX, MOST_FRAMES = 1 << 28 };

/* The pages and frames of a range, of 1 << shift bytes each. */
struct paging {
    uint32_t shift, page_count, frame_count;
    uint32_t *frames;        /* by page */
    uint32_t *pages;         /* by frame; NO_PAGE: free */
    struct home_slot *slots; /* by page */
};

struct range {
    uint64_t base, size;
    uint64_t origin; /* address of number 0 */
    struct home_bits bits;
    struct home_slot slot; /* not used if there are pages */
    struct paging *paging; /* or NULL */
};

/* A change that waits until `busy` slots are quiet. */
struct home_change {
    struct home_map *map;
    struct range *range;
    struct mem_waiters waiters;
    unsigned busy;
    home_changed *changed;
    void *context;
    /* For a change of layout: [base, base + size). */
    uint64_t base, size;
    struct range to; /* only its bits are used */
    /* For a move of a page. */
    uint32_t page, frame;
};

struct home_map {
    struct range **ranges; /* sorted by base; pointers, because requests point into ranges */
    uint32_t count;
    struct range *first; /* range that was added first */
    char *fixed;         /* why homes cannot change, or NULL */
};

struct home_map *home_map_new(void)
{
    return alloc(1, sizeof(struct home_map));
}

static void paging_free(struct paging *paging)
{
    if (!paging)
        return;
    free(paging->frames);
    free(paging->pages);
    free(paging->slots);
    free(paging);
}

void home_map_free(struct home_map *map)
{
    if (!map)
        return;
    for (uint32_t i = 0; i < map->count; i++) {
        paging_free(map->ranges[i]->paging);
        free(map->ranges[i]);
    }
    free(map->ranges);
    free(map->fixed);
    free(map);
}

void home_map_fix(struct home_map *map, const char *message)
{
    if (!map->fixed)
        map->fixed = alloc_text(message);
}

void home_map_hold(struct home_map *map, const char *message)
{
    home_map_fix(map, message);
    for (uint32_t i = 0; i < map->count; i++) {
        struct range *range = map->ranges[i];
        assert(!range->slot.outstanding && !range->slot.change);
        range->slot.uncounted = true;
        for (uint64_t page = 0; range->paging && page < range->paging->page_count; page++)
            range->paging->slots[page].uncounted = true;
    }
}

/* Returns the index in map->ranges of the last range whose base is at or below the address; UINT32_MAX:
 * none. */
static uint32_t place_of(const struct home_map *map, uint64_t address)
{
    uint32_t low = 0, high = map->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (map->ranges[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Returns the range that holds the address, or NULL. */
static struct range *range_of(const struct home_map *map, uint64_t address)
{
    uint32_t place = place_of(map, address);
    if (place == UINT32_MAX || address - map->ranges[place]->base >= map->ranges[place]->size)
        return NULL;
    return map->ranges[place];
}

static void insert(struct home_map *map, struct range *range)
{
    uint32_t place = place_of(map, range->base) + 1;
    map->ranges = alloc_resize(map->ranges, (map->count + 1) * sizeof *map->ranges);
    memmove(&map->ranges[place + 1], &map->ranges[place], (map->count - place) * sizeof *map->ranges);
    map->ranges[place] = range;
    map->count++;
}

/* Sets the range's layout. Fails if the layout holds fewer than `end` bytes. */
static bool set_layout(struct range *range, const struct home_layout *layout, uint64_t end, struct error *err)
{
    if (!home_bits_init(&range->bits, layout, err))
        return false;
    if (end <= range->bits.bytes)
        return true;
    return error_set(err, "map: \"%s\" holds %" PRIu64 " bytes, but the range needs %" PRIu64, layout->text,
                     range->bits.bytes, end);
}

bool home_range_add(struct home_map *map, uint64_t base, uint64_t size, const struct home_layout *layout,
                    struct error *err)
{
    struct range range = {.base = base, .size = size, .origin = base, .slot = {.generation = 1}};
    if (size == 0 || base + size - 1 < base)
        return error_set(err, "range: 0x%" PRIx64 " is empty or wraps around", base);
    if (!set_layout(&range, layout, size, err))
        return false;
    if (base % layout->geometry.burst)
        return error_set(err, "range: 0x%" PRIx64 " is not a multiple of the burst, %" PRIu32 " bytes", base,
                         layout->geometry.burst);
    uint32_t below = place_of(map, base + size - 1);
    if (below != UINT32_MAX && map->ranges[below]->base + (map->ranges[below]->size - 1) >= base)
        return error_set(err, "range: 0x%" PRIx64 " overlaps the one at 0x%" PRIx64, base,
                         map->ranges[below]->base);
    struct range *added = alloc(1, sizeof *added);
    *added = range;
    insert(map, added);
    if (!map->first)
        map->first = added;
    return true;
}

/* Returns the slot of the address: of its page, or of the range if it has no pages. Sets *number to the
 * address's number in the bit string. */
static struct home_slot *slot_of(struct range *range, uint64_t address, uint64_t *number)
{
    struct paging *paging = range->paging;
    *number = address - range->origin;
    if (!paging || *number >> paging->shift >= paging->page_count)
        return &range->slot;
    uint32_t page = (uint32_t)(*number >> paging->shift);
    uint64_t offset = *number & ((UINT64_C(1) << paging->shift) - 1);
    *number = (uint64_t)paging->frames[page] << paging->shift | offset;
    return &paging->slots[page];
}

void home_resolve(const struct home_map *map, uint64_t address, struct home *home)
{
    struct range *range = map->first;
    assert(range);
    if (map->count > 1) {
        range = range_of(map, address);
        range = range ? range : map->first;
    }
    uint64_t number;
    home->slot = slot_of(range, address, &number);
    home->generation = home->slot->generation;
    home_bits_place(&range->bits, number, home);
}

static bool same_place(const struct home *a, const struct home *b)
{
    return a->module == b->module && a->stack == b->stack && a->controller == b->controller &&
           a->bank == b->bank && a->row == b->row && a->column == b->column;
}

bool home_address(const struct home_map *map, const struct home *home, uint64_t *address)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const struct range *range = map->ranges[i];
        const struct paging *paging = range->paging;
        struct home found;
        uint64_t number = home_bits_number(&range->bits, home);
        if (paging) {
            uint32_t page = number >> paging->shift < paging->frame_count
                                ? paging->pages[number >> paging->shift]
                                : NO_PAGE;
            if (page == NO_PAGE)
                continue;
            number = (uint64_t)page << paging->shift | (number & ((UINT64_C(1) << paging->shift) - 1));
        }
        *address = range->origin + number;
        if (*address - range->base >= range->size)
            continue;
        home_resolve(map, *address, &found);
        if (same_place(home, &found))
            return true;
    }
    return false;
}

void home_wait(struct home_slot *slot, struct mem_link *link)
{
    mem_waiters_add(&slot->change->waiters, link);
}

/* Adds the range [base, base + size) with the mapping of `like`. */
static void add_part(struct home_map *map, const struct range *like, uint64_t base, uint64_t size)
{
    struct range *part = alloc(1, sizeof *part);
    *part = *like;
    part->base = base;
    part->size = size;
    part->slot = (struct home_slot){.generation = 1};
    insert(map, part);
}

/* Splits the range at both ends of the change, and gives the part between them the new mapping. The existing
 * range keeps the part below, or the changed part if there is none below. */
static void apply_layout(struct home_change *change)
{
    struct range *range = change->range, old = *range, *to = &change->to;
    const uint64_t end = change->base + change->size, old_end = old.base + old.size;
    if (old_end != end)
        add_part(change->map, &old, end, old_end - end);
    to->origin = old.origin;
    if (change->base != old.base) {
        range->size = change->base - old.base;
        add_part(change->map, to, change->base, change->size);
        return;
    }
    range->size = change->size;
    range->bits = to->bits;
}

/* Returns the page in the change's frame: another page, NO_PAGE, or the change's own page if begin() has
 * reserved the frame. */
static uint32_t other_page(const struct home_change *change)
{
    return change->range->paging->pages[change->frame];
}

static void apply_move(struct home_change *change)
{
    struct paging *paging = change->range->paging;
    uint32_t from = paging->frames[change->page], other = other_page(change);
    bool taken = other != change->page; /* otherwise begin() has reserved the frame */
    if (taken)
        paging->frames[other] = from;
    paging->pages[from] = taken ? other : NO_PAGE;
    paging->frames[change->page] = change->frame;
    paging->pages[change->frame] = change->page;
}

/* Sets slots[] to the slots that the change affects. Returns their number. */
static unsigned concerned(struct home_change *change, struct home_slot *slots[2])
{
    struct paging *paging = change->range->paging;
    slots[0] = paging ? &paging->slots[change->page] : &change->range->slot;
    if (!paging || other_page(change) == NO_PAGE || other_page(change) == change->page)
        return 1;
    slots[1] = &paging->slots[other_page(change)];
    return 2;
}

/* Applies the change: all slots that it affects are quiet. */
static void take_effect(struct home_change *change, uint64_t now)
{
    struct home_slot *slots[2];
    unsigned count = concerned(change, slots);
    for (unsigned i = 0; i < count; i++) {
        slots[i]->change = NULL;
        slots[i]->generation++;
    }
    if (change->range->paging)
        apply_move(change);
    else
        apply_layout(change);
    if (change->changed)
        change->changed(change->context, now);
    while (mem_waiters_wake(&change->waiters, now))
        continue;
    free(change);
}

void home_quiet(struct home_slot *slot, uint64_t now)
{
    assert(slot->outstanding == 0 && slot->change);
    if (--slot->change->busy == 0)
        take_effect(slot->change, now);
}

/* Begins a change; keeps a copy of it until it takes effect. Fails if another change of the same slots
 * waits. */
static bool begin(const struct home_change *wanted, uint64_t now, struct error *err)
{
    struct home_change *change = alloc(1, sizeof *change);
    struct home_slot *slots[2];
    if (wanted->map->fixed) {
        free(change);
        return error_set(err, "%s", wanted->map->fixed);
    }
    *change = *wanted;
    unsigned count = concerned(change, slots);
    for (unsigned i = 0; i < count; i++)
        if (slots[i]->change) {
            free(change);
            return error_set(err, "range: another change of the range is waiting");
        }
    if (change->range->paging && other_page(change) == NO_PAGE)
        change->range->paging->pages[change->frame] = change->page;
    for (unsigned i = 0; i < count; i++) {
        slots[i]->change = change;
        change->busy += slots[i]->outstanding > 0;
    }
    if (change->busy == 0)
        take_effect(change, now);
    return true;
}

bool home_range_change(struct home_map *map, uint64_t base, uint64_t size, const struct home_layout *layout,
                       home_changed *changed, void *context, uint64_t now, struct error *err)
{
    struct home_change change = {.map = map, .base = base, .size = size, .changed = changed};
    change.context = context;
    change.range = range_of(map, base);
    if (!change.range || change.range->paging || size == 0 ||
        size > change.range->size - (base - change.range->base))
        return error_set(err, "range: 0x%" PRIx64 " is not in one range without pages", base);
    if (base % layout->geometry.burst || size % layout->geometry.burst)
        return error_set(err, "range: 0x%" PRIx64 " is not a multiple of the burst, %" PRIu32 " bytes", base,
                         layout->geometry.burst);
    if (!set_layout(&change.to, layout, base - change.range->origin + size, err))
        return false;
    return begin(&change, now, err);
}

bool home_range_page(struct home_map *map, uint64_t base, uint64_t bytes, struct error *err)
{
    struct range *range = range_of(map, base);
    if (!range || range->base != base || range->origin != base || range->paging)
        return error_set(err, "range: no range without pages starts at 0x%" PRIx64, base);
    const uint64_t held = range->bits.bytes;
    if (!bytes || bytes & (bytes - 1) || bytes >> range->bits.offset_bits == 0 || range->size % bytes ||
        held % bytes || held / bytes > MOST_FRAMES)
        return error_set(err, "range: pages of %" PRIu64 " bytes do not divide the range at 0x%" PRIx64,
                         bytes, base);
    if (range->slot.outstanding || range->slot.change)
        return error_set(err, "range: 0x%" PRIx64 " is in use", base);
    struct paging *paging = alloc(1, sizeof *paging);
    *paging = (struct paging){.shift = (uint32_t)__builtin_ctzll(bytes),
                              .page_count = (uint32_t)(range->size / bytes),
                              .frame_count = (uint32_t)(held / bytes)};
    paging->frames = alloc(paging->page_count, sizeof *paging->frames);
    paging->slots = alloc(paging->page_count, sizeof *paging->slots);
    paging->pages = alloc(paging->frame_count, sizeof *paging->pages);
    for (uint32_t i = 0; i < paging->frame_count; i++)
        paging->pages[i] = i < paging->page_count ? i : NO_PAGE;
    for (uint32_t i = 0; i < paging->page_count; i++) {
        paging->frames[i] = i;
        paging->slots[i].generation = 1;
    }
    range->paging = paging;
    range->slot.generation++;
    return true;
}

bool home_page_move(struct home_map *map, uint64_t address, uint32_t frame, home_changed *changed,
                    void *context, uint64_t now, struct error *err)
{
    struct range *range = range_of(map, address);
    if (!range || !range->paging || frame >= range->paging->frame_count)
        return error_set(err, "range: 0x%" PRIx64 " has no page that can move to frame %" PRIu32, address,
                         frame);
    const struct home_change change = {.map = map,
                                       .range = range,
                                       .page = (uint32_t)((address - range->origin) >> range->paging->shift),
                                       .frame = frame,
                                       .changed = changed,
                                       .context = context};
    return begin(&change, now, err);
}

uint32_t home_page_frame(const struct home_map *map, uint64_t address)
{
    const struct range *range = range_of(map, address);
    assert(range && range->paging);
    return range->paging->frames[(address - range->origin) >> range->paging->shift];
}
