/* Random programs without data races on 15 processors' caches and four multiprocessors, each with a cache
 * and a stash, whose messages overtake each other at random, against a flat array of the words' versions.
 *
 * Words belong to groups, which lie side by side in the lines. A thread enters a group (an acquire, which
 * makes VALID words INVALID), alone or among readers, loads and stores its words through its cache or, on
 * a multiprocessor, through a map of the stash, and leaves it when its units have settled (a release).
 * Every load must get the newest version. Some words are counters, on which all threads operate at any
 * time, at the last level or in caches. Caches, stashes, write-back buffers and the last level are much
 * smaller than the data, so that all of them evict all the time. Stashes map the same words again at other
 * places (Remap), change the lines of maps, and keep registered words over kernels' ends. ALL=1: 10
 * million operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/denovo.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "tests/isa/random.h"
#include "tests/mem/denovo/words.h"

enum {
    LINES = 48,
    WORDS = 16,
    CPUS = 15,
    CUS = 4,
    BLOCKS = 4, /* threads of a multiprocessor */
    CACHES = CPUS + CUS,
    UNITS = CACHES + CUS,
    THREADS = CPUS + CUS * BLOCKS,
    SLICES = 2,
    PLACES = 24, /* lines of a slice, at most */
    CHUNKS = 24, /* lines of a cache, or of a stash, each with a map of its own; at most */
    MAIL = 8192,
    GROUPS = 24,
    COUNTED, /* words on which operations are done at the last level, and in caches */
    SYNCHRONIZED,
    NO_LINE = 1 /* no address of a line */
};

/* A line's worth of a cache or of a stash. */
struct chunk {
    uint64_t line, mask;
    uint8_t state[WORDS];
    uint32_t value[WORDS];
    unsigned users; /* threads that work with it, in a stash */
};

struct holder {
    struct traffic *traffic;
    struct denovo_unit *unit;
    unsigned number;
    bool stash;
    struct chunk chunks[CHUNKS];
    unsigned next;
};

enum stage { OUTSIDE, INSIDE, LEAVING, COUNTING };

struct thread {
    struct holder *holder; /* that it uses now */
    enum stage stage;
    unsigned group, left, chunk;
    bool writes, refused;
    uint64_t line, want; /* loads under way */
};

struct slice {
    struct traffic *traffic;
    struct denovo_registry *registry;
    struct denovo_line lines[PLACES];
    bool used[PLACES];
    unsigned fetches;
};

struct envelope {
    struct denovo_message message;
    bool refused;
};

/* Sizes that are used. */
struct sizes {
    unsigned places, chunks, mshrs, write_backs, held;
};

struct traffic {
    const struct sizes *sizes;
    uint64_t random;
    struct holder holders[UNITS];
    struct slice slices[SLICES];
    struct thread threads[THREADS];
    struct envelope mail[MAIL];
    unsigned mail_count;
    uint32_t memory[LINES][WORDS], newest[LINES][WORDS];
    unsigned inside[GROUPS];
    bool alone[GROUPS];
    uint64_t operations, loads, stores, counts, remaps, kernels, refusals;
    uint64_t kinds[DENOVO_KIND_COUNT];
};

static unsigned pick(struct traffic *traffic, unsigned below)
{
    random_shift(&traffic->random);
    return (unsigned)((traffic->random >> 20) % below);
}

static unsigned index_of(uint64_t line)
{
    return (unsigned)(line / (WORDS * sizeof(uint32_t)));
}

static uint64_t line_of(unsigned index)
{
    return index * WORDS * sizeof(uint32_t);
}

static unsigned group_of(unsigned line, unsigned word)
{
    unsigned mixed = (line * 2654435761u + word * 40503u) >> 7;
    if (word == line % WORDS)
        return line % 2 ? COUNTED : SYNCHRONIZED;
    return mixed % GROUPS;
}

static uint64_t words_of(unsigned line, unsigned group)
{
    uint64_t mask = 0;
    for (unsigned word = 0; word < WORDS; word++)
        mask |= (uint64_t)(group_of(line, word) == group) << word;
    return mask;
}

