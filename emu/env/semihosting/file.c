/* Semihosting's operations on files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/semihosting/state.h"
#include "emu/hart/probe.h"
#include "emu/sim/text/say.h"

enum {
    CHUNK = 4096, /* bytes copied at a time */
    NEW_FILE_MODE = 0666,
    HANDLE_FIRST = 3, /* no handle is 0 */
};

/* Flags of fopen()'s modes r, rb, r+, r+b, w, wb, w+, w+b, a, ab, a+, a+b, by the mode's number / 2. */
static const int open_flags[] = {
    O_RDONLY,
    O_RDWR,
    O_WRONLY | O_CREAT | O_TRUNC,
    O_RDWR | O_CREAT | O_TRUNC,
    O_WRONLY | O_CREAT | O_APPEND,
    O_RDWR | O_CREAT | O_APPEND,
};
enum { MODES = 2 * sizeof open_flags / sizeof open_flags[0] };

/* Copies a name of `length` bytes to name[PATH_MAX]. Returns false and sets errno for SYS_ERRNO if it is not
 * usable. */
static bool get_name(struct semihosting *sh, uint64_t address, uint64_t length, char *name)
{
    int failed = 0;
    if (length >= PATH_MAX)
        failed = ENAMETOOLONG;
    else if (!hart_memory_read(sh->hart, address, name, length))
        failed = EFAULT;
    else if (memchr(name, 0, length))
        failed = EINVAL;
    if (failed) {
        (void)semihosting_fail(sh, failed);
        return false;
    }
    name[length] = '\0';
    return true;
}

/* Sets SYS_ERRNO from a sandbox function's result and returns -1. Warns of paths that lead out of the folder,
 * at most SEMIHOSTING_WARNINGS times. */
static uint64_t refuse(struct semihosting *sh, const char *name, int failed)
{
    if (failed != -EXDEV && failed != SANDBOX_PROCESSES)
        return semihosting_fail(sh, -failed);
    if (sh->warnings < SEMIHOSTING_WARNINGS) {
        sh->warnings++;
        if (failed == SANDBOX_PROCESSES)
            say_warning("semihosting: path '%s' is refused: procfs would give access to croft itself", name);
        else
            say_warning("semihosting: path '%s' leads out of '%s' (--dir)", name, sh->sandbox.path);
    }
    return semihosting_fail(sh, EACCES);
}

static uint64_t give(struct semihosting *sh, int64_t descriptor)
{
    return descriptor < 0 ? semihosting_fail(sh, (int)-descriptor) : (uint64_t)descriptor;
}

/* Opens a nameless file with the contents of the special file: a magic number and the feature bits. */
static uint64_t open_features(struct semihosting *sh, uint64_t mode)
{
    enum { EXIT_EXTENDED = 1, STDOUT_STDERR = 2 };
    static const uint8_t features[] = {'S', 'H', 'F', 'B', EXIT_EXTENDED | STDOUT_STDERR};
    if (mode > 1)
        return semihosting_fail(sh, EACCES);
    FILE *file = tmpfile();
    int host = -1;
    if (file && fwrite(features, 1, sizeof features, file) == sizeof features && fflush(file) == 0)
        host = dup(fileno(file));
    int failed = errno;
    if (file)
        (void)fclose(file);
    if (host < 0)
        return semihosting_fail(sh, failed);
    (void)lseek(host, 0, SEEK_SET);
    return give(sh, files_add(&sh->files, host, O_RDONLY, NULL));
}

static uint64_t open_console(struct semihosting *sh, uint64_t mode)
{
    uint64_t standard = mode < 4 ? STDIN_FILENO : mode < 8 ? STDOUT_FILENO : STDERR_FILENO;
    return give(sh, files_duplicate(&sh->files, standard, HANDLE_FIRST));
}

/* The list of handles ends with the number that no handle has. */
void semihosting_snapshot(struct semihosting *sh, struct snapshot *s)
{
    uint64_t handle = s->saves ? HANDLE_FIRST : 0;
    snapshot_section(s, "semihosting");
    while (!s->failed) {
        while (s->saves && handle < FILES_MAX && !files_get(&sh->files, handle))
            handle++;
        handle = snapshot_number(s, "handle", handle, FILES_MAX);
        if (s->failed || handle == FILES_MAX)
            return;
        const struct file *file = files_get(&sh->files, handle);
        if (s->saves && !file->standard)
            snapshot_fail(s, "the program has a file open (handle %u), which a snapshot cannot hold",
                          (unsigned)handle);
        uint64_t stream = snapshot_number(s, "stream", file ? (uint64_t)file->host : 0, STDERR_FILENO);
        if (!s->saves && !s->failed && (handle < HANDLE_FIRST || file))
            snapshot_fail(s, "the snapshot is damaged: handle %u is there already", (unsigned)handle);
        else if (!s->saves && !s->failed)
            (void)files_duplicate_to(&sh->files, stream, handle);
        handle++;
    }
}

