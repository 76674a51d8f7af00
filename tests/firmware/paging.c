/* Page-table walks in Sv39 and Sv48: every level and permission, superpages, bad entries, MPRV, SFENCE.VMA.
 */
#include <stdio.h>

#include "support/support.h"

enum { V = 1, R = 2, W = 4, X = 8, U = 16, G = 32, A = 64, D = 128, RWX = R | W | X, AD = A | D };
enum { ENTRIES = 512, LEVELS_MAX = 4 };
static const uint64_t page = 4096;

SNIPPET(do_load, "ld a0, 0(a0)");
SNIPPET(do_store, "sd a1, 0(a0)");
SNIPPET(do_jump, "jr a0");
SNIPPET(do_lr, "lr.d a0, (a0)");
SNIPPET(do_amo, "amoadd.d a0, zero, (a0)");
SNIPPET(do_store_sfence_load, "sd a1, 0(a0)\nsfence.vma\nld a0, 0(a2)");
/* In M, through the translation of the mode in MPP. */
SNIPPET(do_mprv_load, "csrs mstatus, a1\nld a0, 0(a0)");
SNIPPET(do_mprv_store, "csrs mstatus, a1\nsd a0, 0(a0)");

/* The page that is mapped in every way: an ecall to jump to, then data. */
static _Alignas(4096) uint64_t target[ENTRIES];
static _Alignas(
    4096) uint64_t tables[LEVELS_MAX][ENTRIES]; /* [n]: entries of level n on the way to the test page */

/* Where programs run: physical addresses for S; 4 GiB higher for U. */
static const uint64_t user_offset = 0x100000000;
/* The test page's virtual address: second entry of each table. */
static const uint64_t test_address = 1ul << 30 | 1ul << 21 | 1ul << 12;

static uint64_t entry_of(const void *table, uint64_t flags)
{
    return (uint64_t)table >> 12 << 10 | flags;
}

static unsigned index_at(uint64_t address, unsigned level)
{
    return (unsigned)(address >> (12 + 9 * level)) % ENTRIES;
}

/* Entry of `level` on the way to the test page. */
static uint64_t *test_entry(unsigned level)
{
    return &tables[level][index_at(test_address, level)];
}

static void fence(void)
{
    __asm__ volatile("sfence.vma" : : : "memory");
}

/* Level 2 holds the gigapages of the program too; in Sv48 level 3 leads to it. */
static void build(unsigned levels)
{
    for (unsigned level = 0; level < LEVELS_MAX; level++)
        for (unsigned i = 0; i < ENTRIES; i++)
            tables[level][i] = 0;
    const uint64_t program = 0x80000000;
    tables[2][index_at(program, 2)] = entry_of((const void *)program, V | RWX | AD);
    tables[2][index_at(program + user_offset, 2)] = entry_of((const void *)program, V | RWX | U | AD);
    for (unsigned level = 1; level < 3; level++)
        *test_entry(level) = entry_of(tables[level - 1], V);
    *test_entry(0) = entry_of(target, V | RWX | AD);
    tables[3][0] = entry_of(tables[2], V);
    csr_write(satp, (levels == 3 ? 8ul : 9ul) << 60 | (uint64_t)tables[levels - 1] >> 12);
    fence();
}

/* Makes the entry of `level` a leaf that maps the test address. */
static void map_leaf(unsigned level, uint64_t flags)
{
    uint64_t size = page << (9 * level);
    *test_entry(level) = entry_of((const void *)((uint64_t)target / size * size), flags);
    fence();
}

/* The test address moved so that it meets `target` within a leaf of that level. */
static uint64_t address_in(unsigned level)
{
    uint64_t size = page << (9 * level);
    return test_address / size * size + (uint64_t)target % size;
}

static struct attempt run(enum privilege mode, const char *code, uint64_t a0, uint64_t a1)
{
    return attempt(mode, mode == PRIVILEGE_USER ? code + user_offset : code, a0, a1);
}

enum access { LOAD, STORE, FETCH };

/* The cause with which an access ends: the ecall's if it is allowed. */
static uint64_t try_access(enum privilege mode, enum access access, uint64_t address, bool *good)
{
    static const char *const codes[] = {do_load, do_store, do_jump};
    struct attempt a = run(mode, codes[access], address, 0x55);
    uint64_t at = access == FETCH ? address : a.pc;
    bool faulted = a.cause != ecall_from(mode);
    /* mtval is the address; mepc is that of the instruction. */
    *good =
        faulted ? a.value == address && a.epc == at : a.value == 0 && (access != FETCH || a.epc == address);
    return faulted ? a.cause : 0;
}