static uint64_t some(struct traffic *traffic, uint64_t mask)
{
    uint64_t chosen = mask & traffic->random >> pick(traffic, 16);
    return chosen ? chosen : mask & (~mask + 1);
}

/* Holders. */

static struct chunk *chunk_of(struct holder *holder, uint64_t line, unsigned map)
{
    if (holder->stash)
        return holder->chunks[map].line == line ? &holder->chunks[map] : NULL;
    assert_int_equal(map, 0);
    for (unsigned i = 0; i < holder->traffic->sizes->chunks; i++)
        if (holder->chunks[i].line == line)
            return &holder->chunks[i];
    return NULL;
}

static uint64_t in_state(const struct chunk *chunk, enum denovo_state state)
{
    return words_in(chunk->state, WORDS, state) & chunk->mask;
}

/* Takes a chunk from its line. Returns false if that must wait. */
static bool empty(struct holder *holder, struct chunk *chunk, unsigned map)
{
    uint64_t registered = chunk->line == NO_LINE ? 0 : in_state(chunk, DENOVO_REGISTERED);
    if (chunk->users || (chunk->line != NO_LINE && denovo_pending(holder->unit, chunk->line) & chunk->mask))
        return false;
    if (registered && denovo_write_back(holder->unit, chunk->line, map, registered, 0) == DENOVO_REFUSED)
        return false;
    memset(chunk, 0, sizeof *chunk);
    chunk->line = NO_LINE;
    return true;
}

/* Returns the cache's chunk for a line, which it makes; NULL: all others must stay. */
static struct chunk *make_chunk(struct holder *holder, uint64_t line)
{
    struct chunk *chunk = chunk_of(holder, line, 0);
    for (unsigned i = 0; !chunk && i < holder->traffic->sizes->chunks; i++) {
        struct chunk *victim = &holder->chunks[holder->next++ % holder->traffic->sizes->chunks];
        if (!empty(holder, victim, 0))
            continue;
        chunk = victim;
        chunk->line = line;
        chunk->mask = (1u << WORDS) - 1;
    }
    return chunk;
}

static uint64_t holder_words(void *context, uint64_t line, unsigned map, enum denovo_state state)
{
    const struct chunk *chunk = chunk_of(context, line, map);
    if (!chunk)
        return state == DENOVO_INVALID ? (1u << WORDS) - 1 : 0;
    return in_state(chunk, state);
}

static void holder_set(void *context, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                       uint64_t now)
{
    struct chunk *chunk = chunk_of(context, line, map);
    (void)now;
    assert_true(chunk || state == DENOVO_VALID);
    if (chunk)
        words_set(chunk->state, mask, state);
}

static void holder_values(void *context, uint64_t line, unsigned map, uint64_t mask, uint32_t *value)
{
    denovo_copy_values(value, chunk_of(context, line, map)->value, mask);
}

static void holder_keep(void *context, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value)
{
    struct holder *holder = context;
    struct chunk *chunk = holder->stash ? chunk_of(holder, line, map) : make_chunk(holder, line);
    if (chunk)
        denovo_copy_values(chunk->value, value, mask);
}

static void check_load(const struct traffic *traffic, uint64_t line, uint64_t mask, const uint32_t *value)
{
    for (unsigned i = 0; i < WORDS; i++)
        if (mask >> i & 1)
            assert_int_equal(value[i], traffic->newest[index_of(line)][i]);
}

static void holder_arrived(void *context, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                           uint64_t now)
{
    struct holder *holder = context;
    (void)map;
    (void)now;
    for (unsigned i = 0; i < THREADS; i++) {
        struct thread *thread = &holder->traffic->threads[i];
        if (thread->holder != holder || thread->line != line || (holder->stash && thread->chunk != map))
            continue;
        check_load(holder->traffic, line, mask & thread->want, value);
        thread->want &= ~mask;
    }
}

