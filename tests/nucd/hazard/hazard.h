/* Random programs that offload by nucd, for the suite `hazards`: declarations shared by the files of the
 * generator. */
#ifndef TESTS_NUCD_HAZARD_HAZARD_H
#define TESTS_NUCD_HAZARD_HAZARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A body is a sequence of pieces of assembler code. entry.S calls it with random registers and random
 * memory. These rules make QEMU's inline execution the oracle:
 *
 *   s0, s1                   middle of the arena, context (struct context of main.c); never written
 *   s2-s10, a2-a7, fs0-fs7   registers of the host: always defined; their last values are part of the digest
 *   s11                      counter of the loop around tasks
 *   t0-t6, a0, a1, ra,
 *   ft0-ft7                  dead between pieces; a region reads only those that are handed over and those
 *                            that it has written itself
 *
 * Each piece has its own random generator, so that omitting pieces does not change the others. Within an
 * instruction, the compiler determines the order of draws. */

enum {
    HAZARD_ARENA = 4096, /* bytes around s0 that immediate offsets reach: -2048 to 2047 */
    HAZARD_BEHIND = 512, /* bytes of the arena after them, for ranges with a computed base */
    HAZARD_PIECES = 24,  /* maximum number per body */
    HAZARD_FD = 0,       /* offset in the context: descriptor of a scratch file */
};

struct hazard {
    FILE *out;
    uint64_t random;
    unsigned body, label, literal; /* label, literal: next local label, next constant in memory */
    unsigned spread;               /* the body's accesses are within this many bytes around s0 */
    unsigned bytes;                /* size of the region so far */
    bool faults;                   /* one region of the body faults */
};

/* Draw a number from 0 to below - 1, and true once in `in` times. */
uint32_t hazard_random(struct hazard *h, uint32_t below);
bool hazard_once(struct hazard *h, uint32_t in);

/* Write one instruction of 4 bytes, and of 2 bytes. */
void hazard_code(struct hazard *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hazard_short(struct hazard *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a line that is not an instruction. */
void hazard_line(struct hazard *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Choose one of the host's integer registers by number, return its name, and choose a floating-point
 * register's name. */
unsigned hazard_host_reg(struct hazard *h);
const char *hazard_reg(unsigned number);
const char *hazard_host_float(struct hazard *h);

/* Chooses an offset from s0 for an access of `size` bytes, a multiple of `align`. */
int hazard_offset(struct hazard *h, unsigned size, unsigned align);

/* Writes 64 bytes of the arena to standard output, in half of the calls. */
void hazard_output(struct hazard *h);

/* Write a random piece without a task, and one with at least one. */
void hazard_host_piece(struct hazard *h);
void hazard_task_piece(struct hazard *h);

/* Writes one nucd with its region. step: number of bytes by which the bases of ranges advance per unit of
 * s11; or 0. */
void hazard_task(struct hazard *h, unsigned step);

/* A nucd with malformed operands. */
void hazard_malformed(struct hazard *h);

/* Writes the instructions before the nucd that load Xn, Xd and Xt into these registers; xd is the even one of
 * the pair. */
struct hazard_operands {
    uint64_t xn, xd, xt;
    unsigned xn_reg, xd_reg;
};
void hazard_load_operands(struct hazard *h, const struct hazard_operands *operands);

#define HAZARD_SIGNATURE (UINT64_C(0x4e554344) << 32)

#endif
