/* Every exception that needs no paging: its cause, mtval and mepc. */
#include <stdio.h>

#include "support/support.h"

SNIPPET(only_ecall, "");
SNIPPET(do_ebreak, ".option push\n.option norvc\nnop\nebreak\n.option pop");
SNIPPET(do_c_ebreak, "c.nop\nc.ebreak");
SNIPPET(do_lb, "lb a0, 0(a0)");
SNIPPET(do_lh, "lh a0, 0(a0)");
SNIPPET(do_lw, "lw a0, 0(a0)");
SNIPPET(do_ld, "ld a0, 0(a0)");
SNIPPET(do_flw, "flw ft0, 0(a0)");
SNIPPET(do_fld, "fld ft0, 0(a0)");
SNIPPET(do_sb, "sb a1, 0(a0)");
SNIPPET(do_sh, "sh a1, 0(a0)");
SNIPPET(do_sw, "sw a1, 0(a0)");
SNIPPET(do_sd, "sd a1, 0(a0)");
SNIPPET(do_fsd, "fsd ft0, 0(a0)");
SNIPPET(do_lr_w, "lr.w a0, (a0)");
SNIPPET(do_lr_d, "lr.d a0, (a0)");
SNIPPET(do_amo_w, "amoadd.w a0, a1, (a0)");
SNIPPET(do_amo_d, "amoswap.d a0, a1, (a0)");
SNIPPET(do_jump, "jr a0");
SNIPPET(do_jump_back, "addi a0, a0, 1\n.option push\n.option norvc\njalr t0, 0(a0)\n.option pop");

static void test_ecall(struct suite *s)
{
    struct attempt a = attempt(PRIVILEGE_USER, only_ecall, 0, 0);
    expect_trap(s, "ecall from U", &a, ECALL_U, 0, 0);
    a = attempt(PRIVILEGE_SUPERVISOR, only_ecall, 0, 0);
    expect_trap(s, "ecall from S", &a, ECALL_S, 0, 0);
    a = attempt(PRIVILEGE_MACHINE, only_ecall, 0, 0);
    expect_trap(s, "ecall from M", &a, ECALL_M, 0, 0);
}

/* mtval may be 0 or the address. */
static void test_ebreak(struct suite *s)
{
    struct attempt a = attempt(PRIVILEGE_USER, do_ebreak, 0, 0);
    expect_spec(s, "ebreak's mtval is 0 or its address", a.value == 0 || a.value == a.epc);
    a.value = 0;
    expect_trap(s, "ebreak", &a, BREAKPOINT, 0, 4);
    a = attempt(PRIVILEGE_MACHINE, do_c_ebreak, 0, 0);
    expect_spec(s, "c.ebreak's mtval is 0 or its address", a.value == 0 || a.value == a.epc);
    a.value = 0;
    expect_trap(s, "c.ebreak", &a, BREAKPOINT, 0, 2);
}

