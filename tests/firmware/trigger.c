/* Debug triggers (Sdtrig): what fires, in which modes, for which addresses, in which order with other exceptions.
 * QEMU 7.2 has two triggers, of types mcontrol and mcontrol6, that compare for equality; it fires in machine mode
 * whatever MIE is, leaves mtval 0, and has no hit bits, chains or ranges. */
#include <stdio.h>
#include <string.h>

#include "support/support.h"

/* tdata1 */
#define TYPE(n) ((uint64_t)(n) << 60)
enum { LOAD = 1, STORE = 2, EXECUTE = 4, U = 8, S = 16, M = 64, CHAIN = 1 << 11, ANY_MODE = U | S | M };
enum { EQUAL = 0, NAPOT = 1 << 7, FROM = 2 << 7, BELOW = 3 << 7 };
enum { MCONTROL = 2, MCONTROL6 = 6, DISABLED = 15 };
enum { SIZE_8 = 5 << 16, SIZE_2 = 2 << 16, HIT_2 = 1 << 20, HIT_6 = 1 << 22, TRIGGERS = 4 };
#define MASKMAX (63ul << 53)

#define get(name)                                                                                            \
    ({                                                                                                       \
        uint64_t value_;                                                                                     \
        __asm__ volatile("csrr %0, " #name : "=r"(value_));                                                  \
        value_;                                                                                              \
    })
#define put(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

SNIPPET(do_nops, "nop\n.option push\n.option norvc\nnop\n.option pop\nnop"); /* at +0, +2, +6 */
SNIPPET(do_lb, "lb a0, 0(a0)");
SNIPPET(do_lh, "lh a0, 0(a0)");
SNIPPET(do_lw, "lw a0, 0(a0)");
SNIPPET(do_ld, "ld a0, 0(a0)");
SNIPPET(do_fld, "fld fa0, 0(a0)");
SNIPPET(do_sd, "sd a1, 0(a0)");
SNIPPET(do_fsw, "fsw fa0, 0(a0)");
SNIPPET(do_amo, "amoadd.d a1, a1, (a0)");
SNIPPET(do_lr, "lr.d a1, (a0)");
SNIPPET(do_lr_sc, "lr.d a1, (a0)\nsc.d a2, a1, (a0)");
SNIPPET(do_sc, "addi t0, sp, -8\nlr.d a1, (t0)\nsc.d a2, a1, (a0)");
SNIPPET(do_ebreak, ".option push\n.option norvc\nebreak\n.option pop");
SNIPPET(read_tselect, "csrr a0, tselect");
SNIPPET(write_tdata1, "csrw tdata1, a0");
/* Twice as many turns as a0 says, through a branch and a load. */
SNIPPET(do_loop, "1: ld a2, 0(a1)\naddi a0, a0, -1\nbnez a0, 1b\nnop");

static _Alignas(8192) uint64_t words[2048];
static const enum privilege modes[] = {PRIVILEGE_USER, PRIVILEGE_SUPERVISOR, PRIVILEGE_MACHINE};
static const unsigned mode_bits[] = {U, S, M};
static const char *const mode_names[] = {"user", "supervisor", "machine"};

static void set(unsigned number, uint64_t data1, uint64_t data2)
{
    put(tselect, number);
    put(tdata1, 0); /* disabled while tdata2 changes */
    put(tdata2, data2);
    put(tdata1, data1);
}

static void clear_all(void)
{
    for (unsigned i = 0; i < TRIGGERS; i++)
        set(i, TYPE(MCONTROL), 0);
    put(tselect, 0);
}

/* Runs a snippet with interrupts enabled in its mode or not. */
static struct attempt run(enum privilege mode, bool enabled, const char *code, uint64_t a0, uint64_t a1)
{
    const uint64_t bits = MSTATUS_MPIE | MSTATUS_SIE;
    struct attempt a = {
        .pc = (uint64_t)code, .status = (status_for(mode) & ~bits) | (enabled ? bits : 0), .a = {a0, a1}};
    attempt_run(&a);
    return a;
}

static bool fired(const struct attempt *a, uint64_t offset)
{
    return a->cause == BREAKPOINT && a->epc - a->pc == offset;
}

/* The snippet must stop at a breakpoint `offset` bytes behind its start; -1: must reach its end. */
static void expect_stop(struct suite *s, const char *name, const struct attempt *a, int offset)
{
    enum privilege mode = (a->status & MSTATUS_MPP) >> MSTATUS_MPP_SHIFT;
    if (offset < 0)
        expect(s, name, a->cause, ecall_from(mode));
    else
        expect(s, name, a->cause << 16 | (a->epc - a->pc), (uint64_t)BREAKPOINT << 16 | (uint64_t)offset);
}

static void test_registers(struct suite *s)
{
    for (unsigned i = 0; i < TRIGGERS; i++) {
        put(tselect, i);
        expect_spec(s, "trigger out of reset",
                    get(tselect) == i && get(tdata1) == (TYPE(MCONTROL) | MASKMAX));
    }
    put(tselect, TRIGGERS);
    expect_spec(s, "tselect keeps the last number", get(tselect) == TRIGGERS - 1);
    put(tselect, 0);
    expect_spec(s, "tinfo", get(0x7a4) == 0x1008044);
    put(0x7a4, 0);
    expect_spec(s, "tinfo cannot be written", get(0x7a4) == 0x1008044);
    put(tdata3, UINT64_MAX);
    expect_spec(s, "tdata3", get(tdata3) == 0);
    put(tdata1, UINT64_MAX);
    expect_spec(s, "a disabled trigger", get(tdata1) == TYPE(DISABLED));
    put(tdata1, TYPE(3));
    expect_spec(s, "an unknown type is disabled", get(tdata1) == TYPE(DISABLED));
    put(tdata2, 0x123456789abcdef0);
    expect_spec(s, "tdata2 of a disabled trigger", get(tdata2) == 0x123456789abcdef0);
    /* dmode, select, timing, action and unknown matches are 0; code has no size. */
    put(tdata1, TYPE(MCONTROL) | (UINT64_MAX >> 4));
    expect_spec(s, "all bits of mcontrol",
                get(tdata1) ==
                    (TYPE(MCONTROL) | MASKMAX | LOAD | STORE | EXECUTE | ANY_MODE | CHAIN | HIT_2));
    put(tdata1, TYPE(MCONTROL6) | (UINT64_MAX >> 4));
    expect_spec(s, "all bits of mcontrol6",
                get(tdata1) == (TYPE(MCONTROL6) | LOAD | STORE | EXECUTE | ANY_MODE | CHAIN | HIT_6));
    put(tdata1, TYPE(MCONTROL6) | SIZE_8 | LOAD | BELOW);
    expect_spec(s, "size of mcontrol6", get(tdata1) == (TYPE(MCONTROL6) | SIZE_8 | LOAD | BELOW));
    put(tdata1, TYPE(MCONTROL) | 1 << 21 | 1 << 16 | LOAD);
    expect_spec(s, "size of mcontrol", get(tdata1) == (TYPE(MCONTROL) | MASKMAX | 1 << 21 | 1 << 16 | LOAD));
    put(tdata1, TYPE(MCONTROL6) | NAPOT);
    put(tdata2, UINT64_MAX);
    expect_spec(s, "the largest range", get(tdata2) == ~(1ul << 62));
    set(TRIGGERS - 1, TYPE(MCONTROL6) | CHAIN, 0);
    expect_spec(s, "the last trigger has no next one", get(tdata1) == TYPE(MCONTROL6));
    clear_all();
    for (unsigned m = 0; m < 2; m++) {
        struct attempt a = attempt(modes[m], read_tselect, 0, 0);
        expect_trap(s, "tselect below machine mode", &a, ILLEGAL, *(const uint32_t *)read_tselect, 0);
        a = attempt(modes[m], write_tdata1, 0, 0);
        expect_trap(s, "tdata1 below machine mode", &a, ILLEGAL, *(const uint32_t *)write_tdata1, 0);
    }
}

/* Equal addresses, in the trigger's modes only; both types. */
static void test_equal(struct suite *s)
{
    char name[80];
    const uint64_t at = (uint64_t)&words[4];
    for (unsigned type = MCONTROL; type <= MCONTROL6; type += 4)
        for (unsigned bit = 0; bit < 3; bit++)
            for (unsigned m = 0; m < 3; m++) {
                const uint64_t base = TYPE(type) | mode_bits[bit];
                const enum privilege mode = modes[m];
                const bool on = bit == m;
                set(bit == 1, base | EXECUTE, (uint64_t)do_nops + 2);
                struct attempt a = run(mode, true, do_nops, 0, 0);
                (void)snprintf(name, sizeof name, "type %u for %s in %s: code", type, mode_names[bit],
                               mode_names[m]);
                expect_stop(s, name, &a, on ? 2 : -1);
                expect_spec(s, "value", !on || a.value == (uint64_t)do_nops + 2);
                expect_spec(s, "hit", !!(get(tdata1) & (type == MCONTROL ? HIT_2 : HIT_6)) == on);
                set(bit == 1, base | LOAD, at);
                a = run(mode, true, do_ld, at, 0);
                expect_stop(s, "load", &a, on ? 0 : -1);
                expect_spec(s, "value", !on || a.value == at);
                a = run(mode, true, do_fld, at, 0);
                expect_stop(s, "floating-point load", &a, on ? 0 : -1);
                a = run(mode, true, do_sd, at, 1);
                expect_stop(s, "store", &a, -1);
                words[4] = 5;
                set(bit == 1, base | STORE, at);
                a = run(mode, true, do_sd, at, 6);
                expect_stop(s, "store, watched", &a, on ? 0 : -1);
                expect(s, "memory", words[4], on ? 5 : 6);
                a = run(mode, true, do_fsw, at, 0);
                expect_stop(s, "floating-point store", &a, on ? 0 : -1);
                a = run(mode, true, do_ld, at, 0);
                expect_stop(s, "load beside", &a, -1);
                clear_all();
                a = run(mode, true, do_sd, at, 7);
                expect_stop(s, "without triggers", &a, -1);
            }
}

/* Bytes of an access that match, sizes, and accesses across the end of a page. */
static void test_bytes(struct suite *s)
{
    static const struct {
        const char *code;
        int size;
    } loads[] = {{do_lb, 1}, {do_lh, 2}, {do_lw, 4}, {do_ld, 8}};
    const uint64_t at = (uint64_t)&words[512]; /* the start of a page */
    for (unsigned i = 0; i < 4; i++) {
        int size = loads[i].size;
        set(0, TYPE(MCONTROL6) | LOAD | ANY_MODE, at);
        for (int from = -9; from <= 1; from++) {
            struct attempt a = run(PRIVILEGE_USER, true, loads[i].code, at + (uint64_t)from, 0);
            bool touches = from <= 0 && from + size > 0;
            expect_spec(s, "bytes", fired(&a, 0) == touches && (!touches || a.value == at));
        }
        set(0, TYPE(MCONTROL6) | LOAD | ANY_MODE | SIZE_2, at);
        struct attempt a = run(PRIVILEGE_USER, true, loads[i].code, at, 0);
        expect_spec(s, "size of 2, mcontrol6", fired(&a, 0) == (size == 2));
        set(0, TYPE(MCONTROL) | LOAD | ANY_MODE | 1 << 21 | 1 << 16, at);
        a = run(PRIVILEGE_USER, true, loads[i].code, at, 0);
        expect_spec(s, "size of 8, mcontrol", fired(&a, 0) == (size == 8));
    }
    clear_all();
}

/* Which of the words 0 to 15 match, as bits. */
static uint64_t matching(enum privilege mode, const char *code)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct attempt a = run(mode, true, code, (uint64_t)&words[i], 0);
        bits |= (uint64_t)fired(&a, 0) << i;
    }
    return bits;
}

