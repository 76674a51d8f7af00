/* Sending and receiving by sockets. Bytes go through a buffer, so that parts of a message may lie anywhere in the program's memory. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emu/env/linux/calls/socket.h"
#include "emu/env/linux/time.h"
#include "emu/sim/alloc.h"

enum { PARTS_MOST = 1024, MESSAGES_MOST = 1024, PIECE = 1 << 20 };

/* Linux moves at most this many bytes by one call (read(2)). */
#define TRANSFER_MOST UINT64_C(0x7ffff000)

/* Flags have the same values on all hosts. Without MSG_ZEROCOPY, which bytes must not be shared for, calls are as with it. */
#define OWN_FLAGS (MSG_WAITALL | MSG_WAITFORONE | MSG_ZEROCOPY)

/* The kernel's struct iovec. */
struct part {
    uint64_t address, length;
};

/* What a call moves, and how. */
struct message {
    uint64_t socket; /* descriptor */
    int flags;
    uint64_t count, total;
    struct part parts[PARTS_MOST];
    struct socket_name name; /* size 0: none. Sending: the receiver; received: the sender. */
    int found;               /* received: flags */
};

/* The kernel's struct msghdr, and struct mmsghdr. */
struct guest_message {
    uint64_t name;
    int32_t name_size;
    uint32_t pad;
    uint64_t parts, count, control, control_size;
    uint32_t flags, pad2;
};

struct guest_messages {
    struct guest_message message;
    uint32_t length, pad;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void set_part(struct message *m, uint64_t address, uint64_t length)
{
    m->parts[0] = (struct part){address, least(length, TRANSFER_MOST)};
    m->total = m->parts[0].length;
    m->count = 1;
}

/* Reads a vector of buffers; the caller has checked its number. Returns 0 or -errno. */
static int64_t get_parts(struct process *process, uint64_t address, uint64_t count, struct message *m)
{
    const void *from = guest_readable(process->user, address, count * sizeof m->parts[0]);
    if (!from)
        return -EFAULT;
    memcpy(m->parts, from, count * sizeof m->parts[0]);
    m->count = count;
    m->total = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (m->parts[i].length > INT64_MAX)
            return -EINVAL;
        m->parts[i].length = least(m->parts[i].length, TRANSFER_MOST - m->total);
        m->total += m->parts[i].length;
    }
    return 0;
}

static bool can_reach(struct process *process, const struct message *m, bool stores)
{
    for (uint64_t i = 0; i < m->count; i++)
        if (!guest_reaches(process->user, m->parts[i].address, m->parts[i].length, stores))
            return false;
    return true;
}

/* Copies between the buffer and the message's bytes from byte `skip` on. */
static void copy(struct process *process, const struct message *m, uint64_t skip, uint8_t *bytes,
                 uint64_t size, bool stores)
{
    for (uint64_t i = 0, part; i < m->count && size > 0; i++, skip -= least(skip, part)) {
        part = m->parts[i].length;
        if (skip >= part)
            continue;
        const uint64_t address = m->parts[i].address + skip, length = least(part - skip, size);
        const void *from = stores ? bytes : guest_readable(process->user, address, length);
        void *to = stores ? guest_writable(process->user, address, length) : bytes;
        if (from && to)
            memcpy(to, from, length);
        bytes += length;
        size -= length;
    }
    guest_release(process->user);
}

/* Returns whether the call waits while the socket is not ready. */
static bool may_wait(const struct file *file, const struct message *m, bool writes)
{
    const int never = MSG_DONTWAIT | (writes ? 0 : MSG_ERRQUEUE | MSG_OOB);
    return !(file->flags & GUEST_NONBLOCK) && !(m->flags & never);
}

/* Sends as much as can be sent now, from byte *done on. Returns 0 or -errno. */
static int64_t send_now(struct process *process, const struct file *file, struct message *m, bool all,
                        uint64_t *done)
{
    const int flags = (m->flags & ~OWN_FLAGS) | MSG_DONTWAIT | MSG_NOSIGNAL;
    ssize_t sent;
    do {
        const uint64_t size = least(m->total - *done, PIECE);
        uint8_t *bytes = alloc(1, size + 1);
        struct iovec vector = {bytes, size};
        const struct msghdr host = {.msg_name = m->name.size ? &m->name.bytes : NULL,
                                    .msg_namelen = m->name.size,
                                    .msg_iov = &vector,
                                    .msg_iovlen = 1};
        copy(process, m, *done, bytes, size, false);
        sent = sendmsg(file->host, &host, flags);
        const int failed = errno;
        free(bytes);
        if (sent < 0)
            return -failed;
        *done += (uint64_t)sent;
    } while (all && sent > 0 && *done < m->total);
    return 0;
}

/* Sends the message, from the byte on that a call which has waited has come to. Returns the number of bytes, LINUX_WAITS, LINUX_TURNS or
 * -errno. */
