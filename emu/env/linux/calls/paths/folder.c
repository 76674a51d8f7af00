/* Calls on the working folder, which may lie in the sysroot. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/paths/shared_name.h"
#include "emu/env/linux/calls/paths/special.h"
#include "emu/env/linux/served.h"

enum { AT_CWD = -100 };

int64_t linux_getcwd(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char base[PATH_MAX], path[PATH_MAX + 1];
    struct user *user = process->user;
    const int folder = user->files.working_folder;
    (void)thread;
    if (folder < 0 || !folder_is_foreign(process, folder, base))
        return call_getcwd(user, a);
    const uint64_t length = (uint64_t)snprintf(path, sizeof path, "/%s", base) + 1;
    const int64_t failed = length <= a[1] ? guest_put(user, a[0], path, length) : -ERANGE;
    return failed ? failed : (int64_t)length;
}

/* A path that only the sysroot has leads there; others lead beneath --dir. */
int64_t linux_chdir(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char path[PATH_MAX];
    (void)thread;
    const int64_t failed = path_text(process, (uint64_t)AT_CWD, a[0], path);
    if (failed)
        return failed;
    if (!path_is_foreign(process, path))
        return call_chdir(process->user, a);
    const int host = sysroot_open(process, path, O_PATH | O_DIRECTORY);
    if (host < 0)
        return host;
    const int64_t result = files_enter(&process->user->files, host);
    (void)close(host);
    return result;
}

int64_t linux_fchdir(struct process *process, struct thread *thread, const uint64_t a[6])
{
    char base[PATH_MAX];
    const struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    if (file && file->kind == FILE_SHARED)
        return -EACCES;
    if (file && file->folder && folder_is_foreign(process, file->host, base))
        return files_enter(&process->user->files, file->host);
    return call_fchdir(process->user, a);
}

int64_t linux_getdents64(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct file *file = files_get(&process->user->files, a[0]);
    (void)thread;
    return file && file->kind == FILE_SHARED ? shared_list(process, file, a)
                                             : call_getdents64(process->user, a);
}
