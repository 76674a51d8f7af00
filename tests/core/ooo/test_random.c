/* Random programs on out-of-order cores of all sizes: they end, retire in order, account for every cycle, and run the
 * same every time. The calendar of ports against a plain array. */
#include <stdio.h>

#include "emu/sim/mix.h"
#include "tests/core/ooo/test_ooo.h"
#include "tests/isa/random.h"

enum { PROGRAMS = 60, LENGTH = 120, CONFIGS = 4 };

/* Registers: 5 to 12 data, 20 and 21 bases, 13 an address that is loaded or computed late, 31 the loop counter. */
static void random_memory(struct rig *rig, uint64_t *seed)
{
    static const enum insn_id loads[] = {INSN_ld, INSN_lw, INSN_lhu, INSN_lb};
    static const enum insn_id stores[] = {INSN_sd, INSN_sw, INSN_sh, INSN_sb};
    uint64_t r = random_shift(seed);
    uint8_t base = r % 4 == 0 ? 13 : (uint8_t)(20 + r % 2), data = (uint8_t)(5 + (r >> 8) % 8);
    int32_t offset = (int32_t)((r >> 16) % (r % 3 ? 64 : 2000));
    if (r >> 40 & 1)
        rig_emit(rig, loads[r >> 50 & 3], (struct operands){.rd = data, .rs1 = base, .imm = offset});
    else
        rig_emit(rig, stores[r >> 50 & 3], (struct operands){.rs1 = base, .rs2 = data, .imm = offset});
}

static void random_instruction(struct rig *rig, uint64_t *seed)
{
    static const enum insn_id plain[] = {INSN_add, INSN_xor, INSN_sltu, INSN_mul, INSN_mulw, INSN_divw};
    uint64_t r = random_shift(seed);
    uint8_t rd = (uint8_t)(5 + r % 8), rs1 = (uint8_t)(5 + (r >> 8) % 8), rs2 = (uint8_t)(5 + (r >> 16) % 8);
    switch (r >> 32 & 31) {
    case 0: RIG_EMIT(rig, csrrs, .rd = rd, .rs1 = 0, .imm = 3); break;
    case 1: RIG_EMIT(rig, fence, .imm = 0xff); break;
    case 2: RIG_EMIT(rig, amoadd_d, .rd = rd, .rs1 = 20, .rs2 = rs2); break;
    case 3: /* a late address within the data: 20 plus 8 low bits of a register; a branch may skip the first
             */
        RIG_EMIT(rig, addi, 0);
        RIG_EMIT(rig, andi, .rd = 13, .rs1 = rs1, .imm = 255);
        RIG_EMIT(rig, mulw, .rd = 14, .rs1 = rs2, .rs2 = 0);
        RIG_EMIT(rig, add, .rd = 13, .rs1 = 13, .rs2 = 14);
        RIG_EMIT(rig, add, .rd = 13, .rs1 = 13, .rs2 = 20);
        break;
    case 4: RIG_EMIT(rig, addi, .rd = 21, .rs1 = 21, .imm = 192); break;
    case 5: rig_branch(rig, INSN_blt, rs1, rs2, rig->at + 8); break;
    case 6: RIG_EMIT(rig, fadd_d, .rd = rd, .rs1 = rs1, .rs2 = rs2); break;
    case 7: RIG_EMIT(rig, fdiv_d, .rd = rd, .rs1 = rs1, .rs2 = rs2); break;
    default:
        if (r >> 32 & 1)
            random_memory(rig, seed);
        else
            rig_emit(rig, plain[(r >> 40) % 6], (struct operands){.rd = rd, .rs1 = rs1, .rs2 = rs2});
    }
}

static void random_program(struct rig *rig, uint64_t seed)
{
    seed = seed * MIX_FACTOR + 1;
    rig_set(rig, 31, 12);
    rig_set(rig, 20, RIG_BASE + 0x10000);
    rig_set(rig, 21, RIG_FAR);
    rig_set(rig, 13, RIG_BASE + 0x10008);
    for (uint8_t i = 0; i < 8; i++)
        RIG_EMIT(rig, addi, .rd = (uint8_t)(5 + i), .imm = (int32_t)(random_shift(&seed) % 2000));
    uint64_t top = rig->at;
    for (unsigned i = 0; i < LENGTH; i++)
        random_instruction(rig, &seed);
    RIG_EMIT(rig, addi, 0);
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
}

static struct core_config random_config(unsigned size, struct rig_options *options)
{
    struct core_config config = defaults();
    *options = rig_options_default();
    if (size == 0)
        return config;
    config.rob = size == 1 ? 16 : 40;
    config.fetch_queue = 8;
    config.iq = size == 1 ? 1 : 6;
    config.load_queue = size == 1 ? 1 : 3;
    config.store_queue = size == 1 ? 1 : 3;
    config.int_renames = size == 1 ? 1 : 9;
    config.fp_renames = 1;
    config.decode_width = size == 1 ? 1 : 4;
    config.retire_width = size == 1 ? 1 : 2;
    config.fetch_bytes = size == 1 ? 4 : 32;
    config.speculate = size != 3;
    options->cold = true;
    options->l1d.size = 1024;
    options->l1d.mshrs = size == 3 ? 4 : 1;
    options->l1d.mshr_targets = size == 3 ? 2 : 1;
    options->l1d.write_buffer = 1;
    options->l1i.size = 1024;
    options->l1i.mshrs = 1;
    return config;
}

