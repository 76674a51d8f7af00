/* Random sequences of operations on three stashes and a CPU against a flat model: a version for each word of memory. The level
 * below is a registry of words whose transactions are atomic, but take effect later, in random order. Programs are free of data
 * races: in a kernel, a word is stored and loaded by one map of one block, or loaded by many. A load must see the last store; none may be lost, and the
 * invariants of each stash hold after every step. ALL=1: ten times as many steps. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/mix.h"
#include "emu/stash/hardware.h"
#include "tests/isa/random.h"

enum {
    STASHES = 3,
    BYTES = 2048,
    LINE = 64,
    WORDS = 4096, /* of memory: four pages */
    MESSAGES = 64,
    BLOCKS = 3, /* at once on a stash */
    CPU = STASHES,
    NOBODY = 255,
    SHARED = 1 << 30, /* in claims: many load it */
};
#define BASE  UINT64_C(0x80000000)
#define SHIFT UINT64_C(0x10000000)

enum kind { READ, ENROLL, REMAP, WRITE };

struct message {
    enum kind kind;
    uint8_t unit, map;
    bool used, poisoned, ahead; /* ahead: nobody waits for the words */
    uint64_t line, mask, fill;
    uint32_t versions[LINE / 4];
};

struct block {
    bool used, ending;
    uint8_t number; /* in its stash */
    uint32_t id, first, bytes;
    uint8_t maps;
    struct stash_tile tiles[4];
    uint32_t local
        [BYTES /
         4]; /* of non-coherent maps: versions that the block has stored, by word of the storage; 0: none */
    enum { IDLE, ADD, CHANGE, LOAD, STORE, WAITING } state;
    struct stash_tile tile; /* of ADD and CHANGE */
    uint8_t map;            /* of CHANGE */
    struct stash_access access;
    uint8_t sent;
    bool looked, done[STASH_WORDS]; /* done: words of a store */
    struct waiter {
        struct stash_waiter base;
        struct block *block;
    } waiter;
    unsigned waits;
};

struct world {
    struct unit {
        struct world *world;
        uint8_t number;
        struct stash *stash;
        struct block blocks[BLOCKS];
        uint64_t pending[WORDS * 4 / LINE];
    } units[STASHES];
    struct message messages[MESSAGES];
    bool prefetches, prefetching;
    struct denovo_world *denovo;              /* test_denovo.c */
    uint32_t memory[WORDS], reference[WORDS]; /* versions */
    uint8_t owner[WORDS], owner_map[WORDS];
    uint32_t claims[WORDS];  /* of this kernel: 0, SHARED, or the id of the map that stores */
    uint32_t readers[WORDS]; /* id of the one map that loads, if claims is 0 */
    uint32_t version, blocks;
    uint64_t random;
    unsigned refusals; /* percent */
    unsigned loads, stores, forwards, kinds[4];
};

static uint64_t below(struct world *world, uint64_t limit)
{
    random_shift(&world->random);
    return (world->random >> 11) % limit;
}

static uint32_t word_of(uint64_t physical)
{
    return (uint32_t)(physical - BASE - SHIFT) / 4;
}

#ifndef WITH_DENOVO
static struct message *post(struct unit *unit, enum kind kind, uint64_t line, unsigned map, uint64_t mask)
{
    struct world *world = unit->world;
    if (below(world, 100) < world->refusals)
        return NULL;
    for (unsigned i = 0; i < MESSAGES; i++)
        if (!world->messages[i].used) {
            world->kinds[kind]++;
            world->messages[i] = (struct message){.kind = kind,
                                                  .unit = unit->number,
                                                  .map = (uint8_t)map,
                                                  .used = true,
                                                  .line = line,
                                                  .mask = mask};
            return &world->messages[i];
        }
    return NULL;
}

/* Returns the words of the line that the unit has on their way back. */
static uint64_t buffered(const struct unit *unit, uint64_t line)
{
    uint64_t words = 0;
    for (unsigned i = 0; i < MESSAGES; i++) {
        const struct message *message = &unit->world->messages[i];
        if (message->used && message->kind == WRITE && message->unit == unit->number && message->line == line)
            words |= message->mask;
    }
    return words;
}

