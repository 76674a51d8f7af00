/* Attempts to leave --dir, which all must fail. argv[1]: --dir's real path, argv[2]: a folder outside of it;
 * run.sh creates both. */
#include "guest.h"

static char status[128];

/* All calls that take a path must refuse `path` with -EACCES. */
static void refused(const char *path)
{
    EQUAL(CALL(N_OPENAT, AT_CWD, path, 0, 0), -EACCES);
    EQUAL(CALL(N_OPENAT, AT_CWD, path, CHECKED_CREATE | 1, 0644), -EACCES);
    EQUAL(CALL(N_OPEN, path, 0, 0), -EACCES);
    EQUAL(CALL(N_FSTATAT, AT_CWD, path, status, 0), -EACCES);
    EQUAL(CALL(N_STAT, path, status), -EACCES);
    EQUAL(CALL(N_FACCESSAT, AT_CWD, path, 0), -EACCES);
    EQUAL(CALL(N_ACCESS, path, 0), -EACCES);
}

/* `folder` leads out of --dir: all calls must refuse to enter it or to change anything in it. */
static void refused_folder(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/secret", folder);
    refused(path);
    EQUAL(CALL(N_CHDIR, folder), -EACCES);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, path, 0), -EACCES);
    EQUAL(CALL(N_UNLINK, path), -EACCES);
    EQUAL(CALL(N_RENAMEAT2, AT_CWD, "inside.txt", AT_CWD, path, 0), -EACCES);
    EQUAL(CALL(N_RENAMEAT2, AT_CWD, path, AT_CWD, "taken", 0), -EACCES);
    EQUAL(CALL(N_LINKAT, AT_CWD, path, AT_CWD, "linked", 0), -EACCES);
    EQUAL(CALL(N_LINKAT, AT_CWD, "inside.txt", AT_CWD, path, 0), -EACCES);
    EQUAL(CALL(N_LINK, path, "linked"), -EACCES);
    EQUAL(CALL(N_READLINKAT, AT_CWD, path, status, 64), -EACCES);
    snprintf(path, sizeof path, "%s/new", folder);
    EQUAL(CALL(N_OPENAT, AT_CWD, path, CHECKED_CREATE | 1, 0644), -EACCES);
    EQUAL(CALL(N_MKDIRAT, AT_CWD, path, 0755), -EACCES);
    EQUAL(CALL(N_MKDIR, path, 0755), -EACCES);
}

static void test_escapes(const char *inside, const char *outside)
{
    char path[512];
    refused_folder("../outside");
    refused_folder("sub/../../outside");
    refused_folder("link_folder");
    refused_folder("link_absolute_folder");
    refused_folder(outside);
    refused_folder("proc_root/tmp");
    refused("/proc/self/environ");
    refused("/proc/self/fd/0");
    refused("/etc/passwd");
    refused("/");
    refused("..");
    refused("link_file");
    refused("link_absolute");
    refused("link_dangling");
    refused("proc_link");
    snprintf(path, sizeof path, "%s/../outside/secret", inside);
    refused(path);
    snprintf(path, sizeof path, "%sx/secret", inside); /* a folder whose name begins with that of --dir */
    refused(path);
    EQUAL(CALL(N_OPENAT, AT_CWD, "loop", 0, 0), -LINUX_ELOOP);
}

/* Opening a pipe that has no other end would block. */
static void test_pipe(void)
{
    EQUAL(CALL(N_OPENAT, AT_CWD, "pipe", 0, 0), -EACCES);
    EQUAL(CALL(N_OPENAT, AT_CWD, "pipe", 1, 0), -EACCES);
    EQUAL(CALL(N_OPENAT, AT_CWD, "pipe", CHECKED_CREATE | 2, 0644), -EACCES);
}

static void test_folder_descriptor(void)
{
    long sub = CALL(N_OPENAT, AT_CWD, "sub", CHECKED_FOLDER, 0);
    TRUE(sub > 2);
    EQUAL(CALL(N_OPENAT, sub, "../../outside/secret", 0, 0), -EACCES);
    EQUAL(CALL(N_UNLINKAT, sub, "../../outside/secret", 0), -EACCES);
    EQUAL(CALL(N_RENAMEAT2, sub, "deep.txt", sub, "../../outside/new", 0), -EACCES);
    long up = CALL(N_OPENAT, sub, "../inside.txt", 0, 0);
    TRUE(up > 2);
    EQUAL(CALL(N_CLOSE, up), 0);
    EQUAL(CALL(N_OPENAT, 77, "inside.txt", 0, 0), -EBADF);
    EQUAL(CALL(N_OPENAT, 0, "inside.txt", 0, 0), -ENOTDIR);
    EQUAL(CALL(N_CLOSE, sub), 0);

    /* A removed folder cannot be entered, although the host still has a name for it. */
    EQUAL(CALL(N_MKDIR, "gone", 0755), 0);
    long gone = CALL(N_OPENAT, AT_CWD, "gone", CHECKED_FOLDER, 0);
    EQUAL(CALL(N_FCHDIR, gone), 0);
    EQUAL(CALL(N_CHDIR, ".."), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "gone", 0x200), 0);
    EQUAL(CALL(N_MKDIR, "gone (deleted)", 0755), 0);
    EQUAL(CALL(N_FCHDIR, gone), -ENOENT);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "gone (deleted)", 0x200), 0);
    EQUAL(CALL(N_CLOSE, gone), 0);
}