/* What the specification says: 0 if allowed. */
static uint64_t should_be(enum privilege mode, enum access access, unsigned flags, bool sum, bool mxr)
{
    static const uint64_t faults[] = {LOAD_PAGE, STORE_PAGE, FETCH_PAGE};
    bool reserved = (flags & W) && !(flags & R);
    bool leaf = flags & (R | X);
    bool wrong_mode = mode == PRIVILEGE_USER ? !(flags & U) : (flags & U) && !(sum && access != FETCH);
    bool right = access == LOAD    ? (flags & R) || (mxr && (flags & X))
                 : access == STORE ? (flags & W) != 0
                                   : (flags & X) != 0;
    return !leaf || reserved || wrong_mode || !right ? faults[access] : 0;
}

/* All permissions of a leaf at one level, in one mode, under SUM and MXR: one line of outcomes for R, W, X.
 */
static void test_permissions(struct suite *s, unsigned levels, unsigned level, enum privilege mode, bool sum,
                             bool mxr)
{
    csr_clear(mstatus, MSTATUS_SUM | MSTATUS_MXR);
    csr_set(mstatus, (sum ? MSTATUS_SUM : 0) | (mxr ? MSTATUS_MXR : 0));
    unsigned wrong = 0;
    printf("Sv%u level %u mode %d SUM %d MXR %d:", levels * 9 + 12, level, (int)mode, sum, mxr);
    for (unsigned flags = 2; flags < 32; flags += 2) {
        if (!(flags & RWX))
            continue; /* no leaf */
        map_leaf(level, flags | V | AD);
        putchar(' ');
        for (enum access access = LOAD; access <= FETCH; access++) {
            target[0] = 0x00000073; /* ecall */
            bool good;
            /* The store goes behind the instruction. */
            uint64_t address = address_in(level) + (access == FETCH ? 0 : 8);
            uint64_t cause = try_access(mode, access, address, &good);
            putchar(cause == 0 ? "rwx"[access] : cause == should_be(mode, access, 0, 0, 0) ? '-' : '?');
            wrong += !good || cause != should_be(mode, access, flags, sum, mxr);
        }
    }
    printf("\n");
    expect(s, "wrong outcomes", wrong, 0);
    csr_clear(mstatus, MSTATUS_SUM | MSTATUS_MXR);
    build(levels);
}

/* QEMU reports an access fault of the walk itself as a page fault. */
enum kind { PAGE_FAULT, ACCESS_FAULT, WALK_FAULT };

static void expect_fault(struct suite *s, const char *name, uint64_t address, enum kind kind)
{
    static const uint64_t page_faults[] = {LOAD_PAGE, STORE_PAGE, FETCH_PAGE};
    static const uint64_t access_faults[] = {LOAD_ACCESS, STORE_ACCESS, FETCH_ACCESS};
    for (enum access access = LOAD; access <= FETCH; access++) {
        bool good;
        uint64_t cause = try_access(PRIVILEGE_SUPERVISOR, access, address, &good);
        if (kind == PAGE_FAULT)
            expect(s, name, good ? cause : 99, page_faults[access]);
        else if (kind == ACCESS_FAULT)
            expect(s, name, good ? cause : 99, access_faults[access]);
        else
            expect_spec(s, name, good && cause == access_faults[access]);
    }
}

static void test_bad_entries(struct suite *s, unsigned levels)
{
    for (unsigned level = 0; level < 3; level++) {
        *test_entry(level) &= ~(uint64_t)V;
        fence();
        expect_fault(s, "entry not valid", test_address, PAGE_FAULT);
        build(levels);
        if (level > 0) {
            map_leaf(level, V | RWX | AD);
            *test_entry(level) |= 1ul << 10;
            fence();
            expect_fault(s, "misaligned superpage", test_address, PAGE_FAULT);
            *test_entry(level) ^= 1ul << 10 | 1ul << (9 + 9 * level);
            fence();
            expect_fault(s, "misaligned superpage, upper bit", test_address, PAGE_FAULT);
            build(levels);
        }
        *test_entry(level) |= 1ul << 54;
        fence();
        expect_fault(s, "reserved bit 54 of an entry", test_address, PAGE_FAULT);
        build(levels);
        *test_entry(level) |= 1ul << 60;
        fence();
        expect_fault(s, "reserved bit 60 of an entry", test_address, PAGE_FAULT);
        build(levels);
    }
    *test_entry(0) = entry_of(target, V);
    fence();
    expect_fault(s, "pointer at the last level", test_address, PAGE_FAULT);
    build(levels);
    *test_entry(1) = entry_of((const void *)NOWHERE, V);
    fence();
    expect_fault(s, "table where nothing is", test_address, WALK_FAULT);
    build(levels);
    *test_entry(0) = entry_of((const void *)NOWHERE, V | RWX | AD);
    fence();
    expect_fault(s, "page where nothing is", test_address, ACCESS_FAULT);
    build(levels);
    uint64_t half = 1ul << (levels * 9 + 11);
    expect_fault(s, "address that is not canonical", half | test_address, PAGE_FAULT);
    expect_fault(s, "another", UINT64_MAX << 63 | test_address, PAGE_FAULT);
    expect_fault(s, "unmapped address of the upper half", -half, PAGE_FAULT);
    expect_fault(s, "the last one", -8ul, PAGE_FAULT);
}

