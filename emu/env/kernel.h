/* The `kernel` environment: a user program beneath our own supervisor-mode kernel (host/kernel), which
 * forwards its calls. */
#ifndef EMU_ENV_KERNEL_H
#define EMU_ENV_KERNEL_H

#include "emu/env/user.h"
#include "emu/machine/machine.h"
#include "emu/machine/system.h"
#include "isa/include/croft/range.h"

/* Nothing is mapped in so many bytes beneath the stack, so
 * that an overflow is caught (Linux: stack_guard_gap, 256 pages). */
enum { KERNEL_STACK_GAP = 0x100000 };

struct kernel_options {
    const char *image;                    /* the kernel's ELF file */
    const struct machine_config *machine; /* its devices are not made: the kernel uses none */
    const char *firmware;                 /* of accelerators, if they are to take tasks; or NULL */
    const struct user_options *user; /* as in the `user` environment; max_insns counts the kernel's too */
};

struct kernel;

/* Loads kernel and program into the machine's memory: the kernel, its boot block and its bitmap of pages
 * first; behind them the program's image, contiguous; the stack at the end. The program's addresses are those
 * of the `user` environment. NULL with err set when something is wrong with a file or the machine. options
 * must outlive it. Release with kernel_free(). */
struct kernel *kernel_new(const struct kernel_options *options, struct error *err);
void kernel_free(struct kernel *kernel);

/* Hart 0 runs kernel and program; the others sleep. */
struct system *kernel_system(struct kernel *kernel);

/* For the timed machine; or NULL. */
struct nucd *kernel_nucd(const struct kernel *kernel);

/* The kernel's table of ranges, in the machine's memory; NULL before the program starts. */
const struct croft_range_table *kernel_ranges(const struct kernel *kernel);

/* Refuses to start the program again, with a message, for debuggers that would. */
bool kernel_restart(void *kernel, struct error *err);

/* The exit status of a run that has ended so, as user_finish(); 128 + SIGKILL when memory is full, 1 when the kernel
 * itself has failed. */
int kernel_finish(struct kernel *kernel, enum system_stop stop);

#endif
