/* The array of the last level and its directory: records holders and probes them. */
#include "emu/mem/llc/state.h"

bool llc_holds(const struct llc *llc, uint32_t index, int client)
{
    return client >= 0 && (llc_holders(llc, index)[client / 64] >> (client % 64) & 1);
}

static bool others_hold(const struct llc *llc, uint32_t index, int client)
{
    const uint64_t *holders = llc_holders(llc, index);
    for (unsigned word = 0; word < llc->words; word++) {
        bool own_word = client >= 0 && (unsigned)client / 64 == word;
        if (holders[word] & ~(own_word ? UINT64_C(1) << (client % 64) : 0))
            return true;
    }
    return false;
}

enum protocol_standing llc_standing(const struct llc *llc, uint32_t index, int client)
{
    const struct llc_frame *frame = &llc->frames[index];
    if (llc->client_count == 0)
        return PROTOCOL_NOBODY;
    if (frame->owner != LLC_NOBODY)
        return frame->owner == client ? PROTOCOL_OWNED_SELF : PROTOCOL_OWNED_OTHER;
    if (llc_holds(llc, index, client))
        return others_hold(llc, index, client) ? PROTOCOL_SHARED_BOTH : PROTOCOL_SHARED_SELF;
    return others_hold(llc, index, client) ? PROTOCOL_SHARED_OTHERS : PROTOCOL_NOBODY;
}

/* Probes one holder. A dirty copy moves to this cache. */
static void probe(struct llc *llc, uint32_t index, int client, enum protocol_event event, uint64_t now)
{
    const struct llc_client *holder = &llc->clients[client];
    struct llc_frame *frame = &llc->frames[index];
    llc->counters.probes++;
    bool dirty = holder->probe(holder->context, llc_line_at(llc, index), event, now);
    OBSERVER_TELL(&llc->observers, struct cache_observer, probe, NULL, llc_line_at(llc, index), dirty, now);
    if (dirty) {
        llc->counters.dirty_probes++;
        (void)llc_transfer(llc, llc_line_at(llc, index), now);
        tags_set_state(&llc->tags, index, LLC_DIRTY);
    }
    if (event == PROTOCOL_PROBE_TAKE)
        llc_holders(llc, index)[client / 64] &= ~(UINT64_C(1) << (client % 64));
    if (frame->owner == client && event != PROTOCOL_PROBE_READ)
        frame->owner = LLC_NOBODY;
}

unsigned llc_probe(struct llc *llc, uint32_t index, int client, enum protocol_request request, uint64_t now)
{
    struct llc_frame *frame = &llc->frames[index];
    struct protocol_turn turn = protocol_turn(&llc->rules, request, llc_standing(llc, index, client));
    unsigned probes = 0;
    if (turn.probe == PROTOCOL_NO_PROBE)
        return 0;
    if (turn.probe != PROTOCOL_PROBE_TAKE) {
        probe(llc, index, frame->owner, turn.probe, now);
        return 1;
    }
    for (unsigned word = 0; word < llc->words; word++)
        for (uint64_t left = llc_holders(llc, index)[word]; left; left &= left - 1) {
            int holder = (int)(64 * word) + __builtin_ctzll(left);
            if (holder == client)
                continue;
            probe(llc, index, holder, PROTOCOL_PROBE_TAKE, now);
            probes++;
        }
    return probes;
}

/* Records the requester's new standing. Probes have changed the records of other clients. */
static void record(struct llc *llc, uint32_t index, int client, enum protocol_standing next)
{
    uint64_t own = client >= 0 ? UINT64_C(1) << (client % 64) : 0;
    uint64_t *word = llc_holders(llc, index) + (client >= 0 ? client / 64 : 0);
    if (next == PROTOCOL_OWNED_OTHER)
        return;
    if (next == PROTOCOL_NOBODY || next == PROTOCOL_SHARED_OTHERS)
        *word &= ~own;
    else
        *word |= own;
    llc->frames[index].owner = next == PROTOCOL_OWNED_SELF ? client : LLC_NOBODY;
}

enum protocol_reply llc_settle(struct llc *llc, uint32_t index, int client, enum protocol_request request,
                               uint64_t now)
{
    struct protocol_turn turn = protocol_turn(&llc->rules, request, llc_standing(llc, index, client));
    if (turn.probe != PROTOCOL_NO_PROBE && turn.probe != PROTOCOL_PROBE_READ) {
        (void)llc_probe(llc, index, client, request, now);
        turn = protocol_turn(&llc->rules, request, llc_standing(llc, index, client));
    }
    record(llc, index, client, turn.next);
    return turn.reply;
}

void llc_forget(struct llc *llc, uint32_t index, uint64_t now)
{
    uint64_t line = llc_line_at(llc, index);
    (void)llc_settle(llc, index, LLC_NOBODY, PROTOCOL_RECALL, now);
    llc_remove(llc, index);
    llc_tell_evict(llc, line, now);
}

/* Returns the ways of the key's set that belong to transactions. */
static uint64_t busy_ways(const struct llc *llc, uint64_t key)
{
    uint32_t first = tags_first(&llc->tags, key);
    uint64_t busy = 0;
    for (uint32_t way = 0; way < llc->config.ways; way++)
        busy |= (uint64_t)llc->frames[first + way].busy << way;
    return busy;
}

uint32_t llc_make_room(struct llc *llc, uint64_t line, bool timed, uint64_t now, enum llc_lack *lack)
{
    uint64_t key = llc_key(llc, line);
    uint32_t index = tags_victim(&llc->tags, key, busy_ways(llc, key));
    if (timed)
        *lack = index == TAGS_NONE ? LLC_NO_WAY : LLC_NO_VICTIM_ROOM;
    if (index == TAGS_NONE || tags_state(&llc->tags, index) == 0)
        return index;
    struct llc_frame *frame = &llc->frames[index];
    uint64_t victim = llc_line_at(llc, index);
    bool may_be_dirty = tags_state(&llc->tags, index) == LLC_DIRTY || frame->owner != LLC_NOBODY;
    if (timed && may_be_dirty && !llc_can_write(llc))
        return TAGS_NONE;
    unsigned taken = llc_probe(llc, index, LLC_NOBODY, PROTOCOL_RECALL, now);
    if (timed) {
        llc->counters.back_invalidations += taken;
        llc->counters.evictions++;
    }
    bool dirty = tags_state(&llc->tags, index) == LLC_DIRTY;
    if (dirty && timed)
        llc_write_back(llc, index, now);
    else if (dirty)
        llc_tell_write(llc, victim, now);
    llc_remove(llc, index);
    llc_tell_evict(llc, victim, now);
    return index;
}

struct llc_line llc_line_state(const struct llc *llc, uint64_t physical)
{
    struct llc_line line = {.owner = LLC_NOBODY};
    uint32_t index = llc_find(llc, physical & ~(uint64_t)(llc->config.line - 1));
    if (index == TAGS_NONE)
        return line;
    const struct llc_frame *frame = &llc->frames[index];
    line.present = true;
    line.dirty = tags_state(&llc->tags, index) == LLC_DIRTY;
    line.busy = frame->busy;
    line.owner = frame->owner;
    line.holders = llc_holders(llc, index);
    return line;
}
