/* A pointer chase from every node of an idle machine to every bank of the second level, and through it to every memory controller.
 * Prints a row for each, `l1 NODE CLOCKS`, `l2 NODE BANK CLOCKS` and `memory NODE BANK CHANNEL CLOCKS`: mean clocks of a load; of
 * multiprocessors their own clocks. Hosts come first. Cache lines of 64 bytes take turns among BANKS banks, then among CHANNELS
 * channels. Memory should not refresh meanwhile. */
#include <croft/simt.h>
#include <croft/threads.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 16, BANKS = 16, CHANNELS = 4, SAMPLES = 8, LINE = 64 };

/* Lines of a bank that a node visits in turn: two times as many as its first-level cache holds of them (32 KiB, 8 ways). */
enum { VISITED = 64 };

union line {
    union line *next;
    char bytes[LINE];
};

static union line near[VISITED][BANKS] __attribute__((aligned(1 << 16)));
static union line far[SAMPLES][NODES][CHANNELS][BANKS] __attribute__((aligned(1 << 16)));
static char others[8 << 20]; /* twice the second level */

struct result {
    long hit, l2[BANKS], memory[BANKS][CHANNELS];
};
static struct result results[NODES];

static inline long clock_now(void)
{
    long now;
    __asm__ volatile("fence\n\trdcycle %0" : "=r"(now) : : "memory");
    return now;
}

/* Returns the clocks of `count` loads, each of which needs the one before. */
static long chase(union line *at, long count)
{
    long begin = clock_now();
    for (; count >= 8; count -= 8)
        __asm__ volatile("ld %0, (%0)\n\tld %0, (%0)\n\tld %0, (%0)\n\tld %0, (%0)\n\t"
                         "ld %0, (%0)\n\tld %0, (%0)\n\tld %0, (%0)\n\tld %0, (%0)"
                         : "+r"(at)
                         :
                         : "memory");
    for (; count > 0; count--)
        __asm__ volatile("ld %0, (%0)" : "+r"(at) : : "memory");
    __asm__ volatile("" : : "r"(at) : "memory");
    return clock_now() - begin;
}

static void measure(long node)
{
    struct result *result = &results[node];
    static union line here[NODES];
    here[node].next = &here[node];
    (void)chase(&here[node], 64);
    result->hit = chase(&here[node], 64);
    for (long bank = 0; bank < BANKS; bank++) {
        (void)chase(&near[0][bank], VISITED);
        result->l2[bank] = chase(&near[0][bank], VISITED);
        for (long channel = 0; channel < CHANNELS; channel++) {
            const long two = chase(&far[0][node][channel][bank], 2),
                       six = chase(&far[2][node][channel][bank], 6);
            result->memory[bank][channel] = (six - two + 2) / 4;
        }
    }
}

static void print(long node)
{
    const struct result *result = &results[node];
    printf("l1 %ld %ld\n", node, (result->hit + 32) / 64);
    for (long bank = 0; bank < BANKS; bank++)
        printf("l2 %ld %ld %ld\n", node, bank, (result->l2[bank] + VISITED / 2) / VISITED);
    for (long bank = 0; bank < BANKS; bank++)
        for (long channel = 0; channel < CHANNELS; channel++)
            printf("memory %ld %ld %ld %ld\n", node, bank, channel, result->memory[bank][channel]);
}

/* Links the lines, and fills the second level with others. */
static void prepare(void)
{
    for (long bank = 0; bank < BANKS; bank++)
        for (long i = 0; i < VISITED; i++)
            near[i][bank].next = &near[(i + 1) % VISITED][bank];
    for (long sample = 0; sample < SAMPLES; sample++)
        for (long node = 0; node < NODES; node++)
            for (long channel = 0; channel < CHANNELS; channel++)
                for (long bank = 0; bank < BANKS; bank++)
                    far[sample][node][channel][bank].next =
                        sample + 1 < SAMPLES ? &far[sample + 1][node][channel][bank] : NULL;
    for (size_t i = 0; i < sizeof others; i += LINE)
        (void)*(volatile char *)&others[i];
}

/* Threads wait for their turn asleep, so that the machine is idle. */
static long call(long number, long first, long second, long third)
{
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = first, a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third, a3 __asm__("a3") = 0;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory");
    return a0;
}

static volatile unsigned turn[NODES];

static void run(void *argument)
{
    long node = (long)argument;
    while (!turn[node])
        (void)call(98, (long)&turn[node], 0, 0); /* FUTEX_WAIT */
    measure(node);
}

/* A block on each multiprocessor; that of multiprocessor `chosen` works. */
struct choice {
    long first;
    unsigned chosen;
};

static void visit(struct choice *choice)
{
    if (multiprocessor_id() == choice->chosen)
        measure(choice->first + (long)choice->chosen);
}

int main(int argc, char **argv)
{
    static struct croft_thread threads[NODES];
    long hosts = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    unsigned multiprocessors = simt_count();
    if (hosts < 1 || hosts + multiprocessors > NODES)
        return 2;
    for (long node = 1; node < hosts; node++)
        if (croft_thread_start(&threads[node], run, (void *)node) != 0)
            return 3;
    prepare();
    measure(0);
    for (long node = 1; node < hosts; node++) {
        turn[node] = 1;
        (void)call(98, (long)&turn[node], 1, 1); /* FUTEX_WAKE */
        croft_thread_join(&threads[node]);
    }
    for (unsigned i = 0; i < multiprocessors; i++) {
        struct choice choice = {hosts, i};
        if (simt_launch(visit, &choice, simt_dim(multiprocessors), simt_dim(1)) < 0 || simt_wait(0) != 0)
            return 4;
    }
    for (long node = 0; node < hosts + multiprocessors; node++)
        print(node);
    return 0;
}
