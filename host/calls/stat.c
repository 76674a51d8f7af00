/* File status: converts the kernel's struct stat to newlib's. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/calls/call.h"
#include "host/newlib/calls.h"

/* Layout of Linux's asm-generic/stat.h on a 64-bit machine. */
struct linux_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad0;
    int64_t size;
    int32_t blksize, pad1;
    int64_t blocks;
    int64_t atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns;
    uint32_t unused[2];
};
_Static_assert(sizeof(struct linux_stat) == 128, "the kernel writes 128 bytes");

static int stat_convert(long status, const struct linux_stat *from, struct stat *to)
{
    if (status < 0)
        return -1;
    *to = (struct stat){
        .st_dev = (dev_t)from->dev,
        .st_ino = (ino_t)from->ino,
        .st_mode = (mode_t)from->mode,
        .st_nlink = (nlink_t)from->nlink,
        .st_uid = (uid_t)from->uid,
        .st_gid = (gid_t)from->gid,
        .st_rdev = (dev_t)from->rdev,
        .st_size = from->size,
        .st_blksize = from->blksize,
        .st_blocks = from->blocks,
        .st_atim = {from->atime, from->atime_ns},
        .st_mtim = {from->mtime, from->mtime_ns},
        .st_ctim = {from->ctime, from->ctime_ns},
    };
    return 0;
}

static int stat_at(int directory, const char *path, struct stat *result, int linux_flags)
{
    struct linux_stat from;
    return stat_convert(call4(CALL_FSTATAT, directory, (long)path, (long)&from, linux_flags), &from, result);
}

int _fstat(int fd, struct stat *result)
{
    struct linux_stat from;
    return stat_convert(call2(CALL_FSTAT, fd, (long)&from), &from, result);
}

int _stat(const char *path, struct stat *result)
{
    return stat_at(LINUX_AT_FDCWD, path, result, 0);
}

int lstat(const char *path, struct stat *result)
{
    return stat_at(LINUX_AT_FDCWD, path, result, LINUX_AT_SYMLINK_NOFOLLOW);
}

int fstatat(int directory, const char *restrict path, struct stat *restrict result, int flags)
{
    int linux_flags = flags & AT_SYMLINK_NOFOLLOW ? LINUX_AT_SYMLINK_NOFOLLOW : 0;
    if (flags & AT_EMPTY_PATH)
        linux_flags |= LINUX_AT_EMPTY_PATH;
    return stat_at(call_directory(directory), path, result, linux_flags);
}

/* Every character device counts as a terminal, as in libgloss, so that no terminal call is needed. */
int _isatty(int fd)
{
    struct stat status;
    if (_fstat(fd, &status) < 0)
        return 0;
    if (S_ISCHR(status.st_mode))
        return 1;
    errno = ENOTTY;
    return 0;
}
