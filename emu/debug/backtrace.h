/* Who called whom: the return addresses on a guest's stack. */
#ifndef EMU_DEBUG_BACKTRACE_H
#define EMU_DEBUG_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/symbols.h"
#include "emu/mem/phys.h"

enum { BACKTRACE_MAX = 32 };

/* Walks the stack from registers x[0..31] and pc: stores pc and then the return addresses, innermost first,
 * to frames[max], and returns how many there are (at least 1 if max is). Uses DWARF call-frame information
 * where the program has it, otherwise the function's prologue in memory. Stops at the first frame that makes
 * no sense, so a corrupted stack only shortens the result. */
size_t backtrace_walk(struct symbols *symbols, const uint64_t x[32], uint64_t pc, const struct phys *memory,
                      uint64_t *frames, size_t max);

/* How to read a guest's memory: copies length bytes at an address, or returns false. */
struct backtrace_memory {
    bool (*read)(const void *context, uint64_t address, void *to, uint64_t length);
    const void *context;
};

/* The same where the program's addresses are not those of physical memory. */
size_t backtrace_walk_through(struct symbols *symbols, const uint64_t x[32], uint64_t pc,
                              const struct backtrace_memory *memory, uint64_t *frames, size_t max);

#endif
