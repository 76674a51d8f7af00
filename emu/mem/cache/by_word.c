/* States by word: a cache under DeNovo (emu/mem/denovo.h). Its unit has what is in flight; this file has the words' states and
 * the accesses that wait.
 *
 * A load asks for the words that it lacks, and keeps what else of the line comes along. A store registers its words, and is done
 * at once. A store of part of a word registers the word with its value, and waits for it: others may have stored the rest, which
 * is no race. A line gets its place when words come or are stored; a victim's registered words are written back. Atomics are
 * done at the last level.
 *
 * Sent requests leave at the end of the lookup. An access that the unit refuses is repeated when it has room. After a
 * self-invalidation, words that are still on their way serve those who wait for them, and are not kept: in a program without
 * data races, nobody stores to a word for which a load waits. */
#include "emu/mem/cache/by_word.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

static uint64_t readable(const struct cache_by_word *by_word, uint32_t index)
{
    return by_word->valid[index] | by_word->registered[index];
}

static void set_state(struct cache *cache, uint32_t index)
{
    const struct cache_by_word *by_word = cache->by_word;
    unsigned state = CACHE_PARTIAL;
    if (by_word->registered[index] == by_word->all)
        state = CACHE_MODIFIED;
    else if (readable(by_word, index) == by_word->all)
        state = CACHE_EXCLUSIVE;
    tags_set_state(&cache->front.tags, index, state);
}

static void remove_line(struct cache *cache, uint32_t index, uint64_t now)
{
    const uint64_t line = tags_key(&cache->front.tags, index);
    tags_remove(&cache->front.tags, index);
    cache->by_word->valid[index] = cache->by_word->registered[index] = 0;
    cache_tell_evict(cache, line, now);
}

/* Takes a line out of the array. Returns false if it has words that must stay, or the write-back buffer is full. */
static bool evict(struct cache *cache, uint32_t index, uint64_t now)
{
    struct cache_by_word *by_word = cache->by_word;
    const uint64_t line = tags_key(&cache->front.tags, index), registered = by_word->registered[index];
    if (denovo_pending(by_word->unit, line)) {
        denovo_hasten(by_word->unit, line);
        return false;
    }
    if (registered) {
        by_word->leaving = true;
        const bool gone = denovo_write_back(by_word->unit, line, 0, registered, now) != DENOVO_REFUSED;
        by_word->leaving = false;
        if (!gone)
            return false;
        cache->counters.write_backs++;
        by_word->words_written_back += (unsigned)__builtin_popcountll(registered);
        cache_tell_write_back(cache, line, now);
    }
    remove_line(cache, index, now);
    return true;
}

/* Returns the index of a line, for which it makes room if it is not in the array; TAGS_NONE: all lines of the set must stay. */
static uint32_t place(struct cache *cache, uint64_t line, uint64_t now, unsigned level)
{
    struct tags *tags = &cache->front.tags;
    uint32_t index = tags_find(tags, line);
    uint64_t locked = 0;
    if (index != TAGS_NONE)
        return index;
    while ((index = tags_victim(tags, line, locked)) != TAGS_NONE) {
        const bool used = tags_state(tags, index);
        if (!used || evict(cache, index, now)) {
            cache->counters.evictions += used;
            tags_fill(tags, index, line, CACHE_PARTIAL);
            cache->counters.fills++;
            cache_tell_fill(cache, line, now, now, level);
            return index;
        }
        locked |= UINT64_C(1) << (index - tags_first(tags, line));
    }
    return TAGS_NONE;
}

/* Versions of words, for the checker of coherence (word_versions.h). */

static uint32_t *version_of(const struct cache *cache, uint32_t index, unsigned word)
{
    return &cache->by_word->version[index * (cache->config.line / sizeof(uint32_t)) + word];
}

static struct word_access access_of(const struct cache *cache, uint64_t line, unsigned word,
                                    const struct mshr_target *target, uint64_t time)
{
    return (struct word_access){.agent = cache->by_word->agent,
                                .address = line + word * sizeof(uint32_t),
                                .pc = target->actor.pc,
                                .time = time,
                                .issued = target->issued};
}

/* Words of a line, which the cache has or `value` brings, are loaded. */
static void note_loads(const struct cache *cache, uint64_t line, uint64_t words, const uint32_t *value,
                       const struct mshr_target *target, uint64_t time)
{
    const uint32_t index = tags_find(&cache->front.tags, line);
    for (; cache->by_word->versions && words && !target->actor.speculative; words &= words - 1) {
        const unsigned word = (unsigned)__builtin_ctzll(words);
        const struct word_access access = access_of(cache, line, word, target, time);
        word_versions_load(cache->by_word->versions, &access,
                           value ? value[word] : *version_of(cache, index, word));
    }
}

