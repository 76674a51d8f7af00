/* Encodings that must trap: not an instruction, reserved, or a CSR that the mode may not access. */
#include <stdio.h>

#include "support/support.h"

/* Instructions are run from here, followed by a c.ebreak for those that are legal. */
static _Alignas(8) uint16_t code[4];

static struct attempt run_bits(enum privilege mode, uint32_t bits)
{
    enum { C_EBREAK = 0x9002 };
    bool is_short = (bits & 3) != 3;
    code[0] = (uint16_t)bits;
    code[1] = is_short ? C_EBREAK : (uint16_t)(bits >> 16);
    code[2] = C_EBREAK;
    __asm__ volatile("fence.i" : : : "memory");
    return attempt(mode, (const char *)code, 0, 0);
}

static void test_illegal(struct suite *s, enum privilege mode, const char *name, uint32_t bits)
{
    char line[80];
    struct attempt a = run_bits(mode, bits);
    snprintf(line, sizeof line, "%s 0x%x in mode %d", name, (unsigned)bits, (int)mode);
    expect_trap(s, line, &a, ILLEGAL, bits, 0);
}

static void test_legal(struct suite *s, enum privilege mode, const char *name, uint32_t bits)
{
    char line[80];
    struct attempt a = run_bits(mode, bits);
    snprintf(line, sizeof line, "%s 0x%x in mode %d", name, (unsigned)bits, (int)mode);
    a.value = 0;
    expect_trap(s, line, &a, BREAKPOINT, 0, (bits & 3) == 3 ? 4 : 2);
}

struct encoding {
    const char *name;
    uint32_t bits;
};

static void test_encodings(struct suite *s)
{
    static const struct encoding illegal[] = {
        {"all zero", 0x0000},
        {"all ones", 0xffffffff},
        {"c.addi4spn without immediate", 0x0004},
        {"c.lwsp to x0", 0x4002},
        {"c.ldsp to x0", 0x6002},
        {"c.jr x0", 0x8002},
        {"c.addiw to x0", 0x2001},
        {"c.lui without immediate", 0x6081},
        {"c.addi16sp without immediate", 0x6101},
        {"reserved compressed arithmetic", 0x9c79},
        {"reserved compressed quadrant 0", 0x9000},
        {"load of width 7", 0x00007003},
        {"store of width 4", 0x00004023},
        {"branch of condition 2", 0x00002063},
        {"jalr of kind 1", 0x00001067},
        {"slli by 64", 0x04001013},
        {"slliw by 32", 0x0200101b},
        {"op-32 of kind 2", 0x0000203b},
        {"misc-mem of kind 3", 0x0000300f},
        {"lr.w with rs2", 0x1010202f},
        {"amo of width 0", 0x0000002f},
        {"unknown amo", 0x2800202f},
        {"fadd.s of rounding mode 5", 0x00005053},
        {"fadd.d of rounding mode 6", 0x02006053},
        {"fadd.q", 0x06007053},
        {"flq", 0x00004007},
        {"system of kind 4", 0x00004073},
        {"sfence.vma with rd", 0x120000f3},
        {"mret with rd", 0x302000f3},
        {"wfi with rs1", 0x10508073},
        {"ecall with rd", 0x000000f3},
        {"uret", 0x00200073},
        {"dret", 0x7b200073},
    };
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++) {
        test_illegal(s, PRIVILEGE_MACHINE, illegal[i].name, illegal[i].bits);
        test_illegal(s, PRIVILEGE_USER, illegal[i].name, illegal[i].bits);
    }
    static const struct encoding legal[] = {
        {"fence with reserved fields", 0x0ff08a0f},
        {"fence.tso", 0x8330000f},
        {"hint: slt to x0", 0x00b52033},
        {"hint: slli x0", 0x00101013},
        {"hint: c.slli x0", 0x0006},
    };
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++)
        test_legal(s, PRIVILEGE_USER, legal[i].name, legal[i].bits);
}

