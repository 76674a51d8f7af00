/* System functions that newlib calls and that its headers do not declare. */
#ifndef HOST_NEWLIB_CALLS_H
#define HOST_NEWLIB_CALLS_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>

/* Each behaves as POSIX defines the function without the underscore. */
void _exit(int status);
int _getpid(void);
int _kill(int process, int number);
void *_sbrk(ptrdiff_t increment); /* called with malloc()'s lock held */

int _open(const char *path, int flags, ...);
int _close(int fd);
ssize_t _read(int fd, void *buffer, size_t size);
ssize_t _write(int fd, const void *buffer, size_t size);
off_t _lseek(int fd, off_t offset, int whence);
int _fcntl(int fd, int command, int argument);
int _fstat(int fd, struct stat *result);
int _isatty(int fd);

int _stat(const char *path, struct stat *result);
int _unlink(const char *path);
int _link(const char *from, const char *to);
int _rename(const char *from, const char *to);
int _mkdir(const char *path, mode_t mode);

int _gettimeofday(struct timeval *now, void *zone);
clock_t _times(struct tms *result);

#endif
