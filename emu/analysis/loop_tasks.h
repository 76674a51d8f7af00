/* Loops that can be divided into tasks for accelerators (NUCD): a task executes some consecutive rounds, and the memory that
 * it accesses is known before it begins. The hardware keeps tasks and the host in program order where their ranges overlap, so
 * what has to be proved is that the ranges are complete and that no register carries a value from round to round.
 *
 * A loop can be divided if
 *   - its only exit is a conditional branch at its end, with a trip count that is known from registers (trips.h);
 *   - each register that a round reads before writing it is either not written in the loop, or a counter: one instruction adds
 *     a constant to it once in each round. Other registers that the loop writes are not used behind it before they are written,
 *     or each round writes them;
 *   - each address is a sum of such registers, times constants, and a constant (within inner loops of static trip counts, a
 *     range of constants), or an unknown address in a named object: then the task reads the whole object. The
 *     addresses of stores are sums, and each round stores behind the stores of the round before it;
 *   - it has no calls, indirect jumps, atomics, fences, CSRs, environment calls, hints, custom instructions, volatile accesses, assembler
 *     statements, and does not name sp;
 *   - its ranges and values fit into the operands of one nucd;
 *   - other functions enter its function at the entry only.
 *
 * A loop for which this does not hold may be divided as a nest (nests/nests.h): its counters and its ranges are sums that hold at run
 * time, when the nest is entered; it is decided there whether rounds are apart (host/nucd/nests.c).
 *
 * That the sum of an object's address and an index lies in the object is taken from C. */
#ifndef EMU_ANALYSIS_LOOP_TASKS_H
#define EMU_ANALYSIS_LOOP_TASKS_H

#include "emu/analysis/liveness.h"
#include "emu/analysis/loop_tasks/refusal.h"
#include "emu/analysis/nests/nests.h"
#include "emu/analysis/trips.h"

enum { TASK_TERMS = 3, TASK_RANGES = 8, TASK_COUNTERS = 8, TASK_CARRIERS = 8, TASK_SEGMENTS = 4 };

/* A named object. */
struct task_object {
    uint64_t address, size;
    bool constant; /* it is never written */
};

/* What the analysis asks of its caller. */
struct task_names {
    /* Finds the object whose address an AUIPC computes. Returns false if it is not known. */
    bool (*object)(void *context, int insn, struct task_object *object);
    /* Returns why an instruction may not be in a task, such as "it has an assembler statement", and what is needed then; or NULL. */
    const char *(*obstacle)(void *context, int insn, enum task_need *need);
    void *context;
};

enum task_form_kind { FORM_UNSEEN, FORM_SUM, FORM_OBJECT, FORM_UNKNOWN };

/* What a register holds: the sum of factors times registers at the beginning of the round, and of a number from low to high;
 * or an address in the object that instruction `object` names. */
struct task_form {
    enum task_form_kind kind;
    unsigned terms;
    uint8_t regs[TASK_TERMS]; /* ascending */
    int64_t factors[TASK_TERMS], low, high;
    int object;
};

/* Memory that a round accesses: for a sum, `size` bytes from from.low on; otherwise the whole object. */
struct task_range {
    struct task_form from;
    int64_t size, stride;
    bool read, written;
    int at; /* an instruction that accesses it: a store, if one does */
    struct task_object object;
};

struct task_counter {
    uint8_t reg;
    int64_t step;
    bool word;
};

enum task_carry { CARRY_RANGE, CARRY_REGISTER, CARRY_LENGTH };

/* An operand: the first address of range `number`, the register `number`, or the difference of limit and counter. Segments: -1
 * if it has none. */
struct task_carrier {
    enum task_carry carry;
    unsigned number;
    int input, output;
};

enum { NEST_UNROLLS = 4, NEST_ACCESSES = 16 };
enum { NEST_SLICE_INSNS = 256, NEST_SLICE_WORDS = NEST_SLICE_INSNS / 64 };
enum { NEST_RANGES = 16, NEST_WORDS = 8, NEST_INNERS = 6, NEST_COUNTERS = 16, NEST_FARS = 4, NEST_SINKS = 4 };

/* A load of an innermost loop whose address each round changes by a line or more. */
struct nest_far {
    int at;
    int64_t stride;
};

/* A store of an innermost loop to one place, which the loop does not load from if ranges are apart: all but the last one are in vain. */
struct nest_sink {
    int store, branch; /* branch: at the end of that loop, its only exit */
    unsigned apart;    /* a set of ranges, by number: those of that loop, which must be apart */
};

