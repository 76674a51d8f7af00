/* The operands of nucd and of the marks around calls of tasks, bit by bit (isa/MANUAL.md), for <croft/nucd.h>, the
 * kernel's driver and the emulator. nucd is slt x0, Xn, Xd; Xt is the register after Xd:
 *
 *   Xn   63            32 31  28 27  24 23          16 15                 0
 *        | 0x4e554344    | M out| M in | capabilities | length in parcels |
 *   Xd, Xt: four segments, the first in the lowest 16 bits
 *        15     14 13        5 4         0
 *        | size   | granules  | register |
 *
 * length: of the region, in units of 2 bytes, from the instruction after nucd. M: one bit for each segment, 1 = memory.
 * size: granules of 64 B, 4 KiB, 64 KiB or 1 MiB. register: x0 = segment unused; any other holds the value, or the
 * address of the first byte. An empty range has 0 granules.
 *
 * The marks are HINTs too, slt x0, Xn, x0, where Xn is
 *
 *   63            32 31              1     0
 *   | 0x4e554343    | 0               | end |
 *
 * Assembler sources see only the causes of traps. */
#ifndef CROFT_NUCD_BITS_H
#define CROFT_NUCD_BITS_H

/* Causes of traps: a fault in a task's region; a nucd or a mark that a driver serves. Of an accelerator: an order point
 * of a task that must wait for older ones; a region that was left by anything but its end. */
#define CROFT_NUCD_CAUSE_FAULT 24
#define CROFT_NUCD_CAUSE_CALL  25
#define CROFT_NUCD_CAUSE_ORDER 26
#define CROFT_NUCD_CAUSE_LEFT  27

#ifndef __ASSEMBLER__
enum {
    CROFT_NUCD_SIGNATURE = 0x4e554344, /* "NUCD" */
    CROFT_NUCD_MARK_SIGNATURE = 0x4e554343,
    CROFT_NUCD_MARK_END = 1,
    CROFT_NUCD_MAX_GRANULES = 511,
    CROFT_NUCD_SEGMENTS = 4,
};

/* log2 of the granule sizes, by `size`. */
#define CROFT_NUCD_GRANULE_SHIFTS 6, 12, 16, 20
#endif

#endif
