/* For guest programs that test system calls: makes raw calls and counts checks. */
#ifndef TESTS_ENV_GUEST_H
#define TESTS_ENV_GUEST_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Linux's error numbers that differ from the C library's. */
enum { LINUX_ENAMETOOLONG = 36, LINUX_ENOSYS = 38, LINUX_ENOTEMPTY = 39, LINUX_ELOOP = 40 };

enum {
    AT_CWD = -100,
    CHECKED_CREATE = 0100,
    CHECKED_EXCLUSIVE = 0200,
    CHECKED_APPEND = 02000,
    CHECKED_FOLDER = 0200000
};

/* Call numbers of Linux for riscv64. */
enum {
    N_GETCWD = 17,
    N_DUP = 23,
    N_DUP3 = 24,
    N_FCNTL = 25,
    N_MKDIRAT = 34,
    N_UNLINKAT = 35,
    N_LINKAT = 37,
    N_FTRUNCATE = 46,
    N_FACCESSAT = 48,
    N_CHDIR = 49,
    N_FCHDIR = 50,
    N_OPENAT = 56,
    N_CLOSE = 57,
    N_GETDENTS64 = 61,
    N_LSEEK = 62,
    N_READ = 63,
    N_WRITE = 64,
    N_READV = 65,
    N_WRITEV = 66,
    N_PREAD = 67,
    N_PWRITE = 68,
    N_READLINKAT = 78,
    N_FSTATAT = 79,
    N_FSTAT = 80,
    N_CLOCK_GETTIME = 113,
    N_NANOSLEEP = 101,
    N_KILL = 129,
    N_SIGACTION = 134,
    N_SIGPROCMASK = 135,
    N_TIMES = 153,
    N_UNAME = 160,
    N_GETTIMEOFDAY = 169,
    N_GETPID = 172,
    N_GETUID = 174,
    N_BRK = 214,
    N_MUNMAP = 215,
    N_MREMAP = 216,
    N_MMAP = 222,
    N_RENAMEAT2 = 276,
    N_GETRANDOM = 278,
    N_OPEN = 1024,
    N_LINK = 1025,
    N_UNLINK = 1026,
    N_MKDIR = 1030,
    N_ACCESS = 1033,
    N_STAT = 1038,
    N_LSTAT = 1039,
    N_TIME = 1062,
};

static inline long call6(long n, long a, long b, long c, long d, long e, long f)
{
    register long a7 __asm__("a7") = n;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a0;
}

#define CALL_PICK(n, a, b, c, d, e, f, ...)                                                                  \
    call6((long)(n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define CALL(...) CALL_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static int checks_passed, checks_failed;

static inline void check_equal(const char *file, int line, const char *what, long got, long wanted)
{
    if (got == wanted) {
        checks_passed++;
        return;
    }
    checks_failed++;
    printf("%s:%d: %s is %ld, not %ld\n", file, line, what, got, wanted);
}

#define EQUAL(got, wanted) check_equal(__FILE__, __LINE__, #got, (long)(got), (long)(wanted))
#define TRUE(what)         check_equal(__FILE__, __LINE__, #what, (what) ? 1 : 0, 1)

static inline int checks_end(void)
{
    printf("%d checks passed, %d failed\n", checks_passed, checks_failed);
    return checks_failed ? 1 : 0;
}

#endif
