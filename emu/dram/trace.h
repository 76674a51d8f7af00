/* Command traces: what went over the command buses, as text that a checker or a person reads. */
#ifndef EMU_DRAM_TRACE_H
#define EMU_DRAM_TRACE_H

#include <stdio.h>

#include "emu/dram/channel.h"

/* A line for each command, "cycle channel command rank group bank row column" in decimal, `-` where a number
 * means nothing: "1234 0 ACT 0 1 2 511 -". The cycles of one channel ascend. Lines that begin with # are
 * comments. */
struct dram_trace {
    struct dram_observer observer;
    FILE *out;
    const struct dram_command_row *commands;
    bool failed; /* something could not be written */
};

/* Writes the opening comment. The file stays the caller's. */
void dram_trace_init(struct dram_trace *trace, FILE *out, const struct dram_config *config);

/* The observer, the trace's own, that writes to it. */
struct dram_observer *dram_trace_observer(struct dram_trace *trace);

/* Reads the next command of a trace of a memory with these commands (dram_commands()) into *record, skipping
 * comments; *line counts lines from 0 before the first call. At the end of the file record->command is
 * DRAM_COMMANDS. Fails on a line that is none, naming it. */
bool dram_trace_read(FILE *in, const struct dram_command_row *commands, struct dram_record *record,
                     unsigned long *line, struct error *err);

#endif
