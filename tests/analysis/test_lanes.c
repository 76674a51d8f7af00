/* What registers hold over lanes, beside random programs that are evaluated thread by thread: two warps of eight threads, in a block
 * each. A register that is said to be the same, uniform or affine must be so in the threads that are at an instruction in one round. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/analysis/lanes.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"
#include "tests/analysis/few_words.h"
#include "tests/isa/random.h"

enum {
    PROGRAMS = 3000,
    LANES = 8,
    THREADS = 2 * LANES,
    ROUNDS = 4,
    LOOP_END = 28,
    END = 36,
    PLACES = 64 * (ROUNDS + 1),
    ARGUMENT = 10,
    COUNTER = 18, /* and registers 10 to 17 */
    MASK = 19,
};

struct program {
    struct line lines[64];
    int count, loop, back; /* the loop's first line, and its branch */
    struct random random;
};

/* What each thread has before a line in a round, or behind the loop. */
struct seen {
    bool here[PLACES][THREADS];
    uint64_t values[PLACES][THREADS][32];
};

static uint8_t any(struct program *p)
{
    return (uint8_t)(ARGUMENT + random_below(&p->random, 8));
}

static void plain(struct program *p)
{
    static const enum insn_id ids[] = {INSN_csrrs, INSN_csrrs, INSN_add,  INSN_sub,  INSN_addi,
                                       INSN_slli,  INSN_mul,   INSN_xor,  INSN_sltu, INSN_sh2add,
                                       INSN_addw,  INSN_ld,    INSN_sll,  INSN_addi, INSN_add,
                                       INSN_andi,  INSN_srli,  INSN_slli, INSN_and};
    static const int32_t numbers[] = {CSR_sthread_x, CSR_sblock_x, CSR_sblockdim_x};
    const enum insn_id id = ids[random_below(&p->random, sizeof ids / sizeof *ids)];
    struct operands o = {
        .rd = any(p), .rs1 = any(p), .rs2 = any(p), .imm = (int32_t)random_below(&p->random, 4)};
    if ((id == INSN_slli || id == INSN_srli) && random_chance(&p->random, 60))
        o.imm = id == INSN_slli || random_chance(&p->random, 50) ? 32
                : random_chance(&p->random, 50)                  ? 30
                                                                 : 40;
    if (id == INSN_and)
        o.rs2 = random_chance(&p->random, 70) ? MASK : o.rs2;
    if (id == INSN_srli && p->count > 0) /* in most cases, of what the line before has shifted */
        o.rs1 = random_chance(&p->random, 70) ? p->lines[p->count - 1].operands.rd : o.rs1;
    if (id == INSN_csrrs) {
        o.rs1 = 0;
        o.imm = numbers[random_below(&p->random, 3)];
    }
    p->lines[p->count++] = (struct line){id, o};
}

/* A branch over up to four of the lines before `limit`, some of which may be branches, too. */
static void way(struct program *p, int limit)
{
    const int most = limit - p->count - 1, over = 1 + (int)random_below(&p->random, 4);
    const struct operands o = OP(.rs1 = any(p), .rs2 = any(p), .imm = 4 + 4 * (over < most ? over : most));
    p->lines[p->count++] = (struct line){random_chance(&p->random, 50) ? INSN_beq : INSN_blt, o};
}

static void write_program(struct program *p)
{
    p->count = 0;
    for (unsigned i = 0; i < 6; i++)
        plain(p);
    p->lines[p->count++] = (struct line){INSN_addi, OP(.rd = MASK, .imm = -1)};
    p->lines[p->count++] = (struct line){INSN_srli, OP(.rd = MASK, .rs1 = MASK, .imm = 32)};
    p->lines[p->count] =
        (struct line){INSN_beq, OP(.rs1 = any(p), .rs2 = any(p), .imm = 4 * (LOOP_END + 2 - p->count))};
    p->loop = ++p->count;
    while (p->count < LOOP_END)
        random_chance(&p->random, 25) ? way(p, LOOP_END) : plain(p);
    p->lines[p->count++] = (struct line){INSN_addi, OP(.rd = COUNTER, .rs1 = COUNTER, .imm = 1)};
    p->back = p->count;
    p->lines[p->count] =
        (struct line){INSN_blt, OP(.rs1 = COUNTER, .rs2 = any(p), .imm = 4 * (p->loop - p->count))};
    p->count++;
    while (p->count < END)
        random_chance(&p->random, 25) ? way(p, END) : plain(p);
    p->lines[p->count++] = (struct line){INSN_jalr, OP(.rs1 = 1)};
}

static uint64_t memory(uint64_t address)
{
    return (address * UINT64_C(0x9e3779b97f4a7c15)) >> 61;
}

