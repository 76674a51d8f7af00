#include "emu/env/linux/calls/descriptor.h"

#include <fcntl.h>

int64_t descriptor_add(struct process *process, int host, int mode, uint64_t flags)
{
    struct files *files = &process->user->files;
    int64_t descriptor = files_add(files, host, mode | (int)(flags & GUEST_NONBLOCK), false);
    if (descriptor >= 0)
        files->close_on_exec[descriptor] = (flags & GUEST_CLOEXEC) != 0;
    return descriptor;
}

int64_t descriptor_add_own(struct process *process, int host, uint64_t flags, unsigned kind, uint64_t own)
{
    int64_t descriptor = descriptor_add(process, host, O_RDWR, flags);
    if (descriptor >= 0) {
        struct file *file = files_get(&process->user->files, (uint64_t)descriptor);
        file->kind = kind;
        file->own = own;
    }
    return descriptor;
}

bool descriptor_only_reads(const struct file *file)
{
    return file->kind == FILE_TIMER || file->kind == FILE_SIGNALS;
}

bool descriptor_is_outer(const struct process *process, const struct file *file)
{
    return file->standard || file->kind == FILE_SOCKET || (file->kind == FILE_EPOLL && process->epolls_input);
}
