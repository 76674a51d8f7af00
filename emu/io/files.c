#include "emu/io/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

static struct file *file_new(int host, int flags)
{
    struct file *file = alloc(1, sizeof *file);
    *file = (struct file){.references = 1, .host = host, .flags = flags};
    return file;
}

static void listing_free(struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        free(listing->names[i]);
    free(listing->names);
    *listing = (struct listing){0};
}

/* Closes a host descriptor. Closing a socket that lingers waits for what it has still to send; the host then sends it meanwhile. */
static void close_host(int host, bool is_special)
{
    struct linger linger;
    socklen_t size = sizeof linger;
    if (is_special && getsockopt(host, SOL_SOCKET, SO_LINGER, &linger, &size) == 0 && linger.l_onoff &&
        linger.l_linger) {
        linger.l_onoff = 0;
        (void)setsockopt(host, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    }
    (void)close(host);
}

static void file_release(struct file *file)
{
    if (--file->references > 0)
        return;
    if (!file->standard)
        close_host(file->host, file->kind != 0);
    listing_free(&file->listing);
    free(file);
}

void files_init(struct files *files)
{
    static const int mode[] = {O_RDONLY, O_WRONLY, O_WRONLY};
    *files = (struct files){.limit = FILES_MAX, .working_folder = -1};
    for (int i = 0; i <= STDERR_FILENO; i++) {
        files->slots[i] = file_new(i, mode[i]);
        files->slots[i]->standard = true;
    }
}

void files_free(struct files *files)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        if (files->slots[i])
            file_release(files->slots[i]);
    }
    if (files->working_folder >= 0)
        (void)close(files->working_folder);
    *files = (struct files){.working_folder = -1};
}

struct file *files_get(const struct files *files, uint64_t descriptor)
{
    return descriptor < FILES_MAX ? files->slots[descriptor] : NULL;
}

static int64_t place(struct files *files, struct file *file, uint64_t lowest)
{
    for (uint64_t i = lowest; i < files->limit; i++) {
        if (!files->slots[i]) {
            files->slots[i] = file;
            files->close_on_exec[i] = false;
            return (int64_t)i;
        }
    }
    return -EMFILE;
}

int64_t files_add(struct files *files, int host, int flags, bool folder)
{
    struct file *file = file_new(host, flags);
    file->folder = folder;
    int64_t descriptor = place(files, file, 0);
    if (descriptor < 0)
        file_release(file);
    return descriptor;
}

int64_t files_enter(struct files *files, int host)
{
    int copy = fcntl(host, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return -errno;
    if (files->working_folder >= 0)
        (void)close(files->working_folder);
    files->working_folder = copy;
    return 0;
}

int64_t files_duplicate(struct files *files, uint64_t descriptor, uint64_t lowest)
{
    struct file *file = files_get(files, descriptor);
    if (!file)
        return -EBADF;
    int64_t copy = place(files, file, lowest);
    if (copy >= 0)
        file->references++;
    return copy;
}

int64_t files_duplicate_to(struct files *files, uint64_t descriptor, uint64_t to)
{
    struct file *file = files_get(files, descriptor);
    if (!file || to >= files->limit)
        return -EBADF;
    if (descriptor == to)
        return -EINVAL;
    file->references++;
    (void)files_close(files, to);
    files->slots[to] = file;
    files->close_on_exec[to] = false;
    return (int64_t)to;
}

int64_t files_close(struct files *files, uint64_t descriptor)
{
    struct file *file = files_get(files, descriptor);
    if (!file)
        return -EBADF;
    files->slots[descriptor] = NULL;
    file_release(file);
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void read_names(DIR *folder, struct listing *listing)
{
    size_t room = 0;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (listing->count == room) {
            room = room ? 2 * room : 64;
            char **grown = alloc_resize(listing->names, room * sizeof *grown);
            listing->names = grown;
        }
        listing->names[listing->count++] = alloc_text(entry->d_name);
    }
    if (listing->count > 0)
        qsort(listing->names, listing->count, sizeof *listing->names, compare_names);
}

void files_forget_list(struct file *file)
{
    listing_free(&file->listing);
    file->listed = false;
}

int64_t files_list(struct file *file)
{
    if (file->listed && file->position > 0)
        return 0;
    /* Open a second descriptor, because closedir() closes the one that fdopendir() got. */
    int host = openat(file->host, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = host < 0 ? NULL : fdopendir(host);
    if (!folder) {
        int64_t failed = -errno;
        if (host >= 0)
            (void)close(host);
        return failed;
    }
    files_forget_list(file);
    read_names(folder, &file->listing);
    (void)closedir(folder);
    file->listed = true;
    return 0;
}
