/* Pipes and event counters that are full or empty: who waits, what a call returns that waits or is interrupted. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

enum { LARGE = 200000 };

static int ends[2];
static char bytes[LARGE], taken[LARGE];

static void nap(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void fill(void)
{
    long count = 0;
    SHOW(pipe2, ends, O_NONBLOCK);
    while (write(ends[1], bytes, 1) == 1)
        count++;
    printf("a byte at a time: %ld\n", count);
    SHOW(write, ends[1], bytes, 1);
    while (read(ends[0], taken, sizeof taken) > 0)
        ;
    SHOW(write, ends[1], bytes, LARGE);
    SHOW(write, ends[1], bytes, LARGE);
    SHOW(write, ends[1], bytes, 0);
    SHOW(read, ends[0], bytes, 0);
    close(ends[0]);
    close(ends[1]);
}

static void *write_all(void *unused)
{
    struct iovec parts[4] = {
        {bytes, 100}, {NULL, 0}, {bytes + 100, 150000}, {bytes + 150100, LARGE - 150100}};
    SHOW(write, ends[1], bytes, LARGE);
    SHOW(writev, ends[1], parts, 4);
    close(ends[1]);
    return unused;
}

/* The reader takes odd numbers of bytes; the writer's calls return when all is written. */
static void whole(void)
{
    pthread_t thread;
    long sum = 0;
    int right = 1;
    for (int i = 0; i < LARGE; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    SHOW(pipe2, ends, 0);
    pthread_create(&thread, NULL, write_all, NULL);
    for (ssize_t got; (got = read(ends[0], taken, 777)) > 0; sum += got)
        for (ssize_t i = 0; i < got; i++)
            right &= taken[i] == bytes[(sum + i) % LARGE];
    pthread_join(thread, NULL);
    printf("%ld bytes, right: %d\n", sum, right);
    close(ends[0]);
}

static void note(int number)
{
    (void)number;
}

static void *write_once(void *unused)
{
    SHOW(write, ends[1], bytes, LARGE);
    SHOW(write, ends[1], bytes, 1);
    return unused;
}

/* A write that waits returns what it has written when a signal comes, or the last reader leaves. */
static void interrupted(void)
{
    pthread_t thread;
    const struct sigaction action = {.sa_handler = note},
                           again = {.sa_handler = note, .sa_flags = SA_RESTART};
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 2; i++) {
        sigaction(SIGUSR1, i ? &again : &action, NULL);
        SHOW(pipe2, ends, 0);
        pthread_create(&thread, NULL, write_once, NULL);
        nap(200);
        pthread_kill(thread, SIGUSR1);
        nap(200);
        close(ends[0]);
        pthread_join(thread, NULL);
        close(ends[1]);
    }
    SHOW(pipe2, ends, 0);
    pthread_create(&thread, NULL, write_once, NULL);
    nap(200);
    close(ends[0]);
    pthread_join(thread, NULL);
    close(ends[1]);
}

static void *write_counter(void *fd)
{
    const uint64_t value = 0xfffffffffffffffe;
    return (void *)write(*(int *)fd, &value, 8);
}

static void counters(void)
{
    uint64_t value = 5, more[2] = {3, 4};
    struct iovec halves[2] = {{&value, 4}, {(char *)&value + 4, 4}}, two[2] = {{&more[0], 8}, {&more[1], 8}};
    int fd = (int)SHOW_OK(eventfd2, 5, EFD_NONBLOCK);
    SHOW(readv, fd, halves, 2);
    printf("value %ld\n", (long)value);
    SHOW(readv, fd, halves, 2);
    SHOW(readv, fd, halves, 1);
    SHOW(readv, fd, halves, 0);
    SHOW(writev, fd, halves, 2);
    SHOW(writev, fd, two, 2);
    SHOW(read, fd, &value, 8);
    printf("value %ld\n", (long)value);
    SHOW(readv, fd, NOWHERE, 2);
    SHOW(write, fd, more, 16);
    SHOW(read, fd, more, 16);
    printf("value %ld\n", (long)more[0]);
    value = UINT64_MAX;
    SHOW(write, fd, &value, 8);
    close(fd);
    /* A counter that cannot count so far makes the writer wait. */
    pthread_t thread;
    fd = (int)SHOW_OK(eventfd2, 1, 0);
    pthread_create(&thread, NULL, write_counter, &fd);
    nap(100);
    SHOW(read, fd, &value, 8);
    void *written;
    pthread_join(thread, &written);
    printf("written %ld\n", (long)written);
    SHOW(read, fd, &value, 8);
    close(fd);
}

