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

/* Sets the length of an open host file. Returns 0 or -errno. */
int64_t descriptor_truncate(struct process *process, int host, uint64_t length);

#endif
