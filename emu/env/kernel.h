/* The `kernel` environment: runs a user program under our own supervisor-mode kernel (host/kernel), which
 * forwards the program's calls. */
#ifndef EMU_ENV_KERNEL_H
#define EMU_ENV_KERNEL_H

#include "emu/env/user.h"
#include "emu/machine/machine.h"
#include "emu/machine/system.h"
#include "isa/include/croft/range.h"

/* Bytes below the stack that stay unmapped, so that a stack overflow traps (Linux: stack_guard_gap, 256
 * pages). */
enum { KERNEL_STACK_GAP = 0x100000 };

struct kernel_options {
    const char *image;                    /* path of the kernel's ELF file */
    const struct machine_config *machine; /* its devices are not made, because the kernel uses none */
    const char *firmware;                 /* for accelerators that take tasks; NULL: none does */
    const struct user_options *user;      /* as in the `user` environment; max_insns includes the kernel's */
};

struct kernel;

/* Loads kernel and program into the machine's memory: first the kernel, its boot block and its bitmap of
 * pages; then the program's image, contiguous; the stack at the end. The program's virtual addresses are
 * those of the `user` environment. Returns NULL and sets err if a file or the machine is wrong. options must
 * outlive the result. Release with kernel_free(). */
struct kernel *kernel_new(const struct kernel_options *options, struct error *err);
void kernel_free(struct kernel *kernel);

/* Returns the system. Hart 0 runs kernel and program. Other hosts, as many as kernel_hosts() allows, run
 * threads that the program makes by clone (host/kernel/hosts.h) and sleep until then. Further hosts always
 * sleep. */
struct system *kernel_system(struct kernel *kernel);

/* Returns the accelerators, for the timed machine; NULL if none takes tasks. */
struct tasks *kernel_tasks(const struct kernel *kernel);

/* Returns the program's threads on multiprocessors (threads.h), or NULL. */
struct threads *kernel_threads(const struct kernel *kernel);

/* Returns the kernel's table of ranges, in the machine's memory; NULL before the program starts. */
const struct croft_range_table *kernel_ranges(const struct kernel *kernel);

/* As user_fault(); the program cannot be resumed then. */
bool kernel_fault(const struct kernel *kernel, enum system_stop stop, struct user_fault *fault);

/* Fails with a message, for debuggers that restart: the program cannot be started again. */
bool kernel_restart(void *kernel, struct error *err);

/* Returns the exit status of a run that ended with `stop`, as user_finish(); 128 + SIGKILL if memory is full,
 * 1 if the kernel itself failed. */
int kernel_finish(struct kernel *kernel, enum system_stop stop);

#endif
