/* Reading and writing, and the files that threads of a program serve to each other: pipes, event counters. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/calls/socket.h"
#include "emu/env/linux/served.h"

bool descriptor_is_inner(const struct file *file)
{
    struct stat st;
    return file && !file->standard && !file->folder && fstat(file->host, &st) == 0 && !S_ISREG(st.st_mode) &&
           !S_ISDIR(st.st_mode) && !S_ISCHR(st.st_mode);
}

/* Makes the guest's descriptors of both ends of a new pipe. */
static int64_t add_pair(struct process *process, const int host[2], uint64_t flags, int32_t guest[2])
{
    int64_t from = descriptor_add(process, host[0], O_RDONLY, flags);
    if (from < 0) {
        (void)close(host[1]);
        return from;
    }
    int64_t to = descriptor_add(process, host[1], O_WRONLY, flags);
    if (to < 0) {
        (void)files_close(&process->user->files, (uint64_t)from);
        return to;
    }
    const uint64_t number = own_file_number(process);
    files_get(&process->user->files, (uint64_t)from)->number = number;
    files_get(&process->user->files, (uint64_t)to)->number = number;
    guest[0] = (int32_t)from;
    guest[1] = (int32_t)to;
    return 0;
}

int64_t linux_pipe(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int host[2];
    int32_t guest[2];
    (void)thread;
    if (a[1] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK))
        return -EINVAL;
    if (!guest_writable(process->user, a[0], sizeof guest))
        return -EFAULT;
    if (pipe2(host, O_CLOEXEC | O_NONBLOCK) != 0)
        return -errno;
    int64_t failed = add_pair(process, host, a[1], guest);
    return failed ? failed : guest_put(process->user, a[0], guest, sizeof guest);
}

int64_t linux_eventfd(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SEMAPHORE = 1 };
    (void)thread;
    if (a[1] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK | SEMAPHORE))
        return -EINVAL;
    int host = eventfd((unsigned)a[0], EFD_CLOEXEC | EFD_NONBLOCK | (a[1] & SEMAPHORE ? EFD_SEMAPHORE : 0));
    return host < 0 ? -errno : descriptor_add(process, host, O_RDWR, a[1]);
}

/* A call that reads or writes. */
struct request {
    const uint64_t *a;
    bool writes, vectors;
    bool positioned; /* at a[3] */
};

static bool may_wait(const struct file *file)
{
    return !(file->flags & GUEST_NONBLOCK);
}

/* Returns 0 if an inner file can be used like this, or -errno. Sets *whole to the bytes that the call must transfer before it
 * returns; 0: any number will do. */
static int64_t check_inner(struct process *process, const struct file *file, const struct request *r,
                           uint64_t *whole)
{
    enum { EVENT = 8 }; /* bytes of an event counter */
    struct stat st;
    uint64_t total, first;
    *whole = 0;
    if ((file->flags & O_ACCMODE) == (r->writes ? O_RDONLY : O_WRONLY))
        return -EBADF;
    int64_t failed = call_measure(process->user, r->a, r->vectors, &total, &first);
    if (failed || (descriptor_only_reads(file) && r->writes))
        return failed ? failed : -EINVAL;
    if (fstat(file->host, &st) != 0 || (r->vectors && total == 0))
        return 0;
    if (!S_ISFIFO(st.st_mode))
        return (r->writes ? first : total) < EVENT ? -EINVAL : 0;
    *whole = r->writes && may_wait(file) ? total : 0;
    return 0;
}

/* Returns whether a standard stream on which the program does not want to wait is not ready. */
static bool would_wait(const struct file *file, bool writes)
{
    struct pollfd ready = {.fd = file->host, .events = writes ? POLLOUT : POLLIN};
    return file->standard && (file->flags & GUEST_NONBLOCK) && poll(&ready, 1, 0) == 0;
}

/* Returns whether a call reads bytes of a standard stream and waits for them. */
static bool awaits(struct process *process, const struct file *file, const struct request *r)
{
    uint64_t total, first;
    return file && file->standard && !r->writes && may_wait(file) &&
           call_measure(process->user, r->a, r->vectors, &total, &first) == 0 && total > 0;
}

/* Transfers what can be transferred now, from byte `done` on; a blocking write to a pipe goes on until `whole` bytes are written.
 * Returns the number of bytes with those before, or -errno with *done bytes transferred. */
static int64_t move(struct process *process, const struct request *r, uint64_t whole, uint64_t *done)
{
    for (;;) {
        int64_t moved = call_continue(process->user, r->a, r->writes, r->vectors, *done);
        if (moved < 0)
            return moved;
        *done += (uint64_t)moved;
        if (*done >= whole)
            return (int64_t)*done;
    }
}

int64_t descriptor_wait_again(struct process *process, struct thread *thread, uint64_t done)
{
    if (done > 0)
        threads_repeat(process);
    if (signal_is_due(process, thread))
        return done > 0 ? (int64_t)done : -EINTR;
    thread_wait(process, thread, WAIT_AGAIN, LINUX_NEVER, 0);
    thread->moved = done;
    return LINUX_WAITS;
}

/* Returns the part of a regular file that the call uses; length 0: nobody maps it. */
static struct space_part part_of(struct process *process, const struct file *file, const struct request *r)
{
    struct space_part part = {0};
    struct stat st;
    uint64_t first;
    if (!process->space.shares || !file || fstat(file->host, &st) != 0 || !S_ISREG(st.st_mode) ||
        call_measure(process->user, r->a, r->vectors, &part.length, &first) != 0)
        return (struct space_part){0};
    const off_t at = r->positioned ? (off_t)r->a[3] : lseek(file->host, 0, SEEK_CUR);
    part.device = st.st_dev;
    part.inode = st.st_ino;
    part.offset = r->writes && (file->flags & GUEST_APPEND) ? (uint64_t)st.st_size : (uint64_t)at;
    return part;
}

