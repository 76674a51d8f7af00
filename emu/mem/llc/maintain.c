/* Cleaning and invalidating a range at the last level: line by line, then in memory. */
#include "emu/mem/llc/registry.h"

/* A walk over the lines of a range or, if these are more than the cache has entries, over all entries. A
 * slice walks over the lines of its own blocks; by partition, over all lines. */
struct walk {
    uint64_t first, last; /* lines */
    uint64_t steps;
    uint64_t block; /* number of the slice's first block in the range */
    bool by_way;
};

/* Returns the lines of a block. If there is only one slice, its blocks are lines. */
static uint64_t block_lines(const struct llc *llc)
{
    return llc->stride > 1 ? (UINT64_C(1) << llc->block_shift) / llc->config.line : 1;
}

static struct walk walk_of(const struct llc *llc, uint64_t address, uint64_t size)
{
    uint64_t mask = ~(uint64_t)(llc->config.line - 1), bytes = block_lines(llc) * llc->config.line;
    struct walk walk = {.first = address & mask, .last = (address + size - 1) & mask};
    uint64_t first = walk.first / bytes, last = walk.last / bytes;
    walk.block = first + (llc->slice + llc->stride - first % llc->stride) % llc->stride;
    if (walk.block <= last)
        walk.steps = ((last - walk.block) / llc->stride + 1) * block_lines(llc);
    walk.by_way = walk.steps > tags_size(&llc->tags);
    if (walk.by_way)
        walk.steps = tags_size(&llc->tags);
    return walk;
}

/* Returns the index of the walk's next line, or TAGS_NONE if it is not in the cache. */
static uint32_t next_line(const struct llc *llc, const struct walk *walk, uint64_t cursor)
{
    uint32_t index = (uint32_t)cursor;
    if (!walk->by_way) {
        uint64_t block = walk->block + cursor / block_lines(llc) * llc->stride;
        uint64_t line = (block * block_lines(llc) + cursor % block_lines(llc)) * llc->config.line;
        return line >= walk->first && line <= walk->last ? llc_find(llc, line) : TAGS_NONE;
    }
    uint64_t line = llc_line_at(llc, index);
    bool here = tags_state(&llc->tags, index) && line >= walk->first && line <= walk->last;
    return here ? index : TAGS_NONE;
}

static enum protocol_request recall_of(enum mem_op op)
{
    return op == MEM_CLEAN ? PROTOCOL_RECALL_CLEAN : PROTOCOL_RECALL;
}

static void maintain_line(struct llc *llc, uint32_t index, enum mem_op op, uint64_t now)
{
    llc->counters.maintained++;
    (void)llc_settle(llc, index, LLC_NOBODY, recall_of(op), now);
    if (tags_state(&llc->tags, index) == LLC_DIRTY) {
        if (op == MEM_INVALIDATE)
            llc->counters.dropped++;
        else
            llc_write_back(llc, index, now);
        tags_set_state(&llc->tags, index, LLC_CLEAN);
    }
    if (op != MEM_CLEAN)
        llc_forget(llc, index, now);
    llc_frame_changed(llc, index);
}

/* Maintains the next line. Returns false if the entry has to wait for the line or for the write buffer. */
static bool maintain_next(struct llc_entry *entry, const struct walk *walk, uint64_t now)
{
    struct llc *llc = entry->llc;
    uint32_t index = next_line(llc, walk, entry->cursor);
    if (index == TAGS_NONE)
        return true;
    if (llc->by_word)
        return llc_registry_clean(entry, index, now);
    struct llc_frame *frame = &llc->frames[index];
    if (frame->busy) {
        llc_list_add(&frame->waiting, entry);
        return false;
    }
    bool may_be_dirty = tags_state(&llc->tags, index) == LLC_DIRTY || frame->owner != LLC_NOBODY;
    if (may_be_dirty && entry->request->op != MEM_INVALIDATE && !llc_can_write(llc)) {
        llc_stall_range(entry, index);
        return false;
    }
    maintain_line(llc, index, entry->request->op, now);
    return true;
}

void llc_maintain(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct walk walk = walk_of(llc, entry->request->address, entry->request->size);
    if (!maintain_next(entry, &walk, now))
        return;
    if (++entry->cursor < walk.steps) {
        event_schedule(llc->queue, &entry->event, llc_after(llc, now, 1));
        return;
    }
    llc->counters.maintenance++;
    entry->barrier = llc->written;
    llc_list_add(&llc->ranges, entry);
    llc_pass_ranges(llc, now);
}

void llc_warm_maintain(struct llc *llc, enum mem_op op, uint64_t address, uint64_t size)
{
    struct mem_link *lower = &llc->lower[LLC_READS];
    struct walk walk = walk_of(llc, address, size);
    uint64_t now = llc->queue->now;
    for (uint64_t cursor = 0; cursor < walk.steps && !llc->by_word; cursor++) {
        uint32_t index = next_line(llc, &walk, cursor);
        if (index == TAGS_NONE || llc->frames[index].busy)
            continue;
        (void)llc_settle(llc, index, LLC_NOBODY, recall_of(op), now);
        if (tags_state(&llc->tags, index) == LLC_DIRTY && op != MEM_INVALIDATE)
            llc_tell_write(llc, llc_line_at(llc, index), now);
        tags_set_state(&llc->tags, index, LLC_CLEAN);
        if (op != MEM_CLEAN)
            llc_forget(llc, index, now);
        llc_frame_changed(llc, index);
    }
    mem_link_maintain(lower, op, address, size);
}
