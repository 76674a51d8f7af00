/* Threads on several hosts, and a kernel, that contend for lines: atomics, a lock, words of one line, a line that one writes and all
 * read. contend THREADS ROUNDS: needs as many hosts as threads. Prints the same on Linux. */
#include <croft/simt.h>
#include <croft/threads.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, LINES = 40 };

static struct {
    _Alignas(64) atomic_long added;
    _Alignas(64) atomic_flag lock;
    _Alignas(64) long guarded[LINES][8];
    _Alignas(64) long words[MOST];
    _Alignas(64) _Atomic unsigned stage;
    _Alignas(64) atomic_long kernel;
} shared;

static long rounds;
static atomic_long arrived, expected;

static void work(void *argument)
{
    long number = (long)argument;
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < expected)
        continue;
    for (long round = 0; round < rounds; round++) {
        atomic_fetch_add(&shared.added, number);
        shared.words[number] += round;
        while (atomic_flag_test_and_set(&shared.lock))
            continue;
        for (long line = number % 4; line < LINES; line += 4)
            shared.guarded[line][number % 8] += shared.guarded[(line + 1) % LINES][0] * 0 + number;
        atomic_flag_clear(&shared.lock);
        if (number == 0)
            atomic_store(&shared.stage, (unsigned)round);
        else
            (void)atomic_load(&shared.stage);
    }
}

static void add(void *unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++)
        atomic_fetch_add(&shared.kernel, (long)thread_id());
}

int main(int argc, char **argv)
{
    static struct croft_thread threads[MOST];
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 2, sum = 0;
    rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
    if (count < 1 || count > MOST)
        return 2;
    expected = count;
    if (simt_launch(add, NULL, simt_dim(4), simt_dim(64)) < 0)
        return 3;
    for (long i = 1; i < count; i++)
        if (croft_thread_start(&threads[i], work, (void *)i) != 0)
            return 4;
    work(0);
    for (long i = 1; i < count; i++)
        croft_thread_join(&threads[i]);
    (void)simt_wait(0);
    for (long i = 0; i < LINES; i++)
        for (long j = 0; j < 8; j++)
            sum += shared.guarded[i][j] * (i + 1);
    for (long i = 0; i < count; i++)
        sum += shared.words[i];
    printf("%ld %ld %ld\n", shared.added, sum, shared.kernel);
    return 0;
}
