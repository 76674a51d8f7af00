/* The environment call: how a user program requests a service from Linux, qemu-riscv64 or croft. */
#ifndef HOST_CALLS_CALL_H
#define HOST_CALLS_CALL_H

/* Numbers of the Linux system calls for RISC-V (asm-generic/unistd.h). */
enum call {
    CALL_GETCWD = 17,
    CALL_DUP = 23,
    CALL_DUP3 = 24,
    CALL_FCNTL = 25,
    CALL_MKDIRAT = 34,
    CALL_UNLINKAT = 35,
    CALL_SYMLINKAT = 36,
    CALL_LINKAT = 37,
    CALL_TRUNCATE = 45,
    CALL_FTRUNCATE = 46,
    CALL_FACCESSAT = 48,
    CALL_CHDIR = 49,
    CALL_FCHMOD = 52,
    CALL_FCHMODAT = 53,
    CALL_OPENAT = 56,
    CALL_CLOSE = 57,
    CALL_PIPE2 = 59,
    CALL_GETDENTS64 = 61,
    CALL_LSEEK = 62,
    CALL_READ = 63,
    CALL_WRITE = 64,
    CALL_PREAD64 = 67,
    CALL_PWRITE64 = 68,
    CALL_READLINKAT = 78,
    CALL_FSTATAT = 79,
    CALL_FSTAT = 80,
    CALL_FSYNC = 82,
    CALL_EXIT = 93,
    CALL_EXIT_GROUP = 94,
    CALL_FUTEX = 98,
    CALL_NANOSLEEP = 101,
    CALL_CLOCK_GETTIME = 113,
    CALL_CLOCK_GETRES = 114,
    CALL_SCHED_YIELD = 124,
    CALL_KILL = 129,
    CALL_RT_SIGPROCMASK = 135,
    CALL_UNAME = 160,
    CALL_UMASK = 166,
    CALL_GETTIMEOFDAY = 169,
    CALL_GETPID = 172,
    CALL_GETPPID = 173,
    CALL_GETUID = 174,
    CALL_GETEUID = 175,
    CALL_GETGID = 176,
    CALL_GETEGID = 177,
    CALL_BRK = 214,
    CALL_RENAMEAT2 = 276,
    CALL_GETRANDOM = 278,
};

/* Performs the call. Returns a result >= 0, or minus a Linux error number. Unused arguments are 0. */
static inline long call_raw(enum call number, long arg0, long arg1, long arg2, long arg3, long arg4)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = arg0;
    register long a1 __asm__("a1") = arg1;
    register long a2 __asm__("a2") = arg2;
    register long a3 __asm__("a3") = arg3;
    register long a4 __asm__("a4") = arg4;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
    return a0;
}

/* Converts a result of call_raw(): returns it if it is >= 0, else -1 with errno set to newlib's error
 * number. */
long call_result(long result);

/* Perform a call with that many arguments and return its call_result(). */
static inline long call0(enum call number)
{
    return call_result(call_raw(number, 0, 0, 0, 0, 0));
}
static inline long call1(enum call number, long arg0)
{
    return call_result(call_raw(number, arg0, 0, 0, 0, 0));
}
static inline long call2(enum call number, long arg0, long arg1)
{
    return call_result(call_raw(number, arg0, arg1, 0, 0, 0));
}
static inline long call3(enum call number, long arg0, long arg1, long arg2)
{
    return call_result(call_raw(number, arg0, arg1, arg2, 0, 0));
}
static inline long call4(enum call number, long arg0, long arg1, long arg2, long arg3)
{
    return call_result(call_raw(number, arg0, arg1, arg2, arg3, 0));
}
static inline long call5(enum call number, long arg0, long arg1, long arg2, long arg3, long arg4)
{
    return call_result(call_raw(number, arg0, arg1, arg2, arg3, arg4));
}

/* Linux's directory descriptor and flags for the ...at calls; newlib's AT_... values differ. */
enum {
    LINUX_AT_FDCWD = -100,
    LINUX_AT_SYMLINK_NOFOLLOW = 0x100,
    LINUX_AT_REMOVEDIR = 0x200,
    LINUX_AT_SYMLINK_FOLLOW = 0x400,
    LINUX_AT_EMPTY_PATH = 0x1000,
};

/* Converts a newlib directory descriptor to Linux's value: AT_FDCWD differs. */
int call_directory(int fd);

/* Convert open() flags from newlib's to Linux's values, and back. */
int call_open_flags(int newlib);
int call_newlib_flags(int linux_flags);

#endif
