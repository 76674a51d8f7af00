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

#include "emu/env/calls/state.h"
#include "emu/env/loader/stack.h"

enum {
    PIECE = 1 << 20,     /* bytes of virtual memory that a call copies at once */
    STAT_BLOCK = 4096,   /* st_blksize of every file; C libraries use it as buffer size */
    SIGNAL_IGNORED = 1,  /* the kernel's SIG_IGN */
    GUEST_APPEND = 02000 /* O_APPEND */
};

/* Linux moves at most this many bytes by one call (read(2)). */
#define TRANSFER_MOST UINT64_C(0x7ffff000)

/* Returns whether a host call that has just failed must be repeated: a signal interrupted it that does not
 * end the run, or a standard stream is in non-blocking mode (set by another process) and has become ready. */
static bool try_again(const struct user *user, int host, bool standard, short events)
{
    if (errno == EINTR)
        return guest_interrupted(user) == 0;
    if (errno != EAGAIN || !standard)
        return false;
    struct pollfd wait = {.fd = host, .events = events};
    return poll(&wait, 1, -1) >= 0 || (errno == EINTR && guest_interrupted(user) == 0);
}

/* A transfer between the guest's memory and a file. */
struct transfer {
    bool writes; /* true: to the file */
    const struct span *spans;
    uint64_t count;  /* number of spans */
    uint64_t from;   /* bytes of the spans that have been moved before */
    bool positioned; /* at `offset`; false: at the file's own position */
    bool standard;   /* a standard stream */
    off_t offset;
};

static ssize_t move_once(int host, const struct transfer *t, const struct iovec *vectors, int count,
                         off_t offset)
{
    if (t->positioned)
        return t->writes ? pwritev(host, vectors, count, offset) : preadv(host, vectors, count, offset);
    if (count == 1)
        return t->writes ? write(host, vectors->iov_base, vectors->iov_len)
                         : read(host, vectors->iov_base, vectors->iov_len);
    return t->writes ? writev(host, vectors, count) : readv(host, vectors, count);
}

/* Copies bytes between the vectors and the file. Returns the number of bytes or -errno. EPIPE ends the
 * program as SIGPIPE would. */
static int64_t move(struct user *user, int host, const struct transfer *t, const struct iovec *vectors,
                    int count, off_t offset)
{
    ssize_t result;
    do
        result = move_once(host, t, vectors, count, offset);
    while (result < 0 && try_again(user, host, t->standard, t->writes ? POLLOUT : POLLIN));
    if (result >= 0)
        return result;
    int failed = errno;
    if (t->writes && failed == EPIPE && user->signals[SIGPIPE].handler != SIGNAL_IGNORED)
        guest_end(user, 128 + SIGPIPE);
    return -failed;
}

/* Sets vectors to the host addresses of at most `most` bytes of the spans, from byte `done` on. Sets one
 * empty vector if there are none. Returns the number of vectors, or -EFAULT. */
static int view_spans(struct user *user, const struct transfer *t, uint64_t done, uint64_t most,
                      struct iovec *vectors)
{
    int used = 0;
    vectors[0] = (struct iovec){.iov_base = user->memory->bytes, .iov_len = 0};
    for (uint64_t i = 0; i < t->count && most > 0; i++) {
        if (done >= t->spans[i].length) {
            done -= t->spans[i].length;
            continue;
        }
        const uint64_t from = t->spans[i].base + done, left = t->spans[i].length - done,
                       length = left < most ? left : most;
        const void *bytes =
            t->writes ? guest_readable(user, from, length) : guest_writable(user, from, length);
        if (!bytes)
            return -EFAULT;
        vectors[used++] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
        most -= length;
        done = 0;
    }
    return used > 0 ? used : 1;
}

/* Returns whether a transfer continues after a piece. A read ends when no input is ready, so that reads of
 * pipes and terminals do not wait for more. */
static bool may_go_on(int host, const struct transfer *t)
{
    struct pollfd ready = {.fd = host, .events = POLLIN};
    return t->writes || (poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN));
}

