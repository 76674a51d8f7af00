/* Random traffic without data races for machines with stashes: soak THREADS ROUNDS SEED. In each round, every offset of an array of objects has a
 * kind: host threads change it, blocks of a kernel change it through maps or by its address, blocks change copies of it in non-coherent
 * maps, or all read it. So words of different processors share lines all the time. Blocks change their maps to other tiles, and to
 * non-coherent ones and back. Counters are added to by all, and words under a lock. Prints a digest, which qemu-riscv64 gives too, and the number of operations on words. */
#include <croft/stash.h>
#include <croft/threads.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST = 16,
    BLOCKS = 16,
    WIDTH = 32,
    EACH = 2 * WIDTH,
    OBJECTS = BLOCKS * EACH,
    STRIDE = 8,
    COUNTERS = 8,
    GUARDED = 24,
};
enum kind { HOST, MAP, GLOBAL, LOCAL, READ, KINDS };

static struct {
    _Alignas(64) uint32_t words[OBJECTS * STRIDE];
    _Atomic uint32_t counters[COUNTERS]; /* beside each other */
    _Atomic uint64_t operations;
    _Atomic uint32_t lock;
    uint32_t guarded[GUARDED]; /* beside the lock */
} shared;

/* A round: which offsets of the objects have a kind. */
struct round {
    uint32_t number, stride, passes, threads;
    uint64_t seed;
    uint8_t count[KINDS], offsets[KINDS][STRIDE];
};

static struct round round_now;

