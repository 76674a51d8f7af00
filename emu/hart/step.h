/* One instruction at a time, with all that it did: for logs, for rare instructions, and for core models. */
#ifndef EMU_HART_STEP_H
#define EMU_HART_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"

/* A CSR and its new value: the one that holds the bits (mstatus, where sstatus was written). */
struct csr_note {
    uint64_t value;
    uint16_t number;
};

enum { EFFECTS_CSRS = 3 };

/* Cache-block operations. */
enum block_operation { BLOCK_NONE, BLOCK_INVAL, BLOCK_CLEAN, BLOCK_FLUSH, BLOCK_ZERO };

/* What an instruction did besides writing its destination register. */
struct effects {
    uint64_t address;  /* of the memory access, or of the block that an operation was done on */
    uint64_t physical; /* the same in physical memory (the first byte's, if the access crosses a page) */
    uint64_t data;     /* what a store, SC or AMO left in memory, zero-extended */
    struct csr_note csrs[EFFECTS_CSRS]; /* that were written, in this order */
    uint8_t csr_count;
    uint8_t size;        /* of the access or block in bytes */
    uint8_t block;       /* enum block_operation; such instructions have neither loaded nor stored */
    bool loaded, stored; /* both for an AMO; an SC that failed has neither */
    bool fp_written;     /* a floating-point register or accrued flags */
    bool marker;         /* a marker HINT: hart->marker holds it */
    bool fence_i;        /* predecoded code is stale: FENCE.I, SFENCE.VMA */
    bool wfi;
    bool returned; /* MRET or SRET */
};

/* Fetches and decodes the instruction at pc. False, with hart->trap set, when it cannot be fetched. */
bool step_fetch(struct hart *hart, uint64_t pc, struct insn *insn);

/* Executes *insn, which stands at hart->pc, and moves pc to the next instruction. On a trap nothing changes
 * but hart->trap, and it returns false. Does not count the instruction as retired. */
bool step_execute(struct hart *hart, const struct insn *insn, struct effects *effects);

/* What became of an instruction that a handler of exec_fast.h has left to the general way. */
enum step_result { STEP_TRAP, STEP_DONE, STEP_FENCE_I, STEP_MARKER, STEP_WFI };

/* Executes an instruction that was decoded from pc, or, if its length is 0, fetches what stands there now,
 * without counting it. */
enum step_result step_general(struct hart *hart, uint64_t pc, const struct insn *insn);

/* What one call of hart_step() did. */
struct step_report {
    uint64_t pc;            /* of the instruction */
    struct insn insn;       /* valid unless the fetch trapped */
    struct effects effects; /* valid when retired */
    struct trap trap;       /* valid when trapped */
    uint8_t privilege;      /* in which it was executed */
    bool retired, trapped;
    unsigned interrupt; /* number of the interrupt taken first, or 0 */
    uint64_t interrupted_pc;
};

/* Takes an interrupt if one is due, then executes one instruction or takes its trap. HART_STOP_LIMIT means
 * that it went as usual. Breakpoints are passed over. */
enum hart_stop hart_step(struct hart *hart, struct step_report *report);

#endif
