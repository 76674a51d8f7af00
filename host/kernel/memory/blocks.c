#include "host/kernel/memory/blocks.h"

#include "host/kernel/memory/pages.h"
#include "host/kernel/memory/ranges.h"

enum { BLOCK = 64 };

/* Eight blocks in each round: the loop's branch and the sum of the address would take longer than the operations, which
 * cores overlap. */
#define EACH_BLOCK(instruction)                                                                              \
    for (; end - at >= 8 * BLOCK; at += 8 * BLOCK) {                                                         \
        instruction(at);                                                                                     \
        instruction(at + BLOCK);                                                                             \
        instruction(at + 2 * BLOCK);                                                                         \
        instruction(at + 3 * BLOCK);                                                                         \
        instruction(at + 4 * BLOCK);                                                                         \
        instruction(at + 5 * BLOCK);                                                                         \
        instruction(at + 6 * BLOCK);                                                                         \
        instruction(at + 7 * BLOCK);                                                                         \
    }                                                                                                        \
    for (; at < end; at += BLOCK)                                                                            \
    instruction(at)

#define CBO_INVAL(at) __asm__ volatile(".insn i 0x0f, 2, x0, %0, 0" : : "r"(at) : "memory")
#define CBO_CLEAN(at) __asm__ volatile(".insn i 0x0f, 2, x0, %0, 1" : : "r"(at) : "memory")
#define CBO_FLUSH(at) __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" : : "r"(at) : "memory")

/* Uses the kernel's own addresses of the blocks; caches are physically tagged. */
static void apply(enum blocks_operation operation, uint64_t at, uint64_t end)
{
    end = at + (end - at + BLOCK - 1) / BLOCK * BLOCK;
    switch (operation) {
    case BLOCKS_INVAL: EACH_BLOCK(CBO_INVAL); break;
    case BLOCKS_CLEAN: EACH_BLOCK(CBO_CLEAN); break;
    case BLOCKS_FLUSH: EACH_BLOCK(CBO_FLUSH); break;
    }
}

void blocks_apply(enum blocks_operation operation, uint64_t first, uint64_t end)
{
    while (first < end) {
        size_t i = ranges_from(first);
        const struct croft_range *range = &ranges.entries[i];
        if (i == ranges.count || range->base >= end)
            return;
        uint64_t part = first > range->base ? first : range->base;
        first = range_end(range) < end ? range_end(range) : end;
        if (range->permissions & CROFT_RANGE_PRESENT) {
            uint64_t at = (uint64_t)pages_at(range->physical + (part - range->base));
            apply(operation, at, at + (first - part));
        }
    }
}

void blocks_clean_ranges(void)
{
    static uint64_t cleaned;
    if (cleaned == ranges.changes)
        return;
    cleaned = ranges.changes;
    apply(BLOCKS_CLEAN, (uint64_t)&ranges, (uint64_t)&ranges.entries[ranges.count]);
}
