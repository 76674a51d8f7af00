/* Open files: the calls that newlib's stdio needs, and POSIX functions that newlib leaves to the system. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/calls/call.h"
#include "host/newlib/calls.h"

static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    return (int)call4(CALL_OPENAT, call_directory(directory), (long)path, call_open_flags(flags), (long)mode);
}

int _open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_at(directory, path, flags, mode);
}

int creat(const char *path, mode_t mode)
{
    return open_at(AT_FDCWD, path, O_CREAT | O_TRUNC | O_WRONLY, mode);
}

int _close(int fd)
{
    return (int)call1(CALL_CLOSE, fd);
}

ssize_t _read(int fd, void *buffer, size_t size)
{
    return call3(CALL_READ, fd, (long)buffer, (long)size);
}

ssize_t _write(int fd, const void *buffer, size_t size)
{
    return call3(CALL_WRITE, fd, (long)buffer, (long)size);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return call4(CALL_PREAD64, fd, (long)buffer, (long)size, offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    return call4(CALL_PWRITE64, fd, (long)buffer, (long)size, offset);
}

off_t _lseek(int fd, off_t offset, int whence)
{
    return call3(CALL_LSEEK, fd, offset, whence);
}

int ftruncate(int fd, off_t length)
{
    return (int)call2(CALL_FTRUNCATE, fd, length);
}

int fsync(int fd)
{
    return (int)call1(CALL_FSYNC, fd);
}

int dup(int fd)
{
    return (int)call1(CALL_DUP, fd);
}

int dup2(int fd, int wanted)
{
    if (fd == wanted) /* dup3 rejects equal descriptors; dup2 only checks that fd is open */
        return _fcntl(fd, F_GETFD, 0) < 0 ? -1 : fd;
    return (int)call3(CALL_DUP3, fd, wanted, 0);
}

int pipe(int ends[2])
{
    return (int)call2(CALL_PIPE2, (long)ends, 0);
}

/* Commands 0 to 4 have the same numbers in newlib and Linux. Locks and owners are not supported. */
int _fcntl(int fd, int command, int argument)
{
    enum { LINUX_F_DUPFD_CLOEXEC = 1030 };
    switch (command) {
    case F_DUPFD:
    case F_GETFD:
    case F_SETFD: return (int)call3(CALL_FCNTL, fd, command, argument);
    case F_DUPFD_CLOEXEC: return (int)call3(CALL_FCNTL, fd, LINUX_F_DUPFD_CLOEXEC, argument);
    case F_SETFL: return (int)call3(CALL_FCNTL, fd, command, call_open_flags(argument));
    case F_GETFL: {
        long result = call3(CALL_FCNTL, fd, command, 0);
        return result < 0 ? -1 : call_newlib_flags((int)result);
    }
    default: errno = EINVAL; return -1;
    }
}
