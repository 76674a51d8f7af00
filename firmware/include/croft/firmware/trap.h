/* Traps into machine mode: the vector, and C handlers for each cause. */
#ifndef CROFT_FIRMWARE_TRAP_H
#define CROFT_FIRMWARE_TRAP_H

#include <stdbool.h>

/* The state that the vector saves, and restores when the handler returns; handlers may change it.
 * Caller-saved floating-point registers are saved after it. */
struct trap_frame {
    unsigned long x[32];  /* x[0] is unused */
    unsigned long pc;     /* mepc */
    unsigned long status; /* mstatus */
    unsigned long cause;  /* mcause */
    unsigned long value;  /* mtval */
};

typedef void trap_handler(struct trap_frame *frame);

enum { TRAP_EXCEPTIONS = 64, TRAP_INTERRUPTS = 64 };

/* Sets the handler of an exception (cause 0 to 63) or interrupt (number 0 to 63). NULL restores the default,
 * which prints the trap and ends the program with status 128 + the number of the signal that Linux would
 * send (for a stack overflow 139; then no handler is called if the stack has no room for its frame). All harts share the handlers. Handlers run with interrupts disabled. To skip the instruction, an
 * exception handler adds its length to frame->pc (trap_instruction_length()). False if the number is too
 * large. */
bool trap_set_exception(unsigned cause, trap_handler *handler);
bool trap_set_interrupt(unsigned number, trap_handler *handler);

/* Returns the length in bytes, 2 or 4, of the instruction at pc. */
unsigned trap_instruction_length(unsigned long pc);

/* Makes this hart take interrupts through a table with one jump per number (mtvec mode 1), or all traps at
 * one address (mode 0, the initial state). The handlers are the same. */
void trap_use_vectors(bool vectored);

/* trap_disable() disables this hart's interrupts (mstatus.MIE) and returns true if they were enabled.
 * trap_enable() enables them. */
bool trap_disable(void);
void trap_enable(void);

/* Traps from a lower privilege mode use the stack whose top is in mscratch; in machine mode mscratch is 0.
 * Code that leaves machine mode by mret for the first time must set it. */

#endif
