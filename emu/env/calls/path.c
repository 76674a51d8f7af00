/* System calls on paths. Each path is resolved beneath the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/env/calls/state.h"
#include "emu/sim/alloc.h"

/* Linux's values for riscv64. */
enum {
    GUEST_AT_FDCWD = -100,
    GUEST_AT_SYMLINK_NOFOLLOW = 0x100,
    GUEST_AT_REMOVEDIR = 0x200,
    GUEST_AT_EMPTY_PATH = 0x1000,
    GUEST_ACCESS_MODES = 3,
    GUEST_CREATE = 0100,
    GUEST_TMPFILE = 020000000,
};

struct flag {
    uint32_t guest;
    int host;
};

static const struct flag linux_flags[] = {
    {GUEST_CREATE, O_CREAT}, {0200, O_EXCL},         {01000, O_TRUNC},      {02000, O_APPEND},
    {010000, O_DSYNC},       {0200000, O_DIRECTORY}, {0400000, O_NOFOLLOW}, {04010000, O_SYNC},
};

/* Maps newlib's open flags, which libgloss passes unchanged to the legacy open call, to Linux's. */
static const struct flag newlib_flags[] = {
    {0x8, 02000},       {0x200, GUEST_CREATE}, {0x400, 01000},      {0x800, 0200},
    {0x2000, 04010000}, {0x40000, 02000000},   {0x100000, 0400000}, {0x200000, 0200000},
};

static int translate(const struct flag *flags, size_t count, uint64_t guest)
{
    int host = (int)(guest & GUEST_ACCESS_MODES);
    for (size_t i = 0; i < count; i++) {
        if ((guest & flags[i].guest) == flags[i].guest)
            host |= flags[i].host;
    }
    return host;
}

/* A path argument of a call. */
struct path {
    char base[PATH_MAX]; /* folder relative to the sandbox */
    char text[PATH_MAX];
};

/* Finds the present path of an open folder, which may have been renamed since. */
static int64_t find_base(const struct user *user, int host, char base[PATH_MAX])
{
    base[0] = '\0';
    return host < 0 ? 0 : sandbox_path_of(&user->sandbox, host, base, PATH_MAX);
}

/* Lets a relative path start from an open folder. */
static int64_t start_from(const struct user *user, int host, struct path *path)
{
    const int64_t failed = find_base(user, host, path->base);
    if ((failed != -EXDEV && failed != SANDBOX_PROCESSES) || !user->name_outer)
        return failed;
    path->base[0] = '\0';
    return path->text[0] == '\0' ? -ENOENT : user->name_outer(user->outer, host, path->text);
}

/* Makes a path of a text that starts, if it is relative, from the working folder. */
static int64_t set_path(const struct user *user, const char *text, struct path *path)
{
    if (snprintf(path->text, sizeof path->text, "%s", text) >= PATH_MAX)
        return -ENAMETOOLONG;
    path->base[0] = '\0';
    return text[0] == '/' ? 0 : start_from(user, user->files.working_folder, path);
}

static int64_t get_path(struct user *user, uint64_t folder, uint64_t address, struct path *path)
{
    int64_t failed = guest_string(user, address, path->text, sizeof path->text);
    if (failed)
        return failed;
    path->base[0] = '\0';
    if (path->text[0] == '/')
        return 0;
    if ((int32_t)folder == GUEST_AT_FDCWD)
        return start_from(user, user->files.working_folder, path);
    struct file *file = files_get(&user->files, folder);
    if (!file)
        return -EBADF;
    return file->folder ? start_from(user, file->host, path) : -ENOTDIR;
}

/* Returns whether a warning about this path must be printed: once for each path, and for at most
 * GUEST_WARNINGS_MAX paths. */
static bool is_news(struct user *user, const struct path *path)
{
    for (unsigned i = 0; i < user->refused_count; i++) {
        if (strcmp(user->refused_paths[i], path->text) == 0)
            return false;
    }
    if (user->refused_count == GUEST_WARNINGS_MAX)
        return false;
    char *copy = alloc_text(path->text);
    user->refused_paths[user->refused_count++] = copy;
    if (user->refused_count == GUEST_WARNINGS_MAX)
        guest_warn(user, "only %d refused paths are reported; this is the last", GUEST_WARNINGS_MAX);
    return true;
}

/* Prints why a path was refused if the result is -EXDEV, -ENOSYS or SANDBOX_PROCESSES, and returns -EACCES instead. Returns
 * other results unchanged. */
