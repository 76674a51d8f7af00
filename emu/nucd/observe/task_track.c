#include "emu/nucd/observe/task_track.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

enum { STEPS = 11, NAME = CORE_DESCRIPTION + 32 };

/* The task that an accelerator runs. */
struct unit {
    struct track line;
    uint64_t begun, ended; /* CLOCK_NEVER: not yet */
    uint64_t number;       /* of the task; NUCD_NO_RECORD: not known */
    unsigned host;
};

struct task_track {
    struct engines_observer tasks;
    struct accelerators_observer units;
    struct track_end end;
    struct track_sink *sink; /* NULL: the trace has ended */
    struct task_sources sources;
    struct track *hosts; /* lines of the offloading hosts */
    uint64_t now;        /* end of the trace; CLOCK_NEVER: not yet */
    struct unit *each;   /* by accelerator */
};

/* The steps of a span, as they are found. */
struct steps {
    struct track_step step[STEPS];
    size_t count;
    uint64_t at; /* end of the last step */
    uint64_t end;
    bool over;
    char blocked[48];
};

/* Adds the step that lasts until `to`. A step that lasts beyond `end` is cut there and is the last one. */
static void add_step(struct steps *steps, const char *name, uint64_t to)
{
    if (steps->over)
        return;
    steps->over = to == CLOCK_NEVER || to > steps->end;
    uint64_t until = steps->over ? steps->end : to;
    if (until <= steps->at)
        return;
    steps->step[steps->count++] = (struct track_step){name, steps->at, until};
    steps->at = until;
}

static void find_steps(struct steps *steps, const struct nucd_record *record, uint64_t end)
{
    const struct engine_times *at = &record->at;
    *steps = (struct steps){.at = at->decoded, .end = end};
    (void)snprintf(steps->blocked, sizeof steps->blocked,
                   record->blocked_by == NUCD_NO_RECORD ? "blocked" : "blocked by task %" PRIu64,
                   record->blocked_by);
    add_step(steps, "decode", at->ready);
    add_step(steps, "packet", at->made);
    add_step(steps, "held", at->clear);
    add_step(steps, "clean", at->cleaned);
    add_step(steps, steps->blocked, at->free);
    add_step(steps, "transfer", at->arrived);
    add_step(steps, "queue", at->idle);
    add_step(steps, "start", at->begun);
    add_step(steps, "run", at->ended);
    add_step(steps, "commit", at->reported);
    add_step(steps, "retire", at->left);
}

static const char *describe(const struct task_track *track, uint64_t pc, char text[CORE_DESCRIPTION])
{
    const struct core_services *machine = track->sources.machine;
    return machine->describe(machine->context, pc, text, CORE_DESCRIPTION);
}

static void name_task(const struct task_track *track, uint64_t number, uint64_t pc, char name[NAME])
{
    char place[CORE_DESCRIPTION];
    if (number == NUCD_NO_RECORD)
        (void)snprintf(name, NAME, "%s", describe(track, pc, place));
    else
        (void)snprintf(name, NAME, "task %" PRIu64 ", %s", number, describe(track, pc, place));
}

static void show_refused(const struct task_track *track, const struct nucd_record *record)
{
    char name[NAME], place[CORE_DESCRIPTION];
    const struct track_value values[] = {{"cause", record->cause, 0}};
    (void)snprintf(name, sizeof name, "refused, %s", describe(track, record->task->pc, place));
    (void)track_write(track->hosts[record->host], &(struct track_record){.kind = TRACK_INSTANT,
                                                                         .name = name,
                                                                         .from = record->at.left,
                                                                         .values = values,
                                                                         .value_count = 1});
}

static void show_task(void *context, const struct nucd_record *record)
{
    static const char *const outcomes[NUCD_OUTCOMES] = {
        [NUCD_RETIRED] = "retired", [NUCD_SQUASHED] = "squashed",     [NUCD_DROPPED] = "dropped",
        [NUCD_KILLED] = "killed",   [NUCD_UNFINISHED] = "unfinished",
    };
    const struct task_track *track = context;
    uint64_t end = record->at.left < track->now ? record->at.left : track->now;
    struct steps steps;
    char name[NAME];
    if (record->outcome == NUCD_REFUSED) {
        show_refused(track, record);
        return;
    }
    if (record->at.decoded == CLOCK_NEVER || end < record->at.decoded)
        return; /* squashed before its decoding was timed */
    const struct track_value values[] = {{"outcome", outcomes[record->outcome], 0},
                                         {"accelerator", NULL, record->accelerator}};
    find_steps(&steps, record, end);
    name_task(track, record->number, record->task->pc, name);
    (void)track_write(track->hosts[record->host], &(struct track_record){.kind = TRACK_SPAN,
                                                                         .name = name,
                                                                         .category = "task",
                                                                         .from = record->at.decoded,
                                                                         .to = end,
                                                                         .values = values,
                                                                         .value_count = record->sent ? 2 : 1,
                                                                         .steps = steps.step,
                                                                         .step_count = steps.count});
}

