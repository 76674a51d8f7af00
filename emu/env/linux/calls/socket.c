/* Making, naming and connecting sockets. Their other ends may be outside of the program: who waits for one waits on the host, too. */
#include "emu/env/linux/calls/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/time.h"

enum { FAMILIES = 46, TYPES = 11, PROTOCOLS = 263 }; /* AF_MAX, SOCK_MAX, IPPROTO_MAX of Linux */

struct file *socket_of(struct process *process, uint64_t descriptor, int64_t *failed)
{
    struct file *file = files_get(&process->user->files, (uint32_t)descriptor);
    const bool is = file && (file->kind == FILE_SOCKET || file->kind == FILE_PAIR);
    *failed = is ? 0 : file ? -ENOTSOCK : -EBADF;
    return is ? file : NULL;
}

int64_t socket_add(struct process *process, int host, unsigned kind, int family, int type, uint64_t flags)
{
    const uint64_t made_as = (uint64_t)family << SOCKET_TYPE_BITS | (uint64_t)type;
    const int64_t descriptor = descriptor_add_own(process, host, flags, kind, made_as);
    if (descriptor >= 0)
        files_get(&process->user->files, (uint64_t)descriptor)->number = own_file_number(process);
    return descriptor;
}

/* Returns until when a call that begins now waits for a socket, in ns. */
static uint64_t time_limit(const struct process *process, const struct file *file, bool writes)
{
    const time_t longest = 1L << 33; /* in seconds; later deadlines would wrap the clock */
    struct timeval limit = {0, 0};
    socklen_t size = sizeof limit;
    if (getsockopt(file->host, SOL_SOCKET, writes ? SO_SNDTIMEO : SO_RCVTIMEO, &limit, &size) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0) || limit.tv_sec < 0 || limit.tv_sec >= longest)
        return LINUX_NEVER;
    return linux_now(process) + (uint64_t)limit.tv_sec * SECOND + (uint64_t)limit.tv_usec * 1000;
}

int64_t socket_wait(struct process *process, struct thread *thread, uint64_t descriptor, bool writes,
                    uint64_t done, int64_t late)
{
    const struct file *file = files_get(&process->user->files, (uint32_t)descriptor);
    const uint64_t deadline = time_limit(process, file, writes);
    if (done > 0)
        threads_repeat(process);
    const int64_t result =
        descriptor_await(process, thread, (uint32_t)descriptor, writes ? POLLOUT : POLLIN, deadline);
    if (result == LINUX_WAITS || result == LINUX_TURNS) {
        thread->moved = done;
        return result;
    }
    return done > 0 ? (int64_t)done : result == 0 ? late : result;
}

int64_t socket_try_later(struct process *process, struct thread *thread, const struct file *file)
{
    const int64_t result = descriptor_try_later(process, thread, time_limit(process, file, true));
    return result == 0 ? -EAGAIN : result;
}

/* Returns 0 if Linux programs may have such a socket, or -errno. */
static int64_t check_socket(uint64_t family, uint64_t type, uint64_t protocol)
{
    if (type & ~(uint64_t)(SOCKET_TYPE_MASK | GUEST_CLOEXEC | GUEST_NONBLOCK))
        return -EINVAL;
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
        return family < FAMILIES && (type & SOCKET_TYPE_MASK) >= TYPES ? -EINVAL : -EAFNOSUPPORT;
    if (family == AF_UNIX)
        return 0;
    if ((type & SOCKET_TYPE_MASK) == SOCK_RAW || (type & SOCKET_TYPE_MASK) == SOCK_PACKET)
        return -EPERM; /* as without privileges */
    if (protocol == 0 || protocol == IPPROTO_TCP || protocol == IPPROTO_UDP)
        return 0;
    return protocol >= PROTOCOLS ? -EINVAL : -EPROTONOSUPPORT;
}

/* Returns whether it says something about the program that it wants such a socket: C libraries look for a name service by one of
 * AF_UNIX that does not block, and for the machine's addresses by others, and go on without. */
static bool is_wanted(uint64_t family, uint64_t type)
{
    return family == AF_INET || family == AF_INET6 || (family == AF_UNIX && !(type & GUEST_NONBLOCK));
}

/* Refuses a socket without --net. */
static int64_t refuse_socket(struct process *process, const uint64_t a[6])
{
    const struct user *user = process->user;
    char place[SYMBOLS_TEXT];
    if (!process->warned_of_network && is_wanted(a[0], a[1])) {
        guest_warn(user,
                   "socket at 0x%" PRIx64
                   ", %s, is refused with EAFNOSUPPORT: programs have sockets only with --net",
                   user->hart->pc, symbols_describe(user->symbols, user->hart->pc, place, sizeof place));
        process->warned_of_network = true;
    }
    return -EAFNOSUPPORT;
}

/* a[]: family, type with flags, protocol. */
int64_t linux_socket(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t family = (uint32_t)a[0], type = (uint32_t)a[1];
    (void)thread;
    if (!process->user->options->net)
        return refuse_socket(process, a);
    const int64_t failed = check_socket(family, type, (uint32_t)a[2]);
    if (failed)
        return failed;
    const int kind = (int)(type & SOCKET_TYPE_MASK);
    const int host = socket((int)family, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, (int)a[2]);
    return host < 0 ? -errno : socket_add(process, host, FILE_SOCKET, (int)family, kind, type);
}

