/* For a stash in front of stacks (machine tom): a map's kernel, a loop that stacks execute, on the words that the map has stored, and a
 * loop whose pointer into mapped local memory was loaded, so that a block in a stack reaches it. Prints a digest. */
#include <croft/stash.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 256, BLOCK = 64, TRIPS = 16, LAUNCHES = 3 };

struct object {
    uint32_t field, rest[3];
};

struct arguments {
    struct object *objects; /* THREADS * TRIPS */
    uint64_t *cells;        /* as many */
    uint32_t **pointers;    /* THREADS */
    uint64_t *result;
};

static uint32_t *tile(const struct arguments *p)
{
    return croft_stash_map_of(simt_shared(), p->objects + (size_t)block_x() * BLOCK * TRIPS, field,
                              .objects = BLOCK * TRIPS);
}

static void store(struct arguments *p)
{
    uint32_t *x = tile(p);
    for (uint32_t i = 0; i < TRIPS; i++)
        x[i * BLOCK + thread_x()] += i + thread_x();
}

/* Global addresses alone: the loop goes to a stack. */
static void stream(struct arguments *p)
{
    const uint64_t t = thread_id();
    struct object *object = p->objects + t;
    uint64_t *cells = p->cells + t, sum = 0;
    for (long i = 0; i < TRIPS; i++) {
        sum += object[i * THREADS].field;
        object[i * THREADS].field = (uint32_t)sum * 3;
        cells[i * THREADS] += sum;
    }
    p->result[t] += sum;
}

/* at[] is mapped, which the code does not show. */
static void reach(struct arguments *p)
{
    const uint64_t t = thread_id();
    uint64_t *cells = p->cells + t, sum = 0;
    uint32_t *x = tile(p);
    p->pointers[t] = x + thread_x() * TRIPS;
    simt_barrier();
    uint32_t *volatile *slot = (uint32_t *volatile *)&p->pointers[t];
    uint32_t *at = *slot;
    for (long i = 0; i < TRIPS; i++) {
        sum += cells[i * THREADS];
        at[i] += (uint32_t)sum;
        cells[i * THREADS] = at[TRIPS - 1 - i];
    }
    simt_barrier();
    p->result[t] = p->result[t] * 3 + x[thread_x() * TRIPS] + sum;
}

#define RUN(kernel)                                                                                          \
    simt_wait(simt_launch(kernel, p, simt_dim(THREADS / BLOCK), simt_dim(BLOCK),                             \
                          .scratchpad = BLOCK * TRIPS * sizeof(uint32_t)))

int main(void)
{
    struct arguments *p = calloc(1, sizeof *p);
    p->objects = calloc(THREADS * TRIPS, sizeof *p->objects);
    p->cells = calloc(THREADS * TRIPS, sizeof *p->cells);
    p->pointers = calloc(THREADS, sizeof *p->pointers);
    p->result = calloc(THREADS, sizeof *p->result);
    for (uint32_t i = 0; i < THREADS * TRIPS; i++)
        p->cells[i] = p->objects[i].field = i * UINT32_C(2654435761) >> 9;
    for (int i = 0; i < LAUNCHES; i++) {
        RUN(store);
        RUN(stream);
        RUN(reach);
    }
    uint64_t digest = 0;
    for (uint32_t i = 0; i < THREADS * TRIPS; i++)
        digest = digest * 31 + (p->cells[i] ^ (uint64_t)p->objects[i].field << 1);
    for (uint32_t t = 0; t < THREADS; t++)
        digest = digest * 31 + p->result[t];
    printf("%" PRIx64 "\n", digest);
    return 0;
}
