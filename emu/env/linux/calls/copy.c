/* Calls that move bytes from one file to another: sendfile, copy_file_range, splice, tee, vmsplice. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/socket.h"
#include "emu/env/linux/served.h"

enum { PIECE = 1 << 16 };
/* Linux moves at most this many bytes by one call. */
#define MOST UINT64_C(0x7ffff000)

/* A file from which, or to which, bytes are moved. */
struct end {
    uint64_t descriptor;
    struct file *file;
    mode_t kind;      /* S_IFREG ... */
    uint64_t address; /* of the position; 0: the file's own */
    off_t at;
};

static bool is_open_for(const struct file *file, bool writes)
{
    const int mode = file->flags & O_ACCMODE;
    return mode == O_RDWR || mode == (writes ? O_WRONLY : O_RDONLY);
}

/* Reads where a call begins. Returns 0 or -EFAULT. */
static int64_t get_position(struct process *process, struct end *end)
{
    if (!end->address) {
        const off_t at = lseek(end->file->host, 0, SEEK_CUR);
        end->at = at < 0 ? 0 : at;
        return 0;
    }
    const void *from = guest_readable(process->user, end->address, sizeof end->at);
    if (!from)
        return -EFAULT;
    memcpy(&end->at, from, sizeof end->at);
    return 0;
}

/* Returns 0 if a file can have bytes there, or -EINVAL, as Linux does before it looks for them. */
static int64_t check_area(off_t at, uint64_t length)
{
    off_t end;
    return length > INT64_MAX || at < 0 || __builtin_add_overflow(at, (off_t)length, &end) ? -EINVAL : 0;
}

/* Stores where a call has ended. */
static int64_t put_position(struct process *process, const struct end *end, int64_t moved)
{
    const int64_t at = end->at + moved;
    if (end->address)
        return guest_put(process->user, end->address, &at, sizeof at);
    return lseek(end->file->host, at, SEEK_SET) < 0 ? -errno : 0;
}

/* Finds the file of an end. Returns 0 or -EBADF. */
static int64_t get_end(struct process *process, uint64_t descriptor, uint64_t address, struct end *end)
{
    struct stat st;
    *end = (struct end){
        .descriptor = descriptor, .file = files_get(&process->user->files, descriptor), .address = address};
    if (!end->file || fstat(end->file->host, &st) != 0)
        return -EBADF;
    end->kind = st.st_mode & S_IFMT;
    return 0;
}

/* Lets mappings of a file agree with it: `before` a call uses it, and after that. */
static void agree(struct process *process, const struct end *end, bool before)
{
    if (end->kind == S_IFREG)
        descriptor_agree(process, end->file->host, before);
}

/* Raises SIGPIPE if that is what Linux does with the result. Returns the result. */
static int64_t break_pipe(struct process *process, struct thread *thread, int64_t result)
{
    const struct queued_signal signal = {.number = SIGPIPE, .sender = GUEST_PROCESS_ID};
    if (result == -EPIPE)
        signal_send(process, thread, &signal);
    return result;
}

/* Returns whether something outside of the program can make the end ready. */
static bool is_outer(const struct end *end)
{
    return end->file->standard || end->file->kind == FILE_SOCKET;
}

static bool is_ready(const struct end *end, short events)
{
    struct pollfd ready = {.fd = end->file->host, .events = events};
    return poll(&ready, 1, 0) != 0;
}

/* Waits on the host until a standard stream is ready. Returns 0, or LINUX_TURNS if a signal ends the run. */
static int64_t await_host(const struct process *process, const struct end *end, short events)
{
    enum { SLICE = 100 }; /* ms: a signal to croft just before poll() would not end it */
    struct pollfd ready = {.fd = end->file->host, .events = events};
    int found;
    while ((found = poll(&ready, 1, SLICE)) == 0 || (found < 0 && errno == EINTR))
        if (guest_interrupted(process->user))
            return LINUX_TURNS;
    return 0;
}

/* Waits for input of a standard stream: as one that reads it, on the host unless other threads can run. Returns 0, LINUX_WAITS,
 * LINUX_TURNS or -EINTR. */
static int64_t await_input(struct process *process, struct thread *thread, const struct end *from)
{
    const int64_t failed = descriptor_await_input(process, thread, from->descriptor);
    return failed ? failed : await_host(process, from, POLLIN);
}

