/* Calls on files: paths in the sysroot and in /proc, and descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/calls/paths/shared_name.h"
#include "emu/env/linux/calls/paths/special.h"
#include "emu/env/linux/served.h"

enum { GUEST_CREATES = 01300 };
enum { FOLLOW_NOT = 0x100, EMPTY_PATH = 0x1000, EFFECTIVE = 0x200 };

/* Makes a guest descriptor for a file that only Linux programs see. */
static int64_t add_special(struct process *process, int host, uint64_t flags)
{
    struct stat st;
    const int mode = (int)(flags & (O_ACCMODE | GUEST_APPEND));
    if (fstat(host, &st) != 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISCHR(st.st_mode))) {
        (void)close(host);
        return -EACCES;
    }
    int64_t descriptor = files_add(&process->user->files, host, mode, S_ISDIR(st.st_mode));
    if (descriptor >= 0)
        process->user->files.close_on_exec[descriptor] = (flags & GUEST_CLOEXEC) != 0;
    return descriptor;
}

/* Warns once of a file that cannot be made because it does not lie beneath --dir. */
static int64_t refuse_to_write(struct process *process, const char *path)
{
    static const char processes[] = "/proc/";
    if (strncmp(path, processes, sizeof processes - 1) == 0)
        return -EACCES;
    if (!process->warned_of_writing)
        guest_warn(process->user,
                   "path '%s' is refused to write with EROFS: only files beneath --dir can be written (for "
                   "temporary ones, --setenv TMPDIR=%s)",
                   path, process->user->sandbox.path);
    process->warned_of_writing = true;
    return -EROFS;
}

int64_t linux_openat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    (void)thread;
    int64_t failed = path_text(process, a[0], a[1], path);
    if (failed)
        return failed;
    const int mode = (int)(a[2] & O_ACCMODE);
    int64_t same = special_descriptor(process, path, mode);
    if (same >= 0) {
        same = files_duplicate(&process->user->files, (uint64_t)same, 0);
        if (same >= 0)
            process->user->files.close_on_exec[same] = (a[2] & GUEST_CLOEXEC) != 0;
        return same;
    }
    if (same != -ENOENT)
        return same == -EBADF ? -ENOENT : same;
    bool reads = mode == O_RDONLY && !(a[2] & GUEST_CREATES);
    const struct thread *named = mode == O_RDONLY ? NULL : proc_named(process, path);
    if (named) {
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        return null < 0 ? -errno : descriptor_add_own(process, null, a[2], FILE_NAME, (uint64_t)named->id);
    }
    const char *shared = path_shared(process, path);
    if (path_is_shared_folder(process, path))
        return reads ? shared_open_folder(process, a[2] & GUEST_CLOEXEC) : -EISDIR;
    int host = shared ? shared_open(process, shared, a[2], a[3]) : device_open(process, path, mode);
    if (shared && host < 0)
        return host;
    if (host == -ENOENT && reads)
        host = special_open(process, path, O_RDONLY | (a[2] & 0200000 ? O_DIRECTORY : 0) | O_NONBLOCK);
    if (host >= 0)
        return add_special(process, host, a[2]);
    if (host != -ENOENT)
        return host;
    if (path_is_foreign(process, path))
        return reads ? host : refuse_to_write(process, path);
    uint64_t arguments[6] = {a[0], a[1], a[2], a[3] & ~(uint64_t)process->umask};
    return call_openat(process->user, arguments);
}

