/* The process itself: its end, identity and heap. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/calls/call.h"
#include "host/newlib/calls.h"

int sched_yield(void);

void _exit(int status)
{
    for (;;)
        call_raw(CALL_EXIT_GROUP, status, 0, 0, 0, 0);
}

int _getpid(void)
{
    return (int)call0(CALL_GETPID);
}

pid_t getppid(void)
{
    return (pid_t)call0(CALL_GETPPID);
}

uid_t getuid(void)
{
    return (uid_t)call0(CALL_GETUID);
}

uid_t geteuid(void)
{
    return (uid_t)call0(CALL_GETEUID);
}

gid_t getgid(void)
{
    return (gid_t)call0(CALL_GETGID);
}

gid_t getegid(void)
{
    return (gid_t)call0(CALL_GETEGID);
}

int uname(struct utsname *name)
{
    return (int)call1(CALL_UNAME, (long)name);
}

int getentropy(void *buffer, size_t size)
{
    if (size > 256) {
        errno = EIO;
        return -1;
    }
    long got = call3(CALL_GETRANDOM, (long)buffer, (long)size, 0);
    if (got >= 0 && (size_t)got != size)
        errno = EIO;
    return got >= 0 && (size_t)got == size ? 0 : -1;
}

/* The BRK call always returns the current break, changed or not. */
void *_sbrk(ptrdiff_t increment)
{
    static long heap_end;
    if (heap_end == 0)
        heap_end = call_raw(CALL_BRK, 0, 0, 0, 0, 0);
    long before = heap_end;
    if (increment != 0) {
        long wanted = before + increment;
        if (call_raw(CALL_BRK, wanted, 0, 0, 0, 0) != wanted) {
            errno = ENOMEM;
            return (void *)-1;
        }
        heap_end = wanted;
    }
    return (void *)before;
}

int sched_yield(void)
{
    return (int)call0(CALL_SCHED_YIELD);
}

#include "host/newlib/children.h"
