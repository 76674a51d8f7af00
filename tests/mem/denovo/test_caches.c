/* Caches and slices of a last level under DeNovo, with messages that overtake each other at random, and the checker of versions. Threads run
 * random programs without data races: the words belong to groups, which lie side by side in the lines; a thread enters a group alone
 * or among readers (an acquire), loads and stores its words, also parts of words, and leaves it (a release). Some words are counters,
 * on which all threads operate at any time. Caches, buffers and the last level are much smaller than the data. No load may be stale,
 * and in the end memory must have the last version of each word. ALL=1: a million accesses. */
#include "emu/mem/cache.h"
#include "emu/mem/coherence/word_versions.h"
#include "emu/mem/denovo_domain.h"
#include "emu/mem/llc_slices.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "tests/isa/random.h"
#include "tests/mem/slow_memory.h"
#include "tests/sim/value.h"

enum {
    CACHES = 6,
    THREADS = 2 * CACHES, /* threads i and CACHES + i share a cache */
    SLICES = 2,
    LINE = 64,
    WORDS = LINE / 4,
    LINES = 48,
    GROUPS = 12,
    COUNTED, /* words that are counters */
    BASE = 1 << 20,
};

struct thread {
    struct world *world;
    struct cache *cache;
    struct cache_waiter waiter;
    struct event event;
    enum { OUTSIDE, INSIDE, LEAVING, ENDED } stage;
    unsigned number, group, left;
    bool writes, waits;
    uint64_t came; /* when the access that it last waited for was done, and by which level */
    unsigned level;
};

/* A message under way, or refused. */
struct letter {
    struct letter *next;
    struct world *world;
    struct event event;
    struct mail mail;
    _Alignas(max_align_t) unsigned char bytes[MAIL_BYTES];
};

struct world {
    struct event_queue queue;
    struct slow_memory memory;
    struct llc_slices *level;
    struct word_versions *versions;
    struct cache *caches[CACHES];
    struct thread threads[THREADS];
    struct letter *refused;
    uint64_t random, left;
    uint64_t delay; /* fs of each message; 0: at random */
    unsigned inside[GROUPS], found[WORD_PROBLEMS], ended;
    bool alone[GROUPS], forgets; /* forgets: caches keep old words */
    uint32_t newest[LINES][WORDS];
};

static unsigned pick(struct world *world, unsigned below)
{
    random_shift(&world->random);
    return (unsigned)((world->random >> 20) % below);
}

/* The carrier. */

static void arrive(void *owner, uint64_t now)
{
    struct letter *letter = owner;
    if (letter->mail.deliver(letter->mail.receiver, letter->bytes, now)) {
        free(letter);
        return;
    }
    assert_int_equal(letter->mail.class, MAIL_REQUEST);
    letter->next = letter->world->refused;
    letter->world->refused = letter;
}

static void mail_send(void *carrier, const struct mail *mail, const void *message, size_t size, uint64_t now)
{
    struct world *world = carrier;
    struct letter *letter = alloc(1, sizeof *letter);
    assert_true(now >= world->queue.now);
    letter->world = world;
    letter->mail = *mail;
    memcpy(letter->bytes, message, size);
    event_init(&letter->event, 3, arrive, letter);
    event_schedule(&world->queue, &letter->event,
                   now + (world->delay ? world->delay : (1 + pick(world, 300)) * (uint64_t)CLOCK));
}

static void mail_retry(void *carrier, uint16_t node, uint64_t now)
{
    struct world *world = carrier;
    struct letter *refused = world->refused;
    (void)now;
    world->refused = NULL;
    for (struct letter *letter = refused, *next; letter; letter = next) {
        next = letter->next;
        if (letter->mail.to == node) {
            event_schedule(&world->queue, &letter->event, world->queue.now);
        } else {
            letter->next = world->refused;
            world->refused = letter;
        }
    }
}

static void mail_sort(void *carrier)
{
    (void)carrier;
}

static const struct mail_ops mail_ops = {mail_send, mail_retry, mail_sort};

static void report(void *context, const struct word_finding *finding)
{
    ((struct world *)context)->found[finding->problem]++;
}

/* Threads. */

static unsigned group_of(unsigned line, unsigned word)
{
    if (word == line % WORDS)
        return COUNTED;
    return ((line * 2654435761u + word * 40503u) >> 7) % GROUPS;
}

static void run(void *owner, uint64_t now);

