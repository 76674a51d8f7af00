/* Homes: which module, stack, controller, bank, row and column holds a physical address.
 *
 * A home_map is a list of ranges of physical addresses. Each range has a bit string (emu/mem/home_bits.h)
 * that cuts an address into the numbers of its home. A request gets its home when it leaves the last level,
 * on a link whose `homes` is set; crossbars and memories below read the answer in the request. Maps place
 * time: bytes stay where they are in physical memory.
 *
 * Maps can change while the machine runs: a range, or a part of one, gets another bit string; a page of a
 * paged range moves to another frame. A change waits until no request is under way to what it concerns.
 * Until then new requests to it are refused and woken by the change, so that it comes in bounded time. Each
 * change raises the generation of what has changed; a memory asserts that the generation of an arriving
 * request is the present one.
 */
#ifndef EMU_MEM_HOME_H
#define EMU_MEM_HOME_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

struct mem_link;
struct home_change;

/* What changes as a whole: a range, or a page of a paged range. */
struct home_slot {
    uint32_t generation;        /* of its map, from 1 on */
    uint32_t outstanding;       /* requests under way to it */
    struct home_change *change; /* that waits for them, or NULL */
};

/* Where the burst that holds an address lives. */
struct home {
    uint16_t module;
    uint16_t stack;      /* of the module */
    uint16_t controller; /* of the stack: a channel, or a vault */
    uint16_t bank;       /* of the controller: (rank * groups + group) * banks + bank */
    uint32_t row;
    uint32_t column;     /* in bursts */
    uint32_t generation; /* of the slot when this was resolved; 0: not resolved */
    struct home_slot *slot;
};

/* How many of each there are; what holds one place, within what holds it. */
struct home_geometry {
    uint32_t modules;
    uint32_t stacks;      /* of a module */
    uint32_t controllers; /* of a stack */
    uint32_t ranks;       /* of a controller; this and what follows are powers of two */
    uint32_t groups;      /* of a rank */
    uint32_t banks;       /* of a group */
    uint32_t rows;        /* of a bank */
    uint32_t columns;     /* bursts of a row */
    uint32_t burst;       /* in bytes */
};

enum { HOME_TEXT = 96 }; /* characters of a bit string, the NUL included */

/* The map of a range: a bit string in the notation of home_bits.h. */
struct home_layout {
    char text[HOME_TEXT];
    struct home_geometry geometry;
    bool stack_hash, controller_hash, bank_hash; /* XOR the row, folded, into these numbers */
    uint16_t module, stack, controller;          /* of the first of each; the text counts from them */
};

struct home_map;

/* A map without ranges. Out of memory aborts. All requests must have been answered before it is freed. */
struct home_map *home_map_new(void);
void home_map_free(struct home_map *map);

/* Adds the range [base, base + size), whose first byte has number 0 in its bit string. Fails when the layout
 * is wrong or too small for it, base is no multiple of the burst, or another range overlaps it. */
bool home_range_add(struct home_map *map, uint64_t base, uint64_t size, const struct home_layout *layout,
                    struct error *err);

/* The home of an address. An address outside all ranges, which only prefetches and maintenance can name, has
 * the home that the first range added gives it, whose numbers wrap around; there must be one. */
void home_resolve(const struct home_map *map, uint64_t address, struct home *home);

/* The address of the first byte of the burst at a home; false when the map has no address there. slot and
 * generation do not matter. */
bool home_address(const struct home_map *map, const struct home *home, uint64_t *address);

/* Whether the home is resolved and has not changed since. */
static inline bool home_current(const struct home *home)
{
    return home->generation && home->generation == home->slot->generation;
}

/* Called once when the change has taken effect, before those who wait for it are woken. It may ask for
 * further changes. */
typedef void home_changed(void *context, uint64_t now);

/* Gives [base, base + size), which lies in one range that is not paged, another layout as soon as the range
 * is quiet: at once if it is. The bytes keep their numbers within the range. That a part's new homes are
 * nobody else's is the caller's care: it is so when the new layout permutes only bits below an alignment of
 * base and size. Fails, and changes nothing, when the layout is wrong or too small, or when another change
 * of that range waits. changed may be NULL. Not to be called from within a port's request(). */
bool home_range_change(struct home_map *map, uint64_t base, uint64_t size, const struct home_layout *layout,
                       home_changed *changed, void *context, uint64_t now, struct error *err);

/* Lets the range of `base` be placed by pages of that many bytes, a power of two and a multiple of the burst,
 * of which the range's layout must have a whole number, and the range too. Page n begins in frame n: the
 * bytes whose numbers are from n * bytes on. The range must be quiet. */
bool home_range_page(struct home_map *map, uint64_t base, uint64_t bytes, struct error *err);

/* Moves the page that holds the address to a frame of its range as soon as it is quiet. The page that is in
 * that frame, if there is one, gets the frame that becomes free, so that no two share one. Fails when there is
 * no such page or frame, or when a move of either waits. Otherwise like home_range_change(). */
bool home_page_move(struct home_map *map, uint64_t address, uint32_t frame, home_changed *changed,
                    void *context, uint64_t now, struct error *err);

/* The frame of the page that holds the address, which is in a paged range. */
uint32_t home_page_frame(const struct home_map *map, uint64_t address);

/* For request.h. The change that a request has been refused for keeps the link and wakes it. */
void home_wait(struct home_slot *slot, struct mem_link *link);
/* The last request of a slot whose change waits has been answered. */
void home_quiet(struct home_slot *slot, uint64_t now);

#endif
