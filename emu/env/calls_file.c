/* System calls on descriptors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emu/env/calls.h"
#include "emu/env/stack.h"

enum {
    VECTORS_MAX = 1024,  /* IOV_MAX of Linux */
    STAT_BLOCK = 4096,   /* st_blksize of every file; C libraries use it as buffer size */
    SIGNAL_IGNORED = 1,  /* the kernel's SIG_IGN */
    GUEST_APPEND = 02000 /* O_APPEND */
};

/* Returns whether a host call that has just failed must be repeated: a signal interrupted it that does not
 * end the run, or the host's stream is in non-blocking mode (set by another process) and has become ready. */
static bool try_again(const struct user *user, int host, short events)
{
    if (errno == EINTR)
        return guest_interrupted(user) == 0;
    if (errno != EAGAIN)
        return false;
    struct pollfd wait = {.fd = host, .events = events};
    return poll(&wait, 1, -1) >= 0 || (errno == EINTR && guest_interrupted(user) == 0);
}

/* Parameters of a transfer between the guest's memory and a file. */
struct transfer {
    bool writes;                 /* true: to the file */
    const struct iovec *vectors; /* NULL: use bytes[length] */
    int count;                   /* number of vectors */
    void *bytes;
    size_t length;
    bool positioned; /* true: at `offset`; false: at the file's own position */
    off_t offset;
};

static ssize_t transfer_once(int host, const struct transfer *t)
{
    if (t->vectors)
        return t->writes ? writev(host, t->vectors, t->count) : readv(host, t->vectors, t->count);
    if (t->positioned)
        return t->writes ? pwrite(host, t->bytes, t->length, t->offset)
                         : pread(host, t->bytes, t->length, t->offset);
    return t->writes ? write(host, t->bytes, t->length) : read(host, t->bytes, t->length);
}

/* Returns the call's result. EPIPE ends the program as SIGPIPE would. */
static int64_t transfer(struct user *user, int host, const struct transfer *t)
{
    ssize_t result;
    do
        result = transfer_once(host, t);
    while (result < 0 && try_again(user, host, t->writes ? POLLOUT : POLLIN));
    if (result >= 0)
        return result;
    int failed = errno;
    if (t->writes && failed == EPIPE && user->signals[SIGPIPE].handler != SIGNAL_IGNORED)
        guest_end(user, 128 + SIGPIPE);
    return -failed;
}

int64_t call_dup(struct user *user, const uint64_t a[6])
{
    return files_duplicate(&user->files, a[0], 0);
}

int64_t call_dup3(struct user *user, const uint64_t a[6])
{
    return files_duplicate_to(&user->files, a[0], a[1]);
}

int64_t call_close(struct user *user, const uint64_t a[6])
{
    return files_close(&user->files, a[0]);
}

static int64_t set_status_flags(struct file *file, uint64_t flags)
{
    if (file->standard)
        return 0;
    int host = flags & GUEST_APPEND ? O_APPEND : 0;
    if (fcntl(file->host, F_SETFL, host) != 0)
        return -errno;
    file->flags = (file->flags & ~GUEST_APPEND) | (int)(flags & GUEST_APPEND);
    return 0;
}

int64_t call_fcntl(struct user *user, const uint64_t a[6])
{
    enum { DUPFD = 0, GETFD = 1, SETFD = 2, GETFL = 3, SETFL = 4, DUPFD_CLOEXEC = 1030 };
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    switch (a[1]) {
    case DUPFD: return files_duplicate(&user->files, a[0], a[2]);
    case DUPFD_CLOEXEC: {
        int64_t copy = files_duplicate(&user->files, a[0], a[2]);
        if (copy >= 0)
            user->files.close_on_exec[copy] = true;
        return copy;
    }
    case GETFD: return user->files.close_on_exec[a[0]];
    case SETFD: user->files.close_on_exec[a[0]] = a[2] & 1; return 0;
    case GETFL: return file->flags;
    case SETFL: return set_status_flags(file, a[2]);
    default: return -EINVAL;
    }
}

/* The guest sees no descriptor as a terminal. */
int64_t call_ioctl(struct user *user, const uint64_t a[6])
{
    return files_get(&user->files, a[0]) ? -ENOTTY : -EBADF;
}

static uint8_t entry_type(mode_t mode)
{
    return (uint8_t)((mode & S_IFMT) >> 12); /* the DT_ constants are the S_IF constants shifted */
}

