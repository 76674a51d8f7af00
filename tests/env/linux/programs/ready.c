/* select and epoll, and what poll leaves behind. */
#include "calls.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <time.h>

/* Calls store the rest of their time limit. */
static struct timespec limit;
static struct timespec *little(void)
{
    limit = (struct timespec){0, 2000000};
    return &limit;
}

static int ends[2];

static void *write_later(void *unused)
{
    const struct timespec time = {0, 50000000};
    nanosleep(&time, NULL);
    if (write(ends[1], "abc", 3) != 3)
        abort();
    return unused;
}

static void begin_writer(pthread_t *thread)
{
    pthread_create(thread, NULL, write_later, NULL);
}

static void take(pthread_t thread)
{
    char text[8];
    pthread_join(thread, NULL);
    SHOW(read, ends[0], text, 8);
}

static void polls(void)
{
    struct pollfd wait = {.fd = ends[0], .events = POLLIN, .revents = 77};
    SHOW(ppoll, &wait, 1, little(), NULL, 8);
    printf("events %d\n", wait.revents);
    SHOW(ppoll, &wait, 1, little(), little(), 4);
    SHOW(ppoll, &wait, 1, little(), NOWHERE, 8);
    SHOW(ppoll, NULL, 0, little(), NULL, 8);
    wait.fd = -1;
    SHOW(ppoll, &wait, 1, little(), NULL, 8);
}

static void selects(void)
{
    fd_set in, out, bad;
    pthread_t thread;
    struct timespec wrong = {0, 1000000000};
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(ends[0], &in);
    FD_SET(ends[1], &out);
    SHOW(pselect6, ends[1] + 1, &in, &out, NULL, NULL, NULL);
    printf("in %d out %d\n", FD_ISSET(ends[0], &in), FD_ISSET(ends[1], &out));
    FD_SET(ends[0], &in);
    SHOW(pselect6, ends[0] + 1, &in, NULL, NULL, little(), NULL);
    printf("rest %ld\n", (long)limit.tv_nsec);
    printf("in %d\n", FD_ISSET(ends[0], &in));
    FD_SET(ends[0], &in);
    begin_writer(&thread);
    SHOW(pselect6, ends[0] + 1, &in, NULL, &in, NULL, NULL);
    take(thread);
    SHOW(pselect6, -1, &in, NULL, NULL, little(), NULL);
    SHOW(pselect6, 0, NULL, NULL, NULL, little(), NULL);
    SHOW(pselect6, 10, NOWHERE, NULL, NULL, little(), NULL);
    SHOW(pselect6, 0, NULL, NULL, NULL, &wrong, NULL);
    /* Kernels look at no bit beyond the host process's table of files, which has 64 at least. */
    FD_ZERO(&bad);
    FD_SET(63, &bad);
    SHOW(pselect6, 64, &bad, NULL, NULL, little(), NULL);
}

static void note(int number)
{
    printf("signal %d\n", number);
}

/* The mask of the call lets a signal in that waits. */
static void masks(void)
{
    sigset_t none, one;
    struct {
        const sigset_t *set;
        size_t size;
    } mask = {&none, 8};
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    signal(SIGUSR1, note);
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGUSR1);
    SHOW(pselect6, 0, NULL, NULL, NULL, NULL, &mask);
    raise(SIGUSR1);
    SHOW(ppoll, NULL, 0, NULL, &none, 8);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void epolls(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x123456789abcdef}, found[4];
    pthread_t thread;
    int epoll = (int)SHOW_OK(epoll_create1, EPOLL_CLOEXEC), file = open("file", O_RDWR | O_CREAT, 0600);
    SHOW(epoll_create1, 5);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, ends[0], &event);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, ends[0], &event);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_DEL, ends[1], NULL);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_MOD, ends[1], &event);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, file, &event);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, 99, &event);
    SHOW(epoll_ctl, 99, EPOLL_CTL_ADD, ends[0], &event);
    SHOW(epoll_ctl, ends[0], EPOLL_CTL_ADD, ends[1], &event);
    SHOW(epoll_ctl, epoll, 9, ends[1], &event);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, ends[1], NOWHERE);
    SHOW(epoll_pwait, epoll, found, 4, 0, NULL, 8);
    SHOW(epoll_pwait, epoll, found, 4, 5, NULL, 8);
    SHOW(epoll_pwait, epoll, found, 0, 5, NULL, 8);
    SHOW(epoll_pwait, 99, found, 4, 5, NULL, 8);
    SHOW(epoll_pwait, ends[0], found, 4, 5, NULL, 8);
    begin_writer(&thread);
    SHOW(epoll_pwait, epoll, found, 4, -1, NULL, 8);
    printf("events %d data %lx\n", found[0].events, (long)found[0].data.u64);
    take(thread);
    /* An event that comes while the thread waits, and one that is added then. */
    event.events = EPOLLIN | EPOLLET;
    SHOW(epoll_ctl, epoll, EPOLL_CTL_MOD, ends[0], &event);
    begin_writer(&thread);
    SHOW(epoll_pwait, epoll, found, 4, 100000, NULL, 8);
    SHOW(epoll_pwait, epoll, found, 4, 5, NULL, 8);
    take(thread);
    close(epoll);
    close(file);
    unlink("file");
}

int main(void)
{
    SHOW(pipe2, ends, O_NONBLOCK);
    polls();
    selects();
    masks();
    epolls();
    return 0;
}