static void test_ranges(struct suite *s)
{
    const uint64_t at = (uint64_t)words; /* a multiple of 8192 */
    for (unsigned m = 0; m < 3; m++) {
        set(1, TYPE(MCONTROL6) | LOAD | NAPOT | ANY_MODE, at + 32 + 15); /* 32 bytes */
        expect_spec(s, "NAPOT", matching(modes[m], do_ld) == 0x00f0);
        set(1, TYPE(MCONTROL) | STORE | NAPOT | ANY_MODE, at + 64 + 31); /* 64 bytes */
        expect_spec(s, "NAPOT, stores", matching(modes[m], do_sd) == 0xff00);
        expect_spec(s, "NAPOT, loads beside", matching(modes[m], do_ld) == 0);
        set(1, TYPE(MCONTROL6) | LOAD | FROM | ANY_MODE, at + 24 + 7); /* the last byte of word 3 */
        expect_spec(s, "from", matching(modes[m], do_ld) == 0xfff8);
        set(1, TYPE(MCONTROL6) | LOAD | BELOW | U, at + 24);
        expect_spec(s, "below", matching(modes[m], do_ld) == (m == 0 ? 0x0007 : 0));
        clear_all();
    }
    set(0, TYPE(MCONTROL6) | STORE | LOAD | BELOW | ANY_MODE, 0);
    expect_spec(s, "below 0 is nothing", matching(PRIVILEGE_USER, do_ld) == 0);
    set(0, TYPE(MCONTROL6) | LOAD | NAPOT | ANY_MODE, UINT64_MAX); /* cut to the upper half */
    expect_spec(s, "the largest range", matching(PRIVILEGE_USER, do_ld) == 0);
    set(0, TYPE(MCONTROL6) | LOAD | NAPOT | ANY_MODE, UINT64_MAX >> 2);
    expect_spec(s, "the lower half", matching(PRIVILEGE_USER, do_ld) == 0xffff);
    set(0, TYPE(MCONTROL6) | EXECUTE | FROM | U, (uint64_t)do_nops + 1);
    struct attempt a = run(PRIVILEGE_USER, true, do_nops, 0, 0);
    expect_spec(s, "code from an odd address", fired(&a, 2));
    set(0, TYPE(MCONTROL6) | EXECUTE | NAPOT | U, (uint64_t)do_nops + 4 + 1); /* 4 bytes */
    a = run(PRIVILEGE_USER, true, do_nops, 0, 0);
    expect_spec(s, "code in a range", fired(&a, 6));
    clear_all();
}

