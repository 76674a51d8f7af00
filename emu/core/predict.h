/* Branch prediction: directions, targets and returns.
 *
 * Directions come from a tournament of bimodal and gshare counters (McFarling, "Combining Branch Predictors",
 * WRL TN-36, 1993); targets from a set-associative branch target buffer (BTB), those of indirect jumps from a
 * table indexed by the path of earlier ones (Chang, Hao and Patt, "Target Prediction for Indirect Jumps",
 * ISCA 1997) with the BTB behind it, and returns from a return stack.
 *
 * Only executed instructions are shown to the predictor, in program order, and each trains it at once:
 * history and return stack are never those of a wrong path, and a counter is up to date for the next
 * execution.
 */
#ifndef EMU_CORE_PREDICT_H
#define EMU_CORE_PREDICT_H

#include "emu/hart/stream.h"
#include "emu/sim/stats.h"

/* All numbers of entries are powers of two. */
struct predict_config {
#include "emu/sim/fields_struct.h"

#include "emu/core/predict.def"
};

enum predict_outcome {
    PREDICT_RIGHT, /* the front end goes on at the right pc at once */
    PREDICT_LATE,  /* the BTB lacks a direct target: right once the instruction is decoded */
    PREDICT_WRONG, /* known to be wrong when it executes; until then the front end follows wrong_pc */
};

/* One BTB or indirect entry. */
struct predict_target {
    uint64_t pc, target;
};

/* Since reset. Whoever only warms the predictor keeps a copy and puts it back. */
struct predict_counts {
    uint64_t branches, branches_wrong; /* conditional ones */
    uint64_t jumps, late;              /* unconditional direct ones; all BTB misses of direct ones */
    uint64_t indirects, indirects_wrong;
    uint64_t called_back, returns_wrong; /* returns */
};

struct predictor {
    uint8_t *bimodal, *gshare, *chooser; /* counters 0 to 3 */
    struct predict_target *btb;          /* the ways of a set from the most to the least recently used */
    struct predict_target *indirect;
    uint64_t *returns;
    uint64_t history, path;
    uint64_t wrong_pc; /* of the last PREDICT_WRONG */
    uint32_t top;      /* of the return stack, counted up; entries below `returns` size are kept */
    uint32_t depth;    /* valid entries of the return stack */
    struct predict_config config;
    uint32_t btb_sets;
    uint64_t history_mask, bimodal_mask, gshare_mask, chooser_mask;

    struct predict_counts count;
};

/* A predictor that has seen nothing: counters weakly not taken. Config must have passed the check. Allocates
 * (out of memory aborts); release with predict_free(). */
void predict_init(struct predictor *predictor, const struct predict_config *config);
void predict_free(struct predictor *predictor);

/* Jumps, and branches that are taken or predicted to be: the part of predict() that looks targets up. */
enum predict_outcome predict_jump(struct predictor *predictor, const struct stream_op *op, uint64_t next_pc);
enum predict_outcome predict_taken(struct predictor *predictor, const struct stream_op *op, uint64_t next_pc);

/* What a branch makes of its three counters: bimodal | gshare << 2 | chooser << 4, and PREDICT_MISS if what
 * they had predicted was wrong; by the same counters before, and taken << 6. */
enum { PREDICT_MISS = 64 };
extern const uint8_t predict_next[128];

/* What is predicted for a control instruction (STREAM_BRANCH or STREAM_JUMP) that goes on at next_pc,
 * compared with that; trains the predictor. */
static inline enum predict_outcome predict(struct predictor *p, const struct stream_op *op, uint64_t next_pc)
{
    if (!(op->flags & STREAM_BRANCH))
        return predict_jump(p, op, next_pc);
    uint64_t key = op->pc >> 1;
    uint8_t *local = &p->bimodal[key & p->bimodal_mask];
    uint8_t *global = &p->gshare[(key ^ p->history) & p->gshare_mask];
    uint8_t *choice = &p->chooser[key & p->chooser_mask];
    bool taken = next_pc != op->pc + op->length;
    unsigned next = predict_next[*local | *global << 2 | *choice << 4 | taken << 6];
    *local = next & 3;
    *global = next >> 2 & 3;
    *choice = next >> 4 & 3;
    p->history = (p->history << 1 | taken) & p->history_mask;
    p->count.branches++;
    if (next & PREDICT_MISS) {
        p->count.branches_wrong++;
        p->wrong_pc = !taken ? op->pc + (uint64_t)(int64_t)op->imm : op->pc + op->length;
        return PREDICT_WRONG;
    }
    if (!taken)
        return PREDICT_RIGHT;
    const struct predict_target *set = &p->btb[(key & (p->btb_sets - 1)) * p->config.btb_ways];
    if (set->pc == op->pc && set->target == next_pc)
        return PREDICT_RIGHT;
    return predict_taken(p, op, next_pc);
}

/* Registers "branches" and all else that is counted. */
void predict_publish(const struct predictor *predictor, struct stats *stats, struct scope scope);

#endif