static uint64_t *pending_of(struct unit *unit, uint64_t line)
{
    return &unit->pending[word_of(line) / (LINE / 4)];
}

static bool fake_read(void *context, uint64_t line, unsigned map, uint64_t need, uint64_t fill, uint64_t now)
{
    struct unit *unit = context;
    (void)now;
    for (uint64_t left = need; left; left &= left - 1)
        assert_true(stash_code(unit->stash,
                               stash_place(unit->stash, line + 4 * (uint64_t)__builtin_ctzll(left), map)) ==
                    STASH_CODE_INVALID);
    assert_int_equal(need & *pending_of(unit, line), 0);
    if (need & buffered(unit, line))
        return false;
    struct message *message = post(unit, READ, line, map, need);
    if (message)
        message->ahead = unit->world->prefetching;
    if (message)
        message->fill = fill & ~buffered(unit, line) & ~*pending_of(unit, line);
    return message;
}

static bool fake_enroll(void *context, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct unit *unit = context;
    (void)now;
    assert_int_equal(mask & *pending_of(unit, line), 0);
    for (unsigned map_of = 0; map_of < 8;
         map_of++) /* no other map of the stash holds them, but ChgMap's own */
        if (map_of != map)
            assert_int_equal(mask & stash_words(unit->stash, line, map_of, STASH_REGISTERED) &
                                 ~stash_words(unit->stash, line, map, STASH_REGISTERED),
                             0);
    if ((mask & buffered(unit, line)) || !post(unit, ENROLL, line, map, mask))
        return false;
    *pending_of(unit, line) |= mask;
    /* a store ends what an open read may install */
    for (unsigned i = 0; i < MESSAGES; i++)
        if (unit->world->messages[i].used && unit->world->messages[i].kind == READ &&
            unit->world->messages[i].unit == unit->number && unit->world->messages[i].line == line)
            unit->world->messages[i].fill &= ~mask;
    return true;
}

static bool fake_remap(void *context, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct unit *unit = context;
    (void)now;
    assert_int_equal(mask & *pending_of(unit, line), 0);
    if (!post(unit, REMAP, line, map, mask))
        return false;
    *pending_of(unit, line) |= mask;
    return true;
}

static bool fake_write_back(void *context, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct unit *unit = context;
    (void)now;
    assert_int_equal(mask & *pending_of(unit, line), 0);
    assert_int_equal(mask & ~stash_words(unit->stash, line, map, STASH_REGISTERED), 0);
    struct message *message = post(unit, WRITE, line, map, mask);
    for (uint64_t left = mask; message && left; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        message->versions[bit] = *stash_version(unit->stash, stash_place(unit->stash, line + 4 * bit, map));
    }
    if (message && below(unit->world, 2)) /* DeNovo's unit takes them away itself */
        stash_set(unit->stash, line, map, mask, STASH_INVALID, 0);
    return message;
}

static uint64_t fake_pending(void *context, uint64_t line)
{
    const struct unit *unit = context;
    return unit->pending[word_of(line) / (LINE / 4)];
}

static void fake_acquire(void *context, uint64_t now)
{
    struct unit *unit = context;
    (void)now;
    for (unsigned i = 0; i < MESSAGES; i++)
        if (unit->world->messages[i].unit == unit->number)
            unit->world->messages[i].poisoned = true;
}

static bool fake_settled(const void *context)
{
    const struct unit *unit = context;
    for (unsigned i = 0; i < WORDS * 4 / LINE; i++)
        if (unit->pending[i])
            return false;
    return true;
}

static const struct stash_below_ops fake_ops = {.read = fake_read,
                                                .enroll = fake_enroll,
                                                .remap = fake_remap,
                                                .write_back = fake_write_back,
                                                .pending = fake_pending,
                                                .acquire = fake_acquire,
                                                .settled = fake_settled};

#endif

static bool translate(void *context, uint64_t page, uint64_t *physical)
{
    (void)context;
    *physical = page + SHIFT;
    return true;
}

