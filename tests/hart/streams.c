/* Runs random and directed blocks on our hart, in every way of execution, and on independent implementations, and
 * compares all registers, flags and memory.
 *
 *   streams random|directed|unicorn RUNNER FOLDER [SUITE or INSTRUCTION]
 *
 * RUNNER is tests/hart/oracle/runner.S, built; FOLDER takes temporary files. STREAMS=n scales the amount (1: a million
 * instructions under test for each suite), SEED=n chooses other blocks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/disasm.h"
#include "tests/hart/oracle/directed.h"
#include "tests/hart/oracle/generate.h"
#include "tests/hart/oracle/known.h"
#include "tests/hart/oracle/oracle.h"
#include "tests/hart/oracle/subject.h"

#define E(extension) (UINT64_C(1) << EXTENSION_##extension)

static const struct suite suites[] = {
    {"I", E(I) | E(Zifencei) | E(Xnucd) | E(Xtom) | E(Xmarker), E(I), 100, 50, false},
    {"M", E(M), E(I), 80, 50, false},
    {"A", E(A), E(I), 70, 50, false},
    {"F", E(F), E(I) | E(Zicsr), 80, 90, false},
    {"D", E(D), E(F) | E(I) | E(Zicsr), 75, 30, false},
    {"Zfh", E(Zfh) | E(Zfhmin), E(F) | E(D) | E(I) | E(Zicsr), 80, 50, false},
    {"hints", E(Zicbop) | E(Zihintpause), E(I), 60, 50, false},
    {"C", E(C), E(I) | E(D), 95, 30, false},
    {"Zcb", E(Zcb), E(I), 95, 30, false},
    {"Zba", E(Zba), E(I), 80, 50, false},
    {"Zbb", E(Zbb), E(I), 80, 50, false},
    {"Zbc", E(Zbc), E(I), 80, 50, false},
    {"Zbs", E(Zbs), E(I), 80, 50, false},
    {"Zicond", E(Zicond), E(I), 60, 50, false},
    {"mixed",
     E(I) | E(M) | E(A) | E(F) | E(D) | E(C) | E(Zicsr) | E(Zifencei) | E(Zba) | E(Zbb) | E(Zbc) | E(Zbs) |
         E(Zicond) | E(Zcb) | E(Zfh) | E(Zfhmin) | E(Zicbop) | E(Zihintpause),
     E(I), 100, 40, false},
};

/* libunicorn 2.0.1 lacks the Zb* extensions, and its F neither checks nor makes NaN boxes, so it cannot judge those. */
static const struct suite unicorn_suites[] = {
    {"I", E(I) | E(Zifencei), E(I), 100, 50, true},
    {"M", E(M), E(I), 80, 50, true},
    {"A", E(A), E(I), 70, 50, true},
    {"D", E(D), E(I) | E(Zicsr), 75, 0, true},
    {"C", E(C), E(I), 95, 30, true},
};

enum {
    SUITES = sizeof suites / sizeof suites[0],
    UNICORN_SUITES = sizeof unicorn_suites / sizeof unicorn_suites[0],
    MAX_REPORTS = 2,
    DEFAULT_AMOUNT = 1000000,
};

struct testing {
    const char *runner, *folder;
    bool unicorn;
    struct decoder *decoder;
    struct subject subjects[SUBJECT_WAYS];
    struct batch *batch, *known; /* known: what the oracle runs instead */
    struct state *expected;
    uint64_t executed; /* instructions executed by the first subject */
    unsigned passed, failed, reports;
};

static const char *setting(const char *name, const char *standard)
{
    const char *value = getenv(name);
    return value && *value ? value : standard;
}

static void print_code(const struct testing *t, uint64_t index)
{
    uint64_t pc = batch_code_at(index);
    for (unsigned at = 0; at < BATCH_CODE_BYTES;) {
        uint32_t bits;
        char text[80];
        memcpy(&bits, t->batch->code[index] + at, sizeof bits);
        struct insn insn = decode(t->decoder, bits);
        disasm(&insn, pc + at, text, sizeof text);
        printf("        %8" PRIx64 ": %08x  %s\n", pc + at, insn.bits, text);
        at += insn.length;
        if (insn.id == INSN_jal && insn.rd == 0 &&
            pc + at - insn.length + (uint64_t)(int64_t)insn.imm == BATCH_END)
            return;
    }
}

