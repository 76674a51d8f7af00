/* Random programs with tasks, on cores of all sizes, with squashes and stops at random times: they end, each
 * instruction retires once and in order, all cycles are accounted for, and every run is the same. */
#include "emu/hart/priv.h"
#include "emu/hart/probe.h"
#include "emu/sim/mix.h"
#include "tests/core/fake_ahead.h"
#include "tests/core/ooo/test_ooo.h"
#include "tests/isa/random.h"

#define NEAR (RIG_BASE + 0x10000)

enum { PROGRAMS = 150, LENGTH = 150, EVENTS = 12, CONFIGS = 4 };

struct scene {
    struct rig *rig;
    struct fake *fake;
    uint64_t seed, retired;
    unsigned squashes;
    struct event events[EVENTS];
};

static void note(void *context, const struct core *core, const struct core_note *told)
{
    struct scene *s = context;
    (void)core;
    assert_int_equal(told->number, s->rig->notes++);
    assert_true(told->fetch <= told->dispatch && told->dispatch <= told->issue);
    assert_true(told->issue < told->complete && told->complete <= told->retire);
    assert_true(told->retire >= s->retired);
    s->retired = told->retire;
}

/* Registers: 5 to 9 data; 10 a base that tasks return; 22 and 23 bases. In `apart` programs no load reads bytes of a
 * store. */
static void random_memory(struct rig *rig, uint64_t *seed, bool apart)
{
    static const uint8_t bases[] = {10, 22, 22, 23};
    static const enum insn_id loads[] = {INSN_ld, INSN_lw, INSN_lbu, INSN_ld};
    static const enum insn_id stores[] = {INSN_sd, INSN_sw, INSN_sb, INSN_sd};
    uint64_t r = random_shift(seed);
    uint8_t base = bases[r & 3], data = (uint8_t)(5 + (r >> 4) % 5);
    int32_t offset = (int32_t)((r >> 16) % (r & 8 ? 60 : 2000));
    bool load = r >> 40 & 3;
    base = apart ? (uint8_t)(22 + load) : base;
    if (load)
        rig_emit(rig, loads[r >> 50 & 3], (struct operands){.rd = data, .rs1 = base, .imm = offset});
    else
        rig_emit(rig, stores[r >> 50 & 3], (struct operands){.rs1 = base, .rs2 = data, .imm = offset});
}

static void random_plain(struct rig *rig, uint64_t *seed, bool apart)
{
    uint64_t r = random_shift(seed);
    uint8_t rd = (uint8_t)(5 + r % 5), rs1 = (uint8_t)(5 + (r >> 8) % 5), rs2 = (uint8_t)(5 + (r >> 16) % 5);
    switch (r >> 32 & 15) {
    case 0: rig_branch(rig, INSN_bne, rs1, rs1, rig->at + 8); break;
    case 1: RIG_EMIT(rig, div, .rd = rd, .rs1 = rs1, .rs2 = rs2); break;
    case 2: RIG_EMIT(rig, add, .rd = rd, .rs1 = 10, .rs2 = rs2); break;
    default:
        if (r >> 32 & 1)
            random_memory(rig, seed, apart);
        else
            RIG_EMIT(rig, add, .rd = rd, .rs1 = rs1, .rs2 = rs2);
    }
}

static void random_instruction(struct rig *rig, uint64_t *seed)
{
    uint64_t r = random_shift(seed);
    uint8_t rd = (uint8_t)(5 + r % 5), rs2 = (uint8_t)(5 + (r >> 16) % 5);
    switch (r >> 32 & 31) {
    case 0: RIG_EMIT(rig, csrrs, .rd = rd, .rs1 = 0, .imm = 3); break;
    case 1: RIG_EMIT(rig, fence, .imm = 0xff); break;
    case 2: RIG_EMIT(rig, amoadd_d, .rd = rd, .rs1 = 22, .rs2 = rs2); break;
    case 3:
    case 4:
    case 5: fake_emit(rig); break;
    default: random_plain(rig, seed, false);
    }
}

