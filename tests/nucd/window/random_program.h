/* Random programs with offloaded regions, for the window's tests. Host code and regions consist of ordinary
 * instructions, so executing a program instruction by instruction, with nucd as a no-op, gives the expected
 * result. */
#ifndef TESTS_NUCD_WINDOW_RANDOM_PROGRAM_H
#define TESTS_NUCD_WINDOW_RANDOM_PROGRAM_H

#include "emu/nucd/packet.h"
#include "emu/sim/mix.h"
#include "tests/hart/fixture.h"

#define PROGRAM_POOL  (FIXTURE_BASE + 0x4000) /* constants; never written */
#define PROGRAM_DATA  (FIXTURE_BASE + 0x6e80) /* crosses a page boundary */
#define PROGRAM_BYTES UINT64_C(0x8000)        /* size of memory */

enum {
    PROGRAM_SPREAD = 0x300, /* maximum distance of pointers from PROGRAM_DATA */
    /* Registers by use. */
    GP = 3,
    XN = 5,
    XD = 6,
    XT = 7,
    WILD = 20,    /* gets results that are not addresses, and is used as an address */
    COUNTER = 21, /* of the loop around the program */
    SCRATCH = 26, /* 26 and 27: of one code sequence, written before they are read */
    TEMP = 28,    /* 28 to 31, integer and floating-point: of regions, dead after them */
};

struct program {
    struct fixture *f;
    uint64_t random;
    uint64_t pool; /* address of the next constant */
    bool patches;  /* the program changes its code, without FENCE.I */
};

static uint32_t program_random(struct program *p)
{
    p->random ^= p->random >> 12;
    p->random ^= p->random << 25;
    p->random ^= p->random >> 27;
    return (uint32_t)(p->random * UINT64_C(2685821657736338717) >> 32);
}

static unsigned below(struct program *p, unsigned limit)
{
    return program_random(p) % limit;
}

static uint8_t host_int(struct program *p)
{
    return (uint8_t)(10 + below(p, 8));
}

static uint8_t host_fp(struct program *p)
{
    return (uint8_t)below(p, 8);
}

static uint8_t pointer(struct program *p)
{
    static const uint8_t pointers[] = {8, 9, 18, 19};
    return pointers[below(p, 4)];
}

static uint8_t temp(struct program *p)
{
    return (uint8_t)(TEMP + below(p, 4));
}

static uint8_t rounding(struct program *p)
{
    static const uint8_t modes[] = {RM_RNE, RM_RTZ, RM_RDN, RM_RUP, RM_RMM, RM_DYN, RM_DYN};
    return modes[below(p, 7)];
}

static void put_i(struct program *p, enum insn_id id, unsigned rd, unsigned rs1, int imm)
{
    fixture_row(p->f, id, (struct operands){.rd = (uint8_t)rd, .rs1 = (uint8_t)rs1, .imm = imm});
}

static void put_r(struct program *p, enum insn_id id, unsigned rd, unsigned rs1, unsigned rs2)
{
    fixture_row(p->f, id, (struct operands){.rd = (uint8_t)rd, .rs1 = (uint8_t)rs1, .rs2 = (uint8_t)rs2});
}

static void put_s(struct program *p, enum insn_id id, unsigned rs2, unsigned rs1, int imm)
{
    fixture_row(p->f, id, (struct operands){.rs1 = (uint8_t)rs1, .rs2 = (uint8_t)rs2, .imm = imm});
}

/* Loads a constant. */
static void put_constant(struct program *p, unsigned rd, uint64_t value)
{
    fixture_write(p->f, p->pool, 8, value);
    put_i(p, INSN_ld, rd, GP, (int)(p->pool - PROGRAM_POOL));
    p->pool += 8;
}

/* Mostly returns one of a few, so that accesses and ranges overlap. */
static uint64_t any_address(struct program *p)
{
    return PROGRAM_DATA + (below(p, 4) ? 64 * below(p, 6) : below(p, PROGRAM_SPREAD));
}

static int any_offset(struct program *p)
{
    return below(p, 3) ? 8 * (int)below(p, 3) : (int)below(p, 320) - 64;
}

