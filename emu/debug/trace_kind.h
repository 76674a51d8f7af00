/* What the kinds of traces have in common: files, a limit, and the functions that each kind fills in. */
#ifndef EMU_DEBUG_TRACE_KIND_H
#define EMU_DEBUG_TRACE_KIND_H

#include "emu/debug/line.h"
#include "emu/debug/trace.h"

struct trace_file {
    struct trace_file *next;
    char *path;
    bool lost; /* something was not written, for a reason unknown */
    struct line_writer out;
};

/* Functions that a kind has no use for are NULL. */
struct trace_ops {
    const char *kind, *path; /* the default one */
    const char *event;       /* what an event is, in the plural, for messages */
    bool unlimited;
    struct trace *(*create)(void); /* zeroed but for its own fields; no file is there yet */
    void (*begin)(struct trace *trace);
    bool (*core)(struct trace *trace, const char *name, const struct clock *clock,
                 struct core_observer *observer, struct error *err);
    bool (*dram)(struct trace *trace, const char *name, const struct dram_config *config,
                 struct dram_observer *observer, struct error *err);
    struct track_sink *(*tracks)(struct trace *trace);
    void (*end)(struct trace *trace, uint64_t now);
    void (*free)(struct trace *trace);
};

/* The beginning of every kind's struct. */
struct trace {
    const struct trace_ops *ops;
    uint64_t limit, events, left_out;
    struct trace_file *files; /* the first one is FILE itself */
    bool first_taken;         /* by trace_part_file() */
};

extern const struct trace_ops trace_perfetto_ops, trace_konata_ops, trace_dram_ops;

/* The file of the next part: FILE for the first one, then FILE.NAME, which is created. NULL with err set when
 * it cannot be. The trace keeps it. */
struct trace_file *trace_part_file(struct trace *trace, const char *name, struct error *err);

/* Whether one more event may be written; counts it either way. */
static inline bool trace_admit(struct trace *trace)
{
    bool admitted = trace->events < trace->limit;
    trace->events += admitted;
    trace->left_out += !admitted;
    return admitted;
}

/* Memory, zeroed, or abort(). */
void *trace_allocate(size_t count, size_t size);
char *trace_copy(const char *text);

#endif
