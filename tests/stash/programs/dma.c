/* Random tiles that a DMA engine loads and stores, against the model. */
#include "stash_check.h"

enum { LOCAL = 2048, WORDS = 4096, ROUNDS = 40, THREADS = 64 };
static uint32_t global[WORDS], expected[WORDS], local[LOCAL / 4];

struct round {
    struct croft_stash_map from, to;
};

/* Adds its place to each word of one tile and stores the sums to another, as far as that goes. */
static void add(const struct round *p)
{
    uint32_t *words = simt_shared();
    croft_dma_load(&p->to);
    croft_dma_load(&p->from);
    for (uint32_t i = thread_x(); i < LOCAL / 4; i += block_size())
        if (i * 4 >= p->from.stash_base && i * 4 < p->from.stash_base + croft_stash_length(&p->from))
            words[i] += i;
    croft_dma_store(&p->to);
}

static struct croft_stash_map make(void)
{
    struct croft_stash_map map;
    const struct croft_stash_limits limits = {.local = LOCAL, .global_end = (uintptr_t)(global + WORDS)};
    do {
        const uint32_t field = 4 * (1 + check_random(3)), object = field + 4 * check_random(9);
        const uint32_t objects = 1 + check_random(16), rows = 1 + check_random(8);
        map = (struct croft_stash_map){.stash_base = check_random(16) * 64,
                                       .global_base = (uintptr_t)(global + check_random(WORDS)),
                                       .field_size = field,
                                       .object_size = object,
                                       .row_size = (uint64_t)object * objects,
                                       .stride_size = object * (objects + check_random(3)),
                                       .strides = rows};
    } while (croft_stash_check(&map, &limits).error != CROFT_STASH_OK);
    return map;
}

int main(void)
{
    static uint32_t result[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        global[i] = check_random(1u << 31);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct round round = {make(), make()};
        memcpy(expected, global, sizeof global);
        CHECK_RUN(add, &round, simt_dim(1), simt_dim(THREADS), .scratchpad = LOCAL);
        memcpy(result, global, sizeof global);
        memcpy(global, expected, sizeof global);
        model_copy(&round.to, local, false);
        model_copy(&round.from, local, false);
        for (uint64_t w = round.from.stash_base / 4;
             w < (round.from.stash_base + croft_stash_length(&round.from)) / 4; w++)
            local[w] += (uint32_t)w;
        model_copy(&round.to, local, true);
        CHECK(memcmp(result, global, sizeof global) == 0);
    }
    return check_end("dma", global, sizeof global);
}
