/* Execution of single instructions, with a report of all effects: for logs, rare instructions, and core models. */
#ifndef EMU_HART_STEP_H
#define EMU_HART_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"

/* A written CSR and its new value; the CSR that holds the bits (mstatus, if sstatus was written). */
struct csr_note {
    uint64_t value;
    uint16_t number;
};

enum { EFFECTS_CSRS = 3 };

/* Cache-block operations. */
enum block_operation { BLOCK_NONE, BLOCK_INVAL, BLOCK_CLEAN, BLOCK_FLUSH, BLOCK_ZERO };

/* effects.physical of a prefetch that may access nothing. */
#define EFFECTS_NOWHERE UINT64_MAX

/* The effects of an instruction other than writing its destination register. */
struct effects {
    uint64_t address;  /* of the memory access, or of the block of a cache-block operation */
    uint64_t physical; /* its physical address (of the first byte, if the access crosses a page) */
    uint64_t data;     /* what a store, SC or AMO wrote to memory, zero-extended */
    struct csr_note csrs[EFFECTS_CSRS]; /* written CSRs, in order of writing */
    uint8_t csr_count;
    uint8_t size;        /* of the access or block in bytes */
    uint8_t block;       /* enum block_operation; such instructions neither load nor store */
    bool loaded, stored; /* both for an AMO; neither for an SC that failed */
    bool fp_written;     /* a floating-point register or accrued flags were written */
    bool marker;         /* a marker HINT: hart->marker describes it */
    bool fence_i;        /* FENCE.I */
    bool wfi;
    bool returned; /* MRET or SRET */
};

/* Fetches and decodes the instruction at pc. Returns false with hart->trap set if it cannot be fetched. */
bool step_fetch(struct hart *hart, uint64_t pc, struct insn *insn);

/* Returns whether a trigger fires before the instruction at hart->pc; hart->trap is set then. */
static inline bool step_is_triggered(struct hart *hart)
{
    return (hart->triggers.armed & TRIGGER_EXECUTE) && trigger_on_execute(hart);
}

/* Executes *insn, located at hart->pc, and advances pc. On a trap, returns false and changes only hart->trap. Does not
 * count the instruction as retired. */
bool step_execute(struct hart *hart, const struct insn *insn, struct effects *effects);

/* The outcome of an instruction that a handler of emu/hart/exec/handlers.h has passed to step.h. */
enum step_result { STEP_TRAP, STEP_DONE, STEP_MARKER, STEP_WFI };

/* Executes an instruction that was decoded from pc, or, if its length is 0, fetches it now. Does not count it as
 * retired. */
enum step_result step_general(struct hart *hart, uint64_t pc, const struct insn *insn);

/* What one call of hart_step() did. */
struct step_report {
    uint64_t pc;            /* of the instruction */
    struct insn insn;       /* valid unless the fetch trapped */
    struct effects effects; /* valid when retired */
    struct trap trap;       /* valid when trapped */
    uint8_t privilege;      /* mode in which it was executed */
    bool retired, trapped;
    unsigned interrupt; /* number of the interrupt taken before it, or 0 */
    uint64_t interrupted_pc;
};

/* Takes an interrupt if one is due, then executes one instruction or takes its trap. Returns HART_STOP_LIMIT if nothing
 * special happened. Passes over breakpoints. */
enum hart_stop hart_step(struct hart *hart, struct step_report *report);

#endif
