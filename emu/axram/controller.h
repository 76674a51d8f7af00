/* The accelerator in a GDDR5 chip and the memory controller's part of it (PACT 2018, sections 3.2 and 4.3): an agent of the
 * chip's channel (emu/dram/controller/agent.h).
 *
 * A controller has a queue of requests for its chip and executes one at a time; a request that finds the queue full comes again
 * when there is room. A request takes the chip: the agent claims all banks, so that ordinary requests wait in their own queues
 * (the paper's flag). Rows that are open stay open; a bank of which the four groups have different rows is closed by PRE4. The next request takes the chip when as many ordinary bursts have been served as
 * waited at the end of the last one, or none is left (ours): a queue that is never empty does not keep them waiting for ever.
 *
 * A configuration: the controller reads the header (ACT, RD) and sends it to the chip in words (AXCF): kind and number of
 * layers, the sizes of each two layers, and the region's address in two.
 * An invocation: the controller sends words with the set of units and the addresses of inputs and results, then AXCT, which
 * starts the chip. The chip issues its own commands: those of its sequence (sequence.h), with PRE4 and ACT4 where another row is
 * open. Rows are opened ahead, from the first word on: the first command of the sequence whose row is not open gets it as soon as no command
 * before it needs the bank's row. The controller polls MR0 (AXMR) every poll_clocks, or waits for a time fixed beforehand, and releases
 * the banks when it knows that the chip has finished. A poll gives way to a command of the chip in the same clock.
 *
 * Time in the chip. A column's data reach the units tCL after an RD4; there is no buffer, so they may not come before the units
 * have finished the step before. A step takes the clocks of the weight (emu/neural/arith.h) of the half group that needs
 * most. A neuron's result is ready sigmoid_clocks after its last step; WR4 takes it tCWL after the command. Until then, the units hold it
 * (ours: a register in each), and inputs of the layer's next neuron are read; those of the next layer wait.
 *
 * Several chips (ours; share.h). The home's controller tells the others by a message. Layer by layer, each controller reads the values
 * that others need from its chip (RD), waits until all have done so and for a message, writes those that its chip needs (WR), and lets
 * the chip compute its neurons. The results go to the chips of their region in the same way. Banks are closed before each layer.
 * Chips of a team have one queue, so that an invocation has all of them or none.
 *
 * Halves (ours; layout.h). Where a chip is split, each half is such an agent, with the banks of its groups, and what is said of a chip holds
 * for it. Halves meet in the channel's command slots, the windows of activates, the pins and the refresh.
 *
 * Refresh. When the refresh claims the banks, the controller suspends the chip (AXCT): it writes its accumulators to the
 * region of configuration and yields the banks, which the refresh closes; afterwards the controller continues it (AXCT), and
 * the chip reads its accumulators back and goes on. Weight registers keep their contents.
 *
 * Function. Units work on the bytes of memory that the commands address, in the commands' order. Stores of other harts to the
 * regions during an invocation wait in time, but change memory at once, because function is apart from time. So the chip
 * compares all that it has read with memory after its last command. If something has changed, it computes anew from memory. It
 * writes all results at that moment: the invocation is atomic, at its last command. */
#ifndef EMU_AXRAM_CONTROLLER_H
#define EMU_AXRAM_CONTROLLER_H

#include "emu/axram/controller/sequence.h"
#include "emu/axram/controller/units.h"
#include "emu/dram/memory.h"
#include "emu/mem/phys.h"

enum axram_notify { AXRAM_POLL, AXRAM_FIXED };

/* The distances of columns inside a chip: gddr5, those that the data sheet demands of a bank group (DRAM_INSIDE_GROUP); paper, a column
 * each clock (DRAM_INSIDE_CLOCK), as section 4.2 says that each unit gets an input and a weight each cycle. */
enum axram_columns { AXRAM_COLUMNS_GDDR5, AXRAM_COLUMNS_PAPER };

