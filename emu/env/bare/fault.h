/* Traps that end a machine-mode program: those at which it gives up (CROFT_MARKER_FAULT), and trap loops. */
#ifndef EMU_ENV_BARE_FAULT_H
#define EMU_ENV_BARE_FAULT_H

#include "emu/env/bare.h"
#include "emu/hart/hart.h"

enum { BARE_FAULT_TEXT = 256 };

/* The trap at which the program has given up last. */
struct bare_fault {
    uint64_t cause;             /* mcause */
    int status;                 /* exit status; 0: the program has not given up */
    char text[BARE_FAULT_TEXT]; /* what happened, in the program's words */
};

/* Serves CROFT_MARKER_FAULT, which has just retired: moves the hart back to the trap. Returns false, after a warning, if
 * the marker's value is no struct croft_fault in memory. */
bool bare_fault_take(struct bare_fault *fault, struct hart *hart);

/* Describes the trap at which the hart stands: the cause, the place, registers and callers. Returns the exit status. */
int bare_fault_report(const struct bare_fault *fault, const struct hart *hart,
                      const struct bare_options *options);

#endif