int64_t linux_socketpair(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int host[2];
    int64_t guest[2];
    const uint64_t type = (uint32_t)a[1] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK);
    (void)thread;
    if ((uint32_t)a[0] != AF_UNIX)
        return -EAFNOSUPPORT;
    if (type > SOCK_SEQPACKET)
        return -EINVAL;
    if (!guest_writable(process->user, a[3], sizeof(int32_t[2])))
        return -EFAULT;
    if (socketpair(AF_UNIX, (int)type | SOCK_CLOEXEC | SOCK_NONBLOCK, (int)a[2], host) != 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        guest[i] = socket_add(process, host[i], FILE_PAIR, AF_UNIX, (int)type, a[1]);
        if (guest[i] >= 0)
            continue;
        if (i == 0)
            (void)close(host[1]);
        else
            (void)files_close(&process->user->files, (uint64_t)guest[0]);
        return guest[i];
    }
    const int32_t both[2] = {(int32_t)guest[0], (int32_t)guest[1]};
    return guest_put(process->user, a[3], both, sizeof both);
}

/* a[]: socket, address, its size. */
int64_t linux_bind(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int64_t failed;
    struct file *file = socket_of(process, a[0], &failed);
    (void)thread;
    failed = file ? socket_name_bind(process, file, a[1], (int32_t)a[2]) : failed;
    if (!failed)
        file->kind = FILE_SOCKET; /* a pair's, too: others can send to it */
    return failed;
}

int64_t linux_listen(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    (void)thread;
    if (!file)
        return failed;
    const int64_t result = listen(file->host, (int)a[1]) != 0 ? -errno : 0;
    threads_repeat(process); /* one may poll it */
    return result;
}

static bool has_free_descriptor(const struct files *files)
{
    for (uint64_t i = 0; i < FILES_MAX; i++)
        if (!files_get(files, i))
            return true;
    return false;
}

/* a[]: socket, address, address of its size, flags. */
int64_t linux_accept4(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct socket_name name = {.size = sizeof name.bytes};
    const struct files *files = &process->user->files;
    const uint64_t flags = (uint32_t)a[3];
    int64_t failed;
    if (!files_get(files, (uint32_t)a[0]))
        return -EBADF;
    if (flags & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK))
        return -EINVAL;
    if (!has_free_descriptor(files))
        return -EMFILE;
    const struct file *file = socket_of(process, a[0], &failed);
    if (!file)
        return failed;
    const int host = accept4(file->host, &name.bytes.head, &name.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (host < 0)
        return errno == EAGAIN && !(file->flags & GUEST_NONBLOCK)
                   ? socket_wait(process, thread, a[0], false, 0, -EAGAIN)
                   : -errno;
    const int64_t made =
        socket_add(process, host, FILE_SOCKET, socket_family(file), socket_type(file), flags);
    failed = made >= 0 && a[1] ? socket_name_put(process, &name, a[1], a[2]) : 0;
    if (failed)
        (void)files_close(&process->user->files, (uint64_t)made);
    threads_repeat(process);
    return failed ? failed : made;
}

int64_t linux_accept(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t arguments[6] = {a[0], a[1], a[2], 0};
    return linux_accept4(process, thread, arguments);
}

/* Connects the host's socket. Returns 0 or -errno; -EALREADY: it goes on meanwhile. */
static int64_t connect_host(const struct file *file, const struct socket_name *name)
{
    for (;;) {
        if (connect(file->host, &name->bytes.head, name->size) == 0)
            return 0;
        if (errno != EINPROGRESS || (file->flags & GUEST_NONBLOCK))
            return -errno; /* else the second call tells how far it is */
    }
}

/* a[]: socket, address, its size. */
int64_t linux_connect(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct socket_name name;
    int64_t failed;
    struct file *file = socket_of(process, a[0], &failed);
    failed = file ? socket_name_get(process, file, a[1], (int32_t)a[2], &name) : failed;
    if (failed)
        return failed;
    const int64_t result = connect_host(file, &name);
    socket_name_release(&name);
    if (!(file->flags & GUEST_NONBLOCK) && result == -EALREADY)
        return socket_wait(process, thread, a[0], true, 0, -EINPROGRESS);
    if (!(file->flags & GUEST_NONBLOCK) && result == -EAGAIN) /* the listener's queue is full */
        return socket_try_later(process, thread, file);
    if (!result)
        file->kind = FILE_SOCKET; /* a pair's, too: its other end may be outside now */
    threads_repeat(process);
    return result;
}

/* Serves getsockname and getpeername. a[]: socket, address, address of its size. */
static int64_t put_name(struct process *process, const uint64_t a[6],
                        int (*get)(int, struct sockaddr *restrict, socklen_t *restrict))
{
    struct socket_name name = {.size = sizeof name.bytes};
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    if (!file)
        return failed;
    if (get(file->host, &name.bytes.head, &name.size) != 0)
        return -errno;
    return socket_name_put(process, &name, a[1], a[2]);
}

int64_t linux_getsockname(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return put_name(process, a, getsockname);
}

int64_t linux_getpeername(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return put_name(process, a, getpeername);
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