#ifdef WITH_DENOVO
#include "tests/stash/denovo_world.h"
#else
/* Returns the place of the owner's copy in its stash, by the index that the registry has. */
static uint32_t owners_place(struct world *world, uint32_t word)
{
    const struct unit *owner = &world->units[world->owner[word]];
    const uint64_t physical = BASE + SHIFT + 4 * (uint64_t)word;
    const uint64_t words =
        stash_words(owner->stash, physical / LINE * LINE, world->owner_map[word], STASH_REGISTERED);
    assert_true(words >> word % (LINE / 4) & 1);
    return stash_find(owner->stash, physical, world->owner_map[word]);
}

/* Returns the version at the place that the registry names. */
static uint32_t newest(struct world *world, uint32_t word)
{
    if (world->owner[word] == NOBODY)
        return world->memory[word];
    struct unit *owner = &world->units[world->owner[word]];
    const uint64_t line = (BASE + SHIFT + 4 * (uint64_t)word) / LINE * LINE;
    const unsigned bit = word % (LINE / 4);
    for (unsigned i = 0; i < MESSAGES; i++) {
        const struct message *message = &world->messages[i];
        if (message->used && message->kind == WRITE && message->unit == owner->number &&
            message->line == line && (message->mask >> bit & 1))
            return message->versions[bit];
    }
    const uint32_t place = owners_place(world, word);
    assert_int_not_equal(place, UINT32_MAX);
    world->forwards++;
    return *stash_version(owner->stash, place);
}

/* Takes a word from whom the registry names. */
static void take(struct world *world, uint32_t word)
{
    const uint64_t line = (BASE + SHIFT + 4 * (uint64_t)word) / LINE * LINE;
    if (world->owner[word] != NOBODY)
        stash_set(world->units[world->owner[word]].stash, line, world->owner_map[word],
                  UINT64_C(1) << word % (LINE / 4), STASH_INVALID, 0);
    world->owner[word] = NOBODY;
}

static void deliver_read(struct world *world, struct message message)
{
    struct stash *stash = world->units[message.unit].stash;
    /* What is asked for ahead may come old to a block that never loads it, because others store it; and a load may have got its words from
     * such a read, and its block have stored them since. */
    for (uint64_t left = message.ahead ? 0 : message.mask & message.fill; left; left &= left - 1) {
        const uint32_t word = word_of(message.line) + (uint32_t)__builtin_ctzll(left);
        assert_int_equal(newest(world, word), world->reference[word]);
    }
    for (uint64_t left = message.poisoned ? 0 : message.fill; left; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        const uint32_t word = word_of(message.line) + bit;
        if (!(message.mask >> bit & 1) && world->owner[word] != NOBODY)
            continue; /* extra words come from memory alone */
        const uint64_t physical = message.line + 4 * bit;
        const uint32_t place = stash_place(stash, physical, message.map);
        const bool invalid = place != UINT32_MAX && stash_code(stash, place) == STASH_CODE_INVALID;
        const uint32_t version = newest(world, word);
        stash_install(stash, message.line, message.map, UINT64_C(1) << bit, 0);
        if (invalid && stash_code(stash, place) == STASH_CODE_VALID)
            *stash_version(stash, place) = version;
    }
    stash_arrived(stash, message.line, message.map, message.mask, 0);
}

static void deliver(struct world *world, struct message *slot)
{
    const struct message message = *slot;
    struct unit *unit = &world->units[message.unit];
    if (message.kind == READ) {
        slot->used = false;
        deliver_read(world, message);
        return;
    }
    for (uint64_t left = message.mask; left; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        const uint32_t word = word_of(message.line) + bit;
        if (message.kind == WRITE && world->owner[word] == message.unit) {
            world->memory[word] = message.versions[bit];
            world->owner[word] = NOBODY;
        } else if (message.kind == REMAP && world->owner[word] == message.unit) {
            world->owner_map[word] = message.map;
        } else if (message.kind == ENROLL) {
            if (world->owner[word] != message.unit)
                take(world, word);
            world->owner[word] = message.unit;
            world->owner_map[word] = message.map;
        }
    }
    slot->used = false;
    if (message.kind == WRITE) {
        stash_written(unit->stash, message.line, message.map, message.mask, 0);
        return;
    }
    *pending_of(unit, message.line) &= ~message.mask;
    stash_acknowledged(unit->stash, message.line, message.map, message.mask, 0);
}

