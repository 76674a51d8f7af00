/* Paths that only Linux programs see: the sysroot, /proc, /sys, /dev. */
#ifndef EMU_ENV_LINUX_CALLS_PATHS_SPECIAL_H
#define EMU_ENV_LINUX_CALLS_PATHS_SPECIAL_H

#include "emu/env/linux/served.h"

/* Reads a path argument, relative to `folder`. A path that starts in a folder of the sysroot is made absolute, and one of the program's
 * own folder in /proc begins with /proc/self. Returns 0 or -errno. */
int64_t path_text(const struct process *process, uint64_t folder, uint64_t address, char path[PATH_MAX]);

/* The same of a text. */
int64_t path_complete(const struct process *process, uint64_t folder, char path[PATH_MAX]);

/* Puts the name of an open folder of the sysroot before a path[PATH_MAX], for struct user, whose `outer` is the process. Returns 0 or
 * -errno; -EXDEV: it is no such folder. */
int64_t path_name_outer(const void *outer, int folder, char *path);

/* Returns whether an open folder lies in the sysroot and not beneath --dir; then base[] is its name beneath the sysroot. */
bool folder_is_foreign(const struct process *process, int host, char base[PATH_MAX]);

/* Return the name of a file of /dev/shm if a path leads there, or NULL (shared_name.h); and whether it is that folder. What the user has named
 * there, as --dir, is the host's. */
const char *path_shared(const struct process *process, const char *path);
bool path_is_shared_folder(const struct process *process, const char *path);

/* Returns whether programs see a folder at this path although it cannot be opened. */
bool path_leads_on(const struct process *process, const char *path);

/* Opens an absolute path in the sysroot, to read it: beneath it, or under the name that it has on the host. Returns a host descriptor;
 * -ENOENT: it is not there. */
int sysroot_open(const struct process *process, const char *path, int flags);

/* Returns whether a path that the sysroot does not have cannot be elsewhere either. */
bool path_is_foreign(const struct process *process, const char *path);

/* Opens a path of /proc, /sys or the sysroot, to read it. Returns a host descriptor, or -ENOENT. */
int special_open(struct process *process, const char *path, int flags);

/* Opens a device of /dev. Returns a host descriptor; -ENOENT: it is none. */
int device_open(struct process *process, const char *path, int mode);

/* Returns the descriptor of a name in a folder of descriptors; UINT64_MAX: no descriptor is called that. */
uint64_t descriptor_named(const char *name);

/* Returns the program's own descriptor that a path of /dev or /proc/self/fd names, if it allows the access mode; -ENOENT: it is no
 * such path, -EBADF: the descriptor is not open, or no number. */
int64_t special_descriptor(const struct process *process, const char *path, int mode);

/* Returns 0 if the attributes of an open host file may be changed, as those of the sysroot's may not; or -EROFS. */
int64_t special_changes(const struct process *process, int host);

/* Opens what a path names to look at it, or to change its attributes if `changes`. `flags`: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH.
 * Returns a host descriptor or -errno. The caller closes it if *owned is set. */
int64_t path_at(struct process *process, uint64_t folder, uint64_t address, uint64_t flags, bool changes,
                bool *owned);

#endif
