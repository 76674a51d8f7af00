/* A guest's file descriptors, separate from the host's. */
#ifndef EMU_IO_FILES_H
#define EMU_IO_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILES_MAX = 1024 };

/* The entries of a folder, as of the last time that it was read from its start. */
struct listing {
    char **names; /* sorted by byte values */
    size_t count;
};

/* An open file. Descriptors that dup() made share it. */
struct file {
    int references;
    int host;      /* host descriptor */
    bool standard; /* one of croft's own standard streams, which is never closed and keeps its flags */
    int flags;     /* the guest's O_ flags, as F_GETFL returns them */
    bool folder;
    size_t position; /* of a folder: index of the next entry */
    struct listing listing;
    bool listed; /* true: `listing` is valid */
    /* What the environment itself has behind the file: a kind, 0 if there is nothing, and what that kind keeps here. */
    unsigned kind;
    uint64_t own;
    uint64_t number; /* that stat() shows of a pipe or socket, as the environment counts them; 0: none */
};

struct files {
    struct file *slots[FILES_MAX];
    bool close_on_exec[FILES_MAX];
    uint64_t limit;     /* new descriptors are below it; at most FILES_MAX */
    int working_folder; /* host descriptor; -1: the sandbox itself */
};

/* Maps descriptors 0-2 to croft's standard streams. Release with files_free(). */
void files_init(struct files *files);
void files_free(struct files *files);

/* Returns the open file of a guest descriptor, or NULL. */
struct file *files_get(const struct files *files, uint64_t descriptor);

/* Makes host descriptor `host` the lowest free guest descriptor and takes ownership of it. Returns the guest descriptor, or
 * -EMFILE after closing host. */
int64_t files_add(struct files *files, int host, int flags, bool folder);

/* Makes a copy of host descriptor `host` the working folder. Returns 0 or -errno. */
int64_t files_enter(struct files *files, int host);

/* Makes a second descriptor for an open file, the lowest free one that is at least `lowest`. Returns it or
 * -errno. */
int64_t files_duplicate(struct files *files, uint64_t descriptor, uint64_t lowest);

/* Like dup3(2) without flags. Returns the descriptor or -errno. */
int64_t files_duplicate_to(struct files *files, uint64_t descriptor, uint64_t to);

/* Closes a descriptor. Returns 0 or -EBADF. */
int64_t files_close(struct files *files, uint64_t descriptor);

/* Reads the entries of an open folder unless they were read since file->position was last 0. Returns 0 or
 * -errno. */
int64_t files_list(struct file *file);

/* Forgets them. */
void files_forget_list(struct file *file);

#endif