/* Lets the thread wait until an end that is not ready may be: a socket of the network, a standard stream, or what other threads make
 * ready. Returns 0 if it is now, LINUX_WAITS, LINUX_TURNS, or what the call returns. */
static int64_t wait_for(struct process *process, struct thread *thread, const struct end *from,
                        const struct end *to, uint64_t done)
{
    const bool room = is_ready(to, POLLOUT), input = is_ready(from, POLLIN);
    if (to->file->kind == FILE_SOCKET && !room)
        return socket_wait(process, thread, to->descriptor, true, done, -EAGAIN);
    if (from->file->kind == FILE_SOCKET && !input)
        return socket_wait(process, thread, from->descriptor, false, done, -EAGAIN);
    if (to->file->standard && !room)
        return await_host(process, to, POLLOUT);
    if (from->file->standard && !input)
        return await_input(process, thread, from);
    if (room && input && (is_outer(from) || is_outer(to))) /* the host has made it ready meanwhile */
        return guest_interrupted(process->user) ? LINUX_TURNS : 0;
    return descriptor_wait_again(process, thread, done);
}

/* Returns how many bytes at most a write to a file may have so that it does not wait although the file's host descriptor may. */
static size_t room_of(const struct end *to)
{
    if (!to->file->standard || !(to->file->flags & GUEST_NONBLOCK))
        return PIECE;
    return is_ready(to, POLLOUT) ? PIPE_BUF : 0;
}

/* Copies up to `length` bytes, of which *done have been copied, to a file that has no position, or to a position of its own. Returns 0,
 * or -errno. */
static int64_t copy(const struct process *process, const struct end *from, const struct end *to,
                    bool positioned, uint64_t length, uint64_t *done)
{
    uint8_t bytes[PIECE];
    while (*done < length) {
        const size_t most = room_of(to), piece = length - *done < most ? length - *done : most;
        if (piece == 0)
            return -EAGAIN;
        const ssize_t got = pread(from->file->host, bytes, piece, from->at + (off_t)*done);
        if (got <= 0)
            return got < 0 ? -errno : 0;
        const ssize_t put = positioned ? pwrite(to->file->host, bytes, (size_t)got, to->at + (off_t)*done)
                                       : write(to->file->host, bytes, (size_t)got);
        if (put < 0 && to->file->standard && errno == EAGAIN && !await_host(process, to, POLLOUT))
            continue;
        if (put < 0)
            return -errno;
        *done += (uint64_t)put;
    }
    return 0;
}

/* Returns whether a file of the host is a device that has zeros without end, and no position. */
static bool is_endless(const struct end *from)
{
    struct stat st;
    return from->kind == S_IFCHR && fstat(from->file->host, &st) == 0 &&
           (st.st_rdev == makedev(1, 5) || st.st_rdev == makedev(1, 7));
}

/* Checks sendfile's ends, and finds where it begins. Returns 0 or -errno. */
static int64_t check_sendfile(struct process *process, const uint64_t a[6], struct end *from, struct end *to)
{
    if (a[2] && !guest_readable(process->user, a[2], sizeof from->at))
        return -EFAULT;
    if (get_end(process, a[1], a[2], from) || !is_open_for(from->file, false))
        return -EBADF;
    if (from->address && (from->kind == S_IFIFO || from->kind == S_IFSOCK))
        return -ESPIPE;
    int64_t failed = get_position(process, from);
    if (!failed)
        failed = check_area(from->at, a[3]);
    if (failed)
        return failed;
    if (get_end(process, a[0], 0, to) || !is_open_for(to->file, true))
        return -EBADF;
    if ((from->kind != S_IFREG && !is_endless(from)) || descriptor_only_reads(to->file) ||
        to->file->kind == FILE_EPOLL || (to->file->flags & GUEST_APPEND))
        return -EINVAL;
    return 0;
}

/* Sends from the position on, of which *done bytes have been sent before. Returns 0 or -errno, of which no bytes are left to send, or
 * what the call returns because it waits. */
static int64_t send_bytes(struct process *process, struct thread *thread, const struct end *from,
                          const struct end *to, uint64_t length, uint64_t *done)
{
    for (;;) {
        const int64_t result = copy(process, from, to, false, length, done);
        const bool enough = to->kind == S_IFIFO && *done > 0; /* as on Linux, which fills a pipe once */
        if (result != -EAGAIN || enough || (to->file->flags & GUEST_NONBLOCK))
            return result;
        if (*done > 0 && !is_endless(from))
            (void)put_position(process, from, (int64_t)*done);
        const int64_t waits = wait_for(process, thread, from, to, *done);
        if (waits)
            return waits;
    }
}

