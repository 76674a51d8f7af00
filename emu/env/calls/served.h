/* The system calls that the environments of user programs share. */
#ifndef EMU_ENV_CALLS_SERVED_H
#define EMU_ENV_CALLS_SERVED_H

#include <limits.h>

#include "emu/env/guest/guest.h"

struct stat;

/* The kernel's struct iovec: a range of guest addresses. */
struct span {
    uint64_t base, length;
};

enum { VECTORS_MAX = 1024 /* IOV_MAX of Linux */ };

/* A system call; a[0..5] are its arguments. calls.c lists the numbers. */
#define CALL(name) int64_t call_##name(struct user *user, const uint64_t a[6]);
/* emu/env/calls/file.c: calls on descriptors */
CALL(dup)
CALL(dup3)
CALL(fcntl)
CALL(close)
CALL(getdents64)
CALL(lseek)
CALL(read)
CALL(write)
CALL(readv)
CALL(writev)
CALL(pread)
CALL(pwrite)
CALL(preadv)
CALL(pwritev)
CALL(fstat)
CALL(ftruncate)
CALL(fsync)
CALL(ioctl)
/* emu/env/calls/path.c: calls on paths */
CALL(getcwd)
CALL(faccessat)
CALL(chdir)
CALL(fchdir)
CALL(openat)
CALL(fstatat)
CALL(unlinkat)
CALL(mkdirat)
CALL(linkat)
CALL(renameat)
CALL(renameat2)
CALL(readlinkat)
CALL(open)
CALL(link)
CALL(unlink)
CALL(mkdir)
CALL(access)
CALL(stat)
CALL(lstat)
/* emu/env/calls/process.c: calls on the process, its memory and time */
CALL(exit)
CALL(clone)
CALL(kill)
CALL(tgkill)
CALL(rt_sigaction)
CALL(rt_sigprocmask)
CALL(times)
CALL(uname)
CALL(gettimeofday)
CALL(clock_gettime)
CALL(clock_getres)
CALL(nanosleep)
CALL(clock_nanosleep)
CALL(time)
CALL(getrandom)
CALL(prlimit)
CALL(brk)
CALL(mmap)
CALL(munmap)
CALL(mremap)
CALL(flush_icache)
#undef CALL

/* Serves read, write, and with `vectors` readv and writev, of which `done` bytes have been moved before. Returns the number of bytes
 * moved now, or -errno; -EAGAIN if a file that is not one of the standard streams is not ready. */
int64_t call_continue(struct user *user, const uint64_t a[6], bool writes, bool vectors, uint64_t done);

/* Reads the guest's vectors[count] at address. Returns 0, -EINVAL (too many, or too many bytes) or -EFAULT. */
int64_t call_get_spans(struct user *user, uint64_t address, uint64_t count, struct span spans[VECTORS_MAX]);

/* Sets *total to the bytes that such a call names, *first to those of its first buffer that is not empty. Returns 0 or -errno. */
int64_t call_measure(struct user *user, const uint64_t a[6], bool vectors, uint64_t *total, uint64_t *first);

/* Fills bytes[length] with the program's next random ones. */
void call_random(struct user *user, uint8_t *bytes, uint64_t length);

/* Open what a path names beneath --dir (`folder`: a descriptor or AT_FDCWD), or the folder that holds its last component. Return
 * a host descriptor, which the caller closes, or -errno; a path that is refused is warned of once. Opening a device has effects:
 * use O_PATH first. */
int64_t path_open(struct user *user, uint64_t folder, uint64_t address, int flags);
int64_t path_open_parent(struct user *user, uint64_t folder, uint64_t address, char last[NAME_MAX + 1]);
/* The same of a text, from the working folder on. */
int64_t path_open_text(struct user *user, const char *text, int flags);
int64_t path_open_text_parent(struct user *user, const char *text, char last[NAME_MAX + 1]);

/* Stores the kernel's struct stat for riscv64 at a guest address, filled from an open host file. Returns 0 or
 * -errno. */
int64_t call_put_stat(struct user *user, uint64_t address, int host);

/* Stores the entries of an open folder's listing from its position on as getdents64 does, whose arguments are a[]. look() fills *st for a
 * name, or returns false if there is no longer such a file. Returns the bytes or -errno. */
int64_t call_put_entries(struct user *user, const uint64_t a[6], struct file *file, const void *from,
                         bool (*look)(const void *from, const char *name, struct stat *st));

/* Its steps: makes 0 what would differ from run to run, of pipes and devices; stores. */
void call_mask_stat(struct stat *st);
int64_t call_store_stat(struct user *user, uint64_t address, const struct stat *st);

#endif
