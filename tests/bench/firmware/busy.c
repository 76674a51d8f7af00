/* All accelerators busy, the host asleep: what simulating them costs. BUSY_KERNEL says what each of them does to data of
 * its own: compute in registers; add two vectors; gather by random indices; filter rows of an image; follow pointers
 * from line to line; add short vectors in one task after another. With BUSY_RANGES, a table of ranges translates.
 * Prints a checksum. */
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/plic.h>
#include <croft/range.h>
#include <croft/task_unit.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { KERNEL_compute, KERNEL_add, KERNEL_gather, KERNEL_filter, KERNEL_follow, KERNEL_short };

enum {
    UNITS = 16,
    COUNT = 1 << 15,
    PASSES = BUSY_KERNEL == KERNEL_compute ? 1 : 2,
    LINE = 64,
    WIDTH = 256,
    SHORT = 64
};

static volatile struct task_unit_host *unit_at(unsigned number)
{
    return (volatile struct task_unit_host *)(CROFT_NUCD_BASE + TASK_UNIT_SIZE * (unsigned long)number +
                                              TASK_UNIT_PAGE);
}

_Alignas(LINE) static double x[UNITS][COUNT], y[UNITS][COUNT];
_Alignas(LINE) static uint32_t indices[UNITS][COUNT];

/* All of memory, at its own addresses. */
_Alignas(LINE) static struct croft_range_table table = {
    .count = 1,
    .entries = {{.base = CROFT_DRAM_BASE,
                 .size = 1 << 30,
                 .physical = CROFT_DRAM_BASE,
                 .permissions = CROFT_RANGE_ACCESS | CROFT_RANGE_PRESENT}},
};

extern const char region_begin[], region_end[];
__asm__(".pushsection .text\n"
        ".option push\n"
        ".option norvc\n"
        "region_begin: call work\n"
        "region_end: ebreak\n"
        ".option pop\n"
        ".popsection\n");

static uint64_t compute(long count)
{
    uint64_t a = 1, b = 2;
    double f = 1;
    for (long i = 0; i < 40 * count; i++) {
        a = a * 6364136223846793005u + 1442695040888963407u;
        b ^= a >> 33;
        if (b & 64)
            f = f * 0.5 + 1;
    }
    return b + (uint64_t)f;
}

static void filter(const double *from, double *to, long count)
{
    for (long i = WIDTH + 1; i < count - WIDTH - 1; i++) {
        double sum = 0;
        for (long row = -WIDTH; row <= WIDTH; row += WIDTH)
            sum += from[i + row - 1] + from[i + row] + from[i + row + 1];
        to[i] = sum * (1.0 / 9);
    }
}

/* The pointers go through all lines of y, by an odd stride. */
static uint64_t follow(double *at, long count)
{
    const uint64_t *pointer = (const uint64_t *)at;
    for (long i = 0; i < count; i++)
        pointer = (const uint64_t *)*pointer;
    return (uint64_t)(pointer - (const uint64_t *)at);
}

__attribute__((used, noinline)) uint64_t work(const double *from, double *to, const uint32_t *index,
                                              long count)
{
    uint64_t sum = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        if (BUSY_KERNEL == KERNEL_compute)
            sum += compute(count);
        else if (BUSY_KERNEL == KERNEL_add || BUSY_KERNEL == KERNEL_short)
            for (long i = 0; i < count; i++)
                to[i] += from[i];
        else if (BUSY_KERNEL == KERNEL_gather)
            for (long i = 0; i < count; i++)
                to[i] += from[index[i]];
        else if (BUSY_KERNEL == KERNEL_filter)
            filter(from, to, count);
        else
            sum += follow(to, count);
    }
    return sum;
}

static void flush(const void *from, unsigned long bytes)
{
    for (unsigned long at = (unsigned long)from; at < (unsigned long)from + bytes; at += LINE)
        __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" : : "r"(at) : "memory"); /* cbo.flush */
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

static void start(unsigned number, unsigned offset, unsigned count)
{
    volatile struct task_unit_host *unit = unit_at(number);
    const uint64_t registers = 1 << 3 | 0xf << 10; /* gp, a0-a3 */
    uint64_t gp;
    __asm__("mv %0, gp" : "=r"(gp));
    const uint64_t packet[8] = {1 | registers | (uint64_t)10 << 32 | (uint64_t)number << 48,
                                (uint64_t)region_begin,
                                (uint64_t)region_end,
                                gp,
                                (uint64_t)&x[number][offset],
                                (uint64_t)&y[number][offset],
                                (uint64_t)indices[number],
                                count};
    for (unsigned i = 0; i < 8; i++)
        unit->line[i] = packet[i];
    unit->doorbell = 1;
}

/* Fills the data that the kernel follows. */
static void set_up(void)
{
    uint32_t random = 1;
    for (unsigned i = 0; BUSY_KERNEL == KERNEL_gather && i < UNITS * COUNT; i++)
        (&indices[0][0])[i] = (random = random * 1664525u + 1013904223u) >> 17;
    if (BUSY_KERNEL == KERNEL_gather)
        flush(indices, sizeof indices);
    enum { LINES = COUNT / 8 };
    for (unsigned i = 0; BUSY_KERNEL == KERNEL_follow && i < UNITS; i++)
        for (unsigned k = 0; k < LINES; k++)
            memcpy(&y[i][k * 8], &(double *){&y[i][(k + 1237) % LINES * 8]}, sizeof(double *));
    if (BUSY_KERNEL == KERNEL_follow)
        flush(y, sizeof y);
    flush(&table, sizeof table);
}

int main(void)
{
    set_up();
    unsigned context = plic_machine_context(hart_id());
    csr_set(mie, 1ul << INTERRUPT_MACHINE_EXTERNAL);
    for (unsigned i = 0; i < UNITS; i++) {
        plic_set_priority(CROFT_NUCD_IRQ + i, 1);
        plic_enable(context, CROFT_NUCD_IRQ + i, true);
        unit_at(i)->ranges = BUSY_RANGES ? (uint64_t)&table : 0;
        if (BUSY_KERNEL != KERNEL_short)
            start(i, 0, COUNT);
    }
    for (unsigned at = 0; BUSY_KERNEL == KERNEL_short && at < COUNT; at += SHORT)
        for (unsigned i = 0; i < UNITS; i++) {
            while (unit_at(i)->credits == 0)
                ;
            start(i, at, SHORT);
        }
    uint64_t sum = 0;
    for (unsigned i = 0; i < UNITS; i++) {
        while (unit_at(i)->done != (BUSY_KERNEL == KERNEL_short ? COUNT / SHORT : 1)) {
            __asm__ volatile("wfi");
            unsigned source = plic_claim(context);
            if (source != 0) {
                unit_at(source - CROFT_NUCD_IRQ)->control = TASK_UNIT_ACKNOWLEDGE;
                plic_complete(context, source);
            }
        }
        sum += unit_at(i)->result;
    }
    printf("%lx\n", (unsigned long)sum);
    return 0;
}
