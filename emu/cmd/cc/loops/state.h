/* Loops that become tasks, between the files of the rewriter (emu/cmd/cc/loops.h). */
#ifndef EMU_CMD_CC_LOOPS_STATE_H
#define EMU_CMD_CC_LOOPS_STATE_H

#include "emu/analysis/loop_tasks.h"
#include "emu/cmd/cc/loops.h"
#include "emu/cmd/code/numbered.h"
#include "isa/include/croft/loops.h"

enum { PATH = ASSEMBLY_OPERAND, LINE = 64 /* bytes of a cache line */ };

/* A loop that becomes tasks. */
struct launch {
    const struct loop_task *task;
    unsigned number;                   /* in the file */
    size_t label, first, last;         /* lines: the header's label, first and last instruction */
    char header[PATH], function[PATH]; /* label, and name of the function */
    size_t end;                        /* line of the function's .size directive */
    uint8_t carriers[TASK_CARRIERS],
        increments[TASK_CARRIERS];                /* registers; 0: the carrier does not change */
    unsigned carrier_count, inputs, outputs;      /* the last two of a nest */
    uint8_t pair, xn, count, batch, limit, spare; /* limit: in the task; spare: dead where the loop begins */
    uint8_t ahead[NEST_FARS], address;            /* of a nest's task, for prefetches; 0: there is none */
    uint8_t bound;         /* of a nest's task, for interleaved rounds; 0: there is none */
    uint8_t slice;         /* of a nest's task: the limit of a slice */
    bool apart;            /* the task has another body, for rounds whose accesses in some ranges are apart */
    enum nest_phase phase; /* of the body that is written */
    uint32_t launching;    /* all registers of the launch */
    char suffix[24];
};

struct rewriter {
    const struct assembly *assembly;
    struct program *program;
    const struct cc_loops_options *options;
    const struct cfg *cfg;
    struct numbered numbered;
    struct launch *launches;
    size_t count;
    size_t line; /* that is written */
    FILE *out;
};

/* In place.c: instructions and loops in the text. */

/* Returns the line of an instruction; 0: it has none. */
size_t rewriter_line(const struct rewriter *r, int insn);

/* Stores the name of the object in an instruction's line: lla a5,name+8 or fld fa5,name,a4. Returns `name`. */
const char *rewriter_object_name(const struct rewriter *r, int insn, char name[ASSEMBLY_OPERAND]);

/* Returns the answers to the analysis's questions. */
struct task_names rewriter_names(struct rewriter *r);

/* Returns whether the directive is .loc; .local is not. */
bool line_is_loc(const char *word);

/* Finds the loop's lines. Returns NULL, or what prevents its launch, and what is needed then. */
const char *launch_find_lines(const struct rewriter *r, struct launch *l, enum task_need *need);

/* In registers.c. Finds registers for the launch. Returns NULL, or what prevents it, and what is needed then. */
const char *launch_find_registers(struct launch *l, enum task_need *need);

/* In launch.c: what launches of single loops and of nests have in common. */

/* Adds nothing to a label (assembly_write()). */
const char *suffix_none(void *context, const char *name);

/* Return the caller-saved registers that are live where the loop begins: a set. */
uint32_t launch_floats(const struct launch *l);
uint32_t launch_integers(const struct launch *l);

/* Writes loads or stores (`op`) of a set of registers, number n at offset + 8 * n of the frame. */
void launch_each_place(FILE *out, const char *op, uint32_t set, size_t offset, bool floats);

/* Writes the mark whose operand is at the frame's offset. */
void launch_write_mark(FILE *out, const struct launch *l, size_t offset);

/* Writes the check before the loop: jumps to the launch if minuend - subtrahend is at least 1 << shift. */
void launch_write_check(FILE *out, const struct launch *l, const struct cc_loops_options *options);

/* Writes loads of the members of a batch but the number of tasks, relative to a register. */
void launch_load_batch(FILE *out, const struct launch *l, const char *base, size_t place);

/* Writes a nucd, its region, and the step to the next one. */
void launch_write_nucd(FILE *out, const struct launch *l, unsigned batch);

/* Writes words of a table. */
void launch_words(FILE *out, size_t count, const int64_t *values);

/* In single.c: a loop that is no nest (struct croft_loop). */

/* Writes the launch, which follows the function's code. */
void single_write_launch(FILE *out, const struct launch *l);

/* Writes the code that sets the loop's registers from the carriers, the limit last. */
void single_write_setup(FILE *out, const struct launch *l);

