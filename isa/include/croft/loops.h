/* Loops that `croft cc -foffload-loops` has divided into tasks: what the compiler's output hands to croft_loop_plan()
 * (host/nucd/loops.c). All members are 8 bytes, because the tables are written as assembler. */
#ifndef CROFT_LOOPS_H
#define CROFT_LOOPS_H

#include <stdint.h>

enum {
    CROFT_LOOP_TERMS = 3,    /* of an address */
    CROFT_LOOP_RANGES = 8,   /* of a task */
    CROFT_LOOP_COUNTERS = 8, /* registers to which each round adds a constant */
    CROFT_LOOP_CARRIERS = 8, /* operands of a task: four input and four output segments */
};

/* Sets in croft_loop_range.uses. */
enum croft_loop_use {
    CROFT_LOOP_READ = 1,
    CROFT_LOOP_WRITTEN = 2,
    /* Of a nest with slices; the first two are of its rows. */
    CROFT_SLICE_READ = 4,
    CROFT_SLICE_BEFORE = 8, /* rows read it before a slice stores there in the same round */
};

/* The memory that a round accesses: `size` bytes from the sum of factor[i] * register[i] and `low`. The next round's is
 * `stride` bytes behind it. */
struct croft_loop_range {
    int64_t uses, terms, registers[CROFT_LOOP_TERMS], factors[CROFT_LOOP_TERMS], low, size, stride;
};

struct croft_loop_counter {
    int64_t number, step, word; /* word: additions are of 32 bits */
};

enum croft_loop_carry { CROFT_LOOP_RANGE, CROFT_LOOP_REGISTER, CROFT_LOOP_FLOAT, CROFT_LOOP_LENGTH };

/* An operand: what it holds (a range's first address, a register, the difference between the limit and the counter at a
 * task's beginning), of which number, and its segments; -1: none. `place` is the register of the launch that holds it. */
struct croft_loop_carrier {
    int64_t carry, number, input, output, place;
};

/* A loop. It goes on while D = minuend - subtrahend (registers; 0: the value 0) is as emu/analysis/trips.h tells: it has at
 * least n rounds, n > 1, exactly if D >= first + n * step. */
struct croft_loop {
    int64_t insns;                                /* instructions of a round, about */
    int64_t tasks;                                /* at most */
    int64_t least;                                /* instructions for which tasks are worth it */
    int64_t minuend, subtrahend, step, first, up; /* up: the subtrahend counts, otherwise the minuend does */
    int64_t differs, is_unsigned; /* the loop ends when both are equal; the comparison is unsigned */
    int64_t ranges, counters, carriers;
    struct croft_loop_range range[CROFT_LOOP_RANGES];
    struct croft_loop_counter counter[CROFT_LOOP_COUNTERS];
    struct croft_loop_carrier carrier[CROFT_LOOP_CARRIERS];
};

enum { CROFT_LOOP_BATCHES = 2 };

/* Tasks of the same number of rounds. */
struct croft_loop_batch {
    uint64_t tasks, xn, xd, xt;
    uint64_t firsts[CROFT_LOOP_CARRIERS];     /* carriers of the first task */
    uint64_t increments[CROFT_LOOP_CARRIERS]; /* to the next task */
};

/* The stack frame of a launch. */
struct croft_loop_frame {
    uint64_t registers[32],
        floats[32]; /* those that are used later; counters are advanced beyond the tasks */
    uint64_t head;  /* 1: the host runs some rounds before the tasks */
    uint64_t heads[CROFT_LOOP_CARRIERS];                 /* carriers of these rounds */
    uint64_t begin, end;                                 /* operands of the marks */
    struct croft_loop_batch batches[CROFT_LOOP_BATCHES]; /* the first one has tasks */
};

/* Nests of loops: what a task accesses depends on how often inner loops go round, which is known when the nest is entered. A task
 * loads its registers from memory, its context. */