static void random_tasks(struct fake *fake, uint64_t *seed)
{
    fake->result = random_shift(seed) & 1 ? 10 : 0;
    fake->stalls = random_shift(seed) % 4 == 0;
    fake->checkpoints = (unsigned)(random_shift(seed) % 5 * (random_shift(seed) & 1));
    fake->checkpoint_clocks = 1 + (uint32_t)(random_shift(seed) % 20);
    for (unsigned i = 0; i < FAKE_TASKS; i++) {
        struct fake_task *task = &fake->task[i];
        task->clocks = 1 + random_shift(seed) % (random_shift(seed) & 1 ? 60 : 1000);
        task->way = random_shift(seed) & 1 ? 1 + random_shift(seed) % task->clocks : 0;
        task->out = NEAR + random_shift(seed) % 512;
        task->bytes = random_shift(seed) % 128;
        task->ran = random_shift(seed) % 8 == 0;
    }
}

static enum core_next served(struct rig *rig, enum hart_stop stop)
{
    (void)rig;
    return stop == HART_STOP_YIELD ? CORE_CONTINUE : CORE_SLEEP;
}

/* A yield or, if something is ahead, perhaps a squash. */
static void disturb(void *owner, uint64_t now)
{
    struct scene *s = owner;
    struct fake *fake = s->fake;
    uint64_t r = random_shift(&s->seed);
    if (s->rig->core->asleep)
        return;
    if (((struct ooo *)s->rig->core)->phase == OOO_AHEAD && fake->head < fake->tail && r % 3) {
        fake_squash(fake, fake->head + (r >> 8) % (fake->tail - fake->head + 1), now);
        s->squashes++;
        return;
    }
    hart_request_yield(&s->rig->hart);
    core_offload_interrupted(s->rig->core, now);
}

static struct core_config random_config(unsigned size, uint64_t *seed)
{
    struct core_config config = defaults();
    if (size == 0)
        return config;
    config.rob = 16 + (uint32_t)(random_shift(seed) % (size == 3 ? 497 : 48));
    config.iq = 1 + (uint32_t)(random_shift(seed) % config.rob);
    config.fetch_queue = 8 + (uint32_t)(random_shift(seed) % (config.rob - 7));
    config.load_queue = 1 + (uint32_t)(random_shift(seed) % 40);
    config.store_queue = 1 + (uint32_t)(random_shift(seed) % 40);
    config.int_renames = 1 + (uint32_t)(random_shift(seed) % 100);
    config.decode_width = 1 + (uint32_t)(random_shift(seed) % 8);
    config.retire_width = 1 + (uint32_t)(random_shift(seed) % 8);
    config.speculate = random_shift(seed) & 1;
    return config;
}

static void make_core(struct scene *s, const struct core_config *config, bool mapped)
{
    struct rig *rig = s->rig;
    struct error err;
    if (mapped) {
        struct tlb_config tlb;
        part_defaults(&tlb_kind, 0, &tlb);
        tlb.l1_entries = tlb.l1_ways = 2;
        tlb.l2_entries = tlb.l2_ways = 0;
        rig_map(rig);
        rig->hart.priv.mstatus |= MSTATUS_FS; /* programs read fcsr */
        priv_changed(&rig->hart);
        rig->tlb = tlb_new(&tlb, &rig->hart, &rig->queue, &rig->clock, 4, 0, rig->l1d);
    }
    struct core_parts parts = rig_parts(rig);
    parts.offload = fake_ahead(s->fake);
    if (!part_check(&core_kind, config, &err))
        fail_msg("%s", err.text);
    rig->core = ooo_new(config, &parts, &err);
    rig->observer = (struct core_observer){.retired = note, .context = s};
    core_observe(rig->core, &rig->observer);
    rig->served = served;
}

