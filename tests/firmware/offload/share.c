/* Several hosts share accelerators: share.c, with HOSTS hosts. Faults of their tasks, which hold accelerators, must
 * not keep the others waiting for ever. Then: how long does one task take when the accelerators are idle, and when another
 * host keeps them busy; and how long do the same tasks of two hosts take? */
#include <croft/firmware/hart.h>
#include <croft/firmware/trap.h>
#include <croft/nucd.h>
#include <stdio.h>

#include "../support/support.h"

enum { GOOD = 42, RECORDS = 24, ROUNDS = 4, FIRST_PARAMETER = 21, A0 = 10, REGION_FAULT = 24, KILL = 2 };

struct record {
    const long *pointer;
    long result, right, good, spare[4]; /* a cache line */
};

static _Alignas(64) struct record records[HOSTS][RECORDS];
static unsigned faults[HOSTS];

CROFT_REGION(look, CROFT_INOUT(struct record *, record, sizeof *record), CROFT_VALUE(long, number))
{
    record->result = *record->pointer + number;
}

/* Repairs the record of the task that has faulted, and lets the task start anew. */
static void repair(struct trap_frame *frame)
{
    struct record *record = (struct record *)frame->x[FIRST_PARAMETER];
    __asm__ volatile("csrw 0x5c3, %0" : : "r"(KILL) : "memory"); /* nucdctl */
    record->pointer = &record->good;
    faults[csr_read(mhartid)]++;
}

/* The same when the host runs the region itself, because faults of other tasks hold all accelerators: begins the
 * region's function, which has no frame, anew. */
static void repair_here(struct trap_frame *frame)
{
    struct record *record = (struct record *)frame->x[FIRST_PARAMETER];
    record->pointer = &record->good;
    faults[csr_read(mhartid)]++;
    frame->x[A0] = frame->x[FIRST_PARAMETER];
    frame->x[A0 + 1] = frame->x[FIRST_PARAMETER + 1];
    frame->pc = (unsigned long)look_region;
}

static bool is_bad(unsigned host, unsigned round, unsigned i)
{
    return (i * 7 + round * 5 + host * 3) % 4 == 0;
}

static void look_soon(struct record *record, bool bad)
{
    record->good = GOOD;
    record->pointer = bad ? (const long *)NOWHERE : &record->good;
}

static void look_at_all(void *argument)
{
    unsigned host = (unsigned)csr_read(mhartid);
    (void)argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < RECORDS; i++)
            look_soon(&records[host][i], is_bad(host, round, i));
        for (unsigned i = 0; i < RECORDS; i++)
            look(&records[host][i], (long)(round + i));
        for (unsigned i = 0; i < RECORDS; i++)
            records[host][i].right += records[host][i].result == GOOD + (long)(round + i);
    }
}

static void faults_on_all_hosts(struct suite *s)
{
    for (unsigned host = 1; host < HOSTS; host++)
        hart_start(host, look_at_all, NULL);
    look_at_all(NULL);
    for (unsigned host = 0; host < HOSTS; host++) {
        unsigned right = 0, bad = 0;
        if (host > 0)
            hart_wait(host);
        for (unsigned i = 0; i < RECORDS; i++) {
            right += (unsigned)records[host][i].right;
            for (unsigned round = 0; round < ROUNDS; round++)
                bad += is_bad(host, round, i);
        }
        expect(s, "right results", right, ROUNDS * RECORDS);
        expect(s, "faults", faults[host], bad);
    }
}

enum { SPINS = 1000, TASKS = 48 };

CROFT_REGION_RETURNS(long, spin, CROFT_VALUE(long, seed))
{
    for (int i = 0; i < SPINS; i++)
        seed = seed * 6364136223846793005 + 1442695040888963407;
    return seed;
}

static volatile int begun;
static volatile long sums[2];

static uint64_t cycles(void)
{
    uint64_t now;
    __asm__ volatile("fence; rdcycle %0" : "=r"(now) : : "memory");
    return now;
}

static uint64_t one_task(void)
{
    uint64_t start = cycles();
    sums[0] = spin(1);
    return cycles() - start;
}

static uint64_t took[2];

static void many_tasks(void *argument)
{
    unsigned host = (unsigned)csr_read(mhartid);
    uint64_t start = cycles();
    long sum = 0;
    (void)argument;
    begun = 1;
    for (long i = 0; i < TASKS; i++)
        sum += spin(i);
    sums[host] = sum;
    took[host] = cycles() - start;
}

int main(void)
{
    struct suite s = {0};
    expect(&s, "handlers",
           trap_set_exception(REGION_FAULT, repair) && trap_set_exception(LOAD_ACCESS, repair_here), 1);
    faults_on_all_hosts(&s);
    one_task(); /* brings the code into the caches */
    printf("alone %lu\n", one_task());
    hart_start(1, many_tasks, NULL);
    while (!begun)
        continue;
    for (uint64_t start = cycles(); cycles() - start < 4000;) /* the other host fills the queues */
        continue;
    printf("beside %lu\n", one_task());
    hart_wait(1);
    printf("many %lu\n", took[1]);
    hart_start(1, many_tasks, NULL);
    many_tasks(NULL);
    hart_wait(1);
    printf("both %lu %lu\n", took[0], took[1]);
    return suite_end(&s);
}
