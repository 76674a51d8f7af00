/* A timed machine whose accelerators run croft's own firmware. Tests push tasks into the task units, as the
 * host's engine does, and write programs instruction by instruction. */
#ifndef TESTS_NUCD_UNITS_ACCELERATOR_RIG_H
#define TESTS_NUCD_UNITS_ACCELERATOR_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/env/user_harts.h"
#include "emu/machine/timed/state.h"
#include "emu/nucd/nucd.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/units/accelerators.h"
#include "isa/decode.h"
#include "tests/isa/encode.h"
#include "tests/sim/value.h"

#define BASE   UINT64_C(0x80000000)
#define DATA   (BASE + 0x10000)
#define NOBODY UINT64_C(0x100000000) /* after memory: no device unless a test adds one */
#define CLOCK  UINT64_C(1000000)     /* fs; period of an accelerator's clock */

enum { A0 = 10, A1, A2, A3, A4, T0 = 5, T1 = 6, S0 = 8, RA = 1, SP = 2, GP = 3, TP = 4, REPORTS = 256 };

/* A machine with a host that executes nothing. */
struct rig {
    struct core_observer observer;
    struct accelerators_observer units;
    struct machine_config machine;
    struct phys memory;
    struct decoder *decoder;
    struct user_harts user;
    struct timed *timed;
    struct event end;
    uint64_t at; /* address of the next instruction */
    unsigned reports, completed;
    unsigned findings; /* of checks; the number that is expected */
    struct task_unit_report report[REPORTS];
    unsigned from[REPORTS];
    uint64_t first_pc, first_issue; /* fs; issue time of the accelerator's instruction at first_pc */
};

static inline struct nucd *rig_nucd(const struct rig *rig)
{
    return rig->user.tasks->mechanism.context;
}

static inline void told(void *context, unsigned accelerator, const struct task_unit_report *report)
{
    struct rig *rig = context;
    if (report->event == TASK_UNIT_EMPTIED)
        return;
    assert_true(rig->reports < REPORTS);
    rig->from[rig->reports] = accelerator;
    rig->report[rig->reports++] = *report;
    rig->completed += report->event == TASK_UNIT_COMPLETED;
}

static inline void retired(void *context, const struct core *core, const struct core_note *note)
{
    struct rig *rig = context;
    if (note->pc == rig->first_pc && rig->first_issue == 0)
        rig->first_issue = clock_time(&core->parts.clock, note->issue);
}

static inline void tick(void *owner, uint64_t now)
{
    (void)owner;
    (void)now;
}

/* Runs until there are `reports` reports, or for `clocks` clocks. Returns false if the clocks ran out. A core
 * that never waits runs up to the next event. */
static inline bool run(struct rig *rig, unsigned reports, uint64_t clocks)
{
    struct event_queue *queue = rig->timed->queues;
    event_schedule(queue, &rig->end, queue->now + clocks * CLOCK);
    while (rig->reports < reports && event_pending(&rig->end))
        (void)event_queue_step(queue);
    event_cancel(queue, &rig->end);
    return rig->reports >= reports;
}

static inline struct rig *rig_new_checked(const char *count, bool check)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err = {""};
    const char *sets[] = {"memory.size=16 MiB", count};
    assert_non_null(rig);
    rig->decoder = decoder_new();
    rig->at = BASE;
    if (!machine_load(&rig->machine, "nucd", "emu/machine/shipped", sets, 2, &err) ||
        !phys_init(&rig->memory, BASE, rig->machine.memory->size, &err) ||
        !user_harts_init(&rig->user, &rig->machine, FIRMWARE, &rig->memory, rig->decoder, &err))
        fail_msg("%s", err.text);
    const struct timed_options options = {.machine = &rig->machine,
                                          .max_time = UINT64_MAX,
                                          .check_dram = true,
                                          .check_tasks = check,
                                          .mechanism = rig->user.tasks->mechanism};
    rig->timed = timed_new(&options, rig->user.system.harts, rig->user.system.count, &err);
    if (!rig->timed)
        fail_msg("%s", err.text);
    timed_attach(rig->timed, &rig->user.system);
    event_init(&rig->end, UINT16_MAX, tick, rig);
    rig->units = (struct accelerators_observer){.told = told, .context = rig};
    accelerators_observe(nucd_accelerators(rig_nucd(rig)), &rig->units);
    rig->observer = (struct core_observer){.retired = retired, .context = rig};
    core_observe(rig->timed->cores[1].core, &rig->observer);
    (void)run(rig, 1, 5000); /* start-up */
    for (unsigned i = 1; i < rig->user.system.count; i++)
        assert_true(rig->timed->cores[i].core->asleep);
    return rig;
}