static void put_alu(struct program *p, unsigned rd, unsigned rs1, unsigned rs2)
{
    static const enum insn_id rows[] = {INSN_add, INSN_sub, INSN_xor, INSN_and,  INSN_or,   INSN_mul,
                                        INSN_div, INSN_srl, INSN_sll, INSN_sltu, INSN_addw, INSN_min,
                                        INSN_ror, INSN_rem, INSN_sra, INSN_mulhu};
    put_r(p, rows[below(p, 16)], rd, rs1, rs2);
}

static void put_alu_immediate(struct program *p, unsigned rd, unsigned rs1)
{
    static const enum insn_id rows[] = {INSN_addi, INSN_xori, INSN_andi, INSN_addiw, INSN_slti};
    put_i(p, rows[below(p, 5)], rd, rs1, (int)below(p, 4096) - 2048);
}

static void put_load(struct program *p, unsigned rd, unsigned base, int offset)
{
    static const enum insn_id rows[] = {INSN_lb, INSN_lh,  INSN_lw,  INSN_ld,
                                        INSN_ld, INSN_lbu, INSN_lhu, INSN_lwu};
    put_i(p, rows[below(p, 8)], rd, base, offset);
}

static void put_store(struct program *p, unsigned data, unsigned base, int offset)
{
    static const enum insn_id rows[] = {INSN_sb, INSN_sh, INSN_sw, INSN_sd};
    put_s(p, rows[below(p, 4)], data, base, offset);
}

static void put_fp(struct program *p, unsigned rd, unsigned a, unsigned b, unsigned c)
{
    static const enum insn_id rows[] = {INSN_fadd_d,  INSN_fsub_d,   INSN_fmul_d,   INSN_fdiv_d,
                                        INSN_fmadd_d, INSN_fsqrt_d,  INSN_fmin_d,   INSN_fsgnj_d,
                                        INSN_fadd_s,  INSN_fmul_s,   INSN_fdiv_s,   INSN_fmax_s,
                                        INSN_fmadd_s, INSN_fcvt_s_d, INSN_fcvt_d_s, INSN_fnmsub_d};
    fixture_row(
        p->f, rows[below(p, 16)],
        (struct operands){
            .rd = (uint8_t)rd, .rs1 = (uint8_t)a, .rs2 = (uint8_t)b, .rs3 = (uint8_t)c, .rm = rounding(p)});
}

/* A move between integer and floating-point registers. */
static void put_move(struct program *p, unsigned x, unsigned f)
{
    static const enum insn_id to_x[] = {INSN_fmv_x_d, INSN_fcvt_l_d, INSN_fcvt_w_d, INSN_fclass_d};
    static const enum insn_id to_f[] = {INSN_fmv_d_x, INSN_fcvt_d_l, INSN_fcvt_d_w, INSN_fcvt_s_l};
    bool into = below(p, 2);
    fixture_row(
        p->f, (into ? to_f : to_x)[below(p, 4)],
        (struct operands){.rd = (uint8_t)(into ? f : x), .rs1 = (uint8_t)(into ? x : f), .rm = rounding(p)});
}

/* One instruction without a jump. */
static void put_simple(struct program *p)
{
    switch (below(p, 12)) {
    case 0:
    case 1: put_alu(p, host_int(p), host_int(p), host_int(p)); break;
    case 2: put_alu_immediate(p, host_int(p), host_int(p)); break;
    case 3:
    case 4: put_load(p, host_int(p), pointer(p), any_offset(p)); break;
    case 5:
    case 6: put_store(p, host_int(p), pointer(p), any_offset(p)); break;
    case 7: put_fp(p, host_fp(p), host_fp(p), host_fp(p), host_fp(p)); break;
    case 8: put_move(p, host_int(p), host_fp(p)); break;
    case 9: put_i(p, below(p, 2) ? INSN_fld : INSN_flw, host_fp(p), pointer(p), any_offset(p)); break;
    case 10: put_s(p, below(p, 2) ? INSN_fsd : INSN_fsw, host_fp(p), pointer(p), any_offset(p)); break;
    default: /* c.addi */
        fixture_narrow(p->f, (uint16_t)(0x0001u | (10 + below(p, 6)) << 7 | (1 + below(p, 31)) << 2));
        break;
    }
}

