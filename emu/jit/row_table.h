/* LLVM with the rows as functions: rows.c as bitcode, which croft holds as data. */
#ifndef EMU_JIT_ROW_TABLE_H
#define EMU_JIT_ROW_TABLE_H

#include "emu/jit/llvm.h"
#include "isa/insn.h"

/* The parameters of a row's function (rows.c). */
enum { ROW_HART, ROW_RS1, ROW_RS2, ROW_FRS1, ROW_FRS2, ROW_FRS3, ROW_IMM, ROW_PC, ROW_NEXT, ROW_PARAMETERS };

/* Limits of the functions in the table. */
enum { ROW_VALUES = 256, ROW_BLOCKS = 64 };

struct row_table {
    struct llvm llvm;
    LLVMContextRef context;
    LLVMModuleRef module;
    /* Reads a function's bitcode when the function is needed: reading all takes 5 ms. */
    LLVMPassManagerRef reader;
    /* By row; and whether the static rounding mode is RTZ. */
    LLVMValueRef functions[INSN_COUNT][2];
    bool read[INSN_COUNT][2];
};

/* Returns false if the library is missing, or croft was built without the bitcode. */
bool row_table_open(struct row_table *table);
void row_table_close(struct row_table *table);

/* Returns the row's function, or NULL if there is none, or it cannot be copied. It returns in one place, and calls only what
 * row_callable() knows, intrinsics, and the functions that rows.c declares for the compiler. */
LLVMValueRef row_table_function(struct row_table *table, enum insn_id id, bool rtz);

/* Returns the host address of a function that rows may call, or 0. */
uint64_t row_callable(const char *name);

#endif
