/* Sockets of the internet on the host's loopback device: each call and its errors. */
#include "sockets.h"

enum { LARGE = 3000000 };

static char bytes[LARGE], taken[LARGE];

static void make(void)
{
    close((int)SHOW_OK(socket, AF_INET, SOCK_STREAM, 0));
    close((int)SHOW_OK(socket, AF_INET, SOCK_DGRAM, IPPROTO_UDP));
    close((int)SHOW_OK(socket, AF_UNIX, SOCK_SEQPACKET, 0));
    int fd = (int)SHOW_OK(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    printf("close on exec %d, non-blocking %d\n", fcntl(fd, F_GETFD), (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    SHOW(lseek, fd, 0, SEEK_CUR);
    SHOW(pread64, fd, taken, 1L, 0L);
    SHOW(ftruncate, fd, 0L);
    close(fd);
    SHOW(socket, AF_INET, SOCK_STREAM, IPPROTO_UDP);
    SHOW(socket, AF_INET, SOCK_DGRAM, IPPROTO_TCP);
    SHOW(socket, AF_INET, SOCK_SEQPACKET, 0);
    SHOW(socket, AF_INET, 12, 0);
    SHOW(socket, AF_INET, SOCK_STREAM, 1000);
    SHOW(socket, AF_UNIX, SOCK_RDM, 0);
    SHOW(socket, AF_UNIX, SOCK_STREAM, 77);
    SHOW(socket, 45, SOCK_STREAM, 0);
    SHOW(socket, 4000, SOCK_STREAM, 0);
    SHOW(socket, -1, SOCK_STREAM, 0);
}

/* What calls say to descriptors that are none, or no sockets, and to addresses that are none. */
static void wrong(int family)
{
    union name name = loopback(family), other;
    socklen_t size = sizeof other, negative = (socklen_t)-1;
    const socklen_t own = size_of(&name);
    int fd = socket(family, SOCK_STREAM, 0), listens = server(family, SOCK_STREAM, &other),
        plain = socket(family, SOCK_DGRAM, 0);
    SHOW(bind, 99, &name, own);
    SHOW(bind, 0, &name, own);
    SHOW(bind, fd, NOWHERE, own);
    SHOW(bind, fd, &name, 3);
    SHOW(bind, fd, &name, 200);
    SHOW(bind, fd, &name, -1);
    SHOW(bind, listens, &name, own);
    SHOW(bind, fd, &other, own); /* in use */
    name.head.sa_family = 77;
    SHOW(bind, fd, &name, own);
    SHOW(connect, fd, &name, own);
    name.head.sa_family = (sa_family_t)family;
    SHOW(connect, 99, &other, own);
    SHOW(connect, 0, &other, own);
    SHOW(connect, fd, NOWHERE, own);
    SHOW(connect, fd, &other, 1);
    SHOW(connect, fd, &other, -1);
    SHOW(listen, 99, 1);
    SHOW(listen, 0, 1);
    SHOW(listen, plain, 1);
    SHOW(listen, listens, -1);
    SHOW(accept, 99, NULL, NULL);
    SHOW(accept, 0, NULL, NULL);
    SHOW(accept, fd, NULL, NULL); /* does not listen */
    SHOW(accept, plain, NULL, NULL);
    SHOW(accept4, 99, NULL, NULL, 0);
    SHOW(getsockname, 99, &other, &size);
    SHOW(getsockname, 0, &other, &size);
    SHOW(getsockname, listens, NOWHERE, &size);
    SHOW(getsockname, listens, &other, NOWHERE);
    SHOW(getsockname, listens, &other, &negative);
    size = 4;
    SHOW(getsockname, listens, &other, &size);
    printf("size %d family %d\n", (int)size, other.head.sa_family);
    SHOW(getpeername, fd, &other, &size);
    SHOW(getpeername, 99, &other, &size);
    SHOW(getpeername, 0, &other, &size);
    SHOW(shutdown, 99, SHUT_RD);
    SHOW(shutdown, 0, SHUT_RD);
    SHOW(shutdown, fd, SHUT_RD);
    SHOW(sendto, fd, "abc", 3L, MSG_NOSIGNAL, NULL, 0);
    SHOW(sendto, plain, "abc", 3L, 0, NULL, 0);
    SHOW(sendto, 0, "abc", 3L, 0, NULL, 0);
    SHOW(recvfrom, fd, taken, 3L, 0, NULL, NULL);
    SHOW(recvfrom, 0, taken, 3L, 0, NULL, NULL);
    close(fd);
    close(listens);
    close(plain);
}

/* Streams, of which one thread has both ends. */
static void stream(int family)
{
    int ends[2], count = 0;
    union name name, peer = {.head.sa_family = 0}, own;
    socklen_t size = sizeof peer;
    struct iovec parts[3] = {{"in ", 3}, {"three ", 6}, {"parts", 5}};
    int listens = server(family, SOCK_STREAM | SOCK_NONBLOCK, &name);
    SHOW(accept4, listens, NULL, NULL, 0);
    ends[0] = socket(family, SOCK_STREAM, 0);
    SHOW(connect, ends[0], &name, size_of(&name));
    SHOW(connect, ends[0], &name, size_of(&name));
    ready(listens, POLLIN);
    ends[1] = (int)SHOW_OK(accept4, listens, &peer, &size, SOCK_CLOEXEC);
    getsockname(ends[0], &own.head, &(socklen_t){sizeof own});
    printf("size %d, the peer is the other end %d, on exec %d, waits %d\n", (int)size, same(&peer, &own),
           fcntl(ends[1], F_GETFD), (fcntl(ends[1], F_GETFL) & O_NONBLOCK) == 0);
    getpeername(ends[0], &own.head, &(socklen_t){sizeof own});
    printf("the server is the peer: %d\n", same(&name, &own));
    SHOW(sendto, ends[0], "hello", 5L, 0, NULL, 0);
    ready(ends[1], POLLIN);
    SHOW(ioctl, ends[1], FIONREAD, &count);
    printf("%d bytes wait\n", count);
    SHOW(recvfrom, ends[1], taken, 3L, MSG_PEEK, NULL, NULL);
    size = sizeof peer;
    SHOW(recvfrom, ends[1], taken, 3L, 0, &peer, &size);
    printf("%.3s size %d\n", taken, (int)size);
    memset(taken, 'x', 3);
    SHOW(recvfrom, ends[1], taken, 2L, MSG_TRUNC, NULL, NULL);
    printf("%.3s\n", taken);
    SHOW(recvfrom, ends[1], taken, 3L, MSG_DONTWAIT, NULL, NULL);
    SHOW(recvfrom, ends[1], taken, 0L, MSG_DONTWAIT, NULL, NULL);
    SHOW(recvfrom, ends[1], taken, 3L, MSG_ERRQUEUE, NULL, NULL);
    SHOW(recvfrom, ends[1], taken, 3L, MSG_OOB, NULL, NULL);
    SHOW(recvfrom, ends[1], NOWHERE, 3L, 0, NULL, NULL);
    SHOW(recvfrom, ends[1], taken, -1L, 0, NULL, NULL);
    SHOW(sendto, ends[0], NOWHERE, 3L, 0, NULL, 0);
    SHOW(sendto, ends[0], bytes, -1L, 0, NULL, 0);
    SHOW(sendto, ends[0], bytes, 0L, 0, NULL, 0);
    SHOW(write, ends[0], "written", 7L);
    SHOW(writev, ends[0], parts, 3);
    SHOW(writev, ends[0], parts, 5000);
    SHOW(writev, ends[0], parts, 0);
    SHOW(writev, ends[0], NOWHERE, 3);
    SHOW(recvfrom, ends[1], taken, 21L, MSG_WAITALL, NULL, NULL);
    printf("%.21s\n", taken);
    SHOW(read, ends[1], taken, 0L);
    SHOW(write, ends[0], "abcdef", 6L);
    ready(ends[1], POLLIN);
    parts[0] = (struct iovec){taken, 2};
    parts[1] = (struct iovec){taken + 10, 1};
    parts[2] = (struct iovec){taken + 20, 100};
    SHOW(readv, ends[1], parts, 3);
    printf("%.2s %.1s %.3s\n", taken, taken + 10, taken + 20);
    parts[1].iov_len = (size_t)-1;
    SHOW(readv, ends[1], parts, 3);
    SHOW(write, ends[1], "back", 4L);
    SHOW(shutdown, ends[0], 99);
    SHOW(shutdown, ends[0], SHUT_WR);
    ready(ends[1], POLLIN);
    SHOW(read, ends[1], taken, 10L);
    ready(ends[0], POLLIN);
    SHOW(read, ends[0], taken, 10L);
    SHOW(sendto, ends[0], "abc", 3L, MSG_NOSIGNAL, NULL, 0);
    printf("ready %x\n", ready(ends[1], POLLIN | POLLOUT | POLLRDHUP));
    close(ends[0]);
    close(ends[1]);
    close(listens);
    ends[0] = socket(family, SOCK_STREAM, 0);
    SHOW(connect, ends[0], &name, size_of(&name)); /* nobody listens any more */
    SHOW(connect, ends[0], &name, size_of(&name));
    close(ends[0]);
    ends[0] = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    SHOW(connect, ends[0], &name, size_of(&name));
    ready(ends[0], POLLOUT);
    size = sizeof count;
    SHOW(getsockopt, ends[0], SOL_SOCKET, SO_ERROR, &count, &size);
    printf("error %s\n", strerrorname_np(count));
    close(ends[0]);
}

/* A connection whose other end has gone. */
static void broken(int family)
{
    int ends[2];
    const struct linger at_once = {1, 0};
    connection(family, ends);
    setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(ends[0]); /* resets it */
    printf("ready %x\n", ready(ends[1], POLLIN));
    SHOW(read, ends[1], taken, 10L);
    SHOW(read, ends[1], taken, 10L);
    signal(SIGPIPE, note);
    SHOW(write, ends[1], "abc", 3L);
    SHOW(sendto, ends[1], "abc", 3L, 0, NULL, 0);
    SHOW(sendto, ends[1], "abc", 3L, MSG_NOSIGNAL, NULL, 0);
    close(ends[1]);
}

static void datagrams(int family)
{
    union name names[2], from = {.head.sa_family = 0};
    socklen_t size = sizeof from;
    int fd[2] = {server(family, SOCK_DGRAM, &names[0]), server(family, SOCK_DGRAM, &names[1])};
    SHOW(recvfrom, fd[1], taken, 10L, MSG_DONTWAIT, NULL, NULL);
    SHOW(sendto, fd[0], "first", 5L, 0, &names[1], size_of(&names[1]));
    SHOW(sendto, fd[0], "second one", 10L, 0, &names[1], size_of(&names[1]));
    SHOW(sendto, fd[0], NULL, 0L, 0, &names[1], size_of(&names[1]));
    SHOW(sendto, fd[0], bytes, 70000L, 0, &names[1], size_of(&names[1]));
    SHOW(sendto, fd[0], bytes, (long)LARGE, 0, &names[1], size_of(&names[1]));
    SHOW(sendto, fd[0], "abc", 3L, 0, NOWHERE, size_of(&names[1]));
    SHOW(sendto, fd[0], "abc", 3L, 0, &names[1], 5);
    SHOW(sendto, fd[0], "abc", 3L, 0, &names[1], -1);
    SHOW(recvfrom, fd[1], taken, 100L, 0, &from, &size);
    printf("%.5s from the other %d, size %d\n", taken, same(&from, &names[0]), (int)size);
    SHOW(recvfrom, fd[1], taken, 6L, MSG_TRUNC | MSG_PEEK, NULL, NULL);
    size = (socklen_t)-1;
    SHOW(recvfrom, fd[1], taken, 6L, 0, &from, &size);
    SHOW(recvfrom, fd[1], taken, 6L, 0, &from, NULL);
    SHOW(recvfrom, fd[1], taken, 6L, 0, NULL, NULL);
    printf("%.6s\n", taken);
    SHOW(recvfrom, fd[1], taken, 6L, 0, NULL, NULL);
    SHOW(connect, fd[0], &names[1], size_of(&names[1]));
    SHOW(write, fd[0], "through", 7L);
    SHOW(write, fd[0], "", 0L);
    SHOW(read, fd[1], taken, 100L);
    SHOW(recvfrom, fd[1], taken, 100L, 0, NULL, NULL);
    SHOW(sendto, fd[1], "not its peer", 12L, 0, &names[0], size_of(&names[0]));
    SHOW(recvfrom, fd[0], taken, 100L, 0, NULL, NULL);
    close(fd[1]);
    SHOW(write, fd[0], "lost", 4L);
    printf("ready %x\n", ready(fd[0], POLLIN) & POLLERR);
    SHOW(recvfrom, fd[0], taken, 100L, 0, NULL, NULL);
    from = (union name){.head.sa_family = AF_UNSPEC};
    SHOW(connect, fd[0], &from, size_of(&names[0]));
    SHOW(write, fd[0], "abc", 3L);
    close(fd[0]);
}

/* Messages in parts, and several by one call. */
static void messages(int family)
{
    union name names[2], from = {.head.sa_family = 0};
    int fd[2] = {server(family, SOCK_DGRAM, &names[0]), server(family, SOCK_DGRAM, &names[1])};
    struct iovec parts[3] = {{"in two", 3}, {"pieces", 6}, {taken, 0}};
    struct mmsghdr several[3];
    const struct msghdr to = {
        .msg_name = &names[1], .msg_namelen = size_of(&names[1]), .msg_iov = parts, .msg_iovlen = 2};
    struct msghdr message = to;
    SHOW(sendmsg, fd[0], &message, 0);
    SHOW(sendmsg, fd[0], NOWHERE, 0);
    SHOW(sendmsg, 99, &message, 0);
    SHOW(sendmsg, 0, &message, 0);
    message.msg_iovlen = 5000;
    SHOW(sendmsg, fd[0], &message, 0);
    message.msg_iovlen = (size_t)-1;
    SHOW(sendmsg, fd[0], &message, 0);
    message.msg_iovlen = 2;
    message.msg_iov = NOWHERE;
    SHOW(sendmsg, fd[0], &message, 0);
    message = to;
    message.msg_name = NOWHERE;
    SHOW(sendmsg, fd[0], &message, 0);
    message = (struct msghdr){.msg_iov = parts, .msg_iovlen = 2};
    SHOW(sendmsg, fd[0], &message, 0);
    parts[0] = (struct iovec){taken, 4};
    parts[1] = (struct iovec){taken + 10, 3};
    message = (struct msghdr){.msg_name = &from,
                              .msg_namelen = sizeof from,
                              .msg_iov = parts,
                              .msg_iovlen = 2,
                              .msg_control = bytes,
                              .msg_controllen = 100};
    SHOW(recvmsg, fd[1], &message, 0);
    printf("%.4s %.3s name %d right %d control %d flags %x\n", taken, taken + 10, (int)message.msg_namelen,
           same(&from, &names[0]), (int)message.msg_controllen, message.msg_flags);
    SHOW(recvmsg, fd[1], &message, MSG_DONTWAIT);
    SHOW(recvmsg, fd[1], NOWHERE, 0);
    SHOW(recvmsg, 99, &message, 0);
    SHOW(recvmsg, 0, &message, 0);
    for (int i = 0; i < 3; i++) {
        parts[i] = (struct iovec){bytes, (size_t)i + 1};
        several[i].msg_hdr = to;
        several[i].msg_hdr.msg_iov = &parts[i];
        several[i].msg_hdr.msg_iovlen = 1;
    }
    SHOW(sendmmsg, fd[0], several, 3, 0);
    printf("lengths %d %d %d\n", several[0].msg_len, several[1].msg_len, several[2].msg_len);
    SHOW(sendmmsg, fd[0], several, 0, 0);
    SHOW(sendmmsg, fd[0], NOWHERE, 3, 0);
    SHOW(sendmmsg, 99, several, 3, 0);
    SHOW(sendmmsg, 0, several, 3, 0);
    for (int i = 0; i < 3; i++) {
        parts[i] = (struct iovec){taken + 10 * i, 10};
        several[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
        ready(fd[1], POLLIN);
    }
    SHOW(recvmmsg, fd[1], several, 3, MSG_WAITFORONE, NULL);
    printf("lengths %d %d %d\n", several[0].msg_len, several[1].msg_len, several[2].msg_len);
    SHOW(recvmmsg, fd[1], several, 3, MSG_DONTWAIT, NULL);
    SHOW(recvmmsg, fd[1], NOWHERE, 3, 0, NULL);
    SHOW(recvmmsg, 99, several, 3, 0, NULL);
    SHOW(recvmmsg, 0, several, 3, 0, NULL);
    close_both(fd);
}

static void all(int family)
{
    wrong(family);
    stream(family);
    broken(family);
    datagrams(family);
    messages(family);
}

int main(void)
{
    make();
    for_families(all);
    return 0;
}