/* a[]: to, from, address of the position or 0, bytes. */
int64_t linux_sendfile(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct end from, to;
    const uint64_t length = a[3] < MOST ? a[3] : MOST;
    uint64_t done = thread->moved;
    thread->moved = 0;
    const int64_t failed = check_sendfile(process, a, &from, &to);
    if (failed) /* another thread may have closed one while the call waited */
        return done > 0 ? (int64_t)done : failed;
    from.at = is_endless(&from) ? 0 : from.at - (off_t)done; /* it was stored before the call waited */
    agree(process, &from, true);
    agree(process, &to, true);
    const int64_t result = send_bytes(process, thread, &from, &to, length, &done);
    agree(process, &to, false);
    if (result == LINUX_WAITS || result == LINUX_TURNS)
        return result;
    if (descriptor_is_inner(to.file))
        threads_repeat(process);
    if (done == 0)
        return break_pipe(process, thread, result);
    const int64_t unknown = is_endless(&from) ? 0 : put_position(process, &from, (int64_t)done);
    return unknown ? unknown : (int64_t)done;
}

/* Limits what copy_file_range copies to what the files have and may have, in the order of Linux. Returns 0 or -errno. */
static int64_t limit_range(const struct end *from, const struct end *to, uint64_t *length)
{
    struct stat one, other;
    uint64_t end;
    const uint64_t from_at = (uint64_t)from->at, to_at = (uint64_t)to->at;
    if (fstat(from->file->host, &one) != 0 || fstat(to->file->host, &other) != 0)
        return -EBADF;
    if (__builtin_add_overflow(from_at, *length, &end) || __builtin_add_overflow(to_at, *length, &end))
        return -EOVERFLOW;
    const uint64_t left = from->at < one.st_size ? (uint64_t)one.st_size - from_at : 0;
    *length = *length < left ? *length : left;
    if (to->at == INT64_MAX)
        return -EFBIG;
    *length = *length < INT64_MAX - to_at ? *length : INT64_MAX - to_at;
    if (one.st_dev == other.st_dev && one.st_ino == other.st_ino && from_at < to_at + *length &&
        to_at < from_at + *length)
        return -EINVAL;
    const int64_t failed = check_area(from->at, *length);
    *length = *length < MOST ? *length : MOST;
    return failed ? failed : check_area(to->at, *length);
}

/* a[]: from, address of its position or 0, to, the same, bytes, flags. */
int64_t linux_copy_file_range(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct end from, to;
    uint64_t done = 0, length = a[4];
    (void)thread;
    if (get_end(process, a[0], a[1], &from) || get_end(process, a[2], a[3], &to))
        return -EBADF;
    int64_t failed = get_position(process, &from);
    if (!failed)
        failed = get_position(process, &to);
    if (failed || a[5])
        return failed ? failed : -EINVAL;
    if (from.kind == S_IFDIR || to.kind == S_IFDIR)
        return -EISDIR;
    if (from.kind != S_IFREG || to.kind != S_IFREG)
        return -EINVAL;
    if (!is_open_for(from.file, false) || !is_open_for(to.file, true) || (to.file->flags & GUEST_APPEND))
        return -EBADF;
    failed = limit_range(&from, &to, &length);
    if (failed)
        return failed;
    agree(process, &from, true);
    agree(process, &to, true);
    failed = copy(process, &from, &to, true, length, &done);
    agree(process, &to, false);
    if (done == 0)
        return failed;
    const int64_t unknown[2] = {put_position(process, &from, (int64_t)done),
                                put_position(process, &to, (int64_t)done)};
    return unknown[0] ? unknown[0] : unknown[1] ? unknown[1] : (int64_t)done;
}

enum { SPLICE_WAITS_NOT = 2, SPLICE_KNOWN = 15 };

/* What splice or tee moves. */
struct move {
    struct end from, to;
    uint64_t length;
    bool copies; /* tee */
    bool waits;
};

static bool may_wait(const struct end *from, const struct end *to, uint64_t flags)
{
    return !(flags & SPLICE_WAITS_NOT) && !((from->file->flags | to->file->flags) & GUEST_NONBLOCK);
}

