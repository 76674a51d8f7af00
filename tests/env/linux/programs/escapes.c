/* Attempts of each call that takes a path, or a descriptor, to leave --dir or to change the sysroot: all must fail. Arguments: the
 * folder outside, a file of the sysroot. linux.sh makes the links. Prints those that succeed, and returns their number. */
#include "calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

static int succeeded;
static const struct timespec times[2] = {{1, 0}, {1, 0}};

static void refuse(int line, const char *call, const char *path, long result)
{
    if (result < 0)
        return;
    printf("%d %s %s succeeds: %ld\n", line, call, path, result);
    succeeded++;
}
#define REFUSE(path, name, ...)     refuse(__LINE__, #name, path, syscall(SYS_##name, ##__VA_ARGS__))
#define REFUSE_NUMBER(path, n, ...) refuse(__LINE__, #n, path, syscall(n, ##__VA_ARGS__))

/* Nothing may be done to what the path names. */
static void change(const char *path)
{
    struct {
        uint64_t flags, mode, resolve;
    } write_only = {O_WRONLY, 0, 0}, both = {O_RDWR | O_CREAT, 0600, 2};
    REFUSE(path, openat, AT_FDCWD, path, O_WRONLY);
    REFUSE(path, openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    REFUSE(path, openat2, AT_FDCWD, path, &write_only, sizeof write_only);
    REFUSE(path, openat2, AT_FDCWD, path, &both, sizeof both);
    REFUSE(path, truncate, path, 0);
    REFUSE(path, fchmodat, AT_FDCWD, path, 0777);
    REFUSE_NUMBER(path, 452, AT_FDCWD, path, 0777, 0); /* SYS_fchmodat2 */
    REFUSE(path, fchownat, AT_FDCWD, path, 1000, 1000, 0);
    REFUSE(path, utimensat, AT_FDCWD, path, times, 0);
}

/* The name itself may not be changed either. */
static void change_name(const char *path)
{
    change(path);
    REFUSE(path, utimensat, AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
    REFUSE(path, unlinkat, AT_FDCWD, path, 0);
    REFUSE(path, renameat2, AT_FDCWD, "inside", AT_FDCWD, path, 0);
    REFUSE(path, renameat2, AT_FDCWD, path, AT_FDCWD, "taken", 0);
    REFUSE(path, renameat2, AT_FDCWD, path, AT_FDCWD, "inside", 2);
    REFUSE(path, linkat, AT_FDCWD, path, AT_FDCWD, "linked", 0);
    REFUSE(path, linkat, AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
    REFUSE(path, linkat, AT_FDCWD, "inside", AT_FDCWD, path, 0);
    REFUSE(path, symlinkat, "inside", AT_FDCWD, path);
    REFUSE(path, mkdirat, AT_FDCWD, path, 0777);
    REFUSE(path, mknodat, AT_FDCWD, path, S_IFIFO | 0600, 0);
}

/* Nor may it be looked at. */
static void leave(const char *path)
{
    char bytes[256];
    struct {
        uint64_t flags, mode, resolve;
    } how = {0, 0, 0};
    REFUSE(path, openat, AT_FDCWD, path, O_RDONLY);
    REFUSE(path, openat, AT_FDCWD, path, O_PATH);
    REFUSE(path, openat2, AT_FDCWD, path, &how, sizeof how);
    REFUSE(path, newfstatat, AT_FDCWD, path, bytes, 0);
    REFUSE(path, statx, AT_FDCWD, path, 0, 0x7ff, bytes);
    REFUSE(path, faccessat, AT_FDCWD, path, F_OK);
    REFUSE(path, faccessat2, AT_FDCWD, path, F_OK, 0);
    REFUSE(path, statfs, path, bytes);
    REFUSE(path, chdir, path);
}

static void leave_by_paths(const char *outside)
{
    char path[4096];
    static const char *const inside[] = {"link_file", "link_absolute"};
    const char *folders[] = {"../outside",
                             "folder/../../outside",
                             "link_folder",
                             "link_absolute_folder",
                             outside,
                             "/proc/self/cwd/../outside",
                             "/proc/self/root/tmp",
                             "/proc/self/fd/../../../etc",
                             "/dev/fd/../../etc",
                             "/dev/stdin/../../etc",
                             "/proc/1/root",
                             "/proc/thread-self/root"};
    for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/secret", folders[i]);
        leave(path);
        change_name(path);
        snprintf(path, sizeof path, "%s/new", folders[i]);
        change_name(path);
    }
    for (unsigned i = 0; i < 2; i++) { /* links that may be renamed and removed as such */
        leave(inside[i]);
        change(inside[i]);
    }
    REFUSE("..", openat, AT_FDCWD, "..", O_RDONLY);
    REFUSE("..", chdir, "..");
    REFUSE("../", statx, AT_FDCWD, "../", 0, 0x7ff, path);
}

/* Links that the program makes itself, and folders that are open. */
static void leave_by_own_links(const char *outside)
{
    char path[4096];
    int folder = open("folder", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/secret", outside);
    symlink(path, "own_link");
    symlink("/proc/self/fd/3/../../outside/secret", "own_proc");
    symlink("/", "own_root");
    leave("own_link");
    change("own_link");
    leave("own_proc");
    change("own_proc");
    leave("own_root/etc/passwd");
    change_name("own_root/etc/passwd");
    REFUSE("a folder", openat, folder, "../../outside/secret", O_RDONLY);
    REFUSE("a folder", renameat2, folder, "../inside", folder, "../../outside/new", 0);
    REFUSE("a folder", symlinkat, "x", folder, "../../outside/new");
    REFUSE("a folder", fchmodat, folder, "../../outside/secret", 0777);
    REFUSE("a folder", utimensat, folder, "../../outside/secret", times, 0);
    /* A moved folder takes nobody out. */
    mkdir("deep", 0700);
    mkdir("deep/er", 0700);
    int er = open("deep/er", O_RDONLY | O_DIRECTORY);
    rename("deep/er", "er");
    REFUSE("a moved folder", openat, er, "../../outside/secret", O_RDONLY);
    REFUSE("a moved folder", openat, er, "../outside/secret", O_RDONLY);
    rmdir("er");
    REFUSE("a removed folder", openat, er, "../outside/secret", O_RDONLY);
}

/* Descriptors of files that may only be read do not become more. */
static void keep(const char *library)
{
    char name[64];
    int fd = open(library, O_RDONLY), memory = memfd_create("memory", 0);
    if (fd < 0)
        printf("%s cannot be read\n", library), succeeded++;
    change_name(library);
    REFUSE(library, fchmod, fd, 0777);
    REFUSE(library, utimensat, fd, NULL, times, 0);
    REFUSE(library, utimensat, fd, "", times, AT_EMPTY_PATH);
    REFUSE(library, fchownat, fd, "", 1000, 1000, AT_EMPTY_PATH);
    REFUSE_NUMBER(library, 452, fd, "", 0777, AT_EMPTY_PATH);
    REFUSE(library, ftruncate, fd, 0);
    REFUSE(library, fallocate, fd, 0, 0, 1 << 20);
    REFUSE(library, write, fd, "x", 1);
    REFUSE(library, pwrite64, fd, "x", 1, 0);
    REFUSE(library, linkat, fd, "", AT_FDCWD, "linked", AT_EMPTY_PATH);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    change_name(name);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    change_name(name);
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    refuse(__LINE__, "mmap", library, at == MAP_FAILED ? -1 : 0);
    at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    refuse(__LINE__, "mprotect", library, mprotect(at, 4096, PROT_READ | PROT_WRITE));
    snprintf(name, sizeof name, "/proc/self/fd/%d", memory);
    REFUSE(name, linkat, AT_FDCWD, name, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
    REFUSE(name, fchmod, 1, 0777);
    REFUSE(name, utimensat, 1, NULL, times, 0);
}

/* Somebody outside exchanges a folder and a link to the outside meanwhile. */
static void race(void)
{
    char text[16];
    struct statx st;
    for (int i = 0; i < 3000; i++) {
        int fd = open("race/secret", O_RDWR);
        if (fd >= 0 && read(fd, text, 7) == 7 && memcmp(text, "outside", 7) == 0)
            refuse(__LINE__, "open", "race/secret", 0);
        if (fd >= 0)
            close(fd);
        if (syscall(SYS_statx, AT_FDCWD, "race/secret", 0, 0x7ff, &st) == 0 && st.stx_size != 6)
            refuse(__LINE__, "statx", "race/secret", 0);
        (void)truncate("race/secret", 6);
        (void)chmod("race/secret", 0600);
        (void)utimensat(AT_FDCWD, "race/secret", times, 0);
        (void)rename("race/secret", "race/moved");
        (void)rename("race/moved", "race/secret");
        (void)link("inside", "race/new");
        (void)unlink("race/new");
        (void)symlink("inside", "race/new");
        (void)unlink("race/new");
    }
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 99;
    leave_by_paths(arguments[1]);
    leave_by_own_links(arguments[1]);
    keep(arguments[2]);
    race();
    return succeeded;
}
