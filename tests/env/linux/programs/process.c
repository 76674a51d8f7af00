/* The process: identity, limits, time, names, /proc. */
#include "calls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>

static long ns(struct timespec t)
{
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void clocks(void)
{
    static const int ids[] = {0, 1, 2, 3, 4, 5, 6, 7, 11};
    struct timespec before, after, little = {0, 3000000};
    struct timeval day;
    struct tms times;
    for (unsigned i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        SHOW(clock_gettime, ids[i], &before);
        SHOW(clock_getres, ids[i], NULL);
    }
    SHOW(clock_gettime, 99, &before);
    SHOW(clock_gettime, 1, NOWHERE);
    SHOW(clock_getres, 99, &before);
    clock_gettime(CLOCK_MONOTONIC, &before);
    SHOW(nanosleep, &little, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("slept: %d\n", ns(after) - ns(before) >= 3000000);
    after.tv_nsec += 1000000;
    if (after.tv_nsec >= 1000000000)
        after.tv_nsec -= 1000000000, after.tv_sec++;
    SHOW(clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &after, NULL);
    clock_gettime(CLOCK_MONOTONIC, &before);
    printf("absolute: %d\n", ns(before) >= ns(after));
    SHOW(clock_nanosleep, 99, 0, &little, NULL);
    SHOW(clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &little, NULL);
    little.tv_nsec = -1;
    SHOW(nanosleep, &little, NULL);
    SHOW(gettimeofday, &day, NULL);
    printf("since 2020: %d\n", day.tv_sec >= 1577836800);
    SHOW(gettimeofday, NOWHERE, NULL);
    SHOW_OK(times, &times);
    printf("year: %d\n", time(NULL) >= 1577836800);
}

static void identity(void)
{
    struct utsname name;
    struct rlimit limit;
    struct rusage usage;
    struct sysinfo info;
    char text[32] = "";
    SHOW(uname, &name);
    printf("%s %s\n", name.sysname, name.machine);
    SHOW_OK(getpid);
    SHOW_OK(getppid);
    SHOW_OK(getuid);
    SHOW_OK(geteuid);
    SHOW_OK(getgid);
    SHOW_OK(getegid);
    SHOW_OK(getpgid, 0);
    SHOW_OK(umask, 077);
    SHOW(umask, 022);
    SHOW(prctl, PR_SET_NAME, "a name that is too long");
    SHOW(prctl, PR_GET_NAME, text);
    printf("%s\n", text);
    SHOW(prctl, 9999);
    SHOW(prlimit64, 0, RLIMIT_STACK, NULL, &limit);
    SHOW(prlimit64, 0, 99, NULL, &limit);
    SHOW(prlimit64, 0, RLIMIT_STACK, NULL, NOWHERE);
    SHOW(getrlimit, RLIMIT_NOFILE, &limit);
    SHOW(getrusage, RUSAGE_SELF, &usage);
    SHOW(getrusage, 77, &usage);
    SHOW(sysinfo, &info);
    SHOW_OK(set_tid_address, &info);
    SHOW(wait4, -1, NULL, 0, NULL);
}

static void random_bytes(void)
{
    unsigned char bytes[64] = {0};
    int set = 0;
    SHOW(getrandom, bytes, 64, 0);
    for (int i = 0; i < 64; i++)
        set |= bytes[i];
    printf("random: %d\n", set != 0);
    SHOW(getrandom, bytes, 64, 77);
    SHOW(getrandom, NOWHERE, 64, 0);
    SHOW(getrandom, bytes, 0, 0);
}

static int contains(const char *path, const char *text)
{
    static char bytes[65536];
    int fd = open(path, O_RDONLY);
    ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof bytes - 1);
    close(fd);
    return length > 0 && memmem(bytes, (size_t)length, text, strlen(text)) != NULL;
}

/* Names of a thread that is not the first. */
static void *other(void *unused)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
    prctl(PR_SET_NAME, "second");
    printf("the second's name: %d %d %d\n", contains("/proc/thread-self/comm", "second\n"),
           contains(path, "second\n"), contains("/proc/self/comm", "second\n"));
    const int fd = open("/proc/thread-self/comm", O_WRONLY);
    SHOW(write, fd, "other", 5);
    close(fd);
    printf("another name: %d\n", contains(path, "other\n"));
    return unused;
}

static void proc(void)
{
    char link[4096] = "";
    ssize_t length = readlink("/proc/self/exe", link, sizeof link - 1);
    printf("exe: %d\n", length > 0 && strstr(link, "process") != NULL);
    printf("maps: %d\n", contains("/proc/self/maps", "r-xp") && contains("/proc/self/maps", "[stack]"));
    printf("command: %d\n", contains("/proc/self/cmdline", "argument"));
    printf("page size: %lu, platform bits %d\n", getauxval(AT_PAGESZ),
           (getauxval(AT_HWCAP) & 0x112d) == 0x112d);
    printf("headers: %d entry: %d name: %d\n", getauxval(AT_PHDR) != 0, getauxval(AT_ENTRY) != 0,
           strstr((const char *)getauxval(AT_EXECFN), "process") != NULL);
    printf("random: %d\n", getauxval(AT_RANDOM) != 0);
}

int main(int count, char **arguments)
{
    printf("%d %s %s\n", count, arguments[1], getenv("NAME"));
    clocks();
    identity();
    random_bytes();
    proc();
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    return 3;
}
