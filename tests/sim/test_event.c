/* The event queue against a sorted list, its order, and clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/event.h"
#include "tests/isa/random.h"

enum { EVENTS = 200, FIRED = 300000, COMPONENTS = 7, QUEUES = 3 };

/* The reference keeps pending events in an array and searches all of it. */
struct world {
    struct event_queue queues[QUEUES]; /* the first one alone, or a team */
    struct event_team team;
    struct event events[EVENTS];
    struct slot {
        struct world *world;
        uint64_t time, age;
        unsigned index;
        bool pending;
    } slots[EVENTS];
    uint64_t random, age, now;
    unsigned fired, last;
};

static uint64_t random_number(struct world *world)
{
    random_step(&world->random);
    return world->random >> 20;
}

/* Delays of all sizes, many of them equal. */
static uint64_t random_delay(struct world *world)
{
    uint64_t random = random_number(world);
    if (random % 4 == 0)
        return (random >> 8) % 3 * 1000000;
    return (random >> 8) & ((UINT64_C(1) << (random >> 2) % 36) - 1);
}

static unsigned component_of(unsigned index)
{
    return index % COMPONENTS;
}

static struct event_queue *queue_of(struct world *world, unsigned index)
{
    return &world->queues[world->team.count ? component_of(index) % world->team.count : 0];
}

static void schedule(struct world *world, unsigned index)
{
    struct slot *slot = &world->slots[index];
    slot->time = world->queues[0].now + random_delay(world);
    slot->age = world->age++;
    slot->pending = true;
    event_schedule(queue_of(world, index), &world->events[index], slot->time);
}

static bool earlier(const struct slot *a, const struct slot *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (component_of(a->index) != component_of(b->index))
        return component_of(a->index) < component_of(b->index);
    return a->age < b->age;
}

static struct slot *expected(struct world *world)
{
    struct slot *first = NULL;
    for (unsigned i = 0; i < EVENTS; i++)
        if (world->slots[i].pending && (!first || earlier(&world->slots[i], first)))
            first = &world->slots[i];
    return first;
}

static void fire(void *owner, uint64_t now)
{
    struct slot *slot = owner;
    struct world *world = slot->world;
    assert_ptr_equal(slot, expected(world));
    assert_true(now == slot->time && now == queue_of(world, slot->index)->now);
    assert_false(event_pending(&world->events[slot->index]));
    slot->pending = false;
    world->fired++;
    struct slot *next = expected(world);
    if (random_number(world) % 3 == 0) /* looking at the next event changes nothing */
        assert_true(event_queue_next(queue_of(world, slot->index)) == (next ? next->time : CLOCK_NEVER));
    for (unsigned i = (unsigned)(random_number(world) % 4); i > 0; i--) {
        unsigned index = (unsigned)(random_number(world) % EVENTS);
        if (random_number(world) % 3) {
            schedule(world, index); /* may schedule it again, or itself */
        } else {
            event_cancel(queue_of(world, index), &world->events[index]);
            world->slots[index].pending = false;
        }
    }
}

static bool step(struct world *world)
{
    return world->team.count ? event_team_step(&world->team) : event_queue_step(&world->queues[0]);
}

static uint64_t all_fired(const struct world *world)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < QUEUES; i++)
        sum += world->queues[i].fired;
    return sum;
}

/* queues: of the team; 0: one queue alone. */
static void compare(unsigned queues)
{
    struct world *world = calloc(1, sizeof *world);
    for (unsigned i = 0; i < QUEUES; i++)
        event_queue_init(&world->queues[i]);
    if (queues)
        event_team_init(&world->team, world->queues, queues);
    world->random = 42;
    for (unsigned i = 0; i < EVENTS; i++) {
        world->slots[i] = (struct slot){.world = world, .index = i};
        event_init(&world->events[i], component_of(i), fire, &world->slots[i]);
    }
    while (world->fired < FIRED)
        if (!step(world)) {
            assert_null(expected(world));
            for (unsigned i = 0; i < EVENTS; i++)
                schedule(world, i);
        }
    assert_true(all_fired(world) == FIRED);
    free(world);
}

static void like_a_sorted_list(void **state)
{
    (void)state;
    compare(0);
}

static void team_like_a_sorted_list(void **state)
{
    (void)state;
    for (unsigned queues = 1; queues <= QUEUES; queues++)
        compare(queues);
}

struct note {
    char text[64];
    struct event_queue *queue;
    struct event *again;
};

struct letter {
    struct note *note;
    char letter;
};

static void note_letter(void *owner, uint64_t now)
{
    struct letter *letter = owner;
    (void)now;
    size_t length = strlen(letter->note->text);
    letter->note->text[length] = letter->letter;
    letter->note->text[length + 1] = '\0';
    if (letter->note->again) {
        struct event *again = letter->note->again;
        letter->note->again = NULL;
        event_schedule(letter->note->queue, again, letter->note->queue->now);
    }
}

