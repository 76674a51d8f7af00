#include "emu/io/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { RETRIES = 16 };

bool sandbox_open(struct sandbox *sandbox, const char *dir, struct error *err)
{
    *sandbox = (struct sandbox){.root = -1};
    sandbox->path = realpath(dir, NULL);
    if (sandbox->path)
        sandbox->root = open(sandbox->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (sandbox->root >= 0) {
        sandbox->is_top = strcmp(sandbox->path, "/") == 0;
        return true;
    }
    const int failed = errno;
    error_set(err, "--dir: cannot use '%s' as the program's folder: %s", dir, strerror(failed));
    sandbox_close(sandbox);
    errno = failed;
    return false;
}

void sandbox_close(struct sandbox *sandbox)
{
    if (sandbox->root >= 0)
        (void)close(sandbox->root);
    free(sandbox->path);
    *sandbox = (struct sandbox){.root = -1};
}

/* Skips slashes and `.` components. */
static const char *skip_nothing(const char *path)
{
    while (path[0] == '/' || (path[0] == '.' && (path[1] == '/' || path[1] == '\0')))
        path++;
    return path;
}

/* Returns the part of absolute `path` beneath the absolute folder `root`, or NULL if it is not beneath it. */
static const char *strip_root(const char *root, const char *path)
{
    for (root = skip_nothing(root), path = skip_nothing(path); *root;
         root = skip_nothing(root), path = skip_nothing(path)) {
        size_t length = strcspn(root, "/");
        if (strcspn(path, "/") != length || memcmp(root, path, length) != 0)
            return NULL;
        root += length;
        path += length;
    }
    return path;
}

/* Writes `path`, relative to the sandbox's root, to full[PATH_MAX]. Returns 0 or -errno. */
static int full_path(const struct sandbox *sandbox, const char *base, const char *path, char *full)
{
    int used;
    if (path[0] == '\0')
        return -ENOENT;
    if (path[0] == '/') {
        path = strip_root(sandbox->path, path);
        if (!path)
            return -EXDEV;
        used = snprintf(full, PATH_MAX, "./%s", path);
    } else {
        used = snprintf(full, PATH_MAX, "%s%s%s", base, base[0] ? "/" : "", path);
    }
    return used >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int open_beneath(const struct sandbox *sandbox, const char *path, int flags, mode_t mode)
{
    const uint64_t resolve = sandbox->is_top ? RESOLVE_IN_ROOT : RESOLVE_BENEATH;
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC | O_NOCTTY),
                           .mode = mode,
                           .resolve = resolve | RESOLVE_NO_MAGICLINKS};
    if (flags & O_PATH)
        how.flags = (unsigned)(flags | O_CLOEXEC);
    long fd = -1;
    /* EAGAIN: after a rename during the resolution, the kernel cannot tell whether the path stays beneath
     * the folder. */
    for (int i = 0; i < RETRIES; i++) {
        fd = syscall(SYS_openat2, sandbox->root, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    if (fd < 0)
        return -errno;
    struct statfs fs;
    if (fstatfs((int)fd, &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC)
        return (int)fd;
    (void)close((int)fd);
    return SANDBOX_PROCESSES;
}

int sandbox_open_at(const struct sandbox *sandbox, const char *base, const char *path, int flags, mode_t mode)
{
    char full[PATH_MAX];
    int failed = full_path(sandbox, base, path, full);
    return failed ? failed : open_beneath(sandbox, full, flags, mode);
}

int sandbox_open_parent(const struct sandbox *sandbox, const char *base, const char *path,
                        char last[NAME_MAX + 1])
{
    char full[PATH_MAX];
    int failed = full_path(sandbox, base, path, full);
    if (failed)
        return failed;
    size_t end = strlen(full);
    bool slash = end > 0 && full[end - 1] == '/';
    while (end > 0 && full[end - 1] == '/')
        full[--end] = '\0';
    char *name = strrchr(full, '/');
    name = name ? name + 1 : full;
    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;
    if (path[0] == '/' && strcmp(full, ".") == 0)
        return -EBUSY;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EINVAL;
    memcpy(last, name, strlen(name) + 1);
    *name = '\0';
    int parent = open_beneath(sandbox, full[0] ? full : ".", O_PATH | O_DIRECTORY, 0);
    struct stat st;
    if (parent >= 0 && slash && fstatat(parent, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISDIR(st.st_mode)) {
        (void)close(parent);
        return -ENOTDIR;
    }
    return parent;
}

/* Writes the host's name of an open descriptor. Returns false on failure. */
static bool name_of(int fd, char *name, size_t size)
{
    char link[32];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, size - 1);
    if (length < 0)
        return false;
    name[length] = '\0';
    return name[0] == '/';
}

int sandbox_path_of(const struct sandbox *sandbox, int folder, char *path, size_t size)
{
    char root[PATH_MAX], name[PATH_MAX];
    if (!name_of(sandbox->root, root, sizeof root) || !name_of(folder, name, sizeof name))
        return -ENOENT;
    const char *rest = strip_root(root, name);
    if (!rest)
        return -EXDEV;
    if ((size_t)snprintf(path, size, "%s", rest) >= size)
        return -ENAMETOOLONG;
    /* Check that the name leads to the folder, because a removed folder still has a name. */
    int again = open_beneath(sandbox, path[0] ? path : ".", O_PATH | O_DIRECTORY, 0);
    struct stat is, was;
    if (again < 0)
        return again;
    bool same = fstat(again, &is) == 0 && fstat(folder, &was) == 0 && is.st_dev == was.st_dev &&
                is.st_ino == was.st_ino;
    (void)close(again);
    return same ? 0 : -ENOENT;
}
