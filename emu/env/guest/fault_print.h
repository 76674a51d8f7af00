/* The parts that reports about faults have in common, in every environment: the instruction, registers, callers. */
#ifndef EMU_ENV_GUEST_FAULT_PRINT_H
#define EMU_ENV_GUEST_FAULT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/symbols.h"
#include "emu/hart/hart.h"

/* What the reports show of the instruction at pc. */
struct fault_place {
    bool readable; /* pc is in memory */
    struct insn insn;
    char text[128]; /* its disassembly, the tab replaced */
};

struct fault_place fault_look_at(const struct hart *hart, uint64_t pc);

/* Returns the bytes that the instruction accesses; 0 if its row has no size, for example a custom instruction's. */
unsigned fault_access_size(const struct fault_place *place);

/* Prints "load of 8 bytes from 0x80000008"; without "of 8 bytes" if the size is not known. */
void fault_print_access(const struct fault_place *place, const char *what, const char *way, uint64_t address);

/* Prints the line "  at PC, FUNCTION (FILE:LINE): INSTRUCTION". */
void fault_print_place(struct symbols *symbols, const struct fault_place *place, uint64_t pc);

/* Prints the line of the instruction's source registers, ra, sp and gp. */
void fault_print_registers(const uint64_t x[32], const struct fault_place *place);

/* Prints frames [0, count), a line each. A run of equal frames (recursion) is printed once. */
void fault_print_frames(struct symbols *symbols, const uint64_t *frames, size_t count);

/* Prints the hart's callers. */
void fault_print_backtrace(struct symbols *symbols, const struct hart *hart);

#endif
