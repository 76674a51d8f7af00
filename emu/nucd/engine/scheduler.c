#include "emu/nucd/engine/scheduler.h"

#include <assert.h>
#include <string.h>

enum {
    LONGEST = (NUCD_PACKET_WORDS + NUCD_LINE_WORDS - 1) / NUCD_LINE_WORDS,
    NO_ACCELERATOR = NUCD_ACCELERATORS
};

void nucd_scheduler_init(struct nucd_scheduler *scheduler, const struct nucd_scheduler_config *config)
{
    *scheduler = (struct nucd_scheduler){.config = *config};
    for (unsigned accelerator = 0; accelerator < config->accelerators; accelerator++)
        scheduler->accelerator[accelerator].credits = config->queue_lines;
}

/* Returns the counters of an accelerator. */
static struct nucd_accelerator *counters_of(const struct nucd_scheduler *scheduler, unsigned number)
{
    return scheduler->at[number] ? scheduler->at[number]
                                 : (struct nucd_accelerator *)(uintptr_t)&scheduler->accelerator[number];
}

void nucd_scheduler_share(struct nucd_scheduler *scheduler, unsigned number, struct nucd_scheduler *other,
                          unsigned theirs, struct nucd_turns *turns)
{
    scheduler->at[number] = &other->accelerator[theirs];
    scheduler->turns = other->turns = turns;
}

/* Takes the scheduler out of the queue, if it is there. */
static void leave_queue(struct nucd_scheduler *scheduler)
{
    if (!scheduler->turns)
        return;
    struct nucd_scheduler **at = &scheduler->turns->first;
    while (*at && *at != scheduler)
        at = &(*at)->behind;
    if (*at)
        *at = scheduler->behind;
}

static void join_queue(struct nucd_scheduler *scheduler)
{
    if (!scheduler->turns)
        return;
    struct nucd_scheduler **at = &scheduler->turns->first;
    while (*at && *at != scheduler)
        at = &(*at)->behind;
    if (*at)
        return;
    *at = scheduler;
    scheduler->behind = NULL;
}

static bool has(const struct nucd_scheduler *scheduler, const struct nucd_accelerator *accelerator)
{
    for (uint32_t i = 0; i < scheduler->config.accelerators; i++)
        if (counters_of(scheduler, i) == accelerator)
            return true;
    return false;
}

/* Returns the stamp of the oldest ready packet. */
static uint64_t oldest(const struct nucd_scheduler *scheduler)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < scheduler->pending_count; i++)
        if (scheduler->pending[i].ready && scheduler->pending[i].stamp < least)
            least = scheduler->pending[i].stamp;
    return least;
}

/* Returns whether another scheduler that waits for room at the accelerator comes before the packet. */
static bool is_promised(const struct nucd_scheduler *scheduler, const struct nucd_pending *packet,
                        const struct nucd_accelerator *accelerator)
{
    const struct nucd_turns *turns = scheduler->turns;
    for (const struct nucd_scheduler *other = turns ? turns->first : NULL; other; other = other->behind) {
        if (other == scheduler && !turns->first_come)
            return false;
        if (other != scheduler && has(other, accelerator) &&
            (!turns->first_come || oldest(other) < packet->stamp))
            return true;
    }
    return false;
}

bool nucd_scheduler_offer(struct nucd_scheduler *scheduler, uint16_t tag, uint8_t capabilities,
                          unsigned words)
{
    unsigned lines = nucd_words_lines(words);
    assert(words > 0 && lines <= LONGEST);
    if (scheduler->buffer_used + lines > scheduler->config.buffer_lines) {
        scheduler->counters.full++;
        return false;
    }
    scheduler->buffer_used += lines;
    scheduler->pending[scheduler->pending_count++] =
        (struct nucd_pending){.tag = tag, .capabilities = capabilities, .words = words, .lines = lines};
    return true;
}

/* Returns the index of the packet with the tag, or pending_count. */
static unsigned find(const struct nucd_scheduler *scheduler, uint16_t tag)
{
    unsigned at = 0;
    while (at < scheduler->pending_count && scheduler->pending[at].tag != tag)
        at++;
    return at;
}

static void take_out(struct nucd_scheduler *scheduler, unsigned at)
{
    scheduler->buffer_used -= scheduler->pending[at].lines;
    scheduler->pending_count--;
    memmove(&scheduler->pending[at], &scheduler->pending[at + 1],
            (scheduler->pending_count - at) * sizeof scheduler->pending[at]);
}

void nucd_scheduler_release(struct nucd_scheduler *scheduler, uint16_t tag)
{
    unsigned at = find(scheduler, tag);
    assert(at < scheduler->pending_count);
    scheduler->pending[at].ready = true;
    if (scheduler->turns)
        scheduler->pending[at].stamp = scheduler->turns->next_stamp++;
}

bool nucd_scheduler_squash(struct nucd_scheduler *scheduler, uint16_t tag)
{
    unsigned at = find(scheduler, tag);
    if (at == scheduler->pending_count)
        return false;
    take_out(scheduler, at);
    leave_queue(scheduler);
    return true;
}

/* Returns whether another exclusive scheduler has tasks at the accelerator. */
static bool is_taken(const struct nucd_scheduler *scheduler, const struct nucd_accelerator *accelerator)
{
    return scheduler->config.exclusive && accelerator->owned > 0 && accelerator->owner != scheduler;
}

