/* Semihosting: services that machine-mode programs request from the emulator by a marked EBREAK (RISC-V
 * semihosting 0.95, based on Arm's specification). */
#ifndef EMU_ENV_SEMIHOSTING_H
#define EMU_ENV_SEMIHOSTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "emu/sim/snapshot/snapshot.h"

/* What semihosting uses; everything must outlive the struct semihosting. */
struct semihosting_options {
    const char *dir;              /* the only host folder whose files can be used */
    const char *const *arguments; /* SYS_GET_CMDLINE joins them by blanks */
    size_t argument_count;
    const struct phys *memory;      /* SYS_HEAPINFO offers the part from heap_base on */
    uint64_t heap_base;             /* first address after the program; 0: unknown */
    uint64_t (*now)(void *context); /* nanoseconds of simulated time */
    void (*exit)(void *context, int status);
    void (*put)(void *context, uint8_t byte); /* writes to the console */
    int (*get)(void *context);                /* waits for the console's next byte; -1: end of input */
    void *context;                            /* argument of these functions */
};

struct semihosting;

/* Opens the folder. Returns NULL and sets err on failure. Release with semihosting_free(). */
struct semihosting *semihosting_new(const struct semihosting_options *options, struct error *err);
void semihosting_free(struct semihosting *semihosting);

/* Saves or restores the handles of the console. Open files stay on the host, so they make a snapshot fail. */
void semihosting_snapshot(struct semihosting *semihosting, struct snapshot *snapshot);

/* Serves the call at which the hart has stopped: operation in a0, argument (for most operations the address
 * of a block of 64-bit fields) in a1. Sets a0 to the result and leaves pc (see hart_retire_call()). Bad
 * blocks and addresses return -1; SYS_ERRNO then returns the reason. Returns false if the operation does not
 * exist; a0 is then -1, and a warning is printed once.
 *
 * Files: paths lead only to regular files beneath the folder. `:tt` is the console (standard error in mode
 * a). `:semihosting-features` reports SYS_EXIT_EXTENDED and `:tt` for standard error. SYS_SYSTEM is refused.
 * SYS_TIME begins on 2020-01-01 00:00:00 UTC, and clocks advance with simulated time. SYS_EXIT with reason
 * 0x20026 ends the run with the block's second field as its status; with any other reason the status is 1. */
bool semihosting_call(struct semihosting *semihosting, struct hart *hart);

#endif
