#include "emu/hart/block/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/hart/hart.h"
#include "emu/hart/stream.h"
#include "emu/sim/alloc.h"

/* Neighbours in the program are neighbours here: a short program touches few pages of the buckets. */
static uint32_t bucket_of(uint64_t pc)
{
    return (uint32_t)(pc >> 1 ^ (pc >> 17) * 0x9e37) & (BUCKETS - 1);
}

static void *reserve(size_t count, size_t size)
{
    void *at =
        mmap(NULL, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void release(void *at, size_t count, size_t size)
{
    if (at)
        (void)munmap(at, count * size);
}

void block_store_free(struct block_cache *cache)
{
    release(cache->slots, SLOTS, sizeof *cache->slots);
    release(cache->records, RECORDS, sizeof *cache->records);
    release(cache->ops, RECORDS, sizeof *cache->ops);
    release(cache->exits, EXITS, sizeof *cache->exits);
    release(cache->blocks, BLOCKS, sizeof *cache->blocks);
    release(cache->buckets, BUCKETS, sizeof *cache->buckets);
    release(cache->parts, PARTS, sizeof *cache->parts);
    release(cache->part_buckets, PART_BUCKETS, sizeof *cache->part_buckets);
    free(cache->fusions);
    free(cache->found);
    free(cache);
}

/* Returns whether an instruction of the block begins or ends in bytes first to last of the part's page. */
static bool part_touched(const struct block_cache *cache, const struct block_part *part, unsigned first,
                         unsigned last)
{
    if (last < part->first || first > part->last)
        return false;
    uint32_t end =
        part->block + 1 < cache->block_count ? cache->blocks[part->block + 1].record : cache->record_count;
    for (uint32_t i = cache->blocks[part->block].record; i < end; i++) {
        uint64_t offset = cache->records[i].pc - part->address; /* perhaps on the page before */
        uint64_t end_offset = offset + cache->records[i].insn.length;
        if ((int64_t)offset <= (int64_t)last && (int64_t)end_offset > (int64_t)first)
            return true;
    }
    return false;
}

/* Takes the block out of its bucket. Exits and jump caches may still lead to its first op, which from now on finds the
 * block that replaces it. */
static void drop_block(struct block_cache *cache, uint32_t index)
{
    struct block *block = &cache->blocks[index];
    uint32_t *link = &cache->buckets[bucket_of(block->pc)];
    while (*link != index + 1)
        link = &cache->blocks[*link - 1].next;
    *link = block->next;
    block->dropped = true;
    cache->slots[block->slot].run = cache->dropped;
    cache->drops++;
}

static uint32_t part_bucket(uint64_t page)
{
    return (uint32_t)(page & (PART_BUCKETS - 1));
}

bool block_drop_stored(struct block_cache *cache, uint64_t page, unsigned first, unsigned last)
{
    bool left = false;
    for (uint32_t *link = &cache->part_buckets[part_bucket(page)]; *link;) {
        struct block_part *part = &cache->parts[*link - 1];
        bool here = part->page == page;
        if (here && !cache->blocks[part->block].dropped && part_touched(cache, part, first, last))
            drop_block(cache, part->block);
        if (cache->blocks[part->block].dropped) {
            *link = part->next;
            continue;
        }
        left |= here;
        link = &part->next;
    }
    return left;
}

void block_add_part(struct block_cache *cache, uint64_t page, uint64_t address, unsigned first, unsigned last)
{
    uint32_t block = cache->block_count; /* being translated */
    for (uint32_t i = cache->part_count; i-- > 0 && cache->parts[i].block == block;) {
        struct block_part *part = &cache->parts[i];
        if (part->page == page && part->address == address) {
            part->first = first < part->first ? (uint16_t)first : part->first;
            part->last = last > part->last ? (uint16_t)last : part->last;
            code_pages_mark(cache->code_pages, page, part->last + 1U);
            return;
        }
    }
    uint32_t *bucket = &cache->part_buckets[part_bucket(page)];
    cache->parts[cache->part_count++] =
        (struct block_part){page, address, block, *bucket, (uint16_t)first, (uint16_t)last};
    *bucket = cache->part_count;
    code_pages_mark(cache->code_pages, page, last + 1);
}

struct block_cache *block_store_new(struct error *err)
{
    struct block_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        error_set(err, "no memory for the block cache: %s", strerror(errno));
        return NULL;
    }
    cache->slots = reserve(SLOTS, sizeof *cache->slots);
    cache->records = reserve(RECORDS, sizeof *cache->records);
    cache->exits = reserve(EXITS, sizeof *cache->exits);
    cache->blocks = reserve(BLOCKS, sizeof *cache->blocks);
    cache->buckets = reserve(BUCKETS, sizeof *cache->buckets);
    cache->parts = reserve(PARTS, sizeof *cache->parts);
    cache->part_buckets = reserve(PART_BUCKETS, sizeof *cache->part_buckets);
    if (!cache->slots || !cache->records || !cache->exits || !cache->blocks || !cache->buckets ||
        !cache->parts || !cache->part_buckets) {
        error_set(err, "no address space for the block cache: %s", strerror(errno));
        block_store_free(cache);
        return NULL;
    }
    cache->found = alloc(FOUND, sizeof *cache->found);
    cache->slots[NOWHERE_HEAD].head.pc = 1;
    cache->slot_count = FIRST_SLOT;
    return cache;
}

bool block_describe(struct block_cache *cache, bool described, struct error *err)
{
    if (described && !cache->ops)
        cache->ops = reserve(RECORDS, sizeof *cache->ops);
    cache->described = described && cache->ops;
    return cache->described == described ||
           error_set(err, "no address space for the block cache: %s", strerror(errno));
}

void block_store_enter(struct block_cache *cache)
{
    struct block *block = &cache->blocks[cache->block_count - 1];
    uint32_t *bucket = &cache->buckets[bucket_of(block->pc)];
    block->next = *bucket;
    *bucket = cache->block_count;
    cache->translations++;
}

uint32_t block_number(const struct block_cache *cache, const struct mmu_leaf *leaf, uint64_t pc)
{
    const struct block_mode *mode = &cache->contexts[cache->context].mode;
    const uint64_t physical = leaf_place(leaf, pc);
    for (uint32_t i = cache->buckets[bucket_of(pc)]; i; i = cache->blocks[i - 1].next) {
        const struct block *block = &cache->blocks[i - 1];
        if (block->pc == pc && block->physical == physical && block->bits == leaf->bits &&
            block->mode.privilege == mode->privilege && block->mode.fp_dirty == mode->fp_dirty &&
            block->mode.fp_host == mode->fp_host)
            return i - 1;
    }
    return UINT32_MAX;
}

const union op *block_lookup(const struct block_cache *cache, const struct mmu_leaf *leaf, uint64_t pc)
{
    const uint32_t block = block_number(cache, leaf, pc);
    return block == UINT32_MAX ? NULL : &cache->slots[cache->blocks[block].slot];
}

bool block_store_nearly_full(const struct block_cache *cache)
{
    return cache->slot_count + BLOCK_SLOTS > SLOTS || cache->record_count + BLOCK_SLOTS > RECORDS ||
           cache->exit_count + BLOCK_SLOTS > EXITS || cache->block_count == BLOCKS ||
           cache->part_count + BLOCK_PARTS > PARTS;
}

static bool holds_slot(const struct block_cache *cache, uint32_t block, uint32_t slot)
{
    return block < cache->block_count && cache->blocks[block].slot <= slot &&
           (block + 1 == cache->block_count || cache->blocks[block + 1].slot > slot);
}

/* Returns the index of the block that contains the slot: the last one that begins at or before it. The same few slots are looked for
 * again and again, and the search touches many lines of the host's caches. */
static uint32_t block_of(const struct block_cache *cache, uint32_t slot)
{
    uint32_t *found = &cache->found[slot & (FOUND - 1)];
    uint32_t low = 0, high = cache->block_count;
    if (holds_slot(cache, *found, slot))
        return *found;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (cache->blocks[middle].slot <= slot)
            low = middle;
        else
            high = middle;
    }
    *found = low;
    return low;
}

