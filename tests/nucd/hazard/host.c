/* The host's pieces: instructions before, during and after tasks. */
#include "tests/nucd/hazard/hazard.h"

static const char *const loads[] = {"lb", "lbu", "lh", "lhu", "lw", "lwu", "ld"};
static const unsigned load_sizes[] = {1, 1, 2, 2, 4, 4, 8};
static const char *const stores[] = {"sb", "sh", "sw", "sd"};

static const char *host(struct hazard *h)
{
    return hazard_reg(hazard_host_reg(h));
}

static void alu(struct hazard *h)
{
    static const char *const ops[] = {"add", "sub",  "xor",  "and", "or",   "sll", "srl",  "sra",
                                      "slt", "sltu", "addw", "mul", "mulh", "div", "remu", "subw"};
    hazard_code(h, "%s %s, %s, %s", ops[hazard_random(h, 16)], host(h), host(h), host(h));
}

static void immediate(struct hazard *h)
{
    static const char *const ops[] = {"addi", "xori", "andi", "ori", "addiw", "slti"};
    hazard_code(h, "%s %s, %s, %d", ops[hazard_random(h, 6)], host(h), host(h),
                (int)hazard_random(h, 4096) - 2048);
}

/* Seven of eight accesses are aligned to their size. */
static void load(struct hazard *h)
{
    unsigned kind = hazard_random(h, 7), size = load_sizes[kind];
    hazard_code(h, "%s %s, %d(s0)", loads[kind], host(h),
                hazard_offset(h, size, hazard_once(h, 8) ? 1 : size));
}

static void store(struct hazard *h)
{
    unsigned kind = hazard_random(h, 4), size = 1u << kind;
    hazard_code(h, "%s %s, %d(s0)", stores[kind], host(h),
                hazard_offset(h, size, hazard_once(h, 8) ? 1 : size));
}

/* Loads t0 with an address in the arena, aligned to 8, that depends on a register's value. */
static void computed_address(struct hazard *h)
{
    hazard_code(h, "andi t0, %s, %u", host(h), (h->spread < 2048 ? h->spread / 2 - 1 : 2047) & ~7u);
    hazard_code(h, "add t0, s0, t0");
}

static void computed_load(struct hazard *h)
{
    unsigned kind = hazard_random(h, 7);
    computed_address(h);
    hazard_code(h, "%s %s, 0(t0)", loads[kind], host(h));
}

static void computed_store(struct hazard *h)
{
    computed_address(h);
    hazard_code(h, "%s %s, 0(t0)", stores[hazard_random(h, 4)], host(h));
}

static void floating(struct hazard *h)
{
    static const char *const ops[] = {"fadd.d", "fsub.d",   "fmul.d", "fdiv.d",
                                      "fmin.d", "fsgnjx.d", "fadd.s", "fmul.s"};
    const char *a = hazard_host_float(h), *b = hazard_host_float(h), *c = hazard_host_float(h);
    switch (hazard_random(h, 9)) {
    case 0: hazard_code(h, "fld %s, %d(s0)", a, hazard_offset(h, 8, 8)); break;
    case 1: hazard_code(h, "fsd %s, %d(s0)", a, hazard_offset(h, 8, 8)); break;
    case 2: hazard_code(h, "flw %s, %d(s0)", a, hazard_offset(h, 4, 4)); break;
    case 3: hazard_code(h, "fsw %s, %d(s0)", a, hazard_offset(h, 4, 4)); break;
    case 4: hazard_code(h, "fcvt.l.d %s, %s, rtz", host(h), a); break;
    case 5: hazard_code(h, "fcvt.d.l %s, %s", a, host(h)); break;
    case 6: hazard_code(h, "fmadd.d %s, %s, %s, %s", a, b, c, a); break;
    case 7: hazard_code(h, "flt.d %s, %s, %s", host(h), a, b); break;
    default: hazard_code(h, "%s %s, %s, %s", ops[hazard_random(h, 8)], a, b, c);
    }
}

/* fflags and frm are part of the program's state. The values of counters are dead, because they differ
 * between machines. */
static void csr(struct hazard *h)
{
    switch (hazard_random(h, 6)) {
    case 0: hazard_code(h, "csrr %s, fflags", host(h)); break;
    case 1: hazard_code(h, "csrrwi %s, fflags, %u", host(h), hazard_random(h, 32)); break;
    case 2: hazard_code(h, "csrrwi %s, frm, %u", host(h), hazard_random(h, 5)); break;
    case 3: hazard_code(h, "csrr %s, fcsr", host(h)); break;
    case 4: hazard_code(h, "rdcycle t0"); break;
    default: hazard_code(h, "rdinstret t0");
    }
}

