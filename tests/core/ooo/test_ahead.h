/* Shared by the tests of a core that runs ahead: a program with tasks, and the times of each instruction. */
#ifndef TESTS_CORE_OOO_TEST_AHEAD_H
#define TESTS_CORE_OOO_TEST_AHEAD_H

#include "emu/hart/probe.h"
#include "tests/core/fake_ahead.h"
#include "tests/core/ooo/test_ooo.h"

#define NEAR (RIG_BASE + 0x10000)

enum { NOTES = 4096, BEHIND = 14, FRONT = 22 /* instructions that set registers */ };

struct scene {
    struct rig *rig;
    struct fake *fake;
    struct ooo *o;
    struct core_config config;
    unsigned count, first; /* number of notes; the note of the first nucd */
    struct core_note notes[NOTES];
    struct event event;
    uint64_t number; /* number from which the event squashes */
    uint64_t cycles;
};

static inline void note(void *context, const struct core *core, const struct core_note *told)
{
    struct scene *s = context;
    (void)core;
    assert_int_equal(told->number, s->count);
    assert_true(s->count < NOTES);
    assert_true(told->dispatch <= told->issue && told->issue < told->complete &&
                told->complete <= told->retire);
    if (s->count)
        assert_true(s->notes[s->count - 1].retire <= told->retire);
    s->notes[s->count++] = *told;
}

/* Makes a rig whose tasks take `clocks`, with x22 pointing to warm data. */
static inline struct scene *scene_new(uint64_t clocks, const struct rig_options *options)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->rig = rig_new(options);
    s->fake = fake_new(s->rig);
    s->config = defaults();
    s->fake->task[0].clocks = clocks;
    rig_warm(s->rig, NEAR, 4096, true);
    rig_set(s->rig, 22, NEAR);
    rig_set(s->rig, 23, RIG_FAR);
    return s;
}

static inline void scene_make(struct scene *s)
{
    struct core_parts parts = rig_parts(s->rig);
    struct error err;
    parts.offload = fake_ahead(s->fake);
    assert_true(part_check(&core_kind, &s->config, &err));
    s->rig->core = ooo_new(&s->config, &parts, &err);
    s->rig->observer = (struct core_observer){.retired = note, .context = s};
    core_observe(s->rig->core, &s->rig->observer);
    s->o = (struct ooo *)s->rig->core;
}

/* Emits a task after a fence, so that nothing older is under way; the code after it begins a fetch block. */
static inline void scene_task(struct scene *s)
{
    while (s->rig->at % 64)
        RIG_EMIT(s->rig, addi, 0);
    RIG_EMIT(s->rig, fence, .imm = 0xff);
    fake_emit(s->rig);
}

/* Runs to an ECALL after the emitted code. */
static inline void scene_run(struct scene *s)
{
    if (!s->o)
        scene_make(s);
    (void)run_program(s->rig, NULL, &s->cycles);
    assert_int_equal(s->count, s->rig->hart.instret);
    assert_int_equal(s->o->count.instructions, s->rig->hart.instret);
    assert_int_equal(s->fake->head, s->fake->tail);
    while (s->first < s->count && s->notes[s->first].insn.id != INSN_nucd)
        s->first++;
}

/* The note of the i-th instruction, counted from the first nucd. */
static inline const struct core_note *nth(const struct scene *s, unsigned i)
{
    assert_true(s->first + i < s->count);
    return &s->notes[s->first + i];
}

static inline uint64_t completed(const struct scene *s, unsigned task)
{
    return s->fake->task[task].completed / RIG_CLOCK;
}

static inline void scene_free(struct scene *s)
{
    rig_free(s->rig);
    free(s->fake);
    free(s);
}

static inline uint64_t latency(const struct scene *s, enum insn_id id)
{
    return s->o->classes[id].latency;
}

#endif
