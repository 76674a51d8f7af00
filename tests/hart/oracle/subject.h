/* The hart under test: runs blocks of a batch in one of several ways. */
#ifndef TESTS_HART_ORACLE_SUBJECT_H
#define TESTS_HART_ORACLE_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/hart/stream.h"
#include "emu/sim/error.h"
#include "tests/hart/oracle/batch.h"
#include "tests/isa/random.h"

enum subject_way {
    SUBJECT_BASE,   /* hart_run(), handlers for every host */
    SUBJECT_V3,     /* hart_run(), handlers for hosts with AVX2, BMI and FMA */
    SUBJECT_STEP,   /* hart_step() */
    SUBJECT_MIXED,  /* hart_run() with small limits, and hart_step(), in random alternation */
    SUBJECT_STREAM, /* stream_run() with small limits, and stream_step() when required */
    SUBJECT_WAYS
};

struct subject {
    struct hart hart;
    struct phys memory;
    struct random random;
    enum subject_way way;
    struct stream stream; /* of SUBJECT_STREAM */
};

extern const char *const subject_name[SUBJECT_WAYS];

/* Returns whether this host can run the way's handlers. */
bool subject_supported(enum subject_way way);

bool subject_init(struct subject *subject, enum subject_way way, const struct decoder *decoder,
                  struct error *err);
void subject_free(struct subject *subject);

/* Takes over the code and states of a batch. */
void subject_load(struct subject *subject, const struct batch *batch);

/* Runs block `index` from its state, and saves the resulting state to after. Returns false with err set if the block
 * does not reach its end, or if the counts of retired instructions do not add up. */
bool subject_run(struct subject *subject, uint64_t index, struct state *after, struct error *err);

#endif
