/* Random tiles, one to four maps in a block, coherent and not, over several launches, against the model: what threads read,
 * and all of global memory afterwards. */
#include "stash_check.h"

enum { LOCAL = 4096, WORDS = 1 << 14, ROUNDS = 60, THREADS = 96, OPERATIONS = 4 };

static uint32_t global[WORDS], expected[WORDS];

struct round {
    uint32_t maps;
    struct croft_stash_map map[4];
    /* what each thread does in turn: bytes from the start of a map's tile, its map, store or load */
    struct operation {
        uint32_t map, offset, store, value;
    } operations[THREADS][OPERATIONS];
    uint32_t loaded[THREADS][OPERATIONS];
};

static void operate(struct round *p)
{
    uint32_t *base[4] = {NULL, NULL, NULL, NULL};
    const uint32_t thread = thread_x();
    for (uint32_t i = 0; i < p->maps; i++)
        base[i] = croft_stash_pointer(&p->map[i], (uint64_t)croft_stash_add(&p->map[i]));
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        const struct operation *o = &p->operations[thread][i];
        volatile uint32_t *word = base[o->map] + o->offset / 4;
        if (o->store)
            *word = o->value;
        else
            p->loaded[thread][i] = *word;
        simt_barrier();
    }
}

/* Rows and objects are so few that the tile fits; sizes of all kinds occur, also fields of 8 and more bytes at offset 4. */
static bool make_map(struct croft_stash_map *map, uint64_t from, uint64_t to, uint32_t first, uint32_t words)
{
    const uint32_t field = 4 * (1 + check_random(4)), object = field + 4 * check_random(12);
    const uint32_t objects = 1 + check_random(20), rows = 1 + check_random(6);
    const uint32_t stride = object * objects + 4 * check_random(40);
    const struct croft_stash_limits limits = {.local = to, .global_end = (uintptr_t)(global + first + words)};
    *map = (struct croft_stash_map){.stash_base = from,
                                    .global_base = (uintptr_t)(global + first + check_random(words / 2)),
                                    .field_size = field,
                                    .object_size = object,
                                    .row_size = (uint64_t)object * objects,
                                    .stride_size = rows == 1 ? check_random(5) : stride,
                                    .strides = rows,
                                    .coherent = check_random(3) > 0};
    return croft_stash_check(map, &limits).error == CROFT_STASH_OK;
}

/* Maps of a block share neither chunks nor, because stores through one are not seen through the other, words. */
static void make_maps(struct round *round)
{
    round->maps = 1 + check_random(4);
    for (uint32_t i = 0; i < round->maps; i++)
        while (
            !make_map(&round->map[i], i * (LOCAL / 4), (i + 1) * (LOCAL / 4), i * (WORDS / 4), WORDS / 4)) {
        }
}

/* In a turn, each word is accessed by at most one thread if it is stored to. */
static void make_operations(struct round *round)
{
    static uint8_t used[LOCAL / 4];
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        memset(used, 0, sizeof used);
        for (uint32_t t = 0; t < THREADS; t++) {
            struct operation *o = &round->operations[t][i];
            do {
                o->map = check_random(round->maps);
                o->offset = 4 * check_random((uint32_t)croft_stash_length(&round->map[o->map]) / 4);
                o->store = check_random(2);
            } while (used[round->map[o->map].stash_base / 4 + o->offset / 4] > (o->store ? 0 : 1));
            used[round->map[o->map].stash_base / 4 + o->offset / 4] = o->store ? 2 : 1;
            o->value = check_random(1u << 31);
        }
    }
}

static void model(struct round *round)
{
    static uint32_t local[LOCAL / 4];
    for (uint32_t m = 0; m < round->maps; m++)
        model_copy(&round->map[m], local, false);
    for (uint32_t i = 0; i < OPERATIONS; i++)
        for (uint32_t t = 0; t < THREADS; t++) {
            const struct operation *o = &round->operations[t][i];
            uint32_t *word = &local[round->map[o->map].stash_base / 4 + o->offset / 4];
            if (o->store)
                *word = o->value;
            else
                CHECK(round->loaded[t][i] == *word);
        }
    for (uint32_t m = 0; m < round->maps; m++)
        if (round->map[m].coherent)
            model_copy(&round->map[m], local, true);
}

int main(void)
{
    static struct round round;
    for (uint32_t i = 0; i < WORDS; i++)
        global[i] = check_random(1u << 31);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        make_maps(&round);
        make_operations(&round);
        memcpy(expected, global, sizeof global);
        CHECK_RUN(operate, &round, simt_dim(1), simt_dim(THREADS), .scratchpad = LOCAL);
        /* The model works in place, so the result is put aside meanwhile. */
        static uint32_t result[WORDS];
        memcpy(result, global, sizeof global);
        memcpy(global, expected, sizeof global);
        model(&round);
        CHECK(memcmp(result, global, sizeof global) == 0);
    }
    return check_end("tiles", global, sizeof global);
}
