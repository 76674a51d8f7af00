/* Reading and writing, and the files that threads of a program serve to each other: pipes, event counters, pairs of sockets. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/served.h"

bool descriptor_is_inner(const struct file *file)
{
    struct stat st;
    return file && !file->standard && !file->folder && fstat(file->host, &st) == 0 && !S_ISREG(st.st_mode) &&
           !S_ISDIR(st.st_mode) && !S_ISCHR(st.st_mode);
}

/* Makes the guest's descriptors of both ends of a new pipe or pair of sockets, with these access modes. */
static int64_t add_pair(struct process *process, const int host[2], const int modes[2], uint64_t flags,
                        int32_t guest[2])
{
    int64_t from = descriptor_add(process, host[0], modes[0], flags);
    if (from < 0) {
        (void)close(host[1]);
        return from;
    }
    int64_t to = descriptor_add(process, host[1], modes[1], flags);
    if (to < 0) {
        (void)files_close(&process->user->files, (uint64_t)from);
        return to;
    }
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
    const int modes[2] = {O_RDONLY, O_WRONLY};
    int64_t failed = add_pair(process, host, modes, a[1], guest);
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
    uint64_t flags;  /* of a socket: MESSAGE_ ... */
};

enum { MESSAGE_NO_WAIT = 0x40, MESSAGE_NO_SIGNAL = 0x4000 };

static bool may_wait(const struct file *file, const struct request *r)
{
    return !(file->flags & GUEST_NONBLOCK) && !(r->flags & MESSAGE_NO_WAIT);
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
    if (failed || (file->kind && r->writes))
        return failed ? failed : -EINVAL;
    if (fstat(file->host, &st) != 0 || (r->vectors && total == 0))
        return 0;
    if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
        return (r->writes ? first : total) < EVENT ? -EINVAL : 0;
    *whole = r->writes && may_wait(file, r) ? total : 0;
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
    return file && file->standard && !r->writes && may_wait(file, r) &&
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

/* Lets the thread wait until another one has used the file. */
static int64_t wait_again(struct process *process, struct thread *thread, uint64_t done)
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

static int64_t transfer(struct process *process, struct thread *thread, const struct request *r)
{
    struct file *file = files_get(&process->user->files, r->a[0]);
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
    int64_t result = inner && file->kind == FILE_SIGNALS && !r->vectors
                         ? descriptor_read_signals(process, thread, file, r->a)
                     : inner ? move(process, r, whole, &done)
                             : use_file(process, file, r);
    *action = kept;
    if (inner && result == -EAGAIN && may_wait(file, r))
        return wait_again(process, thread, done);
    if (result == -EPIPE && !(r->flags & MESSAGE_NO_SIGNAL)) {
        const struct queued_signal signal = {.number = SIGPIPE, .sender = GUEST_PROCESS_ID};
        signal_send(process, thread, &signal);
    }
    if (inner)
        threads_repeat(process);
    return result < 0 && done > 0 ? (int64_t)done : result;
}

int64_t linux_read(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, false, false, false, 0});
}

int64_t linux_write(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, true, false, false, 0});
}

int64_t linux_readv(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, false, true, false, 0});
}

int64_t linux_writev(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, &(struct request){a, true, true, false, 0});
}

int64_t linux_pread(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, false, false, true, 0});
}

int64_t linux_pwrite(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, true, false, true, 0});
}

int64_t linux_preadv(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, false, true, true, 0});
}

int64_t linux_pwritev(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, true, true, true, 0});
}

/* preadv2 and pwritev2: a[3] is the position, -1: that of the file; a[5]: flags. */
static int64_t transfer_flagged(struct process *process, struct thread *thread, const uint64_t a[6],
                                bool writes)
{
    enum { HARMLESS = 7 }; /* of high priority, written at once */
    if (a[5] & ~(uint64_t)HARMLESS)
        return -EOPNOTSUPP;
    if ((int64_t)a[3] == -1)
        return transfer(process, thread, &(struct request){a, writes, true, false, 0});
    return use_file(process, files_get(&process->user->files, a[0]),
                    &(struct request){a, writes, true, true, 0});
}

int64_t linux_preadv2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_flagged(process, thread, a, false);
}

int64_t linux_pwritev2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_flagged(process, thread, a, true);
}

/* Sets the length of an open host file; mappings show the bytes behind a new end as zeros. */
int64_t descriptor_truncate(struct process *process, int host, uint64_t length)
{
    struct stat st;
    if (fstat(host, &st) != 0)
        return -errno;
    const struct space_part part = {st.st_dev, st.st_ino, 0, UINT64_MAX};
    address_space_store(&process->space, &part);
    const int64_t result = ftruncate(host, (off_t)length) != 0 ? -errno : 0;
    show_change(process, &part);
    return result;
}