/* Counts on a word that the cache has registered. */
static void count_here(struct holder *holder, struct chunk *chunk, unsigned word)
{
    uint32_t *newest = &holder->traffic->newest[index_of(chunk->line)][word];
    assert_int_equal(chunk->state[word], DENOVO_REGISTERED);
    assert_int_equal(chunk->value[word], *newest);
    chunk->value[word] = ++*newest;
}

static void holder_acknowledged(void *context, uint64_t line, unsigned map, uint64_t mask,
                                const uint32_t *value, uint64_t now)
{
    struct holder *holder = context;
    struct traffic *traffic = holder->traffic;
    (void)now;
    for (unsigned i = 0; value && i < THREADS; i++) {
        struct thread *thread = &traffic->threads[i];
        if (thread->holder != holder || thread->stage != COUNTING || thread->line != line ||
            !(mask & thread->want))
            continue;
        count_here(holder, chunk_of(holder, line, map), (unsigned)__builtin_ctzll(mask & thread->want));
        thread->want = 0;
    }
}

static void holder_operated(void *context, const struct denovo_message *answer, uint64_t now)
{
    (void)now;
    ((struct holder *)context)->traffic->threads[answer->tag].want = 0;
}

static void holder_room(void *context, uint64_t now)
{
    struct holder *holder = context;
    (void)now;
    for (unsigned i = 0; i < THREADS; i++)
        if (holder->traffic->threads[i].holder == holder)
            holder->traffic->threads[i].refused = false;
}

static const struct denovo_holder_ops holder_ops = {.words = holder_words,
                                                    .set = holder_set,
                                                    .arrived = holder_arrived,
                                                    .acknowledged = holder_acknowledged,
                                                    .operated = holder_operated,
                                                    .room = holder_room,
                                                    .values = holder_values,
                                                    .keep = holder_keep};

/* The last level and memory. */

static struct denovo_line *home_find(void *home, uint64_t line)
{
    struct slice *slice = home;
    for (unsigned i = 0; i < slice->traffic->sizes->places; i++)
        if (slice->used[i] && slice->lines[i].address == line)
            return &slice->lines[i];
    return NULL;
}

static void write_memory(struct slice *slice, struct denovo_line *line)
{
    if (line->dirty)
        memcpy(slice->traffic->memory[index_of(line->address)], line->value,
               sizeof slice->traffic->memory[0]);
    slice->used[line - slice->lines] = false;
}

static struct denovo_line *home_make(void *home, uint64_t line, uint64_t now)
{
    struct slice *slice = home;
    unsigned start = pick(slice->traffic, slice->traffic->sizes->places);
    (void)now;
    for (unsigned i = 0; i < slice->traffic->sizes->places; i++) {
        unsigned place = (start + i) % slice->traffic->sizes->places;
        if (slice->used[place] && !denovo_line_idle(&slice->lines[place]))
            continue;
        if (slice->used[place])
            write_memory(slice, &slice->lines[place]);
        slice->used[place] = true;
        memset(&slice->lines[place], 0, sizeof slice->lines[place]);
        slice->lines[place].address = line;
        return &slice->lines[place];
    }
    return NULL;
}

static void home_fetch(void *home, struct denovo_line *line, uint64_t now)
{
    (void)line;
    (void)now;
    ((struct slice *)home)->fetches++;
}

static void home_evicted(void *home, struct denovo_line *line, uint64_t now)
{
    (void)now;
    write_memory(home, line);
}

static void home_operate(void *home, struct denovo_line *line, const struct denovo_message *atomic,
                         uint64_t now)
{
    struct slice *slice = home;
    unsigned word = (unsigned)__builtin_ctzll(atomic->mask);
    uint32_t *newest = &slice->traffic->newest[index_of(line->address)][word];
    (void)now;
    assert_int_equal(line->value[word], *newest);
    line->value[word] = ++*newest;
}

static void home_room(void *home, uint64_t now)
{
    struct slice *slice = home;
    struct traffic *traffic = slice->traffic;
    (void)now;
    for (unsigned i = 0; i < traffic->mail_count; i++)
        if (index_of(traffic->mail[i].message.line) % SLICES == slice - traffic->slices)
            traffic->mail[i].refused = false;
}

