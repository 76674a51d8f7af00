/* Files that only the program has, and not beneath --dir: of /proc, of /dev/shm, and memory files. On the host they are memory files, whose
 * numbers and times differ from run to run; here they have numbers in the order in which they are made, and times of the program's clock. */
#ifndef EMU_ENV_LINUX_CALLS_PATHS_OWN_FILE_H
#define EMU_ENV_LINUX_CALLS_PATHS_OWN_FILE_H

#include "emu/env/linux/served.h"

struct stat;
struct timespec;

/* Returns a number for stat() and links that no other file has. */
uint64_t own_file_number(struct process *process);

/* Make a file. Its name is a path, or "memfd:" and a name; `flags` are those of memfd_create(). A constant one has always the same number.
 * Return a host descriptor or -errno. */
int own_file_make(struct process *process, const char *name, unsigned flags);
int own_file_make_constant(struct process *process, const char *path);

/* Fills *st from an open host file, as fstat(): own files with their numbers and times. Returns 0 or -errno. */
int64_t own_file_stat(const struct process *process, int host, struct stat *st);

/* Writes where links of /proc to an open host file lead. Returns false on failure. */
bool own_file_link(const struct process *process, int host, char link[PATH_MAX]);

/* Sets the times of an open host file, as utimensat(). Returns 0 or -errno. */
int64_t own_file_set_times(int host, const struct timespec times[2]);

#endif
