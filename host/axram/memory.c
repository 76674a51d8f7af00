/* Regions of accelerator memory and networks in it. A half page of 16 KiB has 128 blocks; those with even numbers are in one half
 * of a chip's banks, those with odd numbers in the other. Every allocation takes the same blocks in each chip. */
#include <croft/axram_memory.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/axram/memory.h"
#ifdef __linux__
#include "host/linux/chips.h"
#endif

enum { HALF_BLOCKS = AXRAM_MOST_VALUES, TEXT = 240 };

struct axram_geometry croft_axram_geometry;

static struct axram_allocation *allocations;
static unsigned char *taken; /* of each block of a chip */
static unsigned char *full;  /* of each half page: the number of taken blocks */
static uint64_t piece;
static char text[TEXT] = "no call has failed";

const char *axram_error(void)
{
    return text;
}

int axram_fail(int number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    errno = number;
    return -1;
}

#ifdef __linux__
/* Asks Linux for chips. Returns their bytes, or 0. */
static uint64_t ask(struct axram_geometry *g)
{
    struct chips_taken taken;
    if (chips_take(&taken) != 0)
        return 0;
    piece = taken.piece;
    g->base = taken.base;
    g->chips = taken.count;
    g->turn = taken.turn;
    return taken.size;
}
#endif

/* Asks the machine, once. */
bool axram_begin(void)
{
    struct axram_geometry *g = &croft_axram_geometry;
#ifdef __linux__
    const uint64_t size = g->halves ? 0 : ask(g);
    if (!size)
        return g->halves > 0;
#else
    const uint64_t size = croft_axram_query(CROFT_AXRAM_SIZE);
    if (g->halves)
        return true;
    piece = croft_axram_query(CROFT_AXRAM_PIECE);
    g->base = croft_axram_query(CROFT_AXRAM_BASE);
    g->chips = (uint32_t)croft_axram_query(CROFT_AXRAM_CHIPS);
    g->turn = piece * g->chips;
#endif
    g->pairs = (uint32_t)(piece / CROFT_AXRAM_HALF_PAGE / 2);
    const uint32_t halves = (uint32_t)(size / g->chips / CROFT_AXRAM_HALF_PAGE);
    taken = calloc(halves, HALF_BLOCKS);
    full = calloc(halves, 1);
    if (!taken || !full) {
        free(taken);
        free(full);
        return axram_fail(ENOMEM, "no ordinary memory for the table of %u half pages", (unsigned)halves) == 0;
    }
    g->halves = halves;
    return true;
}

/* Returns the address of a block of chip 0. */
static char *block_at(uint32_t half, uint32_t block)
{
    const uint32_t halves = (uint32_t)(piece / CROFT_AXRAM_HALF_PAGE);
    return (char *)(uintptr_t)(croft_axram_geometry.base + half / halves * croft_axram_geometry.turn +
                               (uint64_t)(half % halves) * CROFT_AXRAM_HALF_PAGE +
                               (uint64_t)block * CROFT_AXRAM_BLOCK);
}

/* Finds `blocks` blocks in a half page with the parity of `half`. */
static bool find_part(uint32_t blocks, uint32_t *half, uint32_t *block)
{
    for (; *half < croft_axram_geometry.halves; *half += 2) {
        const unsigned char *used = taken + (size_t)*half * HALF_BLOCKS;
        uint32_t run = 0;
        if (full[*half] + blocks > HALF_BLOCKS)
            continue;
        for (uint32_t i = 0; i < HALF_BLOCKS; i++) {
            run = used[i] ? 0 : run + 1;
            if (run == blocks) {
                *block = i + 1 - blocks;
                return true;
            }
        }
    }
    return false;
}

/* Finds `count` free half pages, each `step` after the last; of networks (step 1), all in one piece. */
static bool find_whole(uint32_t count, uint32_t step, uint32_t *half)
{
    const uint32_t piece_halves = (uint32_t)(piece / CROFT_AXRAM_HALF_PAGE);
    uint32_t run = 0;
    for (uint32_t i = 0; i < croft_axram_geometry.halves; i += step) {
        run = full[i] ? 0 : step == 1 && i % piece_halves == 0 ? 1 : run + 1;
        if (run == count) {
            *half = i - (count - 1) * step;
            return true;
        }
    }
    return false;
}

/* Returns the end of what an allocation may take of each half page. A part that does not begin with it ends before. */
static uint32_t part_of(const struct axram_allocation *a)
{
    return a->block ? HALF_BLOCKS : HALF_BLOCKS - HALF_BLOCKS % a->record;
}