/* A branch that skips 1 to 3 instructions if it is taken. */
static void put_branch(struct program *p, unsigned rs1, unsigned rs2)
{
    static const enum insn_id rows[] = {INSN_beq, INSN_bne, INSN_blt, INSN_bgeu};
    uint64_t at = p->f->at;
    p->f->at += 4;
    for (unsigned i = 1 + below(p, 3); i > 0; i--)
        put_simple(p);
    uint64_t end = p->f->at;
    p->f->at = at;
    put_s(p, rows[below(p, 4)], rs2, rs1, (int)(end - at));
    p->f->at = end;
}

/* An indirect jump to the next instruction or to the one after it, depending on a value. */
static void put_jump(struct program *p)
{
    put_i(p, INSN_auipc, SCRATCH, 0, 0);
    put_i(p, INSN_andi, SCRATCH + 1, host_int(p), 4);
    put_r(p, INSN_add, SCRATCH, SCRATCH, SCRATCH + 1);
    put_i(p, INSN_jalr, 1, SCRATCH, 16);
    put_alu(p, host_int(p), host_int(p), host_int(p));
}

/* Overwrites an instruction a little later; sometimes the store's address depends on a host register. */
static void put_patch(struct program *p)
{
    /* If only the upper half of the old instruction is written, the immediate's low bits become its rs2. */
    struct operands add = {
        .rd = host_int(p), .rs1 = host_int(p), .imm = (int)(below(p, 64) << 5 | host_int(p))};
    unsigned behind = below(p, 4);
    put_constant(p, SCRATCH + 1, encode(INSN_addi, &add));
    put_i(p, INSN_andi, SCRATCH, below(p, 2) ? host_int(p) : 0, 0);
    put_i(p, INSN_auipc, SCRATCH - 1, 0, 0);
    put_r(p, INSN_add, SCRATCH, SCRATCH, SCRATCH - 1);
    bool half = below(p, 2); /* distance of the instruction; the immediate's value */
    if (half)
        put_s(p, INSN_sh, SCRATCH + 1, SCRATCH, (int)(12 + 4 * behind + 2));
    else
        put_s(p, INSN_sw, SCRATCH + 1, SCRATCH, (int)(12 + 4 * behind));
    for (unsigned i = 0; i <= behind; i++)
        put_alu(p, host_int(p), host_int(p), host_int(p));
}

/* Changes the rounding mode. A reserved mode is set only directly before an instruction that traps for it,
 * because a region must not trap. */
static void put_frm(struct program *p)
{
    unsigned mode = below(p, 40) ? below(p, 5) : 5;
    put_i(p, INSN_csrrwi, 0, mode, 0x002);
    if (mode == 5)
        fixture_row(p->f, INSN_fadd_d, (struct operands){.rm = RM_DYN});
}

/* An instruction that waits until no task is in flight. */
static void put_serial(struct program *p)
{
    put_i(p, INSN_andi, SCRATCH, pointer(p), -8);
    switch (below(p, 7)) {
    case 0: put_r(p, INSN_amoadd_d, host_int(p), SCRATCH, host_int(p)); break;
    case 1:
        put_r(p, INSN_lr_d, host_int(p), SCRATCH, 0);
        put_simple(p);
        if (below(p, 4))
            put_r(p, INSN_sc_d, host_int(p), SCRATCH, host_int(p));
        break;
    case 2: put_i(p, INSN_csrrs, host_int(p), 0, 0x001); break; /* fflags */
    case 3: put_frm(p); break;
    case 4: put_i(p, INSN_fence, 0, 0, 0xff); break;
    case 5: put_i(p, INSN_nucd_order, 0, 0, 0); break;
    default: put_i(p, INSN_fence_i, 0, 0, 0); break;
    }
}

/* A region under construction, with four input and four output segments. */
struct region {
    uint8_t in[NUCD_SEGMENTS], out[NUCD_SEGMENTS]; /* register numbers; 0: unused */
    unsigned in_memory, out_memory;                /* bits of M */
    unsigned in_granules[NUCD_SEGMENTS], out_granules[NUCD_SEGMENTS];
};

static void choose_segments(struct program *p, struct region *r)
{
    *r = (struct region){0};
    for (unsigned i = 0; i < NUCD_SEGMENTS; i++) {
        bool memory = below(p, 2);
        if (below(p, 3) == 0)
            continue;
        r->in[i] = memory ? pointer(p) : host_int(p);
        r->in_memory |= (unsigned)memory << i;
        r->in_granules[i] = memory ? 1 + below(p, 2) : 0;
    }
    for (unsigned i = 1; i < NUCD_SEGMENTS; i++) {
        if (below(p, 2) == 0)
            continue;
        r->out[i] = pointer(p);
        r->out_memory |= 1u << i;
        r->out_granules[i] = 1 + below(p, 2);
    }
    static const uint8_t results[] = {0, 10, 11, 12, 13, 8, 18, 19, WILD, 15};
    r->out[0] = results[below(p, 10)];
}

