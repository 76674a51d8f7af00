/* The coalescer: a warp's addresses become one request for each line that they touch. */
#ifndef EMU_SIMT_COALESCE_H
#define EMU_SIMT_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/simt/warp.h"

enum {
    COALESCE_LINES = 2 * WARP_LANES, /* of an access: each lane's may cross a line's end */
    COALESCE_WORD = 4,               /* bytes: the grain of masks */
};

/* What the lanes want of one line. */
struct coalesce_line {
    uint64_t line;  /* address of its first byte */
    uint64_t words; /* bit: 32-bit word of the line that some lane touches */
    uint32_t lanes; /* bit: lane that touches the line */
};

/* The lines that accesses of `size` bytes (1 to 8) at addresses[lane] touch, for the lanes in mask, in the order of the
 * first lane that touches each. line_bytes is a power of two from 16 to 256. Returns how many; 0 for an empty mask.
 */
unsigned coalesce_lines(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned line_bytes,
                        struct coalesce_line lines[COALESCE_LINES]);

/* Whether an access that makes `requests` requests is divergent: they are more than the lines that the bytes of the lanes
 * in mask take when packed from a line's begin. So 32 words of 8 bytes side by side, two lines of 128 bytes, are not,
 * nor are 8-byte spills to thread stacks; spills of 4 bytes are, as they take every other word (WARP_STACK_WORD). */
bool coalesce_divergent(unsigned requests, uint32_t mask, unsigned size, unsigned line_bytes);

/* The same as coalesce_lines() for atomics, which do not cross lines: lanes that touch the same word are never in one request, so that a
 * line comes up as many times as lanes want the same of its words (GPGPU-Sim, memory_coalescing_arch_atomic). */
unsigned coalesce_atomics(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned line_bytes,
                          struct coalesce_line lines[COALESCE_LINES]);

#endif
