/* Descriptors of Linux programs: files that threads serve to each other, and descriptors for new host files. */
#ifndef EMU_ENV_LINUX_CALLS_DESCRIPTOR_H
#define EMU_ENV_LINUX_CALLS_DESCRIPTOR_H

#include "emu/env/linux/served.h"

enum { GUEST_CLOEXEC = 02000000, GUEST_NONBLOCK = 04000, GUEST_APPEND = 02000 };

/* Returns whether threads of the program alone use the other end of the file: a pipe, an event counter, an epoll. Their
 * host descriptors do not block. */
bool descriptor_is_inner(const struct file *file);

/* Lets a thread wait for input of a standard stream while others run. Returns 0 if there is some or the program has no other
 * thread, LINUX_WAITS (the call comes again) or -EINTR. */
int64_t descriptor_await_input(struct process *process, struct thread *thread, uint64_t descriptor);

/* Makes a guest descriptor for an open host file, with the access mode and flags that the guest asked for. Returns it or -errno;
 * then the host file is closed. */
int64_t descriptor_add(struct process *process, int host, int mode, uint64_t flags);

/* The same of a file that the environment itself serves, to read from. */
int64_t descriptor_add_own(struct process *process, int host, uint64_t flags, unsigned kind, uint64_t own);

/* Makes descriptors of signals ready on the host if a signal of their set waits for the thread. */
void descriptor_show_signals(const struct process *process, const struct thread *thread);

/* Reads signals; a[1..2] are address and length. Returns their bytes, -EAGAIN if none waits, or -errno. */
int64_t descriptor_read_signals(struct process *process, struct thread *thread, const struct file *file,
                                const uint64_t a[6]);

/* Sets the length of an open host file. Returns 0 or -errno. */
int64_t descriptor_truncate(struct process *process, int host, uint64_t length);

#endif