static int64_t check_access(struct process *process, const uint64_t a[6])
{
    char path[PATH_MAX];
    int64_t failed = path_text(process, a[0], a[1], path);
    if (failed)
        return failed;
    if (a[2] & ~(uint64_t)(R_OK | W_OK | X_OK))
        return -EINVAL;
    struct stat st;
    if (path_shared(process, path)) { /* as the owner */
        const int shared = shared_find(process, path_shared(process, path));
        return shared < 0                                                            ? shared
               : fstat(shared, &st) == 0 && (~(uint64_t)st.st_mode & a[2] << 6) == 0 ? 0
                                                                                     : -EACCES;
    }
    if (path_is_shared_folder(process, path))
        return 0;
    int host = device_open(process, path, O_RDONLY);
    if (host >= 0) {
        (void)close(host);
        return a[2] & X_OK ? -EACCES : 0;
    }
    host = special_open(process, path, O_PATH);
    if (host < 0)
        return path_is_foreign(process, path) ? host : call_faccessat(process->user, a);
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

/* Writes what links call an open file. Returns false on failure. */
static bool file_link(const struct process *process, const struct file *file, char link[PATH_MAX])
{
    static const char *const anonymous[] = {
        [FILE_TIMER] = "timerfd", [FILE_SIGNALS] = "signalfd", [FILE_EPOLL] = "eventpoll"};
    const bool is_socket = file->kind == FILE_SOCKET || file->kind == FILE_PAIR;
    if (file->kind == FILE_NAME)
        (void)snprintf(link, PATH_MAX, "/proc/1/task/%" PRIu64 "/comm", file->own);
    else if (file->kind == FILE_SHARED)
        (void)snprintf(link, PATH_MAX, "/dev/shm");
    else if (file->standard)
        (void)snprintf(link, PATH_MAX, "pipe:[%d]", file->host);
    else if (is_socket || file->number)
        (void)snprintf(link, PATH_MAX, "%s:[%" PRIu64 "]", is_socket ? "socket" : "pipe", file->number);
    else if (descriptor_is_inner(file))
        (void)snprintf(link, PATH_MAX, "anon_inode:[%s]", file->kind ? anonymous[file->kind] : "eventfd");
    else
        return own_file_link(process, file->host, link);
    return true;
}

/* Writes the name of what an open descriptor, or the working folder, is, as a link of /proc/self leads there. Returns false if the path is
 * no such link. */
static bool descriptor_link(struct process *process, const char *path, char link[PATH_MAX])
{
    static const char folder[] = "/proc/self/fd/";
    const struct user *user = process->user;
    if (strcmp(path, "/proc/self/cwd") == 0)
        return own_file_link(
            process, user->files.working_folder < 0 ? user->sandbox.root : user->files.working_folder, link);
    if (strncmp(path, folder, sizeof folder - 1) != 0)
        return false;
    const struct file *file = files_get(&user->files, descriptor_named(path + sizeof folder - 1));
    return file && file_link(process, file, link);
}

int64_t linux_readlinkat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX], link[PATH_MAX];
    int64_t failed = path_text(process, a[0], a[1], path);
    if (failed)
        return failed;
    if ((int64_t)a[3] <= 0)
        return -EINVAL;
    if (special_descriptor(process, path, O_RDONLY) == -EBADF)
        return -ENOENT;
    const int shared =
        path_shared(process, path) ? shared_find(process, path_shared(process, path)) : -ENOENT;
    if (path_shared(process, path))
        return shared < 0 ? shared : -EINVAL;
    if (!proc_link(process, thread, path, link) && !descriptor_link(process, path, link)) {
        int host = sysroot_open(process, path, O_PATH | O_NOFOLLOW);
        ssize_t length = host < 0 ? -1 : readlinkat(host, "", link, sizeof link - 1);
        if (host >= 0)
            (void)close(host);
        if (length < 0)
            return host >= 0 || path_leads_on(process, path) ? -EINVAL
                   : path_is_foreign(process, path)          ? host
                                                             : call_readlinkat(process->user, a);
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

/* Checks a lock that is asked for: its kind, and from where it is measured. */
static int64_t check_lock(struct process *process, uint64_t address)
{
    enum { SIZE = 32, LAST_KIND = 2, LAST_WHENCE = 2 };
    int16_t kind_and_whence[2];
    const void *from = guest_readable(process->user, address, SIZE);
    if (!from)
        return -EFAULT;
    memcpy(kind_and_whence, from, sizeof kind_and_whence);
    return (uint16_t)kind_and_whence[0] > LAST_KIND || (uint16_t)kind_and_whence[1] > LAST_WHENCE ? -EINVAL
                                                                                                  : 0;
}

int64_t linux_fcntl(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SETFL = 4, GETLK = 5, SETLK = 6, SETLKW = 7, OFD_GETLK = 36, OFD_SETLK = 37, OFD_SETLKW = 38 };
    enum { SETOWN = 8, GETOWN = 9, SETSIG = 10, GETSIG = 11, GETLEASE = 1025, UNLOCKED = 2, SIGNALS = 65 };
    enum { SET_PIPE = 1031, GET_PIPE = 1032, ADD_SEALS = 1033, GET_SEALS = 1034 };
    struct file *file = files_get(&process->user->files, a[0]);
    const int16_t unlocked = UNLOCKED;
    (void)thread;
    if (file && a[1] >= SET_PIPE && a[1] <= GET_SEALS) {
        const int result = file->standard ? -1 : fcntl(file->host, (int)a[1], (int)a[2]);
        return result < 0 ? (file->standard ? -EBADF : -errno) : result;
    }
    if (file && a[1] == SETFL && (file->standard || descriptor_is_inner(file))) {
        file->flags = (file->flags & O_ACCMODE) | (int)(a[2] & (GUEST_NONBLOCK | GUEST_APPEND));
        return 0;
    }
    if (!file)
        return -EBADF;
    switch (a[1]) {
    case SETLK: /* nobody else could hold a lock */
    case SETLKW:
    case OFD_SETLK:
    case OFD_SETLKW: return check_lock(process, a[2]);
    case GETLK:
    case OFD_GETLK: return guest_put(process->user, a[2], &unlocked, sizeof unlocked);
    case GETOWN: /* no file sends signals */
    case SETOWN:
    case GETSIG: return 0;
    case SETSIG: return a[2] < SIGNALS ? 0 : -EINVAL;
    case GETLEASE: return UNLOCKED;
    default: break;
    }
    return call_fcntl(process->user, a);
}

