/* What the programs about sockets share: addresses of 127.0.0.1, [::1] and files, servers and connections. */
#ifndef TESTS_ENV_LINUX_SOCKETS_H
#define TESTS_ENV_LINUX_SOCKETS_H

#include "calls.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

union name {
    struct sockaddr head;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un file;
    struct sockaddr_storage room;
};

static inline void nap(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static inline union name loopback(int family)
{
    union name name = {.head.sa_family = (sa_family_t)family};
    if (family == AF_INET)
        name.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        name.six.sin6_addr = in6addr_loopback;
    return name;
}

static inline union name file_name(const char *path)
{
    union name name = {.file.sun_family = AF_UNIX};
    strcpy(name.file.sun_path, path);
    return name;
}

static inline socklen_t size_of(const union name *name)
{
    return name->head.sa_family == AF_INET    ? sizeof name->four
           : name->head.sa_family == AF_INET6 ? sizeof name->six
                                              : (socklen_t)sizeof name->file;
}

static inline int same(const union name *a, const union name *b)
{
    return memcmp(a, b, a->head.sa_family == AF_INET ? sizeof a->four : 24) == 0;
}

/* Waits until a descriptor is ready, so that what loopback has not delivered yet does not matter. */
static inline int ready(int fd, short events)
{
    struct pollfd wait = {.fd = fd, .events = events};
    return poll(&wait, 1, -1) == 1 ? wait.revents : -1;
}

/* Makes a socket that is bound to a port of the system's choice, and listens if it is one of streams. */
static inline int server(int family, int type, union name *name)
{
    socklen_t size = sizeof *name;
    int fd = socket(family, type, 0);
    *name = loopback(family);
    if (bind(fd, &name->head, size_of(name)) != 0 || getsockname(fd, &name->head, &size) != 0 ||
        ((type & 15) == SOCK_STREAM && listen(fd, 5) != 0))
        printf("no server: %s\n", strerrorname_np(errno));
    return fd;
}

/* Makes both ends of a connection, which holds about 50000 bytes. */
static inline void connection(int family, int ends[2])
{
    const int room = 10000;
    union name name;
    int listens = server(family, SOCK_STREAM, &name);
    ends[0] = socket(family, SOCK_STREAM, 0);
    setsockopt(listens, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(listens, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (connect(ends[0], &name.head, size_of(&name)) != 0)
        printf("no connection: %s\n", strerrorname_np(errno));
    ends[1] = accept(listens, NULL, NULL);
    close(listens);
}

static inline void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static inline void note(int number)
{
    printf("signal %d\n", number);
}

/* Prints what a thread has returned. */
static inline void joined(const char *what, pthread_t thread)
{
    void *result;
    pthread_join(thread, &result);
    printf("%s: %ld\n", what, (long)result);
}

/* Calls a part of the program for IPv4 and, if the machine has an address [::1], for IPv6. */
static inline void for_families(void (*part)(int family))
{
    union name name = loopback(AF_INET6);
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    const int has_six = bind(fd, &name.head, size_of(&name)) == 0;
    close(fd);
    if (!has_six)
        fprintf(stderr, "there is no address [::1]: sockets of IPv6 are skipped\n");
    for (int i = 0; i <= has_six; i++) {
        printf("family %d\n", i ? AF_INET6 : AF_INET);
        part(i ? AF_INET6 : AF_INET);
    }
}

#endif
