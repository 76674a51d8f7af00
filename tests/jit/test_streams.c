/* Random and directed blocks of instructions: compiled regions against single steps, which tests/hart compares with QEMU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/jit/jit.h"
#include "tests/hart/oracle/directed.h"
#include "tests/hart/oracle/generate.h"
#include "tests/hart/oracle/subject.h"

#define E(extension) (UINT64_C(1) << EXTENSION_##extension)

static const struct suite suites[] = {
    {"I", E(I) | E(Zicsr), E(I), 100, 50, false},
    {"M", E(M), E(I), 80, 50, false},
    {"A", E(A), E(I), 70, 50, false},
    {"F", E(F), E(I) | E(Zicsr), 80, 90, false},
    {"D", E(D), E(F) | E(I) | E(Zicsr), 75, 30, false},
    {"Zb", E(Zba) | E(Zbb) | E(Zbc) | E(Zbs) | E(Zicond), E(I), 80, 50, false},
    {"mixed",
     E(I) | E(M) | E(A) | E(F) | E(D) | E(C) | E(Zicsr) | E(Zba) | E(Zbb) | E(Zicond) | E(Zcb) | E(Zfh), E(I),
     100, 40, false},
};

/* The machine whose code is compiled, and the one that steps. */
struct pair {
    struct decoder *decoder;
    struct subject run, step;
    struct jit *jit;
    struct batch *batch;
    uint64_t compiled;
};

static void open_pair(struct pair *pair)
{
    struct error err;
    *pair = (struct pair){.decoder = decoder_new(), .batch = calloc(1, sizeof *pair->batch)};
    assert_true(pair->batch && subject_init(&pair->run, SUBJECT_V3, pair->decoder, &err));
    assert_true(subject_init(&pair->step, SUBJECT_STEP, pair->decoder, &err));
    pair->jit = jit_new(&pair->run.hart, JIT_ON, JIT_MEMORY_LEAST);
}

static void close_pair(struct pair *pair)
{
    jit_free(pair->jit);
    subject_free(&pair->run);
    subject_free(&pair->step);
    free(pair->batch);
    decoder_free(pair->decoder);
}

/* Runs a block three times: interpreted, which shows what code there is; compiled; and by steps. */
static void run_block(struct pair *pair, uint64_t i)
{
    struct error err;
    struct state got, expected;
    const struct state *state = &pair->batch->states[i];
    void *place = phys_at(&pair->run.memory, batch_state_at(i), sizeof *state);
    assert_true(subject_run(&pair->run, i, &got, &err));
    pair->compiled += jit_compile(pair->jit, batch_code_at(i));
    memcpy(place, state, sizeof *state);
    if (!subject_run(&pair->run, i, &got, &err) || !subject_run(&pair->step, i, &expected, &err))
        fail_msg("block %u: %s", (unsigned)i, err.text);
    got.x[0] = expected.x[0] = 0;
    if (memcmp(&got, &expected, sizeof got) == 0)
        return;
    for (unsigned r = 0; r < 32; r++)
        if (got.x[r] != expected.x[r] || got.f[r] != expected.f[r])
            print_message("block %u: x%u %llx for %llx, f%u %llx for %llx\n", (unsigned)i, r,
                          (unsigned long long)got.x[r], (unsigned long long)expected.x[r], r,
                          (unsigned long long)got.f[r], (unsigned long long)expected.f[r]);
    fail_msg("block %u: fcsr %llx for %llx", (unsigned)i, (unsigned long long)got.fcsr,
             (unsigned long long)expected.fcsr);
}

static void run_batch(struct pair *pair)
{
    uint64_t compiled = pair->compiled, entered = jit_entered(pair->jit);
    subject_load(&pair->run, pair->batch);
    subject_load(&pair->step, pair->batch);
    for (uint64_t i = 0; i < pair->batch->count; i++)
        run_block(pair, i);
    assert_true(pair->compiled - compiled > pair->batch->count / 2);
    assert_true(jit_entered(pair->jit) - entered >= pair->compiled - compiled);
}

static unsigned amount(unsigned standard)
{
    const char *scale = getenv("STREAMS");
    return scale && atof(scale) > 0 ? (unsigned)(standard * atof(scale)) + 1 : standard;
}

static void random_blocks(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair);
    for (unsigned s = 0; s < sizeof suites / sizeof *suites; s++) {
        struct random random = {100 + s};
        unsigned blocks = amount(24);
        for (pair.batch->count = 0; pair.batch->count < blocks && pair.batch->count < BATCH_BLOCKS;)
            (void)generate_block(&random, pair.decoder, &suites[s], pair.batch, pair.batch->count++);
        run_batch(&pair);
    }
    close_pair(&pair);
}

/* One block of each row's corner cases; they come in all rounding modes. Then those of floating point by
 * the quick compiler alone. */
static void directed_blocks(void **state)
{
    struct pair pair;
    open_pair(&pair);
    if (*state)
        jit_use_quick(pair.jit);
    pair.batch->count = 0;
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        if (*state && insn_table[id].precision < PRECISION_H)
            continue;
        unsigned first = 0, all = directed_applies((enum insn_id)id) ? directed_cases((enum insn_id)id) : 0;
        for (unsigned k = 0; k < amount(1) && first < all && pair.batch->count < BATCH_BLOCKS; k++)
            first += directed_block((enum insn_id)id, first, pair.batch, pair.batch->count++);
    }
    run_batch(&pair);
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_blocks),
        cmocka_unit_test(directed_blocks),
        cmocka_unit_test_prestate(directed_blocks, "quick"),
    };
    if (jit_lacks()) {
        print_message("nothing is compiled here: the host has not %s\n", jit_lacks());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
