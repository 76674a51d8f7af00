/* Loads and stores of 1, 2, 4 and 8 bytes, aligned and not, through maps that are coherent and not, against the model. */
#include "stash_check.h"

enum { LOCAL = 1024, WORDS = 2048, ROUNDS = 40, THREADS = 32, OPERATIONS = 12 };
static uint32_t global[WORDS], expected[WORDS], local[LOCAL / 4];

struct operation {
    uint32_t offset, size, store;
    uint64_t value, loaded;
};

/* Each thread has a part of the tile of its own, of whole words. */
struct round {
    struct croft_stash_map map;
    uint32_t share; /* bytes of a thread */
    struct operation operations[THREADS][OPERATIONS];
};

/* Does an operation with one instruction. */
static inline void do_operation(struct operation *o, char *at)
{
    uint64_t value = o->value;
    if (o->store)
        switch (o->size) {
        case 1: __asm__ volatile("sb %0, 0(%1)" : : "r"(value), "r"(at) : "memory"); break;
        case 2: __asm__ volatile("sh %0, 0(%1)" : : "r"(value), "r"(at) : "memory"); break;
        case 4: __asm__ volatile("sw %0, 0(%1)" : : "r"(value), "r"(at) : "memory"); break;
        default: __asm__ volatile("sd %0, 0(%1)" : : "r"(value), "r"(at) : "memory"); break;
        }
    else
        switch (o->size) {
        case 1: __asm__ volatile("lbu %0, 0(%1)" : "=r"(value) : "r"(at) : "memory"); break;
        case 2: __asm__ volatile("lhu %0, 0(%1)" : "=r"(value) : "r"(at) : "memory"); break;
        case 4: __asm__ volatile("lwu %0, 0(%1)" : "=r"(value) : "r"(at) : "memory"); break;
        default: __asm__ volatile("ld %0, 0(%1)" : "=r"(value) : "r"(at) : "memory"); break;
        }
    o->loaded = value;
}

static void operate(struct round *p)
{
    char *tile = croft_stash_pointer(&p->map, (uint64_t)croft_stash_add(&p->map));
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        struct operation *o = &p->operations[thread_x()][i];
        do_operation(o, tile + thread_x() * p->share + o->offset);
    }
}

static void make(struct round *p)
{
    const uint32_t field = 4 * (1 + check_random(3)), objects = THREADS, rows = 1 + check_random(2);
    const uint32_t object = field + 4 * check_random(5), stride = object * objects + 4 * check_random(9);
    p->map = (struct croft_stash_map){.stash_base = 64 * check_random(3),
                                      .global_base = (uintptr_t)(global + check_random(64)),
                                      .field_size = field,
                                      .object_size = object,
                                      .row_size = (uint64_t)object * objects,
                                      .stride_size = stride,
                                      .strides = rows,
                                      .coherent = check_random(4) > 0};
    p->share = field * rows;
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < OPERATIONS; i++) {
            struct operation *o = &p->operations[t][i];
            do
                o->size = 1u << check_random(4);
            while (o->size > p->share);
            o->offset = check_random(p->share - o->size + 1);
            o->store = check_random(2);
            o->value = (uint64_t)check_random(1u << 31) << 33 ^ check_random(1u << 31);
        }
}

/* Bytes of local memory, little endian. */
static void model(struct round *p)
{
    model_copy(&p->map, local, false);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < OPERATIONS; i++) {
            struct operation *o = &p->operations[t][i];
            unsigned char *at = (unsigned char *)local + p->map.stash_base + t * p->share + o->offset;
            uint64_t value = 0;
            for (uint32_t b = 0; b < o->size; b++)
                if (o->store)
                    at[b] = (unsigned char)(o->value >> 8 * b);
                else
                    value |= (uint64_t)at[b] << 8 * b;
            CHECK(o->store || o->loaded == value);
        }
    if (p->map.coherent)
        model_copy(&p->map, local, true);
}

int main(void)
{
    static struct round round;
    static uint32_t result[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        global[i] = check_random(1u << 31);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        make(&round);
        memcpy(expected, global, sizeof global);
        CHECK_RUN(operate, &round, simt_dim(1), simt_dim(THREADS), .scratchpad = LOCAL);
        memcpy(result, global, sizeof global);
        memcpy(global, expected, sizeof global);
        model(&round);
        CHECK(memcmp(result, global, sizeof global) == 0);
    }
    return check_end("sizes", global, sizeof global);
}
