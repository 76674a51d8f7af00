/* Chrome trace JSON for ui.perfetto.dev and chrome://tracing, from the tracks of emu/sim/report/track.h.
 *
 * A group becomes a process and a line becomes a thread. Spans become asynchronous events. The viewer puts
 * events of one id on one track, which it names after the first event, and shows tracks of equal name
 * together. So complete spans reuse the ids of finished spans, as MSHRs are reused, and each id begins with
 * an instant at time 0 that carries the category's name. The steps of a span are nested events of its id.
 */
#include <stdlib.h>

#include "emu/debug/trace/json.h"
#include "emu/debug/trace/state.h"
#include "emu/sim/alloc.h"

/* An asynchronous id, used by one span after another. */
struct lane {
    uint32_t id;
    uint64_t free_from;
};

struct lanes {
    struct lane *lanes;
    size_t count;
};

struct perfetto {
    struct trace base;
    struct line_writer *out;
    uint32_t numbers;    /* process, track and asynchronous ids used so far */
    struct lanes *lanes; /* lanes[track] */
    uint32_t lanes_room;
};

static struct perfetto *of_sink(struct track_sink *sink)
{
    return (struct perfetto *)trace_of(sink);
}

static struct json_track place_of(struct track track)
{
    return (struct json_track){track.group, track.line};
}

static uint32_t next_id(struct track_sink *sink)
{
    return ++of_sink(sink)->numbers;
}

static struct track open_group(struct track_sink *sink, const char *name)
{
    uint32_t number = next_id(sink);
    json_name_process(of_sink(sink)->out, number, name);
    return (struct track){sink, number, number};
}

static struct track open_line(struct track group, const char *name)
{
    struct track line = {group.sink, group.group, next_id(group.sink)};
    json_name_thread(of_sink(group.sink)->out, place_of(line), name);
    return line;
}

/* Writes the event without its values and its end. */
static void open_event(struct perfetto *perfetto, struct track track, char phase, const char *name,
                       const char *category, uint32_t id, uint64_t time)
{
    struct line_writer *out = perfetto->out;
    json_event(out, phase, place_of(track), name);
    if (category) {
        json_text(out, "cat", category);
        json_number(out, "id", id);
    }
    if (phase == 'i')
        json_text(out, "s", "t");
    json_time(out, "ts", time);
}

static void close_event(struct perfetto *perfetto, const struct track_value *values, size_t count)
{
    struct line_writer *out = perfetto->out;
    if (count)
        json_members(out, "args");
    for (size_t i = 0; i < count; i++) {
        if (values[i].text)
            json_text(out, values[i].name, values[i].text);
        else
            json_number(out, values[i].name, values[i].number);
    }
    if (count)
        json_members_end(out);
    json_event_end(out);
}

static struct lanes *lanes_of(struct perfetto *perfetto, uint32_t track)
{
    if (track >= perfetto->lanes_room) {
        uint32_t room = 2 * track + 1;
        perfetto->lanes = alloc_resize(perfetto->lanes, room * sizeof *perfetto->lanes);
        memset(perfetto->lanes + perfetto->lanes_room, 0,
               (room - perfetto->lanes_room) * sizeof *perfetto->lanes);
        perfetto->lanes_room = room;
    }
    return &perfetto->lanes[track];
}

static struct lane *add_lane(struct perfetto *perfetto, struct track track, struct lanes *lanes,
                             const char *category)
{
    lanes->lanes = alloc_resize(lanes->lanes, (lanes->count + 1) * sizeof *lanes->lanes);
    struct lane *lane = &lanes->lanes[lanes->count++];
    *lane = (struct lane){.id = ++perfetto->numbers};
    open_event(perfetto, track, 'n', category, category, lane->id, 0);
    close_event(perfetto, NULL, 0);
    return lane;
}

/* Chooses the lane that became free last before `from`, or adds one. Spans arrive in the order of their ends;
 * for that order this choice needs the fewest lanes. */
static struct lane *choose_lane(struct perfetto *perfetto, struct track track, const char *category,
                                uint64_t from)
{
    struct lanes *lanes = lanes_of(perfetto, track.line);
    struct lane *best = NULL;
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->lanes[i];
        if (lane->free_from <= from && (!best || lane->free_from > best->free_from))
            best = lane;
    }
    return best ? best : add_lane(perfetto, track, lanes, category);
}

static void write_span(struct perfetto *perfetto, struct track track, const struct track_record *record)
{
    struct lane *lane = choose_lane(perfetto, track, record->category, record->from);
    lane->free_from = record->to;
    open_event(perfetto, track, 'b', record->name, record->category, lane->id, record->from);
    close_event(perfetto, record->values, record->value_count);
    for (size_t i = 0; i < record->step_count; i++) {
        const struct track_step *step = &record->steps[i];
        open_event(perfetto, track, 'b', step->name, record->category, lane->id, step->from);
        close_event(perfetto, NULL, 0);
        open_event(perfetto, track, 'e', step->name, record->category, lane->id, step->to);
        close_event(perfetto, NULL, 0);
    }
    open_event(perfetto, track, 'e', record->name, record->category, lane->id, record->to);
    close_event(perfetto, NULL, 0);
}

static bool write_record(struct track track, const struct track_record *record)
{
    static const char phases[] = {
        [TRACK_SLICE] = 'X',   [TRACK_BEGIN] = 'B', [TRACK_END] = 'E',        [TRACK_INSTANT] = 'i',
        [TRACK_COUNTER] = 'C', [TRACK_SPAN] = 'b',  [TRACK_SPAN_BEGIN] = 'b', [TRACK_SPAN_END] = 'e',
    };
    struct perfetto *perfetto = of_sink(track.sink);
    bool ends = record->kind == TRACK_END || record->kind == TRACK_SPAN_END;
    if (!ends && !trace_admit(&perfetto->base))
        return false;
    if (record->kind == TRACK_SPAN) {
        write_span(perfetto, track, record);
        return true;
    }
    open_event(perfetto, track, phases[record->kind], record->name, record->category, record->id,
               record->from);
    if (record->kind == TRACK_SLICE)
        json_time(perfetto->out, "dur", record->to - record->from);
    close_event(perfetto, record->values, record->value_count);
    return true;
}

static struct trace *create(void)
{
    static const struct track_sink_ops ops = {
        .group = open_group, .line = open_line, .id = next_id, .write = write_record};
    struct perfetto *perfetto = alloc(1, sizeof *perfetto);
    perfetto->base.sink = (struct track_sink){.ops = &ops, .forms = TRACK_TIMELINE};
    return &perfetto->base;
}

static void begin_trace(struct trace *trace)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    perfetto->out = &trace->files->out;
    json_begin(perfetto->out);
}

static void end_trace(struct trace *trace)
{
    json_end(((struct perfetto *)trace)->out);
}

static void release(struct trace *trace)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    for (uint32_t i = 0; i < perfetto->lanes_room; i++)
        free(perfetto->lanes[i].lanes);
    free(perfetto->lanes);
    free(perfetto);
}

const struct trace_ops trace_perfetto_ops = {
    .kind = "perfetto",
    .path = "trace.json",
    .event = "slices and marks",
    .create = create,
    .begin = begin_trace,
    .end = end_trace,
    .free = release,
};