/* Triggers with CHAIN fire only if the next one matches the same instruction. */
static void test_chains(struct suite *s)
{
    const uint64_t at = (uint64_t)words;
    set(0, TYPE(MCONTROL6) | LOAD | FROM | CHAIN | U, at + 16);
    set(1, TYPE(MCONTROL6) | LOAD | BELOW | U, at + 40);
    expect_spec(s, "from and below", matching(PRIVILEGE_USER, do_ld) == 0x001c);
    set(0, TYPE(MCONTROL6) | EXECUTE | CHAIN | U, (uint64_t)do_lw);
    set(1, TYPE(MCONTROL6) | LOAD | CHAIN | U, at + 8);
    expect_spec(s, "followed by a trigger that never matches", matching(PRIVILEGE_USER, do_lw) == 0);
    set(2, TYPE(MCONTROL) | LOAD | BELOW | U, at + 16);
    expect_spec(s, "code and load", matching(PRIVILEGE_USER, do_lw) == 0x0002);
    expect_spec(s, "other code", matching(PRIVILEGE_USER, do_ld) == 0);
    for (unsigned i = 0; i < 3; i++) {
        put(tselect, i);
        expect_spec(s, "all of them have hit", get(tdata1) & (i < 2 ? HIT_6 : HIT_2));
    }
    clear_all();
}

