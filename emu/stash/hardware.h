/* The stash of a multiprocessor: its storage, map index tables, stash-map and VP-map, and the operations on them ("Stash", ISCA
 * 2015, sections 4.1, 4.2 and 4.5), as a state machine over the level below (below.h). It keeps states, not bytes.
 *
 * Storage. A word of 4 bytes has a state of two bits: Invalid, Valid, Registered, or Registered and marked for write-back. A
 * chunk of 64 bytes has a dirty bit and an index into the stash-map. Two maps of a block share no chunk, and neither do two
 * blocks. Registered words of a chunk belong to the entry of its index; Valid words to the map of the block that has the chunk.
 *
 * Entries. An entry is active from AddMap to the end of its block, and valid while it is active or has dirty chunks. dirty
 * (#DirtyData) counts the chunks that have its index and registered words:
 *   + 1  when a store miss sets a chunk's dirty bit and index
 *   - 1  when the chunk's last registered word leaves: written back, revoked, taken by another unit's registration
 *        (the paper names only write-backs; without this rule an entry whose words were all taken would stay valid for ever),
 *        moved to another map of the same stash, or dropped with a non-coherent map's block
 * An entry that is not active becomes invalid when dirty reaches 0. It is not replaced before its write-backs are acknowledged.
 *
 * Access. Words of unmapped space always hit. A load hits Valid and Registered words, a store Registered ones. Words in a
 * chunk with marks of another map are first written back, all of the chunk. A store miss of a coherent map registers; one of a
 * non-coherent map does not, and marks the chunk dirty all the same, for ChgMap. The end of a block turns dirty bits into marks
 * and drops Valid words of its chunks, and all words of non-coherent maps. (The paper drops Valid words at the end of the kernel
 * only; but a later block of the same kernel that gets the space with another map would hit them.)
 *
 * AddMap. The tail goes to the next entry that is not active: entries are replaced in order, but blocks that stay long keep
 * theirs. If that entry is valid, it is written back first, and AddMap has to wait for it. If the VP-map has no room for the
 * tile's pages, the entries behind are evicted in the same way. When an entry is replaced, a page that points to it is pointed
 * to the latest other entry that needs it, or removed if there is none. So a page is there as long as a valid entry maps it, and
 * a request for a registered word never misses in the RTLB: stash_check() asserts it. A forward for a word that has been written
 * back meanwhile may carry the index of an entry that has been replaced: then no word is found, and the unit refuses it.
 *
 * ChgMap. New addresses: words of the old map are written back if it is coherent, and dropped if not. Coherent to
 * non-coherent: the dirty words are written back and stay as Valid. Non-coherent to coherent: all dirty words are registered.
 *
 * Replication. A new map that matches a valid coherent one perfectly finds its words:
 *   same place, coherent         registered words stay where they are, with the index they are registered with; new store
 *                                misses of such a chunk take that index, too
 *   same place, non-coherent     the next access to a chunk writes its dirty words back, as for any other map
 *   other place                  a load miss copies the word: a Valid one if the old map is active; a Registered one moves, and
 *                                the registry is told the new index (a non-coherent map copies it as Valid)
 * Registered words move to a coherent map that misses them also from maps that only overlap, for loads and for stores: a stash
 * holds a word once, because the registry names one place. (The paper does not speak of overlaps.) Without `replication`, the
 * chunk of the other map is written back instead. Maps are compared by virtual addresses.
 *
 * Sub-word stores count as stores of their word: section 4.3, footnote 5, demands that one unit owns all of its bytes. */
#ifndef EMU_STASH_HARDWARE_H
#define EMU_STASH_HARDWARE_H

#include <stdio.h>

#include "emu/sim/observer.h"
#include "emu/stash/below.h"
#include "emu/stash/mapping.h"
#include "emu/stash/stash.h"

enum {
    STASH_ENTRIES = 64, /* of a stash-map: a chunk's index has 6 bits */
    STASH_MAPS = 32,    /* of a block */
    STASH_BLOCKS = 32,  /* on a multiprocessor */
    STASH_NONE = 255,
    STASH_PAGE = 4096,
    STASH_LANE_WORDS = 3, /* that an access of 8 bytes touches at most */
    STASH_WORDS = 32 * STASH_LANE_WORDS,
};