static int64_t explain(struct user *user, const struct path *path, int64_t result)
{
    if (result != -EXDEV && result != -ENOSYS && result != SANDBOX_PROCESSES)
        return result;
    if (is_news(user, path)) {
        if (result == SANDBOX_PROCESSES || strncmp(path->text, "/proc/", 6) == 0) /* --dir / would not help */
            guest_warn(user, "path '%s' is refused: procfs would give access to croft itself", path->text);
        else if (result == -EXDEV)
            guest_warn(user,
                       "path '%s' leads out of '%s'; it is refused: only files beneath --dir can be used",
                       path->text, user->sandbox.path);
        else
            guest_warn(user,
                       "path '%s' is refused: the host cannot resolve paths safely (openat2 needs Linux 5.6)",
                       path->text);
    }
    return -EACCES;
}

/* The functions that open what a path names return a host descriptor or -errno. */
static int64_t open_path(struct user *user, const struct path *path, int flags, mode_t mode)
{
    return explain(user, path, sandbox_open_at(&user->sandbox, path->base, path->text, flags, mode));
}

static int64_t open_parent(struct user *user, const struct path *path, char last[NAME_MAX + 1])
{
    return explain(user, path, sandbox_open_parent(&user->sandbox, path->base, path->text, last));
}

int64_t path_open(struct user *user, uint64_t folder, uint64_t address, int flags)
{
    struct path path;
    int64_t failed = get_path(user, folder, address, &path);
    return failed ? failed : open_path(user, &path, flags, 0);
}

int64_t path_open_text(struct user *user, const char *text, int flags)
{
    struct path path;
    int64_t failed = set_path(user, text, &path);
    return failed ? failed : open_path(user, &path, flags, 0);
}

int64_t path_open_text_parent(struct user *user, const char *text, char last[NAME_MAX + 1])
{
    struct path path;
    int64_t failed = set_path(user, text, &path);
    return failed ? failed : open_parent(user, &path, last);
}

int64_t path_open_parent(struct user *user, uint64_t folder, uint64_t address, char last[NAME_MAX + 1])
{
    struct path path;
    int64_t failed = get_path(user, folder, address, &path);
    return failed ? failed : open_parent(user, &path, last);
}

int64_t call_getcwd(struct user *user, const uint64_t a[6])
{
    char text[2 * PATH_MAX];
    const char *root = strcmp(user->sandbox.path, "/") == 0 ? "" : user->sandbox.path;
    char folder[PATH_MAX];
    int64_t gone = find_base(user, user->files.working_folder, folder);
    if (gone)
        return gone;
    int used = snprintf(text, sizeof text, "%s%s%s", root, folder[0] || !root[0] ? "/" : "", folder);
    uint64_t length = (uint64_t)used + 1;
    if (length > a[1])
        return -ERANGE;
    int64_t failed = guest_put(user, a[0], text, length);
    return failed ? failed : (int64_t)length;
}

static int64_t enter_folder(struct user *user, int host)
{
    char text[PATH_MAX];
    int failed = sandbox_path_of(&user->sandbox, host, text, sizeof text);
    if (failed)
        return failed;
    return files_enter(&user->files, host);
}

int64_t call_chdir(struct user *user, const uint64_t a[6])
{
    struct path path;
    int64_t failed = get_path(user, (uint64_t)GUEST_AT_FDCWD, a[0], &path);
    if (failed)
        return failed;
    int64_t host = open_path(user, &path, O_RDONLY | O_DIRECTORY, 0);
    if (host < 0)
        return host;
    int64_t result = explain(user, &path, enter_folder(user, (int)host));
    (void)close((int)host);
    return result;
}

int64_t call_fchdir(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    return file->folder ? enter_folder(user, file->host) : -ENOTDIR;
}

/* Allows only regular files, folders and links: opening a pipe could block the run, and opening a device has
 * side effects. */
static int64_t check_kind(struct user *user, const struct path *path, int host)
{
    struct stat st;
    if (fstat(host, &st) != 0)
        return -errno;
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode))
        return 0;
    if (is_news(user, path))
        guest_warn(user, "path '%s' is a %s; it is refused: only files and folders can be opened", path->text,
                   S_ISFIFO(st.st_mode)   ? "pipe"
                   : S_ISSOCK(st.st_mode) ? "socket"
                                          : "device");
    return -EACCES;
}

/* Checks the kind of file before opening it for use, because opening a device already has side effects. */
static int64_t probe(struct user *user, const struct path *path, int flags)
{
    int host = sandbox_open_at(&user->sandbox, path->base, path->text, O_PATH | (flags & O_NOFOLLOW), 0);
    if (host < 0)
        return 0; /* the real open reports the error or creates the file */
    int64_t result = check_kind(user, path, host);
    (void)close(host);
    return result;
}

