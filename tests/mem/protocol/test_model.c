/* Searches, breadth first, every state that three caches, a line of two words and a directory can reach under
 * a protocol's rows. The interpreter below reads the rows itself and shares no code with the caches.
 *
 * Requests and write-backs can be under way between two steps of the search, so that probes meet them. The
 * version number of a word is reduced to whether it is the newest: a bit for each copy. If a protocol has
 * ACQUIRE rows, software is assumed to be free of data races: a core reads a word that another core has
 * written only after it has synchronized. The search checks in every state, for each word:
 * - at most one copy is writable, and without ACQUIRE it is then the only one that is readable;
 * - a copy that its core may read is the newest version;
 * - the newest version is at the last level or with the recorded owner: no dirty line is lost;
 * - a client that can write is recorded as the owner, and without ACQUIRE all copies are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/mix.h"
#include "tests/mem/protocol/denovo.h"

enum { CACHES = 3, WORDS = 2, OUTSIDER = -1, NO_OWNER = CACHES, ROWS = 64, BITS = 12 };

enum pending { PENDING_NONE, PENDING_READ, PENDING_OWN };
enum buffer { BUFFER_NONE, BUFFER_LINE, BUFFER_KEEP, BUFFER_TAKEN_LINE, BUFFER_TAKEN_KEEP };

/* A cache's copy of a word. If the unit is a line, state, pending and buffer are in word 0. */
struct copy {
    unsigned state, pending, buffer;
    bool fresh, buffer_fresh; /* is the newest version of the word */
    bool may_read;            /* no other core has written since the core last synchronized */
};

struct world {
    struct copy copies[WORDS][CACHES];
    struct {
        unsigned owner, sharers; /* a cache, or NO_OWNER; a set of caches */
        bool fresh;              /* the last level has the newest version */
    } level[WORDS];
};

/* A world in 2 * 64 bits. */
struct packed {
    uint64_t word[WORDS];
};

struct search {
    const struct protocol *protocol;
    bool acquires;
    unsigned limit;      /* messages under way at once */
    struct packed *seen; /* hash table; empty entries are all ones */
    size_t size, count;
    struct packed *queue;
    size_t queued;
    bool cache_row_used[ROWS], directory_row_used[ROWS];
    char fault[128]; /* the first violation, or "" */
};

static void fault(struct search *search, const char *text)
{
    if (!search->fault[0])
        (void)snprintf(search->fault, sizeof search->fault, "%s", text);
}

/* Finding rows, by linear search. */

static const struct protocol_cache_row *cache_row(struct search *search, unsigned state,
                                                  enum protocol_event event)
{
    const struct protocol *protocol = search->protocol;
    for (size_t i = 0; i < protocol->cache_count; i++)
        if (protocol->cache[i].state == state && protocol->cache[i].event == event) {
            search->cache_row_used[i] = true;
            if (protocol->cache[i].action == PROTOCOL_DO_NEVER)
                fault(search, "a row that never happens was reached");
            return &protocol->cache[i];
        }
    fault(search, "a cache row is missing");
    return &protocol->cache[0];
}

static const struct protocol_directory_row *
directory_row(struct search *search, enum protocol_request request, enum protocol_standing standing)
{
    const struct protocol *protocol = search->protocol;
    for (size_t i = 0; i < protocol->directory_count; i++)
        if (protocol->directory[i].request == request && protocol->directory[i].standing == standing) {
            search->directory_row_used[i] = true;
            if (protocol->directory[i].reply == PROTOCOL_REPLY_NEVER)
                fault(search, "a row that never happens was reached");
            return &protocol->directory[i];
        }
    fault(search, "a directory row is missing");
    return &protocol->directory[0];
}

static unsigned properties(const struct search *search, unsigned state)
{
    for (size_t i = 0; i < search->protocol->state_count; i++)
        if (search->protocol->states[i].number == state)
            return search->protocol->states[i].properties;
    return 0;
}

/* Units: one line of two words, or two words. */