static void print_value(const char *name, unsigned number, uint64_t before, uint64_t ours, uint64_t theirs)
{
    if (ours != theirs)
        printf("      %s%u: started as %016" PRIx64 ", croft %016" PRIx64 ", oracle %016" PRIx64 "\n", name,
               number, before, ours, theirs);
}

static void print_difference(struct testing *t, enum subject_way way, uint64_t index, const struct state *got)
{
    const struct state *start = &t->batch->states[index], *expected = &t->expected[index];
    if (t->reports++ >= MAX_REPORTS)
        return;
    printf("    block %" PRIu64 ", %s:\n", index, subject_name[way]);
    for (unsigned i = 1; i < 32; i++)
        print_value("x", i, start->x[i], got->x[i], expected->x[i]);
    for (unsigned i = 0; i < 32; i++)
        print_value("f", i, start->f[i], got->f[i], expected->f[i]);
    print_value("fcsr", 0, start->fcsr, got->fcsr, expected->fcsr);
    for (unsigned i = 0; i < BATCH_WINDOW; i += 8) {
        uint64_t v[3];
        memcpy(&v[0], start->window + i, 8);
        memcpy(&v[1], got->window + i, 8);
        memcpy(&v[2], expected->window + i, 8);
        print_value("window+", i, v[0], v[1], v[2]);
    }
    print_code(t, index);
}

/* Returns whether the way's results equal the oracle's for the whole batch. */
static bool compare(struct testing *t, enum subject_way way)
{
    struct subject *subject = &t->subjects[way];
    bool same = true;
    uint64_t before = subject->hart.instret;
    subject_load(subject, t->batch);
    for (uint64_t i = 0; i < t->batch->count; i++) {
        struct state got;
        struct error err;
        if (!subject_run(subject, i, &got, &err)) {
            same = false;
            if (t->reports++ < MAX_REPORTS) {
                printf("    block %" PRIu64 ", %s: %s\n", i, subject_name[way], err.text);
                print_code(t, i);
            }
            continue;
        }
        t->expected[i].x[0] = got.x[0] = 0;
        if (memcmp(&got, &t->expected[i], sizeof got) != 0) {
            same = false;
            print_difference(t, way, i, &got);
        }
    }
    if (way == SUBJECT_BASE)
        t->executed += subject->hart.instret - before;
    return same;
}

/* Runs the batch on all subjects and the oracle; clears good[way] for ways that differ. Returns false if the oracle
 * fails. */
static bool run_batch(struct testing *t, bool good[SUBJECT_WAYS])
{
    struct error err;
    known_batch(t->decoder, t->batch, t->known);
    bool ok = t->unicorn ? oracle_unicorn(t->batch, t->expected, &err)
                         : oracle_qemu(t->runner, t->folder, t->known, t->expected, &err);
    if (!ok) {
        printf("    %s\n", err.text);
        return false;
    }
    for (unsigned way = 0; way < SUBJECT_WAYS; way++)
        if (subject_supported((enum subject_way)way))
            good[way] &= compare(t, (enum subject_way)way);
    return true;
}

static void conclude(struct testing *t, const char *name, const char *text, bool ran,
                     const bool good[SUBJECT_WAYS])
{
    for (unsigned way = 0; way < SUBJECT_WAYS; way++) {
        if (!subject_supported((enum subject_way)way))
            continue;
        bool ok = ran && good[way];
        t->passed += ok;
        t->failed += !ok;
        if (!ok)
            printf("FAILED  %s, %s\n", name, subject_name[way]);
    }
    printf("%-7s %s: %s\n", "done", name, text);
    (void)fflush(stdout);
}

