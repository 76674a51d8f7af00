/* What programs of Linux with --net see otherwise than under qemu-riscv64 7.2, or cannot do, and hostile calls. Returns the number of wrong
 * results. */
#include "expect.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

static void nap(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static const struct sockaddr_in any_port = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f};

/* Makes a socket with a port of 127.0.0.1. */
static int server(int type, struct sockaddr_in *name)
{
    socklen_t size = sizeof *name;
    int fd = socket(AF_INET, type, 0);
    if (bind(fd, (const struct sockaddr *)&any_port, sizeof any_port) != 0 ||
        getsockname(fd, (struct sockaddr *)name, &size) != 0 ||
        ((type & 15) == SOCK_STREAM && listen(fd, 50) != 0))
        expect(__LINE__, "a server", -1, 0);
    return fd;
}

static void connection(int ends[2])
{
    struct sockaddr_in name;
    int listens = server(SOCK_STREAM, &name);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    expect(__LINE__, "connect", connect(ends[0], (struct sockaddr *)&name, sizeof name), 0);
    ends[1] = accept(listens, NULL, NULL);
    close(listens);
}

static void refused(void)
{
    EXPECT(-EINVAL, socket, AF_INET, SOCK_STREAM | 0x100, 0);
    EXPECT(-EINVAL, socket, AF_NETLINK, 12, 0);
    EXPECT(-EPERM, socket, AF_INET, SOCK_RAW, IPPROTO_ICMP);
    EXPECT(-EPERM, socket, AF_INET6, SOCK_RAW, IPPROTO_RAW);
    EXPECT(-EPERM, socket, AF_INET, SOCK_PACKET, 0);
    EXPECT(-EPROTONOSUPPORT, socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
    EXPECT(-EPROTONOSUPPORT, socket, AF_INET, SOCK_STREAM, 262); /* MPTCP */
    EXPECT(-EAFNOSUPPORT, socket, AF_NETLINK, SOCK_RAW, 0);
    EXPECT(-EAFNOSUPPORT, socket, AF_PACKET, SOCK_DGRAM, 0);
    EXPECT(-EAFNOSUPPORT, socket, 40, SOCK_STREAM, 0); /* AF_VSOCK */
    EXPECT(-EAFNOSUPPORT, socketpair, AF_INET, SOCK_STREAM, 0, &(int[2]){0, 0});
}

/* Names of AF_UNIX outside of --dir, and those without a file. */
static void names(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    static const char *const outside[] = {"/tmp/croft_outside", "../croft_outside",
                                          "own_root/tmp/croft_outside", "/proc/self/fd/1", "own_link"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct stat st;
    symlink("/", "own_root");
    symlink("../croft_outside", "own_link");
    for (unsigned i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        strcpy(name.sun_path, outside[i]);
        EXPECT(i == 4 ? -EADDRINUSE : -EACCES, bind, fd, &name, sizeof name);
        EXPECT(-EACCES, connect, fd, &name, sizeof name);
        EXPECT(-EACCES, sendto, datagrams, "abc", 3L, 0, &name, sizeof name);
    }
    name.sun_path[0] = '\0';
    EXPECT(-EACCES, bind, fd, &name, 10);
    EXPECT(-EACCES, bind, fd, &name, 2);
    EXPECT(-EACCES, connect, fd, &name, 10);
    EXPECT(-EINVAL, connect, fd, &name, 2);
    name.sun_family = AF_INET;
    EXPECT(-EINVAL, bind, fd, &name, sizeof name);
    name.sun_family = AF_UNIX;
    EXPECT(-EINVAL, bind, fd, &name, 120);
    /* A path without an end, and one through a folder that is the working folder meanwhile. */
    mkdir("sub", 0700);
    expect(__LINE__, "chdir", chdir("sub"), 0);
    memset(name.sun_path, 'n', sizeof name.sun_path);
    EXPECT(0, bind, fd, &name, 12);
    expect(__LINE__, "stat", stat("nnnnnnnnnn", &st), 0);
    expect(__LINE__, "chdir", chdir(".."), 0);
    expect(__LINE__, "stat", stat("sub/nnnnnnnnnn", &st), 0);
    EXPECT(-EINVAL, bind, fd, &(struct sockaddr_un){AF_UNIX, "again"}, sizeof name);
    expect(__LINE__, "stat", stat("again", &st), -ENOENT);
    unlink("sub/nnnnnnnnnn");
    rmdir("sub");
    unlink("own_root");
    unlink("own_link");
    close(fd);
    close(datagrams);
}

static void messages(void)
{
    enum { PAGE = 4096, MOST = 1024 };
    static struct iovec parts[MOST + 1];
    static struct mmsghdr several[MOST + 1];
    char text[64], control[64] = "";
    int fd[2];
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + PAGE, PAGE);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, fd);
    struct iovec part = {text, 3};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = 24};
    EXPECT(-EOPNOTSUPP, sendmsg, fd[0], &message, 0);
    message.msg_controllen = (size_t)1 << 40;
    EXPECT(-ENOBUFS, sendmsg, fd[0], &message, 0);
    message.msg_controllen = 0;
    message.msg_name = text;
    message.msg_namelen = (socklen_t)-1;
    EXPECT(-EINVAL, sendmsg, fd[0], &message, 0);
    EXPECT(-EINVAL, recvmsg, fd[1], &message, 0);
    message.msg_name = NULL;
    message.msg_namelen = 77;
    EXPECT(3, sendmsg, fd[0], &message, 0);
    EXPECT(3, recvmsg, fd[1], &message, 0);
    expect(__LINE__, "msg_namelen", message.msg_namelen, 77);
    message.msg_namelen = 0;
    EXPECT(-EFAULT, sendmsg, fd[0], page + PAGE - 8, 0);
    EXPECT(-EFAULT, recvmsg, fd[1], page + PAGE - 8, 0);
    EXPECT(-EFAULT, sendto, fd[0], page + PAGE - 8, 9L, 0, NULL, 0);
    EXPECT(8, sendto, fd[0], page + PAGE - 8, 8L, 0, NULL, 0);
    EXPECT(-EFAULT, recvfrom, fd[1], page + PAGE - 4, 8L, 0, NULL, NULL);
    EXPECT(8, recvfrom, fd[1], page + PAGE - 8, 8L, 0, NULL, NULL);
    for (int i = 0; i <= MOST; i++)
        parts[i] = (struct iovec){page + i, 1};
    message.msg_iov = parts;
    message.msg_iovlen = MOST;
    EXPECT(MOST, sendmsg, fd[0], &message, 0);
    EXPECT(MOST, recvmsg, fd[1], &message, 0);
    message.msg_iovlen = MOST + 1;
    EXPECT(-EMSGSIZE, sendmsg, fd[0], &message, 0);
    EXPECT(-EINVAL, writev, fd[0], parts, MOST + 1);
    message.msg_iovlen = 2;
    parts[1].iov_len = (size_t)-1;
    EXPECT(-EINVAL, sendmsg, fd[0], &message, 0);
    parts[1].iov_len = (size_t)1 << 40;
    EXPECT(-EFAULT, sendmsg, fd[0], &message, 0);
    message.msg_iov = (void *)(page + PAGE - 8);
    EXPECT(-EFAULT, sendmsg, fd[0], &message, 0);
    EXPECT(-EOPNOTSUPP, sendto, fd[0], text, 3L, MSG_FASTOPEN, NULL, 0);
    EXPECT(-EINVAL, recvmmsg, fd[1], several, 1, MSG_DONTWAIT, &(struct timespec){0, -1});
    EXPECT(-EFAULT, recvmmsg, fd[1], several, 1, MSG_DONTWAIT, NOWHERE);
    for (int i = 0; i <= MOST; i++)
        several[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
    const long sent =
        syscall(SYS_sendmmsg, fd[0], several, 5000, MSG_DONTWAIT); /* more than the queue takes */
    expect(__LINE__, "sendmmsg", sent > 0 && sent < MOST, 1);
    EXPECT(sent, recvmmsg, fd[1], several, 5000, 0, NULL);
    EXPECT(-EAGAIN, recvmmsg, fd[1], several, 5000, MSG_DONTWAIT, NULL);
    EXPECT(-ENOPROTOOPT, setsockopt, fd[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, 4);
    EXPECT(-ENOPROTOOPT, setsockopt, fd[0], SOL_SOCKET, SO_ATTACH_FILTER, &(int){1}, 4);
    EXPECT(-EINVAL, setsockopt, fd[0], SOL_SOCKET, SO_RCVBUF, &(int){1}, -1);
    EXPECT(0, setsockopt, fd[0], SOL_SOCKET, SO_RCVBUF, page + PAGE - 4, 1 << 30);
    munmap(page, PAGE);
    close(fd[0]);
    close(fd[1]);
}

/* Which of several errors Linux finds first. */
static void order(void)
{
    struct mmsghdr several[1] = {{.msg_hdr = {.msg_name = NULL}}};
    EXPECT(-EBADF, recvmmsg, 99, several, 0, 0, NULL);
    EXPECT(-EBADF, accept4, 99, NULL, NULL, 99);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(-EINVAL, accept4, fd, NULL, NULL, 99);
    close(fd);
}

static void *receive(void *fd)
{
    char text[8];
    const long got = recv(*(int *)fd, text, sizeof text, 0);
    return (void *)(got < 0 ? -errno : got);
}

static void *take(void *fd)
{
    const long got = accept(*(int *)fd, NULL, NULL);
    return (void *)(got < 0 ? -errno : got);
}

static void *look(void *fd)
{
    struct pollfd wait = {.fd = *(int *)fd, .events = POLLIN};
    return (void *)(long)(poll(&wait, 1, -1) == 1 ? wait.revents : -1);
}

/* Sockets that are closed while threads wait for them. */
static void closed(void)
{
    pthread_t threads[3];
    void *result;
    struct sockaddr_in name;
    int ends[2], listens = server(SOCK_STREAM, &name), plain = server(SOCK_DGRAM, &name);
    connection(ends);
    pthread_create(&threads[0], NULL, receive, &ends[0]);
    pthread_create(&threads[1], NULL, take, &listens);
    pthread_create(&threads[2], NULL, look, &plain);
    nap(50);
    close(ends[0]);
    close(listens);
    close(plain);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &result);
        expect(__LINE__, "a thread", (long)result, i == 2 ? POLLNVAL : -EBADF);
    }
    close(ends[1]);
}

