/* Linux programs in the `user` environment: static, position-independent and dynamically linked ELF files for
 * riscv64 Linux, with threads and signals. The emulator is their kernel.
 *
 * The program runs in user mode of the machine's hosts, in a Sv39 address space whose page tables lie in the machine's
 * memory; so timed machines see its page walks. Traps enter a stub of a few instructions in machine mode, where the
 * emulator serves them (emu/env/linux/linux.c); a call takes the time of the stub. Threads run on the machine's hosts; more
 * threads than hosts take turns. Time, random numbers, process and thread numbers are the same in every run.
 *
 * With a kernel (linux_options.kernel), traps enter it in supervisor mode: it saves and restores registers, switches between threads and
 * waits (host/kernel/linux); the emulator serves it.
 *
 * emu/env/linux/calls.def lists the calls. */
#ifndef EMU_ENV_LINUX_H
#define EMU_ENV_LINUX_H

#include "emu/env/user.h"
#include "emu/machine/machine.h"
#include "emu/machine/system.h"

struct linux_options {
    const struct machine_config *machine;
    const char *kernel;   /* image of the kernel beneath the program; NULL: there is none, --env user */
    const char *firmware; /* for accelerators that take tasks; NULL: none does */
    const struct user_options
        *user; /* sysroot: absolute paths are looked up in it first, to read; net: sockets */
};

struct process;

/* Returns whether the file is a Linux program rather than one of croft cc: an ELF file that asks for a dynamic linker, is
 * position-independent, or says how its stack is protected and has a segment outside of memory. */
bool linux_recognises(const char *path, const struct memory_config *memory);

/* Makes the harts, loads the program and makes its first thread. Returns NULL and sets err if a file or the machine is
 * wrong. options must outlive the result. Release with linux_free(). */
struct process *linux_new(const struct linux_options *options, struct error *err);
void linux_free(struct process *process);

struct system *linux_system(struct process *process);

/* Returns the accelerators, for the timed machine; NULL if none takes tasks. */
struct tasks *linux_tasks(const struct process *process);

/* Returns how far above the addresses that its file says the program is loaded. */
uint64_t linux_bias(const struct process *process);

/* Returns the exit status of a run that ended with `stop`, as user_finish(). */
int linux_finish(struct process *process, enum system_stop stop);

#endif
