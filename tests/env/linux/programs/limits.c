/* Limits, what prctl keeps, priorities of input and output; parts of files. */
#include "calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static void limits(void)
{
    struct rlimit limit = {0, 0}, old = {0, 0};
    SHOW(getrlimit, RLIMIT_CORE, &limit);
    limit.rlim_cur = 0;
    SHOW(setrlimit, RLIMIT_CORE, &limit);
    SHOW(prlimit64, 0, RLIMIT_CORE, NULL, &old);
    printf("core %ld\n", (long)old.rlim_cur);
    SHOW(prlimit64, getpid(), RLIMIT_CORE, &limit, &old);
    SHOW(setrlimit, 99, &limit);
    SHOW(setrlimit, RLIMIT_CORE, NOWHERE);
    SHOW(getrlimit, 99, &limit);
    SHOW(getrlimit, RLIMIT_CORE, NOWHERE);
    SHOW(prlimit64, 0, 99, &limit, &old);
    SHOW(prlimit64, 0, RLIMIT_CORE, NOWHERE, &old);
    limit = (struct rlimit){2, 1};
    SHOW(setrlimit, RLIMIT_NOFILE, &limit);
    limit = (struct rlimit){30, 60};
    SHOW(prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
    SHOW(getrlimit, RLIMIT_NOFILE, &old);
    printf("files %ld %ld\n", (long)old.rlim_cur, (long)old.rlim_max);
    int last = 0, next;
    while ((next = dup(1)) >= 0)
        last = next;
    printf("last %d %s\n", last, strerrorname_np(errno));
    SHOW(dup3, 1, 30, 0);
    SHOW(fcntl, 1, F_DUPFD, 30);
    SHOW(openat, AT_FDCWD, ".", O_RDONLY);
    limit.rlim_cur = 0;
    SHOW(setrlimit, RLIMIT_NOFILE, &limit);
    SHOW(dup, 1);
    SHOW(fcntl, 1, F_DUPFD, 0);
    SHOW(dup3, 1, 5, 0);
    limit.rlim_cur = 31;
    SHOW(setrlimit, RLIMIT_NOFILE, &limit);
    SHOW(dup, 1);
    for (int i = 10; i < 31; i++)
        close(i);
}

static void options(void)
{
    int value = 7;
    SHOW(prctl, PR_SET_PDEATHSIG, 10);
    SHOW(prctl, PR_GET_PDEATHSIG, &value);
    printf("signal %d\n", value);
    SHOW(prctl, PR_SET_PDEATHSIG, 99);
    SHOW(prctl, PR_GET_PDEATHSIG, NOWHERE);
    SHOW(prctl, PR_GET_KEEPCAPS, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
    SHOW(prctl, PR_GET_KEEPCAPS, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_KEEPCAPS, 2, 0, 0, 0);
    SHOW(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    SHOW(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_DUMPABLE, 5, 0, 0, 0);
    SHOW(prctl, PR_GET_TIMING, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_TIMING, 1, 0, 0, 0);
    SHOW(prctl, PR_GET_SECUREBITS, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    SHOW(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    SHOW(prctl, PR_SET_TIMERSLACK, 0, 0, 0, 0);
    SHOW(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    SHOW(prctl, 9999, 0, 0, 0, 0);
    SHOW(personality, 0xffffffff);
    SHOW(personality, 0x0040000);
    SHOW(personality, 0xffffffff);
    SHOW(ioprio_get, 1, 0);
    SHOW(ioprio_set, 1, 0, 2 << 13 | 4);
    SHOW(ioprio_get, 1, 0);
    SHOW(ioprio_set, 1, 0, 2 << 13 | 6);
    SHOW(ioprio_get, 1, getpid());
    SHOW(ioprio_set, 1, 0, 0);
    SHOW(ioprio_get, 1, 0);
    SHOW(ioprio_set, 1, 0, 5 << 13);
    SHOW(ioprio_set, 1, 0, 4);
    SHOW(ioprio_set, 9, 0, 2 << 13 | 4);
    SHOW(ioprio_get, 9, 0);
    SHOW(ioprio_get, 1, 1 << 22);
}

static void parts(void)
{
    const int fd = open("parts", O_RDWR | O_CREAT | O_TRUNC, 0600), reads = open("parts", O_RDONLY);
    int ends[2];
    char text[16] = "";
    (void)!pipe(ends);
    SHOW(write, fd, "0123456789", 10);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    map[1] = 'm';
    SHOW(fallocate, fd, 3, 4, 2);
    SHOW(fallocate, fd, 3, 8, 100);
    SHOW(pread64, reads, text, 16, 0);
    printf("%.4s %d %d%.2s %d %.4s\n", text, text[4], text[5], text + 6, text[9], map);
    SHOW(fallocate, fd, 2, 0, 4);
    SHOW(fallocate, fd, 3, 0, 0);
    SHOW(fallocate, fd, 3, -1, 4);
    SHOW(fallocate, reads, 3, 0, 4);
    SHOW(fallocate, ends[1], 3, 0, 4);
    SHOW(fallocate, 99, 3, 0, 4);
    SHOW(lseek, fd, 3, SEEK_DATA);
    SHOW(lseek, fd, 3, SEEK_HOLE);
    SHOW(lseek, fd, 0, SEEK_CUR);
    SHOW(lseek, fd, 10, SEEK_DATA);
    SHOW(lseek, fd, 10, SEEK_HOLE);
    SHOW(lseek, fd, -1, SEEK_DATA);
    SHOW(lseek, ends[0], 0, SEEK_DATA);
    SHOW(lseek, 99, 0, SEEK_DATA);
    SHOW(lseek, open("/dev/zero", O_RDONLY), 5, SEEK_DATA);
    SHOW(lseek, open("/dev/null", O_RDONLY), 5, SEEK_HOLE);
    SHOW(sync_file_range, fd, 0, 10, 7);
    SHOW(sync_file_range, fd, 0, 10, 8);
    SHOW(sync_file_range, fd, -1, 10, 0);
    SHOW(sync_file_range, ends[0], 0, 10, 0);
    SHOW(sync_file_range, 99, 0, 10, 0);
    munmap(map, 4096);
}

static void show_file(int fd)
{
    char text[32] = "";
    const ssize_t length = pread(fd, text, sizeof text, 0);
    printf("%zd bytes:", length);
    for (ssize_t i = 0; i < length; i++)
        printf(" %02x", text[i]);
    printf(", size %ld\n", (long)lseek(fd, 0, SEEK_END));
}

/* Where calls that append ignore the place, clearing bytes and storing to mappings do not. */
static void appended(void)
{
    const int fd = open("appended", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    SHOW(write, fd, "0123456789", 10);
    SHOW(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 4);
    show_file(fd);
    SHOW(fallocate, fd, FALLOC_FL_ZERO_RANGE, 8, 4);
    show_file(fd);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    map[1] = 'm';
    SHOW(msync, map, 4096, MS_SYNC);
    show_file(fd);
    map[9] = 'n';
    SHOW(write, fd, "end", 3);
    show_file(fd);
    map[11] = 'o';
    munmap(map, 4096);
    show_file(fd);
    SHOW(fallocate, fd, 0, 0, 20); /* the mapping's page has a longer part of the file now */
    show_file(fd);
    close(fd);
}

/* A hole takes no room: linux.sh looks. */
static void sparse(void)
{
    const int fd = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600);
    SHOW(ftruncate, fd, 64 << 20);
    SHOW(fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 64 << 20);
    close(fd);
}

int main(void)
{
    struct rusage usage;
    limits();
    options();
    parts();
    appended();
    sparse();
    SHOW(getrusage, RUSAGE_SELF, &usage);
    printf("memory %d\n", usage.ru_maxrss > 100);
    return 0;
}
