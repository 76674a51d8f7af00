/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* The calls of /dev/axram, by which a process of Linux gets chips of machine axram (module axram.c, library chips.c).
 *
 * A process opens the device, takes chips, and maps the device from offset 0 on, shared: byte n is byte n of accelerator memory.
 * In the mapping it has the pieces of its own chips, which are zero at first; the others raise SIGSEGV. A region must be mapped at
 * a distance from its physical address that is a multiple of a piece of each chip, and so is any mapping. The chips are the
 * process's until it has closed and unmapped the device, or ended. */
#ifndef HOST_LINUX_AXRAM_DEVICE_H
#define HOST_LINUX_AXRAM_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

struct axram_chips {
    __u32 count;      /* asked for: 0: all; a multiple of `together`. Written: the number */
    __u32 first;      /* written: the chips are first, first + 1 and so on */
    __u32 all;        /* written: the machine's */
    __u32 together;   /* written: chips of a team */
    __u64 base, size; /* written: physical address and bytes of accelerator memory */
    __u64 piece;      /* written: bytes that follow each other in a chip */
};

/* Takes chips; waits until there are as many beside each other, in the order of those who ask. EINVAL: more than there are, or not a
 * multiple of a team; EBUSY: this open file has chips already; EAGAIN: the file does not wait (O_NONBLOCK). */
#define AXRAM_TAKE _IOWR('A', 0x60, struct axram_chips)

#endif