/* Triggers come before faults of the same instruction; a trigger of code before everything. */
static void test_order(struct suite *s)
{
    set(0, TYPE(MCONTROL6) | LOAD | STORE | ANY_MODE, NOWHERE);
    struct attempt a = run(PRIVILEGE_USER, true, do_ld, NOWHERE, 0);
    expect_spec(s, "before an access fault", fired(&a, 0) && a.value == NOWHERE);
    const uint64_t odd = (uint64_t)words + 4;
    set(0, TYPE(MCONTROL6) | LOAD | STORE | ANY_MODE, odd);
    a = run(PRIVILEGE_USER, true, do_amo, odd, 0);
    expect_spec(s, "before a misaligned atomic", fired(&a, 0) && a.value == odd);
    a = run(PRIVILEGE_USER, true, do_lr, odd, 0);
    expect_spec(s, "before a misaligned LR", fired(&a, 0) && a.value == odd);
    set(0, TYPE(MCONTROL6) | EXECUTE | ANY_MODE, (uint64_t)do_ebreak);
    a = run(PRIVILEGE_USER, true, do_ebreak, 0, 0);
    expect_spec(s, "before an EBREAK", fired(&a, 0) && get(tdata1) & HIT_6);
    set(0, TYPE(MCONTROL6) | EXECUTE | ANY_MODE, NOWHERE);
    a = run(PRIVILEGE_USER, true, (const char *)NOWHERE, 0, 0);
    expect_spec(s, "before a fetch fault", fired(&a, 0) && a.value == NOWHERE);
    clear_all();
    a = run(PRIVILEGE_USER, true, (const char *)NOWHERE, 0, 0);
    expect(s, "the fault itself", a.cause, FETCH_ACCESS);
}

