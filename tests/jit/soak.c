/* Executes random blocks of instructions again and again, compiled beside single steps: soak INSTRUCTIONS [SEED] [check]. Each block
 * is a region; its turns begin with registers and memory as the last one left them. Prints what was executed, and ends with status 1 at
 * the first difference. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/jit/jit.h"
#include "tests/hart/oracle/generate.h"
#include "tests/hart/oracle/subject.h"

#define E(extension) (UINT64_C(1) << EXTENSION_##extension)

enum { BLOCKS = 256, TURNS = 400, SMALL = 6, LONGER = 100, DECADES = 8 };

static const struct suite suites[] = {
    {"I", E(I) | E(Zicsr), E(I), 100, 50, false},
    {"M", E(M) | E(Zba) | E(Zbb) | E(Zbs), E(I), 80, 50, false},
    {"A", E(A), E(I), 70, 50, false},
    {"F", E(F), E(I) | E(Zicsr), 80, 90, false},
    {"D", E(D), E(F) | E(I) | E(Zicsr), 75, 60, false},
    {"mixed",
     E(I) | E(M) | E(A) | E(F) | E(D) | E(C) | E(Zicsr) | E(Zba) | E(Zbb) | E(Zicond) | E(Zcb) | E(Zfh), E(I),
     100, 60, false},
};

/* What was compiled: the regions of a batch, and sums of all batches. */
struct tally {
    struct jit_ran *regions;
    size_t count, room;
    uint64_t all, distinct, thorough; /* regions; those of other code; those by LLVM */
    uint64_t insns, sum;              /* of all regions: instructions, and how often they were entered */
    uint64_t entered[DECADES];        /* regions that were entered never, 1 to 9 times, 10 to 99 times, ... */
};

/* The machine whose code is compiled, and the one that steps. */
struct pair {
    struct decoder *decoder;
    struct subject run, step;
    struct jit *jit;
    struct batch *batch;
    bool check;
    uint64_t compiled, turns; /* regions, and runs of blocks */
    struct tally tally;
};

