/* Options of sockets. */
#include "sockets.h"

/* show_option: prints what an option is after it was set. */
static void show_option(int line, int fd, int level, int option, int value, socklen_t size)
{
    int got = -1;
    const int failed = setsockopt(fd, level, option, &value, size) != 0 ? errno : 0;
    socklen_t room = sizeof got;
    const int unknown = getsockopt(fd, level, option, &got, &room) != 0 ? errno : 0;
    printf("%d option %d.%d: %s, %s, %d in %d\n", line, level, option,
           failed ? strerrorname_np(failed) : "set", unknown ? strerrorname_np(unknown) : "got", got,
           (int)room);
}
#define OPTION(fd, level, option, value) show_option(__LINE__, fd, level, option, value, sizeof(int))

static void options(int family)
{
    union name name;
    int fd = socket(family, SOCK_STREAM, 0), plain = socket(family, SOCK_DGRAM, 0), value = 0;
    int listens = server(family, SOCK_STREAM, &name);
    socklen_t size = sizeof value;
    struct timeval limit = {0, 200000};
    struct linger linger = {1, 5};
    OPTION(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    OPTION(fd, SOL_SOCKET, SO_REUSEPORT, 7);
    OPTION(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    OPTION(fd, SOL_SOCKET, SO_OOBINLINE, 1);
    OPTION(fd, SOL_SOCKET, SO_DONTROUTE, 0);
    OPTION(plain, SOL_SOCKET, SO_BROADCAST, 1);
    OPTION(fd, SOL_SOCKET, SO_SNDBUF, 10000);
    OPTION(fd, SOL_SOCKET, SO_RCVBUF, 10000);
    OPTION(fd, SOL_SOCKET, SO_PRIORITY, 3);
    OPTION(fd, SOL_SOCKET, SO_RCVLOWAT, 1);
    OPTION(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    OPTION(fd, IPPROTO_TCP, TCP_CORK, 1);
    OPTION(fd, IPPROTO_TCP, TCP_KEEPIDLE, 100);
    OPTION(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    OPTION(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
    OPTION(fd, IPPROTO_TCP, TCP_KEEPCNT, 3000);
    OPTION(plain, IPPROTO_TCP, TCP_NODELAY, 1);
    show_option(__LINE__, fd, SOL_SOCKET, SO_REUSEADDR, 1, 3);
    if (family == AF_INET) {
        OPTION(fd, IPPROTO_IP, IP_TTL, 33);
        OPTION(fd, IPPROTO_IP, IP_TTL, 333);
        OPTION(fd, IPPROTO_IP, IP_TOS, 16);
        OPTION(plain, IPPROTO_IP, IP_MULTICAST_TTL, 2);
        OPTION(plain, IPPROTO_IP, IP_MULTICAST_LOOP, 0);
    } else {
        OPTION(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        OPTION(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 33);
    }
    SHOW(getsockopt, listens, SOL_SOCKET, SO_ACCEPTCONN, &value, &size);
    printf("listens %d\n", value);
    SHOW(getsockopt, plain, SOL_SOCKET, SO_TYPE, &value, &size);
    printf("type %d\n", value);
    size = 2;
    value = 0;
    SHOW(getsockopt, plain, SOL_SOCKET, SO_TYPE, &value, &size);
    printf("type %d size %d\n", value, (int)size);
    size = (socklen_t)-1;
    SHOW(getsockopt, plain, SOL_SOCKET, SO_TYPE, &value, &size);
    SHOW(getsockopt, plain, SOL_SOCKET, SO_TYPE, &value, NOWHERE);
    size = sizeof value;
    SHOW(getsockopt, plain, SOL_SOCKET, SO_TYPE, NOWHERE, &size);
    SHOW(getsockopt, plain, SOL_SOCKET, 12345, &value, &size);
    SHOW(getsockopt, plain, 12345, 1, &value, &size);
    SHOW(getsockopt, 99, SOL_SOCKET, SO_TYPE, &value, &size);
    SHOW(getsockopt, 0, SOL_SOCKET, SO_TYPE, &value, &size);
    SHOW(setsockopt, plain, SOL_SOCKET, SO_REUSEADDR, NOWHERE, sizeof value);
    SHOW(setsockopt, plain, SOL_SOCKET, 12345, &value, sizeof value);
    SHOW(setsockopt, plain, SOL_SOCKET, SO_TYPE, &value, sizeof value);
    SHOW(setsockopt, 99, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
    SHOW(setsockopt, 0, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
    SHOW(setsockopt, fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    linger = (struct linger){0, 0};
    size = sizeof linger;
    SHOW(getsockopt, fd, SOL_SOCKET, SO_LINGER, &linger, &size);
    printf("linger %d %d\n", linger.l_onoff, linger.l_linger);
    SHOW(setsockopt, listens, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    limit.tv_usec = 0;
    size = sizeof limit;
    SHOW(getsockopt, listens, SOL_SOCKET, SO_RCVTIMEO, &limit, &size);
    printf("limit %ld\n", (long)limit.tv_usec);
    SHOW(accept, listens, NULL, NULL);
    limit.tv_usec = 2000000;
    SHOW(setsockopt, listens, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    close(fd);
    close(plain);
    close(listens);
}

static void all(int family)
{
    options(family);
}

int main(void)
{
    for_families(all);
    return 0;
}