/* Moves what the host can now. Returns the number of bytes or -errno. */
static int64_t move_now(struct move *m, uint64_t length)
{
    off_t *from_at = m->from.address ? &m->from.at : NULL, *to_at = m->to.address ? &m->to.at : NULL;
    const ssize_t moved =
        m->copies ? tee(m->from.file->host, m->to.file->host, length, SPLICE_F_NONBLOCK)
                  : splice(m->from.file->host, from_at, m->to.file->host, to_at, length, SPLICE_F_NONBLOCK);
    return moved < 0 ? -errno : moved;
}

/* Serves splice and tee when their arguments have been checked. To a standard stream goes all that there is, so that the result does not
 * depend on who reads it on the host. */
static int64_t move(struct process *process, struct thread *thread, struct move *m)
{
    uint64_t done = 0;
    int64_t failed = m->waits && m->from.file->standard ? await_input(process, thread, &m->from) : 0;
    while (!failed) {
        const int64_t result = move_now(m, m->length - done);
        done += result > 0 ? (uint64_t)result : 0;
        const bool more =
            done < m->length && m->waits && m->to.file->standard && !m->copies && is_ready(&m->from, POLLIN);
        if (result > 0 && more)
            continue;
        if (result != -EAGAIN || !m->waits || (done > 0 && !more)) {
            threads_repeat(process);
            return done > 0 ? (int64_t)done : break_pipe(process, thread, result);
        }
        failed =
            done > 0 ? await_host(process, &m->to, POLLOUT) : wait_for(process, thread, &m->from, &m->to, 0);
    }
    return done > 0 ? (int64_t)done : failed;
}

/* Checks the ends of splice and tee. Returns 0 or -errno. */
static int64_t check_ends(const struct end *from, const struct end *to)
{
    struct stat one, other;
    if (!is_open_for(from->file, false) || !is_open_for(to->file, true))
        return -EBADF;
    if ((from->kind == S_IFIFO && from->address) || (to->kind == S_IFIFO && to->address))
        return -ESPIPE;
    if (from->kind != S_IFIFO && to->kind != S_IFIFO)
        return -EINVAL;
    if (from->kind == to->kind && fstat(from->file->host, &one) == 0 && fstat(to->file->host, &other) == 0 &&
        one.st_ino == other.st_ino)
        return -EINVAL;
    return from->file->kind && from->file->kind < FILE_PAIR ? -EINVAL : 0;
}

/* a[]: from, address of its position or 0, to, the same, bytes, flags. */
int64_t linux_splice(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct move m = {.length = a[4] < MOST ? a[4] : MOST};
    if (a[4] == 0)
        return 0;
    if (a[5] & ~(uint64_t)SPLICE_KNOWN)
        return -EINVAL;
    if (get_end(process, a[0], a[1], &m.from) || get_end(process, a[2], a[3], &m.to))
        return -EBADF;
    int64_t failed = check_ends(&m.from, &m.to);
    if (!failed)
        failed = get_position(process, &m.from);
    if (!failed)
        failed = get_position(process, &m.to);
    if (!failed && m.from.kind != S_IFIFO)
        failed = check_area(m.from.at, a[4]);
    if (!failed && m.to.kind != S_IFIFO)
        failed = check_area(m.to.at, a[4]);
    if (failed)
        return failed;
    m.waits = may_wait(&m.from, &m.to, a[5]);
    agree(process, &m.from, true);
    agree(process, &m.to, true);
    const int64_t result = move(process, thread, &m);
    agree(process, &m.to, false);
    if (m.from.address && result > 0)
        failed = put_position(process, &m.from, 0);
    if (m.to.address && result > 0 && !failed)
        failed = put_position(process, &m.to, 0);
    return failed ? failed : result;
}

/* a[]: from, to, bytes, flags. */
int64_t linux_tee(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct move m = {.length = a[2] < MOST ? a[2] : MOST, .copies = true};
    if (a[3] & ~(uint64_t)SPLICE_KNOWN)
        return -EINVAL;
    if (a[2] == 0)
        return 0;
    if (get_end(process, a[0], 0, &m.from) || get_end(process, a[1], 0, &m.to))
        return -EBADF;
    const int64_t failed = check_ends(&m.from, &m.to);
    if (failed || m.from.kind != S_IFIFO || m.to.kind != S_IFIFO)
        return failed ? failed : -EINVAL;
    m.waits = may_wait(&m.from, &m.to, a[3]);
    return move(process, thread, &m);
}

enum { PAGE = 4096 };

/* Copies of the program's pages that vmsplice adds to a pipe. */
struct pages {
    uint8_t *bytes;
    size_t room;
    struct iovec parts[VECTORS_MAX]; /* in a page each */
    size_t count;
};

