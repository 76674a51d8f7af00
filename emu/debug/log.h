/* Logs of instructions and traps in the formats of the Spike simulator. */
#ifndef EMU_DEBUG_LOG_H
#define EMU_DEBUG_LOG_H

#include <stdint.h>

#include "emu/hart/step.h"
#include "emu/sim/error.h"

struct log;

/* "commit", "insn", "trap", NULL. */
extern const char *const log_kinds[];

/* Checks that KIND[:FILE] names a kind of log. Otherwise returns false and sets err to a message with the
 * allowed kinds. */
bool log_check(const char *kind_and_file, struct error *err);

/* Opens a log from the option's value, KIND[:FILE]. Kind `commit` logs what each instruction changed; `insn`
 * logs each instruction's text before its execution. Both log exceptions and interrupts; `trap` logs only these.
 * Creates or truncates FILE; without
 * FILE the log goes to standard error. Returns NULL with err set when the kind is unknown or the file cannot
 * be written. */
struct log *log_open(const char *kind_and_file, struct error *err);

/* Writes buffered text, closes and frees the log. False with err set when a write failed. NULL is allowed. */
bool log_close(struct log *log, struct error *err);

/* Writes buffered text to the host's file, so that it precedes any output printed later. */
void log_flush(struct log *log);

/* Logs one executed instruction. Call it just after the instruction, before the hart's state changes again. */
void log_report(struct log *log, const struct hart *hart, const struct step_report *report);

/* Returns whether the log is of traps and interrupts only: then harts need not be stepped, and log_taken() suffices. */
bool log_is_sparse(const struct log *log);

/* The function for hart->taken; the context is the log. */
void log_taken(void *log, const struct hart *hart, const struct hart_taken *taken);

/* Runs up to max_insns instructions like hart_run(), one at a time, and logs each. */
enum hart_stop log_run(struct log *log, struct hart *hart, uint64_t max_insns);

#endif
