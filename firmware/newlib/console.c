/* newlib's files in machine mode: descriptors 0, 1 and 2 are the UART; there are no others. */
#include <croft/firmware/uart.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/newlib/calls.h"

enum { END_OF_TRANSMISSION = 4 }; /* control-D */

static int fail(int number)
{
    errno = number;
    return -1;
}

static int is_console(int fd)
{
    return fd >= STDIN_FILENO && fd <= STDERR_FILENO ? 1 : fail(EBADF) + 1;
}

int _open(const char *path, int flags, ...)
{
    (void)path, (void)flags;
    return fail(ENOENT);
}

int _close(int fd)
{
    return is_console(fd) ? 0 : -1;
}

/* Waits for one byte, then returns the bytes that have arrived, up to the end of a line. Converts carriage
 * returns, which terminals send, to newlines. Control-D is end of file. */
ssize_t _read(int fd, void *buffer, size_t size)
{
    char *to = buffer;
    size_t count = 0;
    if (!is_console(fd))
        return -1;
    while (count < size) {
        int byte = uart_get();
        if (byte < 0 && count > 0)
            break;
        if (byte < 0)
            continue;
        if (byte == END_OF_TRANSMISSION)
            break;
        to[count++] = (char)(byte == '\r' ? '\n' : byte);
        if (to[count - 1] == '\n')
            break;
    }
    return (ssize_t)count;
}

ssize_t _write(int fd, const void *buffer, size_t size)
{
    const char *from = buffer;
    if (!is_console(fd))
        return -1;
    for (size_t i = 0; i < size; i++)
        uart_put(from[i]);
    return (ssize_t)size;
}

off_t _lseek(int fd, off_t offset, int whence)
{
    (void)offset, (void)whence;
    return is_console(fd) ? fail(ESPIPE) : -1;
}

int _fcntl(int fd, int command, int argument)
{
    (void)command, (void)argument;
    return is_console(fd) ? fail(EINVAL) : -1;
}

int _fstat(int fd, struct stat *result)
{
    if (!is_console(fd))
        return -1;
    *result = (struct stat){.st_mode = S_IFCHR | S_IRUSR | S_IWUSR, .st_nlink = 1};
    return 0;
}

int _isatty(int fd)
{
    return is_console(fd);
}
