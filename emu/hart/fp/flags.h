/* CSR instructions that read fflags, frm or fcsr and write at most fflags: they need no exact counts, and change nothing else. */
#ifndef EMU_HART_FP_FLAGS_H
#define EMU_HART_FP_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

struct hart;

/* fcsr: the flags, and the rounding mode above them (unprivileged specification, section "Floating-Point Control and Status
 * Register"). */
enum { FCSR_FLAGS = 0x1f, FCSR_FRM_SHIFT = 5 };

enum flags_operation { FLAGS_SWAP, FLAGS_SET, FLAGS_CLEAR };

/* Returns whether the instruction is one of these, by its operands; the hart's mode may still refuse it. */
bool flags_accesses(const struct insn *insn);

/* Returns whether it writes fflags: CSRRS and CSRRC with a source field of 0 do not. */
bool flags_writes(const struct insn *insn);

/* RISC-V's flags for the six exceptions in MXCSR (emu/hart/fp.h). */
extern const uint8_t flags_of_host[];

/* Executes such an instruction while guest code runs: number, operation, operand and whether it writes are the instruction's. Returns
 * what it reads. */
uint64_t flags_access(struct hart *hart, unsigned number, enum flags_operation operation, uint64_t operand,
                      bool writes);

#endif
