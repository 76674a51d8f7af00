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
enum croft_loop_use { CROFT_LOOP_READ = 1, CROFT_LOOP_WRITTEN = 2 };

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

/* Divides the loop into tasks. Returns whether it is worth it; then the frame is filled. */
long croft_loop_plan(const struct croft_loop *loop, struct croft_loop_frame *frame);

#endif
