/* A compute loop in machine mode without translation (SUPERVISOR 0), or in supervisor mode through Sv39 with
 * pages of 4 KiB (SUPERVISOR 1): integer mixing by a table, and sweeps of loads and stores over 1 MiB. Both
 * print the same. */
#include <croft/firmware/csr.h>
#include <croft/firmware/map.h>
#include <croft/firmware/trap.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ENTRIES = 512, PROGRAM_TABLES = 4, WORDS = (1 << 20) / 8, PASSES = 300, MIXES = 100000 };
enum { V = 1, R = 2, W = 4, X = 8, A = 64, D = 128, LEAF = V | R | W | X | A | D };
enum { CAUSE_ECALL_SUPERVISOR = 9, PMP_NAPOT_RWX = 0x1f, SV39_SHIFT = 60, SV39 = 8 };

/* Where supervisor mode sees the array, far from its physical address. */
static const uint64_t window = 0x40000000;

static _Alignas(CROFT_PAGE_SIZE) uint64_t array[WORDS];
static _Alignas(CROFT_PAGE_SIZE) uint64_t root[ENTRIES], program_middle[ENTRIES], window_middle[ENTRIES];
static _Alignas(CROFT_PAGE_SIZE) uint64_t program_leaves[PROGRAM_TABLES][ENTRIES], window_leaves[ENTRIES];
static _Alignas(16) uint8_t trap_stack[4096];
static uint32_t table[256];

static uint64_t entry_of(uint64_t address, uint64_t flags)
{
    return address / CROFT_PAGE_SIZE << 10 | flags;
}

/* The program at its own addresses, and the array's pages in reverse order at the window. */
static void tables_build(void)
{
    const uint64_t pages = sizeof array / CROFT_PAGE_SIZE;
    root[CROFT_DRAM_BASE >> 30] = entry_of((uint64_t)program_middle, V);
    root[window >> 30] = entry_of((uint64_t)window_middle, V);
    window_middle[0] = entry_of((uint64_t)window_leaves, V);
    for (unsigned i = 0; i < PROGRAM_TABLES; i++)
        program_middle[i] = entry_of((uint64_t)program_leaves[i], V);
    for (unsigned i = 0; i < PROGRAM_TABLES * ENTRIES; i++)
        program_leaves[i / ENTRIES][i % ENTRIES] =
            entry_of(CROFT_DRAM_BASE + (uint64_t)i * CROFT_PAGE_SIZE, LEAF);
    for (uint64_t i = 0; i < pages; i++)
        window_leaves[i] = entry_of((uint64_t)array + (pages - 1 - i) * CROFT_PAGE_SIZE, LEAF);
}

/* An environment call goes on behind itself, in machine mode. */
static void on_call(struct trap_frame *frame)
{
    frame->status |= MSTATUS_MPP;
    frame->pc += 4;
}

static void supervisor_enter(void)
{
    tables_build();
    trap_set_exception(CAUSE_ECALL_SUPERVISOR, on_call);
    csr_write(pmpaddr0, UINT64_MAX >> 10);
    csr_write(pmpcfg0, PMP_NAPOT_RWX);
    csr_write(satp, (uint64_t)SV39 << SV39_SHIFT | (uint64_t)root / CROFT_PAGE_SIZE);
    csr_clear(mstatus, MSTATUS_MPP);
    csr_set(mstatus, 1ul << MSTATUS_MPP_SHIFT);
    csr_write(mscratch, trap_stack + sizeof trap_stack);
    __asm__ volatile("sfence.vma\n"
                     "lla t0, 1f\n"
                     "csrw mepc, t0\n"
                     "mret\n"
                     "1:"
                     :
                     :
                     : "t0", "memory");
}

static void supervisor_leave(void)
{
    __asm__ volatile("ecall" : : : "memory");
}

static uint64_t sweep(uint64_t *words, uint64_t sum)
{
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t word = words[i] + sum;
        word ^= word << 13;
        word ^= word >> 7;
        words[i] = word;
        sum += word;
    }
    return sum;
}

static uint32_t mix(uint32_t crc, uint64_t value)
{
    for (unsigned i = 0; i < 4; i++, value >>= 8)
        crc = crc >> 8 ^ table[(crc ^ value) & 255];
    return crc;
}

static uint64_t compute(uint64_t *words)
{
    uint64_t sum = 1;
    uint32_t crc = UINT32_MAX;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        sum = sweep(words, sum);
        for (unsigned i = 0; i < MIXES; i++)
            crc = mix(crc, sum + i);
        sum += crc;
    }
    return sum;
}

int main(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (unsigned bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    if (SUPERVISOR)
        supervisor_enter();
    uint64_t sum = compute(SUPERVISOR ? (uint64_t *)window : array);
    if (SUPERVISOR)
        supervisor_leave();
    printf("%u passes, sum %016lx\n", PASSES, sum);
    return 0;
}
