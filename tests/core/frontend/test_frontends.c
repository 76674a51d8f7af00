/* The front ends of both kinds of cores: the cost of a missed line, and the accesses that observers of the instruction
 * cache see: pcs of instructions, and no wrong paths. */
#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "tests/core/rig.h"

enum { KINDS = 2, LINES = 16, LONG = 48 };

struct told {
    struct cache_observer observer;
    unsigned fills, accesses;
    uint64_t filled[LINES], pcs[LINES], lines[LINES];
};

static void on_access(void *context, const struct cache *cache, uint64_t line, bool store,
                      const struct cache_actor *actor, uint64_t now)
{
    struct told *told = context;
    (void)cache;
    (void)now;
    assert_true(!store && actor->fetch && told->accesses < LINES);
    told->pcs[told->accesses] = actor->pc;
    told->lines[told->accesses++] = line;
}

static void on_fill(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                    unsigned level)
{
    struct told *told = context;
    (void)cache;
    (void)asked;
    (void)now;
    (void)level;
    assert_true(told->fills < LINES);
    told->filled[told->fills++] = line;
}

/* context: the kind */
static struct core *make(struct rig *rig, const void *context)
{
    struct core_parts parts = rig_parts(rig);
    struct core_config inorder;
    struct core_config ooo;
    struct error err;
    core_config_default(&inorder, CORE_INORDER);
    core_config_default(&ooo, CORE_OOO);
    bool first = *(const unsigned *)context == 0;
    struct core *core = first ? inorder_new(&inorder, &parts, &err) : ooo_new(&ooo, &parts, &err);
    assert_non_null(core);
    return core;
}

static struct rig *machine(unsigned kind, struct told *told)
{
    struct rig_options options = rig_options_default();
    options.cold = true;
    struct rig *rig = rig_new(&options);
    *told = (struct told){.fills = 0};
    told->observer = (struct cache_observer){.access = on_access, .fill = on_fill, .context = told};
    cache_observe(rig->l1i, &told->observer);
    rig->core = make(rig, &kind);
    return rig;
}

static void long_body(struct rig *rig)
{
    for (unsigned i = 0; i < LONG * 16 - 2; i++)
        RIG_EMIT(rig, addi, .rd = (uint8_t)(5 + i % 8), .imm = 1);
}

/* A loop over LONG lines, more than the cache holds. A line requested at 0 is looked up until 2 and arrives at 2 + 20;
 * from then on its 4 blocks leave, and the next line is requested at 24. The end of the loop costs a few more
 * cycles. */
static void lines_that_miss(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct rig_options options = rig_options_default();
        options.l1i.size = 1024;
        struct rig_loop loop = {
            .body = long_body, .make = make, .context = &kind, .options = &options, .iterations = 8};
        uint64_t cycles = rig_loop(&loop, NULL);
        assert_in_range(cycles, 8 * LONG * 24, 8 * (LONG * 24 + 16));
    }
}

/* A compressed instruction at 60, and a 4-byte one at 62 that ends in the next line; a trap follows. */
static void pcs_are_those_of_instructions(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct told told;
        struct rig *rig = machine(kind, &told);
        const uint16_t nop = 1;
        for (unsigned i = 0; i < 15; i++)
            RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
        memcpy(phys_at(&rig->memory, rig->at, 2), &nop, 2);
        rig->at += 2;
        RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
        RIG_EMIT(rig, ecall, 0);
        (void)rig_run(rig);
        assert_int_equal(rig->hart.x[5], 16);
        assert_true(told.accesses >= 2);
        assert_int_equal(told.pcs[0], RIG_BASE);
        assert_int_equal(told.lines[1], RIG_BASE + 64);
        assert_int_equal(told.pcs[1], RIG_BASE + 62);
        rig_free(rig);
    }
}

/* A new predictor predicts the branch as not taken, so the line after it is filled without an access. The branch waits
 * for a load, which leaves time for the fill. */
static void wrong_paths_only_fill(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct told told;
        struct rig *rig = machine(kind, &told);
        rig_set(rig, 20, RIG_FAR);
        while (rig->at % 64 != 60 - 4)
            RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
        uint64_t behind = rig->at + 8;
        RIG_EMIT(rig, ld, .rd = 6, .rs1 = 20);
        rig_branch(rig, INSN_beq, 6, 0, RIG_BASE + 512);
        RIG_EMIT(rig, addi, .rd = 7, .imm = 1);
        rig->at = RIG_BASE + 512;
        RIG_EMIT(rig, ecall, 0);
        (void)rig_run(rig);
        assert_int_equal(rig->hart.x[7], 0);
        bool filled = false;
        for (unsigned i = 0; i < told.fills; i++)
            filled |= told.filled[i] == behind;
        assert_true(filled);
        for (unsigned i = 0; i < told.accesses; i++)
            assert_int_not_equal(told.lines[i], behind);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_miss),
        cmocka_unit_test(pcs_are_those_of_instructions),
        cmocka_unit_test(wrong_paths_only_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
