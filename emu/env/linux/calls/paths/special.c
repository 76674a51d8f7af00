#include "emu/env/linux/calls/paths/special.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/env/linux/calls/paths/shared_name.h"

enum { FOLLOW_NOT = 0x100, EMPTY_PATH = 0x1000, AT_CWD = -100 };

int sysroot_open(const struct process *process, const char *path, int flags)
{
    if (process->sysroot.root < 0 || path[0] != '/')
        return -ENOENT;
    const char *inner = path + strspn(path, "/");
    int host = sandbox_open_at(&process->sysroot, "", *inner ? inner : ".", flags, 0);
    if (host != -ENOENT)
        return host;
    host = sandbox_open_at(&process->sysroot, "", path, flags, 0); /* under the host's name of the sysroot */
    return host == -EXDEV ? -ENOENT : host;
}

/* Leaves out components of an absolute path that lead nowhere: `.` and empty ones; a slash at the end remains. */
static void shorten(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        const bool slash = from[0] == '/', dot = slash && from[1] == '.';
        if (slash && from[1] == '/') {
            from++;
        } else if (dot && (from[2] == '/' || from[2] == '\0')) {
            if (from[2] == '\0')
                *to++ = '/';
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* Puts the name of a folder of the sysroot, or of ours, before path[PATH_MAX]. */
static int64_t name_in(const char *base, char path[PATH_MAX])
{
    char full[2 * PATH_MAX + 2];
    const int used = snprintf(full, sizeof full, "/%s%s%s", base, base[0] ? "/" : "", path);
    if (used >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(path, full, (size_t)used + 1);
    shorten(path);
    return 0;
}

bool folder_is_foreign(const struct process *process, int host, char base[PATH_MAX])
{
    return process->sysroot.root >= 0 &&
           sandbox_path_of(&process->user->sandbox, host, base, PATH_MAX) == -EXDEV &&
           sandbox_path_of(&process->sysroot, host, base, PATH_MAX) == 0;
}

/* Replaces the beginning of a path[PATH_MAX] unless the result is too long. */
static void replace_beginning(char *path, size_t length, const char *by)
{
    const size_t rest = strlen(path + length) + 1, shift = strlen(by);
    if (shift + rest > PATH_MAX)
        return;
    memmove(path + shift, path + length, rest);
    memcpy(path, by, shift);
}

/* Writes other names of the program's own folder in /proc as /proc/self. A thread has nothing there that differs from what the program has
 * but its name. */
static void name_itself(const struct process *process, char *path)
{
    static const char *const names[] = {"/proc/1/", "/proc/thread-self/", "/proc/self/task/1/"};
    char own[64];
    (void)snprintf(own, sizeof own, "/proc/self/task/%d/comm", process->caller);
    if (strcmp(path, "/proc/thread-self/comm") == 0)
        replace_beginning(path, strlen(path), own);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0)
            replace_beginning(path, strlen(names[i]), "/proc/self/");
}

int64_t path_complete(const struct process *process, uint64_t folder, char path[PATH_MAX])
{
    const struct user *user = process->user;
    if (path[0] == '\0')
        return 0;
    if (path[0] == '/') {
        shorten(path);
        name_itself(process, path);
        return 0;
    }
    const struct file *file = (int32_t)folder == AT_CWD ? NULL : files_get(&user->files, folder);
    if (file && file->kind == FILE_SHARED)
        return name_in("dev/shm", path);
    const int host = (int32_t)folder == AT_CWD ? user->files.working_folder
                     : file && file->folder    ? file->host
                                               : -1;
    const int64_t failed = host < 0 ? -EXDEV : path_name_outer(process, host, path);
    return failed == -EXDEV ? 0 : failed;
}

int64_t path_text(const struct process *process, uint64_t folder, uint64_t address, char path[PATH_MAX])
{
    const int64_t failed = guest_string(process->user, address, path, PATH_MAX);
    return failed ? failed : path_complete(process, folder, path);
}

int64_t path_name_outer(const void *outer, int folder, char *path)
{
    char base[PATH_MAX];
    const struct process *process = outer;
    for (uint64_t i = 0; i < FILES_MAX; i++) {
        const struct file *file = files_get(&process->user->files, i);
        if (file && file->host == folder && file->kind == FILE_SHARED)
            return name_in("dev/shm", path);
    }
    return folder_is_foreign(process, folder, base) ? name_in(base, path) : -EXDEV;
}

/* Returns whether an absolute path begins with --dir. */
static bool is_inside(const struct process *process, const char *path)
{
    const char *root = process->user->sandbox.path;
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Returns whether one absolute path is the other, or leads on to it; slashes at the end do not count. */
static bool leads_to(const char *from, const char *to)
{
    size_t length = strlen(from);
    while (length > 0 && from[length - 1] == '/')
        length--;
    return strncmp(from, to, length) == 0 && (to[length] == '/' || to[length] == '\0');
}

/* Returns whether a path of the host's /dev/shm has to do with what the user has named there, or is beneath --dir like all other names
 * that lead there. */
static bool is_named_by_user(const struct process *process, const char *path)
{
    const char *const named[] = {process->user->sandbox.path, process->sysroot.path, process->executable};
    if (leads_to(named[0], SHARED_PATH))
        return true;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (named[i] && leads_to(SHARED_PATH, named[i]) &&
            (leads_to(named[i], path) || (leads_to(path, named[i]) && !shared_is_folder(path))))
            return true;
    return false;
}

const char *path_shared(const struct process *process, const char *path)
{
    const char *name = shared_name(path);
    return name && !is_named_by_user(process, path) ? name : NULL;
}

bool path_is_shared_folder(const struct process *process, const char *path)
{
    return shared_is_folder(path) && !is_named_by_user(process, path);
}

bool path_is_foreign(const struct process *process, const char *path)
{
    return process->sysroot.root >= 0 && path[0] == '/' && !is_inside(process, path);
}

int special_open(struct process *process, const char *path, int flags)
{
    int host = path[0] == '/' ? proc_open(process, path) : -ENOENT;
    if (host < 0 && strcmp(path, process->executable) == 0 &&
        !is_inside(process, path)) /* the user has named it */
        host = open(path, flags | O_CLOEXEC | O_NOCTTY);
    return host >= 0 ? host : sysroot_open(process, path, flags);
}

/* Returns a host file with random bytes from the program's seed. */
static int make_random(struct process *process)
{
    enum { SIZE = 1 << 20, PIECE = 4096 };
    uint8_t bytes[PIECE];
    int host = own_file_make_constant(process, "/dev/urandom");
    for (size_t done = 0; host >= 0 && done < SIZE; done += PIECE) {
        call_random(process->user, bytes, sizeof bytes);
        if (write(host, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
            break;
    }
    if (host >= 0)
        (void)lseek(host, 0, SEEK_SET);
    return host;
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

uint64_t descriptor_named(const char *name)
{
    enum { DIGITS = 10 };
    const size_t length = strspn(name, "0123456789");
    const bool is = length > 0 && length < DIGITS && name[length] == '\0' && (name[0] != '0' || length == 1);
    return is ? strtoul(name, NULL, 10) : UINT64_MAX;
}

int64_t special_descriptor(const struct process *process, const char *path, int mode)
{
    static const struct {
        const char *path;
        uint64_t descriptor;
    } names[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t descriptor = UINT64_MAX;
    bool named = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(path, names[i].path) == 0)
            descriptor = names[i].descriptor, named = true;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0 || path[length] == '\0' || strchr(path + length, '/'))
            continue;
        descriptor = descriptor_named(path + length);
        named = true;
    }
    if (!named)
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
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t got = readlink(link, name, sizeof name - 1);
    if (got < 0)
        return -EROFS;
    name[got] = '\0';
    return is_inside(process, name) || strncmp(name, memory, sizeof memory - 1) == 0 ? 0 : -EROFS;
}

bool path_leads_on(const struct process *process, const char *path)
{
    const char *const ends[] = {process->user->sandbox.path,
                                process->sysroot.path,
                                process->executable,
                                "/proc/1/fd/",
                                "/proc/self/fd/",
                                "/proc/self/task/",
                                "/dev/shm/"};
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/')
        length--;
    for (size_t i = 0; path[0] == '/' && i < sizeof ends / sizeof ends[0]; i++)
        if (ends[i] && strncmp(ends[i], path, length) == 0 && ends[i][length] == '/')
            return true;
    return false;
}

/* Returns whether a relative path has no other components than `.` and `..`, which is the last. */
static bool leads_above(const char *path)
{
    const size_t length = strlen(path);
    return length >= 2 && path[0] != '/' && path[strspn(path, "./")] == '\0' && !strstr(path, "...") &&
           strcmp(path + length - 2, "..") == 0;
}

/* Opens a folder for which path_leads_on() to look at it; those of processes look like /proc. own_file_stat() tells /dev/shm from it. */
static int open_leading(const struct process *process, const char *path)
{
    static const char processes[] = "/proc/";
    const bool own = strncmp(path, processes, sizeof processes - 1) == 0;
    const bool shared = path_is_shared_folder(process, path);
    const int host = open(own      ? processes
                          : shared ? SHARED_FOLDER
                                   : path,
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return host < 0 ? -errno : host;
}

int64_t path_at(struct process *process, uint64_t folder, uint64_t address, uint64_t flags, bool changes,
                bool *owned)
{
    char path[PATH_MAX];
    const int follow = flags & FOLLOW_NOT ? O_NOFOLLOW : 0;
    int64_t failed = path_text(process, folder, address, path);
    *owned = false;
    if (failed)
        return failed;
    const int there = process->user->files.working_folder;
    if (path[0] == '\0' && (flags & EMPTY_PATH) && (int32_t)folder == AT_CWD && there >= 0 &&
        folder_is_foreign(process, there, path))
        return changes ? -EROFS : there;
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
    if (path_shared(process, path))
        return shared_find(process, path_shared(process, path));
    *owned = true;
    int64_t host = changes ? -ENOENT : device_open(process, path, O_RDONLY);
    if (host == -ENOENT)
        host = special_open(process, path, O_PATH | follow);
    if (host >= 0 && changes) {
        (void)close((int)host);
        return -EROFS;
    }
    /* Programs look at all folders that getcwd() names, and tell them from each other. What is in them, they do not see. */
    if (host < 0 && !changes && path_leads_on(process, path))
        return open_leading(process, path);
    if (host >= 0 || path_is_foreign(process, path))
        return host;
    const bool above =
        leads_above(path) && (int32_t)folder == AT_CWD && process->user->files.working_folder < 0;
    if ((path[0] == '\0' && (flags & EMPTY_PATH)) || (above && !changes))
        return path_open_text(process->user, ".", O_PATH);
    return path_open(process->user, folder, address, O_PATH | follow);
}
