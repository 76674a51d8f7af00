/* A guest's file descriptors, kept apart from the host's. */
#ifndef EMU_IO_FILES_H
#define EMU_IO_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILES_MAX = 1024 };

/* Names of a folder's entries as they were when it was read from its start. */
struct listing {
    char **names; /* sorted by byte values */
    size_t count;
};

/* An open file; descriptors that dup() made share it. */
struct file {
    int references;
    int host;        /* host descriptor */
    bool standard;   /* one of croft's own standard streams: never closed, its flags never changed */
    int flags;       /* the guest's O_ flags, as F_GETFL tells them */
    char *folder;    /* if it is a folder: its path relative to the sandbox, else NULL */
    size_t position; /* if it is a folder: index of the next entry */
    struct listing listing;
    bool listed; /* listing is valid */
};

struct files {
    struct file *slots[FILES_MAX];
    bool close_on_exec[FILES_MAX];
    char *working_folder; /* relative to the sandbox, without links; "" is the sandbox */
};

/* Descriptors 0-2 become croft's standard streams. Release with files_free(). */
void files_init(struct files *files);
void files_free(struct files *files);

/* The open file of a guest descriptor, or NULL. */
struct file *files_get(const struct files *files, uint64_t descriptor);

/* Takes over host descriptor `host` (and a copy of the folder's path if it is one) as the lowest free guest
 * descriptor. Returns that, or -EMFILE after closing host. */
int64_t files_add(struct files *files, int host, int flags, const char *folder);

/* A second descriptor for an open file: the lowest free one that is at least `lowest`. Returns it or -errno.
 */
int64_t files_duplicate(struct files *files, uint64_t descriptor, uint64_t lowest);

/* dup3(2) without flags. */
int64_t files_duplicate_to(struct files *files, uint64_t descriptor, uint64_t to);

/* Returns 0 or -EBADF. */
int64_t files_close(struct files *files, uint64_t descriptor);

/* Reads the entries of an open folder if that was not done since file->position was last 0. Returns 0 or
 * -errno. */
int64_t files_list(struct file *file);

#endif
