/* The state of the part kind `stash`, shared by its files: stash.c (the kind), instructions.c (AddMap, ChgMap), core.c (time), and
 * below them space.c (function). */
#ifndef EMU_STASH_PART_H
#define EMU_STASH_PART_H

#include "emu/hart/custom.h"
#include "emu/sim/report/histogram.h"
#include "emu/simt/cluster.h"
#include "emu/simt/local_memory.h"
#include "emu/stash/hardware.h"
#include "emu/stash/kind.h"
#include "emu/stash/port.h"
#include "emu/stash/unit.h"
#include "isa/include/croft/stash_check.h"

_Static_assert(sizeof(struct stash_tile) == sizeof(struct croft_stash_map), "a tile is a descriptor");

enum { STASH_SELECTORS = 256, STASH_RECENT = 64 };

/* A map of a running block, for the function. Offsets are from the start of the block's local memory. */
struct stash_view {
    struct stash_tile added; /* by AddMap */
    struct stash_tile tile;  /* now */
    struct stash_mapping mapping;
};

struct stash_change {
    struct stash_tile tile;
    uint64_t index;
};

/* The local memory of a running block. */
struct stash_space {
    const struct simt_block *block; /* NULL: free */
    struct stash_core *core;
    uint8_t *bytes; /* of the scratchpad: identifies the block to its warps */
    uint64_t size;
    uint8_t number; /* in the hardware */
    uint32_t first; /* byte of the storage */
    uint32_t map_count, change_count, change_room;
    struct stash_view maps[STASH_MAPS];
    struct stash_change *changes;
    uint32_t *added, *changed; /* by thread of the block: AddMaps and ChgMaps that it has executed */
    uint32_t threads;
    /* by word, of non-coherent maps: the bytes are here; a store has changed them */
    uint8_t *copied, *stored;
    uint64_t hits, misses; /* words */
    unsigned waiting;      /* operations that the hardware has not done */
};

/* An AddMap or ChgMap that the hardware has to wait for. */
struct stash_operation {
    struct stash_operation *next;
    struct stash_space *space;
    int change; /* index of the map; negative: AddMap */
    struct stash_tile tile;
    struct custom_waiter **waiters;
    uint32_t waiter_count;
};

/* An access of a warp. */
struct stash_warp_access {
    struct stash_waiter waiter;
    struct stash_core *core;
    struct stash_space *space;
    bool looked;
    uint8_t next;      /* miss */
    unsigned distinct; /* words, each once */
    uint64_t pc;
    struct stash_access access;
};

struct map_track;

/* A multiprocessor's stash. */
struct stash_core {
    struct stash_part *part;
    struct simt *simt;
    struct cache *l1;
    struct clock clock;
    struct stash *stash;
    struct stash_port *port;        /* NULL: the stash is a unit of a DeNovo domain */
    struct stash_unit *unit;        /* or NULL */
    struct word_versions *versions; /* NULL: no checker */
    unsigned agent;
    struct warp_memory *memory; /* of the launch; NULL: not known yet */
    struct stash_space spaces[STASH_BLOCKS];
    struct stash_warp_access *accesses;
    struct stash_operation *operations, **operations_end;
    struct map_track *track;             /* NULL: it is not traced */
    uint64_t blocks, hits, misses;       /* the latter in words */
    uint64_t hit_words, miss_words;      /* the same, a word once for all threads of a warp that want it */
    struct histogram hits_of, misses_of; /* blocks by their words */
    struct histogram fetched_of, unused_of, kept_of;
};

struct stash_part {
    struct stash_config config;
    struct event_queue *queue;
    struct warp_local local;
    uint32_t core_count;
    struct stash_core *cores;
    struct stash_space *recent[STASH_RECENT]; /* by the address of the scratchpad */
};

/* space.c */

/* The functions of struct warp_local; the context is a struct stash_part. */
uint8_t *stash_space_reach(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                           uint64_t offset, enum warp_access access, uint64_t *room);
uint64_t stash_space_place(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                           uint64_t offset);
bool stash_space_fault(void *context, struct warp_memory *memory, const struct warp_scratchpad *pad,
                       uint64_t offset, uint64_t size, enum warp_access access, bool atomic,
                       struct trap *trap);
/* Returns the space of the block with the scratchpad, or NULL. */
struct stash_space *stash_space_of(struct stash_part *part, const uint8_t *bytes);
/* Makes the space of a block. stash_space_end() frees what it holds. */
void stash_space_begin(struct stash_space *space, const struct simt_block *block,
                       const struct warp_place *place);
void stash_space_end(struct stash_space *space);
/* Add a map, and change one: stored words of a non-coherent map that becomes coherent go to memory. */
void stash_space_add(struct stash_space *space, const struct stash_tile *tile);
void stash_space_change(struct stash_space *space, unsigned map, const struct stash_tile *tile,
                        struct warp_memory *memory);

/* core.c */

void stash_core_init(struct stash_core *core, struct stash_part *part, const struct simt_beside *beside,
                     uint32_t bytes, uint32_t component);
void stash_core_free(struct stash_core *core);
/* Lets the hardware add or change a map; the waiter, which may be NULL, waits until that is done. */
void stash_core_operate(struct stash_core *core, struct stash_space *space, int change,
                        const struct stash_tile *tile, struct custom_waiter *waiter, uint64_t now);
/* Makes the waiter wait for the space's operations. */
void stash_core_wait(struct stash_core *core, const struct stash_space *space, struct custom_waiter *waiter);

/* instructions.c: serves the instructions, as struct custom_unit says; the context is a struct stash_part. */
bool stash_instruction(void *context, struct custom_call *call);
bool stash_instruction_lanes(void *context, struct custom_lanes *lanes);

#endif