/* Fields: name, mode, the name's length. */
uint64_t semihosting_open(struct semihosting *sh, uint64_t address)
{
    uint64_t fields[3];
    char name[PATH_MAX];
    struct stat st;
    if (!semihosting_fields(sh, address, fields, 3) || !get_name(sh, fields[0], fields[2], name))
        return UINT64_MAX;
    if (fields[1] >= MODES)
        return semihosting_fail(sh, EINVAL);
    if (strcmp(name, ":tt") == 0)
        return open_console(sh, fields[1]);
    if (strcmp(name, ":semihosting-features") == 0)
        return open_features(sh, fields[1]);
    /* O_NONBLOCK: opening a pipe must not wait for its other end. */
    int flags = open_flags[fields[1] / 2];
    int host =
        sandbox_open_at(&sh->sandbox, "", name, flags | O_NONBLOCK, flags & O_CREAT ? NEW_FILE_MODE : 0);
    if (host < 0)
        return refuse(sh, name, host);
    int failed = fstat(host, &st) != 0 ? errno
                 : S_ISDIR(st.st_mode) ? EISDIR
                 : S_ISREG(st.st_mode) ? 0
                                       : EACCES;
    if (failed) {
        (void)close(host);
        return semihosting_fail(sh, failed);
    }
    return give(sh, files_add(&sh->files, host, flags, NULL));
}

/* Returns the open file of a handle (fields[0]). Returns NULL and sets EBADF if there is none. */
static struct file *get_file(struct semihosting *sh, uint64_t handle)
{
    struct file *file = handle < HANDLE_FIRST ? NULL : files_get(&sh->files, handle);
    if (!file)
        (void)semihosting_fail(sh, EBADF);
    return file;
}

uint64_t semihosting_close(struct semihosting *sh, uint64_t address)
{
    uint64_t handle;
    if (!semihosting_fields(sh, address, &handle, 1) || !get_file(sh, handle))
        return UINT64_MAX;
    return give(sh, files_close(&sh->files, handle));
}

/* Returns how many bytes a host call has moved. Sets errno for SYS_ERRNO if it failed. */
static uint64_t moved(struct semihosting *sh, ssize_t result)
{
    if (result < 0)
        (void)semihosting_fail(sh, errno);
    return result < 0 ? 0 : (uint64_t)result;
}

/* Writes bytes to a file or the console. Returns the number of bytes written. */
static uint64_t put_bytes(struct semihosting *sh, const struct file *file, const uint8_t *bytes,
                          uint64_t count)
{
    if (file->standard && file->host == STDOUT_FILENO) {
        for (uint64_t i = 0; i < count; i++)
            sh->options.put(sh->options.context, bytes[i]);
        return count;
    }
    ssize_t written;
    do
        written = write(file->host, bytes, count);
    while (written < 0 && errno == EINTR);
    return moved(sh, written);
}

/* Reads from a file, or from the console up to the end of a line. Returns the number of bytes read. */
static uint64_t get_bytes(struct semihosting *sh, const struct file *file, uint8_t *bytes, uint64_t count)
{
    if (file->standard && file->host == STDIN_FILENO) {
        uint64_t got = 0;
        for (int byte; got < count && (byte = sh->options.get(sh->options.context)) >= 0;) {
            bytes[got++] = (uint8_t)byte;
            if (byte == '\n' || byte == '\r')
                break;
        }
        return got;
    }
    ssize_t got;
    do
        got = read(file->host, bytes, count);
    while (got < 0 && errno == EINTR);
    return moved(sh, got);
}

/* Fields: handle, buffer, length. Returns the number of bytes not moved. */
static uint64_t transfer(struct semihosting *sh, uint64_t address, bool writes)
{
    uint64_t fields[3];
    uint8_t bytes[CHUNK];
    if (!semihosting_fields(sh, address, fields, 3))
        return UINT64_MAX;
    const struct file *file = get_file(sh, fields[0]);
    if (!file)
        return fields[2];
    uint64_t left = fields[2];
    while (left > 0) {
        uint64_t count = left < CHUNK ? left : CHUNK;
        /* Check the buffer before reading input into it, too, so that no input is lost. */
        if (!hart_memory_read(sh->hart, fields[1], bytes, count)) {
            (void)semihosting_fail(sh, EFAULT);
            break;
        }
        uint64_t done = writes ? put_bytes(sh, file, bytes, count) : get_bytes(sh, file, bytes, count);
        if (!writes && !hart_memory_write(sh->hart, fields[1], bytes, done))
            break;
        left -= done;
        fields[1] += done;
        if (done < count)
            break;
    }
    return left;
}