static inline struct rig *rig_new(const char *count)
{
    return rig_new_checked(count, false);
}

static inline void rig_free(struct rig *rig)
{
    assert_int_equal(timed_finish(rig->timed, NULL), rig->findings);
    timed_free(rig->timed);
    user_harts_free(&rig->user);
    phys_free(&rig->memory);
    decoder_free(rig->decoder);
    machine_free(&rig->machine);
    free(rig);
}

static inline struct task_unit *unit_of(struct rig *rig, unsigned accelerator)
{
    return accelerators_unit(nucd_accelerators(rig_nucd(rig)), accelerator);
}

static inline void emit_operands(struct rig *rig, enum insn_id id, struct operands operands)
{
    uint32_t code = encode(id, &operands);
    memcpy(phys_at(&rig->memory, rig->at, 4), &code, 4);
    phys_note_store(&rig->memory, rig->at, 4);
    rig->at += 4;
}
#define EMIT(rig, name, ...) emit_operands(rig, INSN_##name, (struct operands){__VA_ARGS__})

static inline uint64_t load64(struct rig *rig, uint64_t address)
{
    uint64_t value;
    memcpy(&value, phys_at(&rig->memory, address, 8), 8);
    return value;
}

/* Returns a task with `count` live-ins in a0 and the following registers; in[] has their values. */
static inline struct nucd_task task_of(uint64_t begin, uint64_t end, unsigned count, const uint64_t *in)
{
    struct nucd_task task = {.begin = begin, .end = end, .result = A0};
    task.live_ins.mask = ((1u << count) - 1) << A0;
    memcpy(task.live_ins.value, in, count * sizeof *in);
    return task;
}

static inline void push(struct rig *rig, unsigned accelerator, const struct nucd_task *task, uint16_t tag)
{
    uint64_t words[NUCD_PACKET_WORDS];
    unsigned count = nucd_packet_write(task, tag, words);
    assert_true(task_unit_push(unit_of(rig, accelerator), words, count));
}

static inline const struct task_unit_report *one(struct rig *rig, enum task_unit_event event, uint64_t clocks)
{
    unsigned next = rig->reports;
    if (!run(rig, next + 1, clocks))
        fail_msg("nothing was reported within %llu clocks; the pc is 0x%llx", (unsigned long long)clocks,
                 (unsigned long long)rig->user.system.harts[1].pc);
    assert_int_equal(rig->report[next].event, event);
    return &rig->report[next];
}

/* Emits a region that stores a1 + a2 at address a0 and returns the sum. Returns the region's end. */
static inline uint64_t emit_sum(struct rig *rig)
{
    EMIT(rig, add, .rd = T0, .rs1 = A1, .rs2 = A2);
    EMIT(rig, sd, .rs1 = A0, .rs2 = T0, .imm = 0);
    EMIT(rig, add, .rd = A0, .rs1 = T0, .rs2 = 0);
    uint64_t end = rig->at;
    EMIT(rig, ebreak, .rd = 0); /* never executed */
    return end;
}

/* Returns the value of a counter. */
static inline uint64_t counted(struct rig *rig, const char *name)
{
    struct stats *stats = stats_new();
    accelerators_publish(nucd_accelerators(rig_nucd(rig)), stats);
    uint64_t value = stats_value(stats, name);
    stats_free(stats);
    return value;
}

#endif
