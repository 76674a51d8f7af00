/* Random programs that offload by nucd, for the suite `hazards`: what the generator's parts share. */
#ifndef TESTS_NUCD_HAZARD_H
#define TESTS_NUCD_HAZARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A body is a piece of assembler that hazard_entry.S calls with random registers and random memory, in the form of pieces
 * in a row. The discipline that makes QEMU's inline execution the oracle:
 *
 *   s0          the middle of the arena, s1 the context (struct context of hazard_main.c); never written
 *   s2-s10, a2-a7, fs0-fs7
 *               the host's: every value is always defined, and their last ones are part of the digest
 *   s11         counter of the loop around tasks
 *   t0-t6, a0, a1, ra, ft0-ft7
 *               dead between pieces. A region reads what is handed over and what it has written itself
 *
 * Each piece draws from a generator of its own, so that leaving pieces out does not change the others. The order of draws
 * within an instruction is the compiler's. */

enum {
    HAZARD_ARENA = 4096, /* bytes around s0 that immediate offsets reach: -2048 to 2047 */
    HAZARD_BEHIND = 512, /* of the arena behind them, for ranges whose base is computed */
    HAZARD_PIECES = 24,  /* of a body, at most */
    HAZARD_FD = 0,       /* context: descriptor of a scratch file */
};

struct hazard {
    FILE *out;
    uint64_t random;
    unsigned body, label, literal; /* the next local label, and constant in memory */
    unsigned spread;               /* the body's accesses lie that many bytes around s0 */
    unsigned bytes;                /* of code since the region's begin */
    bool faults;                   /* one region of the body faults */
};

/* Draws 0 .. below - 1; or true once in n times. */
uint32_t hazard_random(struct hazard *h, uint32_t below);
bool hazard_once(struct hazard *h, uint32_t in);

/* Writes one instruction of 4 bytes, or of 2. */
void hazard_code(struct hazard *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hazard_short(struct hazard *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a line that is no instruction. */
void hazard_line(struct hazard *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One of the host's integer registers by number, their names, and a floating-point register's name. */
unsigned hazard_host_reg(struct hazard *h);
const char *hazard_reg(unsigned number);
const char *hazard_host_float(struct hazard *h);

/* An offset from s0 for an access of `size` bytes: a multiple of `align`. */
int hazard_offset(struct hazard *h, unsigned size, unsigned align);

/* Writes 64 bytes of the arena to standard output, half of the times. */
void hazard_output(struct hazard *h);

/* A random piece without a task, and one with at least one. */
void hazard_host_piece(struct hazard *h);
void hazard_task_piece(struct hazard *h);

/* One nucd with its region. step: the range's bases move on by as many bytes for each unit of s11; or 0. */
void hazard_task(struct hazard *h, unsigned step);

/* A nucd with malformed operands. */
void hazard_malformed(struct hazard *h);

/* In front of the nucd: Xn, Xd and Xt come into these registers; xd is the even one of the pair. */
struct hazard_operands {
    uint64_t xn, xd, xt;
    unsigned xn_reg, xd_reg;
};
void hazard_load_operands(struct hazard *h, const struct hazard_operands *operands);

#define HAZARD_SIGNATURE (UINT64_C(0x4e554344) << 32)

#endif