/* The codes of a word (section 4.4). */
enum stash_code { STASH_CODE_INVALID, STASH_CODE_VALID, STASH_CODE_REGISTERED, STASH_CODE_MARKED };

enum stash_outcome {
    STASH_DONE,
    STASH_WAIT, /* nothing more can be done now: try again after user.retry() */
    STASH_ERROR, /* the VP-map cannot hold the pages, or the stash-map the entries, of the maps of all blocks together */
};

/* Somebody who waits for words. Its owner sets `done`, and `waits` to 0 before the first access. */
struct stash_waiter {
    void (*done)(struct stash_waiter *waiter, uint64_t now); /* a line that it waited for has come */
};

/* Words of a line that an access misses. */
struct stash_miss {
    uint64_t line, mask;
    uint8_t entry;
};

/* An access of a warp: words of a block. `selector` 0: unmapped; 1 + i: map i of the block, which it has. */
struct stash_access {
    uint8_t block;
    bool store;
    uint8_t count;
    struct {
        uint8_t selector;
        uint32_t word; /* of the storage; in the map's chunks */
    } words[STASH_WORDS];
    /* set by stash_look() */
    uint8_t miss_count;
    uint32_t hits, misses; /* words */
    struct stash_miss misses_of[STASH_WORDS];
};

struct stash_user {
    /* Translates the first byte of a page. Returns false if there is none. */
    bool (*translate)(void *context, uint64_t page, uint64_t *physical);
    /* Something that stash_look(), stash_send(), stash_add() or stash_change() waited for may be there. NULL: nobody asks. */
    void (*retry)(void *context, uint64_t now);
    void *context;
};

/* Of the maps with one index, and of unmapped space (index 0; map i is 1 + i). In words. */
struct stash_counters {
    uint64_t maps, hits, misses, copies;
    uint64_t fetched, unused; /* words that answers have installed; of these, those that no load has used */
    uint64_t registered, written_back;
    uint64_t kept;       /* dirty words that a new map of the same tile found: write-backs that were saved */
    uint64_t prefetched; /* words that were asked for when a map was added */
    uint64_t taken;      /* dirty words that other units have registered */
};

/* Of a block, as above, over all of its maps. */
struct stash_block_counters {
    uint64_t fetched, unused, kept;
};

/* What happens to words of an entry. */
enum stash_event {
    STASH_LOADS,     /* they are asked for, because loads miss them */
    STASH_REGISTERS, /* they are registered, because stores miss them */
    STASH_WRITES,    /* they are written back */
    STASH_REUSES,    /* another map of the stash has them: they are kept, moved, or copied */
};

/* Entries are numbers in the stash-map. */
struct stash_observer {
    struct observer link;
    void (*began)(void *context, unsigned entry); /* it maps a tile, after AddMap or ChgMap */
    void (*left)(void *context, unsigned entry);  /* its block has ended */
    void (*ended)(void *context, unsigned entry); /* it is no longer valid */
    void (*event)(void *context, enum stash_event event, unsigned entry, uint32_t words, uint64_t now);
    void *context;
};

struct stash;

/* Creates a stash of `bytes`, a multiple of 64 up to 1 MiB. line_bytes: a power of two from 16 to 256. */
struct stash *stash_new(const struct stash_config *config, uint32_t bytes, uint32_t line_bytes,
                        const struct stash_user *user);
void stash_free(struct stash *stash);
/* Sets the level below. Call it before the first access. */
void stash_connect(struct stash *stash, const struct stash_below_ops *ops, void *below);

/* Returns whether contiguous space for a block is free. */
bool stash_fits(const struct stash *stash, uint64_t bytes);
/* Starts a block and returns its number; stash_fits() is true. *first is the storage's first byte of it. */
unsigned stash_begin_block(struct stash *stash, uint64_t bytes, uint32_t *first);
void stash_end_block(struct stash *stash, unsigned block);
/* Returns the number of maps of all running blocks. One more than config.entries is an error. */
unsigned stash_active(const struct stash *stash);
/* Returns the number of maps that the block has added. */
unsigned stash_maps(const struct stash *stash, unsigned block);
/* Returns the mapping of an entry that is valid; stores the number of its block, STASH_NONE once that has ended, its index there, and
 * whether it is coherent. */
const struct stash_mapping *stash_entry_mapping(const struct stash *stash, unsigned entry, unsigned *block,
                                                unsigned *slot, bool *coherent);
