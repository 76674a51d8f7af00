/* Physical memory protection: matching in all modes of addressing, permissions, priority, locks. */
#include <stdio.h>

#include "support/support.h"

enum { R = 1, W = 2, X = 4, RWX = 7, TOR = 1 << 3, NA4 = 2 << 3, NAPOT = 3 << 3, L = 0x80 };
enum access { LOAD, STORE, FETCH };

SNIPPET(do_lb, "lb a0, 0(a0)");
SNIPPET(do_sb, "sb a1, 0(a0)");
SNIPPET(do_ld, "ld a0, 0(a0)");
SNIPPET(do_sd, "sd a1, 0(a0)");
SNIPPET(do_jump, "jr a0");
SNIPPET(do_mprv_lb, "csrs mstatus, a1\nlb a0, 0(a0)");
SNIPPET(only_ecall, "");

/* Filled with ecalls, so that every word can be jumped to. */
static _Alignas(16384) uint32_t words[4096];
static const uint64_t page = 4096;

static void set_config(unsigned entry, uint64_t config)
{
    uint64_t shift = entry % 8 * 8, all = entry < 8 ? csr_read(pmpcfg0) : csr_read(pmpcfg2);
    all = (all & ~(0xfful << shift)) | config << shift;
    if (entry < 8)
        csr_write(pmpcfg0, all);
    else
        csr_write(pmpcfg2, all);
    __asm__ volatile("sfence.vma" : : : "memory"); /* translations may have been cached with permissions */
}

static uint64_t get_config(unsigned entry)
{
    return (entry < 8 ? csr_read(pmpcfg0) : csr_read(pmpcfg2)) >> entry % 8 * 8 & 0xff;
}

/* pmpaddr of a naturally aligned range of a power of two, at least 8. */
static uint64_t napot(uint64_t base, uint64_t size)
{
    return base >> 2 | (size / 2 - 1) >> 2;
}

static void clear_entries(void)
{
    csr_write(pmpcfg0, 0);
    csr_write(pmpaddr0, 0);
    csr_write(pmpaddr1, 0);
    csr_write(pmpaddr2, 0);
    csr_write(pmpaddr3, 0);
    __asm__ volatile("sfence.vma" : : : "memory");
}

/* The letter of an access that is allowed, '-' of one that faults as it should, '?' of another. */
static char outcome(enum privilege mode, enum access access, uint64_t address)
{
    static const char *const codes[] = {do_lb, do_sb, do_jump};
    static const uint64_t faults[] = {LOAD_ACCESS, STORE_ACCESS, FETCH_ACCESS};
    struct attempt a = attempt(mode, codes[access], address, 0x73);
    if (a.cause == ecall_from(mode))
        return "rwx"[access];
    uint64_t at = access == FETCH ? address : a.pc;
    return a.cause == faults[access] && a.value == address && a.epc == at ? '-' : '?';
}

/* Compares the outcomes at some addresses, written like "rwx ---". */
static void expect_outcomes(struct suite *s, const char *name, enum privilege mode, const uint64_t *addresses,
                            unsigned count, const char *want)
{
    char got[64];
    unsigned length = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            got[length++] = ' ';
        for (enum access access = LOAD; access <= FETCH; access++)
            got[length++] = outcome(mode, access, addresses[i]);
    }
    got[length] = '\0';
    bool good = true;
    for (unsigned i = 0; i <= length; i++)
        good = good && got[i] == want[i];
    printf("%s, mode %d: %s\n", name, (int)mode, got);
    expect(s, good ? "as it should be" : want, good, 1);
}

