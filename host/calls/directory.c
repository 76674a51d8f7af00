/* Reading directories: opendir() and its relatives over getdents64. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/calls/call.h"

enum { BUFFER_SIZE = 4096 };

struct croft_directory {
    long next, end; /* offsets in buffer: of the next entry, and of the end of the data */
    int fd;
    _Alignas(struct dirent) char buffer[BUFFER_SIZE];
};

DIR *fdopendir(int fd)
{
    DIR *directory = malloc(sizeof *directory);
    if (!directory)
        return NULL;
    directory->fd = fd;
    directory->next = directory->end = 0;
    return directory;
}

DIR *opendir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *directory = fdopendir(fd);
    if (!directory)
        close(fd);
    return directory;
}

struct dirent *readdir(DIR *directory)
{
    if (directory->next == directory->end) {
        long size = call3(CALL_GETDENTS64, directory->fd, (long)directory->buffer, BUFFER_SIZE);
        if (size <= 0)
            return NULL;
        directory->next = 0;
        directory->end = size;
    }
    struct dirent *entry = (struct dirent *)(void *)(directory->buffer + directory->next);
    directory->next += entry->d_reclen;
    return entry;
}

void rewinddir(DIR *directory)
{
    lseek(directory->fd, 0, SEEK_SET);
    directory->next = directory->end = 0;
}

int dirfd(DIR *directory)
{
    return directory->fd;
}

int closedir(DIR *directory)
{
    int fd = directory->fd;
    free(directory);
    return close(fd);
}