static uint64_t result(const struct line *line, const uint64_t *x, unsigned thread)
{
    const uint64_t a = x[line->operands.rs1], b = x[line->operands.rs2];
    const int32_t imm = line->operands.imm;
    switch (line->id) {
    case INSN_csrrs:
        return imm == CSR_sthread_x ? thread % LANES : imm == CSR_sblock_x ? thread / LANES : LANES;
    case INSN_add: return a + b;
    case INSN_sub: return a - b;
    case INSN_addi: return a + (uint64_t)(int64_t)imm;
    case INSN_slli: return a << imm;
    case INSN_srli: return a >> imm;
    case INSN_and: return a & b;
    case INSN_mul: return a * b;
    case INSN_xor: return a ^ b;
    case INSN_sltu: return a < b;
    case INSN_sh2add: return b + (a << 2);
    case INSN_addw: return (uint64_t)(int64_t)(int32_t)(uint32_t)(a + b);
    case INSN_sll: return a << (b & 63);
    case INSN_andi: return a & (uint64_t)imm;
    default: return memory(a + (uint64_t)(int64_t)imm);
    }
}

/* Evaluates one thread. */
static void evaluate(const struct program *p, unsigned thread, struct seen *seen)
{
    uint64_t x[32] = {0};
    int round = 0;
    x[ARGUMENT] = 40;
    for (int at = 0; at < p->count && round < ROUNDS;) {
        const struct line *line = &p->lines[at];
        const int place = 64 * (at > p->back ? ROUNDS : round) + at;
        const int64_t a = (int64_t)x[line->operands.rs1], b = (int64_t)x[line->operands.rs2];
        seen->here[place][thread] = true;
        memcpy(seen->values[place][thread], x, sizeof x);
        round += at == p->back;
        if (line->id == INSN_beq || line->id == INSN_blt) {
            at += (line->id == INSN_beq ? a == b : a < b) ? line->operands.imm / 4 : 1;
            round = at > p->back ? 0 : round;
            continue;
        }
        x[line->operands.rd] = result(line, x, thread);
        at++;
    }
}

/* Compares what is said of a register with the threads at a place. Words may overflow, so that steps are those of lower halves. */
static void compare(const struct seen *seen, int place, unsigned reg, enum lanes_kind kind)
{
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned j = i + 1; j < THREADS; j++) {
            const uint64_t a = seen->values[place][i][reg], b = seen->values[place][j][reg];
            const bool together = seen->here[place][i] && seen->here[place][j], warp = i / LANES == j / LANES;
            if (together && (kind == LANES_SAME || (kind == LANES_UNIFORM && warp)))
                assert_int_equal(a, b);
            for (unsigned k = j + 1; kind == LANES_AFFINE && together && k < (i / LANES + 1) * LANES; k++)
                if (seen->here[place][k])
                    assert_int_equal((uint32_t)(b - a) * (k - j),
                                     (uint32_t)(seen->values[place][k][reg] - b) * (j - i));
        }
}

static void threads_agree(void **state)
{
    struct program p = {.random = {11}};
    struct seen *seen = alloc(1, sizeof *seen);
    struct decoder *decoder = decoder_new();
    uint64_t found[4] = {0}, entry = BASE;
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        write_program(&p);
        memset(seen->here, 0, sizeof seen->here);
        for (unsigned thread = 0; thread < THREADS; thread++)
            evaluate(&p, thread, seen);
        struct code code = code_of(p.lines, (size_t)p.count);
        struct cfg cfg = cfg_build(decoder, &(struct reach_code){fetch, &code}, &entry, 1, NULL);
        struct lanes lanes = lanes_of(&cfg, true);
        assert_int_equal(cfg.count, p.count);
        for (int place = 0; place < PLACES; place++)
            for (unsigned reg = ARGUMENT; place % 64 < p.count && reg <= COUNTER; reg++) {
                const enum lanes_kind kind = lanes_kind_of(&lanes.before[place % 64], reg);
                found[kind]++;
                compare(seen, place, reg, kind);
            }
        lanes_free(&lanes);
        cfg_free(&cfg);
    }
    for (unsigned kind = 0; kind < 4; kind++)
        assert_true(found[kind] > (uint64_t)20 * PROGRAMS);
    decoder_free(decoder);
    free(seen);
}