static int64_t adopt(struct user *user, const struct path *path, int host, uint64_t guest_flags)
{
    struct stat st;
    char folder[PATH_MAX];
    int64_t failed = check_kind(user, path, host);
    if (!failed && fstat(host, &st) != 0)
        failed = -errno;
    if (!failed && S_ISDIR(st.st_mode))
        failed = sandbox_path_of(&user->sandbox, host, folder, sizeof folder);
    if (failed) {
        (void)close(host);
        return failed;
    }
    int kept = (int)(guest_flags & (GUEST_ACCESS_MODES | 02000));
    int64_t descriptor = files_add(&user->files, host, kept, S_ISDIR(st.st_mode));
    if (descriptor >= 0)
        user->files.close_on_exec[descriptor] = (guest_flags & 02000000) != 0;
    return descriptor;
}

static int64_t open_file(struct user *user, uint64_t folder, uint64_t address, uint64_t guest_flags,
                         uint64_t mode)
{
    struct path path;
    int64_t failed = get_path(user, folder, address, &path);
    if (failed)
        return failed;
    if (guest_flags & GUEST_TMPFILE)
        return -EOPNOTSUPP;
    int flags = translate(linux_flags, sizeof linux_flags / sizeof linux_flags[0], guest_flags);
    failed = probe(user, &path, flags);
    if (failed)
        return failed;
    mode_t permissions = flags & O_CREAT ? (mode_t)(mode & 0777) : 0;
    int64_t host = open_path(user, &path, flags | O_NONBLOCK, permissions);
    if (host < 0)
        return host;
    return adopt(user, &path, (int)host, guest_flags);
}

int64_t call_openat(struct user *user, const uint64_t a[6])
{
    return open_file(user, a[0], a[1], a[2], a[3]);
}

int64_t call_open(struct user *user, const uint64_t a[6])
{
    int flags = translate(newlib_flags, sizeof newlib_flags / sizeof newlib_flags[0], a[1]);
    return open_file(user, (uint64_t)GUEST_AT_FDCWD, a[0], (uint64_t)flags, a[2]);
}

static int64_t check_access(struct user *user, uint64_t folder, uint64_t address, uint64_t mode)
{
    struct path path;
    int64_t failed = get_path(user, folder, address, &path);
    if (failed)
        return failed;
    if (mode & ~(uint64_t)(R_OK | W_OK | X_OK))
        return -EINVAL;
    int64_t host = open_path(user, &path, O_PATH, 0);
    if (host < 0)
        return host;
    long result = syscall(SYS_faccessat2, (int)host, "", (int)mode, AT_EMPTY_PATH);
    int64_t answer = result != 0 ? -errno : 0;
    (void)close((int)host);
    return answer;
}

int64_t call_faccessat(struct user *user, const uint64_t a[6])
{
    return check_access(user, a[0], a[1], a[2]);
}

int64_t call_access(struct user *user, const uint64_t a[6])
{
    return check_access(user, (uint64_t)GUEST_AT_FDCWD, a[0], a[1]);
}

static int64_t stat_path(struct user *user, uint64_t folder, uint64_t address, uint64_t to, bool follow)
{
    struct path path;
    int64_t failed = get_path(user, folder, address, &path);
    if (failed)
        return failed;
    int64_t host = open_path(user, &path, O_PATH | (follow ? 0 : O_NOFOLLOW), 0);
    if (host < 0)
        return host;
    int64_t result = call_put_stat(user, to, (int)host);
    (void)close((int)host);
    return result;
}

int64_t call_fstatat(struct user *user, const uint64_t a[6])
{
    char first;
    if (guest_string(user, a[1], &first, 1) == 0 && (a[3] & GUEST_AT_EMPTY_PATH)) {
        const uint64_t fstat_arguments[6] = {a[0], a[2]};
        if ((int32_t)a[0] != GUEST_AT_FDCWD)
            return call_fstat(user, fstat_arguments);
    }
    return stat_path(user, a[0], a[1], a[2], !(a[3] & GUEST_AT_SYMLINK_NOFOLLOW));
}

int64_t call_stat(struct user *user, const uint64_t a[6])
{
    return stat_path(user, (uint64_t)GUEST_AT_FDCWD, a[0], a[1], true);
}

int64_t call_lstat(struct user *user, const uint64_t a[6])
{
    return stat_path(user, (uint64_t)GUEST_AT_FDCWD, a[0], a[1], false);
}

int64_t call_readlinkat(struct user *user, const uint64_t a[6])
{
    struct path path;
    int64_t failed = get_path(user, a[0], a[1], &path);
    if (failed)
        return failed;
    if ((int64_t)a[3] <= 0)
        return -EINVAL;
    const uint64_t room = a[3] < PATH_MAX ? a[3] : PATH_MAX; /* no link is longer */
    char *to = guest_reaches(user, a[2], a[3], true) ? guest_writable(user, a[2], room) : NULL;
    if (!to)
        return -EFAULT;
    int64_t host = open_path(user, &path, O_PATH | O_NOFOLLOW, 0);
    if (host < 0)
        return host;
    ssize_t length = readlinkat((int)host, "", to, room);
    int64_t result = length < 0 ? (errno == ENOENT ? -EINVAL : -errno) : length;
    (void)close((int)host);
    return result;
}

