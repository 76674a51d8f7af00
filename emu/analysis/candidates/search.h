/* The search for blocks (emu/analysis/candidates.h), between its files. */
#ifndef EMU_ANALYSIS_CANDIDATES_SEARCH_H
#define EMU_ANALYSIS_CANDIDATES_SEARCH_H

#include "emu/analysis/candidates.h"
#include "emu/analysis/flow/function.h"
#include "emu/analysis/liveness.h"

struct candidate_search {
    const struct cfg *cfg;
    const struct candidate_model *model;
    struct liveness live;
    struct lanes lanes;
    uint64_t *
        scratch; /* by instruction: registers into which the scratchpad's address, or one that is not trusted, may have flowed */
    struct trip *trips; /* by loop of the function that is looked at */
    bool *taken;        /* likewise: a block that begins with it has been found */
    struct candidates found;
    size_t room;
    /* Of the function, if best_known: with the least change, whether it is a candidate or not. */
    struct candidate best;
    bool best_known;
    unsigned explained;     /* the loop that is refused; NODE_NONE: the function is */
    unsigned function_live; /* most registers that are live in it at a time */
};

/* The nodes between an entry and an end. The first node may lack its first instructions, and `last`, the only node that leads to the
 * end, its last ones. */
struct candidate_region {
    const struct function *f;
    const struct trip *trips; /* by loop */
    unsigned entry, end;
    int begin, stop; /* first instruction, and the one that control reaches when the region ends */
    unsigned last;   /* the node that lacks instructions at its end; NODE_NONE: none */
    unsigned *nodes, count, insns;
    bool *inside;
};

/* How often something is executed while the function is executed once: times * n^power, if loops of known trip counts have n
 * rounds. */
struct candidate_weight {
    double times;
    unsigned power;
};

/* The registers that a node of a region reads before it writes them, and those that it writes. */
struct candidate_sets {
    uint64_t uses, defines;
};

/* In region.c. */

/* Returns the number of the coordinate that a CSR instruction reads, or -1: it does something else. */
int candidate_coordinate(const struct insn *insn);

/* Returns why no block may have the instruction, or NULL. */
const char *candidate_obstacle(const struct cfg_insn *insn);

/* Returns the region from an entry to an end, without its nodes (block_collect()). Release it with block_free(). */
struct candidate_region block_of(const struct candidate_search *s, const struct function *f, unsigned entry,
                                 unsigned end);
void block_free(struct candidate_region *r);

/* Return the first and the last instruction of one of its nodes. */
int block_first(const struct candidate_region *r, unsigned node);
int block_last(const struct candidate_region *r, unsigned node);

/* Returns whether the region lacks instructions of its first node, so that it has no loop that begins there. */
bool block_is_cut(const struct candidate_region *r);

/* Returns why no region may have the node, or NULL. Sets *at to the instruction. */
const char *block_node_obstacle(const struct candidate_search *s, const struct function *f, unsigned node,
                                int *at);

/* Collects the region's nodes. Returns NULL, or why it can be no block: a node is not allowed, it has too many instructions, or another
 * way in or out; *at is the instruction. */
const char *block_collect(const struct candidate_search *s, struct candidate_region *r, int *at);

/* Returns how often each execution of the region executes the node at least: a product of static trip counts, or 0. Leaves out
 * the rounds of loop `but`. */
double block_times(const struct candidate_region *r, unsigned node, unsigned but);

/* Returns the outermost loop that begins where the region begins and lies in it, or NODE_NONE. */
unsigned block_first_loop(const struct candidate_region *r);

/* Returns the weight of what is executed in each round of `loop` (NODE_NONE: outside of all). */
struct candidate_weight block_weight(const struct candidate_region *r, unsigned loop);

/* In estimate.c (and equations 3 and 4). */

/* Returns the most registers of a function that are live at a time. */
unsigned candidate_live_of(const struct candidate_search *s, const struct function *f);

/* Estimates what offloading the region changes. Returns whether it is a candidate. */
bool candidate_estimate(const struct candidate_search *s, const struct candidate_region *r,
                        struct candidate *c);

/* Returns what an instruction of the node saves. */
double candidate_gain(const struct candidate_search *s, const struct candidate_region *r, unsigned node,
                      int at);

/* Returns as how many values the registers count that are sent or returned at an instruction. */
double candidate_values(const struct candidate_search *s, int at, uint64_t registers);

struct candidate_sets block_sets(const struct candidate_region *r, unsigned node);

/* Finds what is sent and what is returned. What is returned and not written on all paths is sent, too. */
void candidate_registers(const struct candidate_search *s, const struct candidate_region *r,
                         struct candidate *c);

/* In explain.c: why loops and functions are not taken. */
void explain_loop(struct candidate_search *s, const struct function *f, unsigned loop);
void explain_function(struct candidate_search *s, const struct function *f);

/* Keeps the refusals of those that no candidate has. */
void explain_kept(struct candidates *found, const struct cfg *cfg);

#endif