static const struct denovo_home_ops home_ops = {.find = home_find,
                                                .make = home_make,
                                                .fetch = home_fetch,
                                                .evicted = home_evicted,
                                                .operate = home_operate,
                                                .room = home_room};

static void post(void *context, const struct denovo_message *message, uint64_t now)
{
    struct traffic *traffic = context;
    (void)now;
    assert_true(traffic->mail_count < MAIL);
    traffic->kinds[message->kind]++;
    traffic->mail[traffic->mail_count++] = (struct envelope){*message, false};
}

/* Memory answers one of the slice's fetches. */
static void answer_memory(struct slice *slice)
{
    unsigned start = pick(slice->traffic, slice->traffic->sizes->places);
    for (unsigned i = 0; i < slice->traffic->sizes->places && slice->fetches; i++) {
        struct denovo_line *line = &slice->lines[(start + i) % slice->traffic->sizes->places];
        if (!slice->used[(start + i) % slice->traffic->sizes->places] || !line->fetching)
            continue;
        slice->fetches--;
        denovo_fetched(slice->registry, line, slice->traffic->memory[index_of(line->address)], 0);
        return;
    }
}

/* Delivers a message of any age. */
static void deliver(struct traffic *traffic)
{
    unsigned chosen = pick(traffic, traffic->mail_count);
    struct envelope envelope = traffic->mail[chosen];
    const struct denovo_message *message = &envelope.message;
    if (envelope.refused)
        return;
    traffic->mail[chosen] = traffic->mail[--traffic->mail_count];
    if (message->to != DENOVO_REGISTRY) {
        denovo_receive(traffic->holders[message->to].unit, message, 0);
        return;
    }
    struct slice *slice = &traffic->slices[index_of(message->line) % SLICES];
    if (!denovo_registry_receive(slice->registry, message, 0)) {
        assert_int_equal(denovo_class(message), MAIL_REQUEST);
        traffic->refusals++;
        traffic->mail[traffic->mail_count++] = (struct envelope){*message, true};
    }
}

static void evict_line(struct slice *slice)
{
    unsigned place = pick(slice->traffic, slice->traffic->sizes->places);
    if (slice->used[place])
        (void)denovo_evict(slice->registry, &slice->lines[place], 0);
}

/* Threads. */

static void invalidate(struct holder *holder)
{
    for (unsigned i = 0; i < holder->traffic->sizes->chunks; i++)
        for (unsigned word = 0; word < WORDS; word++)
            if (holder->chunks[i].state[word] == DENOVO_VALID)
                holder->chunks[i].state[word] = DENOVO_INVALID;
    denovo_acquire(holder->unit, 0);
}

/* A multiprocessor's stash, or NULL. */
static struct holder *stash_beside(struct traffic *traffic, unsigned thread)
{
    return thread < CPUS ? NULL : &traffic->holders[CACHES + (thread - CPUS) / BLOCKS];
}

static struct holder *cache_of(struct traffic *traffic, unsigned thread)
{
    return &traffic->holders[thread < CPUS ? thread : CPUS + (thread - CPUS) / BLOCKS];
}

/* Maps a line's words of the thread's group to a chunk of the stash. Registered words that another chunk
 * has are moved. */
