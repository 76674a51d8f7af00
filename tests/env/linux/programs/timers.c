/* Timers that send signals, timers of descriptors, and descriptors that read signals. */
#include "calls.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>

static const struct itimerspec off, wrong = {{0, 0}, {0, 1000000000}}, wrong_period = {{-1, 0}, {1, 0}},
                                    once = {{0, 0}, {0, 3000000}}, often = {{0, 2000000}, {0, 2000000}},
                                    late = {{5, 0}, {1000, 0}};

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

static volatile int seen, last_code, last_value;

static void note(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    seen++;
    last_code = info->si_code;
    last_value = info->si_value.sival_int;
}

static void signal_timers(void)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 77};
    struct itimerspec now;
    int timer = 0, other = 0;
    sigaction(SIGUSR1, &action, NULL);
    SHOW(timer_create, 77, &event, &timer);
    SHOW(timer_create, CLOCK_MONOTONIC, NOWHERE, &timer);
    event.sigev_signo = 99;
    SHOW(timer_create, CLOCK_MONOTONIC, &event, &timer);
    event.sigev_signo = SIGUSR1;
    SHOW(timer_create, CLOCK_MONOTONIC, &event, &timer);
    SHOW(timer_gettime, timer, &now);
    printf("rest %ld %ld\n", (long)now.it_value.tv_sec, (long)now.it_value.tv_nsec);
    SHOW(timer_settime, timer, 0, &wrong, NULL);
    SHOW(timer_settime, timer, 0, NULL, NULL);
    SHOW(timer_settime, timer, 0, NOWHERE, NULL);
    SHOW(timer_settime, timer, 0, &once, NULL);
    sleep_ms(6);
    printf("seen %d code %d value %d\n", seen, last_code == SI_TIMER, last_value);
    SHOW(timer_settime, timer, 0, &late, NULL);
    SHOW(timer_settime, timer, 0, &often, &now);
    printf("old rest %d, period %ld\n", now.it_value.tv_sec > 990, (long)now.it_interval.tv_sec);
    while (seen < 4)
        sleep_ms(1);
    SHOW(timer_settime, timer, 0, &off, NULL);
    printf("overruns %d\n", syscall(SYS_timer_getoverrun, timer) >= 0); /* a busy host has some */
    seen = 0;
    sleep_ms(5);
    printf("seen %d\n", seen);
    event.sigev_notify = SIGEV_NONE;
    SHOW(timer_create, CLOCK_REALTIME, &event, &other);
    SHOW(timer_settime, other, TIMER_ABSTIME, &once, NULL); /* in 1970 */
    sleep_ms(1);
    SHOW(timer_gettime, other, &now);
    printf("rest %ld seen %d\n", (long)now.it_value.tv_sec, seen);
    SHOW(timer_delete, other);
    SHOW(timer_delete, other);
    SHOW(timer_gettime, other, &now);
    SHOW(timer_settime, other, 0, &once, NULL);
    SHOW(timer_getoverrun, other);
    SHOW(timer_delete, timer);
}

static pthread_t noticed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int calls;

static void called(union sigval value)
{
    pthread_mutex_lock(&mutex);
    calls += value.sival_int;
    noticed = pthread_self();
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

/* The C library's timers that call a function in a thread. */
static void thread_timers(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = called, .sigev_value.sival_int = 5};
    timer_t timer;
    printf("made %d\n", timer_create(CLOCK_MONOTONIC, &event, &timer));
    timer_settime(timer, 0, &often, NULL);
    pthread_mutex_lock(&mutex);
    while (calls < 15)
        pthread_cond_wait(&changed, &mutex);
    printf("in a thread of its own: %d\n", !pthread_equal(noticed, pthread_self()));
    pthread_mutex_unlock(&mutex);
    timer_delete(timer);
}