static bool by_word(const struct search *search)
{
    return search->protocol->grain == PROTOCOL_WORD;
}

static int units(const struct search *search)
{
    return by_word(search) ? WORDS : 1;
}

static int unit_of(const struct search *search, int word)
{
    return by_word(search) ? word : 0;
}

static bool in_unit(const struct search *search, int word, int unit)
{
    return unit_of(search, word) == unit;
}

/* The directory. */

static enum protocol_standing standing_of(const struct world *world, int unit, int client)
{
    unsigned owner = world->level[unit].owner, sharers = world->level[unit].sharers;
    unsigned own = client == OUTSIDER ? 0 : 1u << client;
    if (owner != NO_OWNER)
        return (int)owner == client ? PROTOCOL_OWNED_SELF : PROTOCOL_OWNED_OTHER;
    if (!sharers)
        return PROTOCOL_NOBODY;
    if (sharers == own)
        return PROTOCOL_SHARED_SELF;
    return sharers & own ? PROTOCOL_SHARED_BOTH : PROTOCOL_SHARED_OTHERS;
}

static void probe(struct search *search, struct world *world, int unit, int target, enum protocol_event event)
{
    struct copy *copy = &world->copies[unit][target];
    const struct protocol_cache_row *row = cache_row(search, copy->state, event);
    bool buffered = copy->buffer == BUFFER_LINE || copy->buffer == BUFFER_KEEP;
    for (int word = 0; word < WORDS; word++)
        if (in_unit(search, word, unit) && (buffered || row->action == PROTOCOL_DO_ANSWER))
            world->level[word].fresh = row->action == PROTOCOL_DO_ANSWER
                                           ? world->copies[word][target].fresh
                                           : world->copies[word][target].buffer_fresh;
    if (buffered && event != PROTOCOL_PROBE_READ)
        copy->buffer = copy->buffer == BUFFER_LINE ? BUFFER_TAKEN_LINE : BUFFER_TAKEN_KEEP;
    copy->state = row->next;
    if (event == PROTOCOL_PROBE_TAKE)
        world->level[unit].sharers &= ~(1u << target);
    if ((int)world->level[unit].owner == target && event != PROTOCOL_PROBE_READ) {
        world->level[unit].owner = NO_OWNER;
        if (event == PROTOCOL_PROBE_SHARE)
            world->level[unit].sharers |= 1u << target;
    }
}

static void record(struct world *world, int unit, int client, enum protocol_standing next)
{
    unsigned own = client == OUTSIDER ? 0 : 1u << client;
    bool shares = next == PROTOCOL_SHARED_SELF || next == PROTOCOL_SHARED_BOTH;
    if (next == PROTOCOL_OWNED_OTHER)
        return;
    world->level[unit].owner =
        next == PROTOCOL_OWNED_SELF && client != OUTSIDER ? (unsigned)client : (unsigned)NO_OWNER;
    world->level[unit].sharers = (world->level[unit].sharers & ~own) | (shares ? own : 0);
}

static enum protocol_reply ask(struct search *search, struct world *world, int unit, int client,
                               enum protocol_request request)
{
    const struct protocol_directory_row *row =
        directory_row(search, request, standing_of(world, unit, client));
    bool owner_only = row->probe != PROTOCOL_PROBE_TAKE;
    unsigned targets = world->level[unit].owner == NO_OWNER ? 0 : 1u << world->level[unit].owner;
    targets |= owner_only ? 0 : world->level[unit].sharers;
    for (int target = 0; row->probe != PROTOCOL_NO_PROBE && target < CACHES; target++)
        if (targets >> target & 1 && target != client)
            probe(search, world, unit, target, row->probe);
    record(world, unit, client, row->next);
    return row->reply;
}

/* The caches. */

static void store(struct world *world, int word, int cache)
{
    for (int other = 0; other < CACHES; other++) {
        struct copy *copy = &world->copies[word][other];
        copy->fresh = other == cache;
        copy->buffer_fresh = false;
        copy->may_read = other == cache;
    }
    world->level[word].fresh = cache == OUTSIDER;
}

