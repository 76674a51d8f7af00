#include "emu/env/linux/calls/paths/shared_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

/* A name, and the memory file that it leads to. */
struct named_memory {
    char *name;
    int host;
};

const char *shared_name(const char *path)
{
    static const char folder[] = "/dev/shm/";
    const char *name = path + sizeof folder - 1;
    const bool inside = strncmp(path, folder, sizeof folder - 1) == 0 && name[0] && !strchr(name, '/');
    return inside && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : NULL;
}

static struct named_memory *find(const struct process *process, const char *name)
{
    for (unsigned i = 0; i < process->shared_count; i++)
        if (strcmp(process->shared_names[i].name, name) == 0)
            return &process->shared_names[i];
    return NULL;
}

static void add(struct process *process, const char *name, int host)
{
    process->shared_names =
        alloc_resize(process->shared_names, (process->shared_count + 1) * sizeof *process->shared_names);
    process->shared_names[process->shared_count++] = (struct named_memory){alloc_text(name), host};
}

static void forget(struct process *process, struct named_memory *memory)
{
    free(memory->name);
    (void)close(memory->host);
    *memory = process->shared_names[--process->shared_count];
}

/* Opens the memory file again, with a position of its own. */
static int open_again(int memory, int flags)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", memory);
    const int host = open(link, flags | O_CLOEXEC);
    return host < 0 ? -errno : host;
}

int shared_open(struct process *process, const char *name, uint64_t flags, uint64_t mode)
{
    enum { CREATES = 0100, EXCLUSIVE = 0200, TRUNCATES = 01000, APPENDS = 02000, FOLDER = 0200000 };
    struct named_memory *memory = find(process, name);
    if (memory && (flags & CREATES) && (flags & EXCLUSIVE))
        return -EEXIST;
    if (!memory && !(flags & CREATES))
        return -ENOENT;
    if (memory && (flags & FOLDER))
        return -ENOTDIR;
    if (!memory) {
        const int host = strlen(name) > NAME_MAX ? -1 : memfd_create("shm", MFD_CLOEXEC);
        if (host < 0)
            return strlen(name) > NAME_MAX ? -ENAMETOOLONG : -errno;
        (void)fchmod(host, mode & 0777 & ~process->umask);
        add(process, name, host);
        memory = find(process, name);
    }
    return open_again(memory->host, (int)(flags & O_ACCMODE) | (flags & TRUNCATES ? O_TRUNC : 0) |
                                        (flags & APPENDS ? O_APPEND : 0));
}

int64_t shared_remove(struct process *process, const char *name)
{
    struct named_memory *memory = find(process, name);
    if (!memory)
        return -ENOENT;
    forget(process, memory);
    return 0;
}

int64_t shared_link(struct process *process, const char *name, const char *to, bool moves, bool replaces)
{
    struct named_memory *memory = name ? find(process, name) : NULL;
    struct named_memory *taken = to ? find(process, to) : NULL;
    if (!name || !to)
        return -EXDEV;
    if (!memory)
        return -ENOENT;
    if (taken == memory && replaces)
        return 0;
    if (taken && !replaces)
        return -EEXIST;
    const int host = fcntl(memory->host, F_DUPFD_CLOEXEC, 0);
    if (host < 0)
        return -errno;
    if (taken)
        forget(process, taken);
    if (moves)
        forget(process, find(process, name));
    add(process, to, host);
    return 0;
}

void shared_free(struct process *process)
{
    while (process->shared_count > 0)
        forget(process, &process->shared_names[0]);
    free(process->shared_names);
}
