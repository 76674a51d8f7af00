/* The memory that the warps of a launch see: the program's own, a scratchpad for each block, and thread stacks.
 *
 *   program's addresses      as on the host's hart, physical or translated
 *   WARP_STACK_WINDOW  + s   thread stacks
 *   WARP_SHARED_WINDOW + o   byte o of the own block's scratchpad
 *
 * The stack window. Thread stacks of 2^shift bytes follow each other, those of a warp's lanes side by side: s =
 * (warp * width + lane) << shift | offset. In memory, words of 8 bytes are swapped about so that the same word of all
 * lanes of a warp is adjacent:
 *
 *   s       = warp | lane     | word   | byte       (fields of bits: lane log2(width), word shift - 3, byte 3)
 *   storage = warp | word     | lane   | byte
 *
 * which is bijective, the same for every thread that uses an address, and makes a spilled register of 32 lanes 256
 * contiguous bytes. The window exists for threads and for system calls that they make; the host's hart does not have it. */
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
    WARP_PAGES = 256,      /* translations kept, for loads and for stores */
    WARP_VERSIONS = 4096,  /* of blocks that reservations look at */
    WARP_RESERVATION = 64, /* bytes of such a block */
    WARP_STACK_WORD = 8,   /* bytes that stay together */
};

enum warp_access { WARP_FETCH, WARP_LOAD, WARP_STORE };

enum warp_space {
    WARP_GLOBAL,
    WARP_SHARED,
    WARP_STACK
}; /* where an access goes: a lane's stack lies in memory, swizzled */

struct custom_units;

/* What a launch sets; the rest of the struct is worked out by warp_memory_init(). */
struct warp_memory_setup {
    const struct phys *memory;
    const struct decoder *decoder;
    unsigned width;          /* lanes of a warp: a power of two up to 32 */
    uint64_t write_first;    /* program addresses below are read-only */
    unsigned stack_shift;    /* a thread's stack has 2^stack_shift bytes; at least 4 */
    uint64_t stack_physical; /* where the stacks lie in memory, and for how many warps there is room */
    uint32_t stack_warps;
    /* A program address as a physical one, for a page; false: the program may not. NULL: they are the same. */
    bool (*translate)(void *context, uint64_t address, enum warp_access access, uint64_t *physical);
    void *context;
    const struct custom_units *custom; /* who serves custom instructions (emu/hart/custom.h); NULL: nobody */
};

struct warp_page {
    uint64_t address; /* of the page, plus 1; 0: none */
    uint8_t *bytes;
};

struct warp_code;

struct warp_memory {
    /* Accesses of up to 8 bytes at base + d, d <= last, are in bounds without translation. */
    uint64_t load_base, load_last, store_base, store_last;
    uint8_t *load_bytes, *store_bytes;
    uint8_t *stack; /* storage of the window, and its size */
    uint64_t stack_size;
    bool reserved; /* some lane may hold a reservation: stores count versions */
    /* Who shares the memory, whose `reserved` is set while any of them may hold one; `alone`, unless the owner of harts
     * that run at the same time sets it. */
    struct stream_peers *peers, alone;
    uint32_t versions[WARP_VERSIONS];
    struct warp_memory_setup setup;
    struct warp_code *code;
    struct warp_page pages[2][WARP_PAGES];
};

/* False when the stacks do not lie in memory, or the host has none. Release with warp_memory_free(). */
bool warp_memory_init(struct warp_memory *memory, const struct warp_memory_setup *setup, struct error *err);
void warp_memory_free(struct warp_memory *memory);

/* Forgets translations. */
void warp_memory_forget(struct warp_memory *memory);

/* Forgets predecoded code too; only while no warp has threads. */
void warp_memory_flush(struct warp_memory *memory);

/* A store at a program address: lanes' reservations of the bytes end. */
void warp_memory_disturb(struct warp_memory *memory, uint64_t address, uint64_t size);

/* The same for a hart's store at a physical address, which is the program's: threads_stored() of struct stream_peers. */
bool warp_memory_stored(void *memory, uint64_t physical, unsigned size);

/* Where in the stacks' storage the byte at s of the window lies. */
static inline uint64_t warp_stack_swizzle(const struct warp_memory *memory, uint64_t s)
{
    unsigned shift = memory->setup.stack_shift;
    uint64_t width = memory->setup.width;
    uint64_t lane = s >> shift & (width - 1);
    uint64_t first = s & ~((width << shift) - 1);
    uint64_t word = (s & ((UINT64_C(1) << shift) - 1)) / WARP_STACK_WORD;
    return first + (word * width + lane) * WARP_STACK_WORD + s % WARP_STACK_WORD;
}

/* Copies bytes of a thread's memory: any of the three spaces, any alignment, all or nothing. A scratchpad of size 0 is
 * none. */
struct warp_scratchpad {
    uint8_t *bytes;
    uint64_t size;
};
bool warp_memory_load(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                      void *bytes, uint64_t length);
bool warp_memory_store(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                       const void *bytes, uint64_t length);

/* Whether all of a range can be loaded or stored to. */
bool warp_memory_can(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                     uint64_t length, enum warp_access access);

/* The host address of one byte that can be accessed so, or NULL; *room bytes are contiguous from there. */
uint8_t *warp_memory_reach(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                           enum warp_access access, uint64_t *room);

/* Space and place of a byte that can be accessed: physical, or an offset into the scratchpad. */
enum warp_space warp_memory_place(struct warp_memory *memory, uint64_t address, enum warp_access access,
                                  uint64_t *place);

#endif