/* Returns the best accelerator for a packet that would follow those in `transfer`, which count as sent, or
 * NO_ACCELERATOR. Sets *lacks if an accelerator lacks only room. */
static uint32_t choose(const struct nucd_scheduler *scheduler, const struct nucd_pending *packet,
                       const struct nucd_transfer *transfer, bool *lacks)
{
    uint32_t best = NO_ACCELERATOR, least = 0;
    for (uint32_t number = 0; number < scheduler->config.accelerators; number++) {
        bool same = transfer->count > 0 && transfer->accelerator == number;
        uint32_t lines = same ? nucd_words_lines(transfer->words + packet->words) : packet->lines;
        const struct nucd_accelerator *accelerator = counters_of(scheduler, number);
        uint32_t load = accelerator->tasks + (same ? transfer->count : 0);
        if ((scheduler->config.capabilities[number] & packet->capabilities) != packet->capabilities ||
            (scheduler->allows && !scheduler->allows(scheduler->allows_context, packet->tag, number)))
            continue;
        if (accelerator->credits < lines || is_taken(scheduler, accelerator) ||
            is_promised(scheduler, packet, accelerator)) {
            *lacks = true;
            continue;
        }
        if (best == NO_ACCELERATOR || load < least) {
            best = number;
            least = load;
        }
    }
    return best;
}

static void join(struct nucd_scheduler *scheduler, struct nucd_transfer *transfer, unsigned at)
{
    transfer->words += scheduler->pending[at].words;
    transfer->lines = nucd_words_lines(transfer->words);
    transfer->tags[transfer->count++] = scheduler->pending[at].tag;
    take_out(scheduler, at);
}

/* Coalesces: adds ready packets behind the first to the transfer, oldest first, until one would go to another
 * accelerator. */
static void gather(struct nucd_scheduler *scheduler, struct nucd_transfer *transfer, unsigned at)
{
    bool lacks;
    while (at < scheduler->pending_count && transfer->count < NUCD_TRANSFER_TASKS) {
        const struct nucd_pending *packet = &scheduler->pending[at];
        if (!packet->ready) {
            at++;
            continue;
        }
        if (nucd_words_lines(transfer->words + packet->words) > scheduler->config.transfer_lines ||
            choose(scheduler, packet, transfer, &lacks) != transfer->accelerator)
            return;
        join(scheduler, transfer, at);
        scheduler->counters.coalesced++;
    }
}

bool nucd_scheduler_next(struct nucd_scheduler *scheduler, struct nucd_transfer *transfer)
{
    *transfer = (struct nucd_transfer){.accelerator = NO_ACCELERATOR};
    unsigned at = 0;
    bool lacks = false;
    for (; at < scheduler->pending_count; at++) {
        if (scheduler->pending[at].ready)
            transfer->accelerator = choose(scheduler, &scheduler->pending[at], transfer, &lacks);
        if (transfer->accelerator != NO_ACCELERATOR)
            break;
    }
    scheduler->lacks = transfer->accelerator == NO_ACCELERATOR && lacks;
    if (transfer->accelerator == NO_ACCELERATOR) {
        if (lacks)
            join_queue(scheduler);
        else
            leave_queue(scheduler);
        return false;
    }
    leave_queue(scheduler);
    join(scheduler, transfer, at);
    if (scheduler->config.coalesce)
        gather(scheduler, transfer, at);
    struct nucd_accelerator *accelerator = counters_of(scheduler, transfer->accelerator);
    accelerator->credits -= transfer->lines;
    accelerator->tasks += transfer->count;
    if (scheduler->config.exclusive) {
        accelerator->owner = scheduler;
        accelerator->owned += transfer->count;
    }
    scheduler->counters.tasks += transfer->count;
    scheduler->counters.transfers++;
    scheduler->counters.words += transfer->words;
    scheduler->counters.lines += transfer->lines;
    return true;
}

void nucd_scheduler_credit(struct nucd_scheduler *scheduler, unsigned accelerator, unsigned lines)
{
    assert(accelerator < scheduler->config.accelerators);
    uint32_t taken = scheduler->config.queue_lines - counters_of(scheduler, accelerator)->credits;
    counters_of(scheduler, accelerator)->credits += lines < taken ? lines : taken;
}

void nucd_scheduler_complete(struct nucd_scheduler *scheduler, unsigned accelerator)
{
    struct nucd_accelerator *counters = counters_of(scheduler, accelerator);
    assert(accelerator < scheduler->config.accelerators && counters->tasks > 0);
    counters->tasks--;
    if (scheduler->config.exclusive) {
        assert(counters->owner == scheduler && counters->owned > 0);
        counters->owned--;
    }
}

bool nucd_scheduler_owns(const struct nucd_scheduler *scheduler, unsigned accelerator)
{
    const struct nucd_accelerator *counters = counters_of(scheduler, accelerator);
    return counters->owned > 0 && counters->owner == scheduler;
}

void nucd_scheduler_freeze(struct nucd_scheduler *scheduler, unsigned accelerator, bool frozen)
{
    counters_of(scheduler, accelerator)->frozen = frozen;
}

bool nucd_scheduler_stuck(const struct nucd_scheduler *scheduler, uint8_t capabilities)
{
    bool stuck = false;
    for (uint32_t i = 0; i < scheduler->config.accelerators; i++) {
        if ((scheduler->config.capabilities[i] & capabilities) != capabilities)
            continue;
        if (!counters_of(scheduler, i)->frozen)
            return false;
        stuck = true;
    }
    return stuck;
}
