#include "tests/hart/oracle/subject.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "emu/hart/exec.h"
#include "emu/hart/step.h"

enum { FUEL = 100000 /* more than any block retires */ };

const char *const subject_name[SUBJECT_WAYS] = {"run", "run-v3", "step", "mixed", "stream"};

bool subject_supported(enum subject_way way)
{
    return way != SUBJECT_V3 || exec_choose(false) == &exec_v3;
}

bool subject_init(struct subject *subject, enum subject_way way, const struct decoder *decoder,
                  struct error *err)
{
    *subject = (struct subject){.way = way, .random = {7}};
    if (!phys_init(&subject->memory, BATCH_END, BATCH_LIMIT - BATCH_END, err))
        return false;
    if (!hart_init(&subject->hart, &subject->memory, decoder, err)) {
        phys_free(&subject->memory);
        return false;
    }
    hart_protect(&subject->hart, BATCH_STATES); /* memory with code that can be stored to would need a TLB */
    if (way < SUBJECT_STEP)
        subject->hart.exec = way == SUBJECT_V3 ? &exec_v3 : &exec_base;
    if (way == SUBJECT_STREAM && !stream_init(&subject->stream, &subject->hart, err)) {
        hart_free(&subject->hart);
        phys_free(&subject->memory);
        return false;
    }
    const uint32_t ecall = 0x00000073;
    memcpy(phys_at(&subject->memory, BATCH_END, sizeof ecall), &ecall, sizeof ecall);
    return true;
}

void subject_free(struct subject *subject)
{
    stream_free(&subject->stream);
    hart_free(&subject->hart);
    phys_free(&subject->memory);
}

void subject_load(struct subject *subject, const struct batch *batch)
{
    size_t code = batch->count * BATCH_CODE_BYTES, states = batch->count * sizeof(struct state);
    memcpy(phys_at(&subject->memory, BATCH_CODE, code), batch->code, code);
    memcpy(phys_at(&subject->memory, BATCH_STATES, states), batch->states, states);
    hart_flush_code(&subject->hart);
}

static enum hart_stop step(struct hart *hart)
{
    struct step_report report;
    return hart_step(hart, &report);
}

static enum hart_stop stream(struct subject *subject)
{
    struct step_report report;
    enum stream_end end = stream_run(&subject->stream, 1 + random_below(&subject->random, 160));
    return end == STREAM_MORE ? HART_STOP_LIMIT : stream_step(&subject->stream, &report);
}

static enum hart_stop advance(struct subject *subject)
{
    switch (subject->way) {
    case SUBJECT_STEP: return step(&subject->hart);
    case SUBJECT_MIXED:
        if (random_chance(&subject->random, 30))
            return step(&subject->hart);
        return hart_run(&subject->hart, 1 + random_below(&subject->random, 160));
    case SUBJECT_STREAM: return stream(subject);
    default: return hart_run(&subject->hart, FUEL);
    }
}

static bool check_counts(const struct hart *hart, struct error *err)
{
    uint64_t counts[CLASS_COUNT], sum = 0;
    hart_count_classes(hart, counts);
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        sum += counts[i];
    return sum == hart->instret ||
           error_set(err, "classes add up to %" PRIu64 ", instret is %" PRIu64, sum, hart->instret);
}

static void load_state(struct hart *hart, uint64_t index, const struct state *state)
{
    memcpy(hart->x, state->x, sizeof state->x);
    memcpy(hart->f, state->f, sizeof hart->f);
    hart->fflags = state->fcsr & 31;
    hart->frm = state->fcsr >> 5 & 7;
    hart->pc = batch_code_at(index);
}

bool subject_run(struct subject *subject, uint64_t index, struct state *after, struct error *err)
{
    struct hart *hart = &subject->hart;
    void *bytes = phys_at(&subject->memory, batch_state_at(index), sizeof(struct state));
    assert(bytes);
    struct state *state = bytes;
    uint64_t end = hart->instret + FUEL;
    load_state(hart, index, state);
    enum hart_stop stop;
    do
        stop = advance(subject);
    while (stop != HART_STOP_TRAP && hart->instret < end);
    if (stop != HART_STOP_TRAP)
        return error_set(err, "does not end: pc 0x%" PRIx64, hart->pc);
    if (hart->trap.cause != TRAP_ECALL_USER || hart->pc != BATCH_END)
        return error_set(err, "trap %d at pc 0x%" PRIx64 ", value 0x%" PRIx64, (int)hart->trap.cause,
                         hart->pc, hart->trap.value);
    memcpy(state->x, hart->x, sizeof state->x);
    memcpy(state->f, hart->f, sizeof hart->f);
    state->fcsr = (uint64_t)hart->frm << 5 | hart->fflags;
    *after = *state;
    /* The walk over all blocks is slow, so check only now and then. */
    return index % 512 != 0 || check_counts(hart, err);
}
