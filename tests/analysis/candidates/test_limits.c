/* What no block may contain: instructions, accesses of the scratchpad, other entries, too many instructions. */
#include "isa/csr.h"
#include "tests/analysis/candidates/rig.h"

/* What no block may contain: an atomic, a fence, a barrier, a call, a jump by a register, the clock, the scratchpad. The same
 * loop with `addi` in its place is a candidate. */
static void limits_hold(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const struct {
        enum insn_id id;
        struct operands operands;
        size_t count;
    } cases[] = {
        {INSN_addi, {.rd = T3}, 1},
        {INSN_csrrs, {.rd = T3, .imm = CSR_sthread_x}, 1},
        {INSN_amoadd_w, {.rd = T3, .rs1 = 11, .rs2 = 12}, 0},
        {INSN_lr_w, {.rd = T3, .rs1 = 11}, 0},
        {INSN_fence, {.rd = 0}, 0},
        {INSN_csrrw, {.imm = 0x8c0}, 0},
        {INSN_csrrs, {.rd = T3, .imm = CSR_cycle}, 0},
        {INSN_csrrs, {.rd = T3, .imm = CSR_smp}, 0},
        {INSN_csrrs, {.rd = 11, .imm = CSR_sshared}, 0},
        {INSN_jalr, {.rd = RA, .rs1 = T3}, 0},
        {INSN_ecall, {.rd = 0}, 0},
        {INSN_slt, {.rs1 = 11, .rs2 = 12}, 0},
        {INSN_cbo_clean, {.rs1 = 11}, 0},
        {INSN_cbo_zero, {.rs1 = 11}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_addi, OP(.rd = A0));
        uint64_t loop = rig.code.at;
        row(&rig, INSN_lw, OP(.rd = 14, .rs1 = 11));
        row(&rig, cases[i].id, cases[i].operands);
        row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 14));
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
        row(&rig, INSN_bne, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
        row(&rig, INSN_addi, OP(.rd = 11));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, cases[i].count);
        for (size_t j = 0; j < found.count; j++)
            assert_int_equal(found.list[j].reg_tx, 2 + i); /* the coordinate is sent, too */
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* An access through what was computed from the scratchpad's address is none that a block may contain; one through a pointer
 * that was loaded from the scratchpad, or computed from a coordinate, is. */
static void scratchpad_stays(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned kind = 0; kind < 3; kind++) {
        const bool loaded = kind == 1;
        rig.code.at = CODE_BASE;
        row(&rig, INSN_csrrs, OP(.rd = 14, .imm = kind == 2 ? CSR_sthread_x : CSR_sshared));
        row(&rig, INSN_slli, OP(.rd = 15, .rs1 = 15, .imm = 2));
        row(&rig, INSN_add, OP(.rd = 11, .rs1 = 15, .rs2 = 14));
        row(&rig, loaded ? INSN_ld : INSN_addi, OP(.rd = 11, .rs1 = 11));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 11, 12, 8);
        write_end(&rig);
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, kind > 0);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A branch takes the scratchpad's address past an instruction that overwrites the register. */
static void scratchpads_address_takes_branches(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned scratch = 0; scratch < 2; scratch++) {
        rig.code.at = CODE_BASE;
        if (scratch)
            row(&rig, INSN_csrrs, OP(.rd = 14, .imm = CSR_sshared));
        row(&rig, INSN_beq, OP(.rs1 = 12, .rs2 = 13, .imm = 8));
        row(&rig, INSN_addi, OP(.rd = 14, .rs1 = 11));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 14, 12, 8);
        write_end(&rig);
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, !scratch);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A loop takes the scratchpad's address to its beginning. */
static void scratchpads_address_takes_loops(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig);
    for (unsigned scratch = 0; scratch < 2; scratch++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_csrrs, OP(.rd = 14, .imm = scratch ? CSR_sshared : CSR_sthread_x));
        const uint64_t loop = rig.code.at;
        row(&rig, INSN_addi, OP(.rd = 15, .rs1 = 15, .imm = 4));
        write_words(&rig, 11, 12, 8);
        row(&rig, INSN_addi, OP(.rd = 11, .rs1 = 14));
        row(&rig, INSN_bne, OP(.rs1 = 15, .rs2 = 13, .imm = (int32_t)(loop - rig.code.at)));
        row(&rig, INSN_jalr, OP(.rs1 = RA));
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, !scratch);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Accesses through a pointer: one that was loaded (8 bytes), one that was computed of what was loaded, a word, one that the function
 * got. Those of the first two are in no block if loaded pointers are not trusted. */
