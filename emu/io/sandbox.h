/* The only host folder that a guest can reach. The host's kernel resolves paths, including links and `..`,
 * beneath it. */
#ifndef EMU_IO_SANDBOX_H
#define EMU_IO_SANDBOX_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "emu/sim/error.h"

struct sandbox {
    int root;   /* the folder, opened with O_PATH */
    char *path; /* its absolute path without links */
    /* Absolute links, and `..` at its top, stay in it, as beneath chroot(2); else they lead out. Set for "/", and by whoever opens
     * the sandbox. */
    bool is_top;
};

/* Opens folder `dir`. Returns false and sets err and errno on failure. Release with sandbox_close(). */
bool sandbox_open(struct sandbox *sandbox, const char *dir, struct error *err);
void sandbox_close(struct sandbox *sandbox);

/* In the functions below, `base` is the folder from which a relative `path` starts, itself relative to the
 * sandbox and without links ("" is the sandbox). An absolute path must lie in sandbox->path. The functions
 * that open return a host descriptor, which the caller closes, or -errno. -EXDEV: the path leads out of the
 * sandbox (possibly through a link or /proc). -ENOSYS: the host's kernel lacks openat2(2), which Linux 5.6
 * added. SANDBOX_PROCESSES: the path leads into procfs, through which a guest would reach the emulator itself. */
enum { SANDBOX_PROCESSES = -EREMOTE };

/* As openat2(2) with the host's O_ flags; adds O_CLOEXEC and O_NOCTTY. */
int sandbox_open_at(const struct sandbox *sandbox, const char *base, const char *path, int flags,
                    mode_t mode);

/* Opens the folder that holds the path's last component and copies that component to last[]. A call of the
 * *at family on it does not follow the last component if it is a link. Returns -ENOTDIR if a slash follows an
 * existing last component that is not a folder, -EBUSY for the sandbox itself, -EINVAL for `.` and `..`. */
int sandbox_open_parent(const struct sandbox *sandbox, const char *base, const char *path,
                        char last[NAME_MAX + 1]);

/* Writes the path of an open folder, relative to the sandbox and without links. Returns 0 or -errno. */
int sandbox_path_of(const struct sandbox *sandbox, int folder, char *path, size_t size);

#endif
