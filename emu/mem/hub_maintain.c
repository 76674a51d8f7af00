/* Cleaning and invalidating a range at the coherent level: line by line, then memory is told. */
#include "emu/mem/hub_state.h"

/* The range, walked by lines or, when these are more than the cache has ways, by ways. */
struct walk {
    uint64_t first, last; /* lines */
    uint64_t steps;
    bool by_way;
};

static struct walk walk_of(const struct hub *hub, uint64_t address, uint64_t size)
{
    uint64_t mask = ~(uint64_t)(hub->config.line - 1);
    struct walk walk = {.first = address & mask, .last = (address + size - 1) & mask};
    walk.steps = (walk.last - walk.first) / hub->config.line + 1;
    walk.by_way = walk.steps > tags_size(&hub->tags);
    if (walk.by_way)
        walk.steps = tags_size(&hub->tags);
    return walk;
}

/* The line that is next, if it is here. */
static uint32_t next_line(const struct hub *hub, const struct walk *walk, uint64_t cursor)
{
    if (!walk->by_way)
        return tags_find(&hub->tags, walk->first + cursor * hub->config.line);
    uint32_t index = (uint32_t)cursor;
    uint64_t key = tags_key(&hub->tags, index);
    bool here = tags_state(&hub->tags, index) && key >= walk->first && key <= walk->last;
    return here ? index : TAGS_NONE;
}

static void maintain_line(struct hub *hub, uint32_t index, enum mem_op op, uint64_t now)
{
    enum cache_state remains = op == MEM_CLEAN ? CACHE_SHARED : CACHE_INVALID;
    hub->counters.maintained++;
    (void)hub_take(hub, index, HUB_NOBODY, remains, now);
    if (tags_state(&hub->tags, index) == HUB_DIRTY) {
        if (op == MEM_INVALIDATE)
            hub->counters.dropped++;
        else
            hub_write_back(hub, tags_key(&hub->tags, index), now);
        tags_set_state(&hub->tags, index, HUB_CLEAN);
    }
    if (op != MEM_CLEAN)
        hub_forget(hub, index, now);
}

/* False: the entry has to wait for the line or for the write buffer. */
static bool maintain_next(struct hub_entry *entry, const struct walk *walk, uint64_t now)
{
    struct hub *hub = entry->hub;
    uint32_t index = next_line(hub, walk, entry->cursor);
    if (index == TAGS_NONE)
        return true;
    struct hub_frame *frame = &hub->frames[index];
    if (frame->busy) {
        hub_list_add(&frame->waiting, entry);
        return false;
    }
    bool may_be_dirty = tags_state(&hub->tags, index) == HUB_DIRTY || frame->owner != HUB_NOBODY;
    if (may_be_dirty && entry->request->op != MEM_INVALIDATE && !hub_can_write(hub)) {
        hub_stall(entry);
        return false;
    }
    maintain_line(hub, index, entry->request->op, now);
    return true;
}

void hub_maintain(struct hub_entry *entry, uint64_t now)
{
    struct hub *hub = entry->hub;
    struct walk walk = walk_of(hub, entry->request->address, entry->request->size);
    if (!maintain_next(entry, &walk, now))
        return;
    if (++entry->cursor < walk.steps) {
        event_schedule(hub->queue, &entry->event, hub_after(hub, now, 1));
        return;
    }
    hub->counters.maintenance++;
    entry->barrier = hub->written;
    hub_list_add(&hub->ranges, entry);
    hub_pass_ranges(hub, now);
}

void hub_warm_maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    struct hub *hub = port;
    struct mem_link *lower = &hub->lower[HUB_READS];
    struct walk walk = walk_of(hub, address, size);
    uint64_t now = hub->queue->now;
    (void)link;
    for (uint64_t cursor = 0; cursor < walk.steps; cursor++) {
        uint32_t index = next_line(hub, &walk, cursor);
        if (index == TAGS_NONE || hub->frames[index].busy)
            continue;
        (void)hub_take(hub, index, HUB_NOBODY, op == MEM_CLEAN ? CACHE_SHARED : CACHE_INVALID, now);
        if (tags_state(&hub->tags, index) == HUB_DIRTY && op != MEM_INVALIDATE)
            hub_tell_write(hub, tags_key(&hub->tags, index), now);
        tags_set_state(&hub->tags, index, HUB_CLEAN);
        if (op != MEM_CLEAN)
            hub_forget(hub, index, now);
    }
    if (lower->port_ops->maintain)
        lower->port_ops->maintain(lower->port, lower, op, address, size);
}
