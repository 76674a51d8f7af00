/* What a function's instructions compute, as sums (sums.h): one walk over its nodes, in an order in which those that lead to a node
 * come before it. Where the walk cannot know a value, it is an atom of its own. The function is a kernel's: a branch on the sign
 * of tp << 17 (croft/simt.h) is taken. Words on the stack at constant distances from sp are places like registers; other
 * stores are taken not to change them. */
#ifndef EMU_ANALYSIS_TILES_WALK_H
#define EMU_ANALYSIS_TILES_WALK_H

#include "emu/analysis/flow/function.h"
#include "emu/analysis/tiles/sums.h"

/* Places: registers, and the words from STACK_WORDS * 4 bytes below the function's sp on. */
enum { STACK_WORDS = 256, PLACES = REGISTERS + STACK_WORDS };

struct walk_access {
    int insn;
    unsigned node;
    int address, value; /* sums; value: what is loaded or stored */
};

/* The operands of the branch that ends a node; SUM_UNKNOWN: it ends otherwise. */
struct walk_branch {
    int left, right;
};

struct walk {
    const struct function *f;
    struct sums *sums;
    int *out;         /* by node and place: what it holds at the node's end */
    bool *live;       /* by node: threads can come there */
    unsigned *always; /* by node: the only node behind it, or NODE_NONE */
    struct walk_branch *branches;
    struct walk_access *accesses;
    size_t count, room;
    int *resolved; /* by sum: walk_resolve(), or a number that is no sum */
    int resolved_count;
};

/* Release it with walk_close(). */
struct walk walk_open(const struct function *f);
void walk_close(struct walk *walk);

/* Returns the sum with counters in it replaced by start + step * round. */
int walk_resolve(struct walk *walk, int sum);

/* What a resolved sum differs in: set of these. */
enum { VARIES_THREAD = 1, VARIES_ROUND = 2, VARIES_DATA = 4 /* in a way that the code does not tell */ };
unsigned walk_varies(const struct walk *walk, int sum);
unsigned walk_atom_varies(const struct walk *walk, int atom);

#endif
