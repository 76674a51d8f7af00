/* What the tests of traces share: a folder, and whole files as text. */
#ifndef TESTS_DEBUG_TRACE_RIG_H
#define TESTS_DEBUG_TRACE_RIG_H

#include <inttypes.h>

#include "emu/core/report/passage.h"
#include "emu/debug/trace.h"
#include "emu/dram/observers/trace.h"
#include "tests/dram/rig.h"
#include "tests/machine/folder.h"

static inline const char *in_folder(void **state, const char *name)
{
    static char path[256];
    const struct folder *folder = *state;
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return path;
}

static inline struct trace *trace_new(void **state, const char *kind, const char *name)
{
    struct error err;
    struct trace *trace = trace_open(kind, in_folder(state, name), &err);
    if (!trace)
        fail_msg("%s", err.text);
    return trace;
}

static inline void trace_done(struct trace *trace, uint64_t now)
{
    struct error err;
    if (!trace_close(trace, now, &err))
        fail_msg("%s", err.text);
}

/* The whole file; free() it. */
static inline char *read_text(void **state, const char *name)
{
    FILE *in = fopen(in_folder(state, name), "r");
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    assert_non_null(in);
    for (size_t got; (got = fread(text + size, 1, room - size - 1, in)) > 0;) {
        size += got;
        if (size + 1 == room)
            text = realloc(text, room *= 2);
    }
    text[size] = '\0';
    fclose(in);
    return text;
}

#endif