enum {
    CROFT_NEST_TERMS = 4,   /* of a sum */
    CROFT_NEST_WAYS = 3,    /* of a sum */
    CROFT_NEST_RANGES = 16, /* of a round */
    CROFT_NEST_WORDS = 8,   /* values that must fit into signed words */
    CROFT_NEST_INNERS = 6,  /* inner loops whose number of rounds registers decide */
    CROFT_NEST_COUNTERS = 16,
    CROFT_NEST_VALUES =
        80, /* in a context: registers, the limit, slots of the stack frame, CROFT_NEST_APART */
    CROFT_NEST_INPUTS = 3, /* ranges that are read only; the context is another one */
    CROFT_NEST_OUTPUTS = 4,
    CROFT_NEST_CARRIERS = 8, /* operands of a task: the context, inputs, outputs */
    CROFT_NEST_BATCHES = 8,
    CROFT_NEST_TASKS = 96, /* of a launch, at most */
    CROFT_NEST_SLOTS =
        8, /* of the stack frame, whose values are operands: registers from 32 on in sums, values from 65 on */
    CROFT_NEST_REGISTERS = 32 + CROFT_NEST_SLOTS,
    CROFT_NEST_APART = 128, /* of a context: whether ranges are apart in its rounds that some loops need so */
    CROFT_NEST_APARTS = 8,
    /* Of a context of a slice, where CROFT_NEST_APART tells CROFT_NEST_SLICED: its first round, number of rounds, and whether it has round -1. */
    CROFT_NEST_SLICED = 2,
    CROFT_NEST_START = 129,
    CROFT_NEST_COUNT = 130,
    CROFT_NEST_PEELED = 131,
    CROFT_NEST_LIMIT =
        64, /* of a context: the limit of a task's counter; other values are registers, from 32 on floating-point ones */
};

/* Numbers from `low` to `high`, plus the sum of factor[i] * register[i], plus for each way i from -down[i] to up[i] times the
 * number of further rounds of inner loop inner[i]. */
struct croft_nest_form {
    int64_t terms, registers[CROFT_NEST_TERMS], factors[CROFT_NEST_TERMS], low, high, ways,
        inner[CROFT_NEST_WAYS], up[CROFT_NEST_WAYS], down[CROFT_NEST_WAYS];
};

struct croft_nest_range {
    int64_t uses, size; /* of the access at the highest address */
    struct croft_nest_form from;
};

/* An inner loop of `insns` instructions. A round of the one around it, inner[around - 1] or (0) the outer loop, enters it
 * `times` times; it has at most max(0, extra / each) further rounds after its first one. differs: it ends when extra is used up. */
struct croft_nest_inner {
    int64_t insns, times, around, far; /* far: loads that each round continues in another line */
    int64_t each, differs;
    struct croft_nest_form extra;
};

/* An inner loop whose rounds tasks share, in all rounds of the nest, behind the tasks that have some rounds of the nest without what that
 * loop stores: `size` bytes at `from` in round 0, `stride` behind in each further one. peeled: there is a round -1. It has as many
 * rounds as that of croft_nest_inner, the same number in all rounds of the nest. */
struct croft_nest_slices {
    int64_t few;                                        /* its rounds when they were too few, the last time */
    int64_t there, peeled, size, stride, each, differs; /* there: 0: there are none */
    struct croft_nest_form from, extra;
};

/* A nest. The outer loop is that of struct croft_loop. */
struct croft_nest {
    int64_t closed, refusals; /* closed: it is not tried again; refusals: in a row, so far */
    int64_t insns, far; /* of a round, about, outside of inner[]; lines of far loads in one of its loops */
    int64_t tasks, least, lines; /* lines: of an accelerator's data cache */
    int64_t minuend, subtrahend, step, first, up, differs;
    int64_t counters, ranges, words, inners, values, inputs, outputs;
    int64_t counter[CROFT_NEST_COUNTERS], steps[CROFT_NEST_COUNTERS];
    int64_t value[CROFT_NEST_VALUES];   /* what a context holds: registers */
    int64_t place[CROFT_NEST_CARRIERS]; /* the registers of the launch that hold operands */
    int64_t apart
        [CROFT_NEST_APARTS]; /* sets of ranges: within each, ranges are apart if CROFT_NEST_APART tells so */
    struct croft_nest_slices slices;
    struct croft_nest_inner inner[CROFT_NEST_INNERS];
    struct croft_nest_form word[CROFT_NEST_WORDS];
    struct croft_nest_range range[CROFT_NEST_RANGES];
};

struct croft_nest_batch {
    struct croft_loop_batch of; /* tasks: 0, or the address behind the last context */
    int64_t rounds;             /* of an empty loop behind its launches */
};

/* The stack frame of a launch, before the contexts. */
struct croft_nest_frame {
    uint64_t registers[CROFT_NEST_REGISTERS], floats[32]; /* as in croft_loop_frame */
    uint64_t begin, end;                                  /* operands of the marks */
    uint64_t head; /* the context of rounds that the host has before the tasks; 0: there are none */
    struct croft_nest_batch batches[CROFT_NEST_BATCHES];
    uint64_t contexts[]; /* room for CROFT_NEST_TASKS contexts of whole lines, and a line */
};

/* Divides the nest into tasks. Returns whether it is worth it; then the frame is filled. */
long croft_nest_plan(struct croft_nest *nest, struct croft_nest_frame *frame);

/* Divides the loop into tasks. Returns whether it is worth it; then the frame is filled. */
long croft_loop_plan(const struct croft_loop *loop, struct croft_loop_frame *frame);

#endif
