/* remove() for directories too: newlib's own is a mere unlink(). Alone in its object, as newlib's is, so that
 * the linker takes either the one or the other. */
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