static void test_access_faults(struct suite *s)
{
    static const struct {
        const char *name, *code;
        enum cause cause;
    } rows[] = {
        {"lb", do_lb, LOAD_ACCESS},
        {"lh", do_lh, LOAD_ACCESS},
        {"lw", do_lw, LOAD_ACCESS},
        {"ld", do_ld, LOAD_ACCESS},
        {"flw", do_flw, LOAD_ACCESS},
        {"fld", do_fld, LOAD_ACCESS},
        {"sb", do_sb, STORE_ACCESS},
        {"sh", do_sh, STORE_ACCESS},
        {"sw", do_sw, STORE_ACCESS},
        {"sd", do_sd, STORE_ACCESS},
        {"fsd", do_fsd, STORE_ACCESS},
        {"lr.w", do_lr_w, LOAD_ACCESS},
        {"lr.d", do_lr_d, LOAD_ACCESS},
        {"amoadd.w", do_amo_w, STORE_ACCESS},
        {"amoswap.d", do_amo_d, STORE_ACCESS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64];
        for (enum privilege mode = PRIVILEGE_USER; mode <= PRIVILEGE_MACHINE; mode += 3) {
            struct attempt a = attempt(mode, rows[i].code, NOWHERE + 8 * i, 0);
            snprintf(name, sizeof name, "%s where nothing is, mode %d", rows[i].name, (int)mode);
            /* QEMU reports some of these as faults of a load. */
            if (rows[i].code == do_amo_w || rows[i].code == do_amo_d)
                expect_spec(s, name, attempt_ended(&a, STORE_ACCESS, NOWHERE + 8 * i, 0));
            else
                expect_trap(s, name, &a, rows[i].cause, NOWHERE + 8 * i, 0);
        }
    }
    struct attempt a = attempt(PRIVILEGE_SUPERVISOR, do_jump, NOWHERE, 0);
    expect_trap(s, "jump to where nothing is", &a, FETCH_ACCESS, NOWHERE, NOWHERE - a.pc);
    a = attempt(PRIVILEGE_MACHINE, do_jump, NOWHERE + 2, 0);
    expect_trap(s, "jump to where nothing is, half a word further", &a, FETCH_ACCESS, NOWHERE + 2,
                NOWHERE + 2 - a.pc);
}

static void test_misaligned(struct suite *s)
{
    static _Alignas(8192) uint8_t bytes[8192];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    uint64_t base = (uint64_t)bytes;
    struct attempt a;
    static const struct {
        const char *name, *code;
        uint64_t at, want;
    } loads[] = {
        {"misaligned lh", do_lh, 1, 0x0201},
        {"misaligned lw", do_lw, 3, 0x06050403},
        {"misaligned ld", do_ld, 5, 0x0c0b0a0908070605},
        {"ld over a page's end", do_ld, 4092, 0x03020100fffefdfc},
        {"lh over a page's end", do_lh, 4095, 0x00ff},
    };
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        a = attempt(PRIVILEGE_USER, loads[i].code, base + loads[i].at, 0);
        expect_end(s, loads[i].name, &a);
        expect(s, loads[i].name, a.result[0], loads[i].want);
    }
    a = attempt(PRIVILEGE_SUPERVISOR, do_sd, base + 4089, 0x1122334455667788);
    expect_end(s, "sd over a page's end", &a);
    a = attempt(PRIVILEGE_SUPERVISOR, do_ld, base + 4089, 0);
    expect(s, "what it stored", a.result[0], 0x1122334455667788);
    a = attempt(PRIVILEGE_USER, do_lr_w, base + 2, 0);
    expect_trap(s, "misaligned lr.w", &a, LOAD_MISALIGNED, base + 2, 0);
    a = attempt(PRIVILEGE_USER, do_lr_d, base + 4, 0);
    expect_trap(s, "misaligned lr.d", &a, LOAD_MISALIGNED, base + 4, 0);
    a = attempt(PRIVILEGE_USER, do_amo_w, base + 1, 0);
    expect_trap(s, "misaligned amoadd.w", &a, STORE_MISALIGNED, base + 1, 0);
    a = attempt(PRIVILEGE_MACHINE, do_amo_d, base + 4, 0);
    expect_trap(s, "misaligned amoswap.d", &a, STORE_MISALIGNED, base + 4, 0);
}

/* jalr clears bit 0 of its target: no misaligned fetch is possible. */
static void test_odd_jump(struct suite *s)
{
    struct attempt a = attempt(PRIVILEGE_USER, do_jump_back, (uint64_t)only_ecall, 0);
    expect_trap(s, "jump to an odd address", &a, ECALL_U, 0, (uint64_t)only_ecall - a.pc);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_ecall(&s);
    test_ebreak(&s);
    test_access_faults(&s);
    test_misaligned(&s);
    test_odd_jump(&s);
    return suite_end(&s);
}
