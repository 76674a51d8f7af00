/* The level below the stashes of test_random.c as DeNovo's controllers (emu/mem/denovo.h): a unit for each stash, and one registry.
 * Messages overtake each other at random; lines are evicted at random, so that Revokes reach stashes. */
#ifndef TESTS_STASH_DENOVO_WORLD_H
#define TESTS_STASH_DENOVO_WORLD_H

#include "emu/stash/unit.h"

enum { LINES = WORDS * 4 / LINE, LINE_WORDS = LINE / 4, MAIL = 4096 };

struct denovo_world {
    struct world *world;
    struct denovo_registry *registry;
    struct denovo_line lines[LINES];
    bool present[LINES], fetching[LINES];
    struct stash_unit *units[STASHES];
    struct denovo_message mail[MAIL];
    unsigned mail_count;
};

static void mail_send(void *context, const struct denovo_message *message, uint64_t now)
{
    struct denovo_world *denovo = context;
    (void)now;
    assert_true(denovo->mail_count < MAIL);
    denovo->world->kinds[0]++;
    denovo->world->forwards +=
        message->kind == DENOVO_MSG_FORWARD_READ || message->kind == DENOVO_MSG_FORWARD_REGISTER;
    denovo->world->kinds[1] += message->kind == DENOVO_MSG_REVOKE;
    denovo->world->kinds[2] += message->kind == DENOVO_MSG_REMAP;
    denovo->world->kinds[3] += message->kind == DENOVO_MSG_WRITE_BACK;
    denovo->mail[denovo->mail_count++] = *message;
}

static unsigned number_of(uint64_t line)
{
    return word_of(line) / LINE_WORDS;
}

static struct denovo_line *home_find(void *home, uint64_t line)
{
    struct denovo_world *denovo = home;
    return denovo->present[number_of(line)] ? &denovo->lines[number_of(line)] : NULL;
}

static struct denovo_line *home_make(void *home, uint64_t line, uint64_t now)
{
    struct denovo_world *denovo = home;
    (void)now;
    denovo->present[number_of(line)] = true;
    denovo->lines[number_of(line)] = (struct denovo_line){.address = line};
    return &denovo->lines[number_of(line)];
}

static void home_fetch(void *home, struct denovo_line *line, uint64_t now)
{
    (void)now;
    ((struct denovo_world *)home)->fetching[number_of(line->address)] = true;
}

static void home_evicted(void *home, struct denovo_line *line, uint64_t now)
{
    struct denovo_world *denovo = home;
    (void)now;
    if (line->dirty)
        memcpy(denovo->world->memory + word_of(line->address), line->value, LINE);
    denovo->present[number_of(line->address)] = false;
}

static void home_room(void *home, uint64_t now)
{
    (void)home, (void)now;
}

/* The world that is being simulated, for the unit's callbacks. */
static struct world *simulated;

/* A load gets the version that the model has. */
static void loaded(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                   uint64_t now)
{
    /* Words that are asked for ahead may be old, if the block does not load them (test_random.c). */
    for (uint64_t left = simulated->prefetches ? 0 : mask; left; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        assert_int_equal(value[bit], simulated->reference[word_of(line) + bit]);
    }
    stash_holder_ops.arrived(holder, line, map, mask, value, now);
}

static void connect_below(struct world *world, struct unit *unit)
{
    static const struct denovo_home_ops home = {.find = home_find,
                                                .make = home_make,
                                                .fetch = home_fetch,
                                                .evicted = home_evicted,
                                                .room = home_room};
    static struct denovo_holder_ops holder;
    if (!world->denovo) {
        world->denovo = calloc(1, sizeof *world->denovo);
        assert_non_null(world->denovo);
        world->denovo->world = world;
        world->denovo->registry =
            denovo_registry_new(&(struct denovo_registry_config){.held = 64, .words = LINE_WORDS}, &home,
                                world->denovo, (struct denovo_post){mail_send, world->denovo, NULL});
    }
    simulated = world;
    holder = stash_holder_ops;
    holder.arrived = loaded;
    const struct denovo_unit_config config = {.number = unit->number,
                                              .mshrs = (uint16_t)(4 + unit->number * 4),
                                              .write_backs = (uint16_t)(2 + unit->number * 8),
                                              .words = LINE_WORDS};
    world->denovo->units[unit->number] =
        stash_unit_new(&config, &holder, unit->stash, (struct denovo_post){mail_send, world->denovo, NULL});
}