uint64_t semihosting_write(struct semihosting *sh, uint64_t address)
{
    return transfer(sh, address, true);
}

uint64_t semihosting_read(struct semihosting *sh, uint64_t address)
{
    return transfer(sh, address, false);
}

uint64_t semihosting_istty(struct semihosting *sh, uint64_t address)
{
    uint64_t handle;
    const struct file *file = NULL;
    if (semihosting_fields(sh, address, &handle, 1))
        file = get_file(sh, handle);
    return file ? file->standard : UINT64_MAX;
}

/* Fields: handle, position from the start of the file. */
uint64_t semihosting_seek(struct semihosting *sh, uint64_t address)
{
    uint64_t fields[2];
    const struct file *file = NULL;
    if (semihosting_fields(sh, address, fields, 2))
        file = get_file(sh, fields[0]);
    if (!file)
        return UINT64_MAX;
    if (file->standard || fields[1] > INT64_MAX)
        return semihosting_fail(sh, file->standard ? ESPIPE : EINVAL);
    return lseek(file->host, (off_t)fields[1], SEEK_SET) < 0 ? semihosting_fail(sh, errno) : 0;
}

uint64_t semihosting_flen(struct semihosting *sh, uint64_t address)
{
    uint64_t handle;
    struct stat st;
    const struct file *file = NULL;
    if (semihosting_fields(sh, address, &handle, 1))
        file = get_file(sh, handle);
    if (!file)
        return UINT64_MAX;
    if (file->standard)
        return semihosting_fail(sh, ESPIPE);
    return fstat(file->host, &st) != 0 ? semihosting_fail(sh, errno) : (uint64_t)st.st_size;
}

/* Fields: buffer, identifier 0-255, the buffer's size. The same identifier always gives the same name. */
uint64_t semihosting_tmpnam(struct semihosting *sh, uint64_t address)
{
    uint64_t fields[3];
    char name[32];
    if (!semihosting_fields(sh, address, fields, 3))
        return UINT64_MAX;
    if (fields[1] > UINT8_MAX)
        return semihosting_fail(sh, EINVAL);
    uint64_t size = (uint64_t)snprintf(name, sizeof name, "semihosting-%03" PRIu64 ".tmp", fields[1]) + 1;
    if (fields[2] < size)
        return semihosting_fail(sh, ERANGE);
    return hart_memory_write(sh->hart, fields[0], name, size) ? 0 : semihosting_fail(sh, EFAULT);
}

/* Fields: name, its length. */
uint64_t semihosting_remove(struct semihosting *sh, uint64_t address)
{
    uint64_t fields[2];
    char name[PATH_MAX], last[NAME_MAX + 1];
    if (!semihosting_fields(sh, address, fields, 2) || !get_name(sh, fields[0], fields[1], name))
        return UINT64_MAX;
    int parent = sandbox_open_parent(&sh->sandbox, "", name, last);
    if (parent < 0)
        return refuse(sh, name, parent);
    int failed = unlinkat(parent, last, 0) != 0 ? errno : 0;
    (void)close(parent);
    return failed ? semihosting_fail(sh, failed) : 0;
}

/* Fields: old name, its length, new name, its length. */
uint64_t semihosting_rename(struct semihosting *sh, uint64_t address)
{
    uint64_t fields[4];
    char from[PATH_MAX], to[PATH_MAX], last_from[NAME_MAX + 1], last_to[NAME_MAX + 1];
    if (!semihosting_fields(sh, address, fields, 4) || !get_name(sh, fields[0], fields[1], from) ||
        !get_name(sh, fields[2], fields[3], to))
        return UINT64_MAX;
    int parent_from = sandbox_open_parent(&sh->sandbox, "", from, last_from);
    if (parent_from < 0)
        return refuse(sh, from, parent_from);
    int parent_to = sandbox_open_parent(&sh->sandbox, "", to, last_to);
    if (parent_to < 0) {
        (void)close(parent_from);
        return refuse(sh, to, parent_to);
    }
    int failed = renameat(parent_from, last_from, parent_to, last_to) != 0 ? errno : 0;
    (void)close(parent_from);
    (void)close(parent_to);
    return failed ? semihosting_fail(sh, failed) : 0;
}