int64_t linux_ioctl(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { NONBLOCK = 0x5421, CLOEXEC = 0x5451, NO_CLOEXEC = 0x5450, READABLE = 0x541b };
    struct file *file = files_get(&process->user->files, a[0]);
    int32_t value = 0;
    (void)thread;
    if (!file)
        return -EBADF;
    switch (a[1]) {
    case CLOEXEC:
    case NO_CLOEXEC: process->user->files.close_on_exec[a[0]] = a[1] == CLOEXEC; return 0;
    case NONBLOCK: {
        const void *from = guest_readable(process->user, a[2], sizeof value);
        if (!from)
            return -EFAULT;
        memcpy(&value, from, sizeof value);
        file->flags = (file->flags & ~GUEST_NONBLOCK) | (value ? GUEST_NONBLOCK : 0);
        return 0;
    }
    case READABLE:
        if (ioctl(file->host, FIONREAD, &value) != 0)
            return -errno;
        return guest_put(process->user, a[2], &value, sizeof value);
    default: return -ENOTTY;
    }
}

int64_t linux_close_range(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { UNSHARE = 2, CLOEXEC = 4 };
    const uint64_t first = (uint32_t)a[0], last = (uint32_t)a[1];
    if ((a[2] & ~(uint64_t)(UNSHARE | CLOEXEC)) || first > last)
        return -EINVAL;
    for (uint64_t fd = first; fd <= last && fd < FILES_MAX; fd++) {
        const uint64_t arguments[6] = {fd};
        if (!files_get(&process->user->files, fd))
            continue;
        if (a[2] & CLOEXEC)
            process->user->files.close_on_exec[fd] = true;
        else
            (void)linux_close(process, thread, arguments);
    }
    return 0;
}