static int64_t send_message(struct process *process, struct thread *thread, const struct file *file,
                            struct message *m)
{
    const bool stream = socket_type(file) == SOCK_STREAM, waits = may_wait(file, m, true);
    uint64_t done = thread->moved;
    thread->moved = 0;
    if (m->flags & MSG_FASTOPEN)
        return -EOPNOTSUPP;
    if (!can_reach(process, m, false))
        return -EFAULT;
    if (!stream && m->total > PIECE)
        return -EMSGSIZE;
    const int64_t failed = send_now(process, file, m, stream && waits, &done);
    if (failed == -EAGAIN && waits && socket_family(file) == AF_UNIX && m->name.size > 0)
        return socket_try_later(process, thread, file); /* the receiver's queue is full */
    if (failed == -EAGAIN && waits)
        return socket_wait(process, thread, m->socket, true, done, -EAGAIN);
    if (failed == -EPIPE && done == 0 && stream && !(m->flags & MSG_NOSIGNAL)) {
        const struct queued_signal signal = {.number = SIGPIPE, .sender = GUEST_PROCESS_ID};
        signal_send(process, thread, &signal);
    }
    threads_repeat(process);
    return failed && done == 0 ? failed : (int64_t)done;
}

/* Receives what is there now, from byte *done on. Returns what recvmsg() does. */
static int64_t receive_now(struct process *process, const struct file *file, struct message *m,
                           const uint64_t *done)
{
    /* TCP drops the bytes then. */
    const bool drops =
        (m->flags & MSG_TRUNC) && socket_type(file) == SOCK_STREAM && socket_family(file) != AF_UNIX;
    const uint64_t size = least(m->total - *done, PIECE);
    uint8_t *bytes = alloc(1, size + 1);
    struct iovec vector = {bytes, size};
    struct msghdr host = {
        .msg_name = &m->name.bytes, .msg_namelen = sizeof m->name.bytes, .msg_iov = &vector, .msg_iovlen = 1};
    const ssize_t got = recvmsg(file->host, &host, (m->flags & ~OWN_FLAGS) | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const int failed = errno;
    if (got > 0 && !drops)
        copy(process, m, *done, bytes, least((uint64_t)got, size), true);
    free(bytes);
    m->name.size = host.msg_namelen;
    m->found = host.msg_flags & ~MSG_CMSG_CLOEXEC;
    return got < 0 ? -failed : got;
}

/* Receives a message. Returns as send_message(). */
static int64_t receive_message(struct process *process, struct thread *thread, const struct file *file,
                               struct message *m)
{
    const bool waits = may_wait(file, m, false);
    const bool all =
        waits && socket_type(file) == SOCK_STREAM && (m->flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL;
    uint64_t done = thread->moved;
    thread->moved = 0;
    if (!can_reach(process, m, true))
        return -EFAULT;
    int64_t got;
    do {
        got = receive_now(process, file, m, &done);
        done += got > 0 ? (uint64_t)got : 0;
    } while (all && got > 0 && done < m->total);
    if (got == -EAGAIN && waits)
        return socket_wait(process, thread, m->socket, false, done, -EAGAIN);
    threads_repeat(process);
    return got < 0 && done == 0 ? got : (int64_t)done;
}

int64_t socket_transfer(struct process *process, struct thread *thread, const struct file *file,
                        const uint64_t a[6], bool writes, bool vectors)
{
    struct message m = {.socket = a[0]};
    if (vectors && a[2] > PARTS_MOST)
        return -EINVAL;
    const int64_t failed = vectors ? get_parts(process, a[1], a[2], &m) : 0;
    if (failed)
        return failed;
    if (!vectors)
        set_part(&m, a[1], a[2]);
    if (m.total == 0 && (vectors || !writes))
        return 0;
    return writes ? send_message(process, thread, file, &m) : receive_message(process, thread, file, &m);
}

/* Reads the receiver's address. Sockets of AF_UNIX that are connected only say that they are. */
static int64_t get_receiver(struct process *process, const struct file *file, uint64_t address, int32_t size,
                            struct socket_name *name)
{
    if (socket_family(file) != AF_UNIX || socket_type(file) == SOCK_DGRAM || size < 0)
        return socket_name_get(process, file, address, size, name);
    *name = (struct socket_name){.bytes.head.sa_family = AF_UNIX, .size = sizeof(sa_family_t), .held = -1};
    return guest_reaches(process->user, address, (uint64_t)size, false) ? 0 : -EFAULT;
}

/* a[]: socket, bytes, their number, flags, address and its size. */
int64_t linux_sendto(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct message m = {.socket = a[0], .flags = (int)a[3], .name.held = -1};
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    if (!file)
        return failed;
    set_part(&m, a[1], a[2]);
    failed = a[4] ? get_receiver(process, file, a[4], (int32_t)a[5], &m.name) : 0;
    if (failed)
        return failed;
    const int64_t result = send_message(process, thread, file, &m);
    socket_name_release(&m.name);
    return result;
}

/* Returns 0 if there is room for an address whose size is at `size_address`, or -errno. */
static int64_t check_room(struct process *process, uint64_t size_address)
{
    int32_t room;
    const void *from = guest_readable(process->user, size_address, sizeof room);
    if (!from)
        return -EFAULT;
    memcpy(&room, from, sizeof room);
    return room < 0 ? -EINVAL : 0;
}

/* a[]: socket, bytes, their number, flags, address and address of its size. */
int64_t linux_recvfrom(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct message m = {.socket = a[0], .flags = (int)a[3]};
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    failed = file && a[4] ? check_room(process, a[5]) : failed;
    if (failed)
        return failed;
    set_part(&m, a[1], a[2]);
    const int64_t got = receive_message(process, thread, file, &m);
    failed = got >= 0 && a[4] ? socket_name_put(process, &m.name, a[4], a[5]) : 0;
    return failed ? failed : got;
}

/* Reads a message's header and what it names. Returns 0 or -errno. */
static int64_t get_header(struct process *process, const struct file *file, uint64_t address, bool writes,
                          struct guest_message *header, struct message *m)
{
    const void *from = writes ? guest_readable(process->user, address, sizeof *header)
                              : guest_writable(process->user, address, sizeof *header);
    if (!from)
        return -EFAULT;
    memcpy(header, from, sizeof *header);
    const int32_t size = header->name ? header->name_size : 0, most = sizeof(struct sockaddr_storage);
    if (size < 0)
        return -EINVAL;
    if (header->count > PARTS_MOST)
        return -EMSGSIZE;
    int64_t failed = get_parts(process, header->parts, header->count, m);
    if (!failed && writes && header->control_size > 0)
        return header->control_size > INT32_MAX ? -ENOBUFS : -EOPNOTSUPP;
    return failed || !writes || size == 0
               ? failed
               : get_receiver(process, file, header->name, size < most ? size : most, &m->name);
}

static int64_t send_header(struct process *process, struct thread *thread, const struct file *file,
                           uint64_t address, struct message *m)
{
    struct guest_message header;
    m->name = (struct socket_name){.held = -1};
    const int64_t failed = get_header(process, file, address, true, &header, m);
    if (failed)
        return failed;
    const int64_t result = send_message(process, thread, file, m);
    socket_name_release(&m->name);
    return result;
}

static int64_t receive_header(struct process *process, struct thread *thread, const struct file *file,
                              uint64_t address, struct message *m)
{
    struct guest_message header;
    int64_t failed = get_header(process, file, address, false, &header, m);
    const int64_t got = failed ? failed : receive_message(process, thread, file, m);
    if (got < 0)
        return got;
    struct socket_name shown = m->name;
    socket_name_show(process, &shown);
    if (header.name) {
        failed = guest_put(process->user, header.name, &shown.bytes,
                           least((uint64_t)header.name_size, least(shown.size, sizeof shown.bytes)));
        header.name_size = (int32_t)shown.size;
    }
    header.control_size = 0; /* there are no control messages */
    header.flags = (uint32_t)m->found;
    return failed || guest_put(process->user, address, &header, sizeof header) ? -EFAULT : got;
}

/* a[]: socket, message, flags. */
int64_t linux_sendmsg(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct message m = {.socket = a[0], .flags = (int)a[2]};
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    return file ? send_header(process, thread, file, a[1], &m) : failed;
}

int64_t linux_recvmsg(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct message m = {.socket = a[0], .flags = (int)a[2]};
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    return file ? receive_header(process, thread, file, a[1], &m) : failed;
}

/* Moves the messages of a vector, of which only the first one is waited for. a[]: socket, messages, their number, flags. */
static int64_t move_messages(struct process *process, struct thread *thread, const uint64_t a[6], bool writes)
{
    const uint64_t most = least((uint32_t)a[2], MESSAGES_MOST);
    int64_t failed, moved = 0;
    uint64_t count = 0;
    const struct file *file = socket_of(process, a[0], &failed);
    if (!file)
        return failed;
    for (; count < most; count++) {
        const uint64_t at = a[1] + count * sizeof(struct guest_messages);
        struct message m = {.socket = a[0], .flags = (int)a[3] | (count > 0 ? MSG_DONTWAIT : 0)};
        moved = writes ? send_header(process, thread, file, at, &m)
                       : receive_header(process, thread, file, at, &m);
        if (moved < 0)
            break;
        const uint32_t length = (uint32_t)moved;
        moved =
            guest_put(process->user, at + offsetof(struct guest_messages, length), &length, sizeof length);
        if (moved < 0)
            break;
    }
    return count > 0 ? (int64_t)count : moved;
}

int64_t linux_sendmmsg(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return move_messages(process, thread, a, true);
}

/* a[4]: address of a time limit, at which Linux looks behind each message. */
int64_t linux_recvmmsg(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t deadline;
    const int64_t failed = a[4] ? time_deadline(process, a[4], false, false, &deadline) : 0;
    return failed ? failed : move_messages(process, thread, a, false);
}