static void test_matching(struct suite *s)
{
    const uint64_t base = (uint64_t)words + page;
    const uint64_t around[] = {base - 4, base, base + 4, base + 8, base + page - 4, base + page};
    static const enum privilege lower[] = {PRIVILEGE_USER, PRIVILEGE_SUPERVISOR};
    for (unsigned i = 0; i < 2; i++) {
        clear_entries();
        expect_outcomes(s, "off", lower[i], around, 6, "rwx rwx rwx rwx rwx rwx");
        csr_write(pmpaddr0, base >> 2);
        set_config(0, NA4 | R);
        expect_outcomes(s, "NA4, R", lower[i], around, 6, "rwx r-- rwx rwx rwx rwx");
        csr_write(pmpaddr0, napot(base, 8));
        set_config(0, NAPOT | R | W);
        expect_outcomes(s, "NAPOT of 8 bytes, RW", lower[i], around, 6, "rwx rw- rw- rwx rwx rwx");
        csr_write(pmpaddr0, napot(base, page));
        set_config(0, NAPOT | X);
        expect_outcomes(s, "NAPOT of a page, X", lower[i], around, 6, "rwx --x --x --x --x rwx");
        csr_write(pmpaddr0, base >> 2);
        csr_write(pmpaddr1, (base + page) >> 2);
        set_config(0, 0);
        set_config(1, TOR);
        expect_outcomes(s, "TOR of a page", lower[i], around, 6, "rwx --- --- --- --- rwx");
        csr_write(pmpaddr1, (base + 8) >> 2);
        set_config(1, TOR | R | X);
        expect_outcomes(s, "TOR of 8 bytes, RX", lower[i], around, 6, "rwx r-x r-x rwx rwx rwx");
        csr_write(pmpaddr1, base >> 2);
        set_config(1, TOR);
        expect_outcomes(s, "TOR of nothing", lower[i], around, 6, "rwx rwx rwx rwx rwx rwx");
    }
    clear_entries();
}

static void test_permissions(struct suite *s)
{
    const uint64_t address = (uint64_t)words + page;
    csr_write(pmpaddr0, napot(address, page));
    for (unsigned config = 0; config < 8; config++) {
        if ((config & (R | W)) == W)
            continue; /* reserved */
        const char want[] = {config & R ? 'r' : '-', config & W ? 'w' : '-', config & X ? 'x' : '-', '\0'};
        set_config(0, NAPOT | config);
        expect_outcomes(s, "permissions", PRIVILEGE_USER, &address, 1, want);
        expect_outcomes(s, "permissions", PRIVILEGE_SUPERVISOR, &address, 1, want);
        expect_outcomes(s, "permissions", PRIVILEGE_MACHINE, &address, 1, "rwx");
    }
    set_config(0, NAPOT);
    struct attempt a = attempt(PRIVILEGE_MACHINE, do_mprv_lb, address, MSTATUS_MPRV);
    expect_trap(s, "MPRV load as U", &a, LOAD_ACCESS, address, 4);
    clear_entries();
}

/* The entry of the lowest number that matches any byte decides, and must match all of them. */
static void test_priority(struct suite *s)
{
    const uint64_t base = (uint64_t)words + page;
    const uint64_t around[] = {base, base + 16, base + page};
    csr_write(pmpaddr0, napot(base, 16));
    csr_write(pmpaddr1, napot(base, page));
    set_config(0, NAPOT | R);
    set_config(1, NAPOT | X);
    expect_outcomes(s, "two entries", PRIVILEGE_USER, around, 3, "r-- --x rwx");
    set_config(0, NAPOT | RWX);
    set_config(1, NAPOT);
    expect_outcomes(s, "two entries, turned", PRIVILEGE_USER, around, 3, "rwx --- rwx");
    set_config(1, NAPOT | RWX);
    csr_write(pmpaddr0, base >> 2);
    set_config(0, NA4 | RWX);
    struct attempt a = attempt(PRIVILEGE_USER, do_ld, base, 0);
    expect_trap(s, "8 bytes, of which an entry matches 4", &a, LOAD_ACCESS, base, 0);
    a = attempt(PRIVILEGE_USER, do_sd, base, 0x73);
    expect_trap(s, "a store of the same", &a, STORE_ACCESS, base, 0);
    a = attempt(PRIVILEGE_USER, do_ld, base + 8, 0);
    expect_end(s, "8 bytes behind it", &a);
    clear_entries();
}

