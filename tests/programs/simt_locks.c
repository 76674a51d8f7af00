/* Threads of a warp, of a block and of different blocks that contend: spin locks with and without a pause, ticket locks,
 * atomics, and a chain in which each thread of a block waits for the one before. */
#include <stdatomic.h>

#include "simt_check.h"

enum { BLOCKS = 4, THREADS = 70, BUCKETS = 5, SPINNERS = 40 };

struct node {
    struct node *next;
    uint64_t value;
};

struct shared {
    atomic_uint lock, ticket, serving;
    uint64_t spun, ticketed; /* guarded by lock and by the tickets */
    atomic_uint bucket_lock[BUCKETS];
    struct node *bucket[BUCKETS];
    struct node nodes[BLOCKS * THREADS];
    atomic_ulong sum, bits;
    int32_t least, most;
    uint64_t least_u, most_u;
    uint64_t chain[BLOCKS];
};

/* As plain as it can be: no pause, so that only the promise of progress lets the holder go on. */
static void spin(struct shared *s)
{
    while (atomic_exchange_explicit(&s->lock, 1, memory_order_acquire))
        ;
    s->spun = s->spun + 1;
    atomic_store_explicit(&s->lock, 0, memory_order_release);
}

static void ticket(struct shared *s)
{
    unsigned own = atomic_fetch_add_explicit(&s->ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&s->serving, memory_order_acquire) != own)
        simt_pause();
    s->ticketed += thread_id();
    atomic_store_explicit(&s->serving, own + 1, memory_order_release);
}

static void insert(struct shared *s)
{
    struct node *node = &s->nodes[thread_id()];
    unsigned bucket = (unsigned)(check_random(thread_id()) % BUCKETS);
    node->value = check_random(thread_id());
    int done = 0;
    while (!done) { /* the critical section within the loop */
        if (atomic_exchange_explicit(&s->bucket_lock[bucket], 1, memory_order_acquire)) {
            simt_pause();
            continue;
        }
        node->next = s->bucket[bucket];
        s->bucket[bucket] = node;
        atomic_store_explicit(&s->bucket_lock[bucket], 0, memory_order_release);
        done = 1;
    }
}

static void count(struct shared *s)
{
    uint64_t random = check_random(thread_id());
    atomic_fetch_add_explicit(&s->sum, random, memory_order_relaxed);
    atomic_fetch_xor_explicit(&s->bits, random, memory_order_relaxed);
    simt_atomic_min(&s->least, (int32_t)random);
    simt_atomic_max(&s->most, (int32_t)random);
    simt_atomic_min(&s->least_u, random);
    simt_atomic_max(&s->most_u, random);
}

/* From the last thread to the first, which is the wrong way round for the scheduler. */
static void chain(struct shared *s)
{
    atomic_uint *turn = simt_shared();
    uint32_t t = thread_x();
    if (t == 0)
        atomic_store(turn, THREADS - 1);
    simt_barrier();
    while (atomic_load_explicit(turn, memory_order_acquire) != t)
        simt_pause();
    s->chain[block_x()] = s->chain[block_x()] * 31 + t;
    atomic_store_explicit(turn, t - 1, memory_order_release);
}

static void contend(struct shared *s)
{
    if (thread_x() % 64 < SPINNERS && block_x() % 2 == 0)
        spin(s);
    ticket(s);
    insert(s);
    count(s);
    chain(s);
}

int main(void)
{
    static struct shared s = {.least_u = UINT64_MAX};
    CHECK_RUN(contend, &s, simt_dim(BLOCKS), simt_dim(THREADS), .scratchpad = sizeof(atomic_uint));
    printf("spun %llu, tickets %llu\n", (unsigned long long)s.spun, (unsigned long long)s.ticketed);
    for (unsigned i = 0; i < BUCKETS; i++) {
        uint64_t nodes = 0, sum = 0;
        for (const struct node *node = s.bucket[i]; node; node = node->next) {
            nodes++;
            sum += node->value;
        }
        printf("bucket %u: %llu nodes, sum %016llx\n", i, (unsigned long long)nodes, (unsigned long long)sum);
    }
    printf("sum %016lx, bits %016lx, %ld to %ld, %016llx to %016llx\n", s.sum, s.bits, (long)s.least,
           (long)s.most, (unsigned long long)s.least_u, (unsigned long long)s.most_u);
    for (unsigned i = 0; i < BLOCKS; i++)
        printf("chain %016llx\n", (unsigned long long)s.chain[i]);
}