/* A load or store of an innermost loop, in terms of what registers hold where a round begins. */
struct nest_access {
    int at;
    unsigned range; /* of the nest, plus 1; 0: constant data */
    /* Those of one number differ by constants; NEST_ACCESSES: the address has no known stride. */
    unsigned address;
    int64_t low, size, stride;
};

/* An innermost loop whose rounds a task may interleave: a block whose branch at its end compares a counter with a limit. */
struct nest_unroll {
    int first, branch;
    uint8_t counter, limit; /* limit: or a slot, from 32 on, or REGISTER_NONE: 0 */
    int64_t step;
    uint64_t behind; /* registers that are live at its end */
    unsigned apart;  /* as of struct nest_sink; 0: it stores nothing */
    struct nest_access accesses[NEST_ACCESSES];
    unsigned access_count;
};

/* Memory that a round of a nest accesses: from the least value of `from` to the greatest one plus `size`. */
struct nest_range {
    struct nest_form from;
    int64_t size;
    bool read, written;
    /* Of a nest with slices; then `read` and `written` are of its rows. */
    bool sliced; /* slices read it */
    bool before; /* rows read it before a slice stores there, in the same round */
    bool own;    /* slices read what the rows of the same round have stored */
    int at;      /* as of struct task_range */
};

/* What tasks execute of a nest whose rounds store to the same places, or to columns: first rows, some rounds without such stores, then
 * slices, all rounds of the nest with some rounds of one inner loop, without other stores. */
enum nest_phase { NEST_ROWS, NEST_SLICES };

/* What else slices do instead of another inner loop: they load the register that its last round has stored. */
struct nest_again {
    int first, branch; /* the loop */
    int store;         /* CFG_NONE: they do nothing */
};

/* An inner loop whose rounds tasks share, in all rounds of the nest: round m of the loop stores at `from` + m * stride, and each round of the
 * nest moves that by less than the stride. What the compiler has peeled of it, its round -1, belongs to the first slice. */
struct nest_slices {
    bool there;        /* false: there are no slices */
    int first, branch; /* the loop: a block */
    uint8_t counter;   /* its branch compares this one, after its step, with the limit */
    unsigned range;    /* what it stores to: of task_nest.ranges */
    int peeled;        /* the store of round -1, or CFG_NONE */
    unsigned peeled_range;
    struct nest_form from; /* of round 0 */
    int64_t size, stride;
    struct nest_form extra; /* as of struct nest_extra */
    int64_t each;
    uint8_t counters[NEST_COUNTERS]; /* registers that count in it */
    int64_t steps[NEST_COUNTERS];
    unsigned counter_count;
    bool skipped;                           /* rows do without the loop */
    struct nest_again agains[NEST_UNROLLS]; /* other loops that slices do without */
    unsigned again_count;
    /* Sets of instructions, from loop_task.begin on: what a phase executes; what belongs to round -1 alone. */
    uint64_t kept[2][NEST_SLICE_WORDS], alone[NEST_SLICE_WORDS];
};

/* An inner loop whose number of rounds registers decide: struct nest_loop. */
struct nest_extra {
    struct nest_form extra;
    int64_t each;
    bool differs;
    /* Of each of its rounds: instructions outside of other elements of `inners`. A round of the loop around it, inners[around - 1] or
     * (0) the outer loop, enters it `times` times. */
    unsigned insns, times, around;
    /* Loads of one of its rounds that the next round continues in another cache line, if it has no loop within. */
    unsigned far;
};

/* A nest of loops whose ranges are known only when it is entered. Ways in its forms name elements of `inners`. */
struct task_nest {
    struct nest_range ranges[NEST_RANGES];
    struct nest_form words[NEST_WORDS]; /* what must fit into signed words */
    struct nest_extra inners[NEST_INNERS];
    struct task_counter counters[NEST_COUNTERS];
    struct nest_far fars[NEST_FARS];          /* the first ones */
    struct nest_sink sinks[NEST_SINKS];       /* the first ones */
    struct nest_unroll unrolls[NEST_UNROLLS]; /* the first ones */
    struct nest_slices slices;
    unsigned range_count, word_count, inner_count, counter_count, far_count, sink_count, unroll_count;
    unsigned insns; /* of a round of the outer loop, outside of `inners` */
    /* Lines of such loads in the innermost loop outside of `inners` that has the most, if it has several loads. */
    unsigned far;
    int64_t slots[NEST_SLOTS]; /* of the stack frame: offsets to sp */
    unsigned slot_count;
    unsigned needed_slots; /* those that the loop only loads: a set */
    uint64_t needed;       /* registers that a task needs when it begins */
    uint8_t counter;       /* the register that counts towards the limit */
    uint8_t
        compared; /* the one that the branch compares with the limit: after the counter's step, it is equal to the counter */
    uint8_t limit;    /* or REGISTER_NONE: 0 */
    bool limit_alone; /* only the branch reads the limit */
};

