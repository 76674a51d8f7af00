/* Loops within loops: what registers hold anywhere in a round of a loop, as sums of what they held at the beginning of that round.
 * Each loop of a function is summed up once, the innermost first: which registers a round leaves as they are, to which ones it adds
 * a constant (by whatever instructions, inner loops included), and how many rounds it has. The number of rounds is that of a
 * comparison whose difference each round changes by a constant. Within an inner loop, a register that counts
 * holds its value at the loop's entry and up to as many steps as the loop has further rounds, which may depend on registers: a way.
 * Behind the loop it holds an exact value where the number of rounds is exact.
 *
 * Additions of words are taken as sums: nest_walk() tells which values must fit into 32 bits for that. Differences of compared
 * registers are taken as free of overflow, and a loop that goes on while they differ as one that they end. */
#ifndef EMU_ANALYSIS_NESTS_NESTS_H
#define EMU_ANALYSIS_NESTS_NESTS_H

#include "emu/analysis/flow/function.h"

/* Places of the stack frame that hold spilled values count as registers, from 32 on. */
enum { NEST_TERMS = 4, NEST_WAYS = 3, NEST_SLOTS = 8, NEST_REGISTERS = 32 + NEST_SLOTS };

enum nest_kind { NEST_UNKNOWN, NEST_SUM, NEST_OBJECT };

/* The sum of factors times registers at the beginning of the round, of a number from low to high, and for each way of up to `up`
 * or minus `down` times the number of further rounds of inner loop `inner`; or an address in the object that AUIPC `object` names. */
struct nest_form {
    enum nest_kind kind;
    unsigned terms, ways;
    uint8_t regs[NEST_TERMS]; /* ascending */
    unsigned inner[NEST_WAYS];
    int64_t factors[NEST_TERMS], low, high, up[NEST_WAYS], down[NEST_WAYS];
    int object;
};

enum nest_change { NEST_KEPT, NEST_COUNTS, NEST_OTHER };

struct nest_loop {
    enum nest_change change[NEST_REGISTERS]; /* of registers in a round */
    int64_t step[NEST_REGISTERS];            /* of those that count */
    int64_t
        at_exit[NEST_REGISTERS]; /* of those that count: what is added to them in a round before its exit */
    const char *unknown;         /* why the number of rounds is not known; NULL: it is */
    /* It has max(0, extra / each) further rounds, rounded down; in terms of registers where it begins. */
    struct nest_form extra;
    int64_t each;
    bool fixed; /* all rounds of the loop around it have the same `extra`, though its terms vary */
    struct nest_form around; /* then: `extra` in terms of what registers hold where that loop is entered */
    bool differs;            /* it goes on while two values differ */
    struct nest_form compared[2]; /* what the branch at its exit compares */
    unsigned out;                 /* the node with the exit */
};

struct nests {
    const struct function *f;
    struct nest_loop *loops; /* by loop of the function */
    unsigned *order;         /* nodes in reverse post-order */
    unsigned count;
    int64_t slots[NEST_SLOTS]; /* offsets to sp */
    unsigned slot_count;       /* 0: there are none, or sp is used otherwise */
};

/* Release the result with nests_free(). */
struct nests nests_of(const struct function *f);
void nests_free(struct nests *nests);

/* An inner loop in a round of the loop that is walked: `extra` in terms of the registers where the round begins. */
struct nest_inner {
    bool known;
    struct nest_form extra;
};

struct nest_walker {
    /* Called for each instruction of the loop, in reverse post-order of nodes; regs: what integer registers hold before it. Returns
     * false to end the walk. */
    bool (*visit)(void *context, int at, const struct nest_form regs[NEST_REGISTERS]);
    /* Called for a value that must fit into a signed word. Returns false to end the walk. */
    bool (*word)(void *context, int at, const struct nest_form *value);
    void *context;
};

/* Walks over a loop. inner: by loop of the function, filled for those within it. Returns false if a call did. */
bool nest_walk(const struct nests *nests, unsigned loop, const struct nest_walker *walker,
               struct nest_inner *inner);

/* Returns the number, from 32 on, of the slot that an instruction loads or stores; 0: it does neither. */
unsigned nest_slot(const struct nests *nests, const struct cfg_insn *insn);

/* Returns a + factor * b. */
struct nest_form nest_sum(const struct nest_form *a, const struct nest_form *b, int64_t factor);

/* Returns a form plus a constant. */
struct nest_form nest_plus(const struct nest_form *form, int64_t constant);

/* Returns whether the form is one value for the given registers. */
bool nest_is_exact(const struct nest_form *form);

/* Finds the value of a form that is the same in all rounds of a loop, from what registers hold where the loop is entered. Returns false if it
 * is not known. */
bool nest_difference(const struct nests *nests, unsigned loop, const struct nest_form *form,
                     int64_t *difference);

/* Returns whether forms differ in their constants at most. */
bool nest_same_terms(const struct nest_form *a, const struct nest_form *b);

#endif
