#include "emu/env/linux/calls/descriptor.h"

int64_t descriptor_add(struct process *process, int host, int mode, uint64_t flags)
{
    struct files *files = &process->user->files;
    int64_t descriptor = files_add(files, host, mode | (int)(flags & GUEST_NONBLOCK), false);
    if (descriptor >= 0)
        files->close_on_exec[descriptor] = (flags & GUEST_CLOEXEC) != 0;
    return descriptor;
}