static bool map_line(struct traffic *traffic, struct thread *thread, unsigned line)
{
    struct holder *holder = thread->holder;
    unsigned map = pick(traffic, traffic->sizes->chunks);
    struct chunk *chunk = &holder->chunks[map];
    uint64_t mask = words_of(line, thread->group);
    if (!mask || chunk->users || !empty(holder, chunk, map))
        return false;
    for (unsigned i = 0; i < holder->traffic->sizes->chunks; i++) {
        struct chunk *old = &holder->chunks[i];
        uint64_t moved = old->line == line_of(line) ? in_state(old, DENOVO_REGISTERED) & mask : 0;
        if (!moved)
            continue;
        if (old->users || denovo_pending(holder->unit, old->line) & old->mask)
            return false;
        *chunk = *old;
        memset(old, 0, sizeof *old);
        old->line = NO_LINE;
        /* A full MSHR file: the move is taken back. */
        if (denovo_remap(holder->unit, chunk->line, map, moved, 0) == DENOVO_REFUSED) {
            *old = *chunk;
            memset(chunk, 0, sizeof *chunk);
            chunk->line = NO_LINE;
            return false;
        }
        traffic->remaps++;
    }
    chunk->line = line_of(line);
    chunk->mask = mask;
    chunk->users++;
    thread->chunk = map;
    return true;
}

/* Chooses a line that the stash has already, and its group, or any. */
static unsigned choose_line(struct traffic *traffic, struct thread *thread)
{
    const struct chunk *chunk = &thread->holder->chunks[pick(traffic, traffic->sizes->chunks)];
    if (chunk->line == NO_LINE || !chunk->mask || pick(traffic, 2))
        return pick(traffic, LINES);
    thread->group = group_of(index_of(chunk->line), (unsigned)__builtin_ctzll(chunk->mask));
    return index_of(chunk->line);
}

static void enter(struct traffic *traffic, struct thread *thread, unsigned number)
{
    bool writes = pick(traffic, 4);
    struct holder *stash = stash_beside(traffic, number);
    unsigned line = 0;
    thread->group = pick(traffic, GROUPS);
    thread->holder = stash && pick(traffic, 2) ? stash : cache_of(traffic, number);
    if (thread->holder->stash)
        line = choose_line(traffic, thread);
    if (traffic->alone[thread->group] || (writes && traffic->inside[thread->group]))
        return;
    if (thread->holder->stash && !map_line(traffic, thread, line))
        return;
    traffic->inside[thread->group]++;
    traffic->alone[thread->group] = thread->writes = writes;
    thread->left = 1 + pick(traffic, 30);
    thread->stage = INSIDE;
    invalidate(cache_of(traffic, number));
    if (stash)
        invalidate(stash);
}

static void load(struct traffic *traffic, struct thread *thread, uint64_t line, uint64_t words)
{
    struct chunk *chunk = chunk_of(thread->holder, line, thread->holder->stash ? thread->chunk : 0);
    uint64_t here = chunk ? words & ~in_state(chunk, DENOVO_INVALID) : 0;
    uint64_t fill = chunk ? in_state(chunk, DENOVO_INVALID) : (1u << WORDS) - 1;
    unsigned map = thread->holder->stash ? thread->chunk : 0;
    if (here)
        check_load(traffic, line, here, chunk->value);
    if ((words & ~here) &&
        denovo_read(thread->holder->unit, line, map, words & ~here, fill, 0) == DENOVO_REFUSED) {
        thread->refused = true;
        return;
    }
    thread->line = line;
    thread->want = words & ~here;
    thread->left--;
    traffic->loads++;
    traffic->operations++;
}

static void store(struct traffic *traffic, struct thread *thread, uint64_t line, uint64_t words)
{
    struct holder *holder = thread->holder;
    unsigned map = holder->stash ? thread->chunk : 0;
    struct chunk *chunk = holder->stash ? chunk_of(holder, line, map) : make_chunk(holder, line);
    if (!chunk)
        return;
    uint64_t missing = words & ~in_state(chunk, DENOVO_REGISTERED);
    if (missing && denovo_register(holder->unit, line, map, missing, 0) == DENOVO_REFUSED) {
        thread->refused = true;
        return;
    }
    for (unsigned i = 0; i < WORDS; i++)
        if (words >> i & 1)
            chunk->value[i] = ++traffic->newest[index_of(line)][i];
    thread->left--;
    traffic->stores++;
    traffic->operations++;
}

