/* Options of sockets: those that need neither privileges nor control messages, which the host's sockets keep. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>

#include "emu/env/linux/calls/socket.h"

enum { GETS = 1, SETS = 2, BOTH = 3, OPTION_MOST = 64 };

/* An option: who may be asked or told, and its bytes at most. Numbers and structures are the same on all hosts. */
static const struct option {
    int level, number;
    uint8_t use, size;
} options[] = {
    {SOL_SOCKET, SO_REUSEADDR, BOTH, 4},
    {SOL_SOCKET, SO_TYPE, GETS, 4},
    {SOL_SOCKET, SO_ERROR, GETS, 4},
    {SOL_SOCKET, SO_DONTROUTE, BOTH, 4},
    {SOL_SOCKET, SO_BROADCAST, BOTH, 4},
    {SOL_SOCKET, SO_SNDBUF, BOTH, 4},
    {SOL_SOCKET, SO_RCVBUF, BOTH, 4},
    {SOL_SOCKET, SO_KEEPALIVE, BOTH, 4},
    {SOL_SOCKET, SO_OOBINLINE, BOTH, 4},
    {SOL_SOCKET, SO_PRIORITY, BOTH, 4},
    {SOL_SOCKET, SO_LINGER, BOTH, sizeof(struct linger)},
    {SOL_SOCKET, SO_REUSEPORT, BOTH, 4},
    {SOL_SOCKET, SO_RCVLOWAT, BOTH, 4},
    {SOL_SOCKET, SO_SNDLOWAT, GETS, 4},
    {SOL_SOCKET, SO_RCVTIMEO, BOTH, sizeof(struct timeval)},
    {SOL_SOCKET, SO_SNDTIMEO, BOTH, sizeof(struct timeval)},
    {SOL_SOCKET, SO_ACCEPTCONN, GETS, 4},
    {SOL_SOCKET, SO_PROTOCOL, GETS, 4},
    {SOL_SOCKET, SO_DOMAIN, GETS, 4},
    {IPPROTO_TCP, TCP_NODELAY, BOTH, 4},
    {IPPROTO_TCP, TCP_MAXSEG, BOTH, 4},
    {IPPROTO_TCP, TCP_CORK, BOTH, 4},
    {IPPROTO_TCP, TCP_KEEPIDLE, BOTH, 4},
    {IPPROTO_TCP, TCP_KEEPINTVL, BOTH, 4},
    {IPPROTO_TCP, TCP_KEEPCNT, BOTH, 4},
    {IPPROTO_TCP, TCP_SYNCNT, BOTH, 4},
    {IPPROTO_TCP, TCP_LINGER2, BOTH, 4},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, BOTH, 4},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP, BOTH, 4},
    {IPPROTO_TCP, TCP_QUICKACK, BOTH, 4},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, BOTH, 4},
    {IPPROTO_IP, IP_TOS, BOTH, 4},
    {IPPROTO_IP, IP_TTL, BOTH, 4},
    {IPPROTO_IP, IP_MTU_DISCOVER, BOTH, 4},
    {IPPROTO_IP, IP_MTU, GETS, 4},
    {IPPROTO_IP, IP_MULTICAST_IF, BOTH, sizeof(struct ip_mreqn)},
    {IPPROTO_IP, IP_MULTICAST_TTL, BOTH, 4},
    {IPPROTO_IP, IP_MULTICAST_LOOP, BOTH, 4},
    {IPPROTO_IP, IP_ADD_MEMBERSHIP, SETS, sizeof(struct ip_mreqn)},
    {IPPROTO_IP, IP_DROP_MEMBERSHIP, SETS, sizeof(struct ip_mreqn)},
    {IPPROTO_IPV6, IPV6_V6ONLY, BOTH, 4},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS, BOTH, 4},
    {IPPROTO_IPV6, IPV6_MULTICAST_IF, BOTH, 4},
    {IPPROTO_IPV6, IPV6_MULTICAST_HOPS, BOTH, 4},
    {IPPROTO_IPV6, IPV6_MULTICAST_LOOP, BOTH, 4},
    {IPPROTO_IPV6, IPV6_JOIN_GROUP, SETS, sizeof(struct ipv6_mreq)},
    {IPPROTO_IPV6, IPV6_LEAVE_GROUP, SETS, sizeof(struct ipv6_mreq)},
    {IPPROTO_IPV6, IPV6_MTU_DISCOVER, BOTH, 4},
    {IPPROTO_IPV6, IPV6_TCLASS, BOTH, 4},
};

static const struct option *find(uint64_t level, uint64_t number, uint8_t use)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].level == (int)level && options[i].number == (int)number && (options[i].use & use))
            return &options[i];
    return NULL;
}

/* Returns whether some option of the level exists. */
static bool is_level(uint64_t level)
{
    return (int)level == SOL_SOCKET || (int)level == IPPROTO_TCP || (int)level == IPPROTO_IP ||
           (int)level == IPPROTO_IPV6;
}

/* a[]: socket, level, option, value, its size. */
int64_t linux_setsockopt(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint8_t value[OPTION_MOST];
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    const struct option *option = find(a[1], a[2], SETS);
    (void)thread;
    if (!file)
        return failed;
    if ((int32_t)a[4] < 0)
        return -EINVAL;
    if (!option)
        return -ENOPROTOOPT;
    const uint32_t given = (uint32_t)a[4], size = given < option->size ? given : option->size;
    const void *from = guest_readable(process->user, a[3], size);
    if (!from)
        return -EFAULT;
    memcpy(value, from, size);
    return setsockopt(file->host, option->level, option->number, value, size) != 0 ? -errno : 0;
}

/* a[]: socket, level, option, value, address of its size. */
int64_t linux_getsockopt(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint8_t value[OPTION_MOST] = {0};
    int32_t room;
    int64_t failed;
    const struct file *file = socket_of(process, a[0], &failed);
    const struct option *option = find(a[1], a[2], GETS);
    (void)thread;
    if (!file)
        return failed;
    if (!option)
        return is_level(a[1]) ? -ENOPROTOOPT : -EOPNOTSUPP;
    const void *from = guest_readable(process->user, a[4], sizeof room);
    if (!from)
        return -EFAULT;
    memcpy(&room, from, sizeof room);
    if (room < 0)
        return -EINVAL;
    socklen_t size = room < OPTION_MOST ? (socklen_t)room : OPTION_MOST;
    if (getsockopt(file->host, option->level, option->number, value, &size) != 0)
        return -errno;
    failed = guest_put(process->user, a[3], value, size);
    return failed ? failed : guest_put(process->user, a[4], &size, sizeof size);
}
