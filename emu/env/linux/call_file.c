/* Calls on files: paths in the sysroot and in /proc, pipes between threads, and waiting for them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/served.h"
#include "emu/env/linux/time.h"

enum { GUEST_CLOEXEC = 02000000, GUEST_NONBLOCK = 04000, GUEST_APPEND = 02000, GUEST_CREATES = 01300 };
enum { FOLLOW_NOT = 0x100, EMPTY_PATH = 0x1000, SYMLINK_FOLLOW = 0x400, EFFECTIVE = 0x200 };

/* Returns whether threads of the program alone use the other end of the file: a pipe, an event counter. */
static bool is_inner(const struct file *file)
{
    struct stat st;
    return file && !file->standard && !file->folder && fstat(file->host, &st) == 0 && !S_ISREG(st.st_mode) &&
           !S_ISDIR(st.st_mode);
}

/* Opens an absolute path in the sysroot, to read it. Returns a host descriptor; -ENOENT: it is not there. */
static int open_sysroot(const struct process *process, const char *path, int flags)
{
    if (process->sysroot.root < 0 || path[0] != '/')
        return -ENOENT;
    path += strspn(path, "/");
    return sandbox_open_at(&process->sysroot, "", *path ? path : ".", flags, 0);
}

/* Returns whether a path that the sysroot does not have cannot be elsewhere either. */
static bool is_foreign(const struct process *process, const char *path)
{
    const char *root = process->user->sandbox.path;
    return process->sysroot.root >= 0 && path[0] == '/' && strncmp(path, root, strlen(root)) != 0;
}

/* Opens what only Linux programs see at an absolute path. Returns a host descriptor, or -ENOENT. */
static int open_special(struct process *process, const char *path, int flags)
{
    int host = path[0] == '/' ? proc_open(process, path) : -ENOENT;
    return host >= 0 ? host : open_sysroot(process, path, flags);
}

int64_t linux_openat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    struct stat st;
    (void)thread;
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    const int mode = (int)(a[2] & O_ACCMODE);
    if (mode == O_RDONLY && !(a[2] & GUEST_CREATES)) {
        int host = open_special(process, path, O_RDONLY | (a[2] & 0200000 ? O_DIRECTORY : 0) | O_NONBLOCK);
        if (host >= 0 && (fstat(host, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))) {
            (void)close(host);
            return -EACCES;
        }
        int64_t descriptor =
            host >= 0 ? files_add(&process->user->files, host, 0, S_ISDIR(st.st_mode)) : -ENOENT;
        if (descriptor >= 0)
            process->user->files.close_on_exec[descriptor] = (a[2] & GUEST_CLOEXEC) != 0;
        if (host >= 0)
            return descriptor;
        if (is_foreign(process, path))
            return host;
    }
    uint64_t arguments[6] = {a[0], a[1], a[2], a[3] & ~(uint64_t)process->umask};
    return call_openat(process->user, arguments);
}

static int64_t check_access(struct process *process, const uint64_t a[6])
{
    char path[PATH_MAX];
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    int host = a[2] & ~UINT64_C(7) ? -ENOENT : open_special(process, path, O_PATH);
    if (host < 0)
        return is_foreign(process, path) ? host : call_faccessat(process->user, a);
    struct stat st;
    bool runs = fstat(host, &st) == 0 && (st.st_mode & 0111);
    (void)close(host);
    return a[2] & W_OK ? -EROFS : (a[2] & X_OK) && !runs ? -EACCES : 0;
}

int64_t linux_faccessat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return check_access(process, a);
}

int64_t linux_faccessat2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[3] & ~(uint64_t)(FOLLOW_NOT | EMPTY_PATH | EFFECTIVE))
        return -EINVAL;
    return check_access(process, a);
}

int64_t linux_fstatat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    (void)thread;
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    if (path[0] == '\0' && (a[3] & EMPTY_PATH) && files_get(&process->user->files, a[0])) {
        const uint64_t arguments[6] = {a[0], a[2]};
        return call_fstat(process->user, arguments);
    }
    int host = open_special(process, path, O_PATH | (a[3] & FOLLOW_NOT ? O_NOFOLLOW : 0));
    if (host < 0)
        return is_foreign(process, path) ? host : call_fstatat(process->user, a);
    failed = call_put_stat(process->user, a[2], host);
    (void)close(host);
    return failed;
}

