#include "emu/env/linux/calls/special.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/env/calls/served.h"

enum { FOLLOW_NOT = 0x100, EMPTY_PATH = 0x1000, AT_CWD = -100 };

int sysroot_open(const struct process *process, const char *path, int flags)
{
    if (process->sysroot.root < 0 || path[0] != '/')
        return -ENOENT;
    path += strspn(path, "/");
    return sandbox_open_at(&process->sysroot, "", *path ? path : ".", flags, 0);
}

bool path_is_foreign(const struct process *process, const char *path)
{
    const char *root = process->user->sandbox.path;
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool inside = strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
    return process->sysroot.root >= 0 && path[0] == '/' && !inside;
}

int special_open(struct process *process, const char *path, int flags)
{
    int host = path[0] == '/' ? proc_open(process, path) : -ENOENT;
    return host >= 0 ? host : sysroot_open(process, path, flags);
}

/* Returns a host file with random bytes from the program's seed. */
static int make_random(struct process *process)
{
    enum { SIZE = 1 << 20, PIECE = 4096 };
    uint8_t bytes[PIECE];
    int host = memfd_create("random", MFD_CLOEXEC);
    for (size_t done = 0; host >= 0 && done < SIZE; done += PIECE) {
        call_random(process->user, bytes, sizeof bytes);
        if (write(host, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
            break;
    }
    if (host >= 0)
        (void)lseek(host, 0, SEEK_SET);
    return host < 0 ? -errno : host;
}

int device_open(struct process *process, const char *path, int mode)
{
    static const char *const same[] = {"/dev/null", "/dev/zero", "/dev/full"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (strcmp(path, same[i]) == 0) {
            int host = open(path, mode | O_CLOEXEC | O_NOCTTY);
            return host < 0 ? -errno : host;
        }
    if (strcmp(path, "/dev/random") == 0 || strcmp(path, "/dev/urandom") == 0)
        return make_random(process);
    return strcmp(path, "/dev/tty") == 0 ? -ENXIO : -ENOENT;
}

int64_t special_descriptor(const struct process *process, const char *path, int mode)
{
    static const struct {
        const char *path;
        uint64_t descriptor;
    } names[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t descriptor = UINT64_MAX;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(path, names[i].path) == 0)
            descriptor = names[i].descriptor;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t length = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], length) != 0 || path[length] < '0' || path[length] > '9')
            continue;
        descriptor = strtoul(path + length, &end, 10);
        descriptor = *end == '\0' ? descriptor : UINT64_MAX;
    }
    if (descriptor == UINT64_MAX)
        return -ENOENT;
    const struct file *file = files_get(&process->user->files, descriptor);
    if (!file || file->folder)
        return file ? -EACCES : -EBADF;
    const int has = file->flags & O_ACCMODE;
    return has == mode || has == O_RDWR || file->standard ? (int64_t)descriptor : -EACCES;
}

int64_t special_changes(const struct process *process, int host)
{
    static const char memory[] = "/memfd:";
    char link[64], name[PATH_MAX];
    const char *root = process->user->sandbox.path;
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t got = readlink(link, name, sizeof name - 1);
    if (got < 0)
        return -EROFS;
    name[got] = '\0';
    bool inside = strncmp(name, root, length) == 0 && (name[length] == '/' || name[length] == '\0');
    return inside || strncmp(name, memory, sizeof memory - 1) == 0 ? 0 : -EROFS;
}

/* Returns whether an absolute path names a folder that leads to --dir. */
static bool leads_to_dir(const struct process *process, const char *path)
{
    const char *root = process->user->sandbox.path;
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        length--;
    return path[0] == '/' && strncmp(root, path, length) == 0 && root[length] == '/';
}

int64_t path_at(struct process *process, uint64_t folder, uint64_t address, uint64_t flags, bool changes,
                bool *owned)
{
    char path[PATH_MAX];
    const int follow = flags & FOLLOW_NOT ? O_NOFOLLOW : 0;
    int64_t failed = guest_string(process->user, address, path, sizeof path);
    *owned = false;
    if (failed)
        return failed;
    if (path[0] == '\0' && (flags & EMPTY_PATH) && (int32_t)folder != AT_CWD) {
        const struct file *file = files_get(&process->user->files, folder);
        const int64_t refused = file && changes ? special_changes(process, file->host) : 0;
        return refused ? refused : file ? file->host : -EBADF;
    }
    int64_t open = special_descriptor(process, path, O_RDONLY);
    if (open >= 0 && !changes)
        return files_get(&process->user->files, (uint64_t)open)->host;
    if (open == -EBADF)
        return -ENOENT;
    *owned = true;
    int64_t host = changes ? -ENOENT : device_open(process, path, O_RDONLY);
    if (host == -ENOENT)
        host = special_open(process, path, O_PATH | follow);
    if (host >= 0 && changes) {
        (void)close((int)host);
        return -EROFS;
    }
    /* The folders that hold --dir are never seen: each is --dir itself, as `..` at the root of a file system. Programs look at
     * all that getcwd() names. */
    if (host < 0 && !changes && leads_to_dir(process, path))
        return sandbox_open_at(&process->user->sandbox, "", ".", O_PATH, 0);
    if (host >= 0 || path_is_foreign(process, path))
        return host;
    bool above =
        strcmp(path, "..") == 0 && (int32_t)folder == AT_CWD && process->user->files.working_folder < 0;
    if ((path[0] == '\0' && (flags & EMPTY_PATH)) || (above && !changes))
        return path_open_text(process->user, ".", O_PATH);
    return path_open(process->user, folder, address, O_PATH | follow);
}
