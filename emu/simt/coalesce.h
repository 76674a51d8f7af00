/* The coalescer: turns a warp's addresses into one request per line. */
#ifndef EMU_SIMT_COALESCE_H
#define EMU_SIMT_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/simt/warp.h"

enum {
    COALESCE_LINES = 2 * WARP_LANES, /* maximum per access: each lane's access may cross the end of a line */
    COALESCE_WORD = 4,               /* bytes per bit of a mask */
};

/* The lanes' accesses to one line. */
struct coalesce_line {
    uint64_t line;  /* address of the line's first byte */
    uint64_t words; /* set of 32-bit words of the line that a lane touches */
    uint32_t lanes; /* set of lanes that touch the line */
};

/* Stores the lines that accesses of `size` bytes (1 to 8) at addresses[lane] touch, for the lanes in mask,
 * ordered by the first lane that touches each. line_bytes is a power of two from 16 to 256. Returns the
 * number of lines; 0 for an empty mask. */
unsigned coalesce_lines(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned line_bytes,
                        struct coalesce_line lines[COALESCE_LINES]);

/* Returns whether an access with `requests` requests is divergent: it has more requests than the number of
 * lines that the accessed bytes fill when packed from the start of a line. For example, 32 adjacent words of
 * 8 bytes (two lines of 128 bytes) are not divergent, and neither are 8-byte spills to thread stacks. Spills
 * of 4 bytes are, because they use every other word (WARP_STACK_WORD). */
bool coalesce_divergent(unsigned requests, uint32_t mask, unsigned size, unsigned line_bytes);

/* Like coalesce_lines(), for atomics, which do not cross lines. Lanes that touch the same word are put into
 * different requests, so a line has as many requests as the most lanes that share one of its words
 * (GPGPU-Sim, memory_coalescing_arch_atomic). */
unsigned coalesce_atomics(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned line_bytes,
                          struct coalesce_line lines[COALESCE_LINES]);

#endif
