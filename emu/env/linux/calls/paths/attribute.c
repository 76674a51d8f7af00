/* Calls on what folders know of files: their attributes, links, lengths. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/calls/paths/shared_name.h"
#include "emu/env/linux/calls/paths/special.h"
#include "emu/env/linux/time.h"
#include "emu/env/loader/stack.h"

enum { FOLLOW_NOT = 0x100, EMPTY_PATH = 0x1000, AT_CWD = -100 };

static void release(int64_t host, bool owned)
{
    if (owned && host >= 0)
        (void)close((int)host);
}

/* As fstat() of a host descriptor; pipes and sockets have the numbers that the environment counts. */
static int64_t look_at(struct process *process, int host, struct stat *st)
{
    const int64_t failed = own_file_stat(process, host, st);
    if (failed || (!S_ISFIFO(st->st_mode) && !S_ISSOCK(st->st_mode)))
        return failed;
    for (uint64_t i = 0; i < FILES_MAX; i++) {
        const struct file *file = files_get(&process->user->files, i);
        if (file && file->host == host)
            st->st_ino = file->number;
    }
    return 0;
}

static int64_t put_stat(struct process *process, uint64_t address, int host)
{
    struct stat st;
    const int64_t failed = look_at(process, host, &st);
    return failed ? failed : call_store_stat(process->user, address, &st);
}

int64_t linux_fstat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    return file ? put_stat(process, a[1], file->host) : -EBADF;
}

int64_t linux_fstatat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { NO_AUTOMOUNT = 0x800 };
    bool owned;
    (void)thread;
    if (a[3] & ~(uint64_t)(FOLLOW_NOT | EMPTY_PATH | NO_AUTOMOUNT))
        return -EINVAL;
    int64_t host = path_at(process, a[0], a[1], a[3], false, &owned);
    int64_t result = host < 0 ? host : put_stat(process, a[2], (int)host);
    release(host, owned);
    return result;
}

/* The kernel's struct statx. */
struct guest_statx {
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, user, group;
    uint16_t mode, pad;
    uint64_t inode, size, blocks, attributes_mask;
    struct {
        int64_t seconds;
        uint32_t ns, pad;
    } times[4]; /* access, birth, change, modification */
    uint32_t device_major, device_minor, major, minor;
    uint64_t more[14];
};

_Static_assert(sizeof(struct guest_statx) == 256, "as the kernel's");

/* As fstat(): what would differ from run to run is 0. */
static int64_t put_statx(struct process *process, uint64_t address, int host)
{
    enum { BASIC = 0x7ff, BLOCK = 4096, BIRTH = 1 };
    struct stat st;
    const int64_t failed = look_at(process, host, &st);
    if (failed)
        return failed;
    struct guest_statx to = {.mask = BASIC,
                             .block_size = BLOCK,
                             .links = (uint32_t)st.st_nlink,
                             .user = GUEST_USER_ID,
                             .group = GUEST_USER_ID,
                             .mode = (uint16_t)st.st_mode,
                             .minor = (uint32_t)st.st_dev,
                             .inode = st.st_ino,
                             .size = (uint64_t)st.st_size,
                             .blocks = ((uint64_t)st.st_size + 511) / 512};
    for (int i = 0; i < 4; i++)
        if (i != BIRTH)
            to.times[i].seconds = st.st_mtim.tv_sec, to.times[i].ns = (uint32_t)st.st_mtim.tv_nsec;
    return guest_put(process->user, address, &to, sizeof to);
}

/* a[]: folder, path, flags, mask, where to. */
int64_t linux_statx(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { NO_AUTOMOUNT = 0x800, SYNC = 0x6000 };
    const uint64_t known = FOLLOW_NOT | EMPTY_PATH | NO_AUTOMOUNT | SYNC;
    bool owned;
    (void)thread;
    if ((a[2] & ~known) || (a[2] & SYNC) == SYNC || (a[3] & 0x80000000))
        return -EINVAL;
    int64_t host = path_at(process, a[0], a[1], a[2], false, &owned);
    int64_t result = host < 0 ? host : put_statx(process, a[4], (int)host);
    release(host, owned);
    return result;
}

/* The kernel's struct statfs: always the same, because the host's free blocks would differ from run to run. */
static int64_t put_statfs(struct process *process, uint64_t address)
{
    enum { EXT4 = 0xef53, BLOCK = 4096 };
    const uint64_t words[15] = {EXT4, BLOCK, 1 << 24, 1 << 23, 1 << 23, 1 << 22, 1 << 21, 0, NAME_MAX, BLOCK};
    return guest_put(process->user, address, words, sizeof words);
}

int64_t linux_statfs(struct process *process, struct thread *thread, const uint64_t a[6])
{
    bool owned;
    (void)thread;
    int64_t host = path_at(process, (uint64_t)AT_CWD, a[0], 0, false, &owned);
    release(host, owned);
    return host < 0 ? host : put_statfs(process, a[1]);
}

int64_t linux_fstatfs(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return files_get(&process->user->files, a[0]) ? put_statfs(process, a[1]) : -EBADF;
}