static void work(struct traffic *traffic, struct thread *thread)
{
    uint64_t line =
        thread->holder->stash ? thread->holder->chunks[thread->chunk].line : line_of(pick(traffic, LINES));
    uint64_t words = words_of(index_of(line), thread->group);
    if (thread->left == 0) {
        thread->stage = LEAVING;
        return;
    }
    if (!words)
        return;
    if (thread->writes && pick(traffic, 2))
        store(traffic, thread, line, some(traffic, words));
    else
        load(traffic, thread, line, some(traffic, words));
}

static void leave(struct traffic *traffic, struct thread *thread, unsigned number)
{
    struct holder *stash = stash_beside(traffic, number);
    if (!denovo_settled(cache_of(traffic, number)->unit) || (stash && !denovo_settled(stash->unit)))
        return;
    traffic->inside[thread->group]--;
    traffic->alone[thread->group] = false;
    if (thread->holder->stash)
        thread->holder->chunks[thread->chunk].users--;
    if (stash && pick(traffic, 4) == 0) {
        invalidate(stash);
        invalidate(cache_of(traffic, number));
        traffic->kernels++;
    }
    thread->stage = OUTSIDE;
}

/* Counts on a counter's word, at the last level or in the cache. */
static void count(struct traffic *traffic, struct thread *thread, unsigned number)
{
    unsigned index = pick(traffic, LINES), word = index % WORDS;
    uint64_t line = line_of(index), mask = UINT64_C(1) << word;
    struct holder *holder = thread->holder = cache_of(traffic, number);
    enum denovo_outcome outcome;
    struct chunk *chunk = NULL;
    if (group_of(index, word) == COUNTED) {
        outcome = denovo_atomic(holder->unit, line, 0, mask, number, 0);
    } else {
        chunk = make_chunk(holder, line);
        if (!chunk)
            return;
        outcome = denovo_register_data(holder->unit, line, 0, mask, 0);
    }
    if (outcome == DENOVO_REFUSED) {
        thread->refused = true;
        return;
    }
    traffic->counts++;
    traffic->operations++;
    thread->stage = COUNTING;
    thread->line = line;
    thread->want = outcome == DENOVO_WAITS ? mask : 0;
    if (outcome == DENOVO_DONE)
        count_here(holder, chunk, word);
}

static void run(struct traffic *traffic, unsigned number, bool begin)
{
    struct thread *thread = &traffic->threads[number];
    if (thread->want || thread->refused)
        return;
    if (thread->stage == COUNTING)
        thread->stage = OUTSIDE;
    if (thread->stage == OUTSIDE && begin) {
        if (pick(traffic, 8) == 0)
            count(traffic, thread, number);
        else
            enter(traffic, thread, number);
    } else if (thread->stage == INSIDE) {
        work(traffic, thread);
    } else if (thread->stage == LEAVING) {
        leave(traffic, thread, number);
    }
}

static bool quiet(const struct traffic *traffic)
{
    bool busy = traffic->mail_count > 0;
    for (unsigned i = 0; i < THREADS; i++)
        busy |= traffic->threads[i].stage != OUTSIDE;
    for (unsigned i = 0; i < SLICES; i++)
        busy |= traffic->slices[i].fetches > 0;
    return !busy;
}

static void step(struct traffic *traffic, bool begin)
{
    unsigned kind = pick(traffic, 64);
    if (kind < 40 && traffic->mail_count)
        deliver(traffic);
    else if (kind < 44)
        answer_memory(&traffic->slices[pick(traffic, SLICES)]);
    else if (kind < 45 && pick(traffic, 32) == 0)
        evict_line(&traffic->slices[pick(traffic, SLICES)]);
    else
        run(traffic, pick(traffic, THREADS), begin);
    for (unsigned i = 0; i < SLICES && kind == 63; i++)
        denovo_registry_retry(traffic->slices[i].registry, 0);
}