static void mark(const struct axram_allocation *a, unsigned char value)
{
    uint32_t left = a->blocks, block = a->block;
    for (uint32_t half = a->half; left; half += a->step, block = 0) {
        const uint32_t most = part_of(a) - block, now = left < most ? left : most;
        memset(taken + (size_t)half * HALF_BLOCKS + block, value, now);
        full[half] = (unsigned char)(value ? full[half] + now : full[half] - now);
        left -= now;
    }
}

static struct axram_allocation *make(struct axram_allocation contents)
{
    struct axram_allocation *a = malloc(sizeof *a);
    if (a)
        *a = contents;
    else
        (void)axram_fail(ENOMEM, "no ordinary memory for an allocation's entry");
    return a;
}

/* Keeps what was found, or frees the entry. */
static struct axram_allocation *keep(struct axram_allocation *a, bool found, uint64_t blocks)
{
    if (!found) {
        (void)axram_fail(
            ENOMEM,
            "accelerator memory has no room for %llu blocks of 128 bytes in each chip; enlarge axram.size",
            (unsigned long long)blocks);
        free(a);
        return NULL;
    }
    mark(a, 1);
    a->address = block_at(a->half, a->block);
    a->next = allocations;
    allocations = a;
    return a;
}

struct axram_allocation *axram_take(uint32_t record, uint64_t count, uint32_t parity)
{
    const uint32_t each = HALF_BLOCKS / record;
    bool found = false;
    struct axram_allocation *a = make((struct axram_allocation){.half = parity, .step = 2, .record = record});
    if (!a)
        return NULL;
    if (count <= croft_axram_geometry.halves * (uint64_t)each) {
        a->blocks = (uint32_t)count * record;
        found = count <= each ? find_part(a->blocks, &a->half, &a->block)
                              : find_whole((uint32_t)((count + each - 1) / each), a->step, &a->half);
    }
    return keep(a, found, count * record);
}

struct axram_allocation *axram_take_network(uint32_t blocks)
{
    struct axram_allocation *a;
    if (blocks <= HALF_BLOCKS)
        return axram_take(blocks, 1, 1);
    a = make((struct axram_allocation){.step = 1, .record = 1, .blocks = blocks});
    if (!a)
        return NULL;
    return keep(a, find_whole((blocks + HALF_BLOCKS - 1) / HALF_BLOCKS, 1, &a->half), blocks);
}

struct axram_allocation *axram_find(const void *address, const char *who)
{
    const struct axram_geometry *g = &croft_axram_geometry;
    const uint64_t end = g->base + g->halves * axram_stride() * CROFT_AXRAM_HALF_PAGE;
    const uint64_t at = (uint64_t)(uintptr_t)address;
    for (struct axram_allocation *a = allocations; a; a = a->next)
        if (a->address == address)
            return a;
    if (at < g->base || at >= end)
        (void)axram_fail(EINVAL, "%s: %p is not in accelerator memory", who, address);
    else
        (void)axram_fail(EINVAL, "%s: %p is not the start of a region or network, or was freed already", who,
                         address);
    return NULL;
}

/* Returns whether a request under way has one of the allocation's blocks. */
static bool in_use(const struct axram_allocation *a)
{
    uint32_t left = a->blocks, block = a->block, half = a->half;
    if (croft_axram_query(CROFT_AXRAM_REQUESTS) == 0)
        return false;
    for (; left; half += a->step, block = 0)
        for (const uint32_t most = part_of(a); block < most && left; block++, left--)
            for (uint32_t chip = 0; chip < croft_axram_geometry.chips; chip++)
                if (croft_axram_query((uint64_t)(uintptr_t)block_at(half, block) + chip * piece))
                    return true;
    return false;
}

int axram_free(void *memory)
{
    struct axram_allocation **link = &allocations, *a;
    if (!memory)
        return 0;
    a = axram_find(memory, "axram_free");
    if (!a)
        return -1;
    if (in_use(a))
        return axram_fail(
            EBUSY, "axram_free: an invocation or configuration uses the region at %p; wait for its end",
            memory);
    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    mark(a, 0);
    free(a);
    return 0;
}

uint64_t axram_bytes(void)
{
    uint64_t blocks = 0;
    for (const struct axram_allocation *a = allocations; a; a = a->next)
        blocks += a->blocks;
    return blocks * CROFT_AXRAM_BLOCK * croft_axram_geometry.chips;
}

uint64_t axram_duplicated(void)
{
    uint64_t bytes = 0;
    for (const struct axram_allocation *a = allocations; a; a = a->next)
        bytes += a->duplicated;
    return bytes;
}