/* Dynamic rounding modes 5 to 7 are as bad as static ones, for instructions that round. */
static void test_rounding(struct suite *s)
{
    for (unsigned mode = 4; mode < 8; mode++) {
        csr_write(frm, mode);
        if (mode == 4)
            test_legal(s, PRIVILEGE_USER, "fadd.s, frm 4", 0x00007053);
        else
            test_illegal(s, PRIVILEGE_USER, "fadd.s, bad frm", 0x00007053);
    }
    test_legal(s, PRIVILEGE_USER, "fsgnj.s, bad frm", 0x20000053);
    csr_write(frm, 0);
}

/* `op` a0 or x0, `number`, rs1 or immediate. */
static uint32_t csr_bits(unsigned op, unsigned number, unsigned source)
{
    return number << 20 | source << 15 | op << 12 | 10 << 7 | 0x73;
}

static void test_csr_access(struct suite *s)
{
    enum { CSRRW = 1, CSRRS = 2, CSRRC = 3, CSRRWI = 5, CSRRSI = 6, CSRRCI = 7 };
    enum { ZERO = 0, A1 = 11 };
    /* The lowest mode that may read each. */
    static const struct {
        const char *name;
        unsigned number;
        enum privilege lowest;
    } rows[] = {
        {"fcsr", 0x003, PRIVILEGE_USER},          {"cycle", 0xc00, PRIVILEGE_USER},
        {"time", 0xc01, PRIVILEGE_USER},          {"instret", 0xc02, PRIVILEGE_USER},
        {"sstatus", 0x100, PRIVILEGE_SUPERVISOR}, {"sie", 0x104, PRIVILEGE_SUPERVISOR},
        {"stvec", 0x105, PRIVILEGE_SUPERVISOR},   {"scounteren", 0x106, PRIVILEGE_SUPERVISOR},
        {"senvcfg", 0x10a, PRIVILEGE_SUPERVISOR}, {"sscratch", 0x140, PRIVILEGE_SUPERVISOR},
        {"sepc", 0x141, PRIVILEGE_SUPERVISOR},    {"scause", 0x142, PRIVILEGE_SUPERVISOR},
        {"stval", 0x143, PRIVILEGE_SUPERVISOR},   {"sip", 0x144, PRIVILEGE_SUPERVISOR},
        {"satp", 0x180, PRIVILEGE_SUPERVISOR},    {"mstatus", 0x300, PRIVILEGE_MACHINE},
        {"misa", 0x301, PRIVILEGE_MACHINE},       {"medeleg", 0x302, PRIVILEGE_MACHINE},
        {"mideleg", 0x303, PRIVILEGE_MACHINE},    {"mie", 0x304, PRIVILEGE_MACHINE},
        {"mtvec", 0x305, PRIVILEGE_MACHINE},      {"mcounteren", 0x306, PRIVILEGE_MACHINE},
        {"menvcfg", 0x30a, PRIVILEGE_MACHINE},    {"mcountinhibit", 0x320, PRIVILEGE_MACHINE},
        {"mscratch", 0x340, PRIVILEGE_MACHINE},   {"mepc", 0x341, PRIVILEGE_MACHINE},
        {"mcause", 0x342, PRIVILEGE_MACHINE},     {"mtval", 0x343, PRIVILEGE_MACHINE},
        {"mip", 0x344, PRIVILEGE_MACHINE},        {"pmpcfg0", 0x3a0, PRIVILEGE_MACHINE},
        {"pmpaddr0", 0x3b0, PRIVILEGE_MACHINE},   {"mcycle", 0xb00, PRIVILEGE_MACHINE},
        {"minstret", 0xb02, PRIVILEGE_MACHINE},   {"mvendorid", 0xf11, PRIVILEGE_MACHINE},
        {"marchid", 0xf12, PRIVILEGE_MACHINE},    {"mimpid", 0xf13, PRIVILEGE_MACHINE},
        {"mhartid", 0xf14, PRIVILEGE_MACHINE},    {"mconfigptr", 0xf15, PRIVILEGE_MACHINE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (enum privilege mode = PRIVILEGE_USER; mode <= PRIVILEGE_MACHINE;
             mode += mode == PRIVILEGE_SUPERVISOR ? 2u : 1u) {
            if (mode >= rows[i].lowest)
                test_legal(s, mode, rows[i].name, csr_bits(CSRRS, rows[i].number, ZERO));
            else
                test_illegal(s, mode, rows[i].name, csr_bits(CSRRS, rows[i].number, ZERO));
        }
    }
    static const unsigned nowhere[] = {0x004, 0x0ff, 0x1ff, 0x3a1, 0x3a3, 0x5ff,
                                       0x6ff, 0xb01, 0xc81, 0xf10, 0xf16};
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
        test_illegal(s, PRIVILEGE_MACHINE, "no such CSR", csr_bits(CSRRS, nowhere[i], ZERO));
    /* Read-only: any write traps, even one that changes nothing. */
    test_illegal(s, PRIVILEGE_MACHINE, "csrrw of mvendorid", csr_bits(CSRRW, 0xf11, A1));
    test_illegal(s, PRIVILEGE_MACHINE, "csrrsi of mvendorid", csr_bits(CSRRSI, 0xf11, 1));
    test_illegal(s, PRIVILEGE_MACHINE, "csrrci of mhartid", csr_bits(CSRRCI, 0xf14, 1));
    struct attempt a = run_bits(PRIVILEGE_MACHINE, csr_bits(CSRRS, 0xf11, A1));
    expect_spec(s, "csrrs of mvendorid with a register that holds 0 traps", a.cause == ILLEGAL);
    a = run_bits(PRIVILEGE_MACHINE, csr_bits(CSRRC, 0xf14, A1));
    expect_spec(s, "csrrc of mhartid with a register that holds 0 traps", a.cause == ILLEGAL);
    test_illegal(s, PRIVILEGE_USER, "csrrw of cycle", csr_bits(CSRRW, 0xc00, ZERO));
    test_illegal(s, PRIVILEGE_USER, "csrrwi of time", csr_bits(CSRRWI, 0xc01, 0));
    test_illegal(s, PRIVILEGE_USER, "csrrsi of instret", csr_bits(CSRRSI, 0xc02, 1));
    test_legal(s, PRIVILEGE_USER, "csrrsi of instret without bits", csr_bits(CSRRSI, 0xc02, 0));
    test_legal(s, PRIVILEGE_USER, "csrrci of instret without bits", csr_bits(CSRRCI, 0xc02, 0));
}

static void test_modes(struct suite *s)
{
    static const struct encoding machine_only[] = {{"mret", 0x30200073}};
    static const struct encoding not_user[] = {
        {"sret", 0x10200073}, {"sfence.vma", 0x12000073}, {"sfence.vma a0, a1", 0x12b50073}};
    test_illegal(s, PRIVILEGE_USER, machine_only[0].name, machine_only[0].bits);
    test_illegal(s, PRIVILEGE_SUPERVISOR, machine_only[0].name, machine_only[0].bits);
    for (size_t i = 0; i < sizeof not_user / sizeof not_user[0]; i++)
        test_illegal(s, PRIVILEGE_USER, not_user[i].name, not_user[i].bits);
    test_legal(s, PRIVILEGE_SUPERVISOR, "sfence.vma", 0x12000073);
    test_legal(s, PRIVILEGE_MACHINE, "sfence.vma a0, a1", 0x12b50073);
}

int main(void)
{
    struct suite s = {0};
    machine_prepare();
    test_encodings(&s);
    test_rounding(&s);
    test_csr_access(&s);
    test_modes(&s);
    return suite_end(&s);
}
