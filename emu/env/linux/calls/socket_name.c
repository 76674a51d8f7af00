/* Addresses of sockets. Those of the internet are the host's. Paths of AF_UNIX name files beneath --dir: the host's socket is bound to a
 * name of its own there, which is unique and then renamed, so that the program is shown the path that it gave. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/calls/paths/special.h"
#include "emu/env/linux/calls/socket.h"
#include "emu/sim/alloc.h"

enum { PATH_FROM = offsetof(struct sockaddr_un, sun_path), NAMES_MOST = 1 << 16 };

/* The name in a folder of a socket that this process has bound. */
#define OWN_NAME ".croft-%ld-%u"

/* An address that the program has given to a socket. */
struct bound_name {
    uint32_t size;
    struct sockaddr_un name;
};

/* Copies an address from the program. Returns 0 or -errno. */
static int64_t get_bytes(struct process *process, uint64_t address, int32_t size, struct socket_name *name)
{
    memset(name, 0, sizeof *name);
    name->held = -1;
    if (size < 0 || (size_t)size > sizeof name->bytes)
        return -EINVAL;
    const void *from = guest_readable(process->user, address, (uint64_t)size);
    if (!from)
        return -EFAULT;
    memcpy(&name->bytes, from, (size_t)size);
    name->size = (socklen_t)size;
    return 0;
}

/* Returns whether an address of the socket is a name in the host's file system, or one without a file (abstract). */
static bool is_named(const struct file *file, const struct socket_name *name)
{
    return socket_family(file) == AF_UNIX && name->size >= PATH_FROM && name->bytes.head.sa_family == AF_UNIX;
}

/* Refuses to name a socket for others of the host: pairs are there without --net, too. */
static int64_t refuse_name(struct process *process)
{
    if (!process->warned_of_network)
        guest_warn(process->user, "the name of a socket is refused with EACCES: programs reach other sockets "
                                  "than their own pairs only with --net");
    process->warned_of_network = true;
    return -EACCES;
}

/* Copies the path of an address. Returns 0 or -errno. */
static int64_t get_path(struct process *process, const struct socket_name *name,
                        char path[sizeof(struct sockaddr_un)])
{
    const size_t length = name->size - PATH_FROM;
    if (name->size > sizeof(struct sockaddr_un))
        return -EINVAL;
    if (!process->user->options->net)
        return refuse_name(process);
    memcpy(path, (const char *)&name->bytes + PATH_FROM, length);
    path[length] = '\0';
    if (path[0] != '\0')
        return 0;
    if (!process->warned_of_abstract)
        guest_warn(process->user,
                   "a name of a socket without a file (abstract, or chosen by the system) is refused with "
                   "EACCES: other programs of the host would see it; use a path beneath --dir");
    process->warned_of_abstract = true;
    return -EACCES;
}

