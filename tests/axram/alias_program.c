/* Accelerator memory at virtual addresses that are not its physical ones, in supervisor mode without an operating system: alias. A
 * network 1 -> 1 with the weight 1 must give the sigmoid of its input where the addresses name the same chips; where they name
 * others, the instruction must trap. */
#include <croft/axram.h>
#include <stdio.h>

#include "tests/firmware/support/support.h"

enum { V = 1, R = 2, W = 4, X = 8, A = 64, D = 128, ALL = V | R | W | X | A | D, ENTRIES = 512 };
static const uint64_t superpage = 1 << 21, program = 0x80000000;

SNIPPET(do_config, ".insn r 0x0b, 0, 0, x0, a0, a1");
SNIPPET(do_invoke, ".insn r 0x0b, 1, 0, x0, a0, a1\n.insn r 0x0b, 2, 0, x0, a2, a3");

static _Alignas(4096) uint64_t root[ENTRIES], window[2][ENTRIES];

static uint64_t entry_of(uint64_t physical, uint64_t flags)
{
    return physical >> 12 << 10 | flags;
}

/* Maps accelerator memory `distance` above its physical address by superpages of table `number`. */
static void map(unsigned number, uint64_t base, uint64_t size, uint64_t distance)
{
    for (uint64_t at = base; at < base + size; at += superpage)
        window[number][(at + distance) / superpage % ENTRIES] = entry_of(at, ALL);
    root[(base + distance) >> 30] = entry_of((uint64_t)window[number], V);
}

static struct attempt invoke(uint64_t inputs)
{
    struct attempt a = {.pc = (uint64_t)do_invoke, .status = status_for(PRIVILEGE_SUPERVISOR)};
    a.a[0] = inputs;
    a.a[1] = inputs + 4;
    a.a[2] = inputs + CROFT_AXRAM_BLOCK;
    a.a[3] = a.a[2] + 4;
    attempt_run(&a);
    return a;
}

int main(void)
{
    static const uint32_t image[] = {0x4e4e5841, 2 | 1 << 8, 1 | 1 << 8, 1, 0, 0, 0, 0, 0x3f800000};
    const uint64_t base = croft_axram_query(CROFT_AXRAM_BASE), size = croft_axram_query(CROFT_AXRAM_SIZE),
                   turn = croft_axram_query(CROFT_AXRAM_CHIPS) * croft_axram_query(CROFT_AXRAM_PIECE),
                   same = 512 * turn, other = program + superpage;
    const uint64_t bytes = (uint64_t)croft_axram_lay_out(image, 0x3f800000, (void *)base) - base;
    volatile uint32_t *inputs = (volatile uint32_t *)(base + 2 * CROFT_AXRAM_HALF_PAGE);
    struct suite suite = {0, 0};
    struct attempt a;

    machine_prepare();
    root[program >> 30] = entry_of(program, ALL);
    map(0, base, size, same);
    map(1, base, size, other);
    csr_write(satp, 8ul << 60 | (uint64_t)root >> 12);
    __asm__ volatile("sfence.vma" : : : "memory");

    inputs[0] = 0x3f000000; /* 0.5, whose sigmoid is 0.6225 */
    a = attempt(PRIVILEGE_SUPERVISOR, do_config, base + same, base + same + bytes);
    expect_end(&suite, "config of the same chip", &a);
    a = invoke((uint64_t)inputs + same);
    expect_end(&suite, "invocation of the same chip", &a);
    const float result = *(volatile float *)&inputs[CROFT_AXRAM_WORDS];
    expect(&suite, "result", result > 0.6215F && result < 0.6235F, 1);
    a = attempt(PRIVILEGE_SUPERVISOR, do_config, base + other, base + other + bytes);
    expect_trap(&suite, "config of another chip", &a, ILLEGAL, 0x00b5000b, 0);
    a = invoke((uint64_t)inputs + other);
    expect_trap(&suite, "invocation of another chip", &a, ILLEGAL, 0x00b5100b, 0);
    return suite_end(&suite);
}
