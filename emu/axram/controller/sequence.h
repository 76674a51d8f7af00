/* The order of an invocation's column commands (PACT 2018, sections 4.2 and 4.3): the in-DRAM controller's program.
 *
 * Layer by layer and neuron by neuron, an RD4 reads each input of the neuron, the bias last, and a WR4 writes the neuron's
 * result: hidden ones to temporary blocks, from which the next layer reads them, and those of the last layer to the region of
 * results. Weights come in the order of their use: an RD4 brings four to each half group's register of eight. This RD4 follows
 * the first input for the four weights before, when the other four entries are free, so that a refill overlaps the work on these
 * weights. Where a block has several parts, the network is evaluated for each part whose units are wanted. */
#ifndef EMU_AXRAM_CONTROLLER_SEQUENCE_H
#define EMU_AXRAM_CONTROLLER_SEQUENCE_H

#include "emu/axram/controller/share.h"

enum axram_step { AXRAM_WEIGHTS, AXRAM_INPUT, AXRAM_OUTPUT, AXRAM_STEPS, AXRAM_END = AXRAM_STEPS };

struct axram_op {
    enum axram_step step;
    uint64_t address; /* of the block; AXRAM_END: 0 */
    unsigned part;    /* of the block */
    bool result;      /* AXRAM_OUTPUT: of the last layer */
    bool aside;       /* such a result whose block is in another chip: the address is that of its copy */
    uint32_t number;  /* of the refill, of the weight, or of the result in its layer */
    bool first;       /* AXRAM_INPUT: it is the first input of its neuron */
    bool last;        /* it is the last command of the invocation */
    bool held;        /* the units hold the value: no command */
};

/* How far an invocation has come. */
struct axram_sequence {
    const struct axram_topology *topology;
    uint64_t configuration, inputs, results; /* addresses of regions */
    struct axram_layout layout;
    unsigned part, parts;                            /* part under way, of so many */
    uint32_t left;                                   /* set of parts to do, with the one under way */
    uint32_t weight_count, refills;                  /* of the network */
    unsigned layer, neuron, input;                   /* of the next RD4 of an input, or the next WR4 */
    unsigned only;                                   /* the only layer; 0: all */
    bool holds;                                      /* units hold a layer's inputs and results */
    struct axram_range neurons;                      /* of this layer */
    struct axram_range inputs_here, results_here;    /* those that are not copies */
    uint32_t weight_first, refill_first, refill_end; /* of the sequence */
    uint32_t weight, refill;                         /* next weight to use, next block of weights to read */
    uint32_t done, total;                            /* commands that were issued; all commands */
};

/* Sets the sequence to the first command, for a set of units, not empty. `topology` must outlive it. Blocks have `parts` parts. */
void axram_sequence_begin(struct axram_sequence *sequence, const struct axram_topology *topology,
                          uint64_t configuration, uint64_t inputs, uint64_t results, uint32_t units,
                          unsigned parts);

/* Lets the units of a sequence that has not begun hold the inputs of a layer, and its results as inputs of the next, if these are together at
 * most so many `words` in each layer. Then each input is read once, and only results of the last layer are written. */
void axram_sequence_hold(struct axram_sequence *sequence, uint32_t words);

/* Restricts a sequence that has not begun to a member's neurons of one layer, at least one. Its units hold nothing. */
void axram_sequence_share(struct axram_sequence *sequence, const struct axram_sharing *sharing,
                          unsigned member, unsigned layer);

/* Returns the next command; axram_sequence_step() goes on to the one after it. */
struct axram_op axram_sequence_next(const struct axram_sequence *sequence);
void axram_sequence_step(struct axram_sequence *sequence);

#endif
