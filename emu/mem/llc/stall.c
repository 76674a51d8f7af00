/* Stalled requests of the last level: those that lack an MSHR, a way, room in the write buffer, or the end of
 * the write of their line to memory.
 *
 * A retry (llc_stalls_take()) does what looking up the tags again for each stalled entry would do, in the order in which they
 * have stalled, but passes over those that would fail again: entries that lack an MSHR while none is free;
 * entries of a set of which no frame has changed since one of them looked; entries that lack room in the
 * write buffer while it is full; entries whose line is still on its way to memory. Any of them looks again
 * once its line has come into the array. Looking up the tags in vain changes nothing.
 *
 * A range that lacks room in the write buffer would look at each retry; it is passed over, and counted
 * as a lookup, while the frame of its next line is as it was and the write buffer is full.
 *
 * An entry that stalls again keeps its turn. A way is available to all entries that wait for one of its set
 * or to none of them, so after one has looked in vain, the others need not look. An entry whose victim's
 * write finds no room is queued both for the set and for the write buffer. */
#include <assert.h>
#include <stdlib.h>

#include "emu/mem/llc/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

/* Inserts a member by its turn. Searches from the first, because an entry that changes its queue is an old
 * one. */
static void queue_insert(struct llc_queue *queue, struct llc_member *member)
{
    struct llc_member *after = queue->last;
    if (after && after->of->turn > member->of->turn) {
        after = NULL;
        for (struct llc_member *i = queue->first; i->of->turn < member->of->turn; i = i->next)
            after = i;
    }
    member->queue = queue;
    member->previous = after;
    member->next = after ? after->next : queue->first;
    *(after ? &after->next : &queue->first) = member;
    *(member->next ? &member->next->previous : &queue->last) = member;
}

static void queue_remove(struct llc_member *member)
{
    struct llc_queue *queue = member->queue;
    if (!queue)
        return;
    *(member->previous ? &member->previous->next : &queue->first) = member->next;
    *(member->next ? &member->next->previous : &queue->last) = member->previous;
    member->queue = NULL;
}

static struct llc_queue *line_queue(const struct llc *llc, uint64_t line)
{
    uint64_t hash = line * MIX_FACTOR;
    return &llc->stalls.lines[(hash >> 32) & (llc->stalls.slots - 1)];
}

static struct llc_set *set_of(const struct llc *llc, uint64_t line)
{
    return &llc->stalls.sets[tags_set(&llc->tags, llc_key(llc, line))];
}

void llc_stalls_init(struct llc *llc)
{
    struct llc_stalls *stalls = &llc->stalls;
    stalls->slots = 1;
    while (stalls->slots < llc->config.queue)
        stalls->slots *= 2;
    stalls->lines = alloc(stalls->slots, sizeof *stalls->lines);
    stalls->sets = alloc(llc->tags.set_mask + (size_t)1, sizeof *stalls->sets);
    stalls->changed = TAGS_NONE;
    stalls->entries = alloc(llc->config.queue, sizeof *stalls->entries);
    for (uint32_t i = 0; i < llc->config.queue; i++) {
        struct llc_stalled *stalled = &stalls->entries[i];
        stalled->entry = &llc->entries[i];
        stalled->lacking.of = stalled->writing.of = stalled->by_line.of = stalled;
    }
}

void llc_stalls_free(struct llc *llc)
{
    free(llc->stalls.entries);
    free(llc->stalls.lines);
    free(llc->stalls.sets);
}

static void mark_changed(struct llc *llc, struct llc_set *set)
{
    set->changed = set->waiting.first;
    if (!set->changed || set->listed)
        return;
    set->listed = true;
    set->next = llc->stalls.changed;
    llc->stalls.changed = (uint32_t)(set - llc->stalls.sets);
}

/* Queues an entry for its set, in which it has found no way. */
static void wait_for_way(struct llc *llc, struct llc_stalled *stalled)
{
    struct llc_set *set = set_of(llc, stalled->entry->line);
    queue_insert(&set->waiting, &stalled->lacking);
    set->changed = set->changed && set->waiting.first != &stalled->lacking;
}

void llc_stall(struct llc_entry *entry, enum llc_lack lack)
{
    struct llc *llc = entry->llc;
    struct llc_stalls *stalls = &llc->stalls;
    struct llc_stalled *stalled = &stalls->entries[entry - llc->entries];
    llc->counters.stalls += !entry->stalled;
    entry->stalled = true;
    stalled->turn = stalls->retried ? stalls->retried : ++stalls->last;
    stalled->lack = lack;
    stalls->count++;
    if (lack == LLC_NO_MSHR)
        queue_insert(&stalls->mshrs, &stalled->lacking);
    else if (lack == LLC_NO_WAY || lack == LLC_NO_VICTIM_ROOM)
        wait_for_way(llc, stalled);
    else if (lack == LLC_NO_RANGE_ROOM)
        queue_insert(&stalls->ready, &stalled->lacking);
    if (lack == LLC_NO_VICTIM_ROOM || lack == LLC_NO_STORE_ROOM)
        queue_insert(&stalls->writes, &stalled->writing);
    if (lack != LLC_NO_RANGE_ROOM)
        queue_insert(line_queue(llc, entry->line), &stalled->by_line);
}

