/* Calls on files: paths in the sysroot and in /proc, and descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/served.h"

enum { GUEST_CREATES = 01300 };
enum { FOLLOW_NOT = 0x100, EMPTY_PATH = 0x1000, SYMLINK_FOLLOW = 0x400, EFFECTIVE = 0x200 };

/* Opens an absolute path in the sysroot, to read it. Returns a host descriptor; -ENOENT: it is not there. */
static int open_sysroot(const struct process *process, const char *path, int flags)
{
    if (process->sysroot.root < 0 || path[0] != '/')
        return -ENOENT;
    path += strspn(path, "/");
    return sandbox_open_at(&process->sysroot, "", *path ? path : ".", flags, 0);
}

/* Returns whether a path that the sysroot does not have cannot be elsewhere either. */
static bool is_foreign(const struct process *process, const char *path)
{
    const char *root = process->user->sandbox.path;
    return process->sysroot.root >= 0 && path[0] == '/' && strncmp(path, root, strlen(root)) != 0;
}

/* Opens what only Linux programs see at an absolute path. Returns a host descriptor, or -ENOENT. */
static int open_special(struct process *process, const char *path, int flags)
{
    int host = path[0] == '/' ? proc_open(process, path) : -ENOENT;
    return host >= 0 ? host : open_sysroot(process, path, flags);
}

int64_t linux_openat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    struct stat st;
    (void)thread;
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    const int mode = (int)(a[2] & O_ACCMODE);
    if (mode == O_RDONLY && !(a[2] & GUEST_CREATES)) {
        int host = open_special(process, path, O_RDONLY | (a[2] & 0200000 ? O_DIRECTORY : 0) | O_NONBLOCK);
        if (host >= 0 && (fstat(host, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))) {
            (void)close(host);
            return -EACCES;
        }
        int64_t descriptor =
            host >= 0 ? files_add(&process->user->files, host, 0, S_ISDIR(st.st_mode)) : -ENOENT;
        if (descriptor >= 0)
            process->user->files.close_on_exec[descriptor] = (a[2] & GUEST_CLOEXEC) != 0;
        if (host >= 0)
            return descriptor;
        if (is_foreign(process, path))
            return host;
    }
    uint64_t arguments[6] = {a[0], a[1], a[2], a[3] & ~(uint64_t)process->umask};
    return call_openat(process->user, arguments);
}

static int64_t check_access(struct process *process, const uint64_t a[6])
{
    char path[PATH_MAX];
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    int host = a[2] & ~UINT64_C(7) ? -ENOENT : open_special(process, path, O_PATH);
    if (host < 0)
        return is_foreign(process, path) ? host : call_faccessat(process->user, a);
    struct stat st;
    bool runs = fstat(host, &st) == 0 && (st.st_mode & 0111);
    (void)close(host);
    return a[2] & W_OK ? -EROFS : (a[2] & X_OK) && !runs ? -EACCES : 0;
}

int64_t linux_faccessat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return check_access(process, a);
}

int64_t linux_faccessat2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[3] & ~(uint64_t)(FOLLOW_NOT | EMPTY_PATH | EFFECTIVE))
        return -EINVAL;
    return check_access(process, a);
}

int64_t linux_fstatat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    (void)thread;
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    if (path[0] == '\0' && (a[3] & EMPTY_PATH) && files_get(&process->user->files, a[0])) {
        const uint64_t arguments[6] = {a[0], a[2]};
        return call_fstat(process->user, arguments);
    }
    int host = open_special(process, path, O_PATH | (a[3] & FOLLOW_NOT ? O_NOFOLLOW : 0));
    if (host < 0)
        return is_foreign(process, path) ? host : call_fstatat(process->user, a);
    failed = call_put_stat(process->user, a[2], host);
    (void)close(host);
    return failed;
}

int64_t linux_readlinkat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX], link[PATH_MAX];
    (void)thread;
    int64_t failed = guest_string(process->user, a[1], path, sizeof path);
    if (failed)
        return failed;
    if ((int64_t)a[3] <= 0)
        return -EINVAL;
    if (strcmp(path, "/proc/self/exe") == 0) {
        (void)snprintf(link, sizeof link, "%s", process->executable);
    } else {
        int host = open_sysroot(process, path, O_PATH | O_NOFOLLOW);
        ssize_t length = host < 0 ? -1 : readlinkat(host, "", link, sizeof link - 1);
        if (host >= 0)
            (void)close(host);
        if (length < 0)
            return host >= 0 ? -EINVAL : is_foreign(process, path) ? host : call_readlinkat(process->user, a);
        link[length] = '\0';
    }
    const uint64_t length = strlen(link) < a[3] ? strlen(link) : a[3];
    failed = guest_put(process->user, a[2], link, length);
    return failed ? failed : (int64_t)length;
}

int64_t linux_dup3(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[2] & ~(uint64_t)GUEST_CLOEXEC)
        return -EINVAL;
    int64_t to = call_dup3(process->user, a);
    if (to >= 0)
        process->user->files.close_on_exec[to] = a[2] != 0;
    return to;
}

int64_t linux_close(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    bool inner = descriptor_is_inner(files_get(&process->user->files, a[0]));
    int64_t result = call_close(process->user, a);
    if (inner)
        threads_repeat(process);
    return result;
}

int64_t linux_fcntl(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SETFL = 4, GETLK = 5, SETLK = 6, SETLKW = 7, UNLOCKED = 2 };
    struct file *file = files_get(&process->user->files, a[0]);
    const int16_t unlocked = UNLOCKED;
    (void)thread;
    if (file && a[1] == SETFL && descriptor_is_inner(file)) {
        file->flags = (file->flags & O_ACCMODE) | (int)(a[2] & (GUEST_NONBLOCK | GUEST_APPEND));
        return 0;
    }
    if (file && (a[1] == SETLK || a[1] == SETLKW)) /* nobody else could hold a lock */
        return guest_readable(process->user, a[2], 32) ? 0 : -EFAULT;
    if (file && a[1] == GETLK)
        return guest_put(process->user, a[2], &unlocked, sizeof unlocked);
    return call_fcntl(process->user, a);
}
