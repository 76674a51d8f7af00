/* Reads of words that another unit has registered, on the idle machine stash_micro or stash_apps: remote HOSTS. A node stores whole lines, one
 * for each bank and some more, and sleeps; then each other node reads them in a chain. Prints `remote READER KIND OWNER BANK CLOCKS HIT`: the
 * reader's clocks of CHAIN loads, and of as many that hit. Hosts come first among the nodes, then multiprocessors, whose lines are in their
 * first-level caches (KIND l1) or in their stashes (KIND stash). */
#include <croft/simt.h>
#include <croft/stash.h>
#include <croft/threads.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 16, BANKS = 16, CHAIN = 4, LINE = 64, WORDS = LINE / 8 };

union line {
    union line *next;
    long words[WORDS];
};

/* By reader, so that each reads words that it has not read yet. */
static union line lines[NODES][CHAIN][BANKS] __attribute__((aligned(1 << 16)));
static long result[BANKS], hit;

static inline long clock_now(void)
{
    long now;
    __asm__ volatile("fence\n\trdcycle %0" : "=r"(now) : : "memory");
    return now;
}

/* Returns the clocks of CHAIN loads, each of which needs the one before. */
static __attribute__((noinline)) long chase(union line *at)
{
    const long begin = clock_now();
    for (long i = 0; i < CHAIN; i++)
        __asm__ volatile("ld %0, (%0)" : "+r"(at) : : "memory");
    __asm__ volatile("" : : "r"(at) : "memory");
    return clock_now() - begin;
}

static void measure(long node)
{
    static union line here[NODES];
    here[node].next = &here[node];
    (void)chase(&here[node]); /* brings the code in */
    hit = chase(&here[node]);
    for (long bank = 0; bank < BANKS; bank++)
        result[bank] = chase(&lines[node][0][bank]);
}

static union line *next_of(long node, long i, long bank)
{
    return &lines[node][(i + 1) % CHAIN][bank];
}

/* Stores all words of a reader's lines. */
static void store(long reader)
{
    for (long i = 0; i < CHAIN; i++)
        for (long bank = 0; bank < BANKS; bank++)
            for (long word = 0; word < WORDS; word++)
                lines[reader][i][bank].words[word] = (long)&lines[reader][(i + 1) % CHAIN][bank];
}

static long call(long number, long first, long second, long third)
{
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = first, a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third, a3 __asm__("a3") = 0;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory");
    return a0;
}

/* Threads wait for their turn asleep, so that the machine is idle. */
enum { NOTHING, STORE, STORE_STASH, MEASURE, END };
static volatile unsigned turn[NODES];
static long reader_of[NODES];

static void run(void *argument)
{
    const long node = (long)argument;
    unsigned what;
    do {
        while (!(what = turn[node]))
            (void)call(98, (long)&turn[node], 0, NOTHING); /* FUTEX_WAIT */
        if (what == STORE)
            store(reader_of[node]);
        if (what == MEASURE)
            measure(node);
        turn[node] = NOTHING;
        (void)call(98, (long)&turn[node], 1, 1); /* FUTEX_WAKE */
    } while (what != END);
}

/* What one multiprocessor does in a launch on all. */
struct work {
    unsigned chosen, what;
    long reader;
};

static void visit(struct work *work)
{
    if (multiprocessor_id() != work->chosen)
        return;
    if (work->what == MEASURE) {
        measure(work->reader);
    } else if (work->what == STORE) {
        store(work->reader);
    } else {
        long *const first = lines[work->reader][0][0].words;
        long *const map =
            croft_stash_map((long *)simt_shared(), first, .objects = sizeof lines[0] / sizeof(long));
        for (long i = 0; i < CHAIN * BANKS; i++)
            for (long word = 0; word < WORDS; word++)
                map[i * WORDS + word] = (long)&lines[work->reader][(i / BANKS + 1) % CHAIN][i % BANKS];
    }
}

static long hosts;

/* Makes a node do something, and waits asleep until it is done. */
static void order(long node, unsigned what, long reader)
{
    if (node >= hosts) {
        struct work work = {(unsigned)(node - hosts), what, reader};
        if (simt_launch(visit, &work, simt_dim(simt_count()), simt_dim(1), .scratchpad = sizeof lines[0]) <
                0 ||
            simt_wait(0) != 0)
            exit(4);
    } else if (node > 0) {
        reader_of[node] = reader;
        turn[node] = what;
        (void)call(98, (long)&turn[node], 1, 1); /* FUTEX_WAKE */
        while (turn[node])
            (void)call(98, (long)&turn[node], 0, what); /* FUTEX_WAIT */
    } else if (what == STORE) {
        store(reader);
    } else if (what == MEASURE) {
        measure(node);
    }
}

static void pair(const char *kind, long owner, unsigned what, long reader)
{
    order(owner, what, reader);
    order(reader, MEASURE, reader);
    for (long bank = 0; bank < BANKS; bank++)
        printf("remote %ld %s %ld %ld %ld %ld\n", reader, kind, owner, bank, result[bank], hit);
}

int main(int argc, char **argv)
{
    static struct croft_thread threads[NODES];
    hosts = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    const long nodes = hosts + simt_count();
    if (hosts < 1 || nodes > NODES)
        return 2;
    for (long node = 1; node < hosts; node++)
        if (croft_thread_start(&threads[node], run, (void *)node) != 0)
            return 3;
    for (long owner = 0; owner < nodes; owner++)
        for (long reader = 0; reader < nodes; reader++) {
            if (owner != reader)
                pair("l1", owner, STORE, reader);
            if (owner >= hosts)
                pair("stash", owner, STORE_STASH, reader);
        }
    for (long node = 1; node < hosts; node++) {
        order(node, END, 0);
        croft_thread_join(&threads[node]);
    }
    return 0;
}
