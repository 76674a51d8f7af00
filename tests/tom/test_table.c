/* The table of blocks against code: which entries are taken, and why others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/tom/table.h"

enum { BASE = 0x1000, WORDS = 16 };

/* Instructions, as GNU as encodes them. */
enum {
    LD_A3_A5 = 0x0007b683,     /* ld a3,0(a5) */
    ADD_A0_A0_A3 = 0x00d50533, /* add a0,a0,a3 */
    ADDI_A5 = 0x00878793,      /* addi a5,a5,8 */
    BNE_BACK = 0xfee79ae3,     /* bne a5,a4,.-12 */
    BEQ_ON = 0x00e78463,       /* beq a5,a4,.+8 */
    LD_A5_A5 = 0x0007b783,     /* ld a5,0(a5) */
    MV_T0_A1 = 0x00058293,     /* mv t0,a1 */
    ADD_A0_T0 = 0x00550533,    /* add a0,a0,t0 */
    RET = 0x00008067,          /* ret */
    FENCE = 0x0ff0000f,        /* fence */
    SLANE = 0xccc02573,        /* csrr a0,slane */
    CYCLE = 0xc0002573,        /* csrr a0,cycle */
    AMO = 0x00e7a52f,          /* amoadd.w a0,a4,(a5) */
    A0 = 10,
    A1 = 11,
    A3 = 13,
    A4 = 14,
    A5 = 15,
};

static uint64_t set_of(unsigned a, unsigned b, unsigned c)
{
    return UINT64_C(1) << a | UINT64_C(1) << b | UINT64_C(1) << c;
}

struct program {
    uint32_t words[WORDS];
    char message[400];
    unsigned refused;
};

static bool fetch(void *context, uint64_t pc, uint32_t *bits)
{
    const struct program *program = context;
    if (pc < BASE || pc >= BASE + 4 * WORDS || !program->words[(pc - BASE) / 4])
        return false;
    *bits = program->words[(pc - BASE) / 4];
    return true;
}

static void refuse(void *context, const char *message)
{
    struct program *program = context;
    program->refused++;
    (void)snprintf(program->message, sizeof program->message, "%s", message);
}

/* Loads a table of one entry, from the first instruction to number `end`. Returns the number of entries taken. */
static unsigned load(struct tom_table *table, struct program *program, unsigned end, uint64_t in)
{
    const struct candidate_entry entry = {
        .begin = BASE, .end = BASE + 4 * end, .in = in, .out = UINT64_C(1) << A0};
    const struct reach_code code = {fetch, program};
    struct decoder *decoder = decoder_new();
    tom_table_init(table);
    assert_true(tom_table_near(table, BASE + 2));
    tom_table_load(table, &entry, 1, decoder, &code, refuse, program);
    decoder_free(decoder);
    assert_int_equal(table->count + program->refused, 1);
    return table->count;
}

static void a_loop_is_taken(void **state)
{
    (void)state;
    struct tom_table table;
    struct program program = {.words = {LD_A3_A5, ADD_A0_A0_A3, ADDI_A5, BNE_BACK, RET}};
    assert_int_equal(load(&table, &program, 4, set_of(A0, A4, A5)), 1);
    assert_int_equal(table.entries[0].in, 3);
    assert_int_equal(table.entries[0].out, 1);
    assert_int_equal(table.entries[0].registers, 2 * 4); /* a0, a3, a4, a5 */
    assert_int_equal(table.entries[0].instructions, 4);
    assert_int_equal(table.entries[0].accesses, 1);
    assert_int_equal(table.entries[0].lowest, BASE);
    assert_int_equal(table.entries[0].highest, BASE + 12);
    assert_true(tom_table_near(&table, BASE));
    assert_true(tom_table_near(&table, BASE + 16));
    assert_false(tom_table_near(&table, BASE + 4));
    assert_ptr_equal(tom_table_find(&table, BASE), &table.entries[0]);
    assert_null(tom_table_find(&table, BASE + 16));
}

static void is_refused(const uint32_t words[WORDS], unsigned end, uint64_t in, const char *why)
{
    struct tom_table table;
    struct program program = {.refused = 0};
    memcpy(program.words, words, sizeof program.words);
    assert_int_equal(load(&table, &program, end, in), 0);
    if (!strstr(program.message, why))
        fail_msg("%s: %s", why, program.message);
    assert_non_null(strstr(program.message, "entry 0 of .tom.candidates is not offloaded: "));
    assert_false(tom_table_near(&table, BASE));
}

