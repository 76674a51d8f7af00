/* --jit=check: each run of a region beside single steps of the same instructions. */
#ifndef EMU_JIT_CHECK_H
#define EMU_JIT_CHECK_H

#include "emu/hart/exec/compiled.h"

struct hart;

/* Told of the first difference: a text without a newline. */
struct check_listener {
    void (*differs)(void *context, const char *text);
    void *context;
};

/* Executes the next instructions by steps, takes that back, and runs the region from the entry on, for about as many instructions. Then
 * compares the place where it was left, registers, flags, the reservation, and what the steps have stored. Returns the exit, with
 * what is left of the budget in hart->budget. A store of the region elsewhere is not noticed until it is read. */
uint32_t check_run(struct hart *hart, const struct compiled_entry *entry, int64_t budget,
                   const struct check_listener *listener);

#endif
