/* What qemu-riscv64 7.2 does otherwise than Linux, or not at all, or where programs see that the emulator is no full Linux:
 * the expected results are those of the manual pages and of calls.def. Returns the number of wrong ones. */
#include "expect.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

enum { PAGE = 4096 };

#define NUMBER(wanted, number, ...) expect(__LINE__, #number, syscall(number, ##__VA_ARGS__), wanted)

static void memory(void)
{
    char *p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(0, mprotect, p, 0, PROT_READ);
    EXPECT(-EINVAL, mprotect, p, PAGE, 64);
    EXPECT(-EINVAL, mincore, p + 1, PAGE, p);
    EXPECT(-EINVAL, mremap, p, PAGE, 0, 0);
    EXPECT(-EINVAL, munmap, (char *)-(long)PAGE, PAGE);
    EXPECT(-EEXIST, mmap, p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT(-ENOMEM, mmap, NULL, 1L << 46, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(-ENOMEM, mmap, NULL, 1L << 36, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(-EINVAL, mlock2, p, PAGE, 2);
    EXPECT(0, mlock2, p, PAGE, 1);
    EXPECT(-EINVAL, mlockall, 0);
    EXPECT(-EINVAL, mlockall, MCL_ONFAULT);
    EXPECT(-EINVAL, mlockall, 64);
    EXPECT(0, mlockall, MCL_CURRENT | MCL_ONFAULT);
    EXPECT(0, munlockall);
    EXPECT(-ENOMEM, mlock2, 0x5000, PAGE, 0);
    EXPECT(-EPERM, mmap, PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    /* Address space without memory costs none. */
    char *far = mmap(NULL, 1L << 36, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(__LINE__, "mmap", far == MAP_FAILED, 0);
    expect(__LINE__, "mprotect", mprotect(far + (1L << 35), PAGE, PROT_READ | PROT_WRITE), 0);
    far[1L << 35] = 1;
    expect(__LINE__, "munmap", munmap(far, 1L << 36), 0);
}

/* Two views of a file: one is written, the other executed. */
static void views(void)
{
    long sum = 0;
    int fd = memfd_create("code", 0);
    if (ftruncate(fd, PAGE) != 0)
        return;
    volatile uint32_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *run = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    code[1] = 0x00008067; /* ret */
    for (uint32_t i = 0; i < 100; i++) {
        code[0] = 0x00000513 | i << 20; /* li a0, i */
        asm volatile("fence.i" ::: "memory");
        sum += ((long (*)(void))run)();
    }
    expect(__LINE__, "sum of calls", sum, 4950);
    close(fd);
}

static void threads(void)
{
    void *head = NULL;
    size_t size = 0;
    EXPECT(-EINVAL, set_robust_list, NULL, 5);
    EXPECT(0, get_robust_list, 0, &head, &size);
    expect(__LINE__, "get_robust_list", (long)size, 24);
    EXPECT(-ESRCH, get_robust_list, 1 << 22, &head, &size);
    EXPECT(1, gettid);
    EXPECT(1, getpid);
    EXPECT(1, set_tid_address, &size);
}

static void refused(void)
{
    char *none[] = {NULL};
    EXPECT(-ENOSYS, clone, SIGCHLD, 0, 0, 0, 0);
    EXPECT(-ENOSYS, execve, "/bin/true", none, none);
    EXPECT(-EAFNOSUPPORT, socket, AF_INET, SOCK_STREAM, 0);
    EXPECT(-ENOSYS, rseq, NULL, 0, 1, 0);
    EXPECT(-ENOSYS, membarrier, 0, 0, 0);
    EXPECT(-ENOSYS, clone3, NULL, 0);
    NUMBER(-ENOSYS, 258, NULL, 0, 0, NULL, 0); /* SYS_riscv_hwprobe */
    EXPECT(-EPERM, setpgid, 0, 0);
    EXPECT(-ECHILD, wait4, -1, NULL, 0, NULL);
    EXPECT(-ENOSYS, io_uring_setup, 1, NULL);
    EXPECT(-ENOSYS, mbind, NULL, 0, 0, NULL, 0, 0);
    EXPECT(-ENOSYS, get_mempolicy, NULL, NULL, 0, NULL, 0);
    EXPECT(-ENOSYS, set_mempolicy, 0, NULL, 0);
    EXPECT(-EACCES, openat, AT_FDCWD, "/proc/self/coredump_filter", O_WRONLY);
    EXPECT(-ENOSYS, perf_event_open, NULL, 0, -1, -1, 0);
    EXPECT(-ENOSYS, execveat, AT_FDCWD, "own", NULL, NULL, 0);
    EXPECT(-ENOSYS, pidfd_open, 1, 0);
    EXPECT(-EACCES, openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
    EXPECT(-EACCES, openat, AT_FDCWD, "/proc/self/mem", O_RDONLY);
    NUMBER(-ENOSYS, 599, 0);
    NUMBER(-ENOSYS, 599, 0); /* warned of once */
    NUMBER(-ENOSYS, 100000, 0);
}

static void attributes(void)
{
    char text[8];
    EXPECT(-EOPNOTSUPP, setxattr, ".", "user.a", text, 1, 0);
    EXPECT(-EOPNOTSUPP, lsetxattr, ".", "user.a", text, 1, 0);
    EXPECT(-EOPNOTSUPP, fsetxattr, 0, "user.a", text, 1, 0);
    EXPECT(-EOPNOTSUPP, getxattr, ".", "user.a", text, 1);
    EXPECT(-EOPNOTSUPP, lgetxattr, ".", "user.a", text, 1);
    EXPECT(-EOPNOTSUPP, fgetxattr, 0, "user.a", text, 1);
    EXPECT(-EOPNOTSUPP, listxattr, ".", text, 1);
    EXPECT(-EOPNOTSUPP, llistxattr, ".", text, 1);
    EXPECT(-EOPNOTSUPP, flistxattr, 0, text, 1);
    EXPECT(-EOPNOTSUPP, removexattr, ".", "user.a");
    EXPECT(-EOPNOTSUPP, lremovexattr, ".", "user.a");
    EXPECT(-EOPNOTSUPP, fremovexattr, 0, "user.a");
    EXPECT(-EPERM, mknodat, AT_FDCWD, "node", 0600, 0);
    EXPECT(-EOPNOTSUPP, landlock_create_ruleset, NULL, 0, 1);
    EXPECT(-EPERM, fchownat, AT_FDCWD, ".", 0, 0, 0);
    EXPECT(-EROFS, fchmod, open("/dev/null", O_RDWR), 0600);
    EXPECT(-ENXIO, openat, AT_FDCWD, "/dev/tty", O_RDWR);
}

/* Reading and writing in parts with flags. */
static void flagged(void)
{
    char bytes[8] = "";
    struct iovec parts[2] = {{"abc", 3}, {"defgh", 5}};
    int fd = open("flagged", O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT(8, pwritev2, fd, parts, 2, 2, 0, 2);
    EXPECT(8, pwritev2, fd, parts, 2, -1, 0, 0);
    parts[0] = (struct iovec){bytes, 2};
    parts[1] = (struct iovec){bytes + 2, 3};
    EXPECT(5, preadv2, fd, parts, 2, 1, 0, 0);
    expect(__LINE__, "bytes", memcmp(bytes, "bcdef", 5), 0);
    EXPECT(2, preadv2, fd, parts, 2, -1, 0, 0);
    expect(__LINE__, "bytes", memcmp(bytes, "ghdef", 5), 0);
    EXPECT(-EBADF, preadv2, 99, parts, 2, -1, 0, 0);
    EXPECT(-EBADF, pwritev2, 99, parts, 2, 5, 0, 0);
    EXPECT(-EOPNOTSUPP, preadv2, fd, parts, 2, 5, 0, 16);
    EXPECT(-EFAULT, preadv2, fd, NOWHERE, 2, 0, 0, 0);
    close(fd);
    unlink("flagged");
}

static void ways_to_open(void)
{
    struct {
        uint64_t flags, mode, resolve, more;
    } how = {O_RDWR | O_CREAT, 0640, 2, 0};
    struct stat st;
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, "made", &how, 24);
    expect(__LINE__, "openat2", fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0640, 1);
    EXPECT(-EINVAL, openat2, AT_FDCWD, "made", &how, 8);
    EXPECT(-E2BIG, openat2, AT_FDCWD, "made", &how, 5000);
    EXPECT(-EFAULT, openat2, AT_FDCWD, "made", NOWHERE, 24);
    how.more = 1;
    EXPECT(-E2BIG, openat2, AT_FDCWD, "made", &how, 32);
    how.resolve = 8;
    EXPECT(-EINVAL, openat2, AT_FDCWD, "made", &how, 24);
    how.resolve = 0;
    how.flags = O_RDONLY;
    EXPECT(-EINVAL, openat2, AT_FDCWD, "made", &how, 24); /* a mode, but no O_CREAT */
    how.mode = 0;
    how.flags = 1UL << 40;
    EXPECT(-EINVAL, openat2, AT_FDCWD, "made", &how, 24);
    NUMBER(0, 452, AT_FDCWD, "made", 0600, 0); /* SYS_fchmodat2 */
    expect(__LINE__, "fchmodat2", fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600, 1);
    NUMBER(-EINVAL, 452, AT_FDCWD, "made", 0600, 1 << 20);
    EXPECT(50, dup3, fd, 50, 0);
    EXPECT(0, close_range, 40, 60, 4);
    EXPECT(FD_CLOEXEC, fcntl, 50, F_GETFD);
    EXPECT(0, close_range, 40, -1, 0);
    EXPECT(-EBADF, fcntl, 50, F_GETFD);
    EXPECT(-EINVAL, close_range, 60, 40, 0);
    EXPECT(-EINVAL, close_range, 40, 60, 64);
    EXPECT(0, unlinkat, AT_FDCWD, "made", 0);
}

/* A blocked signal of a timer counts the expiries that it stands for. */
static void overruns(void)
{
    const struct itimerspec often = {{0, 2000000}, {0, 2000000}}, off = {{0, 0}, {0, 0}};
    const struct timespec while_blocked = {0, 21000000};
    sigset_t set;
    siginfo_t info;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    EXPECT(-EOPNOTSUPP, timer_create, CLOCK_MONOTONIC_COARSE, &event, &timer);
    EXPECT(-EINVAL, signalfd4, -1, &set, 8, 1);
    EXPECT(-EINVAL, signalfd4, -1, &set, 4, 0);
    EXPECT(-EPERM, timer_create, CLOCK_BOOTTIME_ALARM, &event, &timer);
    EXPECT(-EPERM, timerfd_create, CLOCK_BOOTTIME_ALARM, 0);
    event.sigev_notify = 77;
    EXPECT(-EINVAL, timer_create, CLOCK_MONOTONIC, &event, &timer);
    event.sigev_notify = SIGEV_SIGNAL;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    nanosleep(&while_blocked, NULL);
    timer_settime(timer, 0, &off, NULL);
    expect(__LINE__, "sigwaitinfo", sigwaitinfo(&set, &info), SIGRTMIN);
    expect(__LINE__, "si_overrun", info.si_overrun, 9);
    expect(__LINE__, "si_code", info.si_code, SI_TIMER);
    timer_delete(timer);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void identity(void)
{
    uint32_t ids[3];
    int32_t priority = 0, high = 50;
    struct timespec time;
    EXPECT(0, setuid, 1000);
    EXPECT(-EPERM, setuid, 0);
    EXPECT(-EINVAL, setgid, -1);
    EXPECT(0, setreuid, -1, 1000);
    EXPECT(-EPERM, setregid, 5, -1);
    EXPECT(0, setresuid, -1, 1000, 1000);
    EXPECT(-EPERM, setresgid, -1, 1000, 0);
    EXPECT(0, getresuid, &ids[0], &ids[1], &ids[2]);
    EXPECT(0, getresgid, &ids[0], &ids[1], &ids[2]);
    expect(__LINE__, "getresgid", ids[2], 1000);
    EXPECT(-EFAULT, getresuid, &ids[0], NOWHERE, &ids[2]);
    EXPECT(1000, setfsuid, -1);
    EXPECT(1000, setfsgid, 1000);
    EXPECT(1000, setfsgid, 5);
    EXPECT(1000, setfsgid, -1);
    EXPECT(0, getgroups, 0, NULL);
    EXPECT(-EINVAL, getgroups, -1, NULL);
    EXPECT(-EPERM, setgroups, 0, NULL);
    EXPECT(1, getsid, 0);
    EXPECT(-ESRCH, getsid, 77);
    EXPECT(-EPERM, setsid);
    EXPECT(1, getpgid, 1);
    EXPECT(-ESRCH, getpgid, 77);
    EXPECT(-ECHILD, waitid, 0, 0, NULL, 4, NULL);
    EXPECT(0, prlimit64, 0, 7, (const long[]){100, 100}, NULL);
    EXPECT(-EPERM, setrlimit, 7, (const long[]){100, 101});
    EXPECT(-EPERM, prctl, PR_SET_SECUREBITS, 0, 0, 0, 0);
    EXPECT(-EPERM, prctl, PR_CAPBSET_DROP, 1, 0, 0, 0);
    EXPECT(0, prctl, PR_CAPBSET_READ, 1, 0, 0, 0);
    EXPECT(0, prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    EXPECT(0, prctl, PR_GET_CHILD_SUBREAPER, &ids[0], 0, 0, 0);
    expect(__LINE__, "the subreaper", ids[0], 1);
    EXPECT(0, prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
    EXPECT(1, prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0);
    EXPECT(-EPERM, ioprio_set, 1, 0, 1 << 13);
    EXPECT(2 << 13 | 4, ioprio_get, 2, 0);
    EXPECT(0, ioprio_set, 3, 1000, 3 << 13 | 1);
    EXPECT(3 << 13 | 1, ioprio_get, 1, 0);
    EXPECT(3 << 13 | 1, ioprio_get, 2, 1);
    EXPECT(-ESRCH, ioprio_get, 2, 1 << 22);
    EXPECT(-ESRCH, ioprio_set, 3, 5, 0);
    EXPECT(20, getpriority, 0, 0);
    EXPECT(-EINVAL, getpriority, 9, 0);
    EXPECT(-ESRCH, getpriority, 0, 1 << 22);
    EXPECT(0, setpriority, 0, 0, 5);
    EXPECT(-EACCES, setpriority, 0, 0, -5);
    EXPECT(0, sched_getscheduler, 0);
    EXPECT(-ESRCH, sched_getscheduler, 1 << 22);
    EXPECT(0, sched_getparam, 0, &priority);
    EXPECT(-EINVAL, sched_getparam, 0, NULL);
    EXPECT(0, sched_setparam, 0, &priority);
    EXPECT(-EINVAL, sched_setparam, 0, &high);
    EXPECT(0, sched_setscheduler, 0, SCHED_BATCH, &priority);
    EXPECT(-EPERM, sched_setscheduler, 0, SCHED_FIFO, &high);
    EXPECT(-EINVAL, sched_setscheduler, 0, SCHED_FIFO, &priority);
    EXPECT(-EINVAL, sched_setscheduler, 0, 77, &priority);
    EXPECT(99, sched_get_priority_max, SCHED_RR);
    EXPECT(1, sched_get_priority_min, SCHED_FIFO);
    EXPECT(0, sched_get_priority_max, SCHED_OTHER);
    EXPECT(-EINVAL, sched_get_priority_min, 77);
    EXPECT(0, sched_rr_get_interval, 0, &time);
    EXPECT(-EINVAL, sched_rr_get_interval, -1, &time);
    EXPECT(0, getcpu, &ids[0], &ids[1], NULL);
    EXPECT(-EFAULT, getcpu, NOWHERE, NULL, NULL);
}

static void sockets(void)
{
    const long nothing[2] = {0, 0};
    EXPECT(-EAFNOSUPPORT, socketpair, AF_INET, SOCK_STREAM, 0, nothing);
    EXPECT(-EINVAL, socketpair, AF_UNIX, 99, 0, nothing);
    EXPECT(-ENOTSOCK, bind, 0, nothing, 16);
    EXPECT(-ENOTSOCK, listen, 0, 1);
    EXPECT(-ENOTSOCK, accept, 0, NULL, NULL);
    EXPECT(-ENOTSOCK, accept4, 0, NULL, NULL, 0);
    EXPECT(-ENOTSOCK, connect, 0, nothing, 16);
    EXPECT(-ENOTSOCK, getsockname, 0, nothing, nothing);
    EXPECT(-ENOTSOCK, getpeername, 0, nothing, nothing);
    EXPECT(-ENOTSOCK, sendto, 0, nothing, 1, 0, NULL, 0);
    EXPECT(-ENOTSOCK, recvfrom, 0, nothing, 1, 0, NULL, NULL);
    EXPECT(-ENOTSOCK, setsockopt, 0, 1, 2, nothing, 4);
    EXPECT(-ENOTSOCK, getsockopt, 0, 1, 2, nothing, nothing);
    EXPECT(-ENOTSOCK, shutdown, 0, 2);
    EXPECT(-ENOTSOCK, sendmsg, 0, nothing, 0);
    EXPECT(-ENOTSOCK, recvmsg, 0, nothing, 0);
    EXPECT(-EBADF, getpeername, 99, nothing, nothing);

    /* Without --net, a pair has no name, and reaches nobody else. */
    const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "named.sock"};
    struct stat st;
    int pair[2];
    EXPECT(0, socketpair, AF_UNIX, SOCK_DGRAM, 0, pair);
    EXPECT(-EACCES, bind, pair[1], &name, sizeof name);
    EXPECT(-EACCES, connect, pair[0], &name, sizeof name);
    EXPECT(-EACCES, sendto, pair[0], "text", 4, 0, &name, sizeof name);
    EXPECT(4, sendto, pair[0], "text", 4, 0, NULL, 0);
    expect(__LINE__, "a name of a pair", stat("named.sock", &st), -ENOENT);
    close(pair[0]);
    close(pair[1]);
}

static void *spend(void *until)
{
    while (!*(volatile int *)until)
        ;
    return NULL;
}

/* CPU clocks of other threads, and of the process. */
static void clocks(void)
{
    struct timespec one, all, mine;
    const struct timespec little = {0, 20000000};
    clockid_t clock = 0;
    pthread_t thread;
    int until = 0;
    pthread_create(&thread, NULL, spend, &until);
    nanosleep(&little, NULL);
    pthread_getcpuclockid(thread, &clock);
    expect(__LINE__, "clock_gettime", clock_gettime(clock, &one), 0);
    clock_getcpuclockid(0, &clock);
    expect(__LINE__, "clock_gettime", clock_gettime(clock, &all), 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine);
    until = 1;
    pthread_join(thread, NULL);
    expect(__LINE__, "the thread's", one.tv_nsec >= 15000000 && mine.tv_nsec < 10000000, 1);
    expect(__LINE__, "the process's", all.tv_nsec >= one.tv_nsec, 1);
    EXPECT(-EINVAL, clock_gettime, -1, &one);
    EXPECT(-EINVAL, clock_gettime, (int)(~9999U << 3 | 6), &one);
    EXPECT(0, prctl, 38, 1, 0, 0, 0);
    EXPECT(1, prctl, 39, 0, 0, 0, 0);
    EXPECT(-EINVAL, prctl, 38, 0, 0, 0, 0);
}

static void polls(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 5}, found[2];
    const struct timespec little = {0, 1000000}, wrong = {0, -1};
    int fd = eventfd(0, 0), epoll = epoll_create1(0);
    const uint64_t one = 1;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    EXPECT(0, epoll_pwait2, epoll, found, 2, &little, NULL, 8);
    EXPECT(-EINVAL, epoll_pwait2, epoll, found, 2, &wrong, NULL, 8);
    EXPECT(-EFAULT, epoll_pwait2, epoll, found, 2, NOWHERE, NULL, 8);
    EXPECT(8, write, fd, &one, 8);
    EXPECT(1, epoll_pwait2, epoll, found, 2, NULL, NULL, 8);
    expect(__LINE__, "the event", (long)found[0].data.u64, 5);
}

/* Programs look at the folders that getcwd() names; what else is in them, they do not see. */
static void above(void)
{
    char path[4096], link[8];
    struct stat st, own;
    EXPECT(0, newfstatat, AT_FDCWD, ".", &own, 0);
    EXPECT(0, newfstatat, AT_FDCWD, "..", &st, 0);
    EXPECT(0, newfstatat, AT_FDCWD, "./..", &st, 0);
    EXPECT(0, newfstatat, AT_FDCWD, "../..", &st, 0);
    EXPECT(-EACCES, newfstatat, AT_FDCWD, "../other", &st, 0);
    if (syscall(SYS_getcwd, path, sizeof path - 8) < 0)
        return;
    for (char *end = path + strlen(path); (end = strrchr(path, '/')) != NULL;) {
        *end = '\0';
        EXPECT(0, newfstatat, AT_FDCWD, *path ? path : "/", &st, AT_SYMLINK_NOFOLLOW);
        expect(__LINE__, "a folder", S_ISDIR(st.st_mode), 1);
        expect(__LINE__, "another folder", st.st_ino != own.st_ino || st.st_dev != own.st_dev, 1);
        EXPECT(-EINVAL, readlinkat, AT_FDCWD, *path ? path : "/", link, sizeof link);
        EXPECT(-EACCES, fchmodat, AT_FDCWD, *path ? path : "/", 0700);
        EXPECT(-EACCES, openat, AT_FDCWD, *path ? path : "/", O_RDONLY);
    }
}

static pthread_mutex_t robust;

static void *hold(void *unused)
{
    const struct timespec little = {0, 5000000};
    pthread_mutex_lock(&robust);
    nanosleep(&little, NULL);
    return unused; /* without giving it back */
}

/* A mutex that inherits priorities and whose owner ends, while another thread waits for it, and before. */
static void inherited(void)
{
    const struct timespec little = {0, 1000000};
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    expect(__LINE__, "init", pthread_mutex_init(&robust, &attributes), 0);
    for (int waits = 1; waits >= 0; waits--) {
        pthread_create(&thread, NULL, hold, NULL);
        nanosleep(&little, NULL);
        if (!waits)
            pthread_join(thread, NULL);
        expect(__LINE__, "lock", pthread_mutex_lock(&robust), EOWNERDEAD);
        expect(__LINE__, "consistent", pthread_mutex_consistent(&robust), 0);
        expect(__LINE__, "unlock", pthread_mutex_unlock(&robust), 0);
        if (waits)
            pthread_join(thread, NULL);
    }
}

static int sent[2], large;

static void *close_meanwhile(void *bytes)
{
    const struct timespec little = {0, 5000000};
    nanosleep(&little, NULL);
    close(large);
    return (void *)read(sent[0], bytes, PAGE);
}

/* What was sent counts if another thread closes the file meanwhile; on Linux the call goes on. */
static void closed(void)
{
    enum { SENT = 1 << 22 };
    static char bytes[PAGE];
    pthread_t thread;
    large = open("large", O_RDWR | O_CREAT | O_TRUNC, 0644);
    expect(__LINE__, "ftruncate", ftruncate(large, SENT), 0);
    expect(__LINE__, "socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, sent), 0);
    pthread_create(&thread, NULL, close_meanwhile, bytes);
    const long result = syscall(SYS_sendfile, sent[1], large, NULL, SENT);
    expect(__LINE__, "sendfile", result > 0 && result < SENT, 1);
    pthread_join(thread, NULL);
    close(sent[0]);
    close(sent[1]);
}

static void simulated(void)
{
    const struct timespec hour = {3600, 0};
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    EXPECT(0, nanosleep, &hour, NULL);
    clock_gettime(CLOCK_REALTIME, &after);
    expect(__LINE__, "an hour", after.tv_sec - before.tv_sec, 3600);
    expect(__LINE__, "the start", before.tv_sec, 1577836800);
}

/* Files of /proc say what calls say. */
static void processes(void)
{
    unsigned long pair[2];
    unsigned pairs = 0;
    FILE *file = fopen("/proc/self/auxv", "r");
    while (fread(pair, sizeof pair, 1, file) == 1 && pair[0] != AT_NULL) {
        expect(__LINE__, "an entry of auxv", pair[1] == getauxval(pair[0]), 1);
        pairs++;
    }
    expect(__LINE__, "entries of auxv, its end", pairs > 10 && fread(pair, 1, 1, file) == 0, 1);
    fclose(file);

    char line[256];
    long harts = 0, kilobytes = 0;
    file = fopen("/proc/cpuinfo", "r");
    while (fgets(line, sizeof line, file))
        harts += strncmp(line, "hart\t", 5) == 0;
    expect(__LINE__, "harts of cpuinfo", harts, sysconf(_SC_NPROCESSORS_ONLN));
    fclose(file);
    file = fopen("/proc/meminfo", "r");
    while (fgets(line, sizeof line, file))
        (void)sscanf(line, "MemTotal: %ld kB", &kilobytes);
    expect(__LINE__, "memory of meminfo", kilobytes * 1024, sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    fclose(file);

    static const char *const names[] = {"self/stat",
                                        "1/statm",
                                        "self/status",
                                        "thread-self/comm",
                                        "self/environ",
                                        "self/cgroup",
                                        "self/mounts",
                                        "self/mountinfo",
                                        "stat",
                                        "uptime",
                                        "version",
                                        "loadavg",
                                        "filesystems",
                                        "mounts",
                                        "sys/kernel/osrelease",
                                        "sys/kernel/ostype",
                                        "sys/kernel/pid_max",
                                        "sys/vm/max_map_count"};
    char name[64], command[64] = "";
    int id = 0, threads = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(name, sizeof name, "/proc/%s", names[i]);
        file = fopen(name, "r");
        expect(__LINE__, name, file && fgets(line, sizeof line, file), 1);
        if (i == 0)
            expect(__LINE__, "fields of stat",
                   sscanf(line,
                          "%d (%63[^)]) R %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %d",
                          &id, command, &threads),
                   3);
        fclose(file);
    }
    expect(__LINE__, "the process's number", id, getpid());
    expect(__LINE__, "its threads", threads, 1);
    EXPECT(1, readlinkat, AT_FDCWD, "/proc/self", line, sizeof line);
    EXPECT(-EINVAL, readlinkat, AT_FDCWD, "/proc/1", line, sizeof line);
    EXPECT(8, readlinkat, AT_FDCWD, "/proc/thread-self", line, sizeof line);
    const long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/1/exe", line, sizeof line - 1);
    line[length < 0 ? 0 : length] = '\0';
    const int fd = open(line, O_RDONLY); /* although it is not beneath --dir */
    expect(__LINE__, "the program's file",
           pread(fd, command, 4, 0) == 4 && memcmp(command, "\177ELF", 4) == 0, 1);
    EXPECT(-EACCES, openat, AT_FDCWD, line, O_WRONLY);
    close(fd);
}

int main(void)
{
    processes();
    memory();
    views();
    threads();
    refused();
    polls();
    attributes();
    flagged();
    ways_to_open();
    overruns();
    identity();
    sockets();
    clocks();
    simulated();
    inherited();
    closed();
    above();
    return wrong;
}