static uint64_t segments_operand(const uint8_t reg[], const unsigned granules[])
{
    uint64_t operand = 0;
    for (unsigned i = 0; i < NUCD_SEGMENTS; i++)
        operand |= (uint64_t)(reg[i] | granules[i] << 5) << 16 * i;
    return operand;
}

/* Returns an offset within `granules` granules, mostly near their start. */
static int granule_offset(struct program *p, unsigned granules)
{
    if (granules == 0)
        return 0;
    return (int)(below(p, 2) ? 8 * below(p, 3) : below(p, 64 * granules - 7));
}

/* One instruction of the region. It writes only temporaries and output ranges. */
static void put_region_step(struct program *p, const struct region *r)
{
    unsigned i = below(p, NUCD_SEGMENTS);
    int in_offset = granule_offset(p, r->in_granules[i]);
    int out_offset = granule_offset(p, r->out_granules[i]);
    switch (below(p, 8)) {
    case 0:
    case 1:
        if (r->out_memory >> i & 1)
            put_store(p, temp(p), r->out[i], out_offset);
        break;
    case 2:
        if (r->in_memory >> i & 1)
            put_load(p, temp(p), r->in[i], in_offset);
        else if (r->in[i])
            put_alu(p, temp(p), r->in[i], temp(p));
        break;
    case 3: put_fp(p, temp(p), temp(p), temp(p), temp(p)); break;
    case 4: put_move(p, temp(p), temp(p)); break;
    case 5:
        put_s(p, INSN_bne, temp(p), temp(p), 8);
        put_alu(p, temp(p), temp(p), temp(p));
        break;
    case 6:
        if (r->out_memory >> i & 1)
            put_load(p, temp(p), r->out[i], out_offset);
        break;
    default: put_alu(p, temp(p), temp(p), temp(p)); break;
    }
}

/* Writes the result: a value, or an address if the register holds addresses. */
static void put_result(struct program *p, const struct region *r)
{
    unsigned reg = r->out[0];
    if (reg == 8 || reg == 18 || reg == 19) {
        put_constant(p, TEMP, PROGRAM_DATA);
        put_i(p, INSN_andi, TEMP + 1, TEMP + 1, below(p, 2) ? 0x2ff : 0x88);
        put_r(p, INSN_add, reg, TEMP, TEMP + 1);
        if (reg == WILD) /* must not happen to be code */
            put_i(p, INSN_bseti, reg, reg, 40);
    } else if (reg) {
        put_r(p, INSN_add, reg, TEMP, TEMP + 1);
        if (reg == WILD) /* must not happen to be code */
            put_i(p, INSN_bseti, reg, reg, 40);
    }
}

static void put_nucd(struct program *p)
{
    struct region r;
    choose_segments(p, &r);
    uint64_t operands = p->f->at, begin = operands + 16;
    p->f->at = begin;
    for (unsigned i = 0; i < 4; i++) {
        if (r.in[i] && !(r.in_memory >> i & 1))
            put_i(p, INSN_addi, TEMP + i, r.in[i], 0);
        else
            put_i(p, INSN_addi, TEMP + i, 0, (int)below(p, 2048));
        fixture_row(p->f, INSN_fmv_d_x,
                    (struct operands){.rd = (uint8_t)(TEMP + i), .rs1 = (uint8_t)(TEMP + i)});
    }
    for (unsigned i = below(p, 12); i > 0; i--)
        put_region_step(p, &r);
    put_result(p, &r);
    uint64_t end = p->f->at;
    uint64_t signature = below(p, 12) ? NUCD_SIGNATURE : 0;
    p->f->at = operands;
    put_constant(p, XN,
                 signature << 32 | r.in_memory << 24 | (uint64_t)r.out_memory << 28 | (end - begin) / 2);
    put_constant(p, XD, segments_operand(r.in, r.in_granules));
    put_constant(p, XT, segments_operand(r.out, r.out_granules));
    put_r(p, INSN_nucd, 0, XN, XD);
    p->f->at = end;
}