static void others_are_refused(void **state)
{
    (void)state;
    const uint64_t in = set_of(A0, A4, A5);
    static const char forbidden[] = "is an instruction that no block may have";
    is_refused((uint32_t[WORDS]){LD_A3_A5, ADD_A0_A0_A3, ADDI_A5, BNE_BACK, RET}, 4, set_of(A0, A4, A4),
               "0x1000 reads a register that the entry does not send");
    is_refused((uint32_t[WORDS]){LD_A3_A5, RET}, 4, in, "0x1004 is a call, a return or an indirect jump");
    is_refused((uint32_t[WORDS]){LD_A3_A5, ADDI_A5}, 4, in, "0x1008 is not code");
    is_refused((uint32_t[WORDS]){LD_A3_A5, FENCE, RET}, 2, in, forbidden);
    is_refused((uint32_t[WORDS]){LD_A3_A5, AMO, RET}, 2, in, forbidden);
    is_refused((uint32_t[WORDS]){LD_A3_A5, CYCLE, RET}, 2, in, forbidden);
    is_refused((uint32_t[WORDS]){0xffffffff, RET}, 1, in, "0x1000 is no instruction");
    is_refused((uint32_t[WORDS]){LD_A3_A5, 0x0000006f, RET}, 2, in,
               "0x1008 is not where the block ends"); /* j . */
}

/* A register that is written on one path only has to be sent; one that all paths write has not. */
static void registers_of_paths(void **state)
{
    (void)state;
    struct tom_table table;
    const uint32_t one[WORDS] = {BEQ_ON, MV_T0_A1, ADD_A0_T0, RET};
    const uint64_t in = set_of(A0, A4, A5) | UINT64_C(1) << A1;
    struct program program = {.refused = 0};
    is_refused(one, 3, in, "0x1008 reads a register that the entry does not send");
    memcpy(program.words, one, sizeof one);
    assert_int_equal(load(&table, &program, 3, in | UINT64_C(1) << 5), 1);
    memcpy(program.words, (uint32_t[]){MV_T0_A1, BEQ_ON, SLANE, ADD_A0_T0, RET}, 5 * sizeof(uint32_t));
    assert_int_equal(load(&table, &program, 4, in), 1);
}

/* Returns how many loads are passed by of ld a5,0(a5); then, in a loop, ld a3,0(a5), add a0,a0,a3 and a step, if the registers of
 * `same` have one value in all threads. */
static unsigned passed_of(uint32_t same, uint32_t step)
{
    struct tom_table table;
    struct program program = {.words = {LD_A5_A5, LD_A3_A5, ADD_A0_A0_A3, step, BNE_BACK, RET}};
    const struct candidate_entry entry = {
        .begin = BASE, .end = BASE + 20, .in = set_of(A0, A4, A5), .out = UINT64_C(1) << A0, .same = same};
    const struct reach_code code = {fetch, &program};
    struct decoder *decoder = decoder_new();
    tom_table_init(&table);
    tom_table_load(&table, &entry, 1, decoder, &code, refuse, &program);
    decoder_free(decoder);
    const struct tom_entry *taken = &table.entries[0];
    assert_int_equal(table.count, 1);
    assert_int_equal(tom_entry_passes(taken, BASE), taken->passed_count > 0);
    assert_int_equal(tom_entry_passes(taken, BASE + 4), taken->passed_count > 1);
    assert_false(tom_entry_passes(taken, BASE + 8));
    return taken->passed_count;
}

/* Loads at an address that is one for all threads are known, also through what such loads load; in a loop, only if it is so in all
 * rounds. */
static void loads_at_one_address(void **state)
{
    (void)state;
    const uint32_t a5 = UINT32_C(1) << A5, add_a5_a3 = 0x00d787b3, add_a5_a4 = 0x00e787b3;
    assert_int_equal(passed_of(0, ADDI_A5), 0);
    assert_int_equal(passed_of(a5, ADDI_A5), 2);
    assert_int_equal(passed_of(a5, add_a5_a3), 2);
    assert_int_equal(passed_of(a5, add_a5_a4), 1);
    assert_int_equal(passed_of(a5 | UINT32_C(1) << A4, add_a5_a4), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_is_taken),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(registers_of_paths),
        cmocka_unit_test(loads_at_one_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