struct loop_task {
    bool nested; /* `nest` describes it; ranges, counters and carriers are empty */
    struct task_nest nest;
    int function;      /* of the graph */
    int begin, branch; /* instructions: the first of the header, and the branch that is the only exit */
    int last;          /* the last one: the branch, or in a nest a jump to the header */
    unsigned length;   /* instructions */
    unsigned insns;    /* executed in a round, estimated: inner loops of unknown trip count have 8 rounds */
    bool possible;
    char reason[160];    /* why not, if not possible */
    int where;           /* the instruction that prevents it */
    enum task_need need; /* what would have to be known or changed */
    struct trip trip;
    bool up;        /* the trip's subtrahend counts, otherwise its minuend does */
    uint64_t live;  /* registers live where the loop begins */
    unsigned slots; /* a set of slots of the stack frame that its instructions name */
    uint64_t named; /* registers that its instructions name */
    struct task_counter counters[TASK_COUNTERS];
    struct task_range ranges[TASK_RANGES];
    struct task_carrier carriers[TASK_CARRIERS];
    unsigned counter_count, range_count, carrier_count;
};

struct loop_tasks {
    struct loop_task *list; /* by `begin`; each loop once */
    size_t count;
};

/* Looks at all loops of a graph. Release the result with loop_tasks_free(). */
struct loop_tasks loop_tasks_of(const struct cfg *cfg, const struct task_names *names);
void loop_tasks_free(struct loop_tasks *tasks);

/* In nests/nest_tasks.c: looks at a loop as a nest: fills task->nest and task->trip. Returns false if it cannot be divided: task->reason tells why. */
bool nest_task_of(const struct nests *nests, unsigned loop, const struct task_names *names,
                  const struct liveness *live, struct loop_task *task);

/* In nests/nest_unrolls.c. */

/* Finds innermost loops whose rounds may be interleaved. ranges: by instruction from task->begin on, the number of its range, plus 1. */
void nest_find_unrolls(const struct nests *nests, unsigned loop, const struct liveness *live,
                       const uint8_t *ranges, struct loop_task *task);

/* In nests/nest_slices.c: finds the slices of a nest whose rounds access what other rounds store. forms: by instruction from task->begin on, what it
 * accesses. Changes the nest's ranges to those of its rows. Returns false if there are none: then nothing has changed. */
bool nest_find_slices(const struct nests *nests, unsigned loop, const struct nest_inner *inner,
                      const struct nest_form *forms, const uint8_t *ranges, struct loop_task *task);

/* Returns whether a set of a nest's instructions has one. */
static inline bool nest_has(const uint64_t set[NEST_SLICE_WORDS], int number)
{
    return number >= 0 && number < NEST_SLICE_INSNS && (set[number / 64] >> number % 64 & 1);
}

/* Returns whether access a of a round and access b of the one `rounds` later are apart, if different ranges are. */
bool nest_are_apart(const struct nest_access *a, const struct nest_access *b, int64_t rounds);

/* Returns whether they are the same bytes. */
bool nest_are_same(const struct nest_access *a, const struct nest_access *b, int64_t rounds);

/* In loop_tasks/refusal.c. They return false. */

/* Notes why the loop cannot be divided, and what is needed, unless a reason is noted already. */
bool task_refuse(struct loop_task *task, int insn, enum task_need need, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Refuses an access whose address is not known, and tells why. */
bool task_refuse_address(struct loop_task *task, const struct cfg *cfg, int at, bool written);

/* Returns the branch at the end of a loop that is its only way back and its only way out, or CFG_NONE. */
int loop_task_branch(const struct function *f, unsigned loop);

/* Returns the register that, plus *bias, is a range's first address; REGISTER_NONE: there is none. */
unsigned task_range_register(const struct task_range *range, int64_t *bias);

#endif