int64_t linux_readlinkat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX], link[PATH_MAX];
    (void)thread;
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    if ((int64_t)a[3] <= 0)
        return -EINVAL;
    if (strcmp(path, "/proc/self/exe") == 0) {
        (void)snprintf(link, sizeof link, "%s", process->executable);
    } else {
        int host = open_sysroot(process, path, O_PATH | O_NOFOLLOW);
        ssize_t length = host < 0 ? -1 : readlinkat(host, "", link, sizeof link - 1);
        if (host >= 0)
            (void)close(host);
        if (length < 0)
            return host >= 0 ? -EINVAL : is_foreign(process, path) ? host : call_readlinkat(process->user, a);
        link[length] = '\0';
    }
    const uint64_t length = strlen(link) < a[3] ? strlen(link) : a[3];
    failed = guest_put(process->user, a[2], link, length);
    return failed ? failed : (int64_t)length;
}

int64_t linux_dup3(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[2] & ~(uint64_t)GUEST_CLOEXEC)
        return -EINVAL;
    int64_t to = call_dup3(process->user, a);
    if (to >= 0)
        process->user->files.close_on_exec[to] = a[2] != 0;
    return to;
}

int64_t linux_close(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    bool inner = is_inner(files_get(&process->user->files, a[0]));
    int64_t result = call_close(process->user, a);
    if (inner)
        threads_repeat(process);
    return result;
}

int64_t linux_fcntl(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SETFL = 4, GETLK = 5, SETLK = 6, SETLKW = 7, UNLOCKED = 2 };
    struct file *file = files_get(&process->user->files, a[0]);
    const int16_t unlocked = UNLOCKED;
    (void)thread;
    if (file && a[1] == SETFL && is_inner(file)) {
        file->flags = (file->flags & O_ACCMODE) | (int)(a[2] & (GUEST_NONBLOCK | GUEST_APPEND));
        return 0;
    }
    if (file && (a[1] == SETLK || a[1] == SETLKW)) /* nobody else could hold a lock */
        return guest_readable(process->user, a[2], 32) ? 0 : -EFAULT;
    if (file && a[1] == GETLK)
        return guest_put(process->user, a[2], &unlocked, sizeof unlocked);
    return call_fcntl(process->user, a);
}

/* Makes the guest's descriptors of both ends of a new pipe. */
static int64_t add_pipe(struct process *process, const int host[2], uint64_t flags, int32_t guest[2])
{
    struct files *files = &process->user->files;
    const int kept = (int)(flags & GUEST_NONBLOCK);
    int64_t from = files_add(files, host[0], O_RDONLY | kept, false);
    if (from < 0) {
        (void)close(host[1]);
        return from;
    }
    int64_t to = files_add(files, host[1], O_WRONLY | kept, false);
    if (to < 0) {
        (void)files_close(files, (uint64_t)from);
        return to;
    }
    files->close_on_exec[from] = files->close_on_exec[to] = (flags & GUEST_CLOEXEC) != 0;
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
    int64_t failed = add_pipe(process, host, a[1], guest);
    return failed ? failed : guest_put(process->user, a[0], guest, sizeof guest);
}

int64_t linux_eventfd(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SEMAPHORE = 1 };
    (void)thread;
    if (a[1] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK | SEMAPHORE))
        return -EINVAL;
    int host = eventfd((unsigned)a[0], EFD_CLOEXEC | EFD_NONBLOCK | (a[1] & SEMAPHORE ? EFD_SEMAPHORE : 0));
    if (host < 0)
        return -errno;
    int64_t descriptor = files_add(&process->user->files, host, O_RDWR | (int)(a[1] & GUEST_NONBLOCK), false);
    if (descriptor >= 0)
        process->user->files.close_on_exec[descriptor] = (a[1] & GUEST_CLOEXEC) != 0;
    return descriptor;
}

/* Returns 0 if a pipe or an event counter can be used like this, or -errno. */
static int64_t check_inner(const struct file *file, const uint64_t a[6], bool reads)
{
    struct stat st;
    if ((file->flags & O_ACCMODE) == (reads ? O_WRONLY : O_RDONLY))
        return -EBADF;
    return fstat(file->host, &st) == 0 && !S_ISFIFO(st.st_mode) && a[2] < 8 ? -EINVAL : 0;
}