static void connect_below(struct world *world, struct unit *unit)
{
    (void)world;
    stash_connect(unit->stash, &fake_ops, unit);
}

static bool is_settled(const struct unit *unit)
{
    return fake_settled(unit);
}

static void free_below(struct world *world)
{
    (void)world;
}

static void deliver_one(struct world *world)
{
    const unsigned first = (unsigned)below(world, MESSAGES);
    for (unsigned i = 0; i < MESSAGES; i++)
        if (world->messages[(first + i) % MESSAGES].used) {
            deliver(world, &world->messages[(first + i) % MESSAGES]);
            return;
        }
}

#endif

static void arrived(struct stash_waiter *waiter, uint64_t now)
{
    struct block *block = ((struct waiter *)waiter)->block;
    (void)now;
    if (--block->waits == 0 && block->state == WAITING)
        block->state = IDLE;
}

/* Returns the memory's word of a word of the storage, by division. */
static uint32_t mapped(const struct block *block, unsigned map, uint32_t word)
{
    const struct stash_tile *tile = &block->tiles[map];
    const uint64_t offset = word * 4 - block->first - tile->stash_base,
                   objects = tile->row_size / tile->object_size;
    const uint64_t n = offset / tile->field_size;
    return (uint32_t)(tile->global_base - BASE + n / objects * tile->stride_size +
                      n % objects * tile->object_size + offset % tile->field_size) /
           4;
}

static uint64_t length(const struct stash_tile *tile)
{
    return tile->strides * (tile->row_size / tile->object_size) * tile->field_size;
}

static struct stash_tile random_tile(struct world *world, uint64_t stash_base, uint64_t room)
{
    struct stash_tile tile;
    do {
        const uint64_t field = 4 * (1 + below(world, 2)), object = field + 4 * below(world, 5),
                       objects = 1 + below(world, 12), strides = 1 + below(world, 4);
        tile = (struct stash_tile){.stash_base = stash_base,
                                   .global_base =
                                       BASE + 256 * below(world, 40) + 4 * below(world, 4) * below(world, 2),
                                   .field_size = field,
                                   .object_size = object,
                                   .row_size = object * objects,
                                   .stride_size = object * objects + 64 * below(world, 40),
                                   .strides = strides,
                                   .coherent = below(world, 4) > 0};
    } while (length(&tile) > room ||
             tile.global_base - BASE + (tile.strides - 1) * tile.stride_size + tile.row_size > 4 * WORDS);
    return tile;
}

/* Claims a word for a load or store of a map. Returns false if that would be a race. */
static bool claim(struct world *world, uint32_t id, uint32_t word, bool store)
{
    uint32_t *stored = &world->claims[word], *read = &world->readers[word];
    if (*stored == id)
        return true;
    if (*stored && (store || *stored != SHARED))
        return false;
    if (!store) {
        if (!*stored && *read && *read != id)
            *stored = SHARED;
        *read = id;
        return true;
    }
    if (*read && *read != id)
        return false;
    *stored = id;
    return true;
}

/* A tile that an earlier map had, at times, so that maps are reused. */
static struct stash_tile choose_tile(struct world *world, struct unit *unit, uint64_t base, uint64_t room)
{
    static const uint64_t sizes[] = {16, 8, 24};
    struct stash_tile tile = random_tile(world, base, room);
    (void)unit;
    if (below(world, 2)) {
        const uint64_t number = below(world, 6);
        tile = (struct stash_tile){.stash_base = base,
                                   .global_base = BASE + 1024 * number,
                                   .field_size = 4,
                                   .object_size = sizes[number % 3],
                                   .row_size = 8 * sizes[number % 3],
                                   .stride_size = 512,
                                   .strides = 2,
                                   .coherent = below(world, 4) > 0};
        if (length(&tile) > room)
            tile.strides = 1;
    }
    return tile;
}

