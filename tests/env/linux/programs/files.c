/* Files, folders, pipes, events, poll. */
#include "calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

static int ends[2];

static void *writes(void *unused)
{
    const struct timespec little = {0, 1000000};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        nanosleep(&little, NULL);
        if (write(ends[1], "abc", 3) != 3)
            abort();
    }
    close(ends[1]);
    return NULL;
}

static void transfers(int fd)
{
    char text[64] = "";
    SHOW(write, fd, "0123456789", 10);
    SHOW(write, fd, NOWHERE, 10);
    SHOW(write, 99, text, 10);
    SHOW(lseek, fd, 4, SEEK_SET);
    SHOW(lseek, fd, -40, SEEK_CUR);
    SHOW(lseek, fd, 0, 99);
    SHOW(read, fd, text, 3);
    printf("%s\n", text);
    SHOW(pread64, fd, text, 4, 6);
    SHOW(pwrite64, fd, "xy", 2, 0);
    SHOW(pread64, fd, text, 4, -1);
    struct iovec parts[2] = {{text, 2}, {text + 10, 3}};
    lseek(fd, 0, SEEK_SET);
    SHOW(readv, fd, parts, 2);
    SHOW(writev, fd, parts, 2);
    SHOW(writev, fd, parts, -1);
    SHOW(readv, fd, NOWHERE, 2);
    SHOW(ftruncate, fd, 5);
    SHOW(ftruncate, fd, -5);
    SHOW(fsync, fd);
    SHOW(fdatasync, 99);
}

/* What descriptors and the working folder are called. */
static void links(int fd)
{
    char link[32], name[4096] = "", folder[4096] = "";
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    (void)!readlink(link, name, sizeof name - 1);
    (void)!readlink("/proc/self/cwd", folder, sizeof folder - 1);
    printf("folder %d, file in it %d\n", strcmp(folder, getcwd((char[4096]){0}, 4096)) == 0,
           strncmp(name, folder, strlen(folder)) == 0);
    printf("a pipe %d\n", readlink("/proc/self/fd/1", name, sizeof name) > 0);
    SHOW(readlinkat, AT_FDCWD, "/proc/self/fd/99", name, sizeof name);
    SHOW(readlinkat, AT_FDCWD, "/proc/self/fd/", name, sizeof name);
    SHOW(readlinkat, AT_FDCWD, "/proc/self/fd/+0", name, sizeof name);
    SHOW(readlinkat, AT_FDCWD, "/proc/self/fd/00", name, sizeof name);
    SHOW(readlinkat, AT_FDCWD, "/proc/self/fd/ 0", name, sizeof name);
}

static void names(int folder, int fd)
{
    struct stat st;
    char text[64] = "";
    SHOW(fstat, fd, &st);
    printf("size %ld mode %o\n", (long)st.st_size, st.st_mode);
    SHOW(newfstatat, folder, "file", &st, 0);
    SHOW(newfstatat, fd, "", &st, AT_EMPTY_PATH);
    SHOW(newfstatat, folder, "missing", &st, 0);
    SHOW(faccessat, folder, "file", R_OK);
    SHOW(faccessat, folder, "missing", R_OK);
    SHOW(faccessat2, folder, "file", W_OK, 0);
    SHOW(faccessat2, folder, "file", W_OK, 1 << 20);
    SHOW(linkat, folder, "file", folder, "second", 0);
    SHOW(linkat, folder, "missing", folder, "third", 0);
    SHOW(renameat2, folder, "second", folder, "third", 0);
    SHOW(renameat2, folder, "file", folder, "third", 1);
    SHOW(renameat2, folder, "file", folder, "third", 99);
    SHOW(readlinkat, folder, "file", text, 10);
}

static void descriptors(int fd)
{
    char text[64] = "";
    SHOW(fcntl, fd, F_GETFL) & O_RDWR ? (void)0 : (void)puts("not O_RDWR");
    SHOW(fcntl, fd, F_GETFD);
    SHOW(fcntl, fd, F_SETFD, FD_CLOEXEC);
    SHOW(fcntl, fd, F_GETFD);
    SHOW(fcntl, fd, F_DUPFD, 20);
    SHOW(fcntl, 99, F_GETFD);
    struct flock lock = {.l_type = F_WRLCK};
    SHOW(fcntl, fd, F_SETLK, &lock);
    SHOW(fcntl, fd, F_GETLK, &lock);
    lock.l_type = F_UNLCK;
    SHOW(fcntl, fd, F_SETLK, &lock);
    lock.l_type = F_WRLCK;
    SHOW(fcntl, fd, F_OFD_SETLK, &lock);
    SHOW(fcntl, fd, F_OFD_GETLK, &lock);
    lock.l_type = 77;
    SHOW(fcntl, fd, F_SETLK, &lock);
    SHOW(fcntl, fd, F_SETLK, NOWHERE);
    lock.l_type = F_UNLCK;
    SHOW(fcntl, 99, F_SETLK, &lock);
    SHOW(fcntl, fd, F_SETOWN, 0);
    SHOW(fcntl, fd, F_GETOWN);
    SHOW(fcntl, fd, F_SETSIG, 10);
    SHOW(fcntl, fd, F_SETSIG, 99);
    SHOW(fcntl, fd, F_GETLEASE);
    links(fd);
    SHOW(ioctl, fd, TIOCGWINSZ, text);
    SHOW(ioctl, 99, TIOCGWINSZ, text);
    SHOW(dup, fd);
    SHOW(dup, 99);
    SHOW(dup3, fd, 30, O_CLOEXEC);
    SHOW(dup3, fd, fd, 0);
    SHOW(dup3, fd, 31, 5);
    SHOW(close, 30);
    SHOW(close, 30);
}