static void file_timers(void)
{
    struct itimerspec now;
    uint64_t count = 0;
    SHOW(timerfd_create, 99, 0);
    SHOW(timerfd_create, CLOCK_PROCESS_CPUTIME_ID, 0);
    SHOW(timerfd_create, CLOCK_MONOTONIC, 1);
    int timer = (int)SHOW_OK(timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    SHOW(fcntl, timer, F_GETFD);
    SHOW(read, timer, &count, 8);
    SHOW(read, timer, &count, 4);
    SHOW(write, timer, &count, 8);
    SHOW(timerfd_settime, timer, 0, &wrong, NULL);
    SHOW(timerfd_settime, timer, 0, &wrong_period, NULL);
    SHOW(timerfd_settime, timer, 64, &once, NULL);
    SHOW(timerfd_settime, timer, 0, NOWHERE, NULL);
    SHOW(timerfd_settime, 1, 0, &once, NULL);
    SHOW(timerfd_settime, 99, 0, &once, NULL);
    SHOW(timerfd_gettime, 1, &now);
    SHOW(timerfd_gettime, 99, &now);
    SHOW(timerfd_settime, timer, 0, &late, NULL);
    SHOW(timerfd_gettime, timer, &now);
    printf("rest %d period %ld\n", now.it_value.tv_sec > 990, (long)now.it_interval.tv_sec);
    SHOW(timerfd_settime, timer, 0, &once, &now);
    printf("old rest %d\n", now.it_value.tv_sec > 990);
    struct pollfd wait = {.fd = timer, .events = POLLIN | POLLOUT};
    SHOW(ppoll, &wait, 1, NULL, NULL, 8);
    printf("events %d\n", wait.revents);
    SHOW(read, timer, &count, 8);
    printf("count %d\n", (int)count);
    SHOW(read, timer, &count, 8);
    SHOW(timerfd_settime, timer, 0, &often, NULL);
    sleep_ms(20);
    SHOW(timerfd_settime, timer, 0, &late, NULL); /* forgets what was counted */
    SHOW(read, timer, &count, 8);
    fcntl(timer, F_SETFL, 0);
    SHOW(timerfd_settime, timer, 0, &once, NULL);
    SHOW(read, timer, &count, 8);
    printf("count %d\n", (int)count);
    SHOW(timerfd_settime, timer, 0, &often, NULL);
    sleep_ms(20);
    SHOW(read, timer, &count, 8);
    printf("count %d\n", count >= 8);
    close(timer);
    timer = timerfd_create(CLOCK_REALTIME, 0);
    SHOW(timerfd_settime, timer, TFD_TIMER_ABSTIME, &once, NULL);
    SHOW(read, timer, &count, 8);
    printf("count %d\n", (int)count);
    close(timer);
    for (int i = 0; i < 300; i++) { /* closed ones are forgotten */
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
        if (timer < 0)
            printf("no timer %d\n", i);
        timerfd_settime(timer, 0, i & 1 ? &often : &off, NULL);
        close(timer);
    }
}

static void *raise_later(void *unused)
{
    sleep_ms(20);
    kill(getpid(), SIGUSR2);
    return unused;
}

static void signal_files(void)
{
    struct signalfd_siginfo read_info[3];
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT}, found[2];
    struct timespec little = {0, 2000000};
    uint64_t set = 1 << (SIGUSR1 - 1) | 1 << (SIGUSR2 - 1) | 1 << (SIGWINCH - 1),
             more = set | 1 << (SIGALRM - 1);
    pthread_t thread;
    SHOW(signalfd4, -1, NOWHERE, 8, 0);
    SHOW(signalfd4, 99, &set, 8, 0);
    SHOW(signalfd4, 1, &set, 8, 0);
    int fd = (int)SHOW_OK(signalfd4, -1, &set, 8, SFD_NONBLOCK | SFD_CLOEXEC);
    SHOW(rt_sigprocmask, SIG_BLOCK, &more, NULL, 8);
    SHOW(read, fd, read_info, sizeof read_info);
    SHOW(read, fd, read_info, 100);
    SHOW(read, fd, NOWHERE, sizeof read_info);
    SHOW(write, fd, read_info, 128);
    struct pollfd wait = {.fd = fd, .events = POLLIN | POLLOUT};
    SHOW(ppoll, &wait, 1, &little, NULL, 8);
    kill(getpid(), SIGWINCH); /* nothing by default, but it is blocked */
    const union sigval value = {.sival_int = 4711};
    sigqueue(getpid(), SIGUSR1, value);
    raise(SIGUSR2);
    raise(SIGUSR2);
    SHOW(ppoll, &wait, 1, NULL, NULL, 8);
    printf("events %d\n", wait.revents);
    struct iovec parts[3] = {
        {read_info, sizeof read_info[0]}, {NULL, 0}, {&read_info[1], 2 * sizeof read_info[0]}};
    SHOW(readv, fd, parts, 3);
    for (int i = 0; i < 3; i++)
        printf("signal %d code %d int %d from itself %d\n", read_info[i].ssi_signo, read_info[i].ssi_code,
               read_info[i].ssi_int, (pid_t)read_info[i].ssi_pid == getpid());
    SHOW(readv, fd, parts, 3);
    SHOW(ppoll, &wait, 1, &little, NULL, 8);
    raise(SIGALRM);
    SHOW(read, fd, read_info, sizeof read_info);
    SHOW_OK(signalfd4, fd, &more, 8, 0);
    SHOW(read, fd, read_info, sizeof read_info);
    printf("signal %d\n", read_info[0].ssi_signo);
    int epoll = epoll_create1(0);
    SHOW(epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event);
    pthread_create(&thread, NULL, raise_later, NULL);
    SHOW(epoll_pwait, epoll, found, 2, -1, NULL, 8);
    printf("events %d\n", found[0].events);
    SHOW(read, fd, read_info, sizeof read_info);
    pthread_join(thread, NULL);
    SHOW(epoll_pwait, epoll, found, 2, 3, NULL, 8);
    fcntl(fd, F_SETFL, 0);
    pthread_create(&thread, NULL, raise_later, NULL);
    SHOW(read, fd, read_info, sizeof read_info);
    printf("signal %d\n", read_info[0].ssi_signo);
    pthread_join(thread, NULL);
    timer_t timer; /* a timer's signal is read, too */
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    timer_settime(timer, 0, &once, NULL);
    SHOW(read, fd, read_info, sizeof read_info);
    printf("signal %d code %d\n", read_info[0].ssi_signo, read_info[0].ssi_code);
    timer_delete(timer);
    close(fd);
}