static void go_on(struct thread *thread, uint64_t time)
{
    event_init(&thread->event, 4 + thread->number, run, thread);
    event_schedule(&thread->world->queue, &thread->event, time + pick(thread->world, 8) * (uint64_t)CLOCK);
}

static void came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct thread *thread = waiter->owner;
    thread->came = now;
    thread->level = level;
    thread->waits = false;
    go_on(thread, now);
}

/* Makes an access. `bytes`: from the word's first on. */
static void access_word(struct thread *thread, unsigned line, unsigned word, enum cache_use use, bool atomic,
                        unsigned bytes)
{
    struct world *world = thread->world;
    const struct cache_actor actor = {
        .pc = 0x1000 + thread->number, .bytes = (uint8_t)bytes, .atomic = atomic};
    const enum cache_outcome outcome = cache_access(thread->cache, BASE + line * LINE + word * 4, use,
                                                    world->queue.now, actor, &thread->waiter);
    thread->waits = outcome != CACHE_HIT;
    if (outcome == CACHE_FULL)
        return;
    world->newest[line][word] += use == CACHE_STORE;
    world->left -= world->left > 0;
    thread->left--;
}

static void enter(struct thread *thread)
{
    struct world *world = thread->world;
    const bool writes = pick(world, 3);
    const unsigned group = pick(world, GROUPS);
    if (world->alone[group] || (writes && world->inside[group]))
        return;
    thread->group = group;
    thread->writes = world->alone[group] = writes;
    world->inside[group]++;
    thread->left = 1 + pick(world, 40);
    thread->stage = INSIDE;
    if (world->forgets)
        word_versions_acquire(world->versions, thread->number % CACHES);
    else
        cache_acquire(thread->cache);
}

static void work(struct thread *thread)
{
    struct world *world = thread->world;
    const unsigned line = pick(world, LINES), word = pick(world, WORDS);
    if (thread->left == 0)
        thread->stage = LEAVING;
    else if (group_of(line, word) == COUNTED)
        access_word(thread, line, word, CACHE_STORE, true, 4);
    else if (group_of(line, word) == thread->group)
        access_word(thread, line, word, thread->writes && pick(world, 2) ? CACHE_STORE : CACHE_LOAD, false,
                    pick(world, 4) ? 4 : 1);
}

static void leave(struct thread *thread)
{
    struct world *world = thread->world;
    thread->waits = !cache_release(thread->cache, &thread->waiter);
    if (thread->waits)
        return;
    cache_released(thread->cache);
    world->inside[thread->group]--;
    world->alone[thread->group] = false;
    thread->stage = OUTSIDE;
}

static void run(void *owner, uint64_t now)
{
    struct thread *thread = owner;
    switch (thread->stage) {
    case OUTSIDE:
        if (thread->world->left == 0) {
            thread->stage = ENDED;
            thread->world->ended++;
            return;
        }
        enter(thread);
        break;
    case INSIDE: work(thread); break;
    case LEAVING: leave(thread); break;
    case ENDED: return;
    }
    if (!thread->waits)
        go_on(thread, now + CLOCK);
}

/* Sizes that are used. */
struct sizes {
    unsigned ways, sets, mshrs, write_buffer, level_ways, level_mshrs, queue;
    unsigned array;   /* clocks for which a line occupies the array of a bank; 0: the default */
    unsigned combine; /* clocks for which registrations wait for others */
};