static void note_task(void *context, const struct nucd_record *record)
{
    struct task_track *track = context;
    struct unit *unit = &track->each[record->accelerator];
    unit->number = record->number;
    unit->host = record->host;
}

static void note_begun(void *context, unsigned number, uint16_t tag, uint64_t time)
{
    struct task_track *track = context;
    (void)tag;
    track->each[number].begun = time;
    track->each[number].ended = CLOCK_NEVER;
}

static void note_ended(void *context, unsigned number, uint16_t tag, uint64_t time)
{
    struct task_track *track = context;
    (void)tag;
    track->each[number].ended = time;
}

/* Writes the slice of the task that the accelerator has run until `to`. */
static void show_run(const struct task_track *track, unsigned number, uint64_t to)
{
    struct unit *unit = &track->each[number];
    const struct nucd_packet *packet =
        task_unit_packet(accelerators_unit(track->sources.accelerators, number));
    const struct track_value values[] = {{"host", NULL, unit->host}};
    char name[NAME];
    if (unit->begun > to)
        return;
    name_task(track, unit->number, packet->begin - 4, name);
    if (track_write(unit->line, &(struct track_record){.kind = TRACK_SLICE,
                                                       .name = name,
                                                       .from = unit->begun,
                                                       .to = to,
                                                       .values = values,
                                                       .value_count = unit->number != NUCD_NO_RECORD}) &&
        unit->ended < to)
        (void)track_slice(unit->line, "commit", unit->ended, to);
    unit->begun = unit->ended = CLOCK_NEVER;
    unit->number = NUCD_NO_RECORD;
}

static void show_unit(void *context, unsigned number, const struct task_unit_report *report)
{
    const struct task_track *track = context;
    uint64_t now = track->sources.machine->queue->now;
    if (report->event == TASK_UNIT_STOPPED)
        (void)track_instant(track->each[number].line, "fault", now);
    if (report->event == TASK_UNIT_COMPLETED || report->event == TASK_UNIT_KILLED)
        show_run(track, number, now);
}

static void end(void *context, uint64_t now)
{
    struct task_track *track = context;
    track->now = now;
    engines_tell_rest(track->sources.engines);
    for (unsigned i = 0; i < accelerators_count(track->sources.accelerators); i++)
        show_run(track, i, now);
    track->sink = NULL;
}

static void open_groups(struct task_track *track)
{
    unsigned hosts = engines_count(track->sources.engines);
    unsigned count = accelerators_count(track->sources.accelerators);
    char name[24];
    track->hosts = alloc(hosts + 1, sizeof *track->hosts);
    track->each = alloc(count, sizeof *track->each);
    for (unsigned i = 0; i < hosts; i++) {
        (void)snprintf(name, sizeof name, i ? "nucd.%u" : "nucd", i);
        track->hosts[i] = track_line(track_group(track->sink, name), "tasks");
    }
    const struct track group = track_group(track->sink, "nucd.accel");
    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "accel.%u", i);
        track->each[i] = (struct unit){track_line(group, name), CLOCK_NEVER, CLOCK_NEVER, NUCD_NO_RECORD, 0};
    }
}

struct task_track *task_track_new(struct track_sink *sink, const struct task_sources *sources)
{
    struct task_track *track = alloc(1, sizeof *track);
    track->sink = sink;
    track->sources = *sources;
    track->now = CLOCK_NEVER;
    open_groups(track);
    track->tasks = (struct engines_observer){.began = note_task, .left = show_task, .context = track};
    track->units = (struct accelerators_observer){
        .told = show_unit, .begun = note_begun, .ended = note_ended, .context = track};
    track->end = (struct track_end){.end = end, .context = track};
    engines_observe(sources->engines, &track->tasks);
    accelerators_observe(sources->accelerators, &track->units);
    observer_add_first(&sink->ends, &track->end.link);
    return track;
}

void task_track_free(struct task_track *track)
{
    if (!track)
        return;
    if (track->sink)
        observer_remove(&track->sink->ends, &track->end.link);
    engines_unobserve(track->sources.engines, &track->tasks);
    accelerators_unobserve(track->sources.accelerators, &track->units);
    free(track->hosts);
    free(track->each);
    free(track);
}
