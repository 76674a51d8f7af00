#include "emu/debug/trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/debug/trace/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

const char *const trace_kinds[] = {"perfetto", "konata", "dram", "nucd", "memory", NULL};

static const struct trace_ops *const kinds[] = {&trace_perfetto_ops, &trace_konata_ops, &trace_dram_ops,
                                                &trace_nucd_ops, &trace_memory_ops};

_Static_assert(sizeof kinds / sizeof *kinds == TRACE_KINDS &&
                   sizeof trace_kinds / sizeof *trace_kinds == TRACE_KINDS + 1,
               "each kind has a name");

static int find_kind(const char *text, size_t length, struct error *err)
{
    char given[32];
    (void)snprintf(given, sizeof given, "%.*s", (int)(length < sizeof given ? length : sizeof given), text);
    for (int i = 0; i < TRACE_KINDS; i++)
        if (strcmp(given, trace_kinds[i]) == 0)
            return i;
    error_set(err, "--trace: unknown kind '%s'%s, optionally followed by :FILE", given,
              nearest_allowed(given, trace_kinds, TRACE_KINDS).text);
    return -1;
}

bool trace_parse(const char *kind_and_file, const char **kind, const char **path, struct error *err)
{
    const char *colon = strchr(kind_and_file, ':');
    int found =
        find_kind(kind_and_file, colon ? (size_t)(colon - kind_and_file) : strlen(kind_and_file), err);
    if (found < 0)
        return false;
    *kind = trace_kinds[found];
    *path = colon ? colon + 1 : NULL;
    if (*path && strcmp(*path, "-") == 0)
        return error_set(err, "--trace: '-' is not allowed: standard output is for the program's output, or "
                              "the report; name a file");
    return !colon || colon[1] != '\0' ||
           error_set(err, "--trace: '%s:' lacks a file name; allowed: %s, %s:FILE", *kind, *kind, *kind);
}

const char *trace_path(const char *kind, const char *path)
{
    for (int i = 0; !path && i < TRACE_KINDS; i++)
        if (strcmp(kind, trace_kinds[i]) == 0)
            path = kinds[i]->path;
    return path;
}

struct trace *trace_open(const char *kind, const char *path, struct error *err)
{
    int found = find_kind(kind, strlen(kind), err);
    if (found < 0)
        return NULL;
    const struct trace_ops *ops = kinds[found];
    struct trace_file *file = trace_file_open(path ? path : ops->path, err);
    if (!file)
        return NULL;
    struct trace *trace = ops->create();
    trace->ops = ops;
    trace->limit = ops->unlimited ? UINT64_MAX : TRACE_EVENTS;
    trace->files = file;
    if (ops->begin)
        ops->begin(trace);
    return trace;
}

void trace_set_limit(struct trace *trace, uint64_t events)
{
    if (!trace->ops->unlimited)
        trace->limit = events;
}

struct track_sink *trace_tracks(struct trace *trace)
{
    return trace ? &trace->sink : NULL;
}

bool trace_ready(const struct trace *trace, struct error *err)
{
    for (size_t i = 0; trace && i < trace->part_count; i++)
        if (!trace_ready(trace->parts[i], err))
            return false;
    return !trace || !*trace->failure.text || error_set(err, "%s", trace->failure.text);
}

bool trace_warning(const struct trace *trace, struct error *warning)
{
    if (trace->left_out == 0)
        return false;
    (void)error_set(warning,
                    "--trace: %s holds the first %" PRIu64 " %s; %" PRIu64
                    " more were dropped, because viewers cannot load larger files",
                    trace->files->path, trace->events, trace->ops->event, trace->left_out);
    return true;
}

bool trace_close(struct trace *trace, uint64_t now, struct error *err)
{
    if (!trace)
        return true;
    OBSERVER_TELL(&trace->sink.ends, struct track_end, end, now);
    if (trace->ops->end)
        trace->ops->end(trace);
    bool good = true;
    for (size_t i = 0; i < trace->part_count; i++) {
        struct error later;
        good = trace_close(trace->parts[i], now, good ? err : &later) && good;
    }
    for (struct trace_file *file = trace->files, *next; file; file = next) {
        next = file->next;
        good = trace_file_close(file, good, err) && good;
    }
    trace->ops->free(trace);
    return good;
}