int64_t socket_name_get(struct process *process, const struct file *file, uint64_t address, int32_t size,
                        struct socket_name *name)
{
    char path[sizeof(struct sockaddr_un) + 1];
    struct sockaddr_un host = {.sun_family = AF_UNIX};
    struct stat st;
    int64_t failed = get_bytes(process, address, size, name);
    if (failed || !is_named(file, name) || name->size == PATH_FROM)
        return failed;
    failed = get_path(process, name, path);
    const int64_t found = failed ? failed : path_open_text(process->user, path, O_PATH);
    if (found < 0)
        return found;
    if (fstat((int)found, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        (void)close((int)found);
        return -ECONNREFUSED;
    }
    (void)snprintf(host.sun_path, sizeof host.sun_path, "/proc/self/fd/%d", (int)found);
    memcpy(&name->bytes, &host, sizeof host);
    name->size = sizeof host;
    name->held = (int)found;
    return 0;
}

void socket_name_release(const struct socket_name *name)
{
    if (name->held >= 0)
        (void)close(name->held);
}

/* Remembers what the program calls the socket that is bound to the next own name. */
static void remember(struct process *process, const struct socket_name *name)
{
    const unsigned count = process->bound_count;
    if ((count & (count - 1)) == 0)
        process->bound_names = alloc_resize(process->bound_names,
                                            (count ? 2 * (size_t)count : 1) * sizeof *process->bound_names);
    struct bound_name *row = &process->bound_names[process->bound_count++];
    *row = (struct bound_name){0};
    memcpy(&row->name, &name->bytes, name->size);
    row->size = (uint32_t)(PATH_FROM + strnlen(row->name.sun_path, sizeof row->name.sun_path) + 1);
}

/* Renames a file that must not replace another one, also in file systems that know no flags of renameat2. Returns 0 or -1. */
static int rename_new(int folder, const char *from, const char *to)
{
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return linkat(folder, from, folder, to, 0) == 0 ? unlinkat(folder, from, 0) : -1;
}

/* Binds the host's socket to its own name in a folder and renames that. Returns 0 or -errno. */
static int64_t bind_in(const struct process *process, const struct file *file, int folder, const char *last)
{
    char own[NAME_MAX + 1];
    struct sockaddr_un host = {.sun_family = AF_UNIX};
    struct stat st;
    if (fstatat(folder, last, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return -EADDRINUSE;
    (void)snprintf(own, sizeof own, OWN_NAME, (long)getpid(), process->bound_count);
    (void)snprintf(host.sun_path, sizeof host.sun_path, "/proc/self/fd/%d/%.64s", folder, own);
    if (bind(file->host, (const struct sockaddr *)&host, sizeof host) != 0)
        return -errno;
    if (fchmodat(folder, own, 0777 & ~process->umask, 0) == 0 && rename_new(folder, own, last) == 0)
        return 0;
    const int failed = errno;
    (void)unlinkat(folder, own, 0);
    return failed == EEXIST ? -EADDRINUSE : -failed;
}

int64_t socket_name_bind(struct process *process, const struct file *file, uint64_t address, int32_t size)
{
    char path[sizeof(struct sockaddr_un) + 1], full[PATH_MAX], last[NAME_MAX + 1];
    struct socket_name name;
    int64_t failed = get_bytes(process, address, size, &name);
    if (failed)
        return failed;
    if (!is_named(file, &name))
        return bind(file->host, &name.bytes.head, name.size) != 0 ? -errno : 0;
    failed = get_path(process, &name, path);
    if (failed)
        return failed;
    (void)snprintf(full, sizeof full, "%s", path);
    failed = path_complete(process, (uint64_t)AT_FDCWD, full);
    if (failed || path_is_foreign(process, full))
        return failed ? failed : -EROFS;
    if (process->bound_count == NAMES_MOST)
        return -ENOBUFS;
    const int64_t folder = path_open_text_parent(process->user, path, last);
    if (folder < 0) /* the folder itself, `.` or `..` */
        return folder == -EBUSY || folder == -EINVAL ? -EADDRINUSE : folder;
    failed = bind_in(process, file, (int)folder, last);
    (void)close((int)folder);
    if (!failed)
        remember(process, &name);
    return failed;
}

void socket_name_show(const struct process *process, struct socket_name *name)
{
    const char *path = (const char *)&name->bytes + PATH_FROM;
    long owner;
    unsigned number;
    if (name->size <= PATH_FROM || name->bytes.head.sa_family != AF_UNIX || path[0] == '\0')
        return;
    const char *last = memrchr(path, '/', strnlen(path, name->size - PATH_FROM));
    if (!last || sscanf(last + 1, OWN_NAME, &owner, &number) != 2)
        return;
    name->size = PATH_FROM; /* the name of another run's socket: none */
    if (owner == (long)getpid() && number < process->bound_count) {
        const struct bound_name *row = &process->bound_names[number];
        name->size = row->size; /* a path of 108 bytes has its zero behind them */
        memset(&name->bytes, 0, sizeof name->bytes);
        memcpy(&name->bytes, &row->name, sizeof row->name);
    }
}

int64_t socket_name_put(struct process *process, const struct socket_name *name, uint64_t address,
                        uint64_t size_address)
{
    struct socket_name shown = *name;
    int32_t room;
    const void *from = guest_readable(process->user, size_address, sizeof room);
    if (!from)
        return -EFAULT;
    memcpy(&room, from, sizeof room);
    if (room < 0)
        return -EINVAL;
    socket_name_show(process, &shown);
    const uint32_t size = shown.size < sizeof shown.bytes ? shown.size : (uint32_t)sizeof shown.bytes;
    const int64_t failed =
        guest_put(process->user, address, &shown.bytes, (uint32_t)room < size ? (uint32_t)room : size);
    return failed ? failed : guest_put(process->user, size_address, &shown.size, sizeof shown.size);
}