static void put_unit(struct program *p)
{
    switch (below(p, 24)) {
    case 0:
    case 1:
    case 2:
    case 3: put_nucd(p); break;
    case 4:
    case 5: put_branch(p, host_int(p), host_int(p)); break;
    case 6: put_jump(p); break;
    case 7:
        if (below(p, 2) && p->patches)
            put_patch(p);
        break;
    case 8:
        if (below(p, 3) == 0)
            put_serial(p);
        break;
    case 9: put_constant(p, pointer(p), any_address(p)); break;
    case 10:
        if (below(p, 10) == 0)
            put_load(p, host_int(p), WILD, 0);
        else if (below(p, 10) == 0)
            put_store(p, host_int(p), WILD, 0);
        break;
    default: put_simple(p); break;
    }
}

/* Writes a program that ends in EBREAK or a fault into the fixture, with data and registers. patches: it may
 * change its code, without FENCE.I. */
static void program_make(struct fixture *f, uint64_t seed, bool patches)
{
    struct program p = {f, seed * MIX_FACTOR | 1, PROGRAM_POOL, patches};
    fixture_restart(f);
    for (uint64_t at = FIXTURE_BASE; at < FIXTURE_BASE + PROGRAM_BYTES; at += 8)
        fixture_write(f, at, 8,
                      at < PROGRAM_POOL ? 0 : (uint64_t)program_random(&p) << 32 | program_random(&p));
    for (unsigned r = 4; r < 28; r++)
        f->hart.x[r] = (uint64_t)program_random(&p) << below(&p, 33);
    for (unsigned r = 0; r < 8; r++)
        f->hart.f[r] = (uint64_t)(0x3f000000u | program_random(&p)) << 32 | program_random(&p);
    f->hart.x[8] = any_address(&p);
    f->hart.x[9] = any_address(&p);
    f->hart.x[18] = any_address(&p);
    f->hart.x[19] = any_address(&p);
    f->hart.x[WILD] = any_address(&p);
    f->hart.x[GP] = PROGRAM_POOL;
    put_i(&p, INSN_addi, COUNTER, 0, 1 + (int)below(&p, 3));
    uint64_t loop = f->at;
    for (unsigned i = 4 + below(&p, 30); i > 0; i--)
        put_unit(&p);
    put_i(&p, INSN_addi, COUNTER, COUNTER, -1);
    put_s(&p, INSN_bne, 0, COUNTER, (int)(int64_t)(loop - f->at));
    put_i(&p, INSN_ebreak, 0, 0, 0);
}

/* Compares the final state of a program executed instruction by instruction with that after offloading its
 * regions. Everything must be equal except registers that are dead after regions; reservations are compared
 * if `reserved` is set. */
static void program_compare(const struct hart *a, const struct phys *wanted, const struct hart *b,
                            const struct phys *found, bool reserved, uint64_t seed)
{
    bool same =
        a->pc == b->pc && a->trap.cause == b->trap.cause && a->trap.value == b->trap.value &&
        a->fflags == b->fflags && a->frm == b->frm &&
        (!reserved || (a->reserved == b->reserved && (!a->reserved || a->reservation == b->reservation))) &&
        memcmp(a->x, b->x, TEMP * sizeof *a->x) == 0 && memcmp(a->f, b->f, TEMP * sizeof *a->f) == 0 &&
        memcmp(wanted->bytes, found->bytes, PROGRAM_BYTES) == 0;
    if (same)
        return;
    for (unsigned r = 0; r < TEMP; r++)
        if (a->x[r] != b->x[r] || a->f[r] != b->f[r])
            print_error("x%u %#lx %#lx  f%u %#lx %#lx\n", r, a->x[r], b->x[r], r, a->f[r], b->f[r]);
    for (unsigned i = 0; i < PROGRAM_BYTES; i++)
        if (wanted->bytes[i] != found->bytes[i])
            print_error("byte %#x: %#x %#x\n", i, wanted->bytes[i], found->bytes[i]);
    fail_msg("program %lu: pc %#lx %#lx, flags %#x %#x, cause %u %u", seed, a->pc, b->pc, a->fflags,
             b->fflags, a->trap.cause, b->trap.cause);
}

#endif
