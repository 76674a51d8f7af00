/* Branch prediction: directions, targets and returns.
 *
 * Directions come from a tournament of bimodal and gshare counters (McFarling, "Combining Branch Predictors", WRL
 * TN-36, 1993). Targets come from a set-associative branch target buffer (BTB); targets of indirect jumps from a table
 * indexed by the path of earlier ones (Chang, Hao and Patt, "Target Prediction for Indirect Jumps", ISCA 1997), then
 * from the BTB; returns from a return stack.
 *
 * The predictor sees only executed instructions, in program order, and is trained by each at once. So history and
 * return stack never contain a wrong path, and counters are up to date at the next execution. */
#ifndef EMU_CORE_FRONTEND_PREDICT_H
#define EMU_CORE_FRONTEND_PREDICT_H

#include "emu/hart/stream.h"
#include "emu/sim/report/stats.h"

/* All numbers of entries are powers of two. */
struct predict_config {
#include "emu/sim/fields_struct.h"

#include "emu/core/frontend/predict.def"
};

enum predict_outcome {
    PREDICT_RIGHT, /* fetch continues at the right pc at once */
    PREDICT_LATE,  /* the BTB lacks a direct target: right once the instruction is decoded */
    PREDICT_WRONG, /* known to be wrong at execution; until then fetch follows wrong_pc */
    PREDICT_TARGET /* only of predict_direction(): call predict_target() */
};

/* One BTB or indirect entry. */
struct predict_target {
    uint64_t pc, target;
};

/* Counts since reset. For warming, save a copy before and restore it afterwards. */
struct predict_counts {
    uint64_t branches, branches_wrong; /* conditional branches */
    uint64_t jumps, late;              /* direct jumps; BTB misses of direct jumps and branches */
    uint64_t indirects, indirects_wrong;
    uint64_t called_back, returns_wrong; /* returns */
};

struct predictor {
    uint8_t *bimodal, *gshare, *chooser; /* counters 0 to 3, at their places in predict_next's index */
    struct predict_target *btb;          /* each set in order of use, most recent first */
    struct predict_target *indirect;
    uint64_t *returns;
    uint64_t history, path;
    uint64_t wrong_pc; /* the pc that the last PREDICT_WRONG predicted */
    uint32_t top;      /* counter of pushes: index of the return stack */
    uint32_t depth;    /* valid entries of the return stack */
    struct predict_config config;
    uint64_t btb_mask;  /* number of sets - 1 */
    uint32_t btb_shift; /* a set has 2^this ways */
    uint64_t history_mask, bimodal_mask, gshare_mask, chooser_mask;

    struct predict_counts count;
};

/* Makes a predictor without history, all counters weakly not taken. Config must have passed the check. Out of memory
 * aborts; release with predict_free(). */
void predict_init(struct predictor *predictor, const struct predict_config *config);
void predict_free(struct predictor *predictor);

/* The parts of predict() that look up targets: for jumps, and for branches that are taken or predicted as taken. */
enum predict_outcome predict_jump(struct predictor *predictor, const struct stream_op *op, uint64_t next_pc);
enum predict_outcome predict_taken(struct predictor *predictor, const struct stream_op *op, uint64_t next_pc);

/* The next state of a branch's three counters: bimodal | gshare << 2 | chooser << 4, plus PREDICT_MISS if they
 * predicted wrongly. Index: the same counters before, plus taken << 6. */
enum { PREDICT_GLOBAL = 2, PREDICT_CHOICE = 4, PREDICT_MISS = 64 };
extern const uint8_t predict_next[128];

/* The inline part of predict(), without calls: directions of branches, and targets in the first way of the BTB. PREDICT_TARGET:
 * predict_target() has to be called. */
static inline enum predict_outcome predict_direction(struct predictor *p, const struct stream_op *op,
                                                     uint64_t next_pc)
{
    if (!(op->flags & STREAM_BRANCH))
        return PREDICT_TARGET;
    uint64_t key = op->pc >> 1;
    uint8_t *local = &p->bimodal[key & p->bimodal_mask];
    uint8_t *global = &p->gshare[(key ^ p->history) & p->gshare_mask];
    uint8_t *choice = &p->chooser[key & p->chooser_mask];
    bool taken = next_pc != op->pc + op->length;
    unsigned next = predict_next[*local | *global | *choice | taken << 6];
    *local = next & 3;
    *global = next & 3 << PREDICT_GLOBAL;
    *choice = next & 3 << PREDICT_CHOICE;
    p->history = (p->history << 1 | taken) & p->history_mask;
    p->count.branches++;
    if (next & PREDICT_MISS) {
        p->count.branches_wrong++;
        p->wrong_pc = !taken ? op->pc + (uint64_t)(int64_t)op->imm : op->pc + op->length;
        return PREDICT_WRONG;
    }
    if (!taken)
        return PREDICT_RIGHT;
    const struct predict_target *set = &p->btb[(key & p->btb_mask) << p->btb_shift];
    if (set->pc == op->pc && set->target == next_pc)
        return PREDICT_RIGHT;
    return PREDICT_TARGET;
}

static inline enum predict_outcome predict_target(struct predictor *p, const struct stream_op *op,
                                                  uint64_t next_pc)
{
    return op->flags & STREAM_BRANCH ? predict_taken(p, op, next_pc) : predict_jump(p, op, next_pc);
}

/* Predicts a control instruction (STREAM_BRANCH or STREAM_JUMP), compares the prediction with the actual next_pc, and
 * trains the predictor. */
static inline enum predict_outcome predict(struct predictor *p, const struct stream_op *op, uint64_t next_pc)
{
    enum predict_outcome outcome = predict_direction(p, op, next_pc);
    return outcome == PREDICT_TARGET ? predict_target(p, op, next_pc) : outcome;
}

/* Registers "branches" and all other counters. */
void predict_publish(const struct predictor *predictor, struct stats *stats, struct scope scope);

#endif
