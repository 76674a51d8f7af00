/* The function of a region while it is made: its registers, exits and current place.
 *
 * A register's value is in a place that LLVM turns into a host register. Where a block of the region begins or ends, the hart has
 * the value, too, except between blocks of one loop (region_block.loop). A register that has been written since then is dirty:
 * exits write it to the hart. */
#ifndef EMU_JIT_BUILDER_H
#define EMU_JIT_BUILDER_H

#include <stddef.h>

#include "emu/hart/exec/compiled.h"
#include "emu/jit/region.h"
#include "emu/jit/row_table.h"

struct hart;

/* The parameters of a region's function (compiled_code). */
enum { CODE_HART, CODE_BUDGET, CODE_ENTRY, CODE_SLOTS, CODE_MEMORY };

struct builder {
    struct row_table *rows;
    const struct llvm *llvm;
    const struct hart *hart;
    LLVMModuleRef module;
    LLVMBuilderRef at; /* LLVM's builder: where the next instruction goes */
    LLVMValueRef function;
    LLVMTypeRef i8, i32, i64, f64;
    LLVMBasicBlockRef entry, leave;    /* the function's entry; the one exit, which writes registers back */
    LLVMValueRef which;                /* the exit's phi: the number of the exit */
    LLVMValueRef x[32], f[32], budget; /* places; NULL: unused */
    uint32_t dirty_x, dirty_f;
    bool inner; /* in a loop: LLVM's thorough selector, not the fast one, makes the code */
    struct compiled_exit *exits;
    uint32_t exit_count;
    /* Of the instruction being emitted: its op, and the register whose value that finds in acc. */
    const union op *op;
    unsigned acc;
    LLVMBasicBlockRef resume;                  /* where the region is left before it; NULL: nowhere yet */
    LLVMValueRef checked_base, checked_offset; /* the access to their sum is in bounds; NULL: none */
    LLVMValueRef taken, target;                /* the outcome of a branch or jump */
};

/* Makes an empty function, with the entry as current block. */
void builder_begin(struct builder *b, struct row_table *rows, const struct hart *hart);

/* Makes the function's one return. */
void builder_return(struct builder *b);

/* Ends the making of the function; the exits stay. */
void builder_end(struct builder *b);

LLVMValueRef builder_constant(struct builder *b, uint64_t value);
LLVMBasicBlockRef builder_block(struct builder *b);

/* Returns the address `offset` bytes after a parameter, as a pointer to that type. */
LLVMValueRef builder_field(struct builder *b, unsigned parameter, size_t offset, LLVMTypeRef type);

/* Which side of a branch is taken nearly always. */
enum builder_side { BUILDER_ANY, BUILDER_FIRST };

/* Ends the current block by a branch to `first` if the condition holds, else to `second`. */
void builder_branch(struct builder *b, LLVMValueRef condition, LLVMBasicBlockRef first,
                    LLVMBasicBlockRef second, enum builder_side side);

/* Ends the current block by a jump. */
void builder_go(struct builder *b, LLVMBasicBlockRef to);

LLVMValueRef builder_read_x(struct builder *b, unsigned r);
LLVMValueRef builder_read_f(struct builder *b, unsigned r);
void builder_write_x(struct builder *b, unsigned r, LLVMValueRef value);
void builder_write_f(struct builder *b, unsigned r, LLVMValueRef value);

/* Writes dirty registers to the hart. They stay dirty. */
void builder_flush(struct builder *b);

/* Ends the current block: writes dirty registers back and leaves the region. */
void builder_leave(struct builder *b, enum compiled_exit_kind kind, const union op *op);

/* Ends the current block: the interpreter executes the instruction being emitted. */
void builder_resume(struct builder *b);

/* Goes on if the condition holds; otherwise the interpreter executes the instruction. */
void builder_require(struct builder *b, LLVMValueRef condition);

/* Goes on if an address is at most `last` after base; otherwise the interpreter executes the instruction. */
void builder_require_within(struct builder *b, LLVMValueRef address, uint64_t base, uint64_t last);

/* Returns the host address for an access of up to 8 bytes to guest address `address`, which is in bounds if it is at most
 * `last` after base; otherwise the interpreter executes the instruction. Accesses to the checked sum are not checked again. */
LLVMValueRef builder_access(struct builder *b, LLVMValueRef address, uint64_t base, uint64_t last);

#endif