/* A kernel's usual beginning: i = block * size + thread, and its argument's array. */
static void index_of_a_thread(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {INSN_csrrs, OP(.rd = 11, .imm = CSR_sblock_x)},
        {INSN_csrrs, OP(.rd = 12, .imm = CSR_sblockdim_x)},
        {INSN_csrrs, OP(.rd = 13, .imm = CSR_sthread_x)},
        {INSN_mulw, OP(.rd = 14, .rs1 = 11, .rs2 = 12)},
        {INSN_addw, OP(.rd = 14, .rs1 = 14, .rs2 = 13)},
        {INSN_ld, OP(.rd = 15, .rs1 = 10)},
        {INSN_sh2add, OP(.rd = 16, .rs1 = 14, .rs2 = 15)},
        {INSN_lw, OP(.rd = 17, .rs1 = 16)},
        {INSN_amoadd_w, OP(.rd = 18, .rs1 = 15, .rs2 = 12)},
        {INSN_jalr, OP(.rs1 = 1)},
    };
    static const enum lanes_kind kinds[] = {LANES_SAME,   LANES_UNIFORM, LANES_SAME,
                                            LANES_AFFINE, LANES_AFFINE,  LANES_SAME,
                                            LANES_AFFINE, LANES_VARYING, LANES_VARYING};
    struct code code = code_of(lines, sizeof lines / sizeof *lines);
    struct decoder *decoder = decoder_new();
    uint64_t entry = BASE;
    struct cfg cfg = cfg_build(decoder, &(struct reach_code){fetch, &code}, &entry, 1, NULL);
    struct lanes lanes = lanes_of(&cfg, true);
    for (unsigned reg = 10; reg <= 18; reg++)
        assert_int_equal(lanes_kind_of(&lanes.before[9], reg), kinds[reg - 10]);
    lanes_free(&lanes);
    lanes = lanes_of(&cfg, false); /* a function: nothing is known of what its argument points to */
    assert_int_equal(lanes_kind_of(&lanes.before[9], 14), LANES_AFFINE);
    assert_int_equal(lanes_kind_of(&lanes.before[9], 15), LANES_VARYING);
    lanes_free(&lanes);
    cfg_free(&cfg);
    decoder_free(decoder);
}

/* Compares what registers hold before the line `at` of a kernel with `kinds`, which begin with register 10. */
static void holds(const struct line *lines, size_t count, size_t at, const enum lanes_kind *kinds,
                  unsigned registers)
{
    struct code code = code_of(lines, count);
    struct decoder *decoder = decoder_new();
    uint64_t entry = BASE;
    struct cfg cfg = cfg_build(decoder, &(struct reach_code){fetch, &code}, &entry, 1, NULL);
    struct lanes lanes = lanes_of(&cfg, true);
    for (unsigned i = 0; i < registers; i++)
        assert_int_equal(lanes_kind_of(&lanes.before[at], ARGUMENT + i), kinds[i]);
    lanes_free(&lanes);
    cfg_free(&cfg);
    decoder_free(decoder);
}

/* All lanes go the same way where code asks by a bit of tp whether it is on a multiprocessor, although tp is another in each; they part at
 * the same bit of another register, and at another question about tp. */
static void lanes_know_where_they_are(void **state)
{
    (void)state;
    enum { TEST = 2, WAYS = 3, LINES = 7, SHIFT = 41 };
    struct line lines[LINES] = {
        {INSN_csrrs, OP(.rd = 12, .imm = CSR_sthread_x)},
        {INSN_addi, OP(.rd = 10)},
        {INSN_slli, OP(.rd = 11, .rs1 = 4, .imm = SHIFT)},
        {INSN_bge, OP(.rs1 = 11, .imm = 8)},
        {INSN_csrrs, OP(.rd = 10, .imm = CSR_sblockdim_x)},
        {INSN_addi, OP(.rd = 13, .rs1 = 10)},
        {INSN_jalr, OP(.rs1 = 1)},
    };
    static const enum lanes_kind same = LANES_SAME, varying = LANES_VARYING;
    holds(lines, LINES, LINES - 1, &same, 1);
    lines[WAYS].id = INSN_blt;
    holds(lines, LINES, LINES - 1, &same, 1);
    lines[WAYS].id = INSN_bne; /* not the sign */
    holds(lines, LINES, LINES - 1, &varying, 1);
    lines[WAYS] = (struct line){INSN_bge, OP(.rs1 = 11, .rs2 = 12, .imm = 8)}; /* nor beside 0 */
    holds(lines, LINES, LINES - 1, &varying, 1);
    lines[WAYS].operands.rs2 = 0;
    lines[TEST].operands.rs1 = 12;
    holds(lines, LINES, LINES - 1, &varying, 1);
}

/* A function gets what its caller has; behind the call, registers that it may change can be anything, and those that it saves are as before. */
static void calls_change_values(void **state)
{
    (void)state;
    static const struct line lines[] = {
        {INSN_csrrs, OP(.rd = 9, .imm = CSR_sblock_x)},
        {INSN_csrrs, OP(.rd = 10, .imm = CSR_sblockdim_x)},
        {INSN_jal, OP(.rd = 1, .imm = 16)},
        {INSN_addi, OP(.rd = 11, .rs1 = 9)},
        {INSN_addi, OP(.rd = 12, .rs1 = 10)},
        {INSN_jalr, OP(.rs1 = 1)},
        {INSN_addi, OP(.rd = 11, .rs1 = 10)},
        {INSN_addi, OP(.rd = 12, .rs1 = 9)},
        {INSN_jalr, OP(.rs1 = 1)},
    };
    static const enum lanes_kind behind[] = {LANES_VARYING, LANES_UNIFORM, LANES_VARYING},
                                 inside[] = {LANES_SAME, LANES_SAME, LANES_UNIFORM};
    const size_t count = sizeof lines / sizeof *lines;
    holds(lines, count, 5, behind, 3);
    holds(lines, count, 8, inside, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_agree), cmocka_unit_test(index_of_a_thread),
                                       cmocka_unit_test(lanes_know_where_they_are),
                                       cmocka_unit_test(calls_change_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
