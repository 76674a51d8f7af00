/* Semihosting: services that programs in machine mode ask of the emulator by a marked EBREAK (RISC-V
 * semihosting 0.95, after Arm's specification). */
#ifndef EMU_ENV_SEMIHOSTING_H
#define EMU_ENV_SEMIHOSTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"

/* What semihosting needs of its surroundings; everything must outlive the struct semihosting. */
struct semihosting_options {
    const char *dir;              /* the only host folder whose files can be used */
    const char *const *arguments; /* SYS_GET_CMDLINE joins them by blanks */
    size_t argument_count;
    const struct phys *memory;      /* SYS_HEAPINFO offers what lies behind heap_base */
    uint64_t heap_base;             /* first address behind the program, or 0: unknown */
    uint64_t (*now)(void *context); /* nanoseconds of simulated time */
    void (*exit)(void *context, int status);
    void (*put)(void *context, uint8_t byte); /* to the console */
    int (*get)(void *context); /* the console's next byte, waiting for it; -1: there are no more */
    void *context;             /* of these functions */
};

struct semihosting;

/* Opens the folder. NULL with err set when that fails. Release with semihosting_free(). */
struct semihosting *semihosting_new(const struct semihosting_options *options, struct error *err);
void semihosting_free(struct semihosting *semihosting);

/* Serves the call at which the hart has stopped: operation in a0, argument (for most, the address of a block
 * of 64-bit fields) in a1. The result goes to a0; pc stays (hart_retire_call()). Bad blocks and addresses
 * give -1, which SYS_ERRNO then explains. False if the operation does not exist: a0 is -1, and it is warned
 * of once.
 *
 * Files: paths lead to regular files beneath the folder only; `:tt` is the console (standard error for mode
 * a),
 * `:semihosting-features` tells of SYS_EXIT_EXTENDED and of `:tt` for standard error. SYS_SYSTEM is refused.
 * SYS_TIME begins on 2020-01-01 00:00:00 UTC, and clocks advance by simulated time. SYS_EXIT with reason
 * 0x20026 ends the run with the block's second field as its status, any other reason with 1. */
bool semihosting_call(struct semihosting *semihosting, struct hart *hart);

#endif