/* Returns the record of the instruction whose op is at slot: the last record with that slot, since a followed jump
 * shares its successor's. */
static uint32_t record_of(const struct block_cache *cache, uint32_t block, uint32_t slot)
{
    uint32_t end = block + 1 < cache->block_count ? cache->blocks[block + 1].record : cache->record_count;
    uint32_t record = cache->blocks[block].record;
    while (record + 1 < end && cache->records[record + 1].slot <= slot)
        record++;
    return record;
}

static unsigned record_class(const struct record *record)
{
    return insn_table[record->insn.id].iclass;
}

struct block_site block_find(const struct block_cache *cache, const union op *op)
{
    uint32_t slot = (uint32_t)(op - cache->slots);
    uint32_t block = block_of(cache, slot);
    uint32_t record = record_of(cache, block, slot);
    const struct record *found = &cache->records[record];
    return (struct block_site){found->pc, &found->insn, record - cache->blocks[block].record};
}

void block_count_before(struct block_cache *cache, const union op *op)
{
    uint32_t slot = (uint32_t)(op - cache->slots);
    uint32_t block = block_of(cache, slot);
    uint32_t end = record_of(cache, block, slot);
    for (uint32_t i = cache->blocks[block].record; i < end; i++)
        cache->classes[record_class(&cache->records[i])]++;
}