static void removals(int folder, int fd)
{
    char text[64] = "";
    SHOW(unlinkat, folder, "third", 0);
    SHOW(unlinkat, folder, "file", 0);
    SHOW(unlinkat, folder, "file", 0);
    SHOW(fchdir, folder);
    SHOW(fchdir, fd);
    SHOW(getcwd, text, 2);
    SHOW(chdir, "..");
    SHOW(chdir, "missing");
    SHOW(unlinkat, AT_FDCWD, "folder", 0);
    SHOW(unlinkat, AT_FDCWD, "folder", AT_REMOVEDIR);
    char entries[256];
    SHOW(getdents64, fd, entries, sizeof entries);
    SHOW(getdents64, 99, entries, sizeof entries);
}

static void paths(void)
{
    SHOW(mkdirat, AT_FDCWD, "folder", 0755);
    SHOW(mkdirat, AT_FDCWD, "folder", 0755);
    int folder = (int)SHOW(openat, AT_FDCWD, "folder", O_RDONLY | O_DIRECTORY);
    int fd = (int)SHOW(openat, folder, "file", O_RDWR | O_CREAT | O_EXCL, 0640);
    SHOW(openat, folder, "file", O_RDWR | O_CREAT | O_EXCL, 0640);
    SHOW(openat, folder, "missing", O_RDONLY);
    SHOW(openat, 99, "missing", O_RDONLY);
    SHOW(openat, AT_FDCWD, NOWHERE, O_RDONLY);
    transfers(fd);
    names(folder, fd);
    descriptors(fd);
    removals(folder, fd);
    close(fd);
    close(folder);
}

static void pipes(void)
{
    char text[16];
    pthread_t thread;
    struct pollfd wait = {.events = POLLIN};
    const struct timespec little = {0, 1000000};
    SHOW(pipe2, NOWHERE, 0);
    SHOW(pipe2, ends, 12345678);
    SHOW(pipe2, ends, O_NONBLOCK);
    SHOW(read, ends[0], text, 3);
    SHOW(read, ends[1], text, 3);
    SHOW(lseek, ends[0], 0, SEEK_SET);
    wait.fd = ends[0];
    SHOW(ppoll, &wait, 1, &little, NULL, 8);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    SHOW(ppoll, &wait, 1, &little, NULL, 8);
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("waits again: %d\n",
           (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= little.tv_nsec);
    SHOW(write, ends[1], "abc", 3);
    SHOW(ppoll, &wait, 1, &little, NULL, 8);
    printf("events %d\n", wait.revents);
    close(ends[1]);
    SHOW(read, ends[0], text, 8);
    SHOW(read, ends[0], text, 8);
    wait.fd = 99;
    SHOW(ppoll, &wait, 1, &little, NULL, 8);
    printf("events %d\n", wait.revents);
    SHOW(ppoll, NOWHERE, 1, &little, NULL, 8);
    close(ends[0]);
    SHOW(pipe2, ends, 0);
    pthread_create(&thread, NULL, writes, NULL);
    wait.fd = ends[0];
    SHOW(ppoll, &wait, 1, NULL, NULL, 8);
    ssize_t got, sum = 0;
    while ((got = read(ends[0], text, sizeof text)) > 0)
        sum += got;
    printf("got %zd\n", sum);
    pthread_join(thread, NULL);
    close(ends[0]);
    SHOW(pipe2, ends, 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    SHOW(write, ends[1], "abc", 3);
}

static void events(void)
{
    uint64_t value = 5;
    int fd = (int)SHOW_OK(eventfd2, 3, EFD_NONBLOCK);
    SHOW(eventfd2, 3, 12345678);
    SHOW(write, fd, &value, 8);
    SHOW(read, fd, &value, 8);
    printf("counter %ld\n", (long)value);
    SHOW(read, fd, &value, 8);
    SHOW(read, fd, &value, 3);
    SHOW(write, fd, &value, 3);
}

int main(void)
{
    paths();
    pipes();
    events();
    return 0;
}