/* Applies the reply to a cache's request. */
static void fill(struct search *search, struct world *world, int unit, int cache, enum protocol_event event)
{
    struct copy *copy = &world->copies[unit][cache];
    const struct protocol_cache_row *row = cache_row(search, copy->state, event);
    for (int word = 0; word < WORDS; word++)
        if (in_unit(search, word, unit) && copy->state == PROTOCOL_ABSENT)
            world->copies[word][cache].fresh = world->level[word].fresh;
    copy->state = row->next;
}

/* Fills the other words of a line, except those that others may have changed or that are busy in this
 * cache. */
static void fill_rest(struct search *search, struct world *world, int unit, int cache)
{
    for (int other = 0; other < units(search); other++) {
        const struct copy *copy = &world->copies[other][cache];
        enum protocol_standing standing = standing_of(world, other, cache);
        if (other == unit || copy->pending || copy->buffer)
            continue;
        if (standing == PROTOCOL_NOBODY || standing == PROTOCOL_OWNED_SELF)
            fill(search, world, other, cache, PROTOCOL_FILL);
    }
}

static bool serve(struct search *search, struct world *world, int word, int cache, bool fetch)
{
    int unit = unit_of(search, word);
    struct copy *copy = &world->copies[unit][cache];
    enum pending pending = copy->pending;
    if (pending == PENDING_NONE || copy->buffer != BUFFER_NONE || (fetch && pending != PENDING_READ))
        return false;
    enum protocol_request request = pending == PENDING_OWN ? PROTOCOL_GET_OWNED
                                    : fetch                ? PROTOCOL_GET_FETCH
                                                           : PROTOCOL_GET_READ;
    enum protocol_reply reply = ask(search, world, unit, cache, request);
    copy->pending = PENDING_NONE;
    fill(search, world, unit, cache, reply == PROTOCOL_REPLY_OWNED ? PROTOCOL_FILL_OWNED : PROTOCOL_FILL);
    if (pending == PENDING_READ && by_word(search))
        fill_rest(search, world, unit, cache);
    if (pending == PENDING_OWN) {
        const struct protocol_cache_row *row = cache_row(search, copy->state, PROTOCOL_STORE);
        if (row->action != PROTOCOL_DO_HIT)
            fault(search, "a store that owns its line does not hit");
        copy->state = row->next;
        store(world, word, cache);
    }
    return true;
}

static bool load(struct search *search, struct world *world, int word, int cache)
{
    struct copy *copy = &world->copies[unit_of(search, word)][cache];
    if (copy->pending != PENDING_NONE ||
        cache_row(search, copy->state, PROTOCOL_LOAD)->action == PROTOCOL_DO_HIT)
        return false;
    copy->pending = PENDING_READ;
    return true;
}

static bool write(struct search *search, struct world *world, int word, int cache)
{
    struct copy *copy = &world->copies[unit_of(search, word)][cache];
    if (copy->pending != PENDING_NONE)
        return false;
    const struct protocol_cache_row *row = cache_row(search, copy->state, PROTOCOL_STORE);
    if (row->action == PROTOCOL_DO_HIT) {
        copy->state = row->next;
        store(world, word, cache);
    } else {
        copy->pending = PENDING_OWN;
    }
    return true;
}

/* EVICT or CLEAN of the whole line. */
static bool expel(struct search *search, struct world *world, int cache, enum protocol_event event)
{
    for (int unit = 0; unit < units(search); unit++)
        if (world->copies[unit][cache].pending || world->copies[unit][cache].buffer)
            return false;
    for (int unit = 0; unit < units(search); unit++) {
        struct copy *copy = &world->copies[unit][cache];
        const struct protocol_cache_row *row = cache_row(search, copy->state, event);
        copy->state = row->next;
        if (row->action != PROTOCOL_DO_WRITE_BACK)
            continue;
        copy->buffer = event == PROTOCOL_EVICT ? BUFFER_LINE : BUFFER_KEEP;
        for (int word = 0; word < WORDS; word++)
            if (in_unit(search, word, unit))
                world->copies[word][cache].buffer_fresh = world->copies[word][cache].fresh;
    }
    return true;
}