static void test_other_accesses(struct suite *s, unsigned levels)
{
    map_leaf(0, V | X | AD);
    struct attempt a = run(PRIVILEGE_SUPERVISOR, do_lr, test_address, 0);
    expect_trap(s, "lr.d without R", &a, LOAD_PAGE, test_address, 0);
    map_leaf(0, V | R | AD);
    a = run(PRIVILEGE_SUPERVISOR, do_amo, test_address, 0);
    expect_trap(s, "amoadd.d without W", &a, STORE_PAGE, test_address, 0);
    map_leaf(0, V | RWX | AD);

    /* Over the end of the page into one that is not there: mtval is what could not be accessed. */
    a = run(PRIVILEGE_SUPERVISOR, do_load, test_address + page - 4, 0);
    expect_trap(s, "load over the end of the mapping", &a, LOAD_PAGE, test_address + page, 0);
    a = run(PRIVILEGE_SUPERVISOR, do_store, test_address + page - 4, 0);
    expect_trap(s, "store over the end of the mapping", &a, STORE_PAGE, test_address + page, 0);
    expect(s, "which has stored nothing", target[ENTRIES - 1] >> 32, 0);
    uint64_t last = test_address + page - 2;
    ((uint16_t *)target)[page / 2 - 1] = 0x0013; /* the first half of a nop */
    fence();
    a = run(PRIVILEGE_SUPERVISOR, do_jump, last, 0);
    expect_trap(s, "instruction over the end of the mapping", &a, FETCH_PAGE, test_address + page,
                last - a.pc);
    ((uint16_t *)target)[page / 2 - 1] = 0;
    build(levels);
}

/* Hardware may set A and D, or fault so that software does. It sets no more than needed. */
static void test_accessed_dirty(struct suite *s, unsigned levels)
{
    bool good;
    for (unsigned level = 0; level < 3; level++) {
        uint64_t address = address_in(level) + 8;
        map_leaf(level, V | RWX);
        uint64_t cause = try_access(PRIVILEGE_SUPERVISOR, LOAD, address, &good);
        expect_spec(s, "a load sets A or faults",
                    good && (cause ? cause == LOAD_PAGE && !(*test_entry(level) & AD)
                                   : (*test_entry(level) & AD) == A));
        map_leaf(level, V | RWX | A);
        cause = try_access(PRIVILEGE_SUPERVISOR, STORE, address, &good);
        expect_spec(s, "a store sets D or faults",
                    good && (cause ? cause == STORE_PAGE && !(*test_entry(level) & D)
                                   : (*test_entry(level) & AD) == AD));
        map_leaf(level, V | RWX | A);
        cause = try_access(PRIVILEGE_SUPERVISOR, LOAD, address, &good);
        expect(s, "a load of a page that is not dirty", cause << 8 | (*test_entry(level) & AD), A);
        map_leaf(level, V | R | W);
        cause = try_access(PRIVILEGE_SUPERVISOR, FETCH, address, &good);
        expect(s, "a fetch that is not allowed leaves A alone", cause << 8 | (*test_entry(level) & AD),
               FETCH_PAGE << 8);
        build(levels);
    }
    target[0] = 0x00000073;
    map_leaf(0, V | RWX);
    uint64_t cause = try_access(PRIVILEGE_SUPERVISOR, FETCH, test_address, &good);
    expect_spec(s, "a fetch sets A or faults",
                good && (cause ? cause == FETCH_PAGE : (*test_entry(0) & AD) == A));
    build(levels);
}

