/* Child processes: not supported. Include this file once in each C library. */
#ifndef HOST_NEWLIB_CHILDREN_H
#define HOST_NEWLIB_CHILDREN_H

#include <errno.h>
#include <reent.h>

int _fork_r(struct _reent *reent)
{
    reent->_errno = ENOSYS;
    return -1;
}

int _execve_r(struct _reent *reent, const char *path, char *const argv[], char *const envp[])
{
    (void)path, (void)argv, (void)envp;
    reent->_errno = ENOSYS;
    return -1;
}

int _wait_r(struct _reent *reent, int *status)
{
    (void)status;
    reent->_errno = ECHILD;
    return -1;
}

#endif
