#include "emu/debug/trace_perfetto.h"

#include <stdlib.h>

struct region {
    struct region *next;
    char *name;
    uint32_t id;
    bool open;
};

struct perfetto_core {
    struct perfetto_core *next;
    struct perfetto *perfetto;
    char *name;
    struct json_track stalls, marks;
    uint64_t stalled_to;
    struct region *regions;
};

struct json_track perfetto_process(struct perfetto *perfetto, const char *name)
{
    uint32_t number = ++perfetto->numbers;
    json_name_process(perfetto->out, number, name);
    return (struct json_track){number, number};
}

struct json_track perfetto_track(struct perfetto *perfetto, struct json_track of, const char *name)
{
    struct json_track track = {of.process, ++perfetto->numbers};
    json_name_thread(perfetto->out, track, name);
    return track;
}

static void write_stall(void *context, const struct core *of, unsigned cause, uint64_t from, uint64_t to)
{
    static const char *const causes[CPI_CAUSES] = {
#define CPI(name, meaning) #name,
#include "emu/core/cpi.def"
    };
    struct perfetto_core *core = context;
    struct line_writer *out = core->perfetto->out;
    (void)of;
    if (from < core->stalled_to)
        from = core->stalled_to;
    if (from >= to || !trace_admit(&core->perfetto->base))
        return;
    core->stalled_to = to;
    json_event(out, 'X', core->stalls, cause < CPI_CAUSES ? causes[cause] : "unknown");
    json_time(out, "ts", from);
    json_time(out, "dur", to - from);
    json_event_end(out);
}

static bool watch_core(struct trace *trace, const char *name, const struct clock *clock,
                       struct core_observer *observer, struct error *err)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    struct perfetto_core *core = trace_allocate(1, sizeof *core);
    (void)clock;
    (void)err;
    core->next = perfetto->cores;
    perfetto->cores = core;
    core->perfetto = perfetto;
    core->name = trace_copy(name);
    struct json_track process = perfetto_process(perfetto, name);
    core->stalls = perfetto_track(perfetto, process, "stalls");
    core->marks = perfetto_track(perfetto, process, "marks");
    *observer = (struct core_observer){.stalled = write_stall, .context = core};
    return true;
}

static struct perfetto_core *find_core(struct trace *trace, const char *name)
{
    struct perfetto_core *core = ((struct perfetto *)trace)->cores;
    while (core && strcmp(core->name, name) != 0)
        core = core->next;
    return core;
}

static struct region *find_region(struct perfetto_core *core, const char *name)
{
    for (struct region *region = core->regions; region; region = region->next)
        if (strcmp(region->name, name) == 0)
            return region;
    struct region *region = trace_allocate(1, sizeof *region);
    region->name = trace_copy(name);
    region->id = ++core->perfetto->numbers;
    region->next = core->regions;
    core->regions = region;
    return region;
}

static void write_region(struct perfetto_core *core, const struct region *region, char phase, uint64_t now)
{
    struct line_writer *out = core->perfetto->out;
    json_event(out, phase, core->marks, region->name);
    json_text(out, "cat", "region");
    json_number(out, "id", region->id);
    json_time(out, "ts", now);
    json_event_end(out);
}

static void mark_region(struct trace *trace, const char *name, const char *text, bool begins, uint64_t now)
{
    struct perfetto_core *core = find_core(trace, name);
    struct region *region = core ? find_region(core, text) : NULL;
    if (!region || region->open == begins || (begins && !trace_admit(trace)))
        return;
    region->open = begins;
    write_region(core, region, begins ? 'b' : 'e', now);
}

static void write_mark(struct trace *trace, const char *name, const char *text, uint64_t now)
{
    struct perfetto_core *core = find_core(trace, name);
    if (!core || !trace_admit(trace))
        return;
    struct line_writer *out = core->perfetto->out;
    json_event(out, 'i', core->marks, text);
    json_text(out, "s", "t");
    json_time(out, "ts", now);
    json_event_end(out);
}

static struct trace *create(void)
{
    struct perfetto *perfetto = trace_allocate(1, sizeof *perfetto);
    return &perfetto->base;
}

static void begin_trace(struct trace *trace)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    perfetto->out = &trace->files->out;
    json_begin(perfetto->out);
}

static void end_trace(struct trace *trace, uint64_t now)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    for (struct perfetto_core *core = perfetto->cores; core; core = core->next)
        for (const struct region *region = core->regions; region; region = region->next)
            if (region->open)
                write_region(core, region, 'e', now);
    perfetto_end_dram(perfetto, now);
    json_end(perfetto->out);
}

static void free_core(struct perfetto_core *core)
{
    for (struct region *region = core->regions, *next; region; region = next) {
        next = region->next;
        free(region->name);
        free(region);
    }
    free(core->name);
    free(core);
}

static void release(struct trace *trace)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    for (struct perfetto_core *core = perfetto->cores, *next; core; core = next) {
        next = core->next;
        free_core(core);
    }
    perfetto_free_caches(perfetto);
    perfetto_free_dram(perfetto);
    free(perfetto);
}

const struct trace_ops trace_perfetto_ops = {
    .kind = "perfetto",
    .path = "trace.json",
    .event = "slices and marks",
    .create = create,
    .begin = begin_trace,
    .core = watch_core,
    .cache = perfetto_watch_cache,
    .dram = perfetto_watch_dram,
    .region = mark_region,
    .mark = write_mark,
    .end = end_trace,
    .free = release,
};