void llc_stall_range(struct llc_entry *entry, uint32_t frame)
{
    struct llc *llc = entry->llc;
    struct llc_stalled *stalled = &llc->stalls.entries[entry - llc->entries];
    llc_stall(entry, LLC_NO_RANGE_ROOM);
    stalled->frame = frame;
    stalled->tag = llc->tags.entries[frame];
    stalled->owner = llc->frames[frame].owner;
}

/* Returns whether an entry is a range that would stall again at once. */
static bool range_waits(const struct llc *llc, const struct llc_stalled *stalled)
{
    const struct llc_frame *frame = &llc->frames[stalled->frame];
    return stalled->lack == LLC_NO_RANGE_ROOM && !llc_can_write(llc) && !frame->busy &&
           llc->tags.entries[stalled->frame] == stalled->tag && frame->owner == stalled->owner;
}

bool llc_line_awaited(const struct llc *llc, uint64_t line)
{
    const struct llc_stalls *stalls = &llc->stalls;
    const uint64_t turn = stalls->retried ? stalls->retried : UINT64_MAX;
    if (!stalls->count)
        return false;
    for (const struct llc_member *i = line_queue(llc, line)->first; i && i->of->turn < turn; i = i->next)
        if (i->of->entry->line == line && i->of->lack == LLC_LINE_LEAVING)
            return true;
    return false;
}

void llc_stalled_line(struct llc *llc, uint64_t line)
{
    struct llc_queue *queue = line_queue(llc, line);
    for (struct llc_member *member = queue->first; member; member = member->next) {
        struct llc_stalled *stalled = member->of;
        if (stalled->entry->line != line || stalled->lacking.queue == &llc->stalls.ready)
            continue;
        queue_remove(&stalled->lacking);
        queue_insert(&llc->stalls.ready, &stalled->lacking);
        mark_changed(llc, set_of(llc, line));
    }
}

void llc_stalled_set(struct llc *llc, uint32_t frame)
{
    mark_changed(llc, &llc->stalls.sets[frame / llc->config.ways]);
}

/* Returns whichever is earlier: `best` (NULL: none), or the first member of the queue after that turn. */
static struct llc_stalled *earlier(struct llc_stalled *best, const struct llc_queue *queue, uint64_t turn)
{
    struct llc_member *member = queue->first;
    while (member && member->of->turn <= turn)
        member = member->next;
    return member && (!best || member->of->turn < best->turn) ? member->of : best;
}

/* Like earlier() for the entries that are ready. Of those before the one that it returns, ranges have looked in
 * vain. */
static struct llc_stalled *earlier_ready(struct llc *llc, struct llc_stalled *best, uint64_t turn)
{
    for (const struct llc_member *i = llc->stalls.ready.first; i && (!best || i->of->turn < best->turn);
         i = i->next) {
        if (i->of->turn <= turn)
            continue;
        if (!range_waits(llc, i->of))
            return i->of;
        llc->counters.retries++;
    }
    return best;
}

/* Returns the next entry after that turn that may have got what it lacks, or NULL. */
static struct llc_stalled *next_after(struct llc *llc, uint64_t turn)
{
    struct llc_stalls *stalls = &llc->stalls;
    struct llc_stalled *best = NULL;
    if (llc->free_mshrs)
        best = earlier(best, &stalls->mshrs, turn);
    if (llc_can_write(llc))
        best = earlier(best, &stalls->writes, turn);
    for (uint32_t *link = &stalls->changed; *link != TAGS_NONE;) {
        struct llc_set *set = &stalls->sets[*link];
        if (set->changed && set->waiting.first) {
            best = earlier(best, &set->waiting, turn);
            link = &set->next;
            continue;
        }
        set->changed = set->listed = false;
        *link = set->next;
    }
    return earlier_ready(llc, best, turn);
}

struct llc_entry *llc_stalls_take(struct llc *llc, struct llc_retry *retry)
{
    struct llc_stalls *stalls = &llc->stalls;
    assert(!stalls->retried);
    struct llc_stalled *next = next_after(llc, retry->turn);
    if (!next)
        return NULL;
    struct llc_set *set = set_of(llc, next->entry->line);
    retry->stalled = next;
    retry->set = next->lacking.queue == &set->waiting ? set : NULL;
    retry->turn = next->turn;
    queue_remove(&next->lacking);
    queue_remove(&next->writing);
    queue_remove(&next->by_line);
    stalls->count--;
    stalls->retried = next->turn;
    llc->counters.retries++;
    return next->entry;
}

void llc_stalls_looked(struct llc *llc, const struct llc_retry *retry)
{
    struct llc_set *set = retry->set;
    llc->stalls.retried = 0;
    if (set && retry->stalled->lacking.queue != &set->waiting)
        mark_changed(llc, set); /* the others have not looked since */
}
