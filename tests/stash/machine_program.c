/* What a stash does beyond the results of programs: clocks of hits and misses, faults of accesses, reuse, and words that a
 * debugger looks at. machine_program MODE; machine.sh says what is expected. */
#include <croft/stash.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 256 };

struct object {
    uint32_t field, others[3];
};

struct work {
    struct object *objects;
    uint64_t clocks[8];
    uint32_t mode, sum;
};

static uint64_t clock_now(void)
{
    uint64_t value;
    __asm__ volatile("rdcycle %0" : "=r"(value)::"memory");
    return value;
}

/* Clocks from before a load to when its value is there. */
static uint64_t time_load(const volatile uint32_t *at)
{
    uint64_t begin, end;
    __asm__ volatile("" : "+r"(at)); /* the address is there */
    begin = clock_now();
    uint32_t value = *at;
    __asm__ volatile("add x0, x0, %1\n\trdcycle %0" : "=r"(end) : "r"(value) : "memory");
    return end - begin;
}

/* One warp: 0 a miss, 1 a hit, 2 of unmapped space, 3 and 4 with a bank conflict of all lanes, 5 a store and a load of its word. */
static void measure(void *argument)
{
    struct work *work = argument;
    volatile uint32_t *mapped =
        croft_stash_map_of((uint32_t *)simt_shared(), work->objects, field, .objects = OBJECTS);
    volatile uint32_t *plain = (volatile uint32_t *)((char *)simt_shared() + OBJECTS * 4);
    const uint32_t lane = thread_x();
    uint64_t clocks[8] = {0};
    simt_barrier();
    clocks[0] = time_load(&mapped[lane]);
    clocks[1] = time_load(&mapped[lane]);
    clocks[2] = time_load(&plain[lane]);
    clocks[3] = time_load(&plain[lane * 32]);
    for (uint32_t i = 0; i < OBJECTS; i += 32)
        work->sum += mapped[i + lane];
    clocks[4] = time_load(&mapped[lane % 8 * 32]);
    clocks[6] = time_load(&plain[lane % 8 * 32]);
    mapped[lane] = lane;
    clocks[5] = time_load(&mapped[lane]);
    if (lane == 0)
        memcpy(work->clocks, clocks, sizeof clocks);
}

/* A tile where there is no memory: an error of the access, not of the map. */
static void miss_memory(void *argument)
{
    struct work *work = argument;
    volatile uint32_t *mapped =
        croft_stash_map((uint32_t *)simt_shared(), (uint32_t *)0x1000, .objects = 30, .noncoherent = 0);
    if (thread_x() == 7) {
        if (work->mode == 'm')
            work->sum = mapped[3];
        else
            mapped[3] = 1;
    }
}

/* The instruction without asking whether there is a stash. */
static void add_raw(void *argument)
{
    const struct croft_stash_map map =
        croft_stash_tile(0, (uint32_t *)((struct work *)argument)->objects, .objects = 30);
    __asm__ volatile(".insn r 0x2b, 0, 0, a0, %0, zero" : : "r"(&map) : "a0", "memory");
}

/* Atomics on unmapped space beside a map. */
static void add_unmapped(void *argument)
{
    struct work *work = argument;
    uint32_t *mapped =
        croft_stash_map_of((uint32_t *)simt_shared(), work->objects, field, .objects = OBJECTS);
    uint32_t *plain = (uint32_t *)simt_shared() + OBJECTS;
    if (thread_x() == 0)
        plain[0] = plain[1] = 0;
    simt_barrier();
    __atomic_fetch_add(plain, mapped[thread_x()], __ATOMIC_RELAXED);
    __asm__ volatile("1: lr.w a0, (%0)\n\taddi a0, a0, 3\n\tsc.w a1, a0, (%0)\n\tbnez a1, 1b"
                     :
                     : "r"(plain + 1)
                     : "a0", "a1", "memory");
    simt_barrier();
    mapped[thread_x()] += plain[0] ^ plain[1];
}

static void misbehave(void *argument)
{
    struct work *work = argument;
    uint32_t *mapped = croft_stash_map_of((uint32_t *)simt_shared(), work->objects, field, .objects = 30);
    if (thread_x() != 7)
        return;
    if (work->mode == 'o') /* the chunk has 32 words, the map 30 */
        mapped[30] = 1;
    else if (work->mode == 'a')
        (void)__atomic_fetch_add(&mapped[3], 1, __ATOMIC_RELAXED);
    else if (work->mode == 'l')
        __asm__ volatile("lr.w zero, (%0)" : : "r"(mapped + 3) : "memory");
    else if (work->mode == 's')
        __asm__ volatile("sc.w zero, zero, (%0)" : : "r"(mapped + 3) : "memory");
    else if (work->mode == 'f')
        ((void (*)(void))(void *)(mapped + 4))();
    else if (work->mode == 'r')
        (void)__atomic_load_n((uint64_t *)(mapped + 29), __ATOMIC_RELAXED);
    else /* a selector without a map */
        work->sum = *(volatile uint32_t *)((uint64_t)mapped + (UINT64_C(3) << CROFT_STASH_SELECTOR_BIT));
}