struct outcome {
    uint64_t cycles;
    struct ooo_counts count;
    uint64_t cpi[CPI_CAUSES];
};

static struct outcome run_random(unsigned size, uint64_t seed, bool observe)
{
    struct rig_options options;
    struct core_config config = random_config(size, &options);
    struct rig *rig = rig_new(&options);
    struct outcome outcome;
    random_program(rig, seed);
    rig->core = make(rig, &config);
    if (observe)
        rig_observe(rig);
    struct ooo *o = run_program(rig, NULL, &outcome.cycles);
    assert_int_equal(o->count.instructions, rig->hart.instret);
    assert_true(rig->hart.instret > 12 * LENGTH);
    assert_int_equal(o->head, o->tail);
    assert_int_equal(o->freed, o->stores);
    assert_int_equal(o->queue.pending, 0);
    if (observe)
        assert_int_equal(rig->notes, rig->hart.instret);
    for (unsigned cause = 0; observe && cause < CPI_CAUSES; cause++) /* base is not a stall */
        assert_int_equal(rig->stalled[cause], cause == CPI_base ? 0 : o->core.cpi[cause]);
    assert_true(outcome.cycles * o->full_width >= rig->hart.instret);
    outcome.count = o->count;
    memcpy(outcome.cpi, o->core.cpi, sizeof outcome.cpi);
    rig_free(rig);
    return outcome;
}

/* The rig checks that cycles and CPI stacks add up exactly. */
static void random_programs(void **state)
{
    (void)state;
    struct ooo_counts sum = {0};
    for (unsigned size = 0; size < CONFIGS; size++)
        for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
            struct outcome first = run_random(size, seed, true), second = run_random(size, seed, false);
            assert_memory_equal(&first, &second, sizeof first);
            sum.forwarded += first.count.forwarded;
            sum.partial += first.count.partial;
            sum.violations += first.count.violations;
            sum.waited += first.count.waited;
            sum.fetch_wrong_lines += first.count.fetch_wrong_lines;
            sum.load_queue_full += first.count.load_queue_full;
            sum.store_queue_full += first.count.store_queue_full;
            sum.issue_queue_full += first.count.issue_queue_full;
            sum.renames_full += first.count.renames_full;
        }
    /* Check that every mechanism was exercised. */
    assert_true(sum.forwarded && sum.partial && sum.violations && sum.waited && sum.fetch_wrong_lines);
    assert_true(sum.load_queue_full && sum.store_queue_full && sum.issue_queue_full && sum.renames_full);
}

/* The reference: one byte for each cycle and port, and one for its unit. */
static void ports_agree(void **state)
{
    (void)state;
    enum { CYCLES = 20000 }; /* unpipelined kinds queue up */
    static const struct {
        unsigned set, interval;
    } kinds[] = {{PORT_ALU, 1}, {PORT_MULTI, 1}, {PORT_MULTI, 5}, {PORT_FP, 3}, {PORT_ALU | PORT_MULTI, 1}};
    static bool busy[PORTS][CYCLES], unit[PORTS][CYCLES];
    static struct ports ports;
    uint64_t seed = 99;
    ports_init(&ports);
    for (unsigned i = 0; i < 9000; i++) {
        uint64_t r = random_shift(&seed), kind = r % 5, ready = 1 + i / 3 + (r >> 8) % 400, best = UINT64_MAX;
        unsigned chosen = 0;
        for (unsigned port = 0; port < PORTS; port++)
            for (uint64_t at = ready; kinds[kind].set >> port & 1 && at < best; at++) {
                bool taken = busy[port][at];
                for (unsigned k = 0; kinds[kind].interval > 1 && k < kinds[kind].interval; k++)
                    taken |= unit[port][at + k];
                if (!taken) {
                    best = at;
                    chosen = port;
                }
            }
        busy[chosen][best] = true;
        for (unsigned k = 0; kinds[kind].interval > 1 && k < kinds[kind].interval; k++)
            unit[chosen][best + k] = true;
        struct ports_use use;
        ports_use_init(&use, kinds[kind].set, kinds[kind].interval);
        assert_int_equal(ports_take(&ports, &use, ready), best);
    }
}

/* Far ahead of the window, and before it. */
static void ports_window(void **state)
{
    (void)state;
    static struct ports ports;
    struct ports_use use;
    ports_init(&ports);
    ports_use_init(&use, PORT_LOAD, 1);
    assert_int_equal(ports_take(&ports, &use, 1000000), 1000000);
    assert_int_equal(ports_take(&ports, &use, 1000000), 1000001);
    assert_int_equal(ports_take(&ports, &use, 1000000 - PORTS_WINDOW - 64), 1000000 - PORTS_WINDOW - 64);
    assert_int_equal(ports_take(&ports, &use, 999999), 999999);
    assert_int_equal(ports_take(&ports, &use, 999999), 1000002);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_agree),
        cmocka_unit_test(ports_window),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
