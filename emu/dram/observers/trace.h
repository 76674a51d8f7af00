/* Command traces: the commands on the command buses, as text for checkers and people. */
#ifndef EMU_DRAM_OBSERVERS_TRACE_H
#define EMU_DRAM_OBSERVERS_TRACE_H

#include <stdio.h>

#include "emu/dram/config.h"
#include "emu/dram/controller/record.h"
#include "emu/sim/report/track.h"

/* Each command is a line "cycle channel command rank group bank row column" in decimal, with `-` for a number
 * without meaning: "1234 0 ACT 0 1 2 511 -". The cycles of a channel ascend. Lines that begin with # are
 * comments. */
struct dram_trace;

/* Makes a trace, and writes its opening comment to a stream that takes text (emu/sim/report/track.h). Never NULL. */
struct dram_trace *dram_trace_new(struct track stream, const struct dram_config *config);
void dram_trace_free(struct dram_trace *trace); /* NULL is allowed */

/* Returns the observer to add to the memory. It belongs to the trace. */
struct dram_observer *dram_trace_observer(struct dram_trace *trace);

/* Reads the next command of a trace into *record, skipping comments. `commands` are those of the memory
 * (dram_commands()). *line counts lines and must be 0 before the first call. At the end of the file, sets
 * record->command to DRAM_COMMANDS. Fails on a line that is not a command; the message names the line. */
bool dram_trace_read(FILE *in, const struct dram_command_row *commands, struct dram_record *record,
                     unsigned long *line, struct error *err);

#endif