/* At one time: by component, then by age. An event scheduled for now still fires now, in its component's order among
 * the events that have not fired. */
static void ties_by_component_then_age(void **state)
{
    (void)state;
    struct event_queue *queue = calloc(1, sizeof *queue);
    struct note note = {.queue = queue};
    struct letter letters[5];
    struct event events[5];
    const unsigned components[5] = {3, 1, 3, 0, 2};
    event_queue_init(queue);
    for (unsigned i = 0; i < 5; i++) {
        letters[i] = (struct letter){&note, (char)('a' + i)};
        event_init(&events[i], components[i], note_letter, &letters[i]);
    }
    event_schedule(queue, &events[2], 1000);
    event_schedule(queue, &events[0], 1000);
    event_schedule(queue, &events[4], 1000);
    event_schedule(queue, &events[1], 1000);
    note.again = &events[3]; /* component 0, scheduled by the first to fire, b */
    event_queue_run(queue, 999);
    assert_string_equal(note.text, "");
    assert_true(queue->now == 999);
    event_queue_run(queue, 1000);
    assert_string_equal(note.text, "bdeca");
    free(queue);
}

/* Component 2 has an event in each of two queues. Both fire before what the first one schedules, although that is of component
 * 0, unless they are at different times. */
static void parts_of_one_component_fire_together(void **state)
{
    (void)state;
    struct event_queue *queues = calloc(2, sizeof *queues);
    struct event_team team;
    struct note note = {.queue = &queues[0]};
    struct letter letters[4];
    struct event events[4];
    const unsigned components[4] = {2, 2, 0, 1};
    event_queue_init(&queues[0]);
    event_queue_init(&queues[1]);
    event_team_init(&team, queues, 2);
    for (unsigned i = 0; i < 4; i++) {
        letters[i] = (struct letter){&note, (char)('a' + i)};
        event_init(&events[i], components[i], note_letter, &letters[i]);
    }
    event_schedule(&queues[0], &events[0], 1000);
    event_schedule(&queues[1], &events[1], 1000);
    event_schedule(&queues[1], &events[3], 1000);
    assert_true(event_team_step(&team)); /* d */
    note.again = &events[2];             /* by a */
    while (event_team_step(&team))
        ;
    assert_string_equal(note.text, "dabc");
    event_schedule(&queues[0], &events[0], 2000);
    event_schedule(&queues[1], &events[1], 2001);
    note.again = &events[2];
    while (event_team_step(&team))
        ;
    assert_string_equal(note.text, "dabcacb");
    assert_true(queues[0].now == 2001 && queues[1].now == 2001);
    free(queues);
}

/* Times of every magnitude, up to the greatest. */
static void far_times(void **state)
{
    (void)state;
    struct event_queue *queue = calloc(1, sizeof *queue);
    struct note note = {.queue = queue};
    struct letter letters[6];
    struct event events[6];
    const uint64_t times[6] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 60, UINT64_C(1) << 33, 4096, 0};
    event_queue_init(queue);
    for (unsigned i = 0; i < 6; i++) {
        letters[i] = (struct letter){&note, (char)('a' + i)};
        event_init(&events[i], 0, note_letter, &letters[i]);
        event_schedule(queue, &events[i], times[i]);
    }
    event_queue_run(queue, CLOCK_NEVER);
    assert_string_equal(note.text, "fedcba");
    assert_true(queue->now == UINT64_MAX);
    assert_false(event_queue_step(queue));
    free(queue);
}

static void clocks(void **state)
{
    (void)state;
    struct clock clock;
    struct error err;
    assert_true(clock_set_frequency(&clock, UINT64_C(1400000000), &err));
    assert_int_equal(clock.period, 714286); /* 714285.714... */
    assert_true(clock_set_frequency(&clock, UINT64_C(2000000000), &err));
    assert_int_equal(clock.period, 500000);
    assert_int_equal(clock_edge(&clock, 0), 0);
    assert_int_equal(clock_next(&clock, 0), 500000);
    assert_int_equal(clock_edge(&clock, 1), 500000);
    assert_int_equal(clock_edge(&clock, 500000), 500000);
    assert_int_equal(clock_next(&clock, 499999), 500000);
    assert_int_equal(clock_cycle(&clock, 500001), 2);
    assert_false(clock_set_frequency(&clock, 0, &err));
    assert_non_null(strstr(err.text, "1 kHz to 1 THz"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_a_sorted_list),
        cmocka_unit_test(team_like_a_sorted_list),
        cmocka_unit_test(ties_by_component_then_age),
        cmocka_unit_test(parts_of_one_component_fire_together),
        cmocka_unit_test(far_times),
        cmocka_unit_test(clocks),
    };
    return cmocka_run_group_tests_name("events and clocks", tests, NULL, NULL);
}
