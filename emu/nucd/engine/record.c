/* Records of tasks, for the machine that observes the engine, and when the regions of tasks begin and end. */
#include "emu/nucd/engine/state.h"

void engine_tell_dispatched(struct engine_task *t)
{
    t->serial = t->engine->serials++;
}

static struct nucd_record record_of(const struct engine_task *t, enum nucd_outcome outcome)
{
    return (struct nucd_record){.outcome = outcome,
                                .number = t->serial,
                                .task = &t->task,
                                .described = true,
                                .sent = t->sent,
                                .accelerator = t->accelerator,
                                .at = t->at,
                                .cycles = t->cycles,
                                .blocked_by = t->blocker};
}

static void tell_began(const struct engine_task *t)
{
    const struct engine_parts *parts = &t->engine->parts;
    const struct nucd_record record = record_of(t, NUCD_UNFINISHED);
    if (parts->began && t->serial != NUCD_NO_RECORD)
        parts->began(parts->context, &record);
}

void engine_tell_expired(const struct engine_task *t)
{
    const struct nucd_record record = record_of(t, NUCD_UNFINISHED);
    t->engine->parts.expired(t->engine->parts.context, &record);
}

void engine_tell_left(struct engine_task *t, enum nucd_outcome outcome, uint64_t at)
{
    const struct engine_parts *parts = &t->engine->parts;
    if (t->serial == NUCD_NO_RECORD)
        return;
    t->at.left = at;
    if (outcome == NUCD_RETIRED)
        engine_count_retired(t);
    const struct nucd_record record = record_of(t, outcome);
    if (parts->left)
        parts->left(parts->context, &record);
    t->serial = NUCD_NO_RECORD;
}

void engine_tell_refused(const struct engine *e, uint64_t pc, const char *cause)
{
    const struct nucd_task task = {.pc = pc, .begin = pc + 4};
    struct nucd_record record = {.outcome = NUCD_REFUSED,
                                 .number = NUCD_NO_RECORD,
                                 .task = &task,
                                 .at = engine_times_none(),
                                 .blocked_by = NUCD_NO_RECORD,
                                 .cause = cause};
    record.at.left = e->parts.queue->now;
    if (e->parts.left)
        e->parts.left(e->parts.context, &record);
}

void engine_tell_rest(struct engine *e)
{
    for (;;) {
        struct engine_task *oldest = NULL;
        for (unsigned i = 0; i < e->places; i++) {
            struct engine_task *t = &e->tasks[i];
            if (t->used && t->serial != NUCD_NO_RECORD && (!oldest || t->serial < oldest->serial))
                oldest = t;
        }
        if (!oldest)
            return;
        engine_tell_left(oldest, NUCD_UNFINISHED, CLOCK_NEVER);
    }
}

bool engine_has_tag(const struct engine *e, uint16_t tag)
{
    return (uint16_t)(tag - e->parts.first_tag) < (e->window ? ENGINE_TASKS : NUCD_TASKS);
}

const struct nucd_task *engine_task_at(const struct engine *e, unsigned accelerator, uint16_t tag)
{
    const struct engine_task *t =
        engine_has_tag(e, tag) ? &e->tasks[(uint16_t)(tag - e->parts.first_tag)] : NULL;
    return t && t->used && t->sent && !t->done && t->accelerator == accelerator ? &t->task : NULL;
}

void engine_begun(struct engine *e, uint16_t tag, uint64_t time)
{
    struct engine_task *t = engine_tagged(e, tag);
    if (!engine_has_tag(e, tag) || !t->used || !t->sent || t->done)
        return;
    t->at.idle = engine_later(e->idle_since[t->accelerator], t->at.arrived);
    t->at.begun = time;
    engine_count_begun(t, time);
    tell_began(t);
}

void engine_ended(struct engine *e, unsigned accelerator, uint16_t tag, uint64_t time)
{
    struct engine_task *t = engine_tagged(e, tag);
    if (engine_has_tag(e, tag) && t->used && t->sent && !t->done && t->accelerator == accelerator)
        t->at.ended = time;
}
