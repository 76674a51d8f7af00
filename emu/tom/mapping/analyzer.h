/* The memory map analyzer (TOM 4.3): which stacks instances of candidates would access with each mapping.
 *
 * A map takes the stack's number from consecutive bits of the address. Map 0 is the machine's own, and map 1 + n takes the bits
 * from log2(line) + n on, up to TOM_POSITIONS of them. All are one to one within aligned frames of TOM 4.3's size: 256 KiB for
 * lines of 128 bytes and four stacks. So each frame can have a map of its own.
 *
 * The paper stores 40 bits a warp: for each of ten maps, which of four stacks were accessed. The choice needs the stack of the
 * first access too, which is another 20 bits. */
#ifndef EMU_TOM_MAPPING_ANALYZER_H
#define EMU_TOM_MAPPING_ANALYZER_H

#include "emu/mem/home_bits.h"

enum { TOM_POSITIONS = 10, TOM_MAPS = 1 + TOM_POSITIONS, TOM_STACKS = 16, TOM_WINDOW = 256 };

/* How a map would distribute the accesses of the instances that have ended. */
struct tom_tally {
    uint64_t together; /* accesses to the stack of their instance's first access */
    uint64_t single;   /* instances with accesses to one stack only */
    uint64_t stacks;   /* sum over instances: stacks accessed */
    uint64_t busiest;  /* sum over windows of TOM_WINDOW accesses: those to the stack with most */
};

struct tom_analyzer {
    struct home_layout layouts[TOM_MAPS];
    struct home_bits maps[TOM_MAPS];
    uint32_t first_bit, stack_bits; /* lowest bit of map 1; bits of a stack's number */
    uint64_t base, frame;           /* physical address of number 0; bytes of a frame */
    uint64_t instances, accesses;   /* instances that have ended; their accesses */
    struct tom_tally tallies[TOM_MAPS];
    /* of the latest accesses, up to TOM_WINDOW: their number, and of these, by map, that to each stack */
    uint32_t window, to[TOM_MAPS][TOM_STACKS];
};

/* An instance under way. */
struct tom_instance {
    uint64_t accesses;
    uint64_t together[TOM_MAPS];
    uint16_t seen[TOM_MAPS]; /* bit s: stack s */
    uint8_t first[TOM_MAPS];
};

/* Prepares the maps for a machine with that layout of homes, whose memory begins at `base`. Fails if it has several modules,
 * not 2, 4, 8 or 16 stacks, or a layout that is not one to one within frames together with these maps. */
bool tom_analyzer_init(struct tom_analyzer *analyzer, const struct home_layout *layout, uint64_t base,
                       uint32_t line, struct error *err);

/* Returns the map whose lowest bit is `bit`; 0: there is none. */
unsigned tom_analyzer_map(const struct tom_analyzer *analyzer, uint32_t bit);

/* Returns the lowest bit of a map's stack number; 0 for map 0. */
uint32_t tom_analyzer_bit(const struct tom_analyzer *analyzer, unsigned map);

/* Adds an access to the line at a physical address to an instance. Zero the instance before its first access. */
void tom_analyzer_access(struct tom_analyzer *analyzer, struct tom_instance *instance, uint64_t physical);

/* Adds an instance that has ended to the tallies. */
void tom_analyzer_end(struct tom_analyzer *analyzer, const struct tom_instance *instance);

/* Returns the map, other than 0, with which most accesses are to the stack of their instance's first access; of equal maps, the
 * one with the lowest bits. 0: there were no accesses. */
unsigned tom_analyzer_best(const struct tom_analyzer *analyzer);

/* Returns the map, the machine's own included, with the greatest ratio of such accesses to those that went to the busiest stack of
 * each window (of equal maps the first). Accesses in one stack save bytes on links, but while all go to one of four stacks, the channels
 * of three are unused. */
unsigned tom_analyzer_even(const struct tom_analyzer *analyzer);

#endif