void block_count_through(struct block_cache *cache, const union op *op)
{
    uint32_t slot = (uint32_t)(op - cache->slots);
    cache->classes[record_class(&cache->records[record_of(cache, block_of(cache, slot), slot)])]++;
    block_count_before(cache, op);
}

void block_count_classes(const struct block_cache *cache, uint64_t counts[CLASS_COUNT])
{
    for (unsigned c = 0; c < CLASS_COUNT; c++)
        counts[c] += cache->classes[c];
    for (uint32_t b = 0; b < cache->block_count; b++) {
        uint32_t end = b + 1 < cache->block_count ? cache->blocks[b + 1].exit : cache->exit_count;
        for (uint32_t e = cache->blocks[b].exit; e < end; e++) {
            uint64_t taken = cache->slots[cache->exits[e].slot].exit.count;
            const struct record *record = &cache->records[cache->blocks[b].record];
            for (uint32_t i = 0; taken && i < cache->exits[e].retired; i++)
                counts[record_class(&record[i])] += taken;
        }
    }
}

/* Empties the buckets and jump caches. If there are few blocks, empties only the buckets of their addresses. */
static void forget_blocks(struct block_cache *cache)
{
    bool few = cache->block_count < HART_JUMP_ENTRIES / 8;
    for (uint32_t b = 0; few && b < cache->block_count; b++) {
        cache->buckets[bucket_of(cache->blocks[b].pc)] = 0;
        space_forget_jump(cache, cache->blocks[b].pc);
    }
    if (!few)
        space_forget(cache);
    for (uint32_t i = 0; few && i < cache->part_count; i++)
        cache->part_buckets[part_bucket(cache->parts[i].page)] = 0;
    if (few)
        return;
    memset(cache->buckets, 0, BUCKETS * sizeof *cache->buckets);
    memset(cache->part_buckets, 0, PART_BUCKETS * sizeof *cache->part_buckets);
}

void block_store_empty(struct block_cache *cache)
{
    uint64_t counts[CLASS_COUNT] = {0};
    block_count_classes(cache, counts);
    memcpy(cache->classes, counts, sizeof counts);
    /* The translator writes slots in full except for counts, which must start at 0. */
    memset(&cache->slots[FIRST_SLOT], 0, (cache->slot_count - FIRST_SLOT) * sizeof *cache->slots);
    forget_blocks(cache);
    cache->slot_count = FIRST_SLOT;
    cache->record_count = cache->exit_count = cache->block_count = cache->part_count = 0;
    cache->flushes++;
}

uint64_t block_drops(const struct block_cache *cache)
{
    return cache->drops;
}

uint64_t block_flushes(const struct block_cache *cache)
{
    return cache->flushes;
}

uint64_t block_translations(const struct block_cache *cache)
{
    return cache->translations;
}