/* What all chips count. */
#define AXRAM_COUNTERS(X)                                                                                    \
    X(configurations, "requests", "Configurations of chips")                                                 \
    X(invocations, "requests", "Invocations of chips")                                                       \
    X(input_reads, "commands", "RD4 of inputs")                                                              \
    X(weight_reads, "commands", "RD4 of weights")                                                            \
    X(result_writes, "commands", "WR4 of neurons' results, hidden ones included")                            \
    X(suspensions, "times", "Invocations suspended for a refresh")                                           \
    X(saved, "commands", "WR4 of accumulators, for suspensions")                                             \
    X(loaded, "commands", "RD4 of accumulators, after suspensions")                                          \
    X(words, "commands", "Words sent to chips")                                                              \
    X(controls, "commands", "Begin, suspend and continue")                                                   \
    X(polls, "commands", "Reads of MR0")                                                                     \
    X(given, "commands", "RD of values for other chips of the team")                                         \
    X(taken, "commands", "WR of values from other chips of the team")                                        \
    X(late, "requests", "Invocations that were not finished after the fixed time")                           \
    X(torn, "requests", "Invocations computed anew because others had stored to their regions")              \
    X(full, "requests", "Requests that found the controller's queue full")                                   \
    X(mac_clocks, "clocks", "Clocks of CK of multiply-accumulate steps: the bound by arithmetic")            \
    X(column_clocks, "clocks", "Clocks of CK of RD4, tCCDL each: the bound by columns")                      \
    X(busy_clocks, "clocks", "Clocks of CK from taking a chip to releasing it, summed over chips")           \
    X(wait_clocks, "clocks", "Clocks of CK that requests waited for their chip")                             \
    X(sha_iterations, "iterations", "Shift-add iterations of all units")                                     \
    X(fxp_macs, "operations", "Fixed-point multiply-accumulates of all units")                               \
    X(fp_macs, "operations", "Floating-point multiply-accumulates of all units")                             \
    X(register_accesses, "accesses", "Reads and writes of weight registers, 32 bits each")

struct axram_counters {
#define AXRAM_COUNTER(name, unit, meaning) uint64_t name;
    AXRAM_COUNTERS(AXRAM_COUNTER)
#undef AXRAM_COUNTER
};

/* A request for a chip, or for the team of an invocation's home. The owner sets the fields up to `owner`, and keeps the request until
 * done() is called. */
struct axram_request {
    bool invokes;  /* false: a configuration */
    uint32_t chip; /* of a configuration: member of the team */
    struct axram_topology topology;
    uint64_t configuration, inputs, results; /* physical addresses of regions */
    struct axram_span {
        uint64_t start, end;
    } named[2];     /* as the instructions have them: a configuration; or inputs and results, of one lane */
    uint32_t units; /* units whose results are written */
    uint32_t together;                   /* chips of the team; 0 or 1: one */
    uint64_t configurations[AXRAM_TEAM]; /* of these, if they are several */
    void (*done)(struct axram_request *request, uint64_t now);
    void *owner;

    uint64_t arrived; /* clock of CK */
    uint64_t ready;   /* fs: when it is in the queue; CLOCK_NEVER: it waits where it comes from */
    struct axram_request *next;
};

/* What all chips share. */
struct axram_shared {
    const struct dram_config *dram; /* of the memories, which are alike */
    const struct home_map *homes;
    const struct phys *bytes;
    struct event_queue *queue;
    uint32_t component;                   /* of the chips' events */
    uint64_t unit_period;                 /* fs: clock of the units */
    uint32_t halves;                      /* of a chip, which work apart: 1 or 2 */
    unsigned parts;                       /* of a block (layout.h) */
    uint64_t space;                       /* address of accelerator memory */
    uint64_t message;                     /* fs: from one controller of a team to the others */
    uint32_t sigmoid, poll, fixed, depth; /* clocks of CK (fixed 0: from the topology); depth: requests */
    uint64_t retry; /* fs from room in the queue until a request that has waited for room is in it */
    uint32_t held;  /* words that each unit holds; 0: it has only accumulators */
    enum axram_notify notify;
    /* called when bytes have been written; NULL: not called */
    void (*stored)(void *context, uint64_t address, uint64_t size);
    void *context;
    struct axram_counters counters;
};

enum { AXRAM_SPOTS = 256 };

/* A block that an invocation has read. */
struct axram_copy {
    uint64_t address;
    uint8_t bytes[AXRAM_BLOCK];
};

enum axram_state {
    AXRAM_IDLE,
    AXRAM_CLOSE,   /* the banks are closed */
    AXRAM_GIVE,    /* values are read for other chips */
    AXRAM_WAIT,    /* the other chips are not so far */
    AXRAM_TAKE,    /* values from other chips are written */
    AXRAM_HEADER,  /* the header is read */
    AXRAM_SEND,    /* words are sent, then AXCT for an invocation */
    AXRAM_RUN,     /* the sequence runs */
    AXRAM_SAVE,    /* accumulators are written */
    AXRAM_AWAY,    /* the banks are yielded */
    AXRAM_RESTORE, /* accumulators are read back */
    AXRAM_FINISHED /* the sequence has ended; the controller does not know yet */
};