static int handled[2];

static void handle(int number)
{
    char text[4];
    struct pollfd none = {.fd = handled[0], .events = POLLIN};
    expect(number, "poll in a handler", poll(&none, 1, 5), 0);
    expect(number, "read in a handler", recv(handled[0], text, 4, MSG_DONTWAIT), -EAGAIN);
    expect(number, "write in a handler", write(handled[0], "abc", 3), 3);
    expect(number, "read in a handler", read(handled[1], text, 4), 3);
}

static void *send_late(void *fd)
{
    nap(100);
    return (void *)send(*(int *)fd, "late", 4, 0);
}

/* Handlers that wait and move bytes, in calls that wait and go on. */
static void handlers(void)
{
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 10000}, {0, 10000}}, off = {{0, 0}, {0, 0}};
    struct timeval limit = {0, 200000};
    pthread_t thread;
    int ends[2];
    char text[8];
    socketpair(AF_UNIX, SOCK_STREAM, 0, handled);
    connection(ends);
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL); /* in the other thread */
    pthread_create(&thread, NULL, send_late, &ends[1]);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    expect(__LINE__, "recv", recv(ends[0], text, 8, 0), 4);
    pthread_join(thread, NULL);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    expect(__LINE__, "recv", recv(ends[0], text, 8, 0), -EINTR);
    setitimer(ITIMER_REAL, &off, NULL);
    expect(__LINE__, "recv", recv(ends[0], text, 8, 0), -EAGAIN);
    setsockopt(handled[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    expect(__LINE__, "recv of a pair", recv(handled[0], text, 8, 0), -EAGAIN);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(handled[i]);
    }
}

