/* A conventional driver for accelerators. It stores packets to their work queues, rings the doorbell, and
 * waits by polling or sleeps until the interrupt. Each task adds two vectors. A task that faults is killed.
 *
 *     croft cc --bare -O2 -g examples/firmware/offload.c -o offload
 *     croft run -m nucd --firmware build/share/croft/firmware/nucd.elf offload
 *
 * croft/task_unit.h describes the registers, emu/nucd/packet.h the packets. */
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/plic.h>
#include <croft/task_unit.h>
#include <stdio.h>

enum {
    UNITS = 4,
    ROUNDS = 3,
    COUNT = 1024, /* numbers that one task adds */
    LINE = 64,
};

static volatile struct task_unit_host *unit_at(unsigned number)
{
    return (volatile struct task_unit_host *)(CROFT_NUCD_BASE + TASK_UNIT_SIZE * (unsigned long)number +
                                              TASK_UNIT_PAGE);
}

_Alignas(LINE) static long x[UNITS][COUNT], y[UNITS][COUNT];

/* Accelerators execute a region: the code from one address to another at the same call depth. This region is
 * a call. Its inputs are a0 to a2, its result is in a0. */
extern const char region_begin[], region_end[];
long add(const long *from, long *to, long count);
__asm__(".pushsection .text\n"
        ".option push\n"
        ".option norvc\n"
        "region_begin: call add\n"
        "region_end: ebreak\n"
        ".option pop\n"
        ".popsection\n");

__attribute__((used, noinline)) long add(const long *from, long *to, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += to[i] += from[i];
    return sum;
}

/* Writes cache lines back and invalidates them. Accelerators are not coherent with the host: they read
 * memory, so modified lines must be written to it first, and lines that they write must not stay in the
 * host's caches. */
static void flush(const void *from, unsigned long bytes)
{
    for (unsigned long at = (unsigned long)from; at < (unsigned long)from + bytes; at += LINE)
        __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" : : "r"(at) : "memory"); /* cbo.flush */
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

static void start(unsigned number, uint16_t tag, const long *from, long *to, long count)
{
    volatile struct task_unit_host *unit = unit_at(number);
    const uint64_t registers = 1 << 3 | 1 << 4 | 7 << 10; /* gp, tp, a0-a2 */
    uint64_t gp, tp;
    __asm__("mv %0, gp\n\tmv %1, tp" : "=r"(gp), "=r"(tp));
    const uint64_t packet[8] = {1 | registers | (uint64_t)10 << 32 | (uint64_t)tag << 48,
                                (uint64_t)region_begin,
                                (uint64_t)region_end,
                                gp,
                                tp,
                                (uint64_t)from,
                                (uint64_t)to,
                                (uint64_t)count};
    for (unsigned i = 0; i < 8; i++)
        unit->line[i] = packet[i];
    unit->doorbell = 1;
}

/* Sleeps until the task unit has completed `done` tasks or has stopped at a fault. The loop checks the unit,
 * because the interrupt may be an earlier one that the PLIC has kept pending. */
static void await(unsigned number, unsigned long done)
{
    volatile struct task_unit_host *unit = unit_at(number);
    unsigned context = plic_machine_context(hart_id());
    while (unit->done != done && (unit->status & TASK_UNIT_STATE_MASK) != TASK_UNIT_FAULTED) {
        __asm__ volatile("wfi");
        unit->control = TASK_UNIT_ACKNOWLEDGE;
        unsigned source = plic_claim(context);
        if (source != 0)
            plic_complete(context, source);
    }
}

static int run(unsigned round)
{
    int failures = 0;
    flush(x, sizeof x);
    flush(y, sizeof y);
    for (unsigned i = 0; i < UNITS; i++)
        start(i, (uint16_t)i, x[i], y[i], COUNT);
    for (unsigned i = 0; i < UNITS; i++) {
        volatile struct task_unit_host *unit = unit_at(i);
        while (unit->done != round + 1)
            ;
        long expected = (round + 1) * COUNT * (long)(i + 1);
        failures += (long)unit->result != expected || y[i][COUNT - 1] != (long)((round + 1) * (i + 1));
        unit->control = TASK_UNIT_ACKNOWLEDGE;
    }
    return failures;
}

/* Starts a task whose first load faults: there is no memory at its address 8. */
static int fault(void)
{
    volatile struct task_unit_host *unit = unit_at(0);
    plic_set_priority(CROFT_NUCD_IRQ, 1);
    plic_enable(plic_machine_context(hart_id()), CROFT_NUCD_IRQ, true);
    csr_set(mie, 1ul << INTERRUPT_MACHINE_EXTERNAL);
    start(0, 99, (const long *)8, y[0], 1);
    await(0, ROUNDS + 1);
    if ((unit->status & TASK_UNIT_STATE_MASK) != TASK_UNIT_FAULTED)
        return 1;
    printf("a fault: cause %lu, address 0x%lx\n", (unsigned long)unit->cause, (unsigned long)unit->value);
    unit->control = TASK_UNIT_KILL;
    return unit->done != ROUNDS + 1;
}

int main(void)
{
    int failures = 0;
    for (unsigned i = 0; i < UNITS; i++)
        for (unsigned k = 0; k < COUNT; k++)
            x[i][k] = i + 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned long before = csr_read(cycle);
        failures += run(round);
        printf("round %u: %u tasks in %lu cycles\n", round, UNITS, csr_read(cycle) - before);
    }
    failures += fault();
    printf("%d failures\n", failures);
    return failures != 0;
}
