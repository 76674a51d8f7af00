/* What would have to be known of a loop, or changed in it, so that it could be divided into tasks (emu/analysis/loop_tasks.h). */
#ifndef EMU_ANALYSIS_LOOP_TASKS_REFUSAL_H
#define EMU_ANALYSIS_LOOP_TASKS_REFUSAL_H

#include "emu/analysis/flow/function.h"

enum task_need {
    NEED_NONE, /* nothing: it is in a task already */
    /* Instructions. */
    NEED_INLINE,
    NEED_COMPARISONS,
    NEED_PLAIN_ACCESS,
    NEED_OUTSIDE,
    NEED_NO_FLAGS,
    NEED_C,
    NEED_FEWER_VALUES,
    NEED_ONE_SECTION,
    /* The loop's ends. */
    NEED_ONE_WAY_BACK,
    NEED_ONE_EXIT,
    NEED_EXIT_AT_END,
    NEED_ONE_PIECE,
    NEED_ONE_ENTRY,
    /* Registers and rounds. */
    NEED_SUMS_APART,
    NEED_FLOAT_SUMS_APART,
    NEED_CONSTANT_STEP,
    NEED_VALUE_OF_ROUND,
    NEED_FEWER_COUNTERS,
    NEED_COUNTED_ROUNDS,
    NEED_MORE_ROUNDS,
    NEED_INNER_ROUNDS,
    NEED_FEWER_INNERS,
    NEED_LONG,
    /* Memory. */
    NEED_SUM_ADDRESS,
    NEED_COUNTED_INDEX,
    NEED_NAMED_ARRAY,
    NEED_MOVING_ADDRESS,
    NEED_PLACES,
    NEED_STORES_APART,
    NEED_STORE,
    NEED_FEWER_ARRAYS,
    NEED_COUNT
};

/* Returns what is needed, for a message behind "needed: "; NULL: nothing would help. */
const char *task_need_text(enum task_need need);

/* Returns what is needed if a register carries a value from round to round of a loop. */
enum task_need task_need_of_register(const struct function *f, unsigned loop, unsigned reg);

#endif