/* splitmix64, Steele et al. 2014. */
static uint32_t mix(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t z = seed + a * UINT64_C(0x9e3779b97f4a7c15) + b * UINT64_C(0xd1b54a32d192ed03);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

static uint32_t *word_of(const struct round *r, uint32_t object, uint32_t offset)
{
    return &shared.words[object * r->stride + offset];
}

/* Reads any object's word that nobody changes in this round. */
static uint32_t read_any(const struct round *r, uint32_t random)
{
    if (r->count[READ] == 0)
        return random;
    return *word_of(r, random % OBJECTS, r->offsets[READ][random / OBJECTS % r->count[READ]]);
}

/* Changes a word, sometimes only one of its bytes. */
static void change(volatile uint32_t *word, uint32_t value)
{
    if (value % 7 == 0)
        *((volatile uint8_t *)word + value / 7 % 4) ^= (uint8_t)(value >> 8);
    else
        *word = *word * 5 + value;
}

/* Adds to words under the lock, which is taken and left by atomics that acquire and release. Returns the number of operations. */
static uint64_t add_guarded(uint32_t random)
{
    while (atomic_exchange_explicit(&shared.lock, 1, memory_order_acquire))
        continue;
    for (uint32_t i = 0; i < 4; i++)
        shared.guarded[(random + i * 5) % GUARDED] += random + i;
    (void)atomic_exchange_explicit(&shared.lock, 0, memory_order_release);
    return 10;
}

static void work(void *argument)
{
    const struct round *r = &round_now;
    const uint32_t self = (uint32_t)(uintptr_t)argument;
    uint64_t operations = 0;
    for (uint32_t pass = 0; pass < r->passes; pass++)
        for (uint32_t object = (self + r->number) % r->threads; object < OBJECTS; object += r->threads) {
            const uint32_t random = mix(r->seed, object, pass);
            for (uint32_t i = 0; i < r->count[HOST]; i++)
                change(word_of(r, object, r->offsets[HOST][i]), read_any(r, random + i));
            operations += 3 * r->count[HOST];
            if (random % 64 == 0) {
                atomic_fetch_add(&shared.counters[random / 64 % COUNTERS], random);
                operations += 1 + add_guarded(random);
            }
        }
    atomic_fetch_add(&shared.operations, operations);
}

/* A tile of the block: one offset of its objects. */
static struct croft_stash_map tile(const struct round *r, uint32_t base, uint32_t offset,
                                   uint32_t noncoherent)
{
    return croft_stash_tile(base, word_of(r, block_x() * EACH, offset), .objects = EACH,
                            .object_size = r->stride * sizeof(uint32_t), .noncoherent = noncoherent);
}

/* Threads change their words of a tile and read their neighbours'. Returns the number of operations. */
static uint64_t use(const struct round *r, uint32_t *x, uint64_t salt)
{
    const uint32_t t = thread_x();
    uint32_t seen = 0;
    for (uint32_t pass = 0; pass < r->passes; pass++) {
        for (uint32_t i = t; i < EACH; i += WIDTH)
            change(x + i, read_any(r, mix(r->seed + salt, block_x() * EACH + i, pass)));
        simt_barrier();
        seen += *(volatile uint32_t *)&x[(t * 3 + pass) % EACH];
        simt_barrier();
    }
    change(x + t, seen);
    return r->passes * (3 * EACH / WIDTH + 1) + 2;
}

static uint64_t use_global(const struct round *r)
{
    for (uint32_t pass = 0; pass < r->passes; pass++)
        for (uint32_t i = 0; i < r->count[GLOBAL]; i++)
            for (uint32_t object = thread_x(); object < EACH; object += WIDTH)
                change(word_of(r, block_x() * EACH + object, r->offsets[GLOBAL][i]),
                       read_any(r, mix(r->seed + 9, object, pass)));
    return (uint64_t)r->passes * r->count[GLOBAL] * 3 * EACH / WIDTH;
}

/* The map of the block that goes through all offsets of kind MAP, and to and fro between coherent and not. */
static uint64_t use_maps(const struct round *r, uint32_t base)
{
    struct croft_stash_map map = tile(r, base, r->offsets[MAP][0], 0);
    const uint64_t index = (uint64_t)croft_stash_add(&map);
    uint32_t *x = croft_stash_pointer(&map, index);
    uint64_t operations = use(r, x, 1);
    for (uint32_t i = 1; i < r->count[MAP]; i++) {
        map = tile(r, base, r->offsets[MAP][i], 0);
        x = croft_stash_pointer(&map, (uint64_t)croft_stash_change(index, &map));
        operations += use(r, x, 1 + i);
    }
    for (uint32_t turn = mix(r->seed, block_x(), 77) % 5; turn > 0; turn--) {
        map = tile(r, base, r->offsets[MAP][r->count[MAP] - 1], turn & 1);
        x = croft_stash_pointer(&map, (uint64_t)croft_stash_change(index, &map));
        operations += use(r, x, 20 + turn);
    }
    return operations;
}

static void kernel(const struct round *r)
{
    const uint32_t base = mix(r->seed, block_x(), 5) % 3 * 256;
    uint64_t operations = use_global(r);
    if (r->count[MAP])
        operations += use_maps(r, base);
    if (r->count[LOCAL]) {
        const struct croft_stash_map map = tile(r, (base + 256) % 768, r->offsets[LOCAL][0], 1);
        operations += use(r, croft_stash_pointer(&map, (uint64_t)croft_stash_add(&map)), 40);
    }
    const uint32_t random = mix(r->seed, thread_id(), 6);
    if (thread_x() == 0)
        operations += add_guarded(random);
    atomic_fetch_add(&shared.counters[random % COUNTERS], random);
    atomic_fetch_add(&shared.operations, operations + 1);
}

static void begin(struct round *r, uint32_t number, uint32_t threads, uint64_t seed)
{
    *r = (struct round){.number = number, .threads = threads, .seed = mix(seed, number, 1)};
    r->stride = 1 + mix(r->seed, 0, 2) % STRIDE;
    r->passes = 1 + mix(r->seed, 0, 3) % 4;
    for (uint8_t offset = 0; offset < r->stride; offset++) {
        const enum kind kind = (enum kind)(mix(r->seed, offset, 4) % KINDS);
        r->offsets[kind][r->count[kind]++] = offset;
    }
}

static int run(void)
{
    static struct croft_thread threads[MOST];
    const long launch = simt_launch(kernel, &round_now, simt_dim(BLOCKS), simt_dim(WIDTH), .scratchpad = 768);
    if (launch < 0)
        return 1;
    for (uint32_t i = 1; i < round_now.threads; i++)
        if (croft_thread_start(&threads[i], work, (void *)(uintptr_t)i) != 0)
            return 1;
    work(NULL);
    for (uint32_t i = 1; i < round_now.threads; i++)
        croft_thread_join(&threads[i]);
    return simt_wait(launch) != 0;
}

int main(int argc, char **argv)
{
    uint64_t digest = 0;
    if (argc != 4 || strtoul(argv[1], NULL, 10) - 1 >= MOST)
        return 2;
    for (uint32_t i = 0; i < OBJECTS * STRIDE; i++)
        shared.words[i] = i * UINT32_C(2654435761);
    for (uint32_t round = 0; round < strtoul(argv[2], NULL, 10); round++) {
        begin(&round_now, round, (uint32_t)strtoul(argv[1], NULL, 10), strtoul(argv[3], NULL, 10));
        if (run() != 0) {
            perror("soak");
            return 1;
        }
    }
    for (uint32_t i = 0; i < OBJECTS * STRIDE; i++)
        digest = digest * 31 + shared.words[i];
    for (uint32_t i = 0; i < COUNTERS; i++)
        digest = digest * 31 + shared.counters[i];
    for (uint32_t i = 0; i < GUARDED; i++)
        digest = digest * 31 + shared.guarded[i];
    printf("%" PRIx64 ", %" PRIu64 " operations\n", digest, (uint64_t)shared.operations);
    return 0;
}