/* Words of a line, which the cache has registered, are stored; `part`: merged with what they were. */
static void note_stores(const struct cache *cache, uint64_t line, uint64_t words, bool part,
                        const struct mshr_target *target, uint64_t time)
{
    const uint32_t index = tags_find(&cache->front.tags, line);
    for (; cache->by_word->versions && words; words &= words - 1) {
        const unsigned word = (unsigned)__builtin_ctzll(words);
        const struct word_access access = access_of(cache, line, word, target, time);
        if (part)
            word_versions_load(cache->by_word->versions, &access, *version_of(cache, index, word));
        *version_of(cache, index, word) = word_versions_store(cache->by_word->versions, &access);
    }
}

void cache_check_words(struct cache *cache, struct word_versions *versions, unsigned agent)
{
    struct cache_by_word *by_word = cache->by_word;
    by_word->versions = versions;
    by_word->agent = agent;
    by_word->version = alloc((size_t)tags_size(&cache->front.tags) * (cache->config.line / sizeof(uint32_t)),
                             sizeof *by_word->version);
    cache->front.inline_span = 0;
}

struct word_versions *cache_versions(const struct cache *cache, unsigned *agent)
{
    *agent = cache->by_word ? cache->by_word->agent : 0;
    return cache->by_word ? cache->by_word->versions : NULL;
}

void cache_released(struct cache *cache)
{
    if (cache->by_word && cache->by_word->versions)
        word_versions_release(cache->by_word->versions, cache->by_word->agent);
}

/* Accesses. */

static enum cache_outcome full(struct cache *cache, struct cache_waiters *list,
                               const struct cache_word_access *access)
{
    cache->counters.full++;
    if (access->target.waiter)
        cache_waiters_add(list, access->target.waiter);
    return CACHE_FULL;
}

static enum cache_outcome hit(struct cache *cache, const struct cache_word_access *access)
{
    cache_tell_access(cache, access->line, access->target.use == CACHE_STORE, &access->target.actor,
                      access->target.time);
    return CACHE_HIT;
}

/* Makes the access wait for words of its line. There is room for it (has_room()). */
static enum cache_outcome await(struct cache *cache, struct mshr *mshr,
                                const struct cache_word_access *access, uint64_t words)
{
    struct mshr_target target = access->target;
    *(mshr ? &cache->counters.merged : &cache->counters.misses) += 1;
    if (!mshr) {
        mshr = mshr_take(&cache->mshrs, access->line, target.time);
        mshr->state = MSHR_SENT;
        mshr->request.event.place = 0;
    }
    target.words = words;
    target.issued = cache->by_word->versions ? word_versions_clock(cache->by_word->versions) : 0;
    (void)mshr_add(&cache->mshrs, mshr, &target);
    return CACHE_MISS;
}

/* Returns whether an access can wait for the line; if not, *list gets the list that it joins. */
static bool has_room(struct cache *cache, struct mshr *mshr, struct cache_waiters **list)
{
    *list = mshr ? &mshr->blocked : &cache->for_miss;
    return mshr ? mshr->targets < cache->mshrs.targets : cache->mshrs.used < cache->mshrs.limit;
}

/* Returns the words for whose values a store of part of them waits. */
static uint64_t awaited(const struct mshr *mshr)
{
    uint64_t words = 0;
    for (uint32_t i = 0; mshr && i < mshr->targets; i++)
        words |= mshr->target[i].use == CACHE_STORE ? mshr->target[i].words : 0;
    return words;
}

static enum cache_outcome load(struct cache *cache, const struct cache_word_access *access)
{
    struct cache_by_word *by_word = cache->by_word;
    const uint32_t index = tags_lookup(&cache->front.tags, access->line);
    const uint64_t here = index == TAGS_NONE ? 0 : readable(by_word, index), need = access->words & ~here;
    struct mshr *mshr = mshr_find(&cache->mshrs, access->line);
    struct cache_waiters *list;
    if (!need) {
        note_loads(cache, access->line, access->words, NULL, &access->target, access->target.time);
        return hit(cache, access);
    }
    if (!has_room(cache, mshr, &list))
        return full(cache, list, access);
    if ((need & ~awaited(mshr)) && denovo_read(by_word->unit, access->line, 0, need, by_word->all & ~here,
                                               access->target.time + cache->hit_time) == DENOVO_REFUSED)
        return full(cache, &cache->for_miss, access);
    note_loads(cache, access->line, access->words & here, NULL, &access->target, access->target.time);
    return await(cache, mshr, access, need);
}

