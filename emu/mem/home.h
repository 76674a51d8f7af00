/* Homes: the module, stack, controller, bank, row and column that hold a physical address.
 *
 * A home_map is a list of ranges of physical addresses. Each range has a bit string (emu/mem/home_bits.h)
 * that splits an address into the numbers of its home. A request gets its home when it leaves the last level,
 * on a link whose `homes` is set; the crossbars and memories below read the home in the request. A map
 * determines timing only: bytes stay where they are in physical memory.
 *
 * Maps can change while the machine runs: a range, or a part of one, gets another bit string; a page of a
 * paged range moves to another frame. A change waits until no request is outstanding to the slots that it
 * affects. Until then, new requests to these slots are refused; the change wakes their links when it takes
 * effect. So a change takes effect in bounded time. Each change increments the generation of its slots; a
 * memory asserts that the generation of an arriving request is current. */
#ifndef EMU_MEM_HOME_H
#define EMU_MEM_HOME_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

struct mem_link;
struct home_change;

/* The unit of change: a range, or a page of a paged range. */
struct home_slot {
    uint32_t generation;        /* generation of the slot's mapping, from 1 */
    uint32_t outstanding;       /* outstanding requests to it */
    bool uncounted;             /* home_map_hold() */
    struct home_change *change; /* a change that waits for these requests, or NULL */
};

/* The place of the burst that holds an address. */
struct home {
    uint16_t module;
    uint16_t stack;      /* within the module */
    uint16_t controller; /* within the stack: a channel or a vault */
    uint16_t bank;       /* within the controller: (rank * groups + group) * banks + bank */
    uint32_t row;
    uint32_t column;     /* in bursts */
    uint32_t generation; /* generation of the slot when the home was resolved; 0: not resolved */
    struct home_slot *slot;
};

/* The counts of each level, for one instance of the level above it. */
struct home_geometry {
    uint32_t modules;
    uint32_t stacks;      /* per module */
    uint32_t controllers; /* per stack */
    uint32_t ranks;       /* per controller; this count and those below are powers of two */
    uint32_t groups;      /* per rank */
    uint32_t banks;       /* per group */
    uint32_t rows;        /* per bank */
    uint32_t columns;     /* bursts per row */
    uint32_t burst;       /* in bytes */
};

enum { HOME_TEXT = 96 }; /* characters of a bit string, including the NUL */

/* The mapping of a range: a bit string in the notation of home_bits.h. */
struct home_layout {
    char text[HOME_TEXT];
    struct home_geometry geometry;
    bool stack_hash, controller_hash, bank_hash; /* XOR the folded row into these numbers */
    /* numbers of the first module, stack and controller; the bit string counts from them */
    uint16_t module, stack, controller;
};

struct home_map;

/* Makes a map without ranges. Aborts if the host has no memory. All requests must have been answered before
 * it is freed. */
struct home_map *home_map_new(void);
void home_map_free(struct home_map *map);

/* Adds the range [base, base + size), whose first byte is number 0 of its bit string. Fails if the layout is
 * invalid or too small for the range, base is not a multiple of the burst, or the range overlaps another
 * one. */
bool home_range_add(struct home_map *map, uint64_t base, uint64_t size, const struct home_layout *layout,
                    struct error *err);

/* Sets *home to the home of an address. An address outside all ranges, which occurs only in prefetches and
 * maintenance, is mapped by the first range that was added, with numbers that wrap around. There must be a
 * range. */
void home_resolve(const struct home_map *map, uint64_t address, struct home *home);

/* Computes the address of the first byte of the burst at a home. Returns false if the map has no address
 * there. Ignores slot and generation. */
bool home_address(const struct home_map *map, const struct home *home, uint64_t *address);

/* Returns whether the home is resolved and its slot has not changed since. */
static inline bool home_current(const struct home *home)
{
    return home->generation && home->generation == home->slot->generation;
}

/* Makes all later changes fail, with this message, which is copied. A later call has no effect. */
void home_map_fix(struct home_map *map, const char *message);

/* Makes all later changes fail, as home_map_fix(), and counts no outstanding requests; so nothing is written when one is sent. There
 * must be none, nor a change that waits. No range is added later. */
void home_map_hold(struct home_map *map, const char *message);

/* Called once when the change has taken effect, before the waiting links are woken. It may request further
 * changes. */
typedef void home_changed(void *context, uint64_t now);

/* Gives [base, base + size) another layout as soon as its range is quiet (no request to it is outstanding),
 * or at once if it is. [base, base + size) must lie in one range that is not paged. Bytes keep their numbers
 * within the range. The caller must ensure that the new homes of a part are not homes of other addresses;
 * they are not if the new layout permutes only bits below an alignment of base and size. Fails, and changes
 * nothing, if the layout is invalid or too small, the map is fixed, or another change of the range waits.
 * changed may be NULL. Do not call it from a port's request(). */
bool home_range_change(struct home_map *map, uint64_t base, uint64_t size, const struct home_layout *layout,
                       home_changed *changed, void *context, uint64_t now, struct error *err);

/* Divides the range at `base` into pages of `bytes` bytes, a power of two and a multiple of the burst. The
 * range's size and the bytes of its layout must be multiples of it. Page n starts in frame n, which holds the
 * numbers from n * bytes on. The range must be quiet. */
bool home_range_page(struct home_map *map, uint64_t base, uint64_t bytes, struct error *err);

/* Moves the page that holds the address to a frame of its range as soon as the page is quiet. A page that is
 * in that frame moves to the frame that becomes free, so that no two pages share a frame. Fails if there is
 * no such page or frame, or a move of either page waits. Otherwise like home_range_change(). */
bool home_page_move(struct home_map *map, uint64_t address, uint32_t frame, home_changed *changed,
                    void *context, uint64_t now, struct error *err);

/* Returns the frame of the page that holds the address, which must be in a paged range. */
uint32_t home_page_frame(const struct home_map *map, uint64_t address);

/* For request.h. Adds a refused request's link to the waiters of the slot's change, which wakes it. */
void home_wait(struct home_slot *slot, struct mem_link *link);
/* For request.h. The last outstanding request of a slot with a waiting change has been answered. */
void home_quiet(struct home_slot *slot, uint64_t now);

#endif
