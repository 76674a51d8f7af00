/* A region's code while quick.c makes it. */
#ifndef EMU_JIT_QUICK_STATE_H
#define EMU_JIT_QUICK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hart/exec/compiled.h"
#include "emu/jit/quick/x86.h"
#include "emu/jit/region.h"

struct hart;

/* Registers with a purpose. RBP points HART_BIAS bytes into the hart, so that short displacements reach all its x registers; RAX, RCX
 * and RDX hold values within a row; the others hold guest registers. */
enum { AT_HART = RBP, AT_BUDGET = R14, AT_MEMORY = R15, HART_BIAS = 128 };
enum { SCRATCH_REGISTERS = 1 << RAX | 1 << RCX | 1 << RDX };
/* What calls change of the registers that hold guest registers. */
enum { CALLS_CHANGE = 1 << RSI | 1 << RDI | 1 << R8 | 1 << R9 | 1 << R10 | 1 << R11 };

/* Accesses at these offsets to a register's present value are in bounds. */
struct checked {
    bool valid;
    int64_t least, most;
};

/* Of a hart with a TLB: AT_MEMORY is the addend of the page of `span` bytes from register + first on. Accesses to these, aligned to
 * their size of up to `alignment` bytes, need no other look at the TLB. */
struct page {
    bool valid, store;
    uint8_t rs1, alignment;
    int64_t first, span;
};

/* A jump whose distance is open, at an offset in the code. */
struct open_jump {
    uint32_t at;
    enum {
        TO_BLOCK,
        TO_EXIT,
        TO_SIDE,
        TO_TARGETS,
        TO_ENTRIES,
        TO_SLOT,
        TO_FAULT /* no jump, but an instruction that may fault, and its exit */
    } kind;
    uint32_t to;        /* number of the block or exit */
    const union op *op; /* of sides and slots */
    enum { SIDE_TAKEN, SIDE_RETURN, SIDE_CALL, SIDE_PAGE } side;
    struct block_insn insn; /* SIDE_CALL: the instruction whose function is called */
    uint32_t back;          /* SIDE_CALL: offset of what follows it */
    uint8_t rs1;            /* SIDE_RETURN: the register with the target */
    /* SIDE_PAGE: an address that is not aligned; what was looked for, and the exit if the TLB does not have the page. */
    struct place address;
    struct page page;
    uint32_t exit;
};

/* The exits that are counted in floating-point registers; `ones` has all bits set. */
enum { COUNTERS_MOST = 6 };
struct counters {
    const union op *slots[COUNTERS_MOST];
    uint8_t xmm[COUNTERS_MOST], ones;
    unsigned count;
};

struct quick {
    const struct hart *hart;
    bool looks,
        mirrored; /* accesses look at the TLB; they go through the mirror, where the host's MMU looks at them */
    const struct region *region;
    const struct region_block *block; /* the current one */
    struct code code;
    uint8_t home[32];            /* host register of x register, or NO_REGISTER: it is in the hart */
    uint8_t float_home[32];      /* floating-point host register of f register, or NO_REGISTER */
    uint32_t written, written_f; /* registers that the region writes */
    struct compiled_exit *exits;
    uint32_t exit_count;
    uint32_t *starts; /* by block: offset of its code, or UINT32_MAX */
    struct open_jump *jumps;
    uint32_t jump_count;
    struct counters counters;
    uint32_t target_mask; /* of the table of indirect targets: bits of a pc that choose an entry */
    uint32_t leave;       /* offset of the end */
    /* Of the current block: */
    struct checked checked[2][32]; /* for loads and stores, by register */
    struct page page;
    uint32_t known; /* registers with a known value: */
    uint64_t constant[32];
    uint32_t boxed;  /* f registers whose upper halves are all ones */
    unsigned acc;    /* register whose value the next op finds in acc */
    uint32_t resume; /* the exit before the current instruction, or UINT32_MAX */
    const union op *op;
};

/* Returns the memory of a field of the hart. */
struct place quick_field(size_t offset);

/* Returns whether an immediate operand or displacement of 32 bits has the value. */
bool quick_is_small(uint64_t value);

/* Returns where a guest register is. */
struct place quick_x(const struct quick *q, unsigned r);
struct place quick_f(unsigned r); /* in the hart */

/* Writes guest registers in a set of host registers, and f registers of a set, to the hart, and loads them again. */
void quick_save(struct quick *q, uint32_t set, uint32_t floats);
void quick_load(struct quick *q, uint32_t set, uint32_t floats);

/* Loads and stores a number of double precision. */
void quick_load_float(struct quick *q, unsigned xmm, struct place from);
void quick_store_float(struct quick *q, struct place to, unsigned xmm);

/* Returns where a value is after quick_save(CALLS_CHANGE). */
struct place quick_saved(const struct quick *q, const struct place *place);

/* Notes that the value of a register has changed. */
void quick_note_write(struct quick *q, unsigned r);

/* Returns the exit before the current instruction. */
uint32_t quick_resume(struct quick *q);
uint32_t quick_leave(struct quick *q, enum compiled_exit_kind kind, const union op *op);

/* Lets the open jump at an offset in the code lead to an exit. */
void quick_exit_from(struct quick *q, uint32_t at, uint32_t exit);

/* Jumps to an exit, if the condition holds. */
void quick_exit_if(struct quick *q, enum x86_condition condition, uint32_t exit);

struct open_jump *quick_jump(struct quick *q, uint32_t at);

/* Notes that the code continues here after calls to which jumps lead, from number `first` on. */
void quick_return_to(struct quick *q, uint32_t first);

/* Emits the check that accesses to up to 8 bytes from address + least to address + least + span are in bounds. It uses RCX and RDX. */
void quick_check(struct quick *q, struct place address, int64_t least, uint64_t span, bool store);

/* Emits the look at the TLB for page.span bytes from address on, which must be a multiple of page.alignment. It uses RCX, and RDX if the
 * span is longer than the alignment. */
void quick_page(struct quick *q, struct place address, const struct page *page);

/* Emits the rest of the look for an address that is not aligned. */
void quick_misaligned(struct quick *q, const struct open_jump *side);

/* counts.c. Choose the registers for counts, after those for guest registers; emit what sets them to 0, where a region begins and after a
 * call; what adds them to the counts in memory (it uses RCX); and what counts an exit. */
void quick_choose_counters(struct quick *q);
void quick_begin_counts(struct quick *q);
void quick_end_counts(struct quick *q);
void quick_count(struct quick *q, const union op *slot);

/* Emits an instruction of which flags_accesses() is true (emu/hart/fp/flags.h). */
void quick_flags(struct quick *q, const struct insn *insn);

/* The outcome of a row. */
struct outcome {
    bool branches;
    enum x86_condition taken; /* of branches; jumps have their target in RAX */
};

/* Emits an instruction by its row, and writes its result. Returns false if it cannot, with nothing emitted. */
bool select_row(struct quick *q, const struct block_insn *at, bool rtz, struct outcome *outcome);

/* Returns whether select_row() knows the row. */
bool select_knows(const struct insn *insn, bool rtz);

/* Calls the row's function. */
void select_call(struct quick *q, const struct block_insn *at, bool rtz);

/* Returns whether it calls a function for the row. */
bool select_calls(const struct insn *insn, bool rtz);

#endif