static void test_inside(const char *inside)
{
    char path[512], here[512];
    snprintf(path, sizeof path, "%s/inside.txt", inside);
    EQUAL(CALL(N_ACCESS, path, 0), 0);
    snprintf(path, sizeof path, "%s/./sub//deep.txt", inside);
    EQUAL(CALL(N_ACCESS, path, 0), 0);
    EQUAL(CALL(N_ACCESS, inside, 0), 0);
    EQUAL(CALL(N_ACCESS, "link_inside", 0), 0);
    EQUAL(CALL(N_ACCESS, "sub/up/inside.txt", 0), 0);
    EQUAL(CALL(N_ACCESS, "sub/up/sub/../inside.txt", 0), 0);
    EQUAL(CALL(N_ACCESS, "nothing", 0), -ENOENT);
    EQUAL(CALL(N_OPENAT, AT_CWD, "", 0, 0), -ENOENT);
    EQUAL(CALL(N_LSTAT, "link_file", status), 0);
    EQUAL(CALL(N_GETCWD, here, sizeof here), (long)strlen(inside) + 1);
    EQUAL(strcmp(here, inside), 0);

    EQUAL(CALL(N_CHDIR, "sub/up/sub"), 0);
    EQUAL(CALL(N_ACCESS, "deep.txt", 0), 0);
    EQUAL(CALL(N_ACCESS, "../inside.txt", 0), 0);
    snprintf(path, sizeof path, "%s/sub", inside);
    EQUAL(CALL(N_GETCWD, here, sizeof here), (long)strlen(path) + 1);
    EQUAL(strcmp(here, path), 0);
    EQUAL(CALL(N_GETCWD, here, 4), -ERANGE);
    refused("../../outside/secret");
    EQUAL(CALL(N_CHDIR, "../.."), -EACCES);
    EQUAL(CALL(N_CHDIR, "deep.txt"), -ENOTDIR);
    EQUAL(CALL(N_CHDIR, inside), 0);
}

/* Removing or renaming a link affects the link itself, not its target. */
static void test_links_as_such(void)
{
    EQUAL(CALL(N_RENAMEAT2, AT_CWD, "link_file", AT_CWD, "link_moved", 0), 0);
    EQUAL(CALL(N_UNLINK, "link_moved"), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "link_folder", 0x200), -ENOTDIR);
    EQUAL(CALL(N_UNLINK, "link_folder/"), -ENOTDIR);
    EQUAL(CALL(N_UNLINK, "link_folder"), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, ".", 0x200), -EINVAL);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "sub", 0), -EISDIR);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "sub", 0x200), -LINUX_ENOTEMPTY);
    EQUAL(CALL(N_MKDIRAT, AT_CWD, "made/", 0755), 0);
    EQUAL(CALL(N_MKDIRAT, AT_CWD, "made", 0755), -EEXIST);
    EQUAL(CALL(N_MKDIRAT, AT_CWD, ".", 0755), -EEXIST);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "made", 0x200), 0);
}

/* With --dir /: nothing of procfs opens, by any way. */
static void test_processes(void)
{
    refused("/proc/self/mem");
    refused("/proc/1/status");
    refused("proc/self/maps");
    EQUAL(CALL(N_CHDIR, "/proc"), -EACCES);
    EQUAL(CALL(N_OPENAT, AT_CWD, "/", 0, 0), 3);
    EQUAL(CALL(N_OPENAT, 3, "proc/self/mem", 2, 0), -EACCES);
    EQUAL(CALL(N_READLINKAT, AT_CWD, "/proc/self", status, 64), -EACCES);
    EQUAL(CALL(N_CLOSE, 3), 0);
}

/* The names of the working folder and of an open one follow when they, or folders above them, are renamed. */
static void test_renamed(const char *inside)
{
    char path[512], here[512];
    EQUAL(CALL(N_MKDIR, "one", 0755), 0);
    EQUAL(CALL(N_MKDIR, "one/two", 0755), 0);
    long fd = CALL(N_OPENAT, AT_CWD, "one", 0, 0);
    EQUAL(CALL(N_CHDIR, "one/two"), 0);
    EQUAL(CALL(N_RENAMEAT2, AT_CWD, "../../one", AT_CWD, "../../three", 0), 0);
    snprintf(path, sizeof path, "%s/three/two", inside);
    EQUAL(CALL(N_GETCWD, here, sizeof here), (long)strlen(path) + 1);
    EQUAL(strcmp(here, path), 0);
    EQUAL(CALL(N_MKDIR, "four", 0755), 0);
    EQUAL(CALL(N_FACCESSAT, fd, "two/four", 0), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "four", 0x200), 0);
    EQUAL(CALL(N_UNLINKAT, fd, "two", 0x200), 0);
    EQUAL(CALL(N_GETCWD, here, sizeof here), -ENOENT);
    EQUAL(CALL(N_MKDIR, "five", 0755), -ENOENT);
    EQUAL(CALL(N_CHDIR, inside), 0);
    EQUAL(CALL(N_UNLINKAT, AT_CWD, "three", 0x200), 0);
    EQUAL(CALL(N_CLOSE, fd), 0);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        test_processes();
        return checks_end();
    }
    if (argc != 3)
        return 2;
    test_inside(argv[1]);
    test_pipe();
    test_escapes(argv[1], argv[2]);
    test_folder_descriptor();
    test_links_as_such();
    test_renamed(argv[1]);
    return checks_end();
}
