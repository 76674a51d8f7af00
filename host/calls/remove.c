/* remove() that also removes directories: newlib's only calls unlink(). This object contains nothing else,
 * like newlib's, so that the linker takes exactly one of the two. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <reent.h>
#include <stdio.h>
#include <unistd.h>

int _remove_r(struct _reent *reent, const char *path)
{
    int saved = reent->_errno;
    if (_unlink_r(reent, path) == 0)
        return 0;
    if (reent->_errno != EISDIR && reent->_errno != EPERM)
        return -1;
    reent->_errno = saved;
    return rmdir(path);
}

int remove(const char *path)
{
    return _remove_r(_REENT, path);
}
