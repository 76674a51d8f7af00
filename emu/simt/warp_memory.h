/* The memory that the warps of a launch see: the program's memory, a scratchpad for each block, and thread
 * stacks.
 *
 *   program addresses        as for the host's hart, physical or translated
 *   WARP_STACK_WINDOW  + s   thread stacks
 *   WARP_SHARED_WINDOW + o   byte o of the scratchpad of the thread's block
 *
 * The stack window. Thread stacks of 2^shift bytes follow each other, those of a warp's lanes in sequence:
 * s = (warp * width + lane) << shift | offset. In memory, 8-byte words are reordered, as Fermi interleaves local
 * memory: the same word of all lanes of a warp is adjacent, and beside it the same word of the other warps.
 *
 *   s       = warp | lane                   | word   | byte   (bits: lane log2(width), word shift - 3, byte 3)
 *   storage = word | (warp + turn) mod warps | lane   | byte   turn = word & (stack_turns - 1)
 *
 * With groups of warps (warp_memory_set_groups()), warps turn within their group, and row r of storage is of group
 * (r + first) mod groups.
 *
 * A register that 32 lanes spill takes 256 contiguous bytes, and equal offsets in all warps form one range, which
 * spreads evenly over sets, slices and channels. The turn does the same for the words of one warp, whatever the
 * number of warps. The mapping is bijective and the same for every thread that uses an address, so pointers to
 * stacks are ordinary addresses. The window exists for threads and for system calls that they make; the host's hart
 * does not have it. */
#ifndef EMU_SIMT_WARP_MEMORY_H
#define EMU_SIMT_WARP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/stream.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "isa/decode.h"

#define WARP_STACK_WINDOW  UINT64_C(0x400000000000)
#define WARP_SHARED_WINDOW UINT64_C(0x600000000000)

enum {
    WARP_PAGE = 4096,
    WARP_PAGES = 256,      /* cached translations, for loads and for stores each */
    WARP_VERSIONS = 4096,  /* version counters of memory blocks, for reservations */
    WARP_RESERVATION = 64, /* bytes of such a block */
    WARP_STACK_WORD = 8,   /* bytes that stay together */
};

enum warp_access { WARP_FETCH, WARP_LOAD, WARP_STORE };

/* The space of an access. A lane's stack is in memory, with its words reordered. */
enum warp_space { WARP_GLOBAL, WARP_SHARED, WARP_STACK };

/* Where lanes that have parted meet again (emu/simt/warp.h). */
enum warp_reconvergence { WARP_MINPC, WARP_STACKED };
extern const char *const warp_reconvergence_names[]; /* indexed by value; ends with NULL */

struct custom_units;
struct warp_debug;

/* The parameters of a launch's memory. warp_memory_init() derives the rest. */
struct warp_memory_setup {
    const struct phys *memory;
    const struct decoder *decoder;
    unsigned width; /* lanes of a warp: a power of two up to 32 */
    enum warp_reconvergence reconvergence;
    uint64_t write_first; /* program addresses below this one are read-only */
    unsigned stack_shift; /* a thread's stack has 2^stack_shift bytes; at least 4 */
    /* physical address of the stacks; number of warps for which there are stacks */
    uint64_t stack_physical;
    uint32_t stack_warps;
    /* Translates a program address to a physical one; valid for its page. Returns false if the program may
     * not access it. NULL: addresses are physical. */
    bool (*translate)(void *context, uint64_t address, enum warp_access access, uint64_t *physical);
    void *context;
    /* units of custom instructions (emu/hart/custom.h); NULL: none */
    const struct custom_units *custom;
};

struct warp_page {
    uint64_t address; /* address of the page + 1; 0: none */
    uint8_t *bytes;
};

struct warp_code;

/* What the copies of a memory share. */
struct warp_reservations {
    bool held; /* some lane may hold a reservation, so stores must count versions */
    uint32_t versions[WARP_VERSIONS];
};

struct warp_memory {
    /* Accesses of up to 8 bytes at base + d with d < count are in bounds and need no translation; none if
     * count is 0. */
    uint64_t load_base, load_count, store_base, store_count;
    uint8_t *load_bytes, *store_bytes;
    /* storage of the stack window; its size; that of the part in which stores have a fast path, all of it or none */
    uint8_t *stack;
    uint64_t stack_size, stack_store;
    uint64_t stack_turns; /* the largest power of two up to the number of warps with stacks, or of a group */
    uint32_t stack_groups, stack_group; /* warp_memory_set_groups(); 1 and 0 without it */
    /* The harts and threads that share the memory; peers->reserved is set while any of them may hold a
     * reservation. It points to `alone` unless the owner of harts that run at the same time sets it. */
    struct stream_peers *peers, alone;
    struct warp_reservations *reservations, own; /* its own, or those of which it is a copy */
    struct warp_memory_setup setup;
    struct warp_code *code;
    struct warp_debug *debug; /* a debugger's breakpoints and stops (warp_debug.h); NULL: none */
    struct code_watcher watcher;
    struct warp_memory *copies; /* warp_memory_copy(); linked by it */
    /* Threads of the host execute from the copies at the same time: only what is done in turn may touch what they share. */
    const struct warp_turns *turns; /* NULL: one thread does */
    struct warp_page pages[2][WARP_PAGES];
};