/* Returns the mapping of map i, which the block has, or NULL if it is not there yet. */
const struct stash_mapping *stash_map(const struct stash *stash, unsigned block, unsigned i);
bool stash_map_coherent(const struct stash *stash, unsigned block, unsigned i);

/* Adds the next map of the block, of which it has fewer than config.maps; the tile has been checked. */
enum stash_outcome stash_add(struct stash *stash, unsigned block, const struct stash_tile *tile,
                             uint64_t now);
/* Returns how many pages the tiles need together with all maps of running blocks, each page once, but without map `change` of the block
 * if that is not negative. More than config.pages are an error. */
unsigned stash_needs(const struct stash *stash, unsigned block, int change,
                     const struct stash_tile *const *tiles, unsigned count);
/* Changes map i of the block. */
enum stash_outcome stash_change(struct stash *stash, unsigned block, unsigned i,
                                const struct stash_tile *tile, uint64_t now);

/* Looks up the words of an access: writes back old words of the chunks, copies words of other maps, and stores the misses,
 * one for each line. STASH_WAIT: look again. */
enum stash_outcome stash_look(struct stash *stash, struct stash_access *access, uint64_t now);
/* Sends miss i. *waits: the waiter is called when the line's words are there; false for stores, and for words that have come
 * meanwhile. `sent` is when the request leaves, after the translation. */
enum stash_outcome stash_send(struct stash *stash, const struct stash_access *access, unsigned i,
                              uint64_t now, uint64_t sent, struct stash_waiter *waiter, bool *waits);

/* Asks for up to config.prefetch words of the block's map i, from its first one on, a line each `gap` from `sent` on. Marked words in
 * the way are written back. Left out are words that the stash has, at another place, too, whose page does not exist, or in whose way
 * there are others, and lines that the level below refuses. */
void stash_prefetch(struct stash *stash, unsigned block, unsigned i, uint64_t sent, uint64_t gap);

/* End of a kernel: all but registered words become invalid, and open reads install nothing (section 4.3). */
void stash_self_invalidate(struct stash *stash, uint64_t now);

/* For the level below. Of a mask, those words count that `map` maps and that are at their place. */
uint64_t stash_words(const struct stash *stash, uint64_t line, unsigned map, enum stash_state state);
/* Installs words of an answer that are Invalid and whose chunk has no marks of another map. */
void stash_install(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
/* Words leave: VALID, for a Revoke; INVALID, for another unit's registration or a write-back. REGISTERED changes nothing,
 * because the stash registers words itself. An answer's words come by stash_install() alone: another map may have registered
 * one of them meanwhile. */
void stash_set(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, enum stash_state state,
               uint64_t now);
/* Words that somebody waited for have come. */
void stash_arrived(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
void stash_acknowledged(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
/* The write-back of words was acknowledged: of write_back(), or of a Revoke. */
void stash_written(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
void stash_room(struct stash *stash, uint64_t now);

/* Returns the storage's word for a word of a line by an entry that is valid, or UINT32_MAX. */
uint32_t stash_place(const struct stash *stash, uint64_t physical, unsigned map);
/* Returns the word with this physical address that an entry of coherent maps holds as registered, `map` first, or UINT32_MAX. */
uint32_t stash_find(const struct stash *stash, uint64_t physical, unsigned map);
/* Returns the word's code, and the place where a checker keeps its version; words that are copied take it with them. */
enum stash_code stash_code(const struct stash *stash, uint32_t word);
uint32_t *stash_version(struct stash *stash, uint32_t word);
/* Stores the physical address of a mapped word. Returns false if it is in no map of the block. */
bool stash_physical(struct stash *stash, unsigned block, unsigned i, uint32_t word, uint64_t *physical);

/* Adds an observer, which must stay valid until the stash is freed. */
void stash_observe(struct stash *stash, struct stash_observer *observer);

const struct stash_counters *stash_counted(const struct stash *stash, unsigned selector);
/* Returns the counters of a block, until stash_begin_block() gives its number to another one. */
const struct stash_block_counters *stash_block_counted(const struct stash *stash, unsigned block);

/* Prints all state, one line for each block, entry, page and chunk that is in use. */
void stash_dump(const struct stash *stash, FILE *file);
/* Returns NULL, or which invariant does not hold. */
const char *stash_check(const struct stash *stash);

#endif