int64_t linux_ftruncate(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    return file ? descriptor_truncate(process, file->host, a[1]) : -EBADF;
}

int64_t linux_socketpair(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int host[2];
    int32_t guest[2];
    const int modes[2] = {O_RDWR, O_RDWR};
    const uint64_t type = a[1] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK);
    (void)thread;
    if (a[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    if (type > SOCK_SEQPACKET)
        return -EINVAL;
    if (!guest_writable(process->user, a[3], sizeof guest))
        return -EFAULT;
    if (socketpair(AF_UNIX, (int)type | SOCK_CLOEXEC | SOCK_NONBLOCK, (int)a[2], host) != 0)
        return -errno;
    int64_t failed = add_pair(process, host, modes, a[1], guest);
    return failed ? failed : guest_put(process->user, a[3], guest, sizeof guest);
}

/* Returns the file of a socket, or NULL and sets *failed. */
static struct file *socket_of(struct process *process, uint64_t descriptor, int64_t *failed)
{
    struct file *file = files_get(&process->user->files, descriptor);
    struct stat st;
    bool is = file && !file->standard && fstat(file->host, &st) == 0 && S_ISSOCK(st.st_mode);
    *failed = is ? 0 : file ? -ENOTSOCK : -EBADF;
    return is ? file : NULL;
}

/* a[]: socket, bytes, their number, flags, address and its size. */
static int64_t transfer_message(struct process *process, struct thread *thread, const uint64_t a[6],
                                bool writes)
{
    int64_t failed;
    if (!socket_of(process, a[0], &failed))
        return failed;
    if (a[3] & ~(uint64_t)(MESSAGE_NO_WAIT | MESSAGE_NO_SIGNAL))
        return -EOPNOTSUPP;
    if (writes && a[4])
        return -EISCONN;
    const uint32_t none = 0;
    if (!writes && a[4] && a[5] && guest_put(process->user, a[5], &none, sizeof none) != 0)
        return -EFAULT;
    return transfer(process, thread, &(struct request){a, writes, false, false, a[3]});
}

int64_t linux_sendto(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_message(process, thread, a, true);
}

int64_t linux_recvfrom(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_message(process, thread, a, false);
}

/* The kernel's struct msghdr. */
struct guest_message {
    uint64_t name;
    uint32_t name_size, pad;
    uint64_t parts, count, control, control_size;
    uint32_t flags, pad2;
};

/* a[]: socket, message, flags. */
static int64_t transfer_parts(struct process *process, struct thread *thread, const uint64_t a[6],
                              bool writes)
{
    enum { PARTS_MOST = 1024 };
    struct guest_message message;
    int64_t failed;
    if (!socket_of(process, a[0], &failed))
        return failed;
    void *at = writes ? NULL : guest_writable(process->user, a[1], sizeof message);
    const void *from = writes ? guest_readable(process->user, a[1], sizeof message) : at;
    if (!from)
        return -EFAULT;
    memcpy(&message, from, sizeof message);
    if ((a[2] & ~(uint64_t)(MESSAGE_NO_WAIT | MESSAGE_NO_SIGNAL)) || (writes && message.control_size))
        return -EOPNOTSUPP;
    if (writes && message.name)
        return -EISCONN;
    if (message.count > PARTS_MOST)
        return -EMSGSIZE;
    const uint64_t arguments[6] = {a[0], message.parts, message.count};
    const int64_t moved = transfer(process, thread, &(struct request){arguments, writes, true, false, a[2]});
    message.name_size = 0;
    message.control_size = message.flags = 0;
    return moved < 0 || writes                                        ? moved
           : guest_put(process->user, a[1], &message, sizeof message) ? -EFAULT
                                                                      : moved;
}

int64_t linux_sendmsg(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_parts(process, thread, a, true);
}

int64_t linux_recvmsg(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer_parts(process, thread, a, false);
}

int64_t linux_shutdown(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    (void)thread;
    if (!file)
        return failed;
    const int64_t result = shutdown(file->host, (int)a[1]) != 0 ? -errno : 0;
    threads_repeat(process);
    return result;
}

/* Both ends of a pair have no name. a[]: socket, address, address of its size. */
int64_t linux_getsockname(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint16_t family = AF_UNIX;
    const uint32_t size = sizeof family;
    uint32_t room;
    int64_t failed;
    (void)thread;
    if (!socket_of(process, a[0], &failed))
        return failed;
    const void *from = guest_readable(process->user, a[2], sizeof room);
    if (!from)
        return -EFAULT;
    memcpy(&room, from, sizeof room);
    if ((int32_t)room < 0)
        return -EINVAL;
    failed = guest_put(process->user, a[1], &family, room < size ? room : size);
    return failed ? failed : guest_put(process->user, a[2], &size, sizeof size);
}