/* A write-back arrives. */
static bool deliver(struct search *search, struct world *world, int unit, int cache)
{
    struct copy *copy = &world->copies[unit][cache];
    enum buffer buffer = copy->buffer;
    if (buffer == BUFFER_NONE)
        return false;
    bool keep = buffer == BUFFER_KEEP || buffer == BUFFER_TAKEN_KEEP;
    bool taken = buffer == BUFFER_TAKEN_LINE || buffer == BUFFER_TAKEN_KEEP;
    enum protocol_request request = keep ? PROTOCOL_PUT_KEEP : PROTOCOL_PUT_LINE;
    enum protocol_reply reply = ask(search, world, unit, cache, request);
    if ((reply == PROTOCOL_REPLY_STALE) != taken)
        fault(search, "a write-back is stale if and only if a probe has taken it");
    for (int word = 0; word < WORDS; word++) {
        if (!in_unit(search, word, unit))
            continue;
        if (reply == PROTOCOL_REPLY_DONE)
            world->level[word].fresh = world->copies[word][cache].buffer_fresh;
        world->copies[word][cache].buffer_fresh = false;
    }
    copy->buffer = BUFFER_NONE;
    return true;
}

static bool acquire(struct search *search, struct world *world, int cache)
{
    for (int unit = 0; unit < units(search); unit++) {
        struct copy *copy = &world->copies[unit][cache];
        copy->state = cache_row(search, copy->state, PROTOCOL_ACQUIRE)->next;
        copy->may_read = true;
    }
    return true;
}

static bool recall(struct search *search, struct world *world, enum protocol_request request)
{
    for (int unit = 0; unit < units(search); unit++)
        (void)ask(search, world, unit, OUTSIDER, request);
    return true;
}

/* A store by a client that is not attached. */
static bool store_through(struct search *search, struct world *world, int word)
{
    (void)ask(search, world, unit_of(search, word), OUTSIDER, PROTOCOL_PUT_STORE);
    store(world, word, OUTSIDER);
    return true;
}

/* The invariants. */

static void check_unit(struct search *search, const struct world *world, int unit)
{
    unsigned writers = 0, readers = 0;
    for (int cache = 0; cache < CACHES; cache++) {
        const struct copy *copy = &world->copies[unit][cache];
        unsigned has = properties(search, copy->state);
        bool owner = (int)world->level[unit].owner == cache;
        bool buffered = copy->buffer == BUFFER_LINE || copy->buffer == BUFFER_KEEP;
        writers += (has & PROTOCOL_WRITABLE) != 0;
        readers += (has & PROTOCOL_READABLE) != 0;
        if ((has & PROTOCOL_WRITABLE || buffered) && !owner)
            fault(search, "who can write, or writes back, is not the recorded owner");
        if (!search->acquires && has && !owner && !(world->level[unit].sharers >> cache & 1))
            fault(search, "a copy is not recorded");
    }
    if (writers > 1)
        fault(search, "two copies are writable");
    if (writers && readers > 1 && !search->acquires)
        fault(search, "a copy is readable beside a writable one");
}

static void check_word(struct search *search, const struct world *world, int word)
{
    int unit = unit_of(search, word);
    bool somewhere = world->level[word].fresh;
    for (int cache = 0; cache < CACHES; cache++) {
        const struct copy *copy = &world->copies[unit][cache];
        const struct copy *data = &world->copies[word][cache];
        unsigned has = properties(search, copy->state);
        bool buffered = copy->buffer == BUFFER_LINE || copy->buffer == BUFFER_KEEP;
        somewhere |= (has & PROTOCOL_DIRTY && data->fresh) || (buffered && data->buffer_fresh);
        if (has & PROTOCOL_READABLE && (data->may_read || !search->acquires) && !data->fresh)
            fault(search, "a stale copy can be read");
    }
    if (!somewhere)
        fault(search, "the newest version is lost");
    if (world->level[unit].owner == NO_OWNER && !world->level[word].fresh)
        fault(search, "nobody owns the newest version, and the last level does not have it");
}

