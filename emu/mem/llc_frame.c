/* The array of the coherent level and its directory: who has a line, and taking it from them. */
#include <assert.h>

#include "emu/mem/llc_state.h"

int llc_client_of(const struct llc *llc, const struct mem_link *link)
{
    for (unsigned i = 0; i < llc->client_count; i++)
        if (llc->clients[i].link == link)
            return (int)i;
    return LLC_NOBODY;
}

bool llc_holds(const struct llc_frame *frame, int client)
{
    return client >= 0 && (frame->holders[client / 64] >> (client % 64) & 1);
}

bool llc_alone(const struct llc_frame *frame, int client)
{
    for (int word = 0; word < LLC_WORDS; word++) {
        uint64_t own = client >= 0 && client / 64 == word ? UINT64_C(1) << (client % 64) : 0;
        if (frame->holders[word] & ~own)
            return false;
    }
    return true;
}

/* Asks one holder; its newest version, if it has one, comes here. */
static void probe(struct llc *llc, uint32_t index, int client, enum cache_state remains, uint64_t now)
{
    const struct llc_client *holder = &llc->clients[client];
    struct llc_frame *frame = &llc->frames[index];
    llc->counters.probes++;
    if (holder->probe(holder->context, tags_key(&llc->tags, index), remains, now)) {
        llc->counters.dirty_probes++;
        llc->transfers++;
        tags_set_state(&llc->tags, index, LLC_DIRTY);
    }
    if (remains == CACHE_INVALID)
        frame->holders[client / 64] &= ~(UINT64_C(1) << (client % 64));
    if (frame->owner == client)
        frame->owner = LLC_NOBODY;
}

unsigned llc_take(struct llc *llc, uint32_t index, int client, enum cache_state remains, uint64_t now)
{
    struct llc_frame *frame = &llc->frames[index];
    unsigned probes = 0;
    if (remains != CACHE_INVALID) {
        if (frame->owner == LLC_NOBODY || frame->owner == client)
            return 0;
        probe(llc, index, frame->owner, remains, now);
        return 1;
    }
    for (int word = 0; word < LLC_WORDS; word++)
        for (uint64_t left = frame->holders[word]; left; left &= left - 1) {
            int holder = 64 * word + __builtin_ctzll(left);
            if (holder == client)
                continue;
            probe(llc, index, holder, CACHE_INVALID, now);
            probes++;
        }
    return probes;
}

void llc_grant(struct llc *llc, uint32_t index, int client, bool exclusive)
{
    struct llc_frame *frame = &llc->frames[index];
    if (client < 0)
        return;
    frame->holders[client / 64] |= UINT64_C(1) << (client % 64);
    frame->owner = (int16_t)(exclusive ? client : LLC_NOBODY);
}

void llc_forget(struct llc *llc, uint32_t index, uint64_t now)
{
    uint64_t line = tags_key(&llc->tags, index);
    (void)llc_take(llc, index, LLC_NOBODY, CACHE_INVALID, now);
    tags_remove(&llc->tags, index);
    llc_tell_evict(llc, line, now);
}

/* The ways of the line's set that belong to transactions. */
static uint64_t busy_ways(const struct llc *llc, uint64_t line)
{
    uint32_t first = tags_first(&llc->tags, line);
    uint64_t busy = 0;
    for (uint32_t way = 0; way < llc->config.ways; way++)
        busy |= (uint64_t)llc->frames[first + way].busy << way;
    return busy;
}

uint32_t llc_make_room(struct llc *llc, uint64_t line, bool timed, uint64_t now)
{
    uint32_t index = tags_victim(&llc->tags, line, busy_ways(llc, line));
    if (index == TAGS_NONE || tags_state(&llc->tags, index) == 0)
        return index;
    struct llc_frame *frame = &llc->frames[index];
    uint64_t victim = tags_key(&llc->tags, index);
    bool may_be_dirty = tags_state(&llc->tags, index) == LLC_DIRTY || frame->owner != LLC_NOBODY;
    if (timed && may_be_dirty && !llc_can_write(llc))
        return TAGS_NONE;
    unsigned taken = llc_take(llc, index, LLC_NOBODY, CACHE_INVALID, now);
    if (timed) {
        llc->counters.back_invalidations += taken;
        llc->counters.evictions++;
    }
    bool dirty = tags_state(&llc->tags, index) == LLC_DIRTY;
    if (dirty && timed)
        llc_write_back(llc, victim, now);
    else if (dirty)
        llc_tell_write(llc, victim, now);
    tags_remove(&llc->tags, index);
    llc_tell_evict(llc, victim, now);
    return index;
}

struct llc_line llc_line_state(const struct llc *llc, uint64_t physical)
{
    struct llc_line line = {.owner = LLC_NOBODY};
    uint32_t index = tags_find(&llc->tags, physical & ~(uint64_t)(llc->config.line - 1));
    if (index == TAGS_NONE)
        return line;
    const struct llc_frame *frame = &llc->frames[index];
    line.present = true;
    line.dirty = tags_state(&llc->tags, index) == LLC_DIRTY;
    line.busy = frame->busy;
    line.owner = frame->owner;
    for (int word = 0; word < LLC_WORDS; word++)
        line.holders[word] = frame->holders[word];
    return line;
}

void llc_tell_fill(const struct llc *llc, uint64_t line, uint64_t asked, uint64_t now, unsigned level)
{
    OBSERVER_TELL(&llc->observers, struct cache_observer, fill, NULL, line, asked, now, level);
}

void llc_tell_write(const struct llc *llc, uint64_t line, uint64_t now)
{
    OBSERVER_TELL(&llc->observers, struct cache_observer, write_back, NULL, line, now);
}

void llc_tell_evict(const struct llc *llc, uint64_t line, uint64_t now)
{
    OBSERVER_TELL(&llc->observers, struct cache_observer, evict, NULL, line, now);
}
