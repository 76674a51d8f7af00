#include "emu/debug/trace/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

struct trace_file *trace_file_open(const char *path, struct error *err)
{
    FILE *stream = fopen(path, "w");
    if (!stream) {
        error_set(err, "--trace: cannot write %s: %s", path, strerror(errno));
        return NULL;
    }
    struct trace_file *file = alloc(1, sizeof *file);
    file->path = alloc_text(path);
    line_open(&file->out, stream);
    return file;
}

bool trace_file_close(struct trace_file *file, bool good, struct error *err)
{
    line_flush(&file->out);
    int failure = file->out.failure;
    if (fclose(file->out.file) != 0 && !failure)
        failure = errno;
    bool whole = !failure && !file->lost;
    if (!whole && good)
        error_set(err, "--trace: writing %s failed%s%s", file->path, failure ? ": " : "",
                  failure ? strerror(failure) : "");
    free(file->path);
    free(file);
    return whole;
}

struct trace_file *trace_stream_file(struct trace *trace, const char *name)
{
    struct trace_file *first = trace->files;
    if (!trace->first_taken) {
        trace->first_taken = true;
        return first;
    }
    size_t size = strlen(first->path) + strlen(name) + 2;
    char *path = alloc(size, 1);
    (void)snprintf(path, size, "%s.%s", first->path, name);
    struct trace_file *file = trace_file_open(path, &trace->failure);
    free(path);
    if (!file)
        return NULL;
    file->next = first->next;
    first->next = file;
    return file;
}

struct track trace_no_group(struct track_sink *sink, const char *name)
{
    (void)name;
    return (struct track){.sink = sink};
}

struct track trace_no_line(struct track group, const char *name)
{
    (void)name;
    return group;
}

uint32_t trace_no_id(struct track_sink *sink)
{
    (void)sink;
    return 0;
}

bool trace_no_record(struct track track, const struct track_record *record)
{
    (void)track;
    (void)record;
    return false;
}