static void loaded_pointers_are_trusted_or_not(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned kind = 0; kind < 4; kind++) {
        rig.code.at = CODE_BASE;
        row(&rig, kind == 2 ? INSN_lw : kind == 3 ? INSN_addi : INSN_ld, OP(.rd = 11, .rs1 = 11));
        if (kind == 1)
            row(&rig, INSN_add, OP(.rd = 11, .rs1 = 11, .rs2 = 15));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 11, 12, 8);
        write_end(&rig);
        for (unsigned trusted = 0; trusted < 2; trusted++) {
            struct candidates found = find(&rig, trusted ? &paper : &wary, 40);
            assert_int_equal(found.count, trusted || kind >= 2);
            candidates_free(&found);
        }
    }
    rig_free(&rig);
}

/* Eight stores, and code in front of them that can jump behind the first: that one begins no block, the seven others are one. */
static void blocks_have_one_entry(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned jumps = 0; jumps < 2; jumps++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, INSN_beq, OP(.rs1 = 15, .imm = 12));
        row(&rig, INSN_fence, OP(.rd = 0));
        row(&rig, INSN_jal, OP(.imm = jumps ? 12 : 8));
        row(&rig, INSN_fence, OP(.rd = 0));
        uint64_t first = rig.code.at;
        write_words(&rig, 11, 12, 8);
        write_end(&rig);
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.list[0].begin, jumps ? first + 4 : first);
        assert_true(found.list[0].stores == (jumps ? 7 : 8));
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A basic block before its branch is one up to 1024 instructions. */
static void large_blocks(void **state)
{
    enum { MOST = 1024, STORES = 8 };
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int count = MOST; count <= MOST + 1; count++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 11, 12, STORES);
        for (int i = STORES; i < count; i++)
            row(&rig, INSN_addi, OP(.rd = 12, .rs1 = 12, .imm = 1));
        row(&rig, INSN_beq, OP(.rs1 = 12, .rs2 = 13, .imm = 8));
        row(&rig, INSN_fence, OP(.rd = 0));
        write_end(&rig);
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, count == MOST);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* Blocks of several basic blocks have at most 1024 instructions, too. */
static void large_blocks_with_branches(void **state)
{
    enum { MOST = 1024, STORES = 8, OTHERS = STORES + 2 };
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int more = 0; more < 2; more++) {
        rig.code.at = CODE_BASE;
        write_words(&rig, 11, 12, STORES);
        for (int i = 0; i < MOST + more - OTHERS; i++) {
            if (i == MOST / 2)
                row(&rig, INSN_beq, OP(.rs1 = 11, .rs2 = 12, .imm = 8));
            row(&rig, INSN_addi, OP(.rd = 13, .rs1 = 11, .imm = 1));
        }
        row(&rig, INSN_sw, OP(.rs1 = 11, .rs2 = 12, .imm = 64));
        write_end(&rig);
        struct candidates found = find(&rig, &paper, 40);
        bool whole = false;
        for (size_t i = 0; i < found.count; i++)
            whole |= found.list[i].insns >= MOST;
        assert_int_equal(whole, !more);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A coordinate is read by a CSR instruction that writes nothing; smp, which differs between executions of the same thread, and what lies
 * beside the coordinates, is none. */
static void coordinates_are_read_only(void **state)
{
    static const struct {
        enum insn_id id;
        uint8_t rs1;
        uint16_t csr;
        size_t count;
    } cases[] = {
        {INSN_csrrs, 0, CSR_sthread_x, 1},    {INSN_csrrc, 0, CSR_sthread_x, 1},
        {INSN_csrrs, 12, CSR_sthread_x, 0},   {INSN_csrrc, 12, CSR_sthread_x, 0},
        {INSN_csrrw, 0, CSR_sthread_x, 0},    {INSN_csrrs, 0, CSR_sthread_x - 1, 0},
        {INSN_csrrs, 0, CSR_sthread_id, 1},   {INSN_csrrs, 0, CSR_smp, 0},
        {INSN_csrrs, 0, CSR_sshared_size, 0}, {INSN_csrrs, 0, CSR_sthread_x + 1, 1},
    };
    struct rig rig;
    (void)state;
    rig_init(&rig);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_fence, OP(.rd = 0));
        write_words(&rig, 12, 0, 4);
        row(&rig, cases[i].id, OP(.rd = T3, .rs1 = cases[i].rs1, .imm = cases[i].csr));
        row(&rig, INSN_sw, OP(.rs1 = 12, .rs2 = T3));
        write_end(&rig);
        struct candidates found = find(&rig, &paper, 40);
        assert_int_equal(found.count, 1); /* without the CSR, the four stores in front of it */
        assert_true(found.list[0].stores == (cases[i].count ? 5 : 4));
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* A jump by a register takes the scratchpad's address to all that follows it in its function, and from there back to what lies in front
 * of it; but not to the function behind. */
static void scratchpads_address_takes_jumps(void **state)
{
    enum { BACK, NEXT, KINDS };
    /* Registers cost nothing: each store is a block. */
    const struct candidate_model free_registers = {.line_ratio = 16, .coalesced = 1, .load_misses = 1};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    for (unsigned scratch = 0; scratch < 2; scratch++)
        for (unsigned kind = 0; kind < KINDS; kind++) {
            const int32_t csr = scratch ? CSR_sshared : CSR_sthread_x;
            rig.code.at = CODE_BASE;
            row(&rig, INSN_jal, OP(.rd = kind == NEXT ? RA : 0, .imm = kind == NEXT ? 16 : 20));
            if (kind == BACK) {
                row(&rig, INSN_fence, OP(.rd = 0));
                row(&rig, INSN_sw, OP(.rs1 = 14));
                write_end(&rig);
                row(&rig, INSN_csrrs, OP(.rd = 14, .imm = csr));
                row(&rig, INSN_beq, OP(.rs1 = 15, .imm = 12));
                row(&rig, INSN_beq, OP(.rs1 = 16, .imm = -24));
                row(&rig, INSN_jalr, OP(.rs1 = A0));
                row(&rig, INSN_jalr, OP(.rs1 = RA));
            } else {
                row(&rig, INSN_csrrs, OP(.rd = 14, .imm = csr));
                row(&rig, INSN_jalr, OP(.rs1 = A0));
                row(&rig, INSN_jalr, OP(.rs1 = RA));
                row(&rig, INSN_sw, OP(.rs1 = 14));
                row(&rig, INSN_jalr, OP(.rs1 = RA));
            }
            struct candidates found = find(&rig, &free_registers, 40);
            assert_int_equal(found.count, kind == NEXT || !scratch);
            candidates_free(&found);
        }
    rig_free(&rig);
}

/* The scratchpad's address takes a jump by a register over an instruction that overwrites it. */
static void scratchpads_address_takes_switches(void **state)
{
    const struct candidate_model free_registers = {.line_ratio = 16, .coalesced = 1, .load_misses = 1};
    struct rig rig;
    (void)state;
    rig_init(&rig);
    for (unsigned scratch = 0; scratch < 2; scratch++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_csrrs, OP(.rd = 14, .imm = scratch ? CSR_sshared : CSR_sthread_x));
        row(&rig, INSN_jalr, OP(.rs1 = A0));
        row(&rig, INSN_addi, OP(.rd = 14, .rs1 = 11));
        row(&rig, INSN_sw, OP(.rs1 = 14));
        write_end(&rig);
        struct candidates found = find(&rig, &free_registers, 40);
        assert_int_equal(found.count, !scratch);
        candidates_free(&found);
    }
    rig_free(&rig);
}