static void start_access(struct world *world, struct block *block, bool store)
{
    const unsigned map = (unsigned)below(world, block->maps);
    const uint32_t words = (uint32_t)length(&block->tiles[map]) / 4, first = (uint32_t)below(world, words),
                   step = 1 + (uint32_t)below(world, 3);
    block->access = (struct stash_access){.block = block->number, .store = store};
    for (uint32_t i = first; i < words && block->access.count < 32; i += step) {
        const uint32_t word = block->first / 4 + (uint32_t)block->tiles[map].stash_base / 4 + i;
        const uint32_t global = mapped(block, map, word);
        const bool own = !block->tiles[map].coherent && (store || block->local[word]);
        if (!own && !claim(world, block->id + map, global, store))
            continue;
        block->access.words[block->access.count].selector = (uint8_t)(1 + map);
        block->access.words[block->access.count++].word = word;
    }
    block->state = block->access.count ? (store ? STORE : LOAD) : IDLE;
    block->sent = 0;
    block->looked = false;
    memset(block->done, 0, sizeof block->done);
    block->waits = 0;
}

/* The words that the access has hit have the versions that the model has. */
static void check_loaded(struct world *world, struct unit *unit, const struct block *block)
{
    for (unsigned i = 0; i < block->access.count; i++) {
        const uint32_t word = block->access.words[i].word;
        const unsigned map = block->access.words[i].selector - 1u;
        if (stash_code(unit->stash, word) == STASH_CODE_INVALID)
            continue;
        world->loads++;
        assert_int_equal(*stash_version(unit->stash, word), block->local[word]
                                                                ? block->local[word]
                                                                : world->reference[mapped(block, map, word)]);
    }
}

/* Stores words that are registered and have not been stored yet: those of a later line may have to wait, and others may take these
 * meanwhile. */
static void store_registered(struct world *world, struct unit *unit, struct block *block)
{
    for (unsigned i = 0; i < block->access.count; i++) {
        const uint32_t word = block->access.words[i].word;
        const unsigned map = block->access.words[i].selector - 1u;
        if (block->done[i] || stash_code(unit->stash, word) < STASH_CODE_REGISTERED)
            continue;
        block->done[i] = true;
        world->stores++;
        world->version++;
        *stash_version(unit->stash, word) = world->version;
        if (block->tiles[map].coherent)
            world->reference[mapped(block, map, word)] = world->version;
        else
            block->local[word] = world->version;
    }
}

static void go_on(struct world *world, struct unit *unit, struct block *block)
{
    bool waits;
    if (!block->looked && stash_look(unit->stash, &block->access, 0) != STASH_DONE)
        return;
    if (block->state == LOAD && !block->looked)
        check_loaded(world, unit, block);
    block->looked = true;
    for (;;) {
        if (block->state == STORE)
            store_registered(world, unit, block);
        if (block->sent == block->access.miss_count)
            break;
        if (stash_send(unit->stash, &block->access, block->sent, 0, 0, &block->waiter.base, &waits) !=
            STASH_DONE)
            return;
        block->waits += waits;
        block->sent++;
    }
    for (unsigned i = 0; block->state == STORE && i < block->access.count; i++)
        assert_true(block->done[i]);
    block->state = block->waits ? WAITING : IDLE;
}

static bool same_tile(const struct stash_tile *a, const struct stash_tile *b)
{
    struct stash_mapping x, y;
    stash_mapping_set(&x, a, 0);
    stash_mapping_set(&y, b, 0);
    return x.first == y.first && stash_mapping_matches(&x, &y);
}

/* A ChgMap: to other addresses, or to the other mode. What a non-coherent map has stored becomes global with the mode, so its words
 * are claimed. */
static void start_change(struct world *world, struct block *block, struct unit *unit)
{
    block->map = (uint8_t)below(world, block->maps);
    const struct stash_tile *old = &block->tiles[block->map];
    block->tile = *old;
    if (below(world, 2))
        block->tile = choose_tile(world, unit, old->stash_base, (length(old) + 63) / 64 * 64);
    else
        block->tile.coherent = !old->coherent;
    if (same_tile(&block->tile, old) && !old->coherent && block->tile.coherent) {
        const uint32_t first = (block->first + (uint32_t)old->stash_base) / 4;
        for (uint32_t word = first; word < first + length(old) / 4; word++)
            if (block->local[word] &&
                !claim(world, block->id + block->map, mapped(block, block->map, word), true))
                return;
    }
    block->state = CHANGE;
}

