/* newlib's file names in machine mode: there is no file system. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/newlib/calls.h"

static int no_such_file(void)
{
    errno = ENOENT;
    return -1;
}

static int read_only(void)
{
    errno = EROFS;
    return -1;
}

int _stat(const char *path, struct stat *result)
{
    (void)path, (void)result;
    return no_such_file();
}

int _unlink(const char *path)
{
    (void)path;
    return no_such_file();
}

int _link(const char *from, const char *to)
{
    (void)from, (void)to;
    return no_such_file();
}

int _rename(const char *from, const char *to)
{
    (void)from, (void)to;
    return no_such_file();
}

int _mkdir(const char *path, mode_t mode)
{
    (void)path, (void)mode;
    return read_only();
}