static void test_atomics(struct suite *s)
{
    const uint64_t at = (uint64_t)&words[8];
    words[8] = 3;
    set(0, TYPE(MCONTROL6) | STORE | U, at);
    struct attempt a = run(PRIVILEGE_USER, true, do_amo, at, 1);
    expect_spec(s, "AMO stores", fired(&a, 0) && words[8] == 3);
    a = run(PRIVILEGE_USER, true, do_lr_sc, at, 0);
    expect_spec(s, "SC stores", fired(&a, 4));
    a = run(PRIVILEGE_USER, true, do_sc, at, 0);
    expect_spec(s, "SC that fails", a.cause == ECALL_U && a.result[2] == 1);
    set(0, TYPE(MCONTROL6) | LOAD | U, at);
    a = run(PRIVILEGE_USER, true, do_amo, at, 1);
    expect_spec(s, "AMO loads", fired(&a, 0) && words[8] == 3);
    a = run(PRIVILEGE_USER, true, do_lr_sc, at, 0);
    expect_spec(s, "LR loads", fired(&a, 0));
    clear_all();
}

/* Section 5.4: a trigger does not fire where its exception would destroy what the handler has not saved yet. */
static void test_handlers(struct suite *s)
{
    set(0, TYPE(MCONTROL6) | EXECUTE | ANY_MODE, (uint64_t)do_nops + 2);
    struct attempt a = run(PRIVILEGE_MACHINE, false, do_nops, 0, 0);
    expect_spec(s, "machine mode without MIE", a.cause == ECALL_M);
    a = run(PRIVILEGE_SUPERVISOR, false, do_nops, 0, 0);
    expect_stop(s, "supervisor mode without SIE, not delegated", &a, 2);
    a = run(PRIVILEGE_USER, false, do_nops, 0, 0);
    expect_stop(s, "user mode", &a, 2);
    csr_write(medeleg, 1 << BREAKPOINT);
    a = run(PRIVILEGE_USER, false, do_nops, 0, 0);
    expect_spec(s, "user mode, delegated",
                a.cause == ECALL_S && a.result[0] == BREAKPOINT && a.result[2] == a.pc + 2);
    a = run(PRIVILEGE_SUPERVISOR, true, do_nops, 0, 0);
    expect_spec(s, "supervisor mode, delegated", a.cause == ECALL_S && a.result[0] == BREAKPOINT);
    a = run(PRIVILEGE_SUPERVISOR, false, do_nops, 0, 0);
    expect_spec(s, "supervisor mode without SIE, delegated", a.cause == ECALL_S && a.epc == a.pc + 8);
    csr_write(medeleg, 0);
    clear_all();
}

/* Code and data that were in use before a trigger is armed, while it is armed, and afterwards. */
static void test_warm(struct suite *s)
{
    enum { TURNS = 3000 };
    const uint64_t at = (uint64_t)&words[16];
    for (unsigned turn = 0; turn < 3; turn++) {
        struct attempt a = run(PRIVILEGE_USER, true, do_loop, TURNS, at);
        expect_stop(s, "the loop alone", &a, -1);
        set(0, TYPE(MCONTROL6) | EXECUTE | U, (uint64_t)do_loop + 2);
        a = run(PRIVILEGE_USER, true, do_loop, TURNS, at);
        expect_stop(s, "its second instruction", &a, 2);
        set(0, TYPE(MCONTROL6) | EXECUTE | U, (uint64_t)do_loop + 6);
        a = run(PRIVILEGE_USER, true, do_loop, TURNS, at);
        expect_stop(s, "the instruction behind it", &a, 6);
        expect(s, "after all turns", a.result[0], 0);
        set(0, TYPE(MCONTROL6) | LOAD | U, at);
        a = run(PRIVILEGE_USER, true, do_loop, TURNS, at);
        expect_stop(s, "its load", &a, 0);
        a = run(PRIVILEGE_USER, true, do_loop, TURNS, at + 8);
        expect_stop(s, "beside", &a, -1);
        set(0, TYPE(MCONTROL6) | EXECUTE | S, (uint64_t)do_loop + 2);
        a = run(PRIVILEGE_USER, true, do_loop, TURNS, at);
        expect_stop(s, "another mode's trigger", &a, -1);
        clear_all();
    }
}

int main(void)
{
    struct suite suite = {0};
    machine_prepare();
    test_registers(&suite);
    clear_all();
    test_equal(&suite);
    test_bytes(&suite);
    test_ranges(&suite);
    test_chains(&suite);
    test_order(&suite);
    test_atomics(&suite);
    test_handlers(&suite);
    test_warm(&suite);
    return suite_end(&suite);
}
