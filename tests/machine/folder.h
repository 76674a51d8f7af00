/* A temporary folder for a test that needs files. */
#ifndef TESTS_MACHINE_FOLDER_H
#define TESTS_MACHINE_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[64];
    char shipped[80]; /* a subfolder for machines that are found by name */
};

/* Writes `size` bytes to the file `name` in the folder. */
static inline void folder_write(const struct folder *folder, const char *name, const void *bytes, size_t size)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, name);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static inline int folder_make(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder)
        abort();
    (void)snprintf(folder->path, sizeof folder->path, "%s/machine-test-XXXXXX", P_tmpdir);
    if (!mkdtemp(folder->path))
        abort();
    (void)snprintf(folder->shipped, sizeof folder->shipped, "%s/shipped", folder->path);
    if (mkdir(folder->shipped, 0700) != 0)
        abort();
    *state = folder;
    return 0;
}

static inline int folder_drop(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    (void)stat;
    (void)type;
    (void)where;
    return remove(path);
}

static inline int folder_remove(void **state)
{
    struct folder *folder = *state;
    int status = nftw(folder->path, folder_drop, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return status;
}

#endif
