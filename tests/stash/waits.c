/* Programs that must end, and of which --check coherence must say nothing: waits flush|queues|bytes|atomics|release.
 * flush: a core cleans a line that another stores to, and on which a third does atomics. queues: a short launch is waited for while
 * one of another queue does atomics until the host tells it to end. bytes: each core increments its own byte of one word. atomics:
 * atomics of a line whose words are all registered take as long as those of one with a registered word; prints what they took in 100 cycles.
 * release: prints the most cycles of a store and a fence, and of a store and an atomic that releases, by the host and by a warp. */
#include <croft/simt.h>
#include <croft/threads.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A line in each slice: what waits in one that has nothing else to do is not called by accident. */
enum { LINE = 64, WORDS = LINE / 4, LINES = 16, CORES = 4, ROUNDS = 300 };

static volatile uint32_t words[LINES][WORDS] __attribute__((aligned(LINE)));
static volatile uint8_t bytes[LINE] __attribute__((aligned(LINE)));
static uint32_t flag __attribute__((aligned(128))), stored[32] __attribute__((aligned(128)));

static void fence(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void store(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < LINES * ROUNDS; i++) {
        words[i / ROUNDS][0] = i;
        words[i / ROUNDS][1] = i;
        fence();
    }
}

static void operate(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < LINES * ROUNDS; i++)
        __atomic_fetch_add(&words[i / ROUNDS][0], 1, __ATOMIC_RELAXED);
}

static void flush(void *unused)
{
    (void)unused;
#ifdef FLUSH
    for (unsigned i = 0; i < LINES * ROUNDS; i++)
        __asm__ volatile(
            ".option push\n.option arch, +zicbom\ncbo.flush (%0)\n.option pop" ::"r"(words[i / ROUNDS])
            : "memory");
#endif
}

static void increment(void *number)
{
    const uintptr_t own = (uintptr_t)number;
    for (unsigned i = 0; i < 200; i++) {
        bytes[own]++;
        if (i % 8 == 7)
            fence();
    }
}

static void in_threads(void (*const *what)(void *), unsigned count)
{
    static struct croft_thread threads[CORES];
    for (uintptr_t i = 0; i < count; i++)
        (void)croft_thread_start(&threads[i], what[i], (void *)i);
    for (unsigned i = 0; i < count; i++)
        croft_thread_join(&threads[i]);
}

static void spin(void *unused)
{
    static uint32_t counts[64 * 32];
    (void)unused;
    while (!__atomic_load_n(&flag, __ATOMIC_RELAXED))
        __atomic_fetch_add(&counts[block_x() % 64 * 32], 1, __ATOMIC_RELAXED);
}

static void write_once(void *unused)
{
    (void)unused;
    stored[thread_x()] = thread_x();
}

static void in_queues(void)
{
    (void)simt_launch(spin, (void *)0, simt_dim(30), simt_dim(32), .queue = 1);
    const long quick = simt_launch(write_once, (void *)0, simt_dim(1), simt_dim(32), .queue = 2);
    (void)simt_wait(quick);
    printf("%u\n", (unsigned)stored[5]);
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    (void)simt_wait(0);
}

static unsigned atomics(volatile uint32_t *line)
{
    uint64_t begin, end;
    __asm__ volatile("rdcycle %0" : "=r"(begin)::"memory");
    for (unsigned i = 0; i < 100; i++)
        __atomic_fetch_add(line, 1, __ATOMIC_RELAXED);
    __asm__ volatile("rdcycle %0" : "=r"(end)::"memory");
    return (unsigned)((end - begin) / 100);
}

/* Stores to a line in each slice. What is behind the store waits until its slice has answered. */
static void time_releases(uint64_t most[2])
{
    static uint32_t released __attribute__((aligned(128)));
    uint64_t begin, end;
    for (unsigned i = 0; i < 2 * LINES; i++) {
        __asm__ volatile("rdcycle %0" : "=r"(begin)::"memory");
        words[i % LINES][2 + i / LINES] = i;
        if (i < LINES)
            fence();
        else
            __atomic_fetch_add(&released, 1, __ATOMIC_RELEASE);
        __asm__ volatile("rdcycle %0" : "=r"(end)::"memory");
        if (end - begin > most[i / LINES])
            most[i / LINES] = end - begin;
    }
}

static void time_releases_of_warp(uint64_t most[2])
{
    if (thread_x() == 0)
        time_releases(most);
}

int main(int argc, char **argv)
{
    static void (*const sharing[])(void *) = {store, operate, flush};
    static void (*const counting[])(void *) = {increment, increment, increment};
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "flush") == 0) {
        in_threads(sharing, 3);
        printf("%u\n", (unsigned)words[LINES - 1][1]);
    } else if (strcmp(mode, "bytes") == 0) {
        in_threads(counting, 3);
        printf("%u %u %u\n", bytes[0], bytes[1], bytes[2]);
    } else if (strcmp(mode, "queues") == 0) {
        in_queues();
    } else if (strcmp(mode, "release") == 0) {
        static uint64_t most[2][2];
        time_releases(most[0]);
        (void)simt_launch(time_releases_of_warp, most[1], simt_dim(1), simt_dim(32));
        (void)simt_wait(0);
        for (unsigned i = 0; i < 4; i++)
            printf("%u\n", (unsigned)most[i / 2][i % 2]);
    } else {
        for (unsigned i = 0; i < WORDS; i++)
            words[0][i] = i;
        words[1][1] = 1;
        fence();
        for (unsigned i = 0; i < 2; i++)
            printf("%u\n", atomics(words[i]));
    }
    return 0;
}
