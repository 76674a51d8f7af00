/* Logs of every instruction, in the two formats of the Spike simulator. */
#ifndef EMU_DEBUG_LOG_H
#define EMU_DEBUG_LOG_H

#include <stdint.h>

#include "emu/hart/step.h"
#include "emu/sim/error.h"

struct log;

/* Whether KIND[:FILE] names a kind of log; if not, err says what is allowed. */
bool log_check(const char *kind_and_file, struct error *err);

/* Opens a log from the option's value, KIND[:FILE]: kind `commit` writes what each instruction has changed,
 * `insn` each instruction's text before it is executed; exceptions appear in both. FILE is created or
 * emptied; without one the log goes to standard error. NULL with err set when the kind is unknown or the file
 * cannot be written. */
struct log *log_open(const char *kind_and_file, struct error *err);

/* Writes what is buffered and closes the log. False when not everything could be written. NULL is allowed. */
bool log_close(struct log *log, struct error *err);

/* Hands what is buffered to the host, so that it stands in front of what is printed next. */
void log_flush(struct log *log);

/* Logs what one executed instruction has done, just after it, with the hart as it left it. */
void log_report(struct log *log, struct hart *hart, const struct step_report *report);

/* Runs up to max_insns instructions like hart_run(), one by one, and logs each. */
enum hart_stop log_run(struct log *log, struct hart *hart, uint64_t max_insns);

#endif
