#include "emu/env/linux/calls/paths/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/paths/shared_name.h"
#include "emu/env/linux/time.h"

/* The host's file keeps the number, in its name, and the time: as one before all that the host's clock has, until something changes the
 * file. */
#define BEFORE ((int64_t)1 << 40) /* seconds */

/* Devices and folders that are made of other ones of the host. */
enum { OWN_DEVICE = 2, PROCESSES_NUMBER = 1, NUMBERS = 3 };

static const char memory_names[] = "memfd:", shared_names[] = SHARED_PATH "/";

uint64_t own_file_number(struct process *process)
{
    return NUMBERS + process->files_made++;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static struct timespec present(const struct process *process)
{
    const uint64_t now = linux_now(process) + TIME_EPOCH;
    return (struct timespec){(time_t)(now / SECOND), (long)(now % SECOND)};
}

/* Lets a file's time be the present. */
static void touch(const struct process *process, int host)
{
    const struct timespec now = present(process),
                          times[2] = {{now.tv_sec - BEFORE, now.tv_nsec}, {now.tv_sec - BEFORE, now.tv_nsec}};
    (void)futimens(host, times);
}

static int make(const struct process *process, uint64_t number, const char *name, unsigned flags)
{
    enum { LONGEST = 249 }; /* of the host */
    char text[LONGEST + 1];
    const int used = snprintf(text, sizeof text, "%" PRIu64 ":", number);
    (void)snprintf(text + used, sizeof text - (size_t)used, "%.*s", LONGEST - used, name);
    const int host = memfd_create(text, flags | MFD_CLOEXEC);
    if (host < 0)
        return -errno;
    touch(process, host);
    return host;
}

int own_file_make(struct process *process, const char *name, unsigned flags)
{
    return make(process, own_file_number(process), name, flags);
}

int own_file_make_constant(struct process *process, const char *path)
{
    const uint32_t offset = 2166136261, prime = 16777619; /* FNV-1a */
    uint32_t number = offset;
    for (const char *at = path; *at; at++)
        number = (number ^ (uint8_t)*at) * prime;
    const int host = make(process, UINT64_C(1) << 32 | number, path, 0);
    if (host >= 0)
        (void)fchmod(host, S_IRUSR | S_IRGRP | S_IROTH);
    return host;
}

/* Reads the host's name of an open file; of an own one, its number and name. Returns false if it is none. */
static bool get_name(int host, uint64_t *number, char name[PATH_MAX])
{
    static const char folder[] = "/memfd:", end[] = " (deleted)";
    char link[32], text[PATH_MAX], *colon;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", host);
    const ssize_t got = readlink(link, text, sizeof text - 1);
    if (got < (ssize_t)(sizeof folder + sizeof end))
        return false;
    text[(size_t)got - (sizeof end - 1)] = '\0';
    if (!begins_with(text, folder))
        return false;
    *number = strtoul(text + sizeof folder - 1, &colon, 10);
    (void)snprintf(name, PATH_MAX, "%s", *colon ? colon + 1 : "");
    return *colon == ':';
}

/* Returns the name of /dev/shm that leads to a file, or NULL, and counts them in *names. */
static const char *find_shared(const struct process *process, const struct stat *st, uint64_t *names)
{
    const char *found = NULL;
    struct stat other;
    *names = 0;
    for (unsigned i = 0; i < process->shared_count; i++) {
        if (fstat(process->shared_names[i].host, &other) != 0 || other.st_ino != st->st_ino ||
            other.st_dev != st->st_dev)
            continue;
        found = process->shared_names[i].name;
        ++*names;
    }
    return found;
}

/* Folders that cannot be opened look like /proc, or /dev/shm; the host's own are in procfs. */
static void describe_folder(int host, const struct stat *on_host, struct stat *st)
{
    struct statfs fs;
    if (fstatfs(host, &fs) != 0 || fs.f_type != PROC_SUPER_MAGIC)
        return;
    const bool processes = on_host->st_ino == PROCESSES_NUMBER;
    st->st_ino = processes ? PROCESSES_NUMBER : SHARED_NUMBER;
    st->st_mode = S_IFDIR | (processes ? 0555 : 01777);
    st->st_dev = OWN_DEVICE;
    st->st_nlink = 2;
    st->st_size = 0;
    st->st_mtim = (struct timespec){(time_t)(TIME_EPOCH / SECOND), 0};
}

int64_t own_file_stat(const struct process *process, int host, struct stat *st)
{
    char name[PATH_MAX];
    uint64_t number, names;
    if (fstat(host, st) != 0)
        return -errno;
    const struct stat on_host = *st;
    call_mask_stat(st);
    if (S_ISDIR(st->st_mode))
        describe_folder(host, &on_host, st);
    if (!S_ISREG(st->st_mode) || st->st_nlink > 0 || !get_name(host, &number, name))
        return 0;
    st->st_dev = OWN_DEVICE;
    st->st_ino = number;
    if (st->st_mtim.tv_sec > -BEFORE / 2) {
        touch(process, host);
        st->st_mtim = present(process);
    } else {
        st->st_mtim.tv_sec += BEFORE;
    }
    if (begins_with(name, shared_names)) {
        (void)find_shared(process, &on_host, &names);
        st->st_nlink = names;
    } else if (begins_with(name, "/")) {
        st->st_nlink = 1;
    }
    if (begins_with(name, "/dev/") && !begins_with(name, shared_names)) {
        st->st_mode = S_IFCHR | 0666;
        call_mask_stat(st);
    }
    return 0;
}

bool own_file_link(const struct process *process, int host, char link[PATH_MAX])
{
    static const char self[] = "/proc/self/";
    char name[PATH_MAX], path[32];
    uint64_t number, names;
    struct stat st;
    if (fstat(host, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode) || st.st_nlink > 0 || !get_name(host, &number, name)) {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", host);
        const ssize_t length = readlink(path, link, PATH_MAX - 1);
        link[length < 0 ? 0 : length] = '\0';
        return length > 0;
    }
    const char *shared = find_shared(process, &st, &names), *before = "", *behind = "", *text = name;
    if (shared)
        before = shared_names, text = shared;
    else if (begins_with(name, self))
        before = "/proc/1/", text = name + strlen(self);
    else if (begins_with(name, memory_names))
        before = "/", behind = " (deleted)";
    else if (begins_with(name, shared_names))
        behind = " (deleted)";
    (void)snprintf(link, PATH_MAX, "%s%.*s%s", before, NAME_MAX, text, behind);
    return true;
}

/* Returns a time as the host's file keeps it: one that is too far off is the farthest. */
static time_t kept(time_t seconds)
{
    const time_t most = BEFORE / 2 - 1;
    return (seconds < -most ? -most : seconds > most ? most : seconds) - BEFORE;
}

int64_t own_file_set_times(int host, const struct timespec times[2])
{
    struct timespec to[2] = {times[0], times[1]};
    char name[PATH_MAX];
    uint64_t number;
    struct stat st;
    if (fstat(host, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 && get_name(host, &number, name))
        for (int i = 0; i < 2; i++)
            to[i].tv_sec = to[i].tv_nsec == UTIME_OMIT ? 0 : kept(to[i].tv_sec);
    return utimensat(host, "", to, AT_EMPTY_PATH) != 0 ? -errno : 0;
}