static void finish_change(struct world *world, struct block *block)
{
    struct stash_tile *tile = &block->tiles[block->map];
    const uint32_t first = (block->first + (uint32_t)tile->stash_base) / 4;
    const bool same = same_tile(&block->tile, tile);
    for (uint32_t word = first; word < first + length(tile) / 4; word++) {
        if (block->local[word] && same && block->tile.coherent)
            world->reference[mapped(block, block->map, word)] = block->local[word];
        if (!same || block->tile.coherent)
            block->local[word] = 0;
    }
    *tile = block->tile;
}

static void start(struct world *world, struct unit *unit, struct block *block)
{
    uint64_t base = 0;
    for (unsigned i = 0; i < block->maps; i++)
        if (block->tiles[i].stash_base + (length(&block->tiles[i]) + 63) / 64 * 64 > base)
            base = block->tiles[i].stash_base + (length(&block->tiles[i]) + 63) / 64 * 64;
    const uint64_t choice = below(world, 100);
    if (block->ending || choice < 4) {
        stash_end_block(unit->stash, block->number);
        block->used = false;
    } else if (choice < 25 && block->maps < 4 && base + 64 <= block->bytes) {
        block->tile = choose_tile(world, unit, base, block->bytes - base);
        block->state = ADD;
    } else if (choice < 30 && block->maps) {
        start_change(world, block, unit);
    } else if (block->maps) {
        start_access(world, block, below(world, 2));
    }
}

static void begin_block(struct world *world, struct unit *unit, struct block *block)
{
    const uint32_t bytes = 64 * (1 + (uint32_t)below(world, 12));
    if (!stash_fits(unit->stash, bytes))
        return;
    memset(block, 0, sizeof *block);
    block->number = (uint8_t)stash_begin_block(unit->stash, bytes, &block->first);
    block->used = true;
    block->bytes = bytes;
    block->id = ++world->blocks * 4; /* and that of its map 0 */
    block->waiter.base.done = arrived;
    block->waiter.block = block;
}

static void step_block(struct world *world, struct unit *unit, struct block *block)
{
    if (!block->used) {
        begin_block(world, unit, block);
        return;
    }
    switch (block->state) {
    case IDLE: start(world, unit, block); break;
    case ADD: {
        const enum stash_outcome outcome = stash_add(unit->stash, block->number, &block->tile, 0);
        if (outcome == STASH_WAIT)
            break;
        if (outcome == STASH_DONE) {
            memset(block->local + (block->first + block->tile.stash_base) / 4, 0, length(&block->tile));
            block->tiles[block->maps++] = block->tile;
            world->prefetching = true;
            stash_prefetch(unit->stash, block->number, block->maps - 1u, 0, 0);
            world->prefetching = false;
        }
        block->state = IDLE;
        break;
    }
    case CHANGE: {
        const enum stash_outcome outcome =
            stash_change(unit->stash, block->number, block->map, &block->tile, 0);
        if (outcome == STASH_WAIT)
            break;
        if (outcome == STASH_DONE)
            finish_change(world, block);
        block->state = IDLE;
        break;
    }
    case LOAD:
    case STORE: go_on(world, unit, block); break;
    case WAITING: break;
    }
}

#ifndef WITH_DENOVO
/* A load or store of the CPU, which caches nothing. */
static void step_other(struct world *world)
{
    const uint32_t word = (uint32_t)below(world, WORDS);
    const bool store = below(world, 2);
    if (!claim(world, UINT32_MAX, word, store))
        return;
    if (!store) {
        assert_int_equal(newest(world, word), world->reference[word]);
        return;
    }
    take(world, word);
    /* what an owner has on its way back is stale */
    world->memory[word] = world->reference[word] = ++world->version;
}

