/* Sockets of Linux programs: pairs, which only the program's threads use, and with --net those of the host's network. */
#ifndef EMU_ENV_LINUX_CALLS_SOCKET_H
#define EMU_ENV_LINUX_CALLS_SOCKET_H

#include <sys/socket.h>

#include "emu/env/linux/calls/descriptor.h"

/* An address as the host knows it. Internet addresses are the program's; paths of AF_UNIX are resolved beneath --dir. */
struct socket_name {
    union {
        struct sockaddr head;
        struct sockaddr_storage room;
    } bytes;
    socklen_t size;
    int held; /* host descriptor through which the name leads; -1: none */
};

/* Returns the file of a descriptor if it is a socket, or NULL and sets *failed to -EBADF or -ENOTSOCK. */
struct file *socket_of(struct process *process, uint64_t descriptor, int64_t *failed);

/* Makes a descriptor for a host socket, which does not block; `kind`: FILE_SOCKET or FILE_PAIR, `flags`: GUEST_CLOEXEC,
 * GUEST_NONBLOCK. Returns it or -errno; then the host socket is closed. */
int64_t socket_add(struct process *process, int host, unsigned kind, int family, int type, uint64_t flags);

/* Return what socket() was given, which struct file keeps as `own`. */
enum { SOCKET_TYPE_MASK = 15, SOCKET_TYPE_BITS = 8 };
static inline int socket_family(const struct file *file)
{
    return (int)(file->own >> SOCKET_TYPE_BITS);
}

static inline int socket_type(const struct file *file)
{
    return (int)(file->own & SOCKET_TYPE_MASK);
}

/* Lets a thread wait until its call on a socket, which has moved `done` bytes so far, can go on. Returns LINUX_WAITS or LINUX_TURNS;
 * or, when a signal comes or the socket's time limit (SO_RCVTIMEO, SO_SNDTIMEO) is over, `done`, or if that is 0 -EINTR or `late`. */
int64_t socket_wait(struct process *process, struct thread *thread, uint64_t descriptor, bool writes,
                    uint64_t done, int64_t late);

/* The same for a call that a full queue at the other end holds up, of which no poll tells. Returns LINUX_WAITS, -EINTR, or -EAGAIN when
 * SO_SNDTIMEO is over. */
int64_t socket_try_later(struct process *process, struct thread *thread, const struct file *file);

/* Reads and writes as read and write, or with `vectors` readv and writev, do on a socket. */
int64_t socket_transfer(struct process *process, struct thread *thread, const struct file *file,
                        const uint64_t a[6], bool writes, bool vectors);

/* socket_name.c */

/* Reads an address to which a socket is to connect or send. Returns 0 or -errno. Release with socket_name_release(). */
int64_t socket_name_get(struct process *process, const struct file *file, uint64_t address, int32_t size,
                        struct socket_name *name);
void socket_name_release(const struct socket_name *name);

/* Gives a socket an address, a path in the folder that it names. Returns 0 or -errno. */
int64_t socket_name_bind(struct process *process, const struct file *file, uint64_t address, int32_t size);

/* Replaces a host address by that which the program knows. */
void socket_name_show(const struct process *process, struct socket_name *name);

/* Stores a host address as the program knows it: as many of its bytes as the room at `address` takes, and their number at
 * `size_address`, which has the room's size. Returns 0 or -errno. */
int64_t socket_name_put(struct process *process, const struct socket_name *name, uint64_t address,
                        uint64_t size_address);

#endif