static void count_registration(struct cache_by_word *by_word, uint64_t words)
{
    by_word->registrations++;
    by_word->words_registered += (unsigned)__builtin_popcountll(words);
}

/* Stores part of words that are not registered. */
static enum cache_outcome store_part(struct cache *cache, const struct cache_word_access *access,
                                     uint64_t missing)
{
    struct cache_by_word *by_word = cache->by_word;
    struct mshr *mshr = mshr_find(&cache->mshrs, access->line);
    struct cache_waiters *list;
    if (!has_room(cache, mshr, &list))
        return full(cache, list, access);
    if (missing & ~awaited(mshr)) {
        if (denovo_register_data(by_word->unit, access->line, 0, missing,
                                 access->target.time + cache->hit_time) == DENOVO_REFUSED)
            return full(cache, &cache->for_miss, access);
        count_registration(by_word, missing);
    }
    return await(cache, mshr, access, missing);
}

static enum cache_outcome store(struct cache *cache, const struct cache_word_access *access)
{
    struct cache_by_word *by_word = cache->by_word;
    const uint64_t sent = access->target.time + cache->hit_time;
    const bool here = tags_lookup(&cache->front.tags, access->line) != TAGS_NONE;
    const uint32_t index = place(cache, access->line, sent, MEM_LEVEL_L1);
    if (index == TAGS_NONE)
        return full(cache, &cache->for_miss, access);
    const uint64_t missing = access->words & ~by_word->registered[index];
    if (!missing) {
        note_stores(cache, access->line, access->words, access->part, &access->target, access->target.time);
        return hit(cache, access);
    }
    if (access->part)
        return store_part(cache, access, missing);
    if (denovo_register(by_word->unit, access->line, 0, missing, sent) == DENOVO_REFUSED)
        return full(cache, &cache->for_miss, access);
    count_registration(by_word, missing);
    note_stores(cache, access->line, access->words, access->part, &access->target, access->target.time);
    *(here ? &cache->counters.upgrades : &cache->counters.misses) += 1;
    return hit(cache, access);
}

/* Sends an atomic. */
static enum cache_outcome operate(struct cache *cache, const struct cache_word_access *access)
{
    struct cache_by_word *by_word = cache->by_word;
    const struct word_access noted = access_of(cache, access->line, 0, &access->target, access->target.time);
    uint32_t tag = 0;
    while (tag < cache->config.mshrs && by_word->operated[tag])
        tag++;
    if (tag == cache->config.mshrs || denovo_atomic(by_word->unit, access->line, 0, access->words, tag,
                                                    access->target.time + cache->hit_time) == DENOVO_REFUSED)
        return full(cache, &cache->for_miss, access);
    by_word->operated[tag] = access->target.waiter;
    if (by_word->versions)
        word_versions_send(by_word->versions, by_word->number, tag, &noted);
    by_word->operations++;
    cache->counters.misses++;
    return CACHE_MISS;
}

enum cache_outcome cache_word_access(struct cache *cache, const struct cache_word_access *asked)
{
    struct cache_word_access in_line = *asked;
    const struct cache_word_access *access = &in_line;
    const enum cache_use use = access->target.use;
    enum cache_outcome outcome;
    in_line.words &= cache->by_word->all;
    if (use == CACHE_PREFETCH)
        return CACHE_FULL;
    if (access->target.actor.atomic)
        outcome = operate(cache, access);
    else if (use == CACHE_STORE)
        outcome = store(cache, access);
    else
        outcome = load(cache, access);
    cache->front.uses[use] += outcome != CACHE_FULL;
    return outcome;
}

/* The unit's holder. */

static uint64_t words(void *holder, uint64_t line, unsigned map, enum denovo_state state)
{
    const struct cache *cache = holder;
    const struct cache_by_word *by_word = cache->by_word;
    const uint32_t index = tags_find(&cache->front.tags, line);
    (void)map;
    if (index == TAGS_NONE)
        return state == DENOVO_INVALID ? by_word->all : 0;
    if (state == DENOVO_INVALID)
        return by_word->all & ~readable(by_word, index);
    return state == DENOVO_VALID ? by_word->valid[index] : by_word->registered[index];
}