static struct world *world_new(const struct sizes *sizes, uint64_t seed)
{
    static const uint16_t nodes[SLICES + CACHES] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const char *const names[CACHES] = {"c0", "c1", "c2", "c3", "c4", "c5"};
    struct world *world = alloc(1, sizeof *world);
    struct cache_config l1;
    struct llc_config l2;
    struct error err;
    part_defaults(&cache_kind, 0, &l1);
    part_defaults(&llc_kind, 0, &l2);
    l1.ways = sizes->ways;
    l1.size = (uint64_t)sizes->ways * sizes->sets * LINE;
    l1.mshrs = sizes->mshrs;
    l1.write_buffer = sizes->write_buffer;
    l2.coherence = LLC_DENOVO;
    l2.slices = SLICES;
    l2.ways = sizes->level_ways;
    l2.size = (uint64_t)l2.ways * 4 * LINE;
    l2.mshrs = l2.write_buffer = sizes->level_mshrs;
    l2.queue = sizes->queue;
    l2.bank_clocks = sizes->array ? sizes->array : l2.bank_clocks;
    l2.combine = sizes->combine * (uint64_t)CLOCK;
    assert_true(part_check(&llc_kind, &l2, &err));
    world->random = seed * MIX_FACTOR | 1;
    event_queue_init(&world->queue);
    world->memory.queue = &world->queue;
    const struct clock clock = {CLOCK};
    world->level = llc_slices_new("l2", &l2, &world->queue, &clock, 2, 99, &slow_ops, &world->memory);
    const struct mem_site_mail mail = {&mail_ops, world, nodes, SLICES + CACHES};
    llc_slices_place(world->level, &mail);
    world->versions = word_versions_new(LINE, report, world);
    llc_slices_check_words(world->level, world->versions);
    for (unsigned i = 0; i < CACHES; i++) {
        const struct part_end below = llc_slices_port(world->level);
        const struct denovo_place place = denovo_place_of(&mail, SLICES + i);
        world->caches[i] =
            cache_new(names[i], &l1, &world->queue, &clock, 20 + i, (uint16_t)i, below.ops, below.object);
        cache_join(world->caches[i], llc_slices_domain(world->level), &place);
        cache_check_words(world->caches[i], world->versions, word_versions_agent(world->versions, names[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        struct thread *thread = &world->threads[i];
        *thread = (struct thread){.world = world, .cache = world->caches[i % CACHES], .number = i};
        thread->waiter = (struct cache_waiter){NULL, came, thread};
    }
    return world;
}

static void world_free(struct world *world)
{
    for (unsigned i = 0; i < CACHES; i++)
        cache_free(world->caches[i]);
    llc_slices_free(world->level);
    word_versions_free(world->versions);
    free(world);
}

static void run_all(struct world *world, uint64_t accesses)
{
    world->left = accesses;
    for (unsigned i = 0; i < THREADS; i++)
        go_on(&world->threads[i], 0);
    event_queue_run(&world->queue, CLOCK_NEVER);
    assert_int_equal(world->ended, THREADS); /* else it hangs */
    assert_null(world->refused);
}

/* Cleans all words, and compares memory's versions with the number of stores. */
static void check_memory(struct world *world)
{
    for (unsigned i = 0; i < CACHES; i++)
        cache_maintain(world->caches[i], MEM_CLEAN, BASE, LINES * LINE, world->queue.now,
                       (struct cache_actor){0}, NULL);
    event_queue_run(&world->queue, CLOCK_NEVER);
    for (unsigned line = 0; line < LINES; line++)
        for (unsigned word = 0; word < WORDS; word++)
            assert_int_equal(word_versions_memory(world->versions, BASE + line * LINE)[word],
                             world->newest[line][word]);
}

static const struct sizes rounds[] = {{2, 2, 1, 1, 2, 1, 1, 0, 0},
                                      {2, 4, 2, 2, 4, 2, 4, 0, 0},
                                      {4, 16, 8, 8, 16, 16, 32, 0, 0},
                                      {2, 4, 2, 2, 4, 2, 4, 0, 2000},
                                      {4, 16, 8, 8, 16, 16, 32, 0, 2000}};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

static void nothing_is_lost_or_stale(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct world *world = world_new(&rounds[i], i + 1);
        run_all(world, getenv("ALL") ? 1000000 / ROUNDS : 20000);
        check_memory(world);
        for (unsigned problem = 0; problem < WORD_PROBLEMS; problem++)
            assert_int_equal(world->found[problem], 0);
        world_free(world);
    }
}

/* What acquires is forgotten in the caches: the checker finds it. */
static void forgotten_acquires_are_found(void **state)
{
    (void)state;
    struct world *world = world_new(&rounds[2], 1);
    world->forgets = true;
    run_all(world, 20000);
    assert_true(world->found[WORD_STALE] > 0);
    world_free(world);
}

/* Begins an access that thread's program does not have. */
static struct thread *begin(struct world *world, unsigned number, unsigned line, unsigned word,
                            enum cache_use use, unsigned bytes)
{
    struct thread *thread = &world->threads[number];
    thread->stage = ENDED;
    access_word(thread, line, word, use, false, bytes);
    return thread;
}

static void end(struct world *world)
{
    event_queue_run(&world->queue, CLOCK_NEVER);
}

static void at_once(struct world *world, unsigned number, enum cache_use use)
{
    (void)begin(world, number, 3, 5, use, 4);
    end(world);
}

/* A world in which each message takes 10 clocks, and memory answers between two edges. */
enum { DELAY = 10, ARRAY = 4 };

static struct world *combining_world(unsigned clocks)
{
    struct world *world = world_new(&(struct sizes){4, 16, 8, 8, 16, 16, 32, ARRAY, clocks}, 1);
    world->delay = DELAY * (uint64_t)CLOCK;
    world->memory.late = CLOCK / 4;
    return world;
}

static struct world *steady_world(void)
{
    return combining_world(0);
}

static void assert_came(const struct world *world, unsigned number, uint64_t begun, uint64_t clocks,
                        unsigned level)
{
    assert_int_equal(world->threads[number].came - begun, clocks * CLOCK);
    assert_int_equal(world->threads[number].level, level);
}

/* A word of memory, of the last level, and of another cache: the level's answer leaves fill_clocks after the edge behind memory's answer
 * and the line's turn in the array, or hit_clocks after the request has come; so does a request that it passes on, whatever messages
 * before it have waited for the array. */
static void answers_take_their_clocks(void **state)
{
    struct world *world = steady_world();
    struct cache_config l1;
    struct llc_config l2;
    (void)state;
    part_defaults(&cache_kind, 0, &l1);
    part_defaults(&llc_kind, 0, &l2);
    const uint64_t asked = l1.hit_clocks + DELAY, answered = asked + l2.hit_clocks + DELAY;
    at_once(world, 0, CACHE_LOAD);
    assert_came(world, 0, 0, asked + l2.tag_clocks + MEMORY + 1 + ARRAY + l2.fill_clocks + DELAY,
                MEM_LEVEL_MEMORY);
    uint64_t begun = world->queue.now;
    at_once(world, 1, CACHE_LOAD);
    assert_came(world, 1, begun, answered, MEM_LEVEL_L2);

    (void)begin(world, 2, 3, 6, CACHE_STORE, 4); /* registers another word of the line */
    end(world);
    begun = world->queue.now;
    (void)begin(world, 3, 3, 5, CACHE_LOAD, 4);
    (void)begin(world, 4, 3, 5, CACHE_LOAD, 4);
    end(world);
    assert_came(world, 3, begun, answered, MEM_LEVEL_L2);
    assert_came(world, 4, begun, answered + ARRAY, MEM_LEVEL_L2);
    begun = world->queue.now;
    (void)begin(world, 5, 3, 6, CACHE_LOAD, 4);
    end(world);
    assert_came(world, 5, begun, answered + l1.hit_clocks + DELAY, MEM_LEVEL_L2);
    world_free(world);
}

/* A load of a word of which part has been stored waits for that store, and for no store of another line: `line` was one whose store of
 * part came behind a load. */
static void loads_wait_for_parts(void **state)
{
    enum { WORD = 5 };
    struct world *world = steady_world();
    (void)state;
    (void)begin(world, 0, 3, WORD, CACHE_STORE, 1);
    struct thread *load = begin(world, CACHES, 3, WORD, CACHE_LOAD, 4);
    assert_int_equal(load->left, UINT32_MAX); /* accepted */
    end(world);
    assert_false(load->waits);

    (void)begin(world, 0, 7, WORD + 1, CACHE_LOAD, 4);
    (void)begin(world, CACHES, 7, WORD, CACHE_STORE, 1);
    end(world);
    (void)begin(world, 1, 8, WORD, CACHE_STORE, 4);
    end(world);
    (void)begin(world, 0, 8, WORD + 1, CACHE_LOAD, 4);
    load = begin(world, CACHES, 8, WORD, CACHE_LOAD, 4);
    end(world);
    assert_false(load->waits);
    world_free(world);
}

static uint64_t counted(struct cache *cache, const char *name)
{
    char full[64];
    struct stats *stats = stats_new();
    cache_publish(cache, stats, scope_enter(NULL, "l1"));
    (void)snprintf(full, sizeof full, "l1.%s", name);
    const uint64_t value = stats_value(stats, full);
    stats_free(stats);
    return value;
}

/* Words that another cache stores are taken from the one that had stored them. Nothing is prefetched. */
static void taken_words_are_counted(void **state)
{
    struct world *world = steady_world();
    (void)state;
    for (unsigned word = 5; word < 8; word++)
        (void)begin(world, 0, 3, word, CACHE_STORE, 4);
    end(world);
    for (unsigned word = 5; word < 7; word++)
        (void)begin(world, 1, 3, word, CACHE_STORE, 4);
    end(world);
    assert_int_equal(counted(world->caches[0], "words_taken"), 2);
    assert_int_equal(counted(world->caches[1], "words_taken"), 0);
    assert_int_equal(begin(world, 2, 3, 5, CACHE_PREFETCH, 4)->waits, true);
    end(world);
    assert_int_equal(counted(world->caches[2], "misses"), 0);
    world_free(world);
}

static uint64_t messages(const struct world *world, const char *name)
{
    char full[64];
    struct stats *stats = stats_new();
    denovo_domain_publish(llc_slices_domain(world->level), stats, scope_enter(NULL, "l2"));
    (void)snprintf(full, sizeof full, "l2.messages.%s", name);
    const uint64_t value = stats_value(stats, full);
    stats_free(stats);
    return value;
}

/* Registrations of a line wait for one another, until somebody waits for them: a release, or an access that is refused. */
static void registrations_are_combined(void **state)
{
    enum { COMBINE = 1000 };
    struct world *world = combining_world(COMBINE);
    (void)state;
    at_once(world, 0, CACHE_LOAD); /* brings the line from memory */
    for (unsigned word = 5; word < 9; word++)
        (void)begin(world, 0, 3, word, CACHE_STORE, 4);
    (void)begin(world, 0, 7, 1, CACHE_STORE, 4);
    uint64_t begun = world->queue.now;
    end(world);
    assert_int_equal(messages(world, "Reg"), 2);
    assert_int_equal(messages(world, "combined"), 3);
    assert_true(world->queue.now - begun > COMBINE * (uint64_t)CLOCK);

    begun = world->queue.now;
    (void)begin(world, 0, 3, 9, CACHE_STORE, 4);
    assert_false(cache_release(world->caches[0], &world->threads[0].waiter));
    end(world);
    assert_true(world->threads[0].came - begun < COMBINE * (uint64_t)CLOCK);

    begun = world->queue.now;
    (void)begin(world, 0, 3, 10, CACHE_STORE, 4);
    access_word(&world->threads[0], 3, 10, CACHE_STORE, true, 4); /* an atomic */
    end(world);
    assert_int_equal(messages(world, "Reg"), 4);
    assert_true(world->threads[0].came - begun < COMBINE * (uint64_t)CLOCK);
    world_free(world);
}

/* A load of an old version is a race unless the writer has released and the reader acquired, in this order. */
static void races_are_told_from_stale_loads(void **state)
{
    (void)state;
    struct world *world = world_new(&rounds[2], 1);
    world->newest[3][5] = 0;
    at_once(world, 0, CACHE_LOAD);
    at_once(world, 1, CACHE_STORE);
    at_once(world, 0, CACHE_LOAD);
    assert_int_equal(world->found[WORD_RACE], 1);
    word_versions_acquire(world->versions, 1); /* of cache 0; agent 0 has no cache */
    cache_released(world->caches[1]);
    at_once(world, 0, CACHE_LOAD);
    assert_int_equal(word_versions_found(world->versions, WORD_RACE), 2);
    assert_int_equal(world->found[WORD_STALE], 0);
    word_versions_acquire(world->versions, 1); /* of cache 0; agent 0 has no cache */
    at_once(world, 0, CACHE_LOAD);
    assert_int_equal(world->found[WORD_STALE], 1);
    cache_acquire(world->caches[0]);
    at_once(world, 0, CACHE_LOAD);
    assert_int_equal(word_versions_found(world->versions, WORD_STALE), 1);
    world_free(world);
}

/* Cache and stash of one multiprocessor conflict on a word, unless a release is between. */
static void split_words_are_found(void **state)
{
    (void)state;
    struct world *world = world_new(&rounds[2], 1);
    struct word_versions *versions = world->versions;
    struct word_access cache = {.agent = 2, .address = BASE, .pc = 1},
                       stash = {.agent = 2, .stash = true, .address = BASE, .pc = 2};
    const uint32_t version = word_versions_store(versions, &stash);
    word_versions_load(versions, &stash, version);
    assert_int_equal(world->found[WORD_SPLIT], 0);
    word_versions_load(versions, &cache, version);
    assert_int_equal(world->found[WORD_SPLIT], 1);
    word_versions_release(versions, 2);
    word_versions_load(versions, &cache, version);
    assert_int_equal(world->found[WORD_SPLIT], 1);
    (void)word_versions_store(versions, &stash); /* after a load by the cache */
    assert_int_equal(world->found[WORD_SPLIT], 2);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_stale),        cmocka_unit_test(forgotten_acquires_are_found),
        cmocka_unit_test(races_are_told_from_stale_loads), cmocka_unit_test(split_words_are_found),
        cmocka_unit_test(answers_take_their_clocks),       cmocka_unit_test(loads_wait_for_parts),
        cmocka_unit_test(taken_words_are_counted),         cmocka_unit_test(registrations_are_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
