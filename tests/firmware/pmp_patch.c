/* Code that is patched while PMP entries allow and forbid to store and execute it, in the manner of the architecture
 * tests: what happens goes to a signature, whose words (pmp_patch.expected) follow from the privileged specification
 * (section 3.7; a fetch of which a part is forbidden faults at that part). QEMU 7.2 looks at the entry of a block's first
 * instruction alone. */
#include <stdio.h>

#include "support/support.h"

enum { R = 1, W = 2, X = 4, TOR = 1 << 3, NA4 = 2 << 3, NAPOT = 3 << 3, L = 0x80 };
enum { WORDS_OF_CASE = 4 };

SNIPPET(do_sw, "sw a1, 0(a0)");

/* addi a0, x0, n */
#define LI(n) ((uint32_t)(n) << 20 | 0x513)
#define ECALL 0x73u
#define C_NOP 0x0001u

static _Alignas(4096) uint32_t code[1024];
static _Alignas(4096) uint32_t locked[1024];

/* Of each case: the cause of the trap that ended it, its value and pc as offsets from the code, and a0. */
extern uint32_t begin_signature[];
__asm__(".pushsection .data.signature, \"aw\", @progbits\n"
        ".balign 16\n"
        ".globl begin_signature, end_signature\n"
        "begin_signature:\n"
        ".fill 40 * 4, 4, 0xdeadbeef\n"
        "end_signature:\n"
        ".popsection");
static unsigned used;

static void set_entry(unsigned entry, uint64_t address, uint64_t config)
{
    const uint64_t shift = entry * 8;
    switch (entry) {
    case 0: csr_write(pmpaddr0, address); break;
    case 1: csr_write(pmpaddr1, address); break;
    case 2: csr_write(pmpaddr2, address); break;
    default: csr_write(pmpaddr3, address); break;
    }
    csr_write(pmpcfg0, (csr_read(pmpcfg0) & ~(0xfful << shift)) | config << shift);
    __asm__ volatile("sfence.vma" : : : "memory");
}

static uint64_t napot(const void *base, uint64_t size)
{
    return (uint64_t)base >> 2 | (size / 2 - 1) >> 2;
}

/* From machine mode. */
static void patch(uint32_t *at, uint32_t bits)
{
    *(volatile uint32_t *)at = bits;
    __asm__ volatile("fence.i" : : : "memory");
}

static void note(struct suite *s, const char *name, const struct attempt *a, const uint32_t *base,
                 uint64_t first)
{
    const uint64_t words[WORDS_OF_CASE] = {a->cause, a->value ? a->value - (uint64_t)base : 0, first,
                                           a->result[0]};
    printf("%s:", name);
    for (unsigned i = 0; i < WORDS_OF_CASE; i++) {
        begin_signature[used++] = (uint32_t)words[i];
        printf(" %x", (unsigned)words[i]);
    }
    printf("\n");
    s->passed++;
}

/* Runs the code at a word of the page, with a0 = 0x55. */
static void go(struct suite *s, const char *name, enum privilege mode, uint32_t *base, uint64_t offset)
{
    struct attempt a = attempt(mode, (const char *)base + offset, 0x55, 0);
    note(s, name, &a, base, a.epc - (uint64_t)base);
}

/* Stores a word in a mode; the pc that is noted is that of the store. */
static void store(struct suite *s, const char *name, enum privilege mode, uint32_t *base, uint64_t offset,
                  uint32_t bits)
{
    struct attempt a = attempt(mode, do_sw, (uint64_t)base + offset, bits);
    a.result[0] = base[offset / 4]; /* what is there then */
    note(s, name, &a, base, a.epc - a.pc);
    __asm__ volatile("fence.i" : : : "memory");
}

static void test_mode(struct suite *s, enum privilege mode)
{
    patch(&code[0], LI(1));
    patch(&code[1], ECALL);
    set_entry(0, 0, 0);
    go(s, "open", mode, code, 0);
    patch(&code[0], LI(2));
    go(s, "patched", mode, code, 0);
    set_entry(0, napot(code, 4096), NAPOT | R | W);
    go(s, "not executable", mode, code, 0);
    store(s, "patched while it is not", mode, code, 0, LI(3));
    set_entry(0, napot(code, 4096), NAPOT | R | X);
    go(s, "executable again", mode, code, 0);
    store(s, "not writable", mode, code, 0, LI(4));
    go(s, "as before", mode, code, 0);
    patch(&code[0], LI(5));
    go(s, "patched by machine mode", mode, code, 0);
    set_entry(0, (uint64_t)code >> 2, NA4 | R | W);
    go(s, "first word forbidden", mode, code, 0);
    go(s, "second word allowed", mode, code, 4);
    set_entry(0, (uint64_t)&code[1] >> 2, NA4 | R | W);
    go(s, "spec: second word forbidden", mode, code, 0);
    store(s, "patched through it", mode, code, 4, LI(6));
    patch(&code[2], ECALL);
    go(s, "spec: still forbidden", mode, code, 0);
    set_entry(0, (uint64_t)&code[1] >> 2, NA4 | R | W | X);
    go(s, "allowed", mode, code, 0);
    /* An instruction of 4 bytes from offset 2, whose halves are in different entries. */
    patch(&code[4], (LI(7) & 0xffff) << 16 | C_NOP);
    patch(&code[5], C_NOP << 16 | LI(7) >> 16);
    patch(&code[6], ECALL);
    set_entry(0, (uint64_t)&code[5] >> 2, TOR); /* nothing below may be executed, */
    go(s, "below the top of a range", mode, code, 16);
    set_entry(0, (uint64_t)&code[5] >> 2, TOR | R | X);
    set_entry(1, (uint64_t)&code[6] >> 2, TOR | R | W); /* then the second half may not */
    go(s, "spec: the second half forbidden", mode, code, 16);
    store(s, "the second half patched", mode, code, 20, C_NOP << 16 | LI(8) >> 16);
    set_entry(1, (uint64_t)&code[6] >> 2, TOR | R | X);
    go(s, "both halves", mode, code, 16);
    set_entry(1, 0, 0);
    set_entry(0, 0, 0);
}

/* A locked entry binds machine mode, too. */
static void test_locked(struct suite *s)
{
    patch(&locked[0], LI(9));
    patch(&locked[1], ECALL);
    set_entry(2, napot(locked, 4096), NAPOT | L | R | X);
    go(s, "locked, machine mode", PRIVILEGE_MACHINE, locked, 0);
    store(s, "machine mode cannot patch it", PRIVILEGE_MACHINE, locked, 0, LI(10));
    set_entry(2, 0, 0);
    store(s, "nor unlock it", PRIVILEGE_MACHINE, locked, 0, LI(10));
    go(s, "user mode", PRIVILEGE_USER, locked, 0);
}

int main(void)
{
    struct suite suite = {0};
    machine_prepare();
    test_mode(&suite, PRIVILEGE_USER);
    test_mode(&suite, PRIVILEGE_SUPERVISOR);
    test_locked(&suite);
    return suite_end(&suite);
}