static void set(void *holder, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                uint64_t now)
{
    struct cache *cache = holder;
    struct cache_by_word *by_word = cache->by_word;
    uint32_t index = tags_find(&cache->front.tags, line);
    const uint32_t *kept = by_word->kept;
    by_word->kept = NULL;
    (void)map;
    if (index == TAGS_NONE && state == DENOVO_VALID)
        index = place(cache, line, now, by_word->level);
    if (index == TAGS_NONE) {
        assert(state == DENOVO_VALID);
        return;
    }
    if (state == DENOVO_VALID && !(by_word->registered[index] & mask))
        by_word->words_installed += (unsigned)__builtin_popcountll(mask);
    else if (state != DENOVO_REGISTERED && !by_word->leaving)
        by_word->words_taken += (unsigned)__builtin_popcountll(by_word->registered[index] & mask);
    by_word->valid[index] &= ~mask;
    by_word->registered[index] &= ~mask;
    if (state == DENOVO_VALID)
        by_word->valid[index] |= mask;
    else if (state == DENOVO_REGISTERED)
        by_word->registered[index] |= mask;
    for (uint64_t left = kept ? mask : 0; left; left &= left - 1)
        *version_of(cache, index, (unsigned)__builtin_ctzll(left)) = kept[__builtin_ctzll(left)];
    by_word->some_valid |= state == DENOVO_VALID;
    set_state(cache, index);
}

static void values(void *holder, uint64_t line, unsigned map, uint64_t mask, uint32_t *value)
{
    const struct cache *cache = holder;
    const uint32_t index = tags_find(&cache->front.tags, line);
    (void)map;
    for (; cache->by_word->version && mask; mask &= mask - 1)
        value[__builtin_ctzll(mask)] = *version_of(cache, index, (unsigned)__builtin_ctzll(mask));
}

static void keep(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value)
{
    const struct cache *cache = holder;
    (void)line, (void)map, (void)mask;
    cache->by_word->kept = cache->by_word->version ? value : NULL;
}

/* Ends the waits of accesses for words that have come. */
static void serve(struct cache *cache, uint64_t line, uint64_t mask, const uint32_t *value, bool data,
                  uint64_t now)
{
    struct mshr *mshr = mshr_find(&cache->mshrs, line);
    struct cache_waiters served = {0}, blocked = {0};
    const unsigned level = cache->by_word->level;
    uint32_t left = 0;
    if (!mshr)
        return;
    for (uint32_t i = 0; i < mshr->targets; i++) {
        struct mshr_target *target = &mshr->target[i];
        const bool store = target->use == CACHE_STORE;
        if (data && store)
            note_stores(cache, line, target->words & mask, true, target, now);
        else if (!store)
            note_loads(cache, line, target->words & mask, value, target, now);
        if (data || !store)
            target->words &= ~mask;
        if (target->words) {
            mshr->target[left++] = *target;
            continue;
        }
        cache_tell_access(cache, line, store, &target->actor, now);
        cache->counters.miss_latency += now > target->time ? now - target->time : 0;
        if (target->waiter)
            cache_waiters_add(&served, target->waiter);
    }
    mshr->targets = left;
    if (left == 0) {
        blocked = mshr->blocked;
        mshr->blocked = (struct cache_waiters){0};
        mshr_release(&cache->mshrs, mshr);
    }
    cache_waiters_call(&served, now, level);
    cache_waiters_call(&blocked, now, MEM_LEVELS);
}

static void arrived(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                    uint64_t now)
{
    (void)map;
    serve(holder, line, mask, value, false, now);
}

/* Ends releases if all registrations and write-backs are acknowledged. */
static void settle(struct cache *cache, uint64_t now)
{
    struct cache_by_word *by_word = cache->by_word;
    if (!by_word->settles.first || !denovo_settled(by_word->unit))
        return;
    struct cache_waiters settles = by_word->settles;
    by_word->settles = (struct cache_waiters){0};
    cache_waiters_call(&settles, now, MEM_LEVEL_L1);
}

static void acknowledged(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                         uint64_t now)
{
    (void)map;
    if (value)
        serve(holder, line, mask, value, true, now);
    settle(holder, now);
}

static void operated(void *holder, const struct denovo_message *answer, uint64_t now)
{
    struct cache *cache = holder;
    struct cache_waiter *waiter = cache->by_word->operated[answer->tag];
    cache->by_word->operated[answer->tag] = NULL;
    settle(cache, now);
    if (waiter)
        waiter->done(waiter, now, MEM_LEVEL_L2);
}