/* The search. */

/* Packs a cache's copy of a word and its record into BITS bits. */
static uint64_t pack_copy(const struct search *search, const struct world *world, int word, int cache)
{
    const struct copy *copy = &world->copies[word][cache];
    const struct copy *unit = &world->copies[unit_of(search, word)][cache];
    bool fresh = copy->fresh && unit->state != PROTOCOL_ABSENT; /* an absent copy has no version */
    bool owner = (int)world->level[word].owner == cache;
    return copy->state | (uint64_t)copy->pending << 2 | (uint64_t)copy->buffer << 4 | (uint64_t)fresh << 7 |
           (uint64_t)copy->buffer_fresh << 8 | (uint64_t)copy->may_read << 9 | (uint64_t)owner << 10 |
           (uint64_t)(world->level[word].sharers >> cache & 1) << 11;
}

/* Caches are interchangeable, so they are packed in the order of their contents. */
static struct packed pack(const struct search *search, const struct world *world)
{
    uint64_t keys[CACHES];
    for (int cache = 0; cache < CACHES; cache++) {
        uint64_t key = pack_copy(search, world, 0, cache) << BITS | pack_copy(search, world, 1, cache);
        int at = cache;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
    struct packed packed = {{world->level[0].fresh, world->level[1].fresh}};
    for (int cache = 0; cache < CACHES; cache++) {
        packed.word[0] = packed.word[0] << BITS | keys[cache] >> BITS;
        packed.word[1] = packed.word[1] << BITS | (keys[cache] & ((1 << BITS) - 1));
    }
    return packed;
}

static struct world unpack(struct packed packed)
{
    struct world world = {0};
    for (int word = 0; word < WORDS; word++) {
        uint64_t bits = packed.word[word];
        world.level[word].owner = NO_OWNER;
        for (unsigned cache = CACHES; cache-- > 0; bits >>= BITS) {
            world.copies[word][cache] = (struct copy){.state = bits & 3,
                                                      .pending = bits >> 2 & 3,
                                                      .buffer = bits >> 4 & 7,
                                                      .fresh = bits >> 7 & 1,
                                                      .buffer_fresh = bits >> 8 & 1,
                                                      .may_read = bits >> 9 & 1};
            if (bits >> 10 & 1)
                world.level[word].owner = cache;
            world.level[word].sharers |= (unsigned)(bits >> 11 & 1) << cache;
        }
        world.level[word].fresh = bits & 1;
    }
    return world;
}

static void *array_of(size_t count, size_t size)
{
    void *array = malloc(count * size);
    assert_non_null(array);
    memset(array, 0xff, count * size);
    return array;
}

static bool insert(struct packed *table, size_t size, struct packed packed)
{
    uint64_t hash = (packed.word[0] * MIX_FACTOR) ^ (packed.word[1] * UINT64_C(0xc2b2ae3d27d4eb4f));
    size_t at = (size_t)(hash >> 20) & (size - 1);
    while (table[at].word[0] != UINT64_MAX) {
        if (table[at].word[0] == packed.word[0] && table[at].word[1] == packed.word[1])
            return false;
        at = (at + 1) & (size - 1);
    }
    table[at] = packed;
    return true;
}

static void grow(struct search *search)
{
    struct packed *table = array_of(2 * search->size, sizeof *table);
    for (size_t i = 0; i < search->size; i++)
        if (search->seen[i].word[0] != UINT64_MAX)
            (void)insert(table, 2 * search->size, search->seen[i]);
    free(search->seen);
    search->seen = table;
    search->size *= 2;
    search->queue = realloc(search->queue, search->size * sizeof *search->queue);
    assert_non_null(search->queue);
}

/* Requests and write-backs. */
static unsigned on_their_way(const struct search *search, const struct world *world)
{
    unsigned count = 0;
    for (int unit = 0; unit < units(search); unit++)
        for (int cache = 0; cache < CACHES; cache++) {
            count += world->copies[unit][cache].pending != PENDING_NONE;
            count += world->copies[unit][cache].buffer != BUFFER_NONE;
        }
    return count;
}

static void arrive(struct search *search, const struct world *world)
{
    struct packed packed = pack(search, world);
    if (on_their_way(search, world) > search->limit)
        return;
    if (!insert(search->seen, search->size, packed))
        return;
    search->queue[search->queued++] = packed;
    for (int unit = 0; unit < units(search); unit++)
        check_unit(search, world, unit);
    for (int word = 0; word < WORDS; word++)
        check_word(search, world, word);
    if (2 * search->queued >= search->size)
        grow(search);
}

#define TRY(function, ...)                                                                                   \
    do {                                                                                                     \
        struct world next_ = *world;                                                                         \
        if (function(search, &next_, __VA_ARGS__))                                                           \
            arrive(search, &next_);                                                                          \
    } while (0)

static void all_steps(struct search *search, const struct world *world)
{
    for (int cache = 0; cache < CACHES; cache++) {
        for (int word = 0; word < WORDS; word++) {
            TRY(load, word, cache);
            TRY(write, word, cache);
            TRY(serve, word, cache, false);
            TRY(serve, word, cache, true);
        }
        for (int unit = 0; unit < units(search); unit++)
            TRY(deliver, unit, cache);
        TRY(expel, cache, PROTOCOL_EVICT);
        TRY(expel, cache, PROTOCOL_CLEAN);
        if (search->acquires)
            TRY(acquire, cache);
    }
    for (int word = 0; word < WORDS; word++)
        TRY(store_through, word);
    TRY(recall, PROTOCOL_RECALL);
    TRY(recall, PROTOCOL_RECALL_CLEAN);
}

/* Returns the number of states. Sets search->fault to the first violation. */
static size_t explore(struct search *search, const struct protocol *protocol, unsigned limit)
{
    struct world world = {0};
    *search = (struct search){.protocol = protocol, .limit = limit, .size = 1 << 12};
    for (size_t i = 0; i < protocol->cache_count; i++)
        search->acquires |= protocol->cache[i].event == PROTOCOL_ACQUIRE;
    search->seen = array_of(search->size, sizeof *search->seen);
    search->queue = array_of(search->size, sizeof *search->queue);
    for (int word = 0; word < WORDS; word++) {
        world.level[word].owner = NO_OWNER;
        world.level[word].fresh = true;
        for (int cache = 0; cache < CACHES; cache++)
            world.copies[word][cache].may_read = true;
    }
    arrive(search, &world);
    for (size_t at = 0; at < search->queued && !search->fault[0]; at++) {
        world = unpack(search->queue[at]);
        all_steps(search, &world);
    }
    free(search->seen);
    free(search->queue);
    return search->queued;
}

/* Rows for which the model has no step: INVALIDATE loses data intentionally, and no client with a copy sends
 * a store. */
static bool is_beyond_model(const struct protocol *protocol, size_t row, bool cache)
{
    if (cache)
        return protocol->cache[row].event == PROTOCOL_INVALIDATE ||
               protocol->cache[row].action == PROTOCOL_DO_NEVER;
    enum protocol_standing standing = protocol->directory[row].standing;
    if (protocol->directory[row].reply == PROTOCOL_REPLY_NEVER)
        return true;
    return protocol->directory[row].request == PROTOCOL_PUT_STORE &&
           (standing == PROTOCOL_SHARED_SELF || standing == PROTOCOL_SHARED_BOTH ||
            standing == PROTOCOL_OWNED_SELF);
}

static void check_whole(const struct protocol *protocol, unsigned limit, size_t least)
{
    struct search search;
    struct error err;
    if (!protocol_check(protocol, &err))
        fail_msg("%s", err.text);
    size_t count = explore(&search, protocol, limit);
    if (search.fault[0])
        fail_msg("%s: %s", protocol->name, search.fault);
    print_message("%s: %zu states\n", protocol->name, count);
    assert_true(count >= least);
    for (size_t i = 0; i < protocol->cache_count; i++)
        if (!search.cache_row_used[i] && !is_beyond_model(protocol, i, true))
            fail_msg("%s: cache row %zu is never used", protocol->name, i);
    for (size_t i = 0; i < protocol->directory_count; i++)
        if (!search.directory_row_used[i] && !is_beyond_model(protocol, i, false))
            fail_msg("%s: directory row %zu is never used", protocol->name, i);
}

static void mesi_is_coherent(void **state)
{
    (void)state;
    check_whole(&protocol_mesi, 6, 10000);
}

static void denovo_is_coherent(void **state)
{
    (void)state;
    check_whole(&denovo, 2, 10000);
}

/* Rows that pass the check of the table but are wrong: the search finds the violation. */

static const char *fault_with_cache_row(const struct protocol *good, struct protocol_cache_row changed,
                                        struct search *search)
{
    struct protocol_cache_row rows[ROWS];
    struct protocol bad = *good;
    struct error err;
    bad.cache = rows;
    for (size_t i = 0; i < good->cache_count; i++) {
        bool same = good->cache[i].state == changed.state && good->cache[i].event == changed.event;
        rows[i] = same ? changed : good->cache[i];
    }
    assert_true(protocol_check(&bad, &err));
    (void)explore(search, &bad, 2);
    return search->fault;
}

static void wrong_rows_are_found(void **state)
{
    (void)state;
    struct search search;
    enum { SHARED = 1, EXCLUSIVE = 2, MODIFIED = 3 };
    const struct protocol_cache_row shared_may_be_written = {PROTOCOL_ABSENT, PROTOCOL_FILL, EXCLUSIVE,
                                                             PROTOCOL_DO_NOTHING};
    assert_string_equal(fault_with_cache_row(&protocol_mesi, shared_may_be_written, &search),
                        "who can write, or writes back, is not the recorded owner");
    /* The directory records a client that has cleaned its line as a sharer. */
    const struct protocol_cache_row cleaned_may_be_written = {MODIFIED, PROTOCOL_CLEAN, EXCLUSIVE,
                                                              PROTOCOL_DO_WRITE_BACK};
    assert_string_equal(fault_with_cache_row(&protocol_mesi, cleaned_may_be_written, &search),
                        "who can write, or writes back, is not the recorded owner");
    const struct protocol_cache_row no_self_invalidation = {STATE_VALID, PROTOCOL_ACQUIRE, STATE_VALID,
                                                            PROTOCOL_DO_NOTHING};
    assert_string_equal(fault_with_cache_row(&denovo, no_self_invalidation, &search),
                        "a stale copy can be read");
}

/* A client that writes back a line and keeps a copy is not recorded. */
static void wrong_directory_row_is_found(void **state)
{
    (void)state;
    struct protocol_directory_row rows[ROWS];
    struct protocol bad = protocol_mesi;
    struct search search;
    struct error err;
    bad.directory = rows;
    for (size_t i = 0; i < bad.directory_count; i++) {
        rows[i] = protocol_mesi.directory[i];
        if (rows[i].request == PROTOCOL_PUT_KEEP && rows[i].standing == PROTOCOL_OWNED_SELF)
            rows[i].next = PROTOCOL_NOBODY;
    }
    assert_true(protocol_check(&bad, &err));
    (void)explore(&search, &bad, 2);
    assert_string_equal(search.fault, "a copy is not recorded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mesi_is_coherent),
        cmocka_unit_test(denovo_is_coherent),
        cmocka_unit_test(wrong_rows_are_found),
        cmocka_unit_test(wrong_directory_row_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
