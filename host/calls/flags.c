/* Converts flags of open() and fcntl(), and directory descriptors, between newlib's and Linux's values. */
#define _GNU_SOURCE
#include <fcntl.h>

#include "host/calls/call.h"

/* Linux's values from asm-generic/fcntl.h. Access modes 0 to 2 are the same in newlib and Linux. */
static const struct {
    int newlib, linux_value;
} flags[] = {
    {O_APPEND, 02000},  {O_CREAT, 0100},       {O_TRUNC, 01000},       {O_EXCL, 0200},
    {O_SYNC, 04010000}, {O_NONBLOCK, 04000},   {O_NOCTTY, 0400},       {O_CLOEXEC, 02000000},
    {O_DIRECT, 040000}, {O_NOFOLLOW, 0400000}, {O_DIRECTORY, 0200000},
};

int call_open_flags(int newlib)
{
    int result = newlib & O_ACCMODE;
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (newlib & flags[i].newlib)
            result |= flags[i].linux_value;
    return result;
}

int call_newlib_flags(int linux_flags)
{
    int result = linux_flags & O_ACCMODE;
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if ((linux_flags & flags[i].linux_value) == flags[i].linux_value)
            result |= flags[i].newlib;
    return result;
}

int call_directory(int fd)
{
    return fd == AT_FDCWD ? LINUX_AT_FDCWD : fd;
}
