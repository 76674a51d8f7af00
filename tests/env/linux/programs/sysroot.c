/* What a program sees of the sysroot: through links that are absolute there, from its folders, by the name that the sysroot has on the
 * host. linux.sh makes the files. Argument: that name; or "read" and a file that is read. Returns the number of wrong results. */
#include "expect.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static void read_library(int line, int folder, const char *path)
{
    char text[16] = "";
    const int fd = openat(folder, path, O_RDONLY);
    const ssize_t length = read(fd, text, sizeof text);
    expect(line, path, length == 10 && memcmp(text, "a library\n", 10) == 0, 1);
    close(fd);
}

static void be_in(int line, const char *wanted)
{
    char name[4096] = "";
    const long length = syscall(SYS_getcwd, name, sizeof name);
    expect(line, name, length == (long)strlen(wanted) + 1 && strcmp(name, wanted) == 0, 1);
}

static void look_at(const char *root)
{
    char path[4096], link[64];
    struct stat st;
    read_library(__LINE__, AT_FDCWD, "/lib/library");
    read_library(__LINE__, AT_FDCWD, "/lib/link_absolute");
    read_library(__LINE__, AT_FDCWD, "/lib/link_up");
    read_library(__LINE__, AT_FDCWD, "/lib/link_folder/library");
    (void)snprintf(path, sizeof path, "%s/lib/library", root);
    read_library(__LINE__, AT_FDCWD, path);
    EXPECT(-EROFS, openat, AT_FDCWD, path, O_RDWR);
    EXPECT(-EROFS, unlinkat, AT_FDCWD, path, 0);
    EXPECT(-ENOENT, openat, AT_FDCWD, "/lib/link_missing", O_RDONLY);
    for (char *end; (end = strrchr(path, '/')) != NULL;) {
        *end = '\0';
        EXPECT(-EINVAL, readlinkat, AT_FDCWD, *path ? path : "/", link, sizeof link);
        EXPECT(0, newfstatat, AT_FDCWD, *path ? path : "/", &st, AT_SYMLINK_NOFOLLOW);
    }
}

/* What lies beneath --dir is found from folders of the sysroot, too. */
static void be_home(const char *home)
{
    char file[4200], other[4200], link[64];
    struct stat st;
    (void)snprintf(file, sizeof file, "%s/new", home);
    (void)snprintf(other, sizeof other, "%s/./other", home);
    const int fd = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);
    expect(__LINE__, "a file", fd >= 0, 1);
    close(fd);
    EXPECT(0, newfstatat, AT_FDCWD, file, &st, 0);
    EXPECT(0, faccessat, AT_FDCWD, file, W_OK);
    EXPECT(0, truncate, file, 5);
    EXPECT(0, fchmodat, AT_FDCWD, file, 0640);
    EXPECT(0, renameat2, AT_FDCWD, file, AT_FDCWD, other, 0);
    EXPECT(0, symlinkat, "text", AT_FDCWD, file);
    EXPECT(4, readlinkat, AT_FDCWD, file, link, sizeof link);
    EXPECT(0, unlinkat, AT_FDCWD, file, 0);
    EXPECT(0, mkdirat, AT_FDCWD, file, 0700);
    EXPECT(0, unlinkat, AT_FDCWD, file, AT_REMOVEDIR);
    EXPECT(0, unlinkat, AT_FDCWD, other, 0);
}

static void go_there(void)
{
    char home[4096], link[64], bytes[256];
    struct stat st;
    (void)syscall(SYS_getcwd, home, sizeof home);
    const int lib = open("/lib", O_RDONLY | O_DIRECTORY);
    read_library(__LINE__, lib, "library");
    EXPECT(0, newfstatat, lib, "library", &st, 0);
    EXPECT(0, statx, lib, "library", 0, 0x7ff, bytes);
    EXPECT(0, faccessat, lib, "library", R_OK);
    EXPECT(-EROFS, faccessat, lib, "library", W_OK);
    EXPECT(12, readlinkat, lib, "link_absolute", link, sizeof link);
    EXPECT(-EROFS, unlinkat, lib, "library", 0);
    EXPECT(-EROFS, mkdirat, lib, "new", 0777);
    EXPECT(-EROFS, symlinkat, "library", lib, "new");
    EXPECT(-EROFS, openat, lib, "new", O_WRONLY | O_CREAT, 0600);
    EXPECT(0, chdir, "/lib");
    be_in(__LINE__, "/lib");
    EXPECT(-ERANGE, getcwd, home, 4);
    read_library(__LINE__, AT_FDCWD, "library");
    EXPECT(-EROFS, openat, AT_FDCWD, "new", O_WRONLY | O_CREAT, 0600);
    EXPECT(-ENOENT, chdir, "missing");
    EXPECT(-ENOTDIR, chdir, "library");
    EXPECT(0, newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH);
    EXPECT(-ENOENT, newfstatat, AT_FDCWD, "", &st, 0);
    EXPECT(-ENOENT, openat, AT_FDCWD, "", O_RDONLY);
    EXPECT(-EROFS, utimensat, AT_FDCWD, "", NULL, AT_EMPTY_PATH);
    EXPECT(-ENOENT, newfstatat, AT_FDCWD, "missing", &st, 0);
    const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const int unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT(-EROFS, bind, unix_socket, &name, sizeof name);
    EXPECT(-EACCES, connect, unix_socket, &name, sizeof name);
    close(unix_socket);
    EXPECT(0, chdir, "..");
    be_in(__LINE__, "/");
    EXPECT(0, chdir, "..");
    be_in(__LINE__, "/");
    be_home(home + 1);
    EXPECT(0, fchdir, lib);
    be_in(__LINE__, "/lib");
    EXPECT(0, chdir, home);
    be_in(__LINE__, home);
    close(lib);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        read_library(__LINE__, AT_FDCWD, argv[2]);
        return wrong;
    }
    look_at(argv[1]);
    go_there();
    return wrong;
}
