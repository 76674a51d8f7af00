/* One instruction at a time, with all that it did: for logs, for rare instructions, and for core models. */
#ifndef EMU_HART_STEP_H
#define EMU_HART_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"

/* What an instruction did besides writing its destination register. */
struct effects {
    uint64_t address;    /* of the memory access */
    uint64_t data;       /* what a store, SC or AMO left in memory, zero-extended */
    uint64_t csr_value;  /* what a CSR was set to */
    uint16_t csr_number; /* valid when csr_written */
    uint8_t size;        /* of the access in bytes */
    bool loaded, stored; /* both for an AMO; an SC that failed has neither */
    bool csr_written;
    bool flags_raised; /* a floating-point exception, accrued before or not */
    bool marker;       /* a marker HINT: hart->marker holds it */
    bool fence_i;
};

/* Fetches and decodes the instruction at pc. False, with hart->trap set, when it cannot be fetched. */
bool step_fetch(struct hart *hart, uint64_t pc, struct insn *insn);

/* Executes *insn, which stands at hart->pc, and moves pc to the next instruction. On a trap nothing changes
 * but hart->trap, and it returns false. Does not count the instruction as retired. */
bool step_execute(struct hart *hart, const struct insn *insn, struct effects *effects);

/* What became of an instruction that a handler of exec_fast.h has left to the general way. */
enum step_result { STEP_TRAP, STEP_DONE, STEP_FENCE_I, STEP_MARKER };

/* Fetches and executes the instruction at pc, without counting it. */
enum step_result step_general(struct hart *hart, uint64_t pc);

/* Fetches, executes and counts one instruction; *insn is valid unless the fetch trapped. */
bool step_one(struct hart *hart, struct insn *insn, struct effects *effects);

#endif