static volatile int counted[65];

static void count(int number)
{
    counted[number]++;
}

/* Timers that follow the process's processor time: they stand still while it sleeps. */
static void cpu_timers(void)
{
    const struct itimerval fast = {{0, 2000}, {0, 2000}}, slow = {{7, 0}, {1000, 0}}, none = {{0, 0}, {0, 0}},
                           wrong_time = {{0, 0}, {0, 1000000}};
    struct itimerval now;
    signal(SIGVTALRM, count);
    signal(SIGPROF, count);
    SHOW(getitimer, ITIMER_VIRTUAL, &now);
    printf("off %ld %ld\n", (long)now.it_value.tv_sec, (long)now.it_interval.tv_usec);
    SHOW(setitimer, ITIMER_VIRTUAL, &wrong_time, NULL);
    SHOW(setitimer, ITIMER_PROF, &wrong_time, NULL);
    SHOW(setitimer, ITIMER_PROF, NOWHERE, NULL);
    SHOW(setitimer, 3, &fast, NULL);
    SHOW(getitimer, 3, &now);
    SHOW(setitimer, ITIMER_VIRTUAL, &fast, NULL);
    while (counted[SIGVTALRM] < 3)
        ;
    SHOW(setitimer, ITIMER_VIRTUAL, &slow, &now);
    printf("old period %ld\n", (long)now.it_interval.tv_usec);
    SHOW(getitimer, ITIMER_VIRTUAL, &now);
    printf("slow %d %ld\n", now.it_value.tv_sec > 900, (long)now.it_interval.tv_sec);
    SHOW(setitimer, ITIMER_VIRTUAL, &none, NULL);
    SHOW(setitimer, ITIMER_PROF, &fast, NULL);
    while (counted[SIGPROF] < 3)
        ;
    SHOW(setitimer, ITIMER_PROF, &none, NULL);
    counted[SIGPROF] = 0;
    const struct itimerval once_far = {{0, 0}, {20, 0}};
    SHOW(setitimer, ITIMER_PROF, &once_far, NULL);
    sleep_ms(30);
    SHOW(getitimer, ITIMER_PROF, &now);
    printf("stood still %d, came %d\n", now.it_value.tv_sec >= 19, counted[SIGPROF]);
    SHOW(setitimer, ITIMER_PROF, &none, NULL);
}

int main(void)
{
    cpu_timers();
    signal_timers();
    thread_timers();
    file_timers();
    signal_files();
    return 0;
}