static void *send_all(void *unused)
{
    (void)unused;
    return (void *)send(ends[1], bytes, LARGE, 0);
}

/* Pairs of sockets. */
static void pairs(void)
{
    pthread_t thread;
    void *sent;
    long sum = 0;
    char name[32];
    socklen_t size = sizeof name;
    SHOW(socketpair, AF_UNIX, SOCK_STREAM, 77, ends);
    SHOW(socketpair, AF_UNIX, SOCK_STREAM, 0, NOWHERE);
    SHOW(socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
    SHOW(fcntl, ends[0], F_GETFD);
    SHOW(recvfrom, ends[0], taken, 10, MSG_DONTWAIT, NULL, NULL);
    SHOW(sendto, ends[0], "both ways", 9, 0, NULL, 0);
    SHOW(recvfrom, ends[1], taken, 100, 0, NULL, NULL);
    SHOW(write, ends[1], "answer", 6);
    SHOW(read, ends[0], taken, 100);
    printf("%.6s\n", taken);
    struct iovec parts[2] = {{"in two", 3}, {"pieces", 6}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    SHOW(sendmsg, ends[0], &message, 0);
    SHOW(sendmsg, ends[0], NOWHERE, 0);
    SHOW(sendmsg, 99, &message, 0);
    message.msg_iovlen = 5000;
    SHOW(sendmsg, ends[0], &message, 0);
    parts[0] = (struct iovec){taken, 4};
    parts[1] = (struct iovec){taken + 10, 50};
    message =
        (struct msghdr){.msg_name = name, .msg_namelen = sizeof name, .msg_iov = parts, .msg_iovlen = 2};
    SHOW(recvmsg, ends[1], &message, 0);
    printf("%.4s %.5s name %d control %d flags %d\n", taken, taken + 10, (int)message.msg_namelen,
           (int)message.msg_controllen, message.msg_flags);
    SHOW(recvmsg, ends[1], &message, MSG_DONTWAIT);
    SHOW(recvmsg, ends[1], NOWHERE, 0);
    SHOW(getsockname, ends[0], name, &size);
    printf("size %d\n", (int)size);
    SHOW(getpeername, ends[0], name, NOWHERE);
    SHOW(getsockname, 0, name, &size);
    pthread_create(&thread, NULL, send_all, NULL);
    while (sum < LARGE)
        sum += read(ends[0], taken, 999);
    pthread_join(thread, &sent);
    printf("sent %ld, read %ld\n", (long)sent, sum);
    SHOW(shutdown, ends[1], 99);
    SHOW(shutdown, ends[1], SHUT_WR);
    SHOW(read, ends[0], taken, 10);
    SHOW(sendto, ends[1], "abc", 3, MSG_NOSIGNAL, NULL, 0);
    SHOW(shutdown, 99, SHUT_WR);
    SHOW(sendto, 99, "abc", 3, 0, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    SHOW(socketpair, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends);
    SHOW(write, ends[0], "one", 3);
    SHOW(write, ends[0], "second", 6);
    SHOW(read, ends[1], taken, 2);
    SHOW(read, ends[1], taken, 100);
    SHOW(read, ends[1], taken, 100);
}

int main(void)
{
    fill();
    whole();
    interrupted();
    counters();
    pairs();
    return 0;
}