static void test_suite(struct testing *t, const struct suite *suite, uint64_t amount, uint64_t seed)
{
    struct random random = {seed};
    bool good[SUBJECT_WAYS] = {true, true, true, true, true}, ran = true;
    uint64_t own = 0, blocks = 0;
    t->reports = 0;
    t->executed = 0;
    while (own < amount && ran) {
        t->batch->count = 0;
        while (own < amount && t->batch->count < BATCH_BLOCKS)
            own += generate_block(&random, t->decoder, suite, t->batch, t->batch->count++);
        ran = run_batch(t, good);
        blocks += t->batch->count;
    }
    char name[64], text[160];
    (void)snprintf(name, sizeof name, "%s, random, %s", suite->name,
                   t->unicorn ? "libunicorn" : "qemu-riscv64");
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " of its instructions in %" PRIu64 " blocks, %" PRIu64 " executed", own, blocks,
                   t->executed);
    conclude(t, name, text, ran, good);
}

static void test_directed(struct testing *t, const char *only)
{
    bool good[SUBJECT_WAYS] = {true, true, true, true, true}, ran = true;
    uint64_t cases = 0, rows = 0;
    t->batch->count = 0;
    for (unsigned id = 1; id < INSN_COUNT && ran; id++) {
        if (!directed_applies((enum insn_id)id) || (only && strcmp(only, insn_table[id].name) != 0))
            continue;
        rows++;
        for (unsigned first = 0, all = directed_cases((enum insn_id)id); first < all && ran;) {
            first += directed_block((enum insn_id)id, first, t->batch, t->batch->count++);
            if (t->batch->count == BATCH_BLOCKS || first == all) {
                ran = run_batch(t, good);
                t->batch->count = 0;
            }
        }
        cases += directed_cases((enum insn_id)id);
    }
    char text[160];
    (void)snprintf(text, sizeof text, "%" PRIu64 " cases of %" PRIu64 " instructions", cases, rows);
    conclude(t, "corner cases, qemu-riscv64", text, ran, good);
}

static bool set_up(struct testing *t, struct error *err)
{
    t->decoder = decoder_new();
    t->batch = malloc(sizeof *t->batch);
    t->known = malloc(sizeof *t->known);
    t->expected = malloc(sizeof t->batch->states);
    if (!t->batch || !t->known || !t->expected)
        return error_set(err, "no memory");
    for (unsigned way = 0; way < SUBJECT_WAYS; way++)
        if (!subject_init(&t->subjects[way], (enum subject_way)way, t->decoder, err))
            return false;
    return true;
}

static void tear_down(struct testing *t)
{
    for (unsigned way = 0; way < SUBJECT_WAYS; way++)
        subject_free(&t->subjects[way]);
    free(t->batch);
    free(t->known);
    free(t->expected);
    decoder_free(t->decoder);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: streams random|directed|unicorn RUNNER FOLDER [SUITE or INSTRUCTION]\n");
        return 2;
    }
    const char *only = argc > 4 ? argv[4] : NULL;
    struct testing t = {.runner = argv[2], .folder = argv[3], .unicorn = strcmp(argv[1], "unicorn") == 0};
    struct error err;
    if (!set_up(&t, &err)) {
        fprintf(stderr, "streams: %s\n", err.text);
        tear_down(&t);
        return 1;
    }
    uint64_t seed = strtoull(setting("SEED", "1"), NULL, 0);
    uint64_t amount = (uint64_t)(strtod(setting("STREAMS", "1"), NULL) * DEFAULT_AMOUNT);
    const struct suite *list = t.unicorn ? unicorn_suites : suites;
    if (strcmp(argv[1], "directed") == 0)
        test_directed(&t, only);
    else
        for (unsigned i = 0; i < (t.unicorn ? (unsigned)UNICORN_SUITES : (unsigned)SUITES); i++)
            if (!only || strcmp(only, list[i].name) == 0)
                test_suite(&t, &list[i], amount, seed * 100 + i);
    tear_down(&t);
    printf("%u passed, %u failed\n", t.passed, t.failed);
    return t.failed == 0 ? 0 : 1;
}