/* Locks of whole files: nobody else could hold one. */
int64_t linux_flock(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SHARED = 1, EXCLUSIVE = 2, NONBLOCK = 4, UNLOCK = 8 };
    const uint64_t operation = a[1] & ~(uint64_t)NONBLOCK;
    (void)thread;
    if (operation != SHARED && operation != EXCLUSIVE && operation != UNLOCK)
        return -EINVAL;
    return files_get(&process->user->files, a[0]) ? 0 : -EBADF;
}

int64_t linux_syncfs(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return files_get(&process->user->files, a[0]) ? 0 : -EBADF;
}

int64_t linux_fadvise64(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { LAST = 5 };
    const struct file *file = files_get(&process->user->files, a[0]);
    struct stat st;
    (void)thread;
    if (!file || fstat(file->host, &st) != 0)
        return -EBADF;
    if (S_ISFIFO(st.st_mode))
        return -ESPIPE;
    return a[3] > LAST || (int64_t)a[2] < 0 ? -EINVAL : 0;
}

int64_t linux_readahead(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct file *file = files_get(&process->user->files, a[0]);
    struct stat st;
    (void)thread;
    if (!file || (file->flags & O_ACCMODE) == O_WRONLY || fstat(file->host, &st) != 0)
        return -EBADF;
    return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/* The host's file system does it: bytes that are cleared then take no room there either. */
int64_t linux_fallocate(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { KEEP_SIZE = 1, PUNCH_HOLE = 2, ZERO_RANGE = 16 };
    const struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    if (!file)
        return -EBADF;
    if (a[1] & ~(uint64_t)(KEEP_SIZE | PUNCH_HOLE | ZERO_RANGE))
        return -EOPNOTSUPP;
    descriptor_agree(process, file->host, true);
    const int64_t failed = fallocate(file->host, (int)a[1], (off_t)a[2], (off_t)a[3]) != 0 ? -errno : 0;
    descriptor_agree(process, file->host, false);
    return failed;
}

/* Files have no holes but behind their ends, so that what programs find does not depend on the host's file system. */
int64_t linux_lseek(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { DATA = 3, HOLE = 4 };
    const struct file *file = files_get(&process->user->files, a[0]);
    struct stat st;
    (void)thread;
    if (!file || file->folder || (a[2] != DATA && a[2] != HOLE) || fstat(file->host, &st) != 0)
        return call_lseek(process->user, a);
    if (S_ISREG(st.st_mode) && a[1] >= (uint64_t)st.st_size)
        return -ENXIO;
    const off_t at = !S_ISREG(st.st_mode) ? lseek(file->host, (off_t)a[1], (int)a[2])
                     : a[2] == DATA       ? lseek(file->host, (off_t)a[1], SEEK_SET)
                                          : lseek(file->host, 0, SEEK_END);
    return at < 0 ? -errno : at;
}

int64_t linux_sync_file_range(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { KNOWN = 7 };
    const struct file *file = files_get(&process->user->files, a[0]);
    struct stat st;
    (void)thread;
    if (!file || fstat(file->host, &st) != 0)
        return -EBADF;
    if ((a[3] & ~(uint64_t)KNOWN) || (int64_t)a[1] < 0 || (int64_t)(a[1] + a[2]) < (int64_t)a[1])
        return -EINVAL;
    return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode) ? 0 : -ESPIPE;
}

int64_t linux_memfd_create(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { CLOEXEC = 1, SEALS = 2, LONGEST = 249 };
    static const char prefix[] = "memfd:";
    char name[sizeof prefix + LONGEST];
    (void)thread;
    memcpy(name, prefix, sizeof prefix - 1);
    int64_t failed = guest_string(process->user, a[0], name + sizeof prefix - 1, LONGEST + 1);
    if (failed)
        return failed == -ENAMETOOLONG ? -EINVAL : failed;
    if (a[1] & ~(uint64_t)(CLOEXEC | SEALS))
        return -EINVAL;
    const int host = own_file_make(process, name, a[1] & SEALS ? MFD_ALLOW_SEALING : 0);
    return host < 0 ? host : descriptor_add(process, host, O_RDWR, a[1] & CLOEXEC ? GUEST_CLOEXEC : 0);
}
