/* What files that only the program has are like: all of it is printed, because it is the same in each run. Returns the number of results that
 * are wrong in any. */
#include "expect.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

static void show_file(const char *name, int fd)
{
    char link[32], leads[4096] = "";
    struct timespec now;
    struct stat st;
    struct statx more;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    (void)!readlink(link, leads, sizeof leads - 1);
    (void)fstat(fd, &st);
    clock_gettime(CLOCK_REALTIME, &now);
    printf("%s: %s %ld:%ld %o %ld links %ld.%09ld\n", name, leads, (long)st.st_dev, (long)st.st_ino,
           st.st_mode, (long)st.st_nlink, (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    expect(__LINE__, "the time", st.st_mtim.tv_sec > now.tv_sec, 0);
    EXPECT(0, statx, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more);
    expect(__LINE__, "statx",
           more.stx_ino == st.st_ino && more.stx_mtime.tv_sec == st.st_mtim.tv_sec &&
               more.stx_mtime.tv_nsec == st.st_mtim.tv_nsec && more.stx_nlink == st.st_nlink &&
               more.stx_mode == st.st_mode,
           1);
}

static long number_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (long)st.st_ino : -1;
}

static void leads_to(int line, int fd, const char *wanted)
{
    char link[32], leads[4096] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    (void)!readlink(link, leads, sizeof leads - 1);
    expect(line, leads, strncmp(leads, wanted, strlen(wanted)) == 0, 1);
}

static void read_only(void)
{
    static const char *const paths[] = {"/proc/self/maps", "/proc/self/status", "/proc//./self/comm",
                                        "/proc/version",   "/dev/urandom",      "/dev/shm/",
                                        "/dev/null"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const int fd = open(paths[i], O_RDONLY), again = open(paths[i], O_RDONLY);
        expect(__LINE__, paths[i], fd >= 0 && number_of(fd) == number_of(again), 1);
        show_file(paths[i], fd);
        close(fd);
        close(again);
    }
    const int one = open("/proc/self/maps", O_RDONLY), other = open("/proc/self/stat", O_RDONLY);
    expect(__LINE__, "another number", number_of(one) != number_of(other), 1);
    close(one);
    close(other);
}

static void written(void)
{
    const struct timespec little = {2, 0}, times[2] = {{5, 6}, {7, 8}};
    struct stat before, after;
    const int fd = open("/dev/shm/one", O_RDWR | O_CREAT, 0640), again = open("/dev/shm/one", O_RDWR);
    show_file("/dev/shm", fd);
    expect(__LINE__, "the same", number_of(fd) == number_of(again), 1);
    leads_to(__LINE__, fd, "/dev/shm/one");
    fstat(fd, &before);
    nanosleep(&little, NULL);
    fstat(again, &after);
    expect(__LINE__, "not written", after.st_mtim.tv_sec, before.st_mtim.tv_sec);
    expect(__LINE__, "write", write(again, "text", 4), 4);
    fstat(fd, &after);
    expect(__LINE__, "written", after.st_mtim.tv_sec, before.st_mtim.tv_sec + 2);
    expect(__LINE__, "set", futimens(again, times) == 0 && fstat(fd, &after) == 0, 1);
    expect(__LINE__, "set", after.st_mtim.tv_sec == 7 && after.st_mtim.tv_nsec == 8, 1);
    const struct timespec past[2] = {{INT64_MIN, 0}, {INT64_MIN, 0}},
                          future[2] = {{INT64_MAX, 0}, {INT64_MAX, 0}};
    expect(__LINE__, "long ago",
           futimens(again, past) == 0 && fstat(fd, &after) == 0 && after.st_mtim.tv_sec < -1000000, 1);
    expect(__LINE__, "far",
           futimens(again, future) == 0 && fstat(fd, &after) == 0 && after.st_mtim.tv_sec > UINT32_MAX, 1);
    expect(__LINE__, "link", link("/dev/shm/one", "/dev/shm/two") == 0 && fstat(fd, &after) == 0, 1);
    expect(__LINE__, "links", (long)after.st_nlink, 2);
    unlink("/dev/shm/one");
    leads_to(__LINE__, fd, "/dev/shm/two");
    unlink("/dev/shm/two");
    leads_to(__LINE__, fd, "/dev/shm/one (deleted)");
    fstat(fd, &after);
    expect(__LINE__, "links", (long)after.st_nlink, 0);
    char line[256];
    int found = 0;
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        found = found || strstr(line, "/dev/shm/one (deleted)\n");
    expect(__LINE__, "a mapping", found, 1);
    fclose(maps);
    munmap(map, 4096);
    close(fd);
    close(again);
    const int memory = memfd_create("name", 0);
    show_file("memfd_create", memory);
    leads_to(__LINE__, memory, "/memfd:name (deleted)");
    close(memory);
}

/* What begins in an open /dev/shm does not lead to the host's folder that stands for it. */
static void beside(void)
{
    const int folder = open("/dev/shm", O_RDONLY | O_DIRECTORY);
    struct stat st;
    EXPECT(-EACCES, openat, folder, "../mem", O_RDONLY);
    EXPECT(-EACCES, openat, folder, "../../proc/self/mem", O_RDONLY);
    EXPECT(-EACCES, newfstatat, folder, "../other", &st, 0);
    EXPECT(-EACCES, mkdirat, folder, "../new", 0700);
    EXPECT(-EACCES, fchdir, folder);
    EXPECT(-ENOENT, openat, folder, "1", O_RDONLY);
    EXPECT(-EPERM, mkdirat, folder, "new", 0700);
    close(folder);
}

static void ends(void)
{
    int pipes[2], pair[2];
    (void)!pipe(pipes);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    for (int i = 0; i < 2; i++) {
        show_file("pipe", pipes[i]);
        show_file("socket", pair[i]);
        leads_to(__LINE__, pipes[i], "pipe:[");
        leads_to(__LINE__, pair[i], "socket:[");
    }
    expect(__LINE__, "both ends of a pipe", number_of(pipes[0]) == number_of(pipes[1]), 1);
    expect(__LINE__, "both ends of a pair", number_of(pair[0]) != number_of(pair[1]), 1);
    leads_to(__LINE__, eventfd(0, 0), "anon_inode:[eventfd]");
    leads_to(__LINE__, epoll_create1(0), "anon_inode:[eventpoll]");
}

int main(void)
{
    read_only();
    written();
    beside();
    ends();
    return wrong;
}
