/* Traps into machine mode: the vector, and C handlers for each cause. */
#ifndef CROFT_FIRMWARE_TRAP_H
#define CROFT_FIRMWARE_TRAP_H

#include <stdbool.h>

/* What the vector saves and, when the handler returns, restores; handlers may change it. Floating-point
 * registers that C code may change are saved behind it. */
struct trap_frame {
    unsigned long x[32];  /* x[0] is unused */
    unsigned long pc;     /* mepc */
    unsigned long status; /* mstatus */
    unsigned long cause;  /* mcause */
    unsigned long value;  /* mtval */
};

typedef void trap_handler(struct trap_frame *frame);

enum { TRAP_EXCEPTIONS = 64, TRAP_INTERRUPTS = 64 };

/* Sets the handler of an exception (cause 0-63) or an interrupt (number 0-63); NULL restores the default,
 * which prints the trap and ends the program with status 128 + n, n being the signal that a C programmer
 * would expect. The handlers are common to all harts. They run with interrupts disabled. An exception's
 * handler that wants to go on behind the instruction adds its length to frame->pc (trap_instruction_length).
 * False if the number is too large. */
bool trap_set_exception(unsigned cause, trap_handler *handler);
bool trap_set_interrupt(unsigned number, trap_handler *handler);

/* 2 or 4: the length in bytes of the instruction at pc. */
unsigned trap_instruction_length(unsigned long pc);

/* Makes this hart take its interrupts through a table of jumps, one for each number (mtvec mode 1), or all
 * traps at one address (mode 0, as at the start). The handlers are the same. */
void trap_use_vectors(bool vectored);

/* Disables this hart's interrupts (mstatus.MIE) and says whether they were enabled; and the reverse. */
bool trap_disable(void);
void trap_enable(void);

/* Traps from a lower privilege mode use the stack whose top mscratch holds; it is 0 in machine mode. Whoever
 * leaves machine mode by mret for the first time puts it there. */

#endif
