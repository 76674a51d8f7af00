/* Input that arrives late, for a thread that polls while others run, sleep, or are not there. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static volatile int done;

/* Reads a line of standard input as bytes, so that the next one stays there. */
static void print_line(const char *name)
{
    char c;
    printf("%s: ", name);
    while (read(0, &c, 1) == 1 && c != '\n')
        putchar(c);
    putchar('\n');
    fflush(stdout);
}

static void *await(void *name)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    if (poll(&input, 1, -1) == 1)
        print_line(name);
    done = 1;
    return NULL;
}

static void *count(void *unused)
{
    for (int i = 0; i < 20; i++)
        usleep(1000);
    done = 2;
    puts("counted");
    return unused;
}

/* Reads while another thread sleeps and works: it is not held up until the line comes. */
static void read_beside(void)
{
    pthread_t thread;
    char line[32] = "";
    pthread_create(&thread, NULL, count, NULL);
    ssize_t bytes = read(0, line, sizeof line - 1);
    printf("beside one that works: %zd %d %s", bytes, done, line);
    pthread_join(thread, NULL);
}

static void note(int number)
{
    (void)number;
    done = 3;
    (void)!write(1, "struck\n", 7);
}

static void *strike(void *reader)
{
    usleep(1000);
    pthread_kill(*(pthread_t *)reader, SIGUSR1);
    pause();
    return NULL;
}

/* Reads of nothing do not wait; a signal whose handler restarts calls does not end a read. */
static void read_restarted(void)
{
    pthread_t thread, self = pthread_self();
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    char line[32] = "";
    struct iovec none = {line, 0};
    sigaction(SIGUSR1, &action, NULL);
    printf("nothing: %zd %zd %zd %ld\n", read(0, line, 0), readv(0, &none, 1), readv(0, &none, 0),
           syscall(SYS_readv, 0, &none, -1));
    pthread_create(&thread, NULL, strike, &self);
    ssize_t bytes = read(0, line, sizeof line - 1);
    printf("restarted: %zd %d %s", bytes, done, line);
}

int main(void)
{
    pthread_t thread;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    struct timeval limit = {1000, 0};
    struct epoll_event event = {.events = EPOLLIN};
    fd_set set;
    setvbuf(stdout, NULL, _IOLBF, 0); /* the test looks at it before it sends the next line */
    pthread_create(&thread, NULL, await, (void *)"beside one that runs");
    while (!done)
        ;
    pthread_join(thread, NULL);
    done = 0;
    pthread_create(&thread, NULL, await, (void *)"beside one that sleeps");
    while (!done)
        usleep(1000);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, await, (void *)"beside one that waits");
    pthread_join(thread, NULL);
    if (poll(&input, 1, 1000000) == 1)
        print_line("poll");
    FD_ZERO(&set);
    FD_SET(0, &set);
    if (select(1, &set, NULL, NULL, &limit) == 1)
        print_line("select");
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
    if (epoll_wait(epoll, &event, 1, 1000000) == 1)
        print_line("epoll");
    read_beside();
    read_restarted();
    printf("nothing more: %d\n", poll(&input, 1, 30));
    return 0;
}