static uint64_t run(uint64_t program, uint64_t *squashes, uint64_t *passed)
{
    struct rig_options options = rig_options_default();
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    uint64_t seed = program * MIX_FACTOR + 7;
    options.privileged = program % 3 == 0;
    options.l1d.mshrs = 1 + (uint32_t)(random_shift(&seed) % 8);
    s->rig = rig_new(&options);
    s->fake = fake_new(s->rig);
    struct core_config config = random_config(program % CONFIGS, &seed);
    random_tasks(s->fake, &seed);
    rig_set(s->rig, 10, NEAR);
    rig_set(s->rig, 22, NEAR);
    rig_set(s->rig, 23, RIG_FAR);
    for (unsigned i = 0; i < LENGTH; i++)
        random_instruction(s->rig, &seed);
    for (unsigned i = 0; i < 16; i++) /* a branch may read the entry after the end */
        RIG_EMIT(s->rig, addi, 0);
    make_core(s, &config, options.privileged);
    assert_true(hart_breakpoint_add(&s->rig->hart, s->rig->at));
    s->seed = seed;
    for (unsigned i = 0; i < EVENTS; i++) {
        event_init(&s->events[i], 50, disturb, s);
        event_schedule(&s->rig->queue, &s->events[i],
                       random_shift(&seed) % 4000 * RIG_CLOCK + random_shift(&seed) % RIG_CLOCK);
    }
    uint64_t cycles = rig_run(s->rig);
    const struct ooo *o = (struct ooo *)s->rig->core;
    assert_int_equal(s->rig->hart.pc, s->rig->at);
    assert_int_equal(s->fake->head, s->fake->tail);
    assert_int_equal(s->rig->notes, s->rig->hart.instret);
    assert_int_equal(o->count.instructions, s->rig->hart.instret);
    assert_int_equal(o->head, o->tail);
    assert_int_equal(o->freed, o->stores);
    assert_int_equal(s->fake->used, 0);
    *squashes += s->squashes;
    *passed += s->fake->passed;
    rig_free(s->rig);
    free(s->fake);
    free(s);
    return cycles;
}

static void random_programs(void **state)
{
    (void)state;
    uint64_t squashes = 0, passed = 0;
    for (uint64_t i = 0; i < PROGRAMS; i++)
        assert_int_equal(run(i, &squashes, &passed), run(i, &squashes, &passed));
    assert_true(squashes > PROGRAMS && passed > PROGRAMS);
}

/* The times of each instruction after the nucd, relative to the dispatch of the first one. */
struct times {
    uint64_t first, count;
    uint64_t dispatch[LENGTH * 2], complete[LENGTH * 2], retire[LENGTH * 2];
};

static void note_times(void *context, const struct core *core, const struct core_note *told)
{
    struct times *t = context;
    (void)core;
    if (told->insn.id == INSN_nucd) {
        t->count = 1;
        return;
    }
    if (t->count == 0)
        return;
    assert_true(t->count < LENGTH * 2);
    t->first = t->count == 1 ? told->dispatch : t->first;
    t->dispatch[t->count] = told->dispatch - t->first;
    t->complete[t->count] = told->complete - t->first;
    t->retire[t->count++] = told->retire - t->first;
}

/* Runs one of the programs without tasks, except for an empty one at its begin. */
static void run_behind_nucd(uint64_t program, bool ahead, struct times *times)
{
    struct rig *rig = rig_new(NULL);
    struct fake *fake = fake_new(rig);
    uint64_t seed = program * MIX_FACTOR + 11;
    struct core_config config = random_config(program % CONFIGS, &seed);
    struct error err;
    config.speculate = true;
    fake->empty = true;
    fake->refuses = !ahead;
    fake->task[0].clocks = 1;
    rig_warm(rig, NEAR, 4096, true);
    rig_warm(rig, RIG_FAR, 4096, true);
    rig_set(rig, 10, NEAR);
    rig_set(rig, 22, NEAR);
    rig_set(rig, 23, RIG_FAR);
    while (rig->at % 64)
        RIG_EMIT(rig, addi, 0);
    RIG_EMIT(rig, fence, .imm = 0xff);
    RIG_EMIT(rig, nucd, .rs1 = 28, .rs2 = 30);
    while (rig->at % 64)
        RIG_EMIT(rig, addi, 0);
    for (unsigned i = 0; i < LENGTH; i++)
        random_plain(rig, &seed, true);
    RIG_EMIT(rig, ecall, 0);
    struct core_parts parts = rig_parts(rig);
    parts.offload = fake_ahead(fake);
    rig->core = ooo_new(&config, &parts, &err);
    rig->observer = (struct core_observer){.retired = note_times, .context = times};
    core_observe(rig->core, &rig->observer);
    (void)rig_run(rig);
    assert_int_equal(fake->tasks, ahead);
    rig_free(rig);
    free(fake);
}

/* Running ahead of nothing takes the same time as batches, as long as nothing is pending or waits for stores'
 * addresses. In those cases batches differ: they give ports to younger instructions, and know less about draining
 * stores. */
static void same_times(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < PROGRAMS; i++) {
        struct times batches = {0}, ahead = {0};
        run_behind_nucd(i, false, &batches);
        run_behind_nucd(i, true, &ahead);
        assert_true(batches.count > LENGTH);
        batches.first = ahead.first;
        assert_memory_equal(&batches, &ahead, sizeof ahead);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs), cmocka_unit_test(same_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