/* For a memory from which one of several threads of the host executes (emu/sim/threads/turns.h). wait() waits for the thread's turn,
 * before an instruction is decoded; changed() tells that bytes that may be code have changed. */
struct warp_turns {
    void (*wait)(void *context);
    void (*changed)(void *context);
    void *context;
};

/* Initializes the memory. Returns false with err set when the stacks are not in memory or the host has no
 * memory. Release it with warp_memory_free(). */
bool warp_memory_init(struct warp_memory *memory, const struct warp_memory_setup *setup, struct error *err);
void warp_memory_free(struct warp_memory *memory);

/* Makes a memory with the same bytes and reservations, but with predecoded code and translations of its own. What is discarded of the
 * original is discarded of the copies. Returns NULL with err set when the host has no memory. warp_memory_free() of the original frees
 * it. */
struct warp_memory *warp_memory_copy(struct warp_memory *memory, struct error *err);

/* Discards cached translations. */
void warp_memory_forget(struct warp_memory *memory);

/* Discards cached translations and predecoded code. Call it only while no warp has threads. */
void warp_memory_flush(struct warp_memory *memory);

/* Ends the lanes' reservations of bytes that were stored at a physical address. */
void warp_memory_disturb(struct warp_memory *memory, uint64_t physical, uint64_t size);

/* Like warp_memory_disturb(), for a hart's store. It is the function threads_stored() of struct stream_peers. */
bool warp_memory_stored(void *memory, uint64_t physical, unsigned size);

/* Divides the warps into `groups` groups of consecutive warps, of equal size. Rows of storage then take turns among the groups,
 * from group `first` for row 0, so that each of the memories among which rows are interleaved holds the stacks of one group.
 * `groups` must divide the number of warps. */
void warp_memory_set_groups(struct warp_memory *memory, uint32_t groups, uint32_t first);

/* Returns the offset in the stacks' storage of a word of a warp's stacks: that of its first lane. */
static inline uint64_t warp_stack_row(const struct warp_memory *memory, uint64_t word, uint32_t warp)
{
    uint64_t warps = memory->setup.stack_warps, place = warp + (word & (memory->stack_turns - 1));
    if (memory->stack_groups > 1) {
        uint32_t groups = memory->stack_groups, each = (uint32_t)warps / groups, group = warp / each;
        place = (warp % each + (word & (memory->stack_turns - 1))) * groups +
                (group + groups - memory->stack_group) % groups;
    }
    place -= place >= warps ? warps : 0;
    return (word * warps + place) * memory->setup.width * WARP_STACK_WORD;
}

/* Returns the offset in the stacks' storage of the byte at offset s of the window. */
static inline uint64_t warp_stack_swizzle(const struct warp_memory *memory, uint64_t s)
{
    unsigned shift = memory->setup.stack_shift;
    uint64_t thread = s >> shift, warp = thread >> __builtin_ctz(memory->setup.width);
    uint64_t lane = thread & (memory->setup.width - 1);
    uint64_t word = (s & ((UINT64_C(1) << shift) - 1)) / WARP_STACK_WORD;
    uint64_t row = warp_stack_row(memory, word, (uint32_t)warp);
    return row + lane * WARP_STACK_WORD + s % WARP_STACK_WORD;
}

/* Copy bytes from or to a thread's memory: any of the three spaces, any alignment, all or nothing. A
 * scratchpad of size 0 is absent. */
struct warp_scratchpad {
    uint8_t *bytes;
    uint64_t size;
};
bool warp_memory_load(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                      void *bytes, uint64_t length);
bool warp_memory_store(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                       const void *bytes, uint64_t length);

/* Returns whether all bytes of a range can be accessed. */
bool warp_memory_can(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                     uint64_t length, enum warp_access access);

/* Returns the host address of one byte that can be accessed, or NULL. Stores the number of contiguous bytes
 * from there to *room. */
uint8_t *warp_memory_reach(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                           enum warp_access access, uint64_t *room);

/* Returns the local memory that a mechanism has put in the scratchpads' place (local_memory.h), or NULL. */
struct warp_local;
const struct warp_local *warp_memory_local(const struct warp_memory *memory);

/* Reads the 16 or 32 bits of the instruction at pc. Returns false if it cannot be fetched. */
bool warp_memory_fetch(struct warp_memory *memory, uint64_t pc, uint32_t *bits);

/* Call it for bytes that warp_memory_reach() has returned for a store, between this instruction's fetch and
 * the next one. */
void warp_memory_note_store(const struct warp_memory *memory, const uint8_t *at, uint64_t length);

/* Returns the space of a byte that can be accessed, and stores its physical address, or its offset in the
 * scratchpad. */
enum warp_space warp_memory_place(struct warp_memory *memory, uint64_t address, enum warp_access access,
                                  uint64_t *place);

#endif