/* The scratchpad's address may be added to, but nothing may be loaded through it. */
static void scratchpads_address_is_a_number(void **state)
{
    struct candidate_model kernels = paper;
    struct rig rig;
    (void)state;
    rig_init(&rig);
    kernels.kernels = true;
    for (unsigned loads = 0; loads < 2; loads++) {
        rig.code.at = CODE_BASE;
        row(&rig, INSN_csrrs, OP(.rd = 14, .imm = CSR_sshared));
        row(&rig, INSN_add, OP(.rd = 15, .rs1 = 14, .rs2 = 12));
        for (int i = 0; i < 8; i++)
            row(&rig, loads ? INSN_lw : INSN_sw,
                OP(.rd = loads ? 16 : 0, .rs1 = loads ? 15 : 11, .rs2 = loads ? 0 : 15, .imm = 4 * i));
        write_end(&rig);
        struct candidates found = find(&rig, &kernels, 40);
        assert_int_equal(found.count, !loads);
        candidates_free(&found);
    }
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(scratchpad_stays),
        cmocka_unit_test(scratchpads_address_takes_branches),
        cmocka_unit_test(scratchpads_address_takes_loops),
        cmocka_unit_test(loaded_pointers_are_trusted_or_not),
        cmocka_unit_test(blocks_have_one_entry),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(large_blocks_with_branches),
        cmocka_unit_test(coordinates_are_read_only),
        cmocka_unit_test(scratchpads_address_takes_jumps),
        cmocka_unit_test(scratchpads_address_takes_switches),
        cmocka_unit_test(scratchpads_address_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
