/* Command traces: what went over the command buses, as text that a checker or a person reads. */
#ifndef EMU_DRAM_TRACE_H
#define EMU_DRAM_TRACE_H

#include <stdio.h>

#include "emu/dram/channel.h"
#include "emu/sim/track.h"

/* A line for each command, "cycle channel command rank group bank row column" in decimal, `-` where a number
 * means nothing: "1234 0 ACT 0 1 2 511 -". The cycles of one channel ascend. Lines that begin with # are
 * comments. */
struct dram_trace;

/* Writes the opening comment to a stream that takes text (emu/sim/track.h). Never NULL. */
struct dram_trace *dram_trace_new(struct track stream, const struct dram_config *config);
void dram_trace_free(struct dram_trace *trace); /* NULL is allowed */

/* What is to be told, its own. */
struct dram_observer *dram_trace_observer(struct dram_trace *trace);

/* Reads the next command of a trace of a memory with these commands (dram_commands()) into *record, skipping
 * comments; *line counts lines from 0 before the first call. At the end of the file record->command is
 * DRAM_COMMANDS. Fails on a line that is none, naming it. */
bool dram_trace_read(FILE *in, const struct dram_command_row *commands, struct dram_record *record,
                     unsigned long *line, struct error *err);

#endif