/* Lets mappings show these bytes of a file, and follow its size. */
static void show_change(struct process *process, const struct space_part *part)
{
    address_space_reload(&process->space, part);
    address_space_fit(&process->space, part->device, part->inode);
}

/* Serves a call on a file that no other thread serves, so that shared mappings of it agree with it. */
static int64_t use_file(struct process *process, const struct file *file, const struct request *r)
{
    static int64_t (*const positioned[2][2])(struct user * user, const uint64_t a[6]) = {
        {call_pread, call_pwrite}, {call_preadv, call_pwritev}};
    const struct space_part part = part_of(process, file, r);
    if (part.length > 0)
        address_space_store(&process->space, &part);
    int64_t result = r->positioned ? positioned[r->vectors][r->writes](process->user, r->a)
                                   : call_continue(process->user, r->a, r->writes, r->vectors, 0);
    if (r->writes && part.length > 0)
        show_change(process, &part);
    return result;
}

/* Names a thread as what is written to its file in /proc says. */
static int64_t write_name(struct process *process, const struct file *file, const struct request *r)
{
    struct thread *thread = thread_find(process, (int32_t)file->own);
    const uint64_t most = thread ? sizeof thread->name - 1 : 0, length = r->a[2] < most ? r->a[2] : most;
    if (!r->writes || r->vectors)
        return -EINVAL;
    const void *from = guest_readable(process->user, r->a[1], length);
    if (!thread || !from)
        return thread ? -EFAULT : -ESRCH;
    memset(thread->name, 0, sizeof thread->name);
    memcpy(thread->name, from, length);
    return (int64_t)r->a[2];
}

static int64_t transfer(struct process *process, struct thread *thread, const struct request *r)
{
    int64_t no_socket;
    struct file *file = files_get(&process->user->files, r->a[0]);
    const struct file *socket = socket_of(process, r->a[0], &no_socket);
    if (socket)
        return socket_transfer(process, thread, socket, r->a, r->writes, r->vectors);
    if (file && file->kind == FILE_NAME)
        return write_name(process, file, r);
    bool inner = descriptor_is_inner(file);
    uint64_t whole = 0, done = thread->moved;
    int64_t failed = inner ? check_inner(process, file, r, &whole) : 0;
    thread->moved = 0;
    if (failed || (file && would_wait(file, r->writes)))
        return failed ? failed : -EAGAIN;
    if (awaits(process, file, r))
        failed = descriptor_await_input(process, thread, r->a[0]);
    if (failed)
        return failed;
    struct guest_signal *action = &process->user->signals[SIGPIPE];
    const struct guest_signal kept = *action;
    action->handler = 1; /* SIG_IGN: a broken pipe's signal is sent here */
    int64_t result = inner && file->kind == FILE_SIGNALS
                         ? descriptor_read_signals(process, thread, file, r->a, r->vectors)
                     : inner ? move(process, r, whole, &done)
                             : use_file(process, file, r);
    *action = kept;
    if (inner && result == -EAGAIN && may_wait(file))
        return descriptor_wait_again(process, thread, done);
    if (result == -EPIPE) {
        const struct queued_signal signal = {.number = SIGPIPE, .sender = GUEST_PROCESS_ID};
        signal_send(process, thread, &signal);
    }
    if (inner)
        threads_repeat(process);
    return result < 0 && done > 0 ? (int64_t)done : result;
}

int64_t linux_read(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, false, false, false});
}

int64_t linux_write(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, true, false, false});
}

int64_t linux_readv(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, false, true, false});
}

int64_t linux_writev(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, true, true, false});
}

int64_t linux_pread(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, false, false, true});
}

int64_t linux_pwrite(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]), &(struct request){a, true, false, true});
}

int64_t linux_preadv(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]), &(struct request){a, false, true, true});
}

int64_t linux_pwritev(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]), &(struct request){a, true, true, true});
}

/* preadv2 and pwritev2: a[3] is the position, -1: that of the file; a[5]: flags. */
static int64_t transfer_flagged(struct process *process, struct thread *thread, const uint64_t a[6],
                                bool writes)
{
    enum { HARMLESS = 7 }; /* of high priority, written at once */
    if (a[5] & ~(uint64_t)HARMLESS)
        return -EOPNOTSUPP;
    if ((int64_t)a[3] == -1)
        return transfer(process, thread, &(struct request){a, writes, true, false});
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, writes, true, true});
}

int64_t linux_preadv2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_flagged(process, thread, a, false);
}

int64_t linux_pwritev2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_flagged(process, thread, a, true);
}

void descriptor_agree(struct process *process, int host, bool before)
{
    struct stat st;
    if (!process->space.shares || fstat(host, &st) != 0)
        return;
    const struct space_part part = {st.st_dev, st.st_ino, 0, UINT64_MAX};
    if (before)
        address_space_store(&process->space, &part);
    else
        show_change(process, &part);
}

/* Mappings show the bytes behind a new end as zeros. */
int64_t descriptor_truncate(struct process *process, int host, uint64_t length)
{
    descriptor_agree(process, host, true);
    const int64_t result = ftruncate(host, (off_t)length) != 0 ? -errno : 0;
    descriptor_agree(process, host, false);
    return result;
}

int64_t linux_ftruncate(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    return file ? descriptor_truncate(process, file->host, a[1]) : -EBADF;
}