/* All descriptors are in use; what has been connected waits. */
static void all(void)
{
    enum { MOST = 1024 };
    static int fd[MOST];
    struct sockaddr_in name;
    int listens = server(SOCK_STREAM, &name), count = 0, client = socket(AF_INET, SOCK_STREAM, 0);
    expect(__LINE__, "connect", connect(client, (struct sockaddr *)&name, sizeof name), 0);
    while (count < MOST && (fd[count] = socket(AF_INET, SOCK_DGRAM, 0)) >= 0)
        count++;
    expect(__LINE__, "socket", -1, -EMFILE);
    expect(__LINE__, "sockets", count > 900, 1);
    EXPECT(-EMFILE, accept, listens, NULL, NULL);
    EXPECT(-EMFILE, socketpair, AF_UNIX, SOCK_STREAM, 0, fd);
    close(fd[--count]);
    EXPECT(-EMFILE, socketpair, AF_UNIX, SOCK_STREAM, 0, &(int[2]){0, 0});
    fd[count] = accept(listens, NULL, NULL);
    expect(__LINE__, "accept", fd[count] >= 0, 1);
    while (count >= 0)
        close(fd[count--]);
    close(client);
    close(listens);
}

static uint64_t state = 88172645463325252;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Calls on sockets with random arguments; of addresses only those of 127.0.0.1 are of the internet. */
static void random_calls(void)
{
    static const short calls[] = {
        SYS_socket,      SYS_bind,    SYS_listen,   SYS_accept,     SYS_connect,    SYS_getsockname,
        SYS_getpeername, SYS_sendto,  SYS_recvfrom, SYS_setsockopt, SYS_getsockopt, SYS_shutdown,
        SYS_sendmsg,     SYS_recvmsg, SYS_accept4,  SYS_recvmmsg,   SYS_sendmmsg,   SYS_socketpair,
        SYS_read,        SYS_write,   SYS_readv,    SYS_writev,     SYS_close,      SYS_fstat};
    static char buffer[4096];
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in name = any_port;
    int first = server(SOCK_DGRAM | SOCK_NONBLOCK, &name);
    for (int i = 0; i < 20000; i++) {
        long a[6];
        struct sockaddr_in own = name, nobody = {.sin_family = 77};
        struct iovec parts[2] = {{buffer, next() % 3000}, {(void *)next(), next() % 2}};
        struct mmsghdr message[2];
        for (int k = 0; k < 2; k++)
            message[k].msg_hdr = (struct msghdr){.msg_name = next() % 2 ? &own : NULL,
                                                 .msg_namelen = (socklen_t)(next() % 30) - 2,
                                                 .msg_iov = parts,
                                                 .msg_iovlen = next() % 4,
                                                 .msg_control = buffer,
                                                 .msg_controllen = next() % 2 * (next() % 40)};
        for (int k = 0; k < 6; k++) {
            const long choices[] = {(long)(next() % 16), (long)buffer,      (long)&own,   (long)&nobody,
                                    (long)message,       (long)parts,       -1,           (long)next(),
                                    (long)page,          (long)page + 4090, MSG_DONTWAIT, sizeof own};
            a[k] = choices[next() % 12];
        }
        const short call = calls[next() % (sizeof calls / sizeof calls[0])];
        if (next() % 4)
            a[0] = first + (long)(next() % 8);
        if (call == SYS_socket || call == SYS_socketpair) {
            a[0] = (const long[]){AF_UNIX, AF_INET, AF_INET, AF_INET6, 77}[next() % 5];
            a[1] = (long)(next() % 8) | SOCK_NONBLOCK;
            a[2] = next() % 4 ? 0 : a[2];
        } else if (call == SYS_accept4) {
            a[3] = SOCK_NONBLOCK;
        } else if (call == SYS_accept) {
            continue; /* its sockets block */
        } else if ((call == SYS_connect || call == SYS_bind) && next() % 8) {
            a[1] = (long)&own;
            a[2] = sizeof own;
        } else if ((unsigned long)a[0] < 3) {
            continue;
        }
        if (call == SYS_sendto && a[4] != (long)&own && a[4] != (long)&nobody)
            a[4] = 0;
        if ((call == SYS_connect || call == SYS_bind) && a[1] != (long)&own)
            a[1] = (long)&nobody;
        if ((call == SYS_sendmsg && a[1] != (long)message) || (call == SYS_sendmmsg && a[1] != (long)message))
            a[1] = 8;
        (void)syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
        if (i % 100 == 0) { /* not only closed ones */
            for (int k = 0; k < 8; k++)
                close(first + k);
            first = server(SOCK_DGRAM | SOCK_NONBLOCK, &name);
        }
    }
}

int main(void)
{
    refused();
    names();
    messages();
    order();
    closed();
    handlers();
    all();
    random_calls();
    return wrong;
}