static void drain(struct world *world)
{
    (void)world;
}
#endif

static void check(struct world *world)
{
    for (unsigned i = 0; i < STASHES; i++) {
        const char *wrong = stash_check(world->units[i].stash);
        if (wrong) {
            stash_dump(world->units[i].stash, stderr);
            fail_msg("stash %u: %s", i, wrong);
        }
    }
}

/* Ends a kernel: blocks end, registrations are acknowledged, and all stashes invalidate what is not registered. */
static void end_kernel(struct world *world)
{
    bool running = true;
    world->refusals = 0;
    for (unsigned rounds = 0; running; rounds++) {
        running = false;
        assert_true(rounds < 100000);
        for (unsigned i = 0; i < STASHES; i++) {
            for (unsigned j = 0; j < BLOCKS; j++) {
                struct block *block = &world->units[i].blocks[j];
                block->ending = true;
                if (block->used)
                    step_block(world, &world->units[i], block);
                running = running || block->used;
            }
            running = running || !is_settled(&world->units[i]);
        }
        deliver_one(world);
        check(world);
    }
    for (unsigned i = 0; i < STASHES; i++)
        stash_self_invalidate(world->units[i].stash, 0);
    memset(world->claims, 0, sizeof world->claims);
    memset(world->readers, 0, sizeof world->readers);
}

static struct world *make_world(uint64_t seed, const struct stash_config *config)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->random = seed * MIX_FACTOR + 1;
    world->prefetches = config->prefetch > 0;
    memset(world->owner, NOBODY, sizeof world->owner);
    for (unsigned i = 0; i < STASHES; i++) {
        struct unit *unit = &world->units[i];
        unit->world = world;
        unit->number = (uint8_t)i;
        unit->stash = stash_new(config, BYTES, LINE, &(struct stash_user){.translate = translate});
        connect_below(world, unit);
    }
    return world;
}

static void simulate(uint64_t seed, const struct stash_config *config, unsigned steps)
{
    struct world *world = make_world(seed, config);
    for (unsigned i = 0; i < steps * (getenv("ALL") ? 10 : 1); i++) {
        struct unit *unit = &world->units[below(world, STASHES)];
        if (i % 300 == 299)
            end_kernel(world);
        world->refusals = (unsigned)(seed % 3) * 15;
        if (below(world, 3) == 0)
            deliver_one(world);
        else if (below(world, 6) == 0)
            step_other(world);
        else
            step_block(world, unit, &unit->blocks[below(world, BLOCKS)]);
        check(world);
    }
    end_kernel(world);
    drain(world);
    for (uint32_t word = 0; word < WORDS; word++) /* none is lost */
        assert_int_equal(newest(world, word), world->reference[word]);
    free_below(world);
    for (unsigned i = 0; i < STASHES; i++)
        stash_free(world->units[i].stash);
    assert_true(world->loads > steps / 50 && world->stores > steps / 50 && world->forwards > 0);
    for (unsigned i = 0; i < 4; i++)
        assert_true(world->kinds[i] > 0 || (i == REMAP && !config->replication));
    free(world);
}

static void paper(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        simulate(seed,
                 &(struct stash_config){.maps = 4,
                                        .entries = 64,
                                        .pages = 64,
                                        .answer = seed % 3,
                                        .prefetch = (uint32_t)(seed % 4 * 16),
                                        .replication = true},
                 20000);
}

/* Few entries and pages, so that both are replaced all the time. */
static void small(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++)
        simulate(100 + seed,
                 &(struct stash_config){.maps = 4,
                                        .entries = 12,
                                        .pages = 4 - seed % 2,
                                        .answer = seed % 3,
                                        .scout = seed % 4,
                                        .prefetch = (uint32_t)(seed % 5 * 8),
                                        .replication = true},
                 20000);
}

static void without_replication(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        simulate(200 + seed,
                 &(struct stash_config){.maps = 4,
                                        .entries = 16,
                                        .pages = 8,
                                        .answer = seed % 3,
                                        .prefetch = (uint32_t)(seed % 2 * 64)},
                 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper),
        cmocka_unit_test(small),
        cmocka_unit_test(without_replication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
