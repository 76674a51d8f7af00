/* Bad pointers: each call returns -EFAULT and the program continues. argv[1]: the first address after the
 * memory. */
#include "guest.h"

static const char text[] = "read-only";
static char buffer[64];

int main(int argc, char **argv)
{
    unsigned long end = argc > 1 ? strtoul(argv[1], 0, 0) : 0;
    const unsigned long bad[] = {1,    0x1000,   end,      end - 4, end + 4096, 0x7fffffffffffffff,
                                 ~0ul, ~0ul - 7, 1ul << 63};
    static const char path[] = "pointers.txt";
    long fd = CALL(N_OPENAT, AT_CWD, path, CHECKED_CREATE | 2, 0644);
    TRUE(fd > 2);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        unsigned long p = bad[i];
        EQUAL(CALL(N_READ, fd, p, 64), -EFAULT);
        EQUAL(CALL(N_WRITE, fd, p, 64), -EFAULT);
        EQUAL(CALL(N_PREAD, fd, p, 64, 0), -EFAULT);
        EQUAL(CALL(N_PWRITE, fd, p, 64, 0), -EFAULT);
        EQUAL(CALL(N_READV, fd, p, 4), -EFAULT);
        EQUAL(CALL(N_WRITEV, fd, p, 4), -EFAULT);
        EQUAL(CALL(N_FSTAT, fd, p), -EFAULT);
        EQUAL(CALL(N_FSTATAT, AT_CWD, path, p, 0), -EFAULT);
        EQUAL(CALL(N_GETTIMEOFDAY, p, 0), -EFAULT);
        EQUAL(CALL(N_CLOCK_GETTIME, 0, p), -EFAULT);
        EQUAL(CALL(N_TIMES, p), -EFAULT);
        EQUAL(CALL(N_UNAME, p), -EFAULT);
        EQUAL(CALL(N_GETRANDOM, p, 64, 0), -EFAULT);
        EQUAL(CALL(N_NANOSLEEP, p, 0), -EFAULT);
        EQUAL(CALL(N_SIGACTION, 2, p, 0, 8), -EFAULT);
        EQUAL(CALL(N_SIGACTION, 2, 0, p, 8), -EFAULT);
        EQUAL(CALL(N_SIGPROCMASK, 0, p, 0, 8), -EFAULT);
        EQUAL(CALL(N_GETCWD, p, 4096), -EFAULT);
        EQUAL(CALL(N_READLINKAT, AT_CWD, path, p, 64), -EFAULT);
        struct {
            unsigned long base, length;
        } vectors[2] = {{(unsigned long)buffer, 8}, {p, 64}};
        EQUAL(CALL(N_WRITEV, fd, vectors, 2), -EFAULT);
        EQUAL(CALL(N_READV, fd, vectors, 2), -EFAULT);
    }
    /* A string must end within memory. The last byte of memory is set to a character, so that there is no
     * terminator. */
    char *last = (char *)end - 1;
    char kept = *last;
    *last = 'x';
    const unsigned long strings[] = {0, 1, end - 1, end, ~0ul};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        unsigned long p = strings[i];
        EQUAL(CALL(N_OPENAT, AT_CWD, p, 0, 0), -EFAULT);
        EQUAL(CALL(N_OPEN, p, 0, 0), -EFAULT);
        EQUAL(CALL(N_FACCESSAT, AT_CWD, p, 0), -EFAULT);
        EQUAL(CALL(N_CHDIR, p), -EFAULT);
        EQUAL(CALL(N_MKDIRAT, AT_CWD, p, 0755), -EFAULT);
        EQUAL(CALL(N_UNLINKAT, AT_CWD, p, 0), -EFAULT);
        EQUAL(CALL(N_RENAMEAT2, AT_CWD, p, AT_CWD, path, 0), -EFAULT);
        EQUAL(CALL(N_RENAMEAT2, AT_CWD, path, AT_CWD, p, 0), -EFAULT);
        EQUAL(CALL(N_STAT, p, buffer), -EFAULT);
    }
    *last = kept;
    static char endless[8192];
    memset(endless, 'y', sizeof endless);
    EQUAL(CALL(N_OPENAT, AT_CWD, endless, 0, 0), -LINUX_ENAMETOOLONG);
    /* A call may not store to memory that the program may not store to. */
    EQUAL(CALL(N_WRITE, fd, text, sizeof text), (long)sizeof text);
    EQUAL(CALL(N_PREAD, fd, text, sizeof text, 0), -EFAULT);
    EQUAL(CALL(N_PREAD, fd, (long)main, 4, 0), -EFAULT);
    /* Lengths that overflow. */
    EQUAL(CALL(N_READ, fd, buffer, -1), -EFAULT);
    EQUAL(CALL(N_WRITE, fd, buffer, -1), -EFAULT);
    EQUAL(CALL(N_GETRANDOM, buffer, -1, 0), -EFAULT);
    EQUAL(CALL(N_WRITEV, fd, buffer, 1025), -EINVAL);
    EQUAL(CALL(N_WRITEV, fd, buffer, -1), -EINVAL);
    /* A length of 0 needs no memory. */
    EQUAL(CALL(N_READ, fd, 0, 0), 0);
    EQUAL(CALL(N_WRITE, fd, 0, 0), 0);
    EQUAL(CALL(N_READ, 77, buffer, 1), -EBADF);
    EQUAL(CALL(N_READ, -1, buffer, 1), -EBADF);
    EQUAL(CALL(N_CLOSE, 5000), -EBADF);
    EQUAL(CALL(N_CLOSE, fd), 0);
    EQUAL(CALL(N_UNLINK, path), 0);
    return checks_end();
}
