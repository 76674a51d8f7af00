/* Calls on memory. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/served.h"

/* Warns once if a mapping of `length` bytes that was not made wants more memory than the machine has left. Returns the result. */
static int64_t explain_memory(struct process *process, uint64_t length, int64_t result)
{
    const struct user *user = process->user;
    const uint64_t left = frames_left(&process->space.frames);
    if (result != -ENOMEM || process->warned_of_memory || length < left || length > SPACE_END)
        return result;
    guest_warn(process->user,
               "a mapping of %" PRIu64 " KiB at 0x%" PRIx64 " fails with ENOMEM: %" PRIu64
               " KiB of memory are left; enlarge memory.size (%" PRIu64
               " KiB), as by --set memory.size=8GiB: the host gives pages when they are written",
               length / 1024, user->hart->pc, left / 1024, process->memory.size / 1024);
    process->warned_of_memory = true;
    return result;
}

int64_t linux_brk(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return (int64_t)address_space_break(&process->space, a[0]);
}

int64_t linux_munmap(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return address_space_unmap(&process->space, a[0], a[1]);
}

int64_t linux_mprotect(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[2] & ~UINT64_C(7))
        return -EINVAL;
    return address_space_protect(&process->space, a[0], a[1], (uint8_t)a[2]);
}

int64_t linux_msync(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { ASYNC = 1, INVALIDATE = 2, SYNC = 4 };
    (void)thread;
    if ((a[2] & ~UINT64_C(7)) || (a[2] & (ASYNC | SYNC)) == (ASYNC | SYNC) || a[0] % FRAME != 0)
        return -EINVAL;
    return address_space_sync(&process->space, a[0], a[1]);
}

int64_t linux_madvise(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { DONTNEED = 4, FREE = 8, LAST = 25 };
    (void)thread;
    if (a[2] > LAST || a[2] == 5 || a[2] == 6 || a[2] == 7)
        return -EINVAL;
    return address_space_discard(&process->space, a[0], a[1], a[2] == DONTNEED || a[2] == FREE);
}

int64_t linux_mremap(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { MAY_MOVE = 1, FIXED = 2 };
    (void)thread;
    if (a[3] & ~UINT64_C(3))
        return -EINVAL;
    const int64_t at =
        address_space_remap(&process->space, a[0], a[1], a[2], a[3] & MAY_MOVE, a[3] & FIXED, a[4]);
    const struct space_map *map = at < 0 ? NULL : address_space_find(&process->space, (uint64_t)at);
    if (map && map->file)
        address_space_fit(&process->space, map->file->device, map->file->inode);
    return at;
}

/* Checks that an open file can be mapped. Returns 0 or -errno. */
static int64_t check_file(const struct file *file, bool shared, uint64_t protection)
{
    struct stat st;
    const int mode = file->flags & O_ACCMODE;
    if (mode == O_WRONLY || (shared && (protection & SPACE_WRITE) && mode != O_RDWR))
        return -EACCES;
    if (fstat(file->host, &st) != 0)
        return -errno;
    const int seals = shared && (protection & SPACE_WRITE) ? fcntl(file->host, F_GET_SEALS) : 0;
    if (seals > 0 && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))
        return -EPERM;
    return S_ISREG(st.st_mode) ? 0 : -ENODEV;
}

/* Returns whether a file is /dev/zero, whose mappings are anonymous. */
static bool is_zero_device(const struct file *file)
{
    struct stat st;
    return fstat(file->host, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 5);
}

/* Maps a file: copies it, and keeps it open for names and for writing back. */
static int64_t map_file(struct process *process, const struct file *file, struct space_request *request)
{
    char name[PATH_MAX] = "";
    (void)own_file_link(process, file->host, name);
    request->file = address_space_file_new(fcntl(file->host, F_DUPFD_CLOEXEC, 0), name);
    request->file->read_only = (file->flags & O_ACCMODE) == O_RDONLY;
    request->file->ends = request->file->host >= 0;
    const struct space_part part = {request->file->device, request->file->inode, request->offset,
                                    request->length};
    address_space_store(&process->space, &part);
    int64_t at = address_space_map(&process->space, request);
    int64_t failed = at < 0 ? 0
                            : address_space_fill(&process->space, (uint64_t)at, request->length, file->host,
                                                 request->offset);
    if (at >= 0 && !failed)
        address_space_fit(&process->space, request->file->device, request->file->inode);
    address_space_file_release(request->file);
    if (failed)
        (void)address_space_unmap(&process->space, (uint64_t)at, request->length);
    return failed ? failed : at;
}

int64_t linux_mmap(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SHARED = 1, PRIVATE = 2, SHARED_VALIDATE = 3, TYPE = 15, FIXED = 0x10, ANONYMOUS = 0x20 };
    enum { FIXED_NOREPLACE = 0x100000 };
    (void)thread;
    const uint64_t flags = a[3], type = flags & TYPE;
    bool shared = type == SHARED || type == SHARED_VALIDATE;
    struct space_request request = {.first = a[0],
                                    .length = a[1],
                                    .protection = a[2] & 7,
                                    .fixed = flags & (FIXED | FIXED_NOREPLACE),
                                    .keep = flags & FIXED_NOREPLACE,
                                    .offset = a[5]};
    if (a[5] % FRAME != 0)
        return -EINVAL;
    const struct file *file = flags & ANONYMOUS ? NULL : files_get(&process->user->files, a[4]);
    if (!(flags & ANONYMOUS) && !file)
        return -EBADF;
    if (file && is_zero_device(file))
        file = NULL;
    if ((!shared && type != PRIVATE) || a[1] == 0)
        return -EINVAL;
    if (!file)
        return explain_memory(process, a[1], address_space_map(&process->space, &request));
    int64_t failed = check_file(file, shared, a[2]);
    request.shared = shared;
    return failed ? failed : explain_memory(process, a[1], map_file(process, file, &request));
}

/* All that is mapped is in memory. */
int64_t linux_mincore(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t pages = (a[1] + FRAME - 1) / FRAME;
    (void)thread;
    if (a[0] % FRAME != 0)
        return -EINVAL;
    if (a[0] > SPACE_END || a[1] > SPACE_END - a[0])
        return -ENOMEM;
    uint8_t *to = guest_writable(process->user, a[2], pages);
    if (!to)
        return -EFAULT;
    for (uint64_t i = 0; i < pages; i++)
        if (!address_space_find(&process->space, a[0] + i * FRAME))
            return -ENOMEM;
    memset(to, 1, pages);
    return 0;
}

int64_t linux_flush_icache(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    (void)a;
    for (unsigned i = 0; i < process->hosts; i++)
        hart_flush_code(&process->system.harts[i]);
    return 0;
}

/* All memory is kept; only its mapping is checked. */
int64_t linux_mlock(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t first = a[0] & ~(uint64_t)(FRAME - 1);
    (void)thread;
    if (a[1] == 0)
        return 0;
    if (a[0] + a[1] < a[0])
        return -EINVAL;
    return address_space_discard(&process->space, first, a[0] + a[1] - first, false) ? -ENOMEM : 0;
}

int64_t linux_mlock2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { ON_FAULT = 1 };
    return a[2] & ~(uint64_t)ON_FAULT ? -EINVAL : linux_mlock(process, thread, a);
}

int64_t linux_mlockall(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { CURRENT = 1, FUTURE = 2, ON_FAULT = 4 };
    (void)process;
    (void)thread;
    return a[0] == 0 || a[0] == ON_FAULT || (a[0] & ~(uint64_t)(CURRENT | FUTURE | ON_FAULT)) ? -EINVAL : 0;
}
