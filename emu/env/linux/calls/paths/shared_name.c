#include "emu/env/linux/calls/paths/shared_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/paths/own_file.h"
#include "emu/sim/alloc.h"

const char *shared_name(const char *path)
{
    static const char folder[] = SHARED_PATH "/";
    const char *name = path + sizeof folder - 1;
    if (strncmp(path, folder, sizeof folder - 1) != 0)
        return NULL;
    const size_t first = strcspn(name, "/");
    return first == 0 || (first <= 2 && strncmp(name, "..", first) == 0) ? NULL : name;
}

bool shared_is_folder(const char *path)
{
    return strcmp(path, SHARED_PATH) == 0 || strcmp(path, SHARED_PATH "/") == 0;
}

static struct named_memory *find(const struct process *process, const char *name)
{
    for (unsigned i = 0; i < process->shared_count; i++)
        if (strcmp(process->shared_names[i].name, name) == 0)
            return &process->shared_names[i];
    return NULL;
}

/* Returns why a name that nothing has is no name for a file, or 0. */
static int check_name(const struct process *process, const char *name)
{
    char first[NAME_MAX + 1];
    const size_t length = strcspn(name, "/");
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    if (name[length] == '\0')
        return 0;
    memcpy(first, name, length);
    first[length] = '\0';
    return find(process, first) ? -ENOTDIR : -ENOENT;
}

int shared_find(const struct process *process, const char *name)
{
    const struct named_memory *memory = find(process, name);
    const int wrong = memory ? 0 : check_name(process, name);
    return memory ? memory->host : wrong ? wrong : -ENOENT;
}

int64_t shared_refuse(const struct process *process, const char *name)
{
    const int found = shared_find(process, name);
    return found >= 0 ? -EEXIST : found == -ENOENT && !strchr(name, '/') ? -EPERM : found;
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

/* Opens the memory file again, with a position of its own. The program has an owner's rights, whoever the host's user is, who may always
 * open it. */
static int open_again(int memory, int flags, bool is_new)
{
    char link[64];
    struct stat st;
    const int mode = flags & O_ACCMODE;
    const mode_t needs =
        (mode == O_WRONLY ? 0 : S_IRUSR) | (mode == O_RDONLY ? 0 : S_IWUSR) | (flags & O_TRUNC ? S_IWUSR : 0);
    if (fstat(memory, &st) != 0)
        return -errno;
    if (!is_new && (st.st_mode & needs) != needs)
        return -EACCES;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", memory);
    (void)fchmod(memory, S_IRUSR | S_IWUSR);
    const int host = open(link, flags | O_CLOEXEC), failed = errno;
    (void)fchmod(memory, st.st_mode & 07777);
    return host < 0 ? -failed : host;
}

int shared_open(struct process *process, const char *name, uint64_t flags, uint64_t mode)
{
    enum { CREATES = 0100, EXCLUSIVE = 0200, TRUNCATES = 01000, APPENDS = 02000, FOLDER = 0200000 };
    static const char folder[] = SHARED_PATH "/";
    char path[sizeof folder + NAME_MAX];
    const struct named_memory *memory = find(process, name);
    const bool is_new = !memory;
    const int wrong = is_new ? check_name(process, name) : 0;
    if (wrong)
        return wrong;
    if (memory && (flags & CREATES) && (flags & EXCLUSIVE))
        return -EEXIST;
    if (is_new && !(flags & CREATES))
        return -ENOENT;
    if (memory && (flags & FOLDER))
        return -ENOTDIR;
    if (is_new) {
        (void)snprintf(path, sizeof path, "%s%s", folder, name);
        const int host = own_file_make(process, path, 0);
        if (host < 0)
            return host;
        (void)fchmod(host, mode & 0777 & ~process->umask);
        add(process, name, host);
        memory = find(process, name);
    }
    return open_again(memory->host,
                      (int)(flags & O_ACCMODE) | (flags & TRUNCATES ? O_TRUNC : 0) |
                          (flags & APPENDS ? O_APPEND : 0),
                      is_new);
}

int64_t shared_remove(struct process *process, const char *name, bool is_folder)
{
    struct named_memory *memory = find(process, name);
    if (!memory || is_folder)
        return memory ? -ENOTDIR : shared_find(process, name);
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
        return shared_find(process, name);
    const int wrong = taken ? 0 : check_name(process, to);
    if (wrong)
        return wrong;
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

int64_t shared_open_folder(struct process *process, bool close_on_exec)
{
    const int host = open(SHARED_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int64_t descriptor = host < 0 ? -errno : files_add(&process->user->files, host, O_RDONLY, true);
    if (descriptor >= 0) {
        files_get(&process->user->files, (uint64_t)descriptor)->kind = FILE_SHARED;
        process->user->files.close_on_exec[descriptor] = close_on_exec;
    }
    return descriptor;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* `from`: the process. */
static bool look(const void *from, const char *name, struct stat *st)
{
    const struct process *process = from;
    const struct named_memory *memory = find(process, name);
    *st = (struct stat){.st_ino = SHARED_NUMBER, .st_mode = S_IFDIR};
    return memory ? own_file_stat(process, memory->host, st) == 0 : name[strspn(name, ".")] == '\0';
}

int64_t shared_list(struct process *process, struct file *file, const uint64_t a[6])
{
    const size_t count = process->shared_count;
    if (!file->listed || file->position == 0) {
        files_forget_list(file);
        file->listing.names = alloc(count + 2, sizeof *file->listing.names);
        file->listing.names[0] = alloc_text(".");
        file->listing.names[1] = alloc_text("..");
        for (size_t i = 0; i < count; i++)
            file->listing.names[i + 2] = alloc_text(process->shared_names[i].name);
        file->listing.count = count + 2;
        qsort(file->listing.names, count + 2, sizeof *file->listing.names, compare_names);
        file->listed = true;
    }
    return call_put_entries(process->user, a, file, process, look);
}

void shared_free(struct process *process)
{
    while (process->shared_count > 0)
        forget(process, &process->shared_names[0]);
    free(process->shared_names);
}