struct axram_chip {
    struct axram_shared *shared;
    struct axram_team *team;
    const struct axram_chip_ops *ops;
    struct dram_memory *memory;
    uint32_t channel, half;
    struct dram_agent agent;
    struct event commit, end;
    struct axram_request *request; /* under way; NULL: none */

    enum axram_state state, interrupted; /* interrupted: state to go back to */
    enum axram_state behind;             /* the state behind AXRAM_CLOSE */
    unsigned layer;                      /* in a team: that the chip computes, or has computed; 0: none yet */
    unsigned value, burst; /* in AXRAM_GIVE and AXRAM_TAKE: the next burst of which value of that layer */
    bool asked;            /* the refresh has claimed the banks */
    bool begun;            /* the AXCT of the state is issued */
    uint32_t words;        /* words left to send */
    uint32_t part;         /* block of accumulators to save or to restore next */
    uint64_t taken;        /* clock at which the request has claimed the banks */
    /* ordinary bursts served by the channel, at the end of the last request; of these that waited for it, those that go first */
    uint64_t served_before, due;
    uint64_t poll_at;  /* clock of the next poll, or of the end of the fixed time */
    uint64_t work_end; /* clock at which the units have finished their last step */
    /* by blocks of weights modulo 2: clocks at which they are there, and at which the units are done with them */
    uint64_t weights_at[2], weights_end[2];
    struct axram_units units;
    struct axram_sequence sequence;
    struct axram_op op; /* the sequence's next command */
    /* a neuron's result that waits for its WR4 (held.step: AXRAM_OUTPUT; else there is none) */
    struct axram_op held;
    unsigned held_layer;
    uint64_t held_ready; /* clock at which it is there */
    uint8_t latch[AXRAM_BLOCK];
    /* the first command whose row is not open, and how many commands before it use a bank's open row */
    struct axram_sequence ahead;
    struct axram_op ahead_op;
    uint16_t uses[DRAM_BANKS];
    struct axram_spot {
        uint64_t address; /* UINT64_MAX: none */
        uint32_t bank, row, column;
    } spots[AXRAM_SPOTS];      /* where the last columns are, by their addresses */
    bool over;                 /* the controller knows that the request is finished */
    bool torn;                 /* a block was changed after the invocation had read it */
    struct axram_copy *copies; /* by block: those of inputs, then the bias and weights */
    uint32_t copy_count;       /* of the invocation */
    uint8_t results[NETWORK_NEURONS][AXRAM_BLOCK];
};

/* Chips that work together, or one, and the queue of their requests. */
struct axram_team {
    struct axram_shared *shared;
    struct axram_chip *chips; /* or halves of chips (axram_shared.halves) */
    uint32_t count;
    struct axram_request *first, **last; /* the first is under way */
    uint32_t queued;
    struct event start;
    /* of an invocation by several chips: */
    struct axram_sharing sharing;
    struct event next;    /* the chips begin; they take the values of a layer; or they have finished */
    bool done;            /* the results have been given: what is left is to take them */
    uint32_t reported;    /* chips that have come to the end of the phase */
    uint64_t last_report; /* fs */
    /* of the layer whose values are given, and of the one before, which slower chips still take; by layer modulo 2 */
    uint8_t values[2][NETWORK_INPUTS][AXRAM_BLOCK];
};

/* Initializes a team of `count` chips, 1 to AXRAM_TEAM, on neighbouring channels of a memory; or of one half of a chip, whose memory has
 * half of the groups as `wide` (struct dram_config). It must not be moved. Release it with
 * axram_team_free(). */
void axram_team_init(struct axram_team *team, struct axram_shared *shared, struct dram_memory *memory,
                     uint32_t channel, uint32_t count, uint32_t half);
void axram_team_free(struct axram_team *team);

/* Hands over a request, which arrives at the event queue's time. Regions must lie in the team's chips and be large enough
 * (layout.h). */
void axram_team_request(struct axram_team *team, struct axram_request *request);

/* Executes an invocation at once, without time. Adds its commands to the counters; NULL: does not count. */
void axram_execute(const struct axram_shared *shared, const struct axram_request *request,
                   struct axram_counters *counters);

#endif
