/* Chips with a scripted requester beside, and networks in them, for the tests of this folder. */
#ifndef TESTS_AXRAM_BENCH_H
#define TESTS_AXRAM_BENCH_H

#include "tests/dram/rig.h"
#include "tests/isa/random.h"
#include "tests/neural/reference.h"

#include "emu/axram/axram.h"

enum { CHIPS = 2, SPACE = 4 << 20, BYTES = 16 << 20, WORDS = AXRAM_BLOCK / 4, NETWORKS = 250 };

/* Numbers of the commands, by the order of the standard's rows. */
enum { ACT4, PRE4, RD4, WR4, AXCF, AXCT, AXMR };

struct bench {
    struct rig *rig;
    struct phys bytes;
    struct axram_shared shared;
    struct axram_team teams[2 * CHIPS]; /* of `together` chips each, or of a half */
    uint32_t together, team_count;
    struct network network;
    struct axram_request request;
    uint64_t done; /* fs; 0: not yet */
};

static inline void note_done(struct axram_request *request, uint64_t now)
{
    ((struct bench *)request->owner)->done = now;
}

/* The memories with units, by the parts of a block; chips of the last one are split in halves of `wide` groups. */
static const struct memory {
    enum dram_standard standard;
    const char *map;
    unsigned parts, wide;
} memories[] = {{DRAM_STANDARD_gddr5_axram, "R12 B2 C5 % C1 G2 O5", 1, 0},
                {DRAM_STANDARD_hbm1_axram, "R14 B2 C5 % C1 G2 O5", 1, 0},
                {DRAM_STANDARD_hmc_axram, "R16 B4 % C3 O5", 4, 0},
                {DRAM_STANDARD_gddr5_axram, "R12 B2 C5 % C1 G2 O5", 2, 2}};
enum { MEMORIES = sizeof memories / sizeof *memories, HALVED = MEMORIES - 1 };

static inline struct dram_config config_on(const struct memory *memory)
{
    struct dram_config config;
    dram_config_default(&config, memory->standard);
    config.channels = CHIPS;
    config.wide = memory->wide;
    (void)snprintf(config.map, sizeof config.map, "%s", memory->map);
    return config;
}

static inline struct dram_config config_of(void)
{
    return config_on(&memories[0]);
}

static inline struct bench *bench_of(const struct dram_config *config, unsigned probes, uint32_t together)
{
    const struct axram_config space = {
        .offset = SPACE, .size = SPACE, .together = together, .halves = config->wide ? 2 : 1};
    struct bench *b = calloc(1, sizeof *b);
    const struct home_layout layout = dram_map_layout(config);
    struct error err;
    b->rig = rig_new(config, probes, NULL);
    if (!phys_init(&b->bytes, 0, BYTES, &err) ||
        !axram_homes(&space, config, &layout, 0, BYTES, b->rig->homes, &err))
        fail_msg("%s", err.text);
    b->shared = (struct axram_shared){.dram = &b->rig->memory.common.config,
                                      .homes = b->rig->homes,
                                      .bytes = &b->bytes,
                                      .queue = &b->rig->queue,
                                      .component = 2,
                                      .halves = space.halves,
                                      .parts = axram_parts(config->groups, space.halves),
                                      .unit_period = config->tCK,
                                      .sigmoid = 1,
                                      .poll = 64,
                                      .depth = 4};
    b->shared.space = SPACE;
    b->shared.message = 20000000;
    b->together = together;
    b->team_count = config->channels * space.halves / together;
    for (uint32_t i = 0; i < b->team_count; i++)
        axram_team_init(&b->teams[i], &b->shared, &b->rig->memory, i * together % config->channels, together,
                        i * together / config->channels);
    return b;
}

static inline struct bench *bench_new(const struct dram_config *config, unsigned probes)
{
    return bench_of(config, probes, 1);
}

static inline void bench_free(struct bench *b)
{
    dram_memory_sync(&b->rig->memory,
                     b->rig->queue.now); /* channels run late, and ask the chips for commands */
    for (uint32_t i = 0; i < b->team_count; i++)
        axram_team_free(&b->teams[i]);
    rig_free(b->rig); /* fails if a rule was broken */
    phys_free(&b->bytes);
    free(b);
}

static inline uint64_t issued(const struct bench *b, unsigned command)
{
    uint64_t sum = 0;
    dram_memory_sync(&b->rig->memory, b->rig->queue.now);
    for (uint32_t i = 0; i < CHIPS; i++)
        sum += b->rig->memory.slices[i].channel.counters.own[command];
    return sum;
}

/* Piece p is of chip p % CHIPS; of halves, of half p / CHIPS % 2. Data are in the first half page, the configuration in the second. */
static inline uint64_t piece(unsigned number)
{
    return SPACE + (uint64_t)number * AXRAM_PIECE;
}