static void test_mprv(struct suite *s, unsigned levels)
{
    const uint64_t as_supervisor = MSTATUS_MPRV | (uint64_t)PRIVILEGE_SUPERVISOR << MSTATUS_MPP_SHIFT;
    const uint64_t as_user = MSTATUS_MPRV;
    target[2] = 0x1234;
    uint64_t address = test_address + 16;
    struct attempt a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_supervisor);
    expect_end(s, "MPRV load as S", &a);
    expect(s, "its value", a.result[0], 0x1234);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_user);
    expect_trap(s, "MPRV load as U of a page of S", &a, LOAD_PAGE, address, 4);
    map_leaf(0, V | R | X | U | AD);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_user);
    expect_end(s, "MPRV load as U", &a);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_supervisor);
    expect_trap(s, "MPRV load as S of a page of U", &a, LOAD_PAGE, address, 4);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_supervisor | MSTATUS_SUM);
    expect_end(s, "the same with SUM", &a);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_store, address, as_user);
    expect_trap(s, "MPRV store as U to a page without W", &a, STORE_PAGE, address, 4);
    map_leaf(0, V | X | U | AD);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_user);
    expect_trap(s, "MPRV load as U of a page without R", &a, LOAD_PAGE, address, 4);
    a = attempt(PRIVILEGE_MACHINE, do_mprv_load, address, as_user | MSTATUS_MXR);
    expect_end(s, "the same with MXR", &a);
    a = attempt(PRIVILEGE_MACHINE, do_load, (uint64_t)&target[2], 0);
    expect_end(s, "M without MPRV is not translated", &a);
    build(levels);
}

/* A page table that changes: what SFENCE.VMA makes visible. */
static void test_fence(struct suite *s, unsigned levels)
{
    static _Alignas(4096) uint64_t other[ENTRIES];
    target[2] = 0x1111, other[2] = 0x2222;
    struct attempt a = run(PRIVILEGE_SUPERVISOR, do_load, test_address + 16, 0);
    expect(s, "before the change", a.result[0], 0x1111);
    a = (struct attempt){.pc = (uint64_t)do_store_sfence_load, .status = status_for(PRIVILEGE_SUPERVISOR)};
    a.a[0] = (uint64_t)test_entry(0), a.a[1] = entry_of(other, V | RWX | AD), a.a[2] = test_address + 16;
    attempt_run(&a);
    expect(s, "after a store to the entry and sfence.vma", a.result[0], 0x2222);
    a.a[1] = 0;
    attempt_run(&a);
    expect(s, "cause, the entry cleared", a.cause, LOAD_PAGE);
    *test_entry(0) = entry_of(target, V | RWX | AD);
    __asm__ volatile("sfence.vma %0" : : "r"(test_address) : "memory");
    a = run(PRIVILEGE_SUPERVISOR, do_load, test_address + 16, 0);
    expect(s, "after sfence.vma of the address", a.result[0], 0x1111);
    csr_write(satp, 0);
    a = attempt(PRIVILEGE_SUPERVISOR, do_load, (uint64_t)&other[2], 0);
    expect(s, "without translation", a.result[0], 0x2222);
    build(levels);
    a = run(PRIVILEGE_SUPERVISOR, do_load, test_address + 16, 0);
    expect(s, "with it again", a.result[0], 0x1111);
}

static void test_mode(struct suite *s, unsigned levels)
{
    build(levels);
    for (unsigned level = 0; level < 3; level++) {
        test_permissions(s, levels, level, PRIVILEGE_USER, false, false);
        test_permissions(s, levels, level, PRIVILEGE_USER, true, true);
        for (unsigned bits = 0; bits < 4; bits++)
            test_permissions(s, levels, level, PRIVILEGE_SUPERVISOR, bits & 1, bits & 2);
    }
    test_bad_entries(s, levels);
    test_other_accesses(s, levels);
    test_accessed_dirty(s, levels);
    test_mprv(s, levels);
    test_fence(s, levels);
}

/* Sv48's top level: a leaf of 512 GiB, aligned and not. */
static void test_terapage(struct suite *s)
{
    bool good;
    const uint64_t address = 1ul << 39;
    build(4);
    tables[3][1] = entry_of(NULL, V | RWX | AD);
    fence();
    target[0] = 0x00000073;
    expect(s, "load in a leaf of 512 GiB",
           try_access(PRIVILEGE_SUPERVISOR, LOAD, address + (uint64_t)target, &good), 0);
    expect(s, "fetch in it", try_access(PRIVILEGE_SUPERVISOR, FETCH, address + (uint64_t)target, &good), 0);
    tables[3][1] = entry_of((const void *)(1ul << 38), V | RWX | AD);
    fence();
    expect_fault(s, "misaligned leaf of 512 GiB", address + (uint64_t)target, PAGE_FAULT);
    tables[3][1] = entry_of(NULL, V | W | AD);
    fence();
    expect_fault(s, "leaf of 512 GiB with W alone", address + (uint64_t)target, PAGE_FAULT);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    csr_write(medeleg, 0);
    test_mode(&s, 3);
    test_mode(&s, 4);
    test_terapage(&s);
    csr_write(satp, 0);
    return suite_end(&s);
}
