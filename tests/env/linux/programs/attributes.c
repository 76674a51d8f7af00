/* Attributes of files, links, lengths, files in memory, advice. */
#include "calls.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

enum { PAGE = 4096 };

static void tell(const char *path, int flags)
{
    struct statx st = {0};
    if (SHOW(statx, AT_FDCWD, path, flags, STATX_BASIC_STATS, &st) == 0)
        printf("mode %o size %ld links %d modified %ld.%09d block %d basic %d\n", st.stx_mode,
               S_ISREG(st.stx_mode) ? (long)st.stx_size : -1, S_ISREG(st.stx_mode) ? (int)st.stx_nlink : -1,
               (long)(st.stx_mtime.tv_sec < 1000000000 ? st.stx_mtime.tv_sec : -1),
               st.stx_mtime.tv_sec < 1000000000 ? (int)st.stx_mtime.tv_nsec : -1, (int)st.stx_blksize,
               (st.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
}

static void times(int fd)
{
    const struct timespec fixed[2] = {{100, 5}, {123456789, 987654321}}, wrong[2] = {{0, -1}, {0, 0}};
    const struct timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}},
                          omit[2] = {{0, UTIME_OMIT}, {5, UTIME_OMIT}};
    SHOW(utimensat, AT_FDCWD, "file", fixed, 0);
    tell("file", 0);
    SHOW(utimensat, AT_FDCWD, "file", omit, 0);
    tell("file", 0);
    SHOW(utimensat, AT_FDCWD, "file", now, 0);
    tell("file", 0);
    SHOW(utimensat, fd, NULL, fixed, 0);
    tell("file", 0);
    SHOW(utimensat, AT_FDCWD, "file", NULL, 0);
    SHOW(utimensat, AT_FDCWD, "file", wrong, 0);
    SHOW(utimensat, AT_FDCWD, "missing", fixed, 0);
    SHOW(utimensat, 99, NULL, fixed, 0);
    SHOW(utimensat, AT_FDCWD, "link", fixed, AT_SYMLINK_NOFOLLOW);
    tell("link", AT_SYMLINK_NOFOLLOW);
}

static void modes(int fd)
{
    SHOW(fchmod, fd, 0640);
    tell("file", 0);
    SHOW(fchmodat, AT_FDCWD, "file", 0604);
    tell("file", 0);
    SHOW(fchmodat, AT_FDCWD, "link", 0600);
    tell("file", 0);
    SHOW(fchmodat, AT_FDCWD, "missing", 0600);
    SHOW(fchmod, 99, 0600);
    SHOW(fchownat, AT_FDCWD, "file", -1, -1, 0);
    SHOW(fchownat, AT_FDCWD, "missing", -1, -1, 0);
    SHOW(fchownat, AT_FDCWD, "file", -1, -1, 1 << 20);
    SHOW(fchown, fd, -1, -1);
    SHOW(fchown, 99, -1, -1);
}

static void links(void)
{
    char text[32] = "";
    SHOW(symlinkat, "file", AT_FDCWD, "link");
    SHOW(symlinkat, "file", AT_FDCWD, "link");
    SHOW(symlinkat, "", AT_FDCWD, "other");
    SHOW(symlinkat, "file", AT_FDCWD, ".");
    SHOW(symlinkat, "file", AT_FDCWD, "missing/link");
    SHOW(symlinkat, NOWHERE, AT_FDCWD, "other");
    SHOW(readlinkat, AT_FDCWD, "link", text, sizeof text);
    printf("%s\n", text);
    tell("link", 0);
    tell("link", AT_SYMLINK_NOFOLLOW);
}

static void lengths(int fd)
{
    SHOW(truncate, "file", 100);
    SHOW(truncate, "link", 90);
    tell("file", 0);
    SHOW(truncate, "file", -1);
    SHOW(truncate, "missing", 1);
    SHOW(truncate, ".", 1);
    SHOW(fallocate, fd, 0, 50, 100);
    tell("file", 0);
    SHOW(fallocate, fd, 1, 500, 100);
    tell("file", 0);
    SHOW(fallocate, fd, 0, -1, 100);
    SHOW(fallocate, fd, 0, 0, 0);
    SHOW(fallocate, 99, 0, 0, 10);
}

