/* Code that changes without FENCE.I: before and after it has run, in its own block, across a page boundary, by another
 * hart, under PMP, and through page tables that SFENCE.VMA with each kind of operands makes known.
 *
 * The architecture lets a hart run old code until FENCE.I; croft and QEMU do not, and these checks hold them to it. */
#include <croft/firmware/hart.h>
#include <stdio.h>

#include "support/support.h"

enum { V = 1, RWX = 14, U = 16, AD = 192, ENTRIES = 512, WORDS = 1024, NAPOT = 3 << 3, R = 1, W = 2, X = 4 };
enum { RET = 0x00008067 };

/* a0 is what the called function returns. */
SNIPPET(do_call, "mv t2, ra\njalr a0\nmv ra, t2");

static _Alignas(4096) volatile uint32_t pages[4][WORDS];
static _Alignas(2 << 20) volatile uint32_t large[2][(2 << 20) / 4];
static _Alignas(4096) uint64_t tables[2][3][ENTRIES]; /* two address spaces: root, middle, last */

/* Virtual addresses of two pages beside each other, and of a large page. */
static const uint64_t first_page = 0x40201000, second_page = 0x40202000, large_page = 0x40400000;

static uint32_t load_immediate(uint32_t value)
{
    return value << 20 | 0x513; /* li a0, value */
}

static void write_function(volatile uint32_t *at, uint32_t value)
{
    at[0] = load_immediate(value);
    at[1] = RET;
}

static uint64_t call(volatile uint32_t *at)
{
    return ((uint64_t(*)(void))(uint64_t)at)();
}

/* A store in front of a jump to code that follows it directly. */
static uint64_t patch_ahead(uint32_t value)
{
    register uint64_t a0 __asm__("a0");
    __asm__ volatile("la   t1, 1f\n"
                     "sw   %1, 0(t1)\n"
                     "j    1f\n"
                     ".balign 8\n"
                     ".option push\n.option norvc\n"
                     "1: li a0, 1\n"
                     ".option pop"
                     : "=r"(a0)
                     : "r"(load_immediate(value))
                     : "t1", "memory");
    return a0;
}

/* A loop whose addition is replaced by its own stores, with a larger constant each time. */
static uint64_t patch_itself(uint64_t rounds)
{
    uint64_t sum = 0, step = 1 << 20;
    register uint64_t a1 __asm__("a1") = sum;
    __asm__ volatile("la   t1, 1f\n"
                     ".option push\n.option norvc\n"
                     "2: lw t0, 0(t1)\n"
                     "add  t0, t0, %2\n"
                     "sw   t0, 0(t1)\n"
                     "1: addi a1, a1, 0\n"
                     "addi %1, %1, -1\n"
                     "bnez %1, 2b\n"
                     ".option pop"
                     : "+r"(a1), "+r"(rounds)
                     : "r"(step)
                     : "t0", "t1", "memory");
    return a1;
}

static void test_plain(struct suite *s)
{
    expect(s, "patched before its first run", patch_ahead(2), 2);
    expect(s, "and again", patch_ahead(3), 3);
    expect_spec(s, "patched by itself", patch_itself(30) == 30 * 31 / 2); /* QEMU 7.2 ends its block first */
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= 100; i++) {
        write_function(pages[0], i);
        sum += call(pages[0]);
    }
    expect(s, "patched after each run", sum, 5050);
}

