/* Facts about a function besides its graph: dominators and post-dominators, loops, and values of registers as the sum of a
 * base and a constant. */
#ifndef EMU_ANALYSIS_FLOW_FUNCTION_H
#define EMU_ANALYSIS_FLOW_FUNCTION_H

#include "emu/analysis/convention.h"
#include "emu/analysis/flow/cfg.h"
#include "emu/analysis/flow/loops.h"

struct function {
    const struct cfg *cfg;
    const struct cfg_function *part;
    struct digraph reverse;
    struct dominators dominators, post; /* of nodes; the root of `post` is the exit */
    struct loops loops;
};

/* Release it with function_close(). The graph must outlive it. */
struct function function_open(const struct cfg *cfg, const struct cfg_function *part);
void function_close(struct function *function);

/* Return a node's block, the first instruction of the block, and the last one. */
const struct cfg_block *function_block(const struct function *function, unsigned node);
int function_first(const struct function *function, unsigned node);
int function_last(const struct function *function, unsigned node);

/* A value: `offset` plus the value that register `base` has at `place`, whose computation is not known. Two values with equal
 * `base` and `place` differ by their offsets, if they are read in the same execution of the code. */
struct value {
    unsigned base; /* REGISTER_NONE: no base, the value is `offset` */
    int place;     /* identifies where `base` has its value; without base: the AUIPC that began it, or 0 */
    int64_t offset;
};

/* Returns what a register holds before the last `skip` instructions of a node; 0: at the node's end. */
struct value function_value(const struct function *function, unsigned node, int skip, unsigned reg);

/* Returns what a register holds where the node begins, in its first execution or in all. */
struct value function_value_before(const struct function *function, unsigned node, unsigned reg);

/* Returns whether the instruction changes the register; a call changes what the calling convention lets it change. */
bool function_changes(const struct cfg_insn *insn, unsigned reg);

/* Returns the first instruction of a loop that changes the register; CFG_NONE: none does. */
int function_changer(const struct function *function, unsigned loop, unsigned reg);

/* The arrows of a loop's graph that lead out of it, and back to its header: how many, and a node from which one does. */
struct loop_ends {
    unsigned ways, backs;
    unsigned out, latch; /* NODE_NONE: there is none */
};
struct loop_ends function_loop_ends(const struct function *function, unsigned loop);

#endif
