/* The control-flow graph of a program: instructions, basic blocks, functions.
 *
 * The instructions are those that the walk of reach.h finds from the entries. A function is what its entry leads to
 * without calls; entries are those given and the targets of calls. Functions may share blocks (a jump into another function
 * makes its code part of both).
 *
 * Indirect jumps are marked: an indirect call has CFG_CALLS_UNKNOWN, and another indirect jump of unknown target counts
 * as a jump to each instruction that follows it in the function (reach.h) or out of the function (CFG_JUMPS_UNKNOWN). */
#ifndef EMU_ANALYSIS_FLOW_CFG_H
#define EMU_ANALYSIS_FLOW_CFG_H

#include "emu/analysis/flow/digraph.h"
#include "emu/analysis/flow/reach.h"
#include "isa/decoder/flow.h"

enum { CFG_NONE = -1 };

struct cfg_insn {
    struct reach_step step;
    struct insn_registers regs;
    int next;   /* the instruction behind it, CFG_NONE if control never goes there or it is no code */
    int target; /* of a branch or jump with a known target; of a call, its function's first instruction */
    int first, last; /* instructions that an indirect jump may reach: first <= n < last */
    int block;
    /* Of a call of, or jump to, an unknown function: bit 0 and the registers that the function reads; 0: not known. cfg_build()
     * leaves 0; a caller that knows them sets them before liveness_of(). */
    uint64_t arguments;
};

enum cfg_mark {
    CFG_RETURNS = 1,       /* ends in a return */
    CFG_CALLS = 2,         /* ends in a call */
    CFG_CALLS_UNKNOWN = 4, /* ends in an indirect call */
    CFG_JUMPS_UNKNOWN = 8, /* ends in an indirect jump that is no call or return */
    CFG_ENDS = 16, /* its end is not followed by code, e.g. after the call of a function that never returns */
};

/* A block ends behind a branch, jump or call, and before an instruction to which others jump. */
struct cfg_block {
    int first, count; /* instructions */
    unsigned marks;   /* set of enum cfg_mark */
};

/* The nodes of `graph` are the function's blocks by their place in `blocks`, the entry's first, and the exit: node `count`,
 * to which blocks lead that return, end, or jump to unknown places. */
struct cfg_function {
    int entry; /* instruction */
    int *blocks;
    unsigned count;
    struct digraph graph;
    /* Code outside of the graph may call it. cfg_build() leaves false; a caller that knows sets it before
     * liveness_of_kernels(). */
    bool exposed;
};

struct cfg {
    struct cfg_insn *insns; /* by pc */
    int count;
    struct cfg_block *blocks; /* by the pc of their first instructions */
    int block_count;
    struct cfg_function *functions;
    int function_count, entry_count; /* the first `entry_count` functions begin at entries */
    int *function_at;                /* by instruction: the function that begins there, or CFG_NONE */
    /* More than REACH_INSNS instructions, or than CFG_MEMBERS in all functions: no functions. */
    bool too_large;
    struct reach reach; /* the registers that the code names */
};

enum { CFG_MEMBERS = 1 << 22 };

struct cfg_options {
    bool within; /* calls are not followed: their targets are no functions */
    /* Returns whether an instruction shall be a block of its own; NULL: none. */
    bool (*alone)(void *context, const struct cfg_insn *insn);
    void *context;
};

/* Builds the graph from the entries; those without code are left out. options may be NULL. Release it with cfg_free(). */
struct cfg cfg_build(const struct decoder *decoder, const struct reach_code *code, const uint64_t *entries,
                     size_t count, const struct cfg_options *options);
void cfg_free(struct cfg *cfg);

/* Return the instruction at pc, or CFG_NONE; and the first one at or behind pc. */
int cfg_at(const struct cfg *cfg, uint64_t pc);
int cfg_from(const struct cfg *cfg, uint64_t pc);

static inline bool cfg_is_call(const struct cfg_insn *insn)
{
    return insn->step.flow & FLOW_CALL;
}

/* Returns whether control may leave the function at the instruction: a return, code that ends, a jump to somewhere. */
static inline bool cfg_leaves(const struct cfg_insn *insn)
{
    bool jump = (insn->step.flow & FLOW_JUMP) && !cfg_is_call(insn);
    return jump ? insn->target == CFG_NONE : insn->next == CFG_NONE;
}

#endif