/* Each block maps a field of a page; a block that runs beside 64 others needs the 65th page of the VP-map. */
static void many_pages(void *argument)
{
    struct work *work = argument;
    uint32_t *mapped =
        croft_stash_map((uint32_t *)simt_shared(), (uint32_t *)work->objects + 16384 * block_x(),
                        .objects = 16, .object_size = 4096);
    mapped[0]++;
    while (*(volatile uint32_t *)&work->sum == 0) /* until all blocks have come so far, that is, for ever */
        ;
}

/* Blocks change maps of tiles of 8 rows, which all are in the same three pages. */
static void rows(void *argument)
{
    struct work *work = argument;
    for (uint32_t part = 0; part < 8; part++) {
        uint32_t *tile = (uint32_t *)work->objects + 1008 + block_x() * 64 + part * 8;
        const struct croft_stash_map map =
            croft_stash_tile(part % 2 * 256, tile, .objects = 8, .rows = 8, .stride_size = 1024);
        if (part < 2)
            croft_stash_add(&map);
        else
            croft_stash_change(part % 2, &map);
        uint32_t *mapped = croft_stash_pointer(&map, part % 2);
        mapped[thread_x()] += block_x() + part;
        simt_barrier();
    }
}

/* 8-byte, half-word and byte accesses, and pointers to fields of neighbours. */
static void sizes(void *argument)
{
    struct work *work = argument;
    volatile uint32_t *mapped =
        croft_stash_map_of((uint32_t *)simt_shared(), work->objects, field, .objects = OBJECTS);
    const uint32_t lane = thread_x();
    volatile uint64_t *wide = (volatile uint64_t *)(mapped + 2 * lane);
    *wide += (uint64_t)lane << 32 | 1;
    ((volatile uint8_t *)wide)[1] = (uint8_t)lane;
    ((volatile uint16_t *)wide)[3] ^= 0x5a5a;
}

/* A launch leaves words that the next one finds, if its blocks fit the stash together. */
static void add_one(void *argument)
{
    struct work *work = argument;
    uint32_t *mapped =
        croft_stash_map_of((uint32_t *)simt_shared(), work->objects + 64 * block_x(), field, .objects = 64);
    mapped[thread_x()] += 1 + block_x();
}

__attribute__((noinline)) void look_here(uint32_t *mapped)
{
    __asm__ volatile("" : : "r"(mapped) : "memory");
}

static void show(void *argument)
{
    struct work *work = argument;
    uint32_t *mapped =
        croft_stash_map_of((uint32_t *)simt_shared(), work->objects, field, .objects = OBJECTS);
    if (thread_x() == 0) {
        mapped[5] = 0x5eed;
        look_here(mapped);
    }
}

#define RUN(kernel, work, blocks, threads, bytes)                                                            \
    do {                                                                                                     \
        if (simt_launch(kernel, work, simt_dim(blocks), simt_dim(threads), .scratchpad = (bytes)) < 0 ||     \
            simt_wait(0) != 0) {                                                                             \
            perror("launch");                                                                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void print_sum(const struct object *objects, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum = sum * 31 + objects[i].field + objects[i].others[0];
    printf("sum %016" PRIx64 "\n", sum);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const size_t count = strcmp(mode, "pages") == 0 ? 1 << 16 : 16384;
    struct work work = {.objects = aligned_alloc(4096, count * sizeof(struct object))};
    for (size_t i = 0; i < count; i++)
        work.objects[i] = (struct object){(uint32_t)i * 7, {1, 2, 3}};
    work.mode = (uint32_t)(argc > 2 ? argv[2][0] : 0);
    if (strcmp(mode, "time") == 0) {
        RUN(measure, &work, 1, 32, 4 * OBJECTS + 4096);
        for (unsigned i = 0; i < 7; i++)
            printf("clocks.%u %" PRIu64 "\n", i, work.clocks[i]);
    } else if (strcmp(mode, "fault") == 0) {
        RUN(misbehave, &work, 1, 32, 1024);
    } else if (strcmp(mode, "nowhere") == 0) {
        RUN(miss_memory, &work, 1, 32, 1024);
    } else if (strcmp(mode, "raw") == 0) {
        if (work.mode == 'h') /* on the host */
            add_raw(&work);
        RUN(add_raw, &work, 1, 32, 1024);
    } else if (strcmp(mode, "atomics") == 0) {
        RUN(add_unmapped, &work, 1, OBJECTS, 4 * OBJECTS + 8);
        print_sum(work.objects, OBJECTS);
    } else if (strcmp(mode, "pages") == 0) {
        RUN(many_pages, &work, 16, 32, 1024);
    } else if (strcmp(mode, "rows") == 0) {
        RUN(rows, &work, 4, 64, 512);
        print_sum(work.objects, 1024);
    } else if (strcmp(mode, "sizes") == 0) {
        RUN(sizes, &work, 1, OBJECTS / 2, 4 * OBJECTS);
        print_sum(work.objects, OBJECTS);
    } else if (strcmp(mode, "show") == 0) {
        RUN(show, &work, 1, 32, 4 * OBJECTS);
        print_sum(work.objects, OBJECTS);
    } else {
        const uint32_t blocks = strcmp(mode, "reuse") == 0 ? 8 : 200;
        for (int i = 0; i < 3; i++)
            RUN(add_one, &work, blocks, 64, 256);
        print_sum(work.objects, blocks * 64);
    }
    return 0;
}