static void set_up(struct traffic *traffic)
{
    struct denovo_post carrier = {post, traffic, NULL};
    for (unsigned i = 0; i < UNITS; i++) {
        struct holder *holder = &traffic->holders[i];
        struct denovo_unit_config config = {.number = (uint16_t)i,
                                            .mshrs = (uint16_t)traffic->sizes->mshrs,
                                            .write_backs = (uint16_t)traffic->sizes->write_backs,
                                            .words = WORDS};
        *holder = (struct holder){.traffic = traffic, .number = i, .stash = i >= CACHES};
        for (unsigned k = 0; k < CHUNKS; k++)
            holder->chunks[k].line = NO_LINE;
        holder->unit = denovo_unit_new(&config, &holder_ops, holder, carrier);
    }
    for (unsigned i = 0; i < SLICES; i++) {
        struct denovo_registry_config config = {.held = (uint16_t)traffic->sizes->held, .words = WORDS};
        traffic->slices[i].traffic = traffic;
        traffic->slices[i].registry = denovo_registry_new(&config, &home_ops, &traffic->slices[i], carrier);
    }
}

/* Nothing is in flight: every word is where the registry says, in its newest version. */
static void check_rest(struct traffic *traffic)
{
    for (unsigned i = 0; i < UNITS; i++)
        assert_true(denovo_idle(traffic->holders[i].unit));
    for (unsigned i = 0; i < LINES; i++) {
        struct slice *slice = &traffic->slices[i % SLICES];
        const struct denovo_line *line = home_find(slice, line_of(i));
        assert_true(denovo_registry_idle(slice->registry));
        for (unsigned word = 0; word < WORDS; word++) {
            uint32_t value = line ? line->value[word] : traffic->memory[i][word];
            if (line && line->registered >> word & 1) {
                struct denovo_owner owner = line->owner[word];
                struct chunk *chunk = chunk_of(&traffic->holders[owner.unit], line_of(i), owner.map);
                assert_non_null(chunk);
                assert_int_equal(chunk->state[word], DENOVO_REGISTERED);
                value = chunk->value[word];
            }
            assert_int_equal(value, traffic->newest[i][word]);
        }
    }
}

static void random_traffic(const struct sizes *sizes, uint64_t seed, uint64_t operations, uint64_t *kinds)
{
    struct traffic *traffic = alloc(1, sizeof *traffic);
    traffic->sizes = sizes;
    traffic->random = seed * MIX_FACTOR | 1;
    set_up(traffic);
    while (traffic->operations < operations)
        step(traffic, true);
    for (uint64_t i = 0; !quiet(traffic); i++) {
        assert_true(i < 10000000); /* else it hangs */
        step(traffic, false);
    }
    check_rest(traffic);
    print_message("%ju loads, %ju stores, %ju counts, %ju moves, %ju kernels, %ju refusals\n",
                  (uintmax_t)traffic->loads, (uintmax_t)traffic->stores, (uintmax_t)traffic->counts,
                  (uintmax_t)traffic->remaps, (uintmax_t)traffic->kernels, (uintmax_t)traffic->refusals);
    for (unsigned i = 0; i < DENOVO_KIND_COUNT; i++) {
        print_message("%s %ju, ", denovo_kind_names[i], (uintmax_t)traffic->kinds[i]);
        kinds[i] += traffic->kinds[i];
    }
    print_message("\n");
    for (unsigned i = 0; i < UNITS; i++)
        denovo_unit_free(traffic->holders[i].unit);
    for (unsigned i = 0; i < SLICES; i++)
        denovo_registry_free(traffic->slices[i].registry);
    free(traffic);
}

static void nothing_is_lost_or_stale(void **state)
{
    (void)state;
    static const struct sizes rounds[] = {{12, 6, 2, 1, 4}, {24, 24, 4, 2, 8}, {18, 12, 3, 2, 6}};
    enum { ROUNDS = sizeof rounds / sizeof *rounds };
    uint64_t operations = getenv("ALL") ? 10000000 : 300000, kinds[DENOVO_KIND_COUNT] = {0};
    for (unsigned i = 0; i < ROUNDS; i++)
        random_traffic(&rounds[i], i + 1, operations / ROUNDS + 1, kinds);
    for (unsigned i = 0; i < DENOVO_KIND_COUNT; i++)
        assert_true(kinds[i] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
