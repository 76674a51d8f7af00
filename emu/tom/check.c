#include "emu/tom/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/mem/llc.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "emu/sim/text/say.h"
#include "emu/simt/coalesce.h"

enum { FIRST_SIZE = 1 << 12, MOST_MESSAGES = 5 };

enum rule { UNPUSHED, STALE_NEAR, STALE_FRONT, STALE_LEVEL, RULES };

/* A hash table by a number that is not 0. */
struct map {
    uint64_t *keys;
    void *values;
    size_t size, count, value_size; /* size: a power of two */
};

/* The stores to a line. */
struct stores {
    uint64_t stored; /* fs: last store of a multiprocessor in front; 0: none */
    uint32_t by;     /* number of that multiprocessor */
    bool several;    /* several multiprocessors have stored to it */
    uint32_t block_by;
    uint64_t spawned,
        answered; /* fs: of the last block that has stored to it, and whose answer has come; 0: none */
};

/* A copy of a line. */
struct copy {
    uint64_t asked, filled; /* fs */
};

/* A cache that is watched. */
struct watched {
    struct tom_check *check;
    struct cache_observer observer;
    struct map copies;
    uint32_t number; /* number of the multiprocessor in front or of the stack; unused for slices */
    const char *name;
};

struct tom_check {
    struct tom *tom;
    struct map lines;
    struct watched *fronts, *units, *slices;
    uint32_t slice_count;
    uint64_t *requests; /* by front and stack: fs when the last block spawned there was taken from the warp */
    uint64_t *spawns;   /* likewise: fs when that block was spawned */
    uint64_t found[RULES];
};

static size_t slot_of(const struct map *map, uint64_t key)
{
    size_t at = (size_t)(key * MIX_FACTOR >> 20) & (map->size - 1);
    while (map->keys[at] && map->keys[at] != key)
        at = (at + 1) & (map->size - 1);
    return at;
}

static struct map map_new(size_t value_size)
{
    struct map map = {.size = FIRST_SIZE, .value_size = value_size};
    map.keys = alloc(map.size, sizeof *map.keys);
    map.values = alloc(map.size, value_size);
    return map;
}

static void map_free(struct map *map)
{
    free(map->keys);
    free(map->values);
}

static void *value_at(const struct map *map, size_t slot)
{
    return (char *)map->values + slot * map->value_size;
}

/* Returns the key's value, or NULL. */
static void *map_get(const struct map *map, uint64_t key)
{
    size_t slot = slot_of(map, key);
    return map->keys[slot] ? value_at(map, slot) : NULL;
}

static void *map_put(struct map *map, uint64_t key);

static void grow(struct map *map)
{
    struct map old = *map;
    map->size *= 2;
    map->count = 0;
    map->keys = alloc(map->size, sizeof *map->keys);
    map->values = alloc(map->size, map->value_size);
    for (size_t i = 0; i < old.size; i++) {
        if (!old.keys[i])
            continue;
        char *to = map_put(map, old.keys[i]);
        const char *from = value_at(&old, i);
        for (size_t j = 0; j < map->value_size; j++)
            to[j] = from[j];
    }
    map_free(&old);
}

/* Returns the key's value, which is zeroed if it is new. */
static void *map_put(struct map *map, uint64_t key)
{
    if (2 * map->count >= map->size)
        grow(map);
    size_t slot = slot_of(map, key);
    map->count += map->keys[slot] == 0;
    map->keys[slot] = key;
    return value_at(map, slot);
}

/* Lines as keys: address 0 is no line of memory. */

/* Stores the lines of memory that a warp's access touches. Returns their number. */
static unsigned lines_of(const struct tom_check *check, const struct warp_report *report,
                         struct coalesce_line lines[COALESCE_LINES])
{
    return coalesce_lines(report->physical, report->mask & ~report->shared_mask, report->op->size,
                          cache_configuration(check->tom->fronts[0].l1)->line, lines);
}

static void found(struct tom_check *check, enum rule rule, uint64_t line, const char *who, const char *what)
{
    static const char *const keys[RULES] = {"push", "drop_near", "drop_front", "drop_front"};
    uint64_t all = 0;
    for (unsigned i = 0; i < RULES; i++)
        all += check->found[i];
    check->found[rule]++;
    if (all < MOST_MESSAGES)
        fprintf(say_stream(),
                "croft: --check coherence: %s loads line 0x%" PRIx64
                ", %s (key %s of the offload controllers)\n",
                who, line, what, keys[rule]);
}