static void advice(int fd)
{
    int pipes[2], readable = 0;
    struct statfs fs;
    SHOW(fadvise64, fd, 0, 0, 3);
    SHOW(fadvise64, fd, 0, 0, 99);
    SHOW(fadvise64, 99, 0, 0, 3);
    SHOW(readahead, fd, 0, 10);
    SHOW(readahead, 99, 0, 10);
    SHOW(flock, fd, LOCK_EX | LOCK_NB);
    SHOW(flock, fd, LOCK_UN);
    SHOW(flock, fd, 77);
    SHOW(flock, 99, LOCK_SH);
    SHOW(sync);
    SHOW(syncfs, fd);
    SHOW(statfs, "file", &fs);
    SHOW(statfs, "missing", &fs);
    SHOW(statfs, "file", NOWHERE);
    SHOW(fstatfs, fd, &fs);
    printf("block %ld, names %ld\n", (long)fs.f_bsize, (long)fs.f_namelen);
    SHOW(fstatfs, 99, &fs);
    if (pipe(pipes) == 0 && write(pipes[1], "abc", 3) == 3) {
        SHOW(ioctl, pipes[0], FIONREAD, &readable);
        printf("readable %d\n", readable);
        SHOW(ioctl, pipes[0], FIONBIO, &readable);
        SHOW(read, pipes[0], &fs, 10);
        SHOW(read, pipes[0], &fs, 10);
        SHOW(ioctl, pipes[0], FIONREAD, NOWHERE);
        SHOW(fadvise64, pipes[0], 0, 0, 3);
        SHOW(fcntl, pipes[0], F_SETPIPE_SZ, 8192);
        SHOW(fcntl, pipes[0], F_GETPIPE_SZ);
    }
    SHOW(ioctl, fd, FIOCLEX);
    SHOW(fcntl, fd, F_GETFD);
    SHOW(ioctl, fd, FIONCLEX);
    SHOW(fcntl, fd, F_GETFD);
}

static void memory(void)
{
    char text[300];
    int fd = (int)SHOW_OK(memfd_create, "name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    SHOW(fcntl, fd, F_GETFD);
    SHOW(write, fd, "in memory", 9);
    char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    printf("%.9s\n", at);
    at[0] = 'I';
    SHOW(pread64, fd, text, 9, 0);
    printf("%.9s\n", text);
    const struct timespec times[2] = {{2000, 0}, {2000, 5}};
    struct stat st;
    SHOW(utimensat, fd, NULL, times, 0);
    SHOW(pread64, fd, text, 9, 0);
    SHOW(fstat, fd, &st);
    printf("read: %ld.%ld\n", (long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
    SHOW(mincore, at, PAGE, text);
    SHOW(mincore, NULL, PAGE, text);
    SHOW(mlockall, MCL_CURRENT);
    SHOW(munlockall);
    munmap(at, PAGE);
    SHOW(fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE);
    SHOW(fcntl, fd, F_GET_SEALS);
    SHOW(write, fd, "more", 4);
    SHOW(memfd_create, "name", 0x40000000);
    SHOW(memfd_create, NOWHERE, 0);
    memset(text, 'a', sizeof text);
    text[299] = '\0';
    SHOW(memfd_create, text, 0);
    close(fd);
}

static void devices(void)
{
    char text[16] = "";
    int fd = (int)SHOW(openat, AT_FDCWD, "/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0666);
    SHOW(write, fd, "abc", 3);
    SHOW(read, fd, text, 3);
    SHOW(faccessat, AT_FDCWD, "/dev/null", R_OK | W_OK);
    close(fd);
    fd = (int)SHOW(openat, AT_FDCWD, "/dev/zero", O_RDONLY);
    memset(text, 1, sizeof text);
    SHOW(read, fd, text, 3);
    printf("%d %d\n", text[0], text[3]);
    close(fd);
    fd = (int)SHOW(openat, AT_FDCWD, "/dev/full", O_WRONLY);
    SHOW(write, fd, text, 3);
    close(fd);
    fd = (int)SHOW(openat, AT_FDCWD, "/dev/urandom", O_RDONLY);
    SHOW(read, fd, text, 16);
    close(fd);
    int ends[2];
    char name[32];
    if (pipe(ends) != 0)
        return;
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    fd = (int)SHOW(openat, AT_FDCWD, name, O_WRONLY);
    SHOW(write, fd, "through a name", 14);
    SHOW(read, ends[0], text, 14);
    close(fd);
    tell("/dev/fd/99", 0);
    SHOW(openat, AT_FDCWD, "/dev/fd/99", O_RDONLY);
    SHOW(openat, AT_FDCWD, "/proc/self/fd/99", O_RDONLY);
}

int main(void)
{
    int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    SHOW(write, fd, "0123456789", 10);
    links();
    times(fd);
    modes(fd);
    lengths(fd);
    advice(fd);
    memory();
    devices();
    SHOW(statx, AT_FDCWD, "missing", 0, STATX_BASIC_STATS, NOWHERE);
    SHOW(statx, AT_FDCWD, "file", 0, STATX_BASIC_STATS, NOWHERE);
    SHOW(statx, AT_FDCWD, "file", 1 << 20, STATX_BASIC_STATS, NOWHERE);
    SHOW(statx, 99, "", AT_EMPTY_PATH, STATX_BASIC_STATS, NOWHERE);
    unlink("link");
    unlink("file");
    return 0;
}
