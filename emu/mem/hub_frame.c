/* The array of the coherent level and its directory: who has a line, and taking it from them. */
#include <assert.h>

#include "emu/mem/hub_state.h"

int hub_client_of(const struct hub *hub, const struct mem_link *link)
{
    for (unsigned i = 0; i < hub->client_count; i++)
        if (hub->clients[i].link == link)
            return (int)i;
    return HUB_NOBODY;
}

bool hub_holds(const struct hub_frame *frame, int client)
{
    return client >= 0 && (frame->holders[client / 64] >> (client % 64) & 1);
}

bool hub_alone(const struct hub_frame *frame, int client)
{
    for (int word = 0; word < HUB_WORDS; word++) {
        uint64_t own = client >= 0 && client / 64 == word ? UINT64_C(1) << (client % 64) : 0;
        if (frame->holders[word] & ~own)
            return false;
    }
    return true;
}

/* Asks one holder; its newest version, if it has one, comes here. */
static void probe(struct hub *hub, uint32_t index, int client, enum cache_state remains, uint64_t now)
{
    const struct hub_client *holder = &hub->clients[client];
    struct hub_frame *frame = &hub->frames[index];
    hub->counters.probes++;
    if (holder->probe(holder->context, tags_key(&hub->tags, index), remains, now)) {
        hub->counters.dirty_probes++;
        hub->transfers++;
        tags_set_state(&hub->tags, index, HUB_DIRTY);
    }
    if (remains == CACHE_INVALID)
        frame->holders[client / 64] &= ~(UINT64_C(1) << (client % 64));
    if (frame->owner == client)
        frame->owner = HUB_NOBODY;
}

unsigned hub_take(struct hub *hub, uint32_t index, int client, enum cache_state remains, uint64_t now)
{
    struct hub_frame *frame = &hub->frames[index];
    unsigned probes = 0;
    if (remains != CACHE_INVALID) {
        if (frame->owner == HUB_NOBODY || frame->owner == client)
            return 0;
        probe(hub, index, frame->owner, remains, now);
        return 1;
    }
    for (int word = 0; word < HUB_WORDS; word++)
        for (uint64_t left = frame->holders[word]; left; left &= left - 1) {
            int holder = 64 * word + __builtin_ctzll(left);
            if (holder == client)
                continue;
            probe(hub, index, holder, CACHE_INVALID, now);
            probes++;
        }
    return probes;
}

void hub_grant(struct hub *hub, uint32_t index, int client, bool exclusive)
{
    struct hub_frame *frame = &hub->frames[index];
    if (client < 0)
        return;
    frame->holders[client / 64] |= UINT64_C(1) << (client % 64);
    frame->owner = (int16_t)(exclusive ? client : HUB_NOBODY);
}

void hub_forget(struct hub *hub, uint32_t index, uint64_t now)
{
    uint64_t line = tags_key(&hub->tags, index);
    (void)hub_take(hub, index, HUB_NOBODY, CACHE_INVALID, now);
    tags_remove(&hub->tags, index);
    hub_tell_evict(hub, line, now);
}

/* The ways of the line's set that belong to transactions. */
static uint64_t busy_ways(const struct hub *hub, uint64_t line)
{
    uint32_t first = tags_first(&hub->tags, line);
    uint64_t busy = 0;
    for (uint32_t way = 0; way < hub->config.ways; way++)
        busy |= (uint64_t)hub->frames[first + way].busy << way;
    return busy;
}

uint32_t hub_make_room(struct hub *hub, uint64_t line, bool timed, uint64_t now)
{
    uint32_t index = tags_victim(&hub->tags, line, busy_ways(hub, line));
    if (index == TAGS_NONE || tags_state(&hub->tags, index) == 0)
        return index;
    struct hub_frame *frame = &hub->frames[index];
    uint64_t victim = tags_key(&hub->tags, index);
    bool may_be_dirty = tags_state(&hub->tags, index) == HUB_DIRTY || frame->owner != HUB_NOBODY;
    if (timed && may_be_dirty && !hub_can_write(hub))
        return TAGS_NONE;
    unsigned taken = hub_take(hub, index, HUB_NOBODY, CACHE_INVALID, now);
    if (timed) {
        hub->counters.back_invalidations += taken;
        hub->counters.evictions++;
    }
    bool dirty = tags_state(&hub->tags, index) == HUB_DIRTY;
    if (dirty && timed)
        hub_write_back(hub, victim, now);
    else if (dirty)
        hub_tell_write(hub, victim, now);
    tags_remove(&hub->tags, index);
    hub_tell_evict(hub, victim, now);
    return index;
}

struct hub_line hub_line_state(const struct hub *hub, uint64_t physical)
{
    struct hub_line line = {.owner = HUB_NOBODY};
    uint32_t index = tags_find(&hub->tags, physical & ~(uint64_t)(hub->config.line - 1));
    if (index == TAGS_NONE)
        return line;
    const struct hub_frame *frame = &hub->frames[index];
    line.present = true;
    line.dirty = tags_state(&hub->tags, index) == HUB_DIRTY;
    line.busy = frame->busy;
    line.owner = frame->owner;
    for (int word = 0; word < HUB_WORDS; word++)
        line.holders[word] = frame->holders[word];
    return line;
}

void hub_tell_fill(const struct hub *hub, uint64_t line, uint64_t asked, uint64_t now, unsigned level)
{
    for (unsigned i = 0; i < hub->observer_count; i++) {
        const struct cache_observer *observer = &hub->observers[i];
        if (observer->fill)
            observer->fill(observer->context, NULL, line, asked, now, level);
    }
}

void hub_tell_write(const struct hub *hub, uint64_t line, uint64_t now)
{
    for (unsigned i = 0; i < hub->observer_count; i++) {
        const struct cache_observer *observer = &hub->observers[i];
        if (observer->write_back)
            observer->write_back(observer->context, NULL, line, now);
    }
}

void hub_tell_evict(const struct hub *hub, uint64_t line, uint64_t now)
{
    for (unsigned i = 0; i < hub->observer_count; i++) {
        const struct cache_observer *observer = &hub->observers[i];
        if (observer->evict)
            observer->evict(observer->context, NULL, line, now);
    }
}