/* Copies what the vectors name from byte `done` on, each part of a page to one of its own, since a pipe has room for a number of parts. What
 * cannot be read becomes a part that the host cannot read, so that it finds the same error at the same place. Returns false if the
 * vectors cannot be read any more. */
static bool copy_pages(struct process *process, const uint64_t a[6], uint64_t done, struct pages *pages)
{
    struct span vectors[VECTORS_MAX];
    if (call_get_spans(process->user, a[1], a[2], vectors))
        return false;
    pages->count = 0;
    for (uint64_t i = 0; i < a[2]; i++) {
        const uint64_t skipped = done < vectors[i].length ? done : vectors[i].length;
        done -= skipped;
        for (uint64_t at = skipped; at < vectors[i].length && pages->count < pages->room;) {
            const uint64_t address = vectors[i].base + at, rest = PAGE - address % PAGE;
            const uint64_t length = vectors[i].length - at < rest ? vectors[i].length - at : rest;
            struct iovec *part = &pages->parts[pages->count++];
            *part = (struct iovec){pages->bytes + (part - pages->parts) * PAGE, length};
            const void *from = guest_readable(process->user, address, length);
            if (!from) {
                part->iov_base = NULL;
                return true;
            }
            memcpy(part->iov_base, from, length);
            guest_release(process->user);
            at += length;
        }
    }
    return true;
}

/* Adds pages to a pipe that has room for them now. Returns the number of bytes or -errno. */
static int64_t add_now(struct process *process, const struct end *pipe, const uint64_t a[6], uint64_t done)
{
    const int size = fcntl(pipe->file->host, F_GETPIPE_SZ);
    struct pages pages = {.room = size > 0 && size / PAGE < VECTORS_MAX ? (size_t)size / PAGE : VECTORS_MAX};
    int64_t result = -EFAULT;
    pages.bytes = mmap(NULL, pages.room * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages.bytes == MAP_FAILED)
        return -ENOMEM;
    if (copy_pages(process, a, done, &pages)) {
        const ssize_t added = vmsplice(pipe->file->host, pages.parts, pages.count, SPLICE_F_NONBLOCK);
        result = added < 0 ? -errno : added;
    }
    (void)munmap(pages.bytes, pages.room * PAGE); /* the pipe keeps what has been added */
    return result;
}

/* Adds pages to a pipe as vmsplice does. A standard stream takes all of them, as of splice. */
static int64_t add_pages(struct process *process, struct thread *thread, const struct end *pipe,
                         const uint64_t a[6], uint64_t total)
{
    const bool waits = !(a[3] & SPLICE_WAITS_NOT), whole = waits && pipe->file->standard;
    uint64_t done = 0;
    int64_t result;
    do {
        result = add_now(process, pipe, a, done);
        done += result > 0 ? (uint64_t)result : 0;
        if (result == -EAGAIN && whole)
            result = await_host(process, pipe, POLLOUT);
    } while (whole && result >= 0 && done < total);
    if (done == 0 && result == -EAGAIN && waits)
        return descriptor_wait_again(process, thread, 0);
    threads_repeat(process);
    return done > 0 ? (int64_t)done : break_pipe(process, thread, result);
}

/* a[]: pipe, vectors, their number, flags. The program's pages are copied. */
int64_t linux_vmsplice(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct end pipe;
    uint64_t total, first;
    if (a[3] & ~(uint64_t)SPLICE_KNOWN)
        return -EINVAL;
    if (get_end(process, a[0], 0, &pipe))
        return -EBADF;
    const bool adds = is_open_for(pipe.file, true);
    if (!adds && !is_open_for(pipe.file, false))
        return -EBADF;
    const int64_t failed = a[2] > 0 ? call_measure(process->user, a, true, &total, &first) : 0;
    if (failed || a[2] == 0 || total == 0)
        return failed;
    if (pipe.kind != S_IFIFO)
        return -EBADF;
    if (adds)
        return add_pages(process, thread, &pipe, a, total);
    const int kept = pipe.file->flags; /* vmsplice has a flag of its own */
    pipe.file->flags = (kept & ~GUEST_NONBLOCK) | (a[3] & SPLICE_WAITS_NOT ? GUEST_NONBLOCK : 0);
    const int64_t result = linux_readv(process, thread, a);
    pipe.file->flags = kept;
    return result;
}