static void atomic(struct hazard *h)
{
    static const char *const ops[] = {"amoadd", "amoswap", "amoxor", "amoand", "amomaxu", "amomin"};
    const char *width = hazard_once(h, 2) ? "w" : "d";
    hazard_code(h, "addi t0, s0, %d", hazard_offset(h, 8, 8));
    if (hazard_random(h, 3) > 0) {
        hazard_code(h, "%s.%s %s, %s, (t0)", ops[hazard_random(h, 6)], width, host(h), host(h));
        return;
    }
    unsigned label = h->label++;
    hazard_line(h, "1%u:", label);
    hazard_code(h, "lr.%s t1, (t0)", width);
    hazard_code(h, "sc.%s t2, %s, (t0)", width, host(h));
    hazard_code(h, "bnez t2, 1%ub", label);
    hazard_code(h, "mv %s, t1", host(h));
}

static void fence(struct hazard *h)
{
    static const char *const fences[] = {"fence rw, rw", "fence w, r", "fence.tso", "fence.i"};
    hazard_code(h, "%s", fences[hazard_random(h, 4)]);
}

/* System calls by Linux's numbers: write bytes to a file (68 pwrite64) and read them back to another place
 * (67 pread64); or a call without effect (172 getpid). a0 and a1 are dead; a2, a3 and a7 belong to the host
 * and get new values. */
static void system_call(struct hazard *h)
{
    bool moves = hazard_random(h, 3) > 0;
    unsigned bytes = 1 + hazard_random(h, 100);
    for (int out = 1; out >= 0 && moves; out--) {
        hazard_code(h, "lw a0, %d(s1)", HAZARD_FD);
        hazard_code(h, "addi a1, s0, %d", hazard_offset(h, bytes, 1));
        hazard_code(h, "li a2, %u", bytes);
        hazard_code(h, "li a3, 0");
        hazard_code(h, "li a7, %d", out ? 68 : 67);
        hazard_code(h, "ecall");
    }
    if (!moves) {
        hazard_code(h, "li a7, 172");
        hazard_code(h, "ecall");
    }
}

/* 64: write */
void hazard_output(struct hazard *h)
{
    if (hazard_once(h, 2))
        return;
    hazard_code(h, "li a0, 1");
    hazard_code(h, "addi a1, s0, %d", hazard_offset(h, 64, 8));
    hazard_code(h, "li a2, 64");
    hazard_code(h, "li a7, 64");
    hazard_code(h, "ecall");
}

static void simple(struct hazard *h)
{
    static void (*const kinds[])(struct hazard *) = {alu, alu, immediate, load, load, store, store, floating};
    kinds[hazard_random(h, 8)](h);
}

static void branch(struct hazard *h)
{
    static const char *const ops[] = {"beq", "bne", "blt", "bgeu"};
    unsigned label = h->label++;
    if (hazard_once(h, 2))
        hazard_code(h, "%s %s, %s, 1%uf", ops[hazard_random(h, 4)], host(h), host(h), label);
    else {
        hazard_code(h, "andi t0, %s, 1", host(h));
        hazard_code(h, "beqz t0, 1%uf", label);
    }
    for (unsigned n = 1 + hazard_random(h, 3); n > 0; n--)
        simple(h);
    hazard_line(h, "1%u:", label);
}

/* Between auipc and the computed jump are two instructions; after the jump, two targets 8 bytes apart. */
static void indirect_jump(struct hazard *h)
{
    const char *target = host(h);
    hazard_code(h, "andi t1, %s, 1", host(h));
    hazard_code(h, "slli t1, t1, 3");
    hazard_code(h, "auipc t0, 0");
    hazard_code(h, "add t0, t0, t1");
    hazard_code(h, "jr 12(t0)");
    hazard_code(h, "addi %s, %s, 17", target, target);
    hazard_code(h, "j . + 12");
    hazard_code(h, "xori %s, %s, 0x55", target, target);
    hazard_code(h, "nop");
}

static void call(struct hazard *h)
{
    hazard_code(h, "addi a0, s0, %d", hazard_offset(h, 64, 8));
    hazard_code(h, "li a1, %u", 1 + hazard_random(h, 6));
    hazard_line(h, "\tcall hazard_%s", hazard_once(h, 2) ? "sum" : "count");
    h->bytes += 8;
    hazard_code(h, "mv %s, a0", host(h));
}

void hazard_host_piece(struct hazard *h)
{
    static void (*const kinds[])(struct hazard *) = {
        simple, simple,   simple, computed_load, computed_store, branch, indirect_jump,   call,
        csr,    floating, atomic, fence,         system_call,    store,  hazard_malformed};
    kinds[hazard_random(h, sizeof kinds / sizeof kinds[0])](h);
}
