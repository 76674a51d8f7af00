/* Calls on memory, time, signals and identity. */
#include "guest.h"

struct time {
    long seconds, fraction;
};

static void test_break(void)
{
    long first = CALL(N_BRK, 0);
    TRUE(first > 0);
    EQUAL(CALL(N_BRK, 1), first);
    EQUAL(CALL(N_BRK, -1), first);
    EQUAL(CALL(N_BRK, first + 100000), first + 100000);
    char *bytes = (char *)first;
    for (int i = 0; i < 100000; i++)
        TRUE(bytes[i] == 0), checks_passed--;
    memset(bytes, 7, 100000);
    EQUAL(CALL(N_BRK, first + 10), first + 10);
    EQUAL(CALL(N_BRK, first + 100000), first + 100000);
    EQUAL(bytes[9], 7);
    EQUAL(bytes[99999], 0);
    EQUAL(CALL(N_BRK, first), first);
}

static long map(long length)
{
    return CALL(N_MMAP, 0, length, 3, 0x22, -1, 0);
}

static void test_mappings(void)
{
    long a = map(10000), b = map(1);
    TRUE(a > 0 && a % 4096 == 0 && b > 0 && b + 4096 <= a);
    memset((void *)a, 1, 10000);
    EQUAL(CALL(N_MUNMAP, a, 4096), 0);
    EQUAL(*(char *)(a + 4096), 1);
    long c = map(4096);
    EQUAL(c, a);
    EQUAL(*(char *)c, 0);
    long d = CALL(N_MREMAP, a, 12288, 40000, 1);
    TRUE(d > 0);
    EQUAL(((char *)d)[4096], 1);
    EQUAL(((char *)d)[39999], 0);
    EQUAL(CALL(N_MREMAP, d, 40960, 4096, 0), d);
    EQUAL(CALL(N_MREMAP, b, 4096, 400000, 0), -ENOMEM);
    EQUAL(CALL(N_MREMAP, d + 4096, 4096, 8192, 1), -EFAULT);
    EQUAL(CALL(N_MREMAP, d, 4096, -1, 1), -ENOMEM);
    EQUAL(map(0), -EINVAL);
    EQUAL(map(-1), -ENOMEM);
    EQUAL(map(1l << 40), -ENOMEM);
    EQUAL(CALL(N_MMAP, 0, 4096, 3, 2, 0, 0), -ENODEV);
    EQUAL(CALL(N_MUNMAP, 1, 4096), -EINVAL);
    EQUAL(CALL(N_MUNMAP, 0, 4096), -EINVAL);
    EQUAL(CALL(N_MUNMAP, d, -1), -EINVAL);
    EQUAL(CALL(N_MUNMAP, d, 4096), 0);
    EQUAL(CALL(N_MUNMAP, b, 4096), 0);
    /* The break cannot grow into a mapping. */
    long e = map(4096), end = CALL(N_BRK, 0);
    EQUAL(CALL(N_BRK, e + 1), end);
    EQUAL(CALL(N_BRK, e), e);
    EQUAL(map(4096), -ENOMEM);
    EQUAL(CALL(N_BRK, end), end);
    EQUAL(CALL(N_MUNMAP, e, 4096), 0);
}

static void test_clocks(void)
{
    struct time real, monotonic, later, day, nap = {2, 500};
    EQUAL(CALL(N_CLOCK_GETTIME, 0, &real), 0);
    EQUAL(real.seconds, 1577836800);
    EQUAL(CALL(N_CLOCK_GETTIME, 1, &monotonic), 0);
    EQUAL(monotonic.seconds, 0);
    EQUAL(CALL(403, 1, &later), 0);
    TRUE(later.fraction > monotonic.fraction && later.fraction < monotonic.fraction + 10000);
    EQUAL(CALL(N_NANOSLEEP, &nap, 0), 0);
    EQUAL(CALL(N_CLOCK_GETTIME, 1, &later), 0);
    EQUAL(later.seconds, 2);
    EQUAL(CALL(N_CLOCK_GETTIME, 2, &later), 0);
    EQUAL(later.seconds, 0);
    EQUAL(CALL(N_GETTIMEOFDAY, &day, 0), 0);
    EQUAL(day.seconds, 1577836802);
    EQUAL(CALL(N_TIME, 0), 1577836802);
    EQUAL(CALL(N_CLOCK_GETTIME, 99, &later), -EINVAL);
    struct time bad = {0, 1000000000};
    EQUAL(CALL(N_NANOSLEEP, &bad, 0), -EINVAL);
}

static void test_signals(void)
{
    struct {
        long handler, flags, mask;
    } action = {1, 0, 0}, old;
    unsigned long set = 6, before = 1;
    EQUAL(CALL(N_SIGACTION, 2, &action, 0, 8), 0);
    EQUAL(CALL(N_SIGACTION, 2, 0, &old, 8), 0);
    EQUAL(old.handler, 1);
    EQUAL(CALL(N_SIGACTION, 9, &action, 0, 8), -EINVAL);
    EQUAL(CALL(N_SIGACTION, 0, &action, 0, 8), -EINVAL);
    EQUAL(CALL(N_SIGACTION, 65, &action, 0, 8), -EINVAL);
    EQUAL(CALL(N_KILL, CALL(N_GETPID), 2), 0); /* SIGINT, ignored */
    EQUAL(CALL(N_KILL, CALL(N_GETPID), 0), 0);
    EQUAL(CALL(N_KILL, CALL(N_GETPID), 17), 0);
    EQUAL(CALL(N_KILL, 12345, 9), -ESRCH);
    EQUAL(CALL(N_KILL, CALL(N_GETPID), 65), -EINVAL);
    EQUAL(CALL(N_SIGPROCMASK, 0, &set, &before, 8), 0);
    EQUAL(before, 0);
    EQUAL(CALL(N_SIGPROCMASK, 2, 0, &before, 8), 0);
    EQUAL(before, 6);
}

static void test_identity(void)
{
    static char names[6][65];
    unsigned long random[2] = {0, 0};
    EQUAL(CALL(N_UNAME, names), 0);
    EQUAL(strcmp(names[0], "Linux"), 0);
    EQUAL(strcmp(names[4], "riscv64"), 0);
    EQUAL(CALL(N_GETRANDOM, random, 13, 0), 13);
    TRUE(random[0] != 0);
    printf("random %016lx %016lx\n", random[0], random[1]);
    EQUAL(CALL(999), -LINUX_ENOSYS);
    EQUAL(CALL(999), -LINUX_ENOSYS);
    EQUAL(CALL(-1), -LINUX_ENOSYS);
}

int main(void)
{
    /* Must come before the C library's heap moves the break. */
    test_break();
    test_mappings();
    test_clocks();
    test_signals();
    test_identity();
    return checks_end();
}
