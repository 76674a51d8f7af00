/* File names: create, rename, remove and query files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/calls/call.h"
#include "host/newlib/calls.h"

int mkdirat(int directory, const char *path, mode_t mode)
{
    return (int)call3(CALL_MKDIRAT, call_directory(directory), (long)path, (long)mode);
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int _mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int directory, const char *path, int flags)
{
    int linux_flags = flags & AT_REMOVEDIR ? LINUX_AT_REMOVEDIR : 0;
    return (int)call3(CALL_UNLINKAT, call_directory(directory), (long)path, linux_flags);
}

int _unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    return (int)call5(CALL_RENAMEAT2, call_directory(from_directory), (long)from,
                      call_directory(to_directory), (long)to, 0);
}

int _rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    int linux_flags = flags & AT_SYMLINK_FOLLOW ? LINUX_AT_SYMLINK_FOLLOW : 0;
    return (int)call5(CALL_LINKAT, call_directory(from_directory), (long)from, call_directory(to_directory),
                      (long)to, linux_flags);
}

int _link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlink(const char *target, const char *path)
{
    return (int)call3(CALL_SYMLINKAT, (long)target, LINUX_AT_FDCWD, (long)path);
}

ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size)
{
    return call4(CALL_READLINKAT, LINUX_AT_FDCWD, (long)path, (long)buffer, (long)size);
}

int faccessat(int directory, const char *path, int mode, int flags)
{
    if (flags) { /* the kernel's call has no flags */
        errno = EINVAL;
        return -1;
    }
    return (int)call3(CALL_FACCESSAT, call_directory(directory), (long)path, mode);
}

int access(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, 0);
}

int truncate(const char *path, off_t length)
{
    return (int)call2(CALL_TRUNCATE, (long)path, length);
}

int chmod(const char *path, mode_t mode)
{
    return (int)call3(CALL_FCHMODAT, LINUX_AT_FDCWD, (long)path, (long)mode);
}

int fchmod(int fd, mode_t mode)
{
    return (int)call2(CALL_FCHMOD, fd, (long)mode);
}

mode_t umask(mode_t mask)
{
    return (mode_t)call1(CALL_UMASK, (long)mask);
}

int chdir(const char *path)
{
    return (int)call1(CALL_CHDIR, (long)path);
}

char *getcwd(char *buffer, size_t size)
{
    enum { LINUX_PATH_MAX = 4096 };
    char *own = NULL;
    if (!buffer) {
        size = size ? size : LINUX_PATH_MAX;
        buffer = own = malloc(size);
        if (!own)
            return NULL;
    } else if (size == 0) {
        errno = EINVAL;
        return NULL;
    }
    if (call2(CALL_GETCWD, (long)buffer, (long)size) >= 0)
        return buffer;
    free(own);
    return NULL;
}