static int64_t remove_path(struct user *user, uint64_t folder, uint64_t address, bool is_folder)
{
    struct path path;
    char last[NAME_MAX + 1];
    int64_t failed = get_path(user, folder, address, &path);
    int64_t parent = failed ? failed : open_parent(user, &path, last);
    if (parent < 0)
        return parent;
    int64_t result = unlinkat((int)parent, last, is_folder ? AT_REMOVEDIR : 0) != 0 ? -errno : 0;
    (void)close((int)parent);
    return result;
}

int64_t call_unlinkat(struct user *user, const uint64_t a[6])
{
    return a[2] & ~(uint64_t)GUEST_AT_REMOVEDIR
               ? -EINVAL
               : remove_path(user, a[0], a[1], (a[2] & GUEST_AT_REMOVEDIR) != 0);
}

int64_t call_unlink(struct user *user, const uint64_t a[6])
{
    return remove_path(user, (uint64_t)GUEST_AT_FDCWD, a[0], false);
}

static int64_t make_folder(struct user *user, uint64_t folder, uint64_t address, uint64_t mode)
{
    struct path path;
    char last[NAME_MAX + 1];
    int64_t failed = get_path(user, folder, address, &path);
    int64_t parent = failed ? failed : open_parent(user, &path, last);
    if (parent == -EBUSY || parent == -EINVAL)
        return -EEXIST;
    if (parent < 0)
        return parent;
    int64_t result = mkdirat((int)parent, last, (mode_t)(mode & 0777)) != 0 ? -errno : 0;
    (void)close((int)parent);
    return result;
}

int64_t call_mkdirat(struct user *user, const uint64_t a[6])
{
    return make_folder(user, a[0], a[1], a[2]);
}

int64_t call_mkdir(struct user *user, const uint64_t a[6])
{
    return make_folder(user, (uint64_t)GUEST_AT_FDCWD, a[0], a[1]);
}

/* The parent folders and last components of the two paths of a rename or link. */
struct pair {
    int parent[2];
    char last[2][NAME_MAX + 1];
};

/* Opens both parents; a[0..3] are folder, path, folder, path. Returns 0 or -errno. After 0, release with
 * close_pair(). */
static int64_t open_pair(struct user *user, const uint64_t *a, struct pair *pair)
{
    struct path path;
    for (int i = 0; i < 2; i++) {
        int64_t result = get_path(user, a[2 * i], a[2 * i + 1], &path);
        if (result == 0)
            result = open_parent(user, &path, pair->last[i]);
        if (result < 0) {
            if (i == 1)
                (void)close(pair->parent[0]);
            return result;
        }
        pair->parent[i] = (int)result;
    }
    return 0;
}

static void close_pair(const struct pair *pair)
{
    (void)close(pair->parent[0]);
    (void)close(pair->parent[1]);
}

static int64_t rename_path(struct user *user, const uint64_t *a, uint64_t flags)
{
    struct pair pair;
    if (flags > 2) /* RENAME_NOREPLACE 1, RENAME_EXCHANGE 2 */
        return -EINVAL;
    int64_t failed = open_pair(user, a, &pair);
    if (failed)
        return failed;
    int64_t result =
        renameat2(pair.parent[0], pair.last[0], pair.parent[1], pair.last[1], (unsigned)flags) != 0 ? -errno
                                                                                                    : 0;
    close_pair(&pair);
    return result;
}

int64_t call_renameat(struct user *user, const uint64_t a[6])
{
    return rename_path(user, a, 0);
}

int64_t call_renameat2(struct user *user, const uint64_t a[6])
{
    return rename_path(user, a, a[4]);
}

int64_t call_linkat(struct user *user, const uint64_t a[6])
{
    struct pair pair;
    if (a[4] != 0)
        return -EINVAL;
    int64_t failed = open_pair(user, a, &pair);
    if (failed)
        return failed;
    int64_t result = linkat(pair.parent[0], pair.last[0], pair.parent[1], pair.last[1], 0) != 0 ? -errno : 0;
    close_pair(&pair);
    return result;
}

int64_t call_link(struct user *user, const uint64_t a[6])
{
    const uint64_t arguments[6] = {(uint64_t)GUEST_AT_FDCWD, a[0], (uint64_t)GUEST_AT_FDCWD, a[1]};
    return call_linkat(user, arguments);
}