/* Changes the permissions of an open file, which may have been opened with O_PATH. Bits that give a program another user are left
 * out. */
static int64_t change_mode(int host, uint64_t mode)
{
    char name[64];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", host);
    return chmod(name, (mode_t)(mode & 01777)) != 0 ? -errno : 0;
}

int64_t linux_fchmod(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    if (!file)
        return -EBADF;
    int64_t refused = file->standard ? -EPERM : special_changes(process, file->host);
    return refused ? refused : change_mode(file->host, a[1]);
}

static int64_t change_mode_at(struct process *process, const uint64_t a[6], uint64_t flags)
{
    bool owned;
    struct stat st;
    if (flags & ~(uint64_t)(FOLLOW_NOT | EMPTY_PATH))
        return -EINVAL;
    int64_t host = path_at(process, a[0], a[1], flags, true, &owned);
    int64_t result = host;
    if (host >= 0)
        result = fstat((int)host, &st) != 0 ? -errno
                 : S_ISLNK(st.st_mode)      ? -EOPNOTSUPP
                                            : change_mode((int)host, a[2]);
    release(host, owned);
    return result;
}

int64_t linux_fchmodat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return change_mode_at(process, a, 0);
}

int64_t linux_fchmodat2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return change_mode_at(process, a, a[3]);
}

/* There is one user: files can be given to nobody else. */
static int64_t check_owner(uint64_t user, uint64_t group)
{
    const uint32_t same = UINT32_MAX;
    bool own = ((uint32_t)user == same || (uint32_t)user == GUEST_USER_ID) &&
               ((uint32_t)group == same || (uint32_t)group == GUEST_USER_ID);
    return own ? 0 : -EPERM;
}

int64_t linux_fchown(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return files_get(&process->user->files, a[0]) ? check_owner(a[1], a[2]) : -EBADF;
}

int64_t linux_fchownat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    bool owned;
    (void)thread;
    if (a[4] & ~(uint64_t)(FOLLOW_NOT | EMPTY_PATH))
        return -EINVAL;
    int64_t host = path_at(process, a[0], a[1], a[4], true, &owned);
    release(host, owned);
    return host < 0 ? host : check_owner(a[2], a[3]);
}

/* Reads two times; the present is that of the program's clock. Returns 0 or -errno. */
static int64_t get_times(struct process *process, uint64_t address, struct timespec to[2])
{
    enum { NOW = 0x3fffffff, OMIT = 0x3ffffffe };
    const uint64_t now = linux_now(process) + TIME_EPOCH;
    struct guest_time times[2] = {{0, NOW}, {0, NOW}};
    const void *from = address ? guest_readable(process->user, address, sizeof times) : times;
    if (!from)
        return -EFAULT;
    memmove(times, from, sizeof times);
    for (int i = 0; i < 2; i++) {
        if (times[i].fraction != NOW && times[i].fraction != OMIT &&
            (times[i].fraction < 0 || times[i].fraction >= SECOND))
            return -EINVAL;
        to[i] =
            (struct timespec){times[i].seconds, times[i].fraction == OMIT ? UTIME_OMIT : times[i].fraction};
        if (times[i].fraction == NOW)
            to[i] = (struct timespec){(time_t)(now / SECOND), (long)(now % SECOND)};
    }
    return 0;
}

/* a[]: folder, path or 0 for the descriptor itself, times or 0, flags. */
int64_t linux_utimensat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct timespec times[2];
    bool owned = false;
    (void)thread;
    if (a[3] & ~(uint64_t)(FOLLOW_NOT | EMPTY_PATH))
        return -EINVAL;
    int64_t failed = get_times(process, a[2], times);
    if (failed)
        return failed;
    const struct file *file = a[1] ? NULL : files_get(&process->user->files, a[0]);
    if (!a[1] && !file)
        return -EBADF;
    int64_t host =
        file ? special_changes(process, file->host) : path_at(process, a[0], a[1], a[3], true, &owned);
    if (file && host == 0)
        host = file->host;
    int64_t result = host;
    if (host >= 0)
        result = own_file_set_times((int)host, times);
    release(host, owned);
    return result;
}

int64_t linux_truncate(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    bool owned;
    struct stat st;
    (void)thread;
    if ((int64_t)a[1] < 0)
        return -EINVAL;
    int64_t host = path_at(process, (uint64_t)AT_CWD, a[0], 0, true, &owned);
    int64_t failed = host < 0                     ? host
                     : fstat((int)host, &st) != 0 ? -errno
                     : S_ISDIR(st.st_mode)        ? -EISDIR
                     : !S_ISREG(st.st_mode)       ? -EINVAL
                                                  : 0;
    release(host, owned);
    if (!failed)
        failed = path_text(process, (uint64_t)AT_CWD, a[0], path);
    if (failed)
        return failed;
    const char *shared = path_shared(process, path);
    host = shared ? shared_open(process, shared, O_WRONLY, 0)
                  : path_open(process->user, (uint64_t)AT_CWD, a[0], O_WRONLY | O_NONBLOCK);
    if (host < 0)
        return host;
    int64_t result = fstat((int)host, &st) != 0 || !S_ISREG(st.st_mode)
                         ? -EINVAL
                         : descriptor_truncate(process, (int)host, a[1]);
    (void)close((int)host);
    return result;
}