void single_write_table(FILE *out, const struct rewriter *r, const struct launch *l);

/* In nest_task.c: what the task of a nest has besides the loop's code. */

/* Stores what a nest's context holds: registers, CROFT_NEST_LIMIT, slots, what slices need, and CROFT_NEST_APART if there are several bodies.
 * Returns the number. */
unsigned nest_values(const struct launch *l, int64_t values[CROFT_NEST_VALUES]);

/* Writes the code that loads a nest's slots of the stack frame, from `slots` on, and its registers from the context, that of the context
 * last. */
void nest_write_setup(FILE *out, const struct launch *l, size_t slots);

/* Returns whether far load i has a prefetch, and whether each one has. */
bool nest_is_prefetched(const struct rewriter *r, const struct launch *l, unsigned i);
bool nest_all_prefetched(const struct rewriter *r, const struct launch *l);

/* Writes what a task's prefetches need. */
void nest_write_distances(FILE *out, const struct rewriter *r, const struct launch *l);

/* Writes a prefetch before the line, if that is a far load: prefetch.r (Zicbop), which assemblers and processors without that extension
 * take for a HINT. */
void nest_write_prefetch(FILE *out, const struct rewriter *r, const struct launch *l, size_t line);

/* Writes the line if it accesses a slot of the stack frame: a task has those in its own frame, from `base` on. Returns whether it does. */
bool nest_write_slot(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t base);

/* Writes the branches to the body for rounds whose accesses are apart (stores to one place are done once, and rounds are interleaved), and
 * to that for slices. */
void nest_write_choice(FILE *out, const struct launch *l);

/* Returns whether a line is a store that is done behind its loop. */
bool nest_is_sunk(const struct rewriter *r, const struct launch *l, size_t line);

/* Writes the stores that are done behind the loop which ends at the line. */
void nest_write_sunk(FILE *out, const struct rewriter *r, const struct launch *l, size_t line);

/* In slice.c: nests with rows and slices. */

enum { SLICE_WORDS = 3 + NEST_COUNTERS }; /* of a task's frame */

/* Returns whether the phase that is written does without an instruction, or without all of a line. */
bool slice_drops(const struct launch *l, int at);
bool slice_drops_line(const struct rewriter *r, const struct launch *l, size_t line);

/* Writes code before a line that round -1 alone has, or behind the last one of such lines: other slices jump over them. *open: whether
 * the line before is one. words: where SLICE_WORDS of the frame are. */
void slice_write_guard(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t words,
                       bool *open);

/* Writes the load of what a loop has stored if the line is its first one, and slices do without it. */
void slice_write_again(FILE *out, const struct rewriter *r, const struct launch *l, size_t line);

/* Write the code that copies what a slice needs from its context, from value `first` on, to the frame, and then finds what it adds to
 * counters. */
void slice_copy(FILE *out, const struct launch *l, unsigned first, size_t words);
void slice_write_setup(FILE *out, const struct launch *l, size_t words);

/* Writes what begins the slices' loop if the line is its first one: the counters of the slice's first round, and the limit. */
void slice_write_begin(FILE *out, const struct rewriter *r, const struct launch *l, size_t line,
                       size_t words);

/* Writes the branch at the end of the slices' loop if the line is that. Returns whether it is. label: where it goes; NULL: to the
 * label that slice_write_begin() has written. */
bool slice_write_branch(FILE *out, const struct rewriter *r, const struct launch *l, size_t line,
                        const char *label);

/* In nest.c: the launch of a nest, which follows the function's code, and its table (struct croft_nest). */
void nest_write_launch(FILE *out, const struct launch *l);
void nest_write_table(FILE *out, const struct rewriter *r, const struct launch *l);

/* In unroll.c. */

/* Returns whether a task interleaves rounds of unrolls[number]. */
bool unroll_is_possible(const struct rewriter *r, const struct launch *l, unsigned number);

/* Writes what interleaves rounds of the innermost loop that begins or ends at the line. Returns whether it has written the line,
 * too: the branch back. The loop's own code has the rounds that are left. slots: where those of the stack frame are. */
bool unroll_write(FILE *out, const struct rewriter *r, const struct launch *l, size_t line, size_t slots);

/* In task.c. Writes the task: a function that finds its operands in the launch's registers, and preserves these. */
void task_write(FILE *out, const struct rewriter *r, const struct launch *l);

#endif
