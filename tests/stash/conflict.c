/* Programs that --check coherence reports, and others that it does not: conflict MODE.
 * split: a block stores a word through its map and loads it by its address, in one kernel.
 * race: a host polls a word without a fence while another stores to it.
 * apart: split, but the load is another kernel's.
 * late: the host, which has the word in its cache, waits for the kernel when that has long ended. join: the same of a thread.
 * early: the host loads, as soon as kernels have ended, what they have stored last.
 * fence: a block loads a word through its map again when a host has stored it, with atomics between that acquire and release; not on
 * qemu-riscv64, whose map is a copy.
 * turns: two hosts add to the same words in turn, so that each store takes a word away from the other one. blocks: a host and a block. */
#include <croft/simt.h>
#include <croft/stash.h>
#include <croft/threads.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 64 };

static unsigned data[WORDS], sum;
static volatile unsigned word, polls;

static void store(const char *mode)
{
    unsigned *const map = croft_stash_map((unsigned *)simt_shared(), data, .objects = WORDS);
    map[thread_x()] = thread_x();
    if (strcmp(mode, "split") == 0 && thread_x() == 5)
        sum = *(volatile unsigned *)&data[5]; /* the cache's */
}

static void load(const char *mode)
{
    (void)mode;
    if (thread_x() == 5)
        sum = *(volatile unsigned *)&data[5];
}

static void poll(void *argument)
{
    (void)argument;
    while (!word && polls < 100000)
        polls++;
}

static _Atomic unsigned asked, stored;

static void load_twice(void *argument)
{
    volatile unsigned *const map = croft_stash_map((unsigned *)simt_shared(), data, .objects = WORDS);
    (void)argument;
    if (thread_x() != 0)
        return;
    const unsigned before = map[5];
    atomic_fetch_add(&asked, 1);
    while (!atomic_fetch_add(&stored, 0))
        continue;
    sum = map[5] - before;
}

static int meet(void)
{
    if (simt_launch(load_twice, NULL, simt_dim(1), simt_dim(WORDS), .scratchpad = sizeof data) < 0)
        return 1;
    while (!atomic_fetch_add(&asked, 0))
        continue;
    data[5] = 7;
    atomic_fetch_add(&stored, 1);
    return simt_wait(0) != 0 || printf("%u\n", sum) != 2;
}

static unsigned wide[16 * WORDS]; /* in all banks */

static void store_wide(const unsigned *value)
{
    wide[16 * thread_x()] = *value;
}

enum { TURNS = 16, BUSY = 10 };
static _Atomic unsigned turn;

/* A turn ends by an atomic, which waits until the other one no longer has the words. The next one begins with the last of them. */
static void take_turns(unsigned self)
{
    for (unsigned i = 0; i < TURNS; i++) {
        while (atomic_fetch_add(&turn, 0) % 2 != self)
            continue;
        for (unsigned j = 0; j < WORDS; j++)
            ((volatile unsigned *)wide)[16 * (self ? WORDS - 1 - j : j)] += 1;
        atomic_fetch_add(&turn, 1);
    }
}

static void take_second(void *unused)
{
    (void)unused;
    take_turns(1);
}

static void take_second_lane(void *unused)
{
    (void)unused;
    if (thread_x() == 0)
        take_turns(1);
}

/* Keeps the banks of the first and the last word busy. */
static void disturb(void *argument)
{
    while (atomic_load(&turn) < 2 * TURNS)
        atomic_fetch_add((_Atomic unsigned *)&wide[argument ? 8 : 16 * (WORDS - 1) + 8], 1);
}

static int add_in_turn(bool block)
{
    static struct croft_thread threads[BUSY];
    if (block ? simt_launch(take_second_lane, NULL, simt_dim(1), simt_dim(32)) < 0
              : croft_thread_start(&threads[0], take_second, NULL) != 0)
        return 1;
    for (uintptr_t i = 1; i < BUSY; i++)
        if (croft_thread_start(&threads[i], disturb, (void *)(i % 2)) != 0)
            return 1;
    take_turns(0);
    for (unsigned i = block; i < BUSY; i++)
        croft_thread_join(&threads[i]);
    if (block)
        (void)simt_wait(0);
    unsigned all = 0;
    for (unsigned j = 0; j < WORDS; j++)
        all += wide[16 * j];
    return printf("%u\n", all) != 5;
}

static int wait_early(void)
{
    unsigned sum_all = 0;
    for (unsigned i = 1; i <= 10; i++) {
        if (simt_launch(store_wide, &i, simt_dim(1), simt_dim(WORDS)) < 0 || simt_wait(0) != 0)
            return 1;
        for (unsigned j = WORDS; j-- > 0;)
            sum_all += *(volatile unsigned *)&wide[16 * j];
    }
    return printf("%u\n", sum_all) != 5;
}

static void store_one(void *argument)
{
    *(volatile unsigned *)argument = 6;
}

static int join_late(void)
{
    static struct croft_thread thread;
    unsigned before = *(volatile unsigned *)&data[5];
    if (croft_thread_start(&thread, store_one, &data[5]) != 0)
        return 1;
    for (volatile int i = 0; i < 20000; i++) {
    }
    croft_thread_join(&thread);
    return printf("%u %u\n", before, *(volatile unsigned *)&data[5]) != 4;
}

static int wait_late(const char *mode)
{
    unsigned before = *(volatile unsigned *)&data[5];
    if (simt_launch(store, mode, simt_dim(1), simt_dim(WORDS), .scratchpad = sizeof data) < 0)
        return 1;
    for (volatile int i = 0; i < 20000; i++) {
    }
    if (simt_wait(0) != 0)
        return 1;
    return printf("%u %u\n", before, *(volatile unsigned *)&data[5]) != 4;
}

static int launch(const char *mode)
{
    if (simt_launch(store, mode, simt_dim(1), simt_dim(WORDS), .scratchpad = sizeof data) < 0 ||
        simt_wait(0) != 0)
        return 1;
    if (strcmp(mode, "split") != 0 &&
        (simt_launch(load, mode, simt_dim(1), simt_dim(WORDS)) < 0 || simt_wait(0) != 0))
        return 1;
    return printf("%u\n", sum) != 2;
}

int main(int argc, char **argv)
{
    static struct croft_thread thread;
    const char *mode = argc > 1 ? argv[1] : "apart";
    if (strcmp(mode, "turns") == 0 || strcmp(mode, "blocks") == 0)
        return add_in_turn(strcmp(mode, "blocks") == 0);
    if (strcmp(mode, "fence") == 0)
        return meet();
    if (strcmp(mode, "join") == 0)
        return join_late();
    if (strcmp(mode, "early") == 0)
        return wait_early();
    if (strcmp(mode, "late") == 0)
        return wait_late(mode);
    if (strcmp(mode, "race") != 0)
        return launch(mode);
    if (croft_thread_start(&thread, poll, NULL) != 0)
        return 2;
    for (volatile int i = 0; i < 2000; i++) {
    }
    word = 1;
    for (volatile int i = 0; i < 2000; i++) {
    }
    croft_thread_join(&thread);
    return printf("%u\n", word) != 2;
}
