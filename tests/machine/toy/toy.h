/* A mechanism for the tests, as small as one can be: an adder beside the memory, which sums blocks of 64 bytes.
 *
 * `toy.sum rd, rs1` hands it the address of an aligned block; rd becomes the sum of its eight 64-bit words. An address
 * that is not aligned traps, and so does one of a thread's stack or scratchpad. In time, the adder takes one block after
 * the other, in the order in which they were asked for: it reads the block through its port, past all caches, works
 * for `latency` clocks, and then lets the core or warp that waits go on. A core that nobody times waits for nothing.
 *
 * It counts the program's allocations, and when the run ends it reports that more blocks were summed than `budget`. */
#ifndef EMU_TOY_TOY_H
#define EMU_TOY_TOY_H

#include "emu/sim/part.h"

struct toy_config {
#include "emu/sim/fields_struct.h"

#include "emu/toy/toy.def"
};

extern const struct part_kind toy_kind;

#endif