static void test_boundary(struct suite *s)
{
    volatile uint16_t *half = (volatile uint16_t *)&pages[1][0] - 1;
    uint64_t sum = 0;
    ((volatile uint16_t *)&pages[1][0])[1] = 0x8082; /* ret */
    for (uint32_t i = 1; i <= 20; i++) {
        half[0] = (uint16_t)load_immediate(i);
        half[1] = (uint16_t)(load_immediate(i) >> 16);
        sum += call((volatile uint32_t *)half);
    }
    expect(s, "across a page boundary, both halves", sum, 210);
    sum = 0;
    for (uint32_t i = 1; i <= 20; i++) {
        half[1] = (uint16_t)(load_immediate(i) >> 16);
        sum += call((volatile uint32_t *)half);
    }
    expect(s, "the second half alone", sum, 210);
    half[0] = (uint16_t)0x0593; /* li a1, 20 */
    register uint64_t a0 __asm__("a0") = 77;
    __asm__ volatile("jalr %1" : "+r"(a0) : "r"(half) : "ra", "a1", "memory");
    expect(s, "the first half alone", a0, 77);
}

static void set_config(uint64_t config)
{
    csr_write(pmpcfg0, (csr_read(pmpcfg0) & ~0xfful) | config);
    __asm__ volatile("sfence.vma" : : : "memory");
}

static void test_pmp(struct suite *s)
{
    static const enum privilege modes[] = {PRIVILEGE_SUPERVISOR, PRIVILEGE_USER};
    csr_write(pmpaddr0, (uint64_t)pages[0] >> 2 | 511);
    for (unsigned i = 0; i < 2; i++) {
        write_function(pages[0], 5);
        set_config(NAPOT | R | X);
        expect(s, "PMP: allowed code", attempt(modes[i], do_call, (uint64_t)pages[0], 0).result[0], 5);
        set_config(NAPOT | R | W);
        write_function(pages[0], 6);
        struct attempt a = attempt(modes[i], do_call, (uint64_t)pages[0], 0);
        expect(s, "PMP: forbidden after it has run", a.cause, FETCH_ACCESS);
        expect(s, "PMP: the address", a.value, (uint64_t)pages[0]);
        set_config(NAPOT | X);
        expect(s, "PMP: patched while it was forbidden",
               attempt(modes[i], do_call, (uint64_t)pages[0], 0).result[0], 6);
        write_function(pages[0], 7);
        expect(s, "PMP: patched by M, which it does not bind",
               attempt(modes[i], do_call, (uint64_t)pages[0], 0).result[0], 7);
    }
    set_config(0);
}

static uint64_t entry_of(volatile const void *page, uint64_t flags)
{
    return (uint64_t)page >> 12 << 10 | flags;
}

static void map(unsigned space, uint64_t address, volatile const void *page)
{
    tables[space][2][address >> 12 & 511] = entry_of(page, V | RWX | AD);
}

static void map_large(unsigned space, volatile const void *page)
{
    tables[space][1][large_page >> 21 & 511] = entry_of(page, V | RWX | AD);
}

static void use_space(unsigned space)
{
    csr_write(satp, 8ul << 60 | (uint64_t)(space + 1) << 44 | (uint64_t)tables[space][0] >> 12);
}

static void build_spaces(void)
{
    for (unsigned i = 0; i < 2; i++) {
        tables[i][0][2] = entry_of((const void *)0x80000000, V | RWX | AD);
        tables[i][0][1] = entry_of(tables[i][1], V);
        tables[i][1][1] = entry_of(tables[i][2], V);
    }
}

enum fence { ALL, PAGE, SPACE, PAGE_SPACE, FENCES };

static void fence(enum fence kind, uint64_t address, uint64_t space)
{
    switch (kind) {
    case ALL: __asm__ volatile("sfence.vma" : : : "memory"); break;
    case PAGE: __asm__ volatile("sfence.vma %0" : : "r"(address) : "memory"); break;
    case SPACE: __asm__ volatile("sfence.vma zero, %0" : : "r"(space + 1) : "memory"); break;
    default: __asm__ volatile("sfence.vma %0, %1" : : "r"(address), "r"(space + 1) : "memory"); break;
    }
}

static uint64_t call_mapped(uint64_t address)
{
    struct attempt a = attempt(PRIVILEGE_SUPERVISOR, do_call, address, 0);
    return a.cause == ECALL_S ? a.result[0] : 1000 + a.cause;
}