/* Links may have any text: who follows one stays beneath --dir. a[]: text, folder, path. */
int64_t linux_symlinkat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char text[PATH_MAX], path[PATH_MAX], last[NAME_MAX + 1];
    (void)thread;
    int64_t failed = guest_string(process->user, a[0], text, sizeof text);
    if (!failed)
        failed = path_text(process, a[1], a[2], path);
    if (failed)
        return failed;
    if (text[0] == '\0')
        return -ENOENT;
    if (path_shared(process, path))
        return shared_refuse(process, path_shared(process, path));
    if (path_is_foreign(process, path))
        return -EROFS;
    int64_t parent = path_open_parent(process->user, a[1], a[2], last);
    if (parent < 0)
        return parent == -EBUSY || parent == -EINVAL ? -EEXIST : parent;
    int64_t result = symlinkat(text, (int)parent, last) != 0 ? -errno : 0;
    (void)close((int)parent);
    return result;
}

/* Calls that change a folder, of paths that only the sysroot could have: that is to be read. `paths`: indices of the folders'
 * arguments, each before its path's. */
static int64_t change_folder(struct process *process, const uint64_t a[6], unsigned paths,
                             int64_t (*call)(struct user *user, const uint64_t a[6]))
{
    char path[PATH_MAX];
    for (unsigned i = 0; i < paths; i++) {
        int64_t failed = path_text(process, a[2 * i], a[2 * i + 1], path);
        if (failed || path_is_foreign(process, path))
            return failed ? failed : -EROFS;
    }
    return call(process->user, a);
}

int64_t linux_mkdirat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    const uint64_t arguments[6] = {a[0], a[1], a[2] & ~(uint64_t)process->umask};
    (void)thread;
    const int64_t failed = path_text(process, a[0], a[1], path);
    if (failed)
        return failed;
    if (path_shared(process, path))
        return shared_refuse(process, path_shared(process, path));
    return path_is_shared_folder(process, path) ? -EEXIST
                                                : change_folder(process, arguments, 1, call_mkdirat);
}

int64_t linux_unlinkat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    (void)thread;
    if (!path_text(process, a[0], a[1], path) && path_shared(process, path))
        return shared_remove(process, path_shared(process, path), a[2] != 0);
    return change_folder(process, a, 1, call_unlinkat);
}

/* Serves link and rename if one of the paths leads to /dev/shm. Returns whether it does. */
static bool link_shared(struct process *process, const uint64_t a[6], bool moves, bool replaces,
                        int64_t *result)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (path_text(process, a[0], a[1], from) || path_text(process, a[2], a[3], to) ||
        (!path_shared(process, from) && !path_shared(process, to)))
        return false;
    *result = shared_link(process, path_shared(process, from), path_shared(process, to), moves, replaces);
    return true;
}

int64_t linux_linkat(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int64_t result;
    (void)thread;
    if (link_shared(process, a, false, false, &result))
        return result;
    return change_folder(process, a, 2, call_linkat);
}

int64_t linux_renameat2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { NO_REPLACE = 1, FLAGS = 3 };
    int64_t result;
    (void)thread;
    if (!(a[4] & ~(uint64_t)NO_REPLACE & FLAGS) &&
        link_shared(process, a, true, !(a[4] & NO_REPLACE), &result))
        return result;
    return change_folder(process, a, 2, call_renameat2);
}

/* a[]: folder, path, struct open_how (flags, mode, how paths are resolved), its size. */
int64_t linux_openat2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SIZE = 24, PAGE = 4096, NO_MAGIC_LINKS = 2, CREATES = 0100, TEMPORARY = 020000000 };
    const uint64_t known = 03 | 0100 | 0200 | 0400 | 01000 | 02000 | 04000 | 010000 | 040000 | 0100000 |
                           0200000 | 0400000 | 01000000 | 02000000 | 04010000 | 010000000 | 020200000;
    uint64_t how[3];
    if (a[3] < SIZE || a[3] > PAGE)
        return a[3] < SIZE ? -EINVAL : -E2BIG;
    const uint8_t *from = guest_readable(process->user, a[2], a[3]);
    if (!from)
        return -EFAULT;
    for (uint64_t i = SIZE; i < a[3]; i++)
        if (from[i])
            return -E2BIG;
    memcpy(how, from, sizeof how);
    if ((how[0] & ~known) || (how[1] & ~UINT64_C(07777)) || (how[1] && !(how[0] & (CREATES | TEMPORARY))) ||
        (how[2] & ~(uint64_t)NO_MAGIC_LINKS))
        return -EINVAL;
    const uint64_t arguments[6] = {a[0], a[1], how[0], how[1]};
    return linux_openat(process, thread, arguments);
}