/* Serves a call that reads or writes. Returns the number of bytes or -errno. Transfers virtual memory in
 * pieces, because views of it may be copies. */
static int64_t transfer(struct user *user, int host, const struct transfer *t)
{
    struct iovec vectors[VECTORS_MAX];
    uint64_t total = 0, done = t->from;
    for (uint64_t i = 0; i < t->count; i++) {
        if (!guest_reaches(user, t->spans[i].base, t->spans[i].length, !t->writes))
            return -EFAULT;
        total += t->spans[i].length;
    }
    total = total < TRANSFER_MOST ? total : TRANSFER_MOST;
    if (total == 0 && t->count != 1) /* the host would ask the file */
        return 0;
    do {
        uint64_t left = total - done, piece = user->pages && left > PIECE ? PIECE : left;
        int count = view_spans(user, t, done, piece, vectors);
        int64_t moved = count < 0 ? count : move(user, host, t, vectors, count, t->offset + (off_t)done);
        if (user->pages && piece < total)
            guest_release(user);
        if (moved < 0)
            return done > t->from ? (int64_t)(done - t->from) : moved;
        done += (uint64_t)moved;
        if ((uint64_t)moved < piece || !may_go_on(host, t))
            break;
    } while (done < total);
    return (int64_t)(done - t->from);
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
    case DUPFD:
    case DUPFD_CLOEXEC: {
        int64_t copy = a[2] < user->files.limit ? files_duplicate(&user->files, a[0], a[2]) : -EINVAL;
        if (copy >= 0 && a[1] == DUPFD_CLOEXEC)
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

int64_t call_put_entries(struct user *user, const uint64_t a[6], struct file *file, const void *from,
                         bool (*look)(const void *from, const char *name, struct stat *st))
{
    enum { NAME_OFFSET = 19 };
    uint64_t length = a[2] & UINT32_MAX, room = length < PIECE ? length : PIECE, used = 0;
    uint8_t *buffer = guest_reaches(user, a[1], length, true) ? guest_writable(user, a[1], room) : NULL;
    if (!buffer)
        return -EFAULT;
    for (; file->position < file->listing.count; file->position++) {
        const char *name = file->listing.names[file->position];
        struct stat st;
        if (!look(from, name, &st))
            continue;
        uint64_t inode = st.st_ino, next = file->position + 1;
        uint16_t size = (uint16_t)((NAME_OFFSET + strlen(name) + 1 + 7) / 8 * 8);
        if (size > room - used)
            return used > 0 ? (int64_t)used : -EINVAL;
        memset(buffer + used, 0, size);
        memcpy(buffer + used, &inode, 8);
        memcpy(buffer + used + 8, &next, 8);
        memcpy(buffer + used + 16, &size, 2);
        buffer[used + 18] = entry_type(st.st_mode);
        memcpy(buffer + used + NAME_OFFSET, name, strlen(name));
        used += size;
    }
    return (int64_t)used;
}

/* `from`: the host's descriptor of the folder. */
static bool look_on_host(const void *from, const char *name, struct stat *st)
{
    return fstatat(*(const int *)from, name, st, AT_SYMLINK_NOFOLLOW) == 0;
}

int64_t call_getdents64(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    if (!file->folder)
        return -ENOTDIR;
    if (!guest_reaches(user, a[1], a[2] & UINT32_MAX, true))
        return -EFAULT;
    int64_t failed = files_list(file);
    return failed ? failed : call_put_entries(user, a, file, &file->host, look_on_host);
}

static int64_t seek_folder(struct file *file, int64_t offset, uint64_t whence)
{
    if (whence == SEEK_CUR && __builtin_add_overflow(offset, (int64_t)file->position, &offset))
        return -EINVAL;
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
    const struct span span = {a[1], a[2]};
    if (!file)
        return -EBADF;
    return transfer(user, file->host,
                    &(struct transfer){.writes = writes,
                                       .spans = &span,
                                       .count = 1,
                                       .positioned = positioned,
                                       .standard = file->standard,
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

int64_t call_get_spans(struct user *user, uint64_t address, uint64_t count, struct span spans[VECTORS_MAX])
{
    if (count > VECTORS_MAX)
        return -EINVAL;
    const uint8_t *at = guest_readable(user, address, count * sizeof *spans);
    if (!at)
        return -EFAULT;
    memcpy(spans, at, count * sizeof *spans);
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; i++)
        if (spans[i].length > INT64_MAX || (total += spans[i].length) > INT64_MAX)
            return -EINVAL;
    return 0;
}

/* Like transfer_bytes(), of a vector of buffers: a[1], a[2]. */
static int64_t transfer_vectors(struct user *user, const uint64_t a[6], bool writes, bool positioned)
{
    struct span spans[VECTORS_MAX];
    struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    int64_t failed = call_get_spans(user, a[1], a[2], spans);
    return failed ? failed
                  : transfer(user, file->host,
                             &(struct transfer){.writes = writes,
                                                .spans = spans,
                                                .count = a[2],
                                                .positioned = positioned,
                                                .standard = file->standard,
                                                .offset = (off_t)a[3]});
}

int64_t call_measure(struct user *user, const uint64_t a[6], bool vectors, uint64_t *total, uint64_t *first)
{
    struct span spans[VECTORS_MAX] = {{a[1], a[2]}};
    int64_t failed = vectors ? call_get_spans(user, a[1], a[2], spans) : 0;
    *total = *first = 0;
    for (uint64_t i = 0; !failed && i < (vectors ? a[2] : 1); i++) {
        *first = *total ? *first : spans[i].length;
        *total += spans[i].length;
    }
    return failed;
}

int64_t call_continue(struct user *user, const uint64_t a[6], bool writes, bool vectors, uint64_t done)
{
    struct span spans[VECTORS_MAX] = {{a[1], a[2]}};
    const struct file *file = files_get(&user->files, a[0]);
    if (!file)
        return -EBADF;
    int64_t failed = vectors ? call_get_spans(user, a[1], a[2], spans) : 0;
    return failed ? failed
                  : transfer(user, file->host,
                             &(struct transfer){.writes = writes,
                                                .spans = spans,
                                                .count = vectors ? a[2] : 1,
                                                .from = done,
                                                .standard = file->standard});
}

int64_t call_preadv(struct user *user, const uint64_t a[6])
{
    return transfer_vectors(user, a, false, true);
}

int64_t call_pwritev(struct user *user, const uint64_t a[6])
{
    return transfer_vectors(user, a, true, true);
}

int64_t call_readv(struct user *user, const uint64_t a[6])
{
    return transfer_vectors(user, a, false, false);
}

int64_t call_writev(struct user *user, const uint64_t a[6])
{
    return transfer_vectors(user, a, true, false);
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

void call_mask_stat(struct stat *st)
{
    const mode_t mode = st->st_mode;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode))
        *st = (struct stat){.st_mode = mode, .st_nlink = st->st_nlink};
    st->st_dev = 1;
}

int64_t call_store_stat(struct user *user, uint64_t address, const struct stat *st)
{
    struct guest_stat to = {.dev = st->st_dev,
                            .mode = st->st_mode,
                            .nlink = (uint32_t)st->st_nlink,
                            .uid = GUEST_USER_ID,
                            .gid = GUEST_USER_ID,
                            .blksize = STAT_BLOCK,
                            .ino = st->st_ino,
                            .size = st->st_size,
                            .blocks = (st->st_size + 511) / 512};
    for (int i = 0; i < 6; i += 2) {
        to.times[i] = st->st_mtim.tv_sec;
        to.times[i + 1] = st->st_mtim.tv_nsec;
    }
    return guest_put(user, address, &to, sizeof to);
}

int64_t call_put_stat(struct user *user, uint64_t address, int host)
{
    struct stat st;
    if (fstat(host, &st) != 0)
        return -errno;
    call_mask_stat(&st);
    return call_store_stat(user, address, &st);
}

int64_t call_fstat(struct user *user, const uint64_t a[6])
{
    struct file *file = files_get(&user->files, a[0]);
    return file ? call_put_stat(user, a[1], file->host) : -EBADF;
}