int64_t call_getdents64(struct user *user, const uint64_t a[6])
{
    enum { NAME_OFFSET = 19 };
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    if (!file->folder)
        return -ENOTDIR;
    uint64_t room = a[2] & UINT32_MAX, used = 0;
    uint8_t *buffer = guest_writable(user, a[1], room);
    if (!buffer)
        return -EFAULT;
    int64_t failed = files_list(file);
    if (failed)
        return failed;
    for (; file->position < file->listing.count; file->position++) {
        const char *name = file->listing.names[file->position];
        struct stat st;
        if (fstatat(file->host, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        uint64_t inode = st.st_ino, next = file->position + 1;
        uint16_t length = (uint16_t)((NAME_OFFSET + strlen(name) + 1 + 7) / 8 * 8);
        if (length > room - used)
            return used > 0 ? (int64_t)used : -EINVAL;
        memset(buffer + used, 0, length);
        memcpy(buffer + used, &inode, 8);
        memcpy(buffer + used + 8, &next, 8);
        memcpy(buffer + used + 16, &length, 2);
        buffer[used + 18] = entry_type(st.st_mode);
        memcpy(buffer + used + NAME_OFFSET, name, strlen(name));
        used += length;
    }
    return (int64_t)used;
}

static int64_t seek_folder(struct file *file, int64_t offset, uint64_t whence)
{
    if (whence == SEEK_CUR)
        offset += (int64_t)file->position;
    if (whence > SEEK_CUR || offset < 0)
        return -EINVAL;
    file->position = (size_t)offset;
    return offset;
}

int64_t call_lseek(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    if (a[2] > SEEK_END)
        return -EINVAL;
    if (file->folder)
        return seek_folder(file, (int64_t)a[1], a[2]);
    off_t result = lseek(file->host, (off_t)a[1], (int)a[2]);
    return result < 0 ? -errno : result;
}

/* a[]: descriptor, buffer, length, and the offset if `positioned`. */
static int64_t transfer_bytes(struct user *user, const uint64_t a[6], bool writes, bool positioned)
{
    struct file *file = files_get(&user->files, a[0]);
    const void *bytes = writes ? guest_readable(user, a[1], a[2]) : guest_writable(user, a[1], a[2]);
    if (!file)
        return -EBADF;
    if (!bytes)
        return -EFAULT;
    return transfer(user, file->host,
                    &(struct transfer){.writes = writes,
                                       .bytes = (void *)(uintptr_t)bytes,
                                       .length = a[2],
                                       .positioned = positioned,
                                       .offset = (off_t)a[3]});
}

int64_t call_read(struct user *user, const uint64_t a[6])
{
    return transfer_bytes(user, a, false, false);
}

int64_t call_write(struct user *user, const uint64_t a[6])
{
    return transfer_bytes(user, a, true, false);
}

int64_t call_pread(struct user *user, const uint64_t a[6])
{
    return transfer_bytes(user, a, false, true);
}

int64_t call_pwrite(struct user *user, const uint64_t a[6])
{
    return transfer_bytes(user, a, true, true);
}

/* Translates the guest's iovec[count] at address. Returns 0 or -errno. */
static int64_t get_vectors(struct user *user, uint64_t address, uint64_t count, bool writable,
                           struct iovec *vectors)
{
    if (count > VECTORS_MAX)
        return -EINVAL;
    const uint8_t *at = guest_readable(user, address, count * 16);
    if (!at)
        return -EFAULT;
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t base, length;
        memcpy(&base, at + 16 * i, 8);
        memcpy(&length, at + 16 * i + 8, 8);
        if (length > INT64_MAX || (total += length) > INT64_MAX)
            return -EINVAL;
        const void *bytes =
            writable ? guest_writable(user, base, length) : guest_readable(user, base, length);
        if (!bytes)
            return -EFAULT;
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    }
    return 0;
}

static int64_t transfer_vectors(struct user *user, const uint64_t a[6], bool writes)
{
    struct iovec vectors[VECTORS_MAX];
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    int64_t failed = get_vectors(user, a[1], a[2], !writes, vectors);
    if (failed)
        return failed;
    return transfer(user, file->host,
                    &(struct transfer){.writes = writes, .vectors = vectors, .count = (int)a[2]});
}

int64_t call_readv(struct user *user, const uint64_t a[6])
{
    return transfer_vectors(user, a, false);
}

int64_t call_writev(struct user *user, const uint64_t a[6])
{
    return transfer_vectors(user, a, true);
}

int64_t call_ftruncate(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    return ftruncate(file->host, (off_t)a[1]) != 0 ? -errno : 0;
}

int64_t call_fsync(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    return fsync(file->host) != 0 ? -errno : 0;
}

/* The kernel's struct stat for riscv64 (include/uapi/asm-generic/stat.h). */
struct guest_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad1;
    int64_t size;
    int32_t blksize, pad2;
    int64_t blocks;
    int64_t times[6]; /* seconds and nanoseconds of last access, modification, change */
    int32_t unused[2];
};

int64_t call_put_stat(struct user *user, uint64_t address, int host)
{
    struct stat st;
    if (fstat(host, &st) != 0)
        return -errno;
    struct guest_stat to = {.dev = 1,
                            .mode = st.st_mode,
                            .nlink = (uint32_t)st.st_nlink,
                            .uid = GUEST_USER_ID,
                            .gid = GUEST_USER_ID,
                            .blksize = STAT_BLOCK};
    /* The remaining fields stay 0 for pipes and terminals, because they would differ from run to run. */
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) {
        to.ino = st.st_ino;
        to.size = st.st_size;
        to.blocks = (st.st_size + 511) / 512;
        for (int i = 0; i < 6; i += 2) {
            to.times[i] = st.st_mtim.tv_sec;
            to.times[i + 1] = st.st_mtim.tv_nsec;
        }
    }
    return guest_put(user, address, &to, sizeof to);
}

int64_t call_fstat(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    return file ? call_put_stat(user, a[1], file->host) : -EBADF;
}