static void test_fence(struct suite *s, enum fence kind)
{
    uint64_t sum = 0;
    use_space(0);
    for (unsigned i = 0; i < 10; i++) {
        map(0, first_page, pages[i % 2]);
        fence(kind, first_page + 8, 0);
        sum = 10 * sum + call_mapped(first_page);
    }
    expect(s, "a page that is mapped elsewhere", sum, 1212121212);
    sum = 0;
    for (unsigned i = 0; i < 10; i++) {
        map_large(0, large[i % 2]);
        fence(kind, large_page + 0x12345, 0);
        sum = 10 * sum + call_mapped(large_page + 0x3000);
    }
    expect(s, "a large page", sum, 3434343434);
    tables[0][2][first_page >> 12 & 511] = 0;
    fence(kind, first_page, 0);
    expect(s, "a page that is no longer mapped", call_mapped(first_page), 1000 + FETCH_PAGE);
}

/* The first page jumps to the second one, or ends with half an instruction whose other half is there. */
static void test_two_pages(struct suite *s, enum fence kind)
{
    uint64_t sum = 0;
    use_space(0);
    pages[2][0] = 0x0000106f; /* j 4096 bytes on */
    map(0, first_page, pages[2]);
    for (unsigned i = 0; i < 10; i++) {
        map(0, second_page, pages[i % 2]);
        fence(kind, second_page, 0);
        sum = 10 * sum + call_mapped(first_page);
    }
    expect(s, "a jump to a page that is mapped elsewhere", sum, 1212121212);
    volatile uint16_t *half = (volatile uint16_t *)pages[3] - 1;
    *half = (uint16_t)load_immediate(0);
    sum = 0;
    for (unsigned i = 0; i < 10; i++) {
        volatile uint16_t *other = (volatile uint16_t *)large[i % 2];
        other[0] = (uint16_t)(load_immediate(5 + i % 2) >> 16);
        other[1] = 0x8082; /* ret */
        map(0, second_page, other);
        fence(kind, second_page, 0);
        sum = 10 * sum + call_mapped(second_page - 2);
    }
    expect(s, "an instruction whose second half is mapped elsewhere", sum, 5656565656);
}

/* The same address in two address spaces, without fences between them. */
static void test_spaces(struct suite *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        use_space(i);
        map(i, first_page, pages[i]);
        map_large(i, large[i]);
        fence(ALL, 0, 0);
    }
    for (unsigned i = 0; i < 10; i++) {
        use_space(i % 2);
        sum = 10 * sum + call_mapped(first_page) + call_mapped(large_page + 0x3000);
    }
    expect(s, "two address spaces", sum, 4646464646);
    write_function(pages[1], 9);
    use_space(1);
    expect(s, "patched by its physical address", call_mapped(first_page), 9);
    use_space(0);
    expect(s, "the other one is not", call_mapped(first_page), 1);
    csr_write(satp, 0);
}

static void call_until_changed(void *argument)
{
    volatile uint64_t *result = argument;
    while (*result != 8)
        *result = call(pages[0]);
}

static void test_harts(struct suite *s)
{
    static volatile uint64_t result;
    write_function(pages[0], 4);
    expect(s, "hart 1 starts", hart_start(1, call_until_changed, (void *)(uint64_t)&result), 1);
    while (result != 4)
        ;
    pages[0][0] = load_immediate(8);
    hart_wait(1);
    expect(s, "patched by another hart", result, 8);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_plain(&s);
    test_boundary(&s);
    test_pmp(&s);
    build_spaces();
    for (enum fence kind = ALL; kind < FENCES; kind++) {
        write_function(pages[0], 1);
        write_function(pages[1], 2);
        write_function(&large[0][0x3000 / 4], 3);
        write_function(&large[1][0x3000 / 4], 4);
        test_fence(&s, kind);
        test_two_pages(&s, kind);
    }
    test_spaces(&s);
    test_harts(&s);
    return suite_end(&s);
}