static bool is_settled(const struct unit *unit)
{
    return denovo_settled(stash_unit_of(unit->world->denovo->units[unit->number]));
}

/* Answers a fetch of memory, at times, or delivers a message, which the registry may refuse. */
static void deliver_one(struct world *world)
{
    struct denovo_world *denovo = world->denovo;
    const unsigned line = (unsigned)below(world, LINES);
    for (unsigned i = 0; i < LINES && below(world, 2); i++)
        if (denovo->fetching[(line + i) % LINES]) {
            denovo->fetching[(line + i) % LINES] = false;
            denovo_fetched(denovo->registry, &denovo->lines[(line + i) % LINES],
                           world->memory + (size_t)((line + i) % LINES) * LINE_WORDS, 0);
            return;
        }
    for (unsigned i = 0; i < LINES; i++) /* or else any */
        if (denovo->fetching[i] && !denovo->mail_count) {
            denovo->fetching[i] = false;
            denovo_fetched(denovo->registry, &denovo->lines[i], world->memory + (size_t)i * LINE_WORDS, 0);
            return;
        }
    if (!denovo->mail_count)
        return;
    const unsigned chosen = (unsigned)below(world, denovo->mail_count);
    const struct denovo_message message = denovo->mail[chosen];
    denovo->mail[chosen] = denovo->mail[--denovo->mail_count];
    if (message.to != DENOVO_REGISTRY)
        denovo_receive(stash_unit_of(denovo->units[message.to]), &message, 0);
    else if (!denovo_registry_receive(denovo->registry, &message, 0))
        denovo->mail[denovo->mail_count++] = message;
}

static void drain(struct world *world)
{
    struct denovo_world *denovo = world->denovo;
    bool busy = true;
    for (unsigned i = 0; busy; i++) {
        assert_true(i < 1000000);
        deliver_one(world);
        busy = denovo->mail_count > 0;
        for (unsigned line = 0; line < LINES; line++)
            busy = busy || denovo->fetching[line];
    }
}

/* Returns the version at the place that the registry names. Nothing is under way. */
static uint32_t newest(struct world *world, uint32_t word)
{
    const struct denovo_world *denovo = world->denovo;
    const struct denovo_line *line = &denovo->lines[word / LINE_WORDS];
    const unsigned bit = word % LINE_WORDS;
    if (!denovo->present[word / LINE_WORDS])
        return world->memory[word];
    if (!(line->registered >> bit & 1))
        return line->value[bit];
    struct stash *stash = world->units[line->owner[bit].unit].stash;
    const uint32_t place = stash_find(stash, BASE + SHIFT + 4 * (uint64_t)word, line->owner[bit].map);
    assert_int_not_equal(place, UINT32_MAX);
    return *stash_version(stash, place);
}

/* In the place of a CPU: the last level evicts a line. */
static void step_other(struct world *world)
{
    struct denovo_world *denovo = world->denovo;
    const unsigned line = (unsigned)below(world, LINES);
    if (denovo->present[line])
        (void)denovo_evict(denovo->registry, &denovo->lines[line], 0);
}

static void free_below(struct world *world)
{
    for (unsigned i = 0; i < STASHES; i++)
        stash_unit_free(world->denovo->units[i]);
    denovo_registry_free(world->denovo->registry);
    free(world->denovo);
}

#endif
