/* DRAM command traces as a kind of trace: a file for each memory. */
#include <stdlib.h>

#include "emu/debug/trace_kind.h"
#include "emu/dram/trace.h"

struct memory {
    struct memory *next;
    struct trace_file *file;
    struct dram_trace out;
};

struct dram_traces {
    struct trace base;
    struct memory *memories;
};

static struct trace *create(void)
{
    struct dram_traces *traces = trace_allocate(1, sizeof *traces);
    return &traces->base;
}

static bool watch(struct trace *trace, const char *name, const struct dram_config *config,
                  struct dram_observer *observer, struct error *err)
{
    struct dram_traces *traces = (struct dram_traces *)trace;
    struct trace_file *file = trace_part_file(trace, name, err);
    if (!file)
        return false;
    struct memory *memory = trace_allocate(1, sizeof *memory);
    memory->next = traces->memories;
    traces->memories = memory;
    memory->file = file;
    dram_trace_init(&memory->out, file->out.file, config);
    *observer = *dram_trace_observer(&memory->out);
    return true;
}

static void end(struct trace *trace, uint64_t now)
{
    (void)now;
    for (struct memory *memory = ((struct dram_traces *)trace)->memories; memory; memory = memory->next)
        memory->file->lost |= memory->out.failed;
}

static void release(struct trace *trace)
{
    struct dram_traces *traces = (struct dram_traces *)trace;
    for (struct memory *memory = traces->memories, *next; memory; memory = next) {
        next = memory->next;
        free(memory);
    }
    free(traces);
}

const struct trace_ops trace_dram_ops = {
    .kind = "dram",
    .path = "trace.dram",
    .event = "commands",
    .unlimited = true,
    .create = create,
    .dram = watch,
    .end = end,
    .free = release,
};
