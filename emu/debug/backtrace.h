/* Stack backtraces: the return addresses on a guest's stack. */
#ifndef EMU_DEBUG_BACKTRACE_H
#define EMU_DEBUG_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/symbols.h"
#include "emu/mem/phys.h"

enum { BACKTRACE_MAX = 32 };

/* Walks the stack from registers x[0..31] and pc. Stores pc, then the return addresses, innermost first, to
 * frames[max]. Returns the number stored, at least 1 if max is. Uses DWARF call-frame information where the
 * program has it, otherwise decodes the function's prologue from memory. Stops at the first inconsistent
 * frame, so a corrupted stack only shortens the result. */
size_t backtrace_walk(struct symbols *symbols, const uint64_t x[32], uint64_t pc, const struct phys *memory,
                      uint64_t *frames, size_t max);

/* Reads guest memory: copies `length` bytes from an address, or returns false. */
struct backtrace_memory {
    bool (*read)(const void *context, uint64_t address, void *to, uint64_t length);
    const void *context;
};

/* Like backtrace_walk(), but reads memory through a callback: for programs whose addresses are virtual. */
size_t backtrace_walk_through(struct symbols *symbols, const uint64_t x[32], uint64_t pc,
                              const struct backtrace_memory *memory, uint64_t *frames, size_t max);

#endif
