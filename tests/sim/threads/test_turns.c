/* Positions against the merged order of a team: random events of several queues, which schedule others at their own time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/sim/alloc.h"
#include "emu/sim/threads/turns.h"
#include "emu/sim/threads/workers.h"

enum {
    QUEUES = 4,
    OWN = 6,                       /* components of a queue */
    SHARED = 3 + QUEUES * OWN / 2, /* a component with an event in each queue */
    TIMES = 12,                    /* of the window */
    MOST = 4096,
};

struct rig;

struct actor {
    struct event event;
    struct rig *rig;
    unsigned queue, number; /* component */
    unsigned fired;
};

/* What has fired. */
struct entry {
    uint64_t position;
    unsigned queue, number, turn;
};

struct rig {
    struct event_queue queues[QUEUES];
    struct event_team team;
    struct turns turns;
    struct event_window windows[QUEUES];
    struct actor actors[QUEUES][OWN + 1]; /* the last is shared */
    uint64_t seed;
    struct entry log[MOST]; /* in the order of firing; of a queue with a log of its own, from own[queue] on */
    unsigned count;
    struct entry own[QUEUES][MOST];
    unsigned own_count[QUEUES];
    bool apart;
};

/* A number that depends on what fires alone, not on when it is drawn. */
static uint64_t draw(const struct rig *rig, const struct actor *actor, unsigned what)
{
    uint64_t x = rig->seed ^ ((uint64_t)actor->number << 40 | (uint64_t)actor->queue << 32 |
                              (uint64_t)actor->fired << 8 | what);
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

static void note(struct rig *rig, const struct actor *actor)
{
    const struct entry entry = {.queue = actor->queue, .number = actor->number, .turn = actor->fired};
    if (rig->apart) {
        struct entry *own = &rig->own[actor->queue][rig->own_count[actor->queue]++];
        *own = entry;
        own->position = atomic_load(&rig->turns.of[actor->queue].position);
    }
    if (!rig->apart || rig->windows[actor->queue].strict)
        rig->log[rig->count++] = entry;
}

/* Schedules up to two actors of the queue: at this time or later; the shared one only later. */
static void fire(void *owner, uint64_t now)
{
    struct actor *actor = owner;
    struct rig *rig = actor->rig;
    struct event_queue *queue = &rig->queues[actor->queue];
    note(rig, actor);
    actor->fired++;
    assert_true(rig->count < MOST);
    for (unsigned i = 0; i < 2; i++) {
        struct actor *next = &rig->actors[actor->queue][draw(rig, actor, 2 * i) % (OWN + 1)];
        const uint64_t later = draw(rig, actor, 2 * i + 1) % 8;
        const bool same = later < 5 && next != &rig->actors[actor->queue][OWN] && actor->fired % 4;
        if (!event_pending(&next->event))
            event_schedule(queue, &next->event, same ? now : now + 1 + later % 3);
    }
}

static void set_up(struct rig *rig, uint64_t seed)
{
    rig->seed = seed;
    rig->count = 0;
    rig->apart = false;
    for (unsigned q = 0; q < QUEUES; q++) {
        event_queue_init(&rig->queues[q]);
        rig->own_count[q] = 0;
    }
    event_team_init(&rig->team, rig->queues, QUEUES);
    for (unsigned q = 0; q < QUEUES; q++)
        for (unsigned i = 0; i <= OWN; i++) {
            struct actor *actor = &rig->actors[q][i];
            /* components of the queues alternate, below and above the shared one */
            unsigned component = i == OWN ? SHARED : 3 + i * QUEUES + q;
            component += i < OWN && component >= SHARED;
            *actor = (struct actor){.rig = rig, .queue = q, .number = component};
            event_init(&actor->event, component, fire, actor);
            if (draw(rig, actor, 9) % 2)
                event_schedule(&rig->queues[q], &actor->event, 100 + draw(rig, actor, 10) % 3);
        }
}

static void run_merged(struct rig *rig)
{
    while (event_queue_next(rig->queues) < 100 + TIMES)
        assert_true(event_team_step(&rig->team));
}

static int by_position(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int64_t ahead = (int64_t)(a->position - b->position);
    if (ahead)
        return ahead < 0 ? -1 : 1;
    return a->queue != b->queue ? (a->queue < b->queue ? -1 : 1) : 0;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    return a->queue == b->queue && a->number == b->number && a->turn == b->turn;
}

/* Merges the queues' own logs by position; each is in order. */
static unsigned merge(const struct rig *rig, struct entry *result)
{
    unsigned at[QUEUES] = {0}, count = 0;
    for (;;) {
        const struct entry *first = NULL;
        for (unsigned q = 0; q < QUEUES; q++) {
            const struct entry *entry = &rig->own[q][at[q]];
            if (at[q] < rig->own_count[q] && (!first || by_position(entry, first) < 0))
                first = entry;
        }
        if (!first)
            return count;
        result[count++] = *first;
        at[first->queue]++;
    }
}

static void test_positions(void **state)
{
    struct rig *merged = alloc_checked(aligned_alloc(128, sizeof(struct rig))),
               *apart = alloc_checked(aligned_alloc(128, sizeof(struct rig)));
    struct entry *result = alloc(MOST, sizeof *result);
    unsigned total = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        set_up(merged, seed * UINT64_C(0x9e3779b97f4a7c15));
        run_merged(merged);
        set_up(apart, merged->seed);
        apart->apart = true;
        turns_begin(&apart->turns, apart->windows, apart->queues, QUEUES, 100, 100 + TIMES);
        for (unsigned q = 0; q < QUEUES; q++)
            window_run(&apart->queues[q]);
        turns_end(apart->queues, QUEUES);
        assert_int_equal(merge(apart, result), merged->count);
        for (unsigned i = 0; i < merged->count; i++)
            assert_true(is_same(&merged->log[i], &result[i]));
        total += merged->count;
    }
    assert_true(total > 2000 * 20);
    free(result);
    free(apart);
    free(merged);
}

static void run_queue(void *context, unsigned number)
{
    struct rig *rig = context;
    window_run(&rig->queues[number]);
}

/* On threads, if each event waits for its turn, they fire in the merged order. The log has no lock. */
static void test_turns(void **state)
{
    struct rig *merged = alloc_checked(aligned_alloc(128, sizeof(struct rig))),
               *apart = alloc_checked(aligned_alloc(128, sizeof(struct rig)));
    struct error err;
    struct workers *workers = workers_new(QUEUES, run_queue, apart, &err);
    (void)state;
    assert_non_null(workers);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        set_up(merged, seed);
        run_merged(merged);
        set_up(apart, seed);
        apart->apart = true;
        turns_begin(&apart->turns, apart->windows, apart->queues, QUEUES, 100, 100 + TIMES);
        for (unsigned q = 0; q < QUEUES; q++)
            apart->windows[q].strict = true;
        workers_run(workers);
        turns_end(apart->queues, QUEUES);
        assert_int_equal(apart->count, merged->count);
        for (unsigned i = 0; i < merged->count; i++)
            assert_true(is_same(&merged->log[i], &apart->log[i]));
    }
    workers_free(workers);
    free(apart);
    free(merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_positions), cmocka_unit_test(test_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