void tom_check_stored(struct tom_check *check, const struct tom_front *front,
                      const struct warp_report *report, uint64_t now)
{
    struct coalesce_line lines[COALESCE_LINES];
    const unsigned count = lines_of(check, report, lines);
    const uint32_t by = (uint32_t)(front - check->tom->fronts);
    for (unsigned i = 0; i < count; i++) {
        struct stores *stores = map_put(&check->lines, lines[i].line);
        stores->several = stores->several || (stores->stored && stores->by != by);
        stores->stored = now;
        stores->by = by;
    }
}

static size_t pair_of(const struct tom_check *check, const struct tom_task *task)
{
    const struct tom *tom = check->tom;
    uint32_t stack = 0;
    while (tom->stacks[stack].unit != task->unit)
        stack++;
    return (size_t)(task->front - tom->fronts) * tom->stack_count + stack;
}

void tom_check_spawned(struct tom_check *check, const struct tom_task *task, uint64_t now)
{
    size_t pair = pair_of(check, task);
    check->requests[pair] = task->asked;
    check->spawns[pair] = now;
}

/* Returns whether a store to the line has not reached memory. The caller knows that all stores to the line are older than the
 * block. If several multiprocessors have stored to it, the second level is not asked: it may be writing another one's store. */
static bool is_on_its_way(const struct tom_front *front, const struct stores *stores, uint64_t line)
{
    if (simt_storing(front->simt, line) || cache_writing(front->l1, line))
        return true;
    for (uint32_t i = 0; i < front->slice_count && !stores->several; i++)
        if (llc_writing(front->slices[i], line))
            return true;
    return false;
}

void tom_check_loaded(struct tom_check *check, const struct tom_task *task, const struct warp_report *report,
                      uint64_t now)
{
    struct coalesce_line lines[COALESCE_LINES];
    const unsigned count = lines_of(check, report, lines);
    (void)now;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t line = lines[i].line;
        const struct stores *stores = map_get(&check->lines, line);
        if (stores && stores->stored && stores->stored <= task->asked &&
            stores->by == (uint32_t)(task->front - check->tom->fronts) &&
            is_on_its_way(task->front, stores, line))
            found(check, UNPUSHED, line, task->unit->simt_name,
                  "to which its multiprocessor in front has stored, and memory does not have the store yet");
    }
}

void tom_check_answered(struct tom_check *check, const struct tom_task *task, uint64_t now)
{
    for (uint32_t i = 0; i < task->line_count; i++) {
        struct stores *stores = map_put(&check->lines, task->lines[i]);
        stores->block_by = (uint32_t)(task->front - check->tom->fronts);
        stores->spawned = task->begun;
        stores->answered = now;
    }
}

/* Observers. */

static void filled(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                   unsigned level)
{
    struct watched *watched = context;
    struct copy *copy = map_put(&watched->copies, line);
    (void)cache;
    (void)level;
    *copy = (struct copy){asked, now};
}

/* A load in a stack. */
static void accessed_near(void *context, const struct cache *cache, uint64_t line, bool store,
                          const struct cache_actor *actor, uint64_t now)
{
    const struct watched *watched = context;
    struct tom_check *check = watched->check;
    const struct stores *stores = map_get(&check->lines, line);
    const struct copy *copy = map_get(&watched->copies, line);
    (void)cache;
    (void)actor;
    if (store || !stores || !copy || !stores->stored || now <= copy->filled)
        return;
    size_t pair = (size_t)stores->by * check->tom->stack_count + watched->number;
    if (check->spawns[pair] && copy->filled <= check->spawns[pair] && copy->asked < stores->stored &&
        stores->stored <= check->requests[pair] && now > check->spawns[pair])
        found(check, STALE_NEAR, line, watched->name,
              "of which it has a copy from before a store in front that came before an offload");
}

/* A load in front. */
static void accessed_front(void *context, const struct cache *cache, uint64_t line, bool store,
                           const struct cache_actor *actor, uint64_t now)
{
    const struct watched *watched = context;
    struct tom_check *check = watched->check;
    const struct stores *stores = map_get(&check->lines, line);
    const struct copy *copy = map_get(&watched->copies, line);
    (void)cache;
    (void)actor;
    if (!store && stores && copy && stores->answered && stores->block_by == watched->number &&
        now > copy->filled && now > stores->answered && copy->filled <= stores->answered &&
        copy->asked < stores->spawned)
        found(check, STALE_FRONT, line, watched->name,
              "of which it has a copy from before a block in a stack stored to it for this multiprocessor");
}