static inline uint32_t *words_at(struct bench *b, uint64_t address)
{
    return (uint32_t *)(void *)phys_at(&b->bytes, address, AXRAM_BLOCK);
}

/* Writes the network into a piece, and prepares a request for it. */
static inline void place(struct bench *b, unsigned number)
{
    const struct network *n = &b->network;
    b->request = (struct axram_request){.topology = axram_topology_of(n),
                                        .configuration = piece(number) + AXRAM_HALF_PAGE,
                                        .inputs = piece(number),
                                        .results = piece(number) + (uint64_t)n->size[0] * AXRAM_BLOCK,
                                        .units = UINT32_MAX,
                                        .invokes = true,
                                        .done = note_done,
                                        .owner = b};
    axram_write_configuration(n, words_at(b, b->request.configuration));
}

static inline uint32_t data_of(struct random *random, enum arith_kind kind)
{
    return random_chance(random, 5) ? (uint32_t)random_next(random)
                                    : arith_data(kind, (double)random_below(random, 1 << 20) / (1 << 18) - 2);
}

static inline void fill_inputs(struct bench *b, struct random *random)
{
    uint32_t *words = words_at(b, b->request.inputs);
    for (unsigned i = 0; i < b->network.size[0] * WORDS; i++)
        words[i] = data_of(random, b->network.kind);
}

/* Runs the request to its end. */
static inline void run(struct bench *b)
{
    b->done = 0;
    axram_team_request(&b->teams[(b->request.results - SPACE) / AXRAM_PIECE / b->together % b->team_count],
                       &b->request);
    while (!b->done && event_queue_step(&b->rig->queue))
        continue;
    assert_true(b->done);
}

static inline void expect(struct bench *b, unsigned unit, uint32_t outputs[NETWORK_NEURONS])
{
    uint32_t inputs[NETWORK_INPUTS];
    const uint32_t *words = words_at(b, b->request.inputs);
    for (unsigned i = 0; i < b->network.size[0]; i++)
        inputs[i] = words[i * WORDS + unit];
    reference_network(&b->network, inputs, outputs);
}

static inline void check_results(struct bench *b)
{
    const unsigned count = b->network.size[b->network.layers];
    const uint32_t *results = words_at(b, b->request.results);
    for (unsigned unit = 0; unit < AXRAM_UNITS; unit++) {
        uint32_t outputs[NETWORK_NEURONS];
        expect(b, unit, outputs);
        for (unsigned i = 0; i < count; i++)
            if (results[i * WORDS + unit] != outputs[i])
                fail_msg("unit %u, output %u: 0x%08x, not 0x%08x", unit, i, results[i * WORDS + unit],
                         outputs[i]);
    }
}

/* Runs the request beside random requests, and checks the results; those of other units must stay. */
static inline void run_beside_others(struct bench *b, struct random *random)
{
    const unsigned outputs = b->network.size[b->network.layers];
    uint32_t *results = words_at(b, b->request.results);
    for (unsigned j = 0; j < outputs * WORDS; j++)
        results[j] = 0xdeadbeef;
    for (unsigned j = 0; j < 8; j++)
        if (!b->rig->probes[j].away)
            (void)probe_send(&b->rig->probes[j], random_chance(random, 50) ? MEM_READ : MEM_WRITE,
                             random_below(random, BYTES / 64) * UINT64_C(64), 64);
    run(b);
    for (unsigned unit = 0; unit < AXRAM_UNITS; unit++)
        for (unsigned j = 0; j < outputs && !(b->request.units >> unit & 1); j++) {
            uint32_t expected[NETWORK_NEURONS];
            assert_int_equal(results[j * WORDS + unit], 0xdeadbeef);
            expect(b, unit, expected);
            results[j * WORDS + unit] = expected[j];
        }
    check_results(b);
}

static inline void set_network(struct network *n, enum arith_kind kind, unsigned layers, const unsigned *size,
                               bool bias, struct random *random)
{
    *n = (struct network){.kind = kind, .layers = layers, .bias = bias};
    for (unsigned i = 0; i <= layers; i++)
        n->size[i] = size[i];
    for (size_t i = 0; i < network_weights(n); i++)
        n->weights[i] = random_chance(random, 5)
                            ? (uint32_t)random_next(random)
                            : arith_weight(kind, 1 + random_below(random, ARITH_SHIFTS),
                                           (double)random_below(random, 1 << 16) / (1 << 13) - 4);
}

static inline void set_random(struct network *n, struct random *random)
{
    const bool large = random_chance(random, 5);
    unsigned size[NETWORK_LAYERS + 1] = {0};
    const unsigned layers = 1 + random_below(random, NETWORK_LAYERS);
    for (unsigned i = 0; i <= layers; i++)
        size[i] = 1 + random_below(random, large ? i ? NETWORK_NEURONS : NETWORK_INPUTS : 9);
    set_network(n, (enum arith_kind)random_below(random, ARITH_KINDS), layers, size,
                random_chance(random, 30), random);
}

#endif