/* Transfers by `call`. Of a file that other threads serve, first waits until it is ready, in simulated time. */
static int64_t transfer(struct process *process, struct thread *thread, const uint64_t a[6], short events,
                        int64_t (*call)(struct user *user, const uint64_t a[6]))
{
    struct file *file = files_get(&process->user->files, a[0]);
    bool inner = is_inner(file);
    struct pollfd ready = {.fd = inner ? file->host : -1, .events = events};
    int64_t failed = inner ? check_inner(file, a, events == POLLIN) : 0;
    if (failed)
        return failed;
    if (inner && a[2] > 0 && poll(&ready, 1, 0) == 0) {
        if (file->flags & GUEST_NONBLOCK)
            return -EAGAIN;
        if (signal_is_due(process, thread))
            return -EINTR;
        thread_wait(process, thread, WAIT_AGAIN, LINUX_NEVER, 0);
        return LINUX_WAITS;
    }
    struct guest_signal *action = &process->user->signals[SIGPIPE];
    const struct guest_signal kept = *action;
    action->handler = 1; /* SIG_IGN: a broken pipe's signal is sent here */
    int64_t result = call(process->user, a);
    *action = kept;
    if (result == -EPIPE) {
        const struct queued_signal signal = {.number = SIGPIPE, .sender = GUEST_PROCESS_ID};
        signal_send(process, thread, &signal);
    }
    if (inner)
        threads_repeat(process);
    return result;
}

int64_t linux_read(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, a, POLLIN, call_read);
}

int64_t linux_write(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, a, POLLOUT, call_write);
}

int64_t linux_readv(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, a, POLLIN, call_readv);
}

int64_t linux_writev(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return transfer(process, thread, a, POLLOUT, call_writev);
}

enum { POLLED_MOST = FILES_MAX };

/* The kernel's struct pollfd. */
struct guest_poll {
    int32_t descriptor;
    int16_t events, found;
};

/* Asks the host about the descriptors. Waits for the standard streams if `waits`. Returns how many are ready. */
static int64_t ask(const struct process *process, struct guest_poll *polls, uint64_t count, bool waits)
{
    struct pollfd hosts[POLLED_MOST];
    int64_t ready = 0;
    bool standard = false;
    for (uint64_t i = 0; i < count; i++) {
        const struct file *file =
            polls[i].descriptor < 0 ? NULL : files_get(&process->user->files, (uint64_t)polls[i].descriptor);
        hosts[i] = (struct pollfd){.fd = file && (!waits || file->standard) ? file->host : -1,
                                   .events = polls[i].events};
        standard |= file && file->standard;
        polls[i].found = polls[i].descriptor >= 0 && !file ? POLLNVAL : 0;
        ready += polls[i].found != 0;
    }
    if ((waits && !standard) || poll(hosts, count, waits && ready == 0 ? -1 : 0) < 0)
        return ready;
    for (uint64_t i = 0; i < count; i++)
        if (hosts[i].fd >= 0 && hosts[i].revents) {
            polls[i].found = hosts[i].revents;
            ready++;
        }
    return ready;
}

static int64_t wait_poll(struct process *process, struct thread *thread, uint64_t deadline)
{
    if (signal_is_due(process, thread))
        return -EINTR;
    thread->poll_deadline = deadline;
    thread_wait(process, thread, WAIT_POLL, deadline, 0);
    return LINUX_WAITS;
}

/* a[]: descriptors, their number, time limit, signal mask, its size. */
int64_t linux_ppoll(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct guest_poll polls[POLLED_MOST];
    uint64_t deadline = LINUX_NEVER, set = 0;
    if (a[1] > POLLED_MOST)
        return -EINVAL;
    int64_t failed = a[2] ? time_deadline(process, a[2], false, false, &deadline) : 0;
    const void *mask = a[3] ? guest_readable(process->user, a[3], 8) : NULL;
    void *at = guest_writable(process->user, a[0], a[1] * sizeof polls[0]);
    if (failed || !at || (a[3] && (!mask || a[4] != 8)))
        return failed ? failed : at && mask ? -EINVAL : -EFAULT;
    if (thread->poll_deadline)
        deadline = thread->poll_deadline;
    thread->poll_deadline = 0;
    memcpy(polls, at, a[1] * sizeof polls[0]);
    int64_t ready = ask(process, polls, a[1], false);
    if (mask) {
        memcpy(&set, mask, 8);
        thread->saved_blocked = thread->blocked;
        thread->restores = true;
        thread->blocked = set;
    }
    if (ready == 0 && deadline > linux_now(process)) {
        if (process->thread_count == 1 && deadline == LINUX_NEVER)
            ready = ask(process, polls, a[1], true);
        if (ready == 0)
            return wait_poll(process, thread, deadline);
    }
    memcpy(at, polls, a[1] * sizeof polls[0]);
    return ready;
}
