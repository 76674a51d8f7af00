#include "emu/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

struct output {
    FILE *stream;
    char *name;  /* as the user gave it */
    char *place; /* path of the complete file; links are resolved */
    char *aside; /* path of the file being written; NULL: it is `place` */
};

/* Opens a new file beside the place, with the permissions of the old file there, if any. Returns -1 if it cannot. */
static int open_aside(struct output *output, const struct stat *old)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s.%ld.part", output->place, (long)getpid()) >= (int)sizeof path)
        return -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    if (old && access(output->place, W_OK) != 0) {
        (void)close(fd);
        (void)unlink(path);
        return -1;
    }
    if (old)
        (void)fchmod(fd, old->st_mode & 07777);
    output->aside = alloc_text(path);
    return fd;
}

bool output_try(const char *path, bool *created, struct error *err)
{
    *created = access(path, F_OK) != 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(err, "cannot write '%s': %s", path, strerror(errno));
    (void)close(fd);
    return true;
}

/* Returns whether the file at the path can be replaced: it is a regular file with a single name, or nothing is there. */
static bool is_replaceable(const char *path, const struct stat *file)
{
    struct stat link;
    return file ? S_ISREG(file->st_mode) && file->st_nlink == 1 : lstat(path, &link) != 0;
}

struct output *output_open(const char *path, struct error *err)
{
    struct output *output = alloc(1, sizeof *output);
    struct stat old;
    char *target = realpath(path, NULL);
    bool exists = target && stat(target, &old) == 0;
    output->name = alloc_text(path);
    output->place = alloc_text(target ? target : path);
    free(target);
    const struct stat *file = exists ? &old : NULL;
    int fd = is_replaceable(path, file) ? open_aside(output, file) : -1;
    if (fd < 0)
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    output->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (output->stream)
        return output;
    (void)error_set(err, "cannot write '%s': %s", path, strerror(errno));
    output_drop(output);
    return NULL;
}

FILE *output_stream(const struct output *output)
{
    return output->stream;
}

bool output_keep(struct output *output, struct error *err)
{
    int failure = fflush(output->stream) != 0 ? errno : ferror(output->stream) ? EIO : 0;
    if (fclose(output->stream) != 0 && !failure)
        failure = errno;
    output->stream = NULL;
    if (!failure && output->aside && rename(output->aside, output->place) != 0)
        failure = errno;
    if (failure)
        (void)error_set(err, "writing '%s' failed: %s", output->name, strerror(failure));
    else {
        free(output->aside);
        output->aside = NULL;
    }
    output_drop(output);
    return !failure;
}

void output_drop(struct output *output)
{
    if (!output)
        return;
    if (output->stream)
        (void)fclose(output->stream);
    if (output->aside)
        (void)unlink(output->aside);
    free(output->aside);
    free(output->place);
    free(output->name);
    free(output);
}