static void give_up(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static void note_region(void *context, const struct jit_ran *ran)
{
    struct tally *tally = context;
    unsigned decade = 0;
    for (uint64_t left = ran->entered; left > 0 && decade < DECADES - 1; left /= 10)
        decade++;
    tally->entered[decade]++;
    tally->all++;
    tally->thorough += ran->thorough;
    tally->insns += ran->insns;
    tally->sum += ran->entered;
    if (tally->count == tally->room) {
        tally->room = 2 * tally->room + 1024;
        tally->regions = realloc(tally->regions, tally->room * sizeof *tally->regions);
        if (!tally->regions)
            give_up("no memory");
    }
    tally->regions[tally->count++] = *ran;
}

static int compare_regions(const void *a, const void *b)
{
    const struct jit_ran *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    if (x->blocks != y->blocks)
        return x->blocks < y->blocks ? -1 : 1;
    return x->insns == y->insns ? 0 : x->insns < y->insns ? -1 : 1;
}

/* Adds the batch's distinct regions: those of other blocks or instructions. Its code is its own. */
static void end_batch(struct tally *tally)
{
    if (tally->count > 0)
        qsort(tally->regions, tally->count, sizeof *tally->regions, compare_regions);
    for (size_t i = 0; i < tally->count; i++)
        tally->distinct += i == 0 || compare_regions(&tally->regions[i - 1], &tally->regions[i]) != 0;
    tally->count = 0;
}

static void print_tally(const struct tally *tally)
{
    uint64_t most = 10;
    printf("%" PRIu64 " distinct regions, compiled %" PRIu64 " times, %" PRIu64
           " of these by LLVM, %.1f instructions each\n",
           tally->distinct, tally->all, tally->thorough, (double)tally->insns / (double)tally->all);
    printf("entered never: %" PRIu64, tally->entered[0]);
    for (unsigned decade = 1; decade < DECADES - 1; decade++, most *= 10)
        printf(", below %" PRIu64 " times: %" PRIu64, most, tally->entered[decade]);
    printf(", more often: %" PRIu64 "\n", tally->entered[DECADES - 1]);
}

/* A compiler of its own for each batch, so that memory and the hart's blocks stay few. In half of the batches, the quick one
 * compiles the first region of each block, otherwise both do in turn; what samples choose is compiled by both in turn. */
static void open_pair(struct pair *pair, bool quick)
{
    struct error err;
    if (!subject_init(&pair->run, SUBJECT_V3, pair->decoder, &err) ||
        !subject_init(&pair->step, SUBJECT_STEP, pair->decoder, &err))
        give_up(err.text);
    pair->jit = jit_new(&pair->run.hart, pair->check ? JIT_CHECK : JIT_ALWAYS, JIT_MEMORY);
    jit_set_counter(pair->jit, &(struct jit_counter){note_region, &pair->tally});
    if (quick)
        jit_use_quick(pair->jit);
}

static void close_pair(struct pair *pair)
{
    jit_free(pair->jit);
    end_batch(&pair->tally);
    subject_free(&pair->run);
    subject_free(&pair->step);
}

/* Puts back what a block must find: its pointers into the window, its address, and the counter of its loops, which is small: now they
 * run longer. */
static void keep_pointers(struct state *state, const struct state *first, uint64_t index)
{
    const uint64_t at = batch_state_at(index), code = batch_code_at(index);
    for (unsigned r = 0; r < 32; r++)
        if (first->x[r] - at < sizeof *state || first->x[r] - code < BATCH_CODE_BYTES)
            state->x[r] = first->x[r];
        else if (first->x[r] < SMALL)
            state->x[r] = first->x[r] * LONGER;
}

static void run_turn(struct pair *pair, uint64_t i, struct state *state)
{
    struct error err;
    struct state got, expected;
    memcpy(phys_at(&pair->run.memory, batch_state_at(i), sizeof *state), state, sizeof *state);
    memcpy(phys_at(&pair->step.memory, batch_state_at(i), sizeof *state), state, sizeof *state);
    if (!subject_run(&pair->run, i, &got, &err) || !subject_run(&pair->step, i, &expected, &err))
        give_up(err.text);
    got.x[0] = expected.x[0] = 0;
    if (memcmp(&got, &expected, sizeof got) != 0) {
        for (unsigned r = 0; r < 32; r++)
            if (got.x[r] != expected.x[r] || got.f[r] != expected.f[r])
                printf("x%u %" PRIx64 " for %" PRIx64 ", f%u %" PRIx64 " for %" PRIx64 "\n", r, got.x[r],
                       expected.x[r], r, got.f[r], expected.f[r]);
        printf("block %" PRIu64 ", fcsr %" PRIx64 " for %" PRIx64 ": ", i, got.fcsr, expected.fcsr);
        give_up("a difference");
    }
    if (pair->run.hart.instret != pair->step.hart.instret)
        give_up("another number of instructions");
    *state = got;
    pair->turns++;
}

static void run_block(struct pair *pair, uint64_t i)
{
    const struct state *first = &pair->batch->states[i];
    struct state state = *first;
    run_turn(pair, i, &state);
    pair->compiled += jit_compile(pair->jit, batch_code_at(i));
    for (unsigned turn = 1; turn < TURNS; turn++) {
        keep_pointers(&state, first, i);
        run_turn(pair, i, &state);
    }
}

int main(int argc, char **argv)
{
    const uint64_t wanted = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 0;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct pair pair = {.decoder = decoder_new(), .batch = calloc(1, sizeof *pair.batch)};
    struct random random = {seed * 1000 + 7};
    uint64_t executed = 0, regions = 0, entered = 0;
    if (wanted == 0 || !pair.batch || jit_lacks())
        give_up(wanted == 0 ? "soak INSTRUCTIONS [SEED] [check]" : "nothing can be compiled here");
    pair.check = argc > 3 && strcmp(argv[3], "check") == 0;
    for (unsigned s = 0; executed < wanted; s++) {
        open_pair(&pair, s / (sizeof suites / sizeof *suites) % 2 == 1);
        pair.batch->count = 0;
        while (pair.batch->count < BLOCKS)
            (void)generate_block(&random, pair.decoder, &suites[s % (sizeof suites / sizeof *suites)],
                                 pair.batch, pair.batch->count++);
        subject_load(&pair.run, pair.batch);
        subject_load(&pair.step, pair.batch);
        for (uint64_t i = 0; i < BLOCKS; i++)
            run_block(&pair, i);
        executed += pair.run.hart.instret;
        regions += jit_regions(pair.jit);
        entered += jit_entered(pair.jit);
        close_pair(&pair);
        if (pair.tally.sum != entered || pair.tally.all > regions)
            give_up("the regions were entered another number of times");
    }
    print_tally(&pair.tally);
    printf("seed %" PRIu64 ": %" PRIu64 " instructions, %" PRIu64 " turns of %" PRIu64 " blocks, %" PRIu64
           " regions, entered %" PRIu64 " times; no difference\n",
           seed, executed, pair.turns, pair.turns / TURNS, regions, entered);
    decoder_free(pair.decoder);
    free(pair.tally.regions);
    free(pair.batch);
    return 0;
}
