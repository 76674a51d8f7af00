/* Descriptors of Linux programs: files that threads serve to each other, and descriptors for new host files. */
#ifndef EMU_ENV_LINUX_CALLS_DESCRIPTOR_H
#define EMU_ENV_LINUX_CALLS_DESCRIPTOR_H

#include "emu/env/linux/served.h"

enum { GUEST_CLOEXEC = 02000000, GUEST_NONBLOCK = 04000, GUEST_APPEND = 02000 };

/* Returns whether calls of other threads may make the file ready: a pipe, an event counter, an epoll, a socket. Their host
 * descriptors do not block. */
bool descriptor_is_inner(const struct file *file);

/* Returns whether the environment alone makes the file ready: the program only reads it. */
bool descriptor_only_reads(const struct file *file);

/* Returns whether something outside of the program can make the file ready: a standard stream, a socket with --net, or an epoll if one has
 * such a file. */
bool descriptor_is_outer(const struct process *process, const struct file *file);

/* Lets a thread whose call cannot go on wait until the file may be ready for `events`, but not longer than until `deadline`. The call then
 * comes again. Returns LINUX_WAITS, or LINUX_TURNS if it is ready; 0: the deadline is over; or -EINTR. */
int64_t descriptor_await(struct process *process, struct thread *thread, uint64_t descriptor, short events,
                         uint64_t deadline);

/* The same for what cannot be polled: the call comes again after 1 ms, in real time, too, if no other thread can run. Returns LINUX_WAITS;
 * 0: the deadline is over; or -EINTR. */
int64_t descriptor_try_later(struct process *process, struct thread *thread, uint64_t deadline);

/* Lets a thread wait until another one has used the file; the call, which has moved `done` bytes so far, then comes again and finds them
 * in thread->moved. Returns LINUX_WAITS; or, when a signal comes, `done`, or if that is 0 -EINTR. */
int64_t descriptor_wait_again(struct process *process, struct thread *thread, uint64_t done);

/* Lets shared mappings of an open host file agree with it: stores what the program has written to them `before` a call uses the file;
 * after that shows what has changed, its length, too. */
void descriptor_agree(struct process *process, int host, bool before);

/* Lets a thread wait for input of a standard stream while others run. Returns 0 if there is some or the program has no other
 * thread, LINUX_WAITS (the call comes again) or -EINTR. */
int64_t descriptor_await_input(struct process *process, struct thread *thread, uint64_t descriptor);

/* Makes a guest descriptor for an open host file, with the access mode and flags that the guest asked for. Returns it or -errno;
 * then the host file is closed. */
int64_t descriptor_add(struct process *process, int host, int mode, uint64_t flags);

/* The same of a file that the environment itself serves. */
int64_t descriptor_add_own(struct process *process, int host, uint64_t flags, unsigned kind, uint64_t own);

/* Makes descriptors of signals ready on the host if a signal of their set waits for the thread. */
void descriptor_show_signals(const struct process *process, const struct thread *thread);

/* Reads signals; a[1..2] are address and length, or with `vectors` the buffers and their number. Returns their bytes, -EAGAIN if none
 * waits, or -errno. */
int64_t descriptor_read_signals(struct process *process, struct thread *thread, const struct file *file,
                                const uint64_t a[6], bool vectors);

/* Sets the length of an open host file. Returns 0 or -errno. */
int64_t descriptor_truncate(struct process *process, int host, uint64_t length);

#endif