static void test_no_match(struct suite *s)
{
    csr_write(pmpaddr0, napot((uint64_t)words, page)); /* QEMU refuses mret while all entries are off */
    set_config(0, NAPOT | RWX);
    set_config(15, 0);
    struct attempt a = attempt(PRIVILEGE_USER, only_ecall, 0, 0);
    expect_trap(s, "no entry matches, in U", &a, FETCH_ACCESS, (uint64_t)only_ecall, 0);
    a = attempt(PRIVILEGE_SUPERVISOR, only_ecall, 0, 0);
    expect_trap(s, "no entry matches, in S", &a, FETCH_ACCESS, (uint64_t)only_ecall, 0);
    a = attempt(PRIVILEGE_MACHINE, only_ecall, 0, 0);
    expect_end(s, "no entry matches, in M", &a);
    machine_prepare();
    clear_entries();
}

/* Page tables are read with S's rights. */
static void test_walk(struct suite *s)
{
    static _Alignas(4096) uint64_t table[512];
    enum { LEAF = 0xcf };
    table[2] = 0x80000000ul >> 12 << 10 | LEAF;
    csr_write(satp, 8ul << 60 | (uint64_t)table >> 12);
    __asm__ volatile("sfence.vma" : : : "memory");
    struct attempt a = attempt(PRIVILEGE_SUPERVISOR, do_lb, (uint64_t)words, 0);
    expect_end(s, "load through a page table", &a);
    csr_write(pmpaddr0, napot((uint64_t)table, page));
    set_config(0, NAPOT);
    a = attempt(PRIVILEGE_SUPERVISOR, do_lb, (uint64_t)words, 0);
    expect_trap(s, "page table that may not be read", &a, FETCH_ACCESS, a.pc, 0);
    csr_write(satp, 0);
    clear_entries();
}

static void test_fields(struct suite *s)
{
    csr_write(pmpaddr0, UINT64_MAX);
    expect_spec(s, "pmpaddr has 54 bits", csr_read(pmpaddr0) == UINT64_MAX >> 10);
    csr_write(pmpaddr0, 0x123456789);
    expect(s, "pmpaddr0", csr_read(pmpaddr0), 0x123456789);
    for (unsigned mode = 0; mode < 4; mode++) {
        set_config(3, mode << 3 | RWX);
        expect(s, "pmpcfg", get_config(3), mode << 3 | RWX);
    }
    set_config(3, NAPOT | R | 0x60);
    expect_spec(s, "pmpcfg: bits 5 and 6 are 0", get_config(3) == (NAPOT | R));
    csr_write(pmpaddr14, 0x55);
    expect(s, "pmpaddr14", csr_read(pmpaddr14), 0x55);
    clear_entries();
}

/* Locks last until reset: this comes last, on entries that nothing else needs. */
static void test_locks(struct suite *s)
{
    const uint64_t base = (uint64_t)words + 2 * page;
    const uint64_t around[] = {base - 4, base, base + page};
    csr_write(pmpaddr4, base >> 2);
    csr_write(pmpaddr5, (base + page) >> 2);
    set_config(5, L | TOR | R);
    expect_outcomes(s, "locked, R", PRIVILEGE_MACHINE, around, 3, "rwx r-- rwx");
    expect_outcomes(s, "locked, R", PRIVILEGE_USER, around, 3, "rwx r-- rwx");
    set_config(5, 0);
    expect(s, "a locked pmpcfg cannot be written", get_config(5), L | TOR | R);
    csr_write(pmpaddr5, 0);
    expect(s, "nor its pmpaddr", csr_read(pmpaddr5), (base + page) >> 2);
    csr_write(pmpaddr4, 0);
    expect(s, "nor the one before, which TOR uses", csr_read(pmpaddr4), base >> 2);
    set_config(4, NAPOT);
    expect(s, "but the one before has its own pmpcfg", get_config(4), NAPOT);
    set_config(4, 0);
    csr_write(pmpaddr6, napot(base, 2 * page));
    set_config(6, L | NAPOT);
    expect_outcomes(s, "a second locked entry behind it", PRIVILEGE_MACHINE, around, 3, "rwx r-- ---");
}

int main(void)
{
    struct suite s = {0};
    enum { ECALL = 0x00000073 };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        words[i] = ECALL;
    __asm__ volatile("fence.i" : : : "memory");
    machine_prepare();
    clear_entries();
    test_matching(&s);
    test_permissions(&s);
    test_priority(&s);
    test_no_match(&s);
    test_walk(&s);
    test_fields(&s);
    test_locks(&s);
    return suite_end(&s);
}
