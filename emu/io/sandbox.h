/* The one host folder that a guest can reach: paths are resolved beneath it by the kernel, links and `..`
 * included. */
#ifndef EMU_IO_SANDBOX_H
#define EMU_IO_SANDBOX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "emu/sim/error.h"

struct sandbox {
    int root;   /* the folder, opened for path resolution only */
    char *path; /* its absolute path without links */
};

/* Opens folder `dir`; err says why that is impossible. Release with sandbox_close(). */
bool sandbox_open(struct sandbox *sandbox, const char *dir, struct error *err);
void sandbox_close(struct sandbox *sandbox);

/* In the functions below `base` is the folder that a relative `path` starts from, itself relative to the
 * sandbox and without links ("" is the sandbox). An absolute path must lie in sandbox->path. They return a
 * host descriptor that the caller closes, or -errno; -EXDEV means that the path leads out of the sandbox
 * (also through a link or /proc), -ENOSYS that the host's kernel is older than Linux 5.6, which brought
 * openat2(2). */

/* openat2(2) with the host's O_ flags; O_CLOEXEC and O_NOCTTY are added. */
int sandbox_open_at(const struct sandbox *sandbox, const char *base, const char *path, int flags,
                    mode_t mode);

/* Opens the folder that holds the path's last component, which goes to last[]; with a call of the *at family
 * on it the last component itself is never followed if it is a link. -ENOTDIR if a slash follows the last
 * component of something that exists and is no folder; -EBUSY for the sandbox itself, -EINVAL for `.` and
 * `..`. */
int sandbox_open_parent(const struct sandbox *sandbox, const char *base, const char *path,
                        char last[NAME_MAX + 1]);

/* Writes the path of an open folder, relative to the sandbox and without links. Returns 0 or -errno. */
int sandbox_path_of(const struct sandbox *sandbox, int folder, char *path, size_t size);

#endif