static void room(void *holder, uint64_t now)
{
    cache_stir(holder, now);
}

static const struct denovo_holder_ops holder_ops = {.words = words,
                                                    .set = set,
                                                    .arrived = arrived,
                                                    .acknowledged = acknowledged,
                                                    .operated = operated,
                                                    .room = room,
                                                    .values = values,
                                                    .keep = keep};

static bool receive(void *receiver, const struct denovo_message *message, uint64_t now)
{
    struct cache *cache = receiver;
    struct cache_by_word *by_word = cache->by_word;
    const bool told = message->kind == DENOVO_MSG_READ_ANSWER || message->kind == DENOVO_MSG_REGISTERED;
    by_word->level =
        told && message->from == DENOVO_REGISTRY && message->tag ? (uint8_t)message->tag : MEM_LEVEL_L2;
    /* A forward looks up the tags before it is answered. */
    denovo_receive(by_word->unit, message,
                   denovo_class(message) == MAIL_FORWARD ? now + cache->hit_time : now);
    cache_stir(cache, now); /* a line that had to stay may leave now, or the unit has room */
    return true;
}

/* The other operations. */

bool cache_word_clean(struct cache *cache, uint32_t index, bool drop, uint64_t now)
{
    struct cache_by_word *by_word = cache->by_word;
    const uint64_t line = tags_key(&cache->front.tags, index), registered = by_word->registered[index];
    if (denovo_pending(by_word->unit, line)) {
        denovo_hasten(by_word->unit, line);
        return false;
    }
    if (drop)
        return evict(cache, index, now);
    if (!registered)
        return true;
    by_word->leaving = true;
    const bool gone = denovo_write_back(by_word->unit, line, 0, registered, now) != DENOVO_REFUSED;
    by_word->leaving = false;
    cache->counters.write_backs += gone;
    by_word->words_written_back += gone ? (unsigned)__builtin_popcountll(registered) : 0;
    return gone;
}

bool cache_word_writing(const struct cache *cache)
{
    return denovo_writing(cache->by_word->unit);
}

void cache_word_drop(struct cache *cache, uint32_t index)
{
    struct cache_by_word *by_word = cache->by_word;
    by_word->words_dropped += (unsigned)__builtin_popcountll(by_word->valid[index]);
    by_word->valid[index] = 0;
    set_state(cache, index);
    if (!by_word->registered[index] && !denovo_pending(by_word->unit, tags_key(&cache->front.tags, index)))
        remove_line(cache, index, cache->queue->now);
}

void cache_word_acquire(struct cache *cache)
{
    struct cache_by_word *by_word = cache->by_word;
    by_word->acquires++;
    if (by_word->versions)
        word_versions_acquire(by_word->versions, by_word->agent);
    denovo_acquire(by_word->unit, cache->queue->now);
    for (uint32_t index = 0; by_word->some_valid && index < tags_size(&cache->front.tags); index++)
        if (by_word->valid[index])
            cache_word_drop(cache, index);
    by_word->some_valid = false;
}

void cache_word_join(struct cache *cache, struct denovo_domain *domain, const struct denovo_place *where)
{
    struct cache_by_word *by_word = alloc(1, sizeof *by_word);
    const uint32_t entries = tags_size(&cache->front.tags);
    struct denovo_unit_config config = {.mshrs = (uint16_t)(2 * cache->config.mshrs),
                                        .write_backs = (uint16_t)cache->config.write_buffer,
                                        .words = (uint8_t)(cache->config.line / sizeof(uint32_t))};
    assert(denovo_domain_configuration(domain)->line == cache->config.line);
    cache->by_word = by_word;
    by_word->domain = domain;
    by_word->place = *where;
    by_word->all = UINT64_MAX >> (64 - config.words);
    by_word->valid = alloc(entries, sizeof *by_word->valid);
    by_word->registered = alloc(entries, sizeof *by_word->registered);
    by_word->operated = alloc(cache->config.mshrs, sizeof *by_word->operated);
    const struct denovo_post post = denovo_domain_join(domain, where, receive, cache, &config.number);
    by_word->number = config.number;
    by_word->unit = denovo_unit_new(&config, &holder_ops, cache, post);
}

void cache_word_free(struct cache *cache)
{
    struct cache_by_word *by_word = cache->by_word;
    if (!by_word)
        return;
    denovo_unit_free(by_word->unit);
    free(by_word->valid);
    free(by_word->registered);
    free(by_word->operated);
    free(by_word->version);
    free(by_word);
}