/* A line comes to a multiprocessor in front. */
static void filled_front(void *context, const struct cache *cache, uint64_t line, uint64_t asked,
                         uint64_t now, unsigned level)
{
    struct watched *watched = context;
    struct tom_check *check = watched->check;
    const struct stores *stores = map_get(&check->lines, line);
    filled(context, cache, line, asked, now, level);
    if (!stores || !stores->answered || level != MEM_LEVEL_L2 || asked <= stores->answered)
        return;
    for (uint32_t i = 0; i < check->slice_count; i++) {
        const struct copy *copy = map_get(&check->slices[i].copies, line);
        if (copy && copy->filled <= stores->answered && copy->asked < stores->spawned)
            found(check, STALE_LEVEL, line, watched->name,
                  "of which the second level has a copy from before a block in a stack stored to it");
    }
}

static void watch(struct tom_check *check, struct watched *watched, uint32_t number, const char *name)
{
    watched->check = check;
    watched->number = number;
    watched->name = name;
    watched->copies = map_new(sizeof(struct copy));
    watched->observer.fill = filled;
    watched->observer.context = watched;
}

/* Watches the slices of the second levels, each of which several multiprocessors share. */
static void watch_slices(struct tom_check *check)
{
    const struct tom *tom = check->tom;
    for (uint32_t i = 0; i < tom->front_count; i++) {
        const struct tom_front *front = &tom->fronts[i];
        if (i > 0 && front->slices == tom->fronts[i - 1].slices)
            continue;
        for (uint32_t j = 0; j < front->slice_count; j++) {
            struct watched *watched = &check->slices[check->slice_count++];
            watch(check, watched, j, "the second level");
            llc_observe(front->slices[j], &watched->observer);
        }
    }
}

static uint32_t count_slices(const struct tom *tom)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tom->front_count; i++)
        if (i == 0 || tom->fronts[i].slices != tom->fronts[i - 1].slices)
            count += tom->fronts[i].slice_count;
    return count;
}

struct tom_check *tom_check_new(struct tom *tom)
{
    struct tom_check *check = alloc(1, sizeof *check);
    check->tom = tom;
    check->lines = map_new(sizeof(struct stores));
    check->fronts = alloc(tom->front_count, sizeof *check->fronts);
    check->units = alloc(tom->stack_count, sizeof *check->units);
    check->slices = alloc(count_slices(tom), sizeof *check->slices);
    check->requests = alloc((size_t)tom->front_count * tom->stack_count, sizeof *check->requests);
    check->spawns = alloc((size_t)tom->front_count * tom->stack_count, sizeof *check->spawns);
    for (uint32_t i = 0; i < tom->front_count; i++) {
        watch(check, &check->fronts[i], i, simt_name(tom->fronts[i].simt));
        check->fronts[i].observer.fill = filled_front;
        check->fronts[i].observer.access = accessed_front;
        cache_observe(tom->fronts[i].l1, &check->fronts[i].observer);
    }
    for (uint32_t i = 0; i < tom->stack_count; i++) {
        if (!tom->stacks[i].unit)
            continue;
        watch(check, &check->units[i], i, tom->stacks[i].unit->simt_name);
        check->units[i].observer.access = accessed_near;
        cache_observe(tom->stacks[i].unit->l1, &check->units[i].observer);
        tom->stacks[i].unit->check = check;
    }
    watch_slices(check);
    return check;
}

void tom_check_free(struct tom_check *check)
{
    if (!check)
        return;
    for (uint32_t i = 0; i < check->tom->front_count; i++)
        map_free(&check->fronts[i].copies);
    for (uint32_t i = 0; i < check->tom->stack_count; i++)
        map_free(&check->units[i].copies);
    for (uint32_t i = 0; i < check->slice_count; i++)
        map_free(&check->slices[i].copies);
    map_free(&check->lines);
    free(check->fronts);
    free(check->units);
    free(check->slices);
    free(check->requests);
    free(check->spawns);
    free(check);
}

uint64_t tom_check_end(const struct tom_check *check)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < RULES; i++)
        all += check->found[i];
    if (all)
        fprintf(say_stream(),
                "croft: --check coherence: of the loads of multiprocessors, %" PRIu64
                " came before a store had reached memory, %" PRIu64 " hit old copies in stacks, %" PRIu64
                " in front, %" PRIu64 " in the second level\n",
                check->found[UNPUSHED], check->found[STALE_NEAR], check->found[STALE_FRONT],
                check->found[STALE_LEVEL]);
    return all;
}
