/* What qemu-riscv64 7.2 does otherwise than Linux, or not at all, or where programs see that the emulator is no full Linux:
 * the expected results are those of the manual pages and of calls.def. Returns the number of wrong ones. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

enum { PAGE = 4096 };

static int wrong;

static void expect(int line, const char *call, long result, long wanted)
{
    const long got = result == -1 ? -errno : result;
    if (got == wanted)
        return;
    printf("%d %s: %ld, not %ld\n", line, call, got, wanted);
    wrong++;
}
#define NUMBER(wanted, number, ...) expect(__LINE__, #number, syscall(number, ##__VA_ARGS__), wanted)
#define EXPECT(wanted, name, ...)   expect(__LINE__, #name, syscall(SYS_##name, ##__VA_ARGS__), wanted)

static void memory(void)
{
    char *p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(0, mprotect, p, 0, PROT_READ);
    EXPECT(-EINVAL, mprotect, p, PAGE, 64);
    EXPECT(-EINVAL, mremap, p, PAGE, 0, 0);
    EXPECT(-EINVAL, munmap, (char *)-(long)PAGE, PAGE);
    EXPECT(-EEXIST, mmap, p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT(-ENOMEM, mmap, NULL, 1L << 46, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(-ENOMEM, mmap, NULL, 1L << 36, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(-EPERM, mmap, PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    /* Address space without memory costs none. */
    char *far = mmap(NULL, 1L << 36, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(__LINE__, "mmap", far == MAP_FAILED, 0);
    expect(__LINE__, "mprotect", mprotect(far + (1L << 35), PAGE, PROT_READ | PROT_WRITE), 0);
    far[1L << 35] = 1;
    expect(__LINE__, "munmap", munmap(far, 1L << 36), 0);
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
    EXPECT(-ENOSYS, statx, 0, "", 0, 0, NULL);
    EXPECT(-ENOSYS, close_range, 100, 200, 0);
    NUMBER(-ENOSYS, 258, NULL, 0, 0, NULL, 0); /* SYS_riscv_hwprobe */
    EXPECT(-EPERM, setpgid, 0, 0);
    EXPECT(-ECHILD, wait4, -1, NULL, 0, NULL);
    EXPECT(-EPERM, prlimit64, 0, 3, (const long[]){1, 1}, NULL);
    EXPECT(-EACCES, openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
    EXPECT(-EACCES, openat, AT_FDCWD, "/proc/self/mem", O_RDONLY);
    NUMBER(-ENOSYS, 599, 0);
    NUMBER(-ENOSYS, 599, 0); /* warned of once */
    NUMBER(-ENOSYS, 100000, 0);
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

int main(void)
{
    memory();
    threads();
    refused();
    polls();
    simulated();
    return wrong;
}
