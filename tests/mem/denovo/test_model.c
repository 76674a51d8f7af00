/* Searches all states of DeNovo's controllers in small machines, and shows that the search finds each row and
 * rule of the protocol that is taken away (model.h), and prints what finds it. ALL=1: larger machines,
 * too. DENOVO_TELL=1 prints how, too; DENOVO_MUTANT=TEXT tries only changes with that text in their name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/mem/denovo/model.h"

/* Machines. Those behind SMALL are searched as a whole with ALL=1. */
enum machine {
    PAIR,
    TRIO,
    LINE,
    ONE,
    BOTH,
    QUEUE,
    ATOMICS,
    MOVES,
    RACES,
    MATES,
    DRIFT,
    GUESTS,
    OPERATIONS,
    TRIPLE,
    SMALL,
    /* with ALL=1 */
    THREADS = SMALL,
    WIDE,
    SLIDE,
    COUNTER,
    SHIFTS,
    LINES,
    MIX,
    WILD,
    CROWD,
    THREE,
    MACHINES
};

static const struct model_config machines[MACHINES] = {
    [PAIR] = {.name = "2 units, 1 word, 3 stores",
              .units = 2,
              .words = 1,
              .threads = 2,
              .unit_of = {0, 1},
              .stores = 3,
              .stash = true,
              .evict = true,
              .plain = true,
              .write_backs = 1,
              .held = 3},
    [THREADS] = {.name = "2 units, 3 threads, 1 word, 2 stores",
                 .units = 2,
                 .words = 1,
                 .threads = 3,
                 .unit_of = {0, 1, 1},
                 .stores = 2,
                 .stash = true,
                 .evict = true,
                 .plain = true,
                 .write_backs = 1,
                 .held = 4},
    [TRIO] = {.name = "3 units, 1 word, 2 stores, no eviction by the last level",
              .units = 3,
              .words = 1,
              .threads = 3,
              .unit_of = {0, 1, 2},
              .stores = 2,
              .stash = true,
              .plain = true,
              .write_backs = 1,
              .held = 4},
    [LINE] = {.name = "2 units, 2 words, 1 store",
              .units = 2,
              .words = 2,
              .threads = 2,
              .unit_of = {0, 1},
              .stores = 1,
              .stash = true,
              .evict = true,
              .plain = true,
              .write_backs = 2,
              .held = 4},
    [ONE] = {.name = "a cache, 2 threads, 2 words, 2 stores, no eviction by the last level",
             .units = 1,
             .words = 2,
             .threads = 2,
             .unit_of = {0, 0},
             .stores = 2,
             .plain = true,
             .write_backs = 1,
             .held = 4},
    [BOTH] = {.name = "2 units, 2 words, 2 stores of one thread, one entry to write back",
              .units = 2,
              .words = 2,
              .threads = 1,
              .unit_of = {1},
              .stores = 2,
              .stash = true,
              .evict = true,
              .plain = true,
              .write_backs = 1,
              .held = 4},
    [QUEUE] = {.name = "3 units, 1 word, 3 operations in caches",
               .units = 3,
               .words = 1,
               .threads = 3,
               .unit_of = {0, 1, 2},
               .stores = 3,
               .stash = true,
               .evict = true,
               .increments = true,
               .write_backs = 1,
               .held = 4},
    [COUNTER] = {.name = "2 units, 1 word, 3 stores and operations in caches",
                 .units = 2,
                 .words = 1,
                 .threads = 2,
                 .unit_of = {0, 1},
                 .stores = 3,
                 .stash = true,
                 .evict = true,
                 .plain = true,
                 .increments = true,
                 .write_backs = 1,
                 .held = 4},
    [ATOMICS] = {.name = "2 units, 1 word, 3 stores and operations at the last level",
                 .units = 2,
                 .words = 1,
                 .threads = 2,
                 .unit_of = {0, 1},
                 .stores = 3,
                 .stash = true,
                 .evict = true,
                 .plain = true,
                 .atomics = true,
                 .write_backs = 1,
                 .held = 4},
    [MOVES] = {.name = "2 units, 1 word, 2 stores, a stash that moves it twice",
               .units = 2,
               .words = 1,
               .threads = 2,
               .unit_of = {0, 1},
               .stores = 2,
               .stash = true,
               .remaps = 2,
               .evict = true,
               .plain = true,
               .write_backs = 1,
               .held = 4},
    [SHIFTS] = {.name = "2 units, 1 word, 2 stores and operations, a stash that moves it once",
                .units = 2,
                .words = 1,
                .threads = 2,
                .unit_of = {0, 1},
                .stores = 2,
                .stash = true,
                .remaps = 1,
                .evict = true,
                .plain = true,
                .atomics = true,
                .increments = true,
                .write_backs = 1,
                .held = 4},
    [RACES] = {.name = "2 units, 1 word, 2 racing stores and operations, a stash that moves it once",
               .units = 2,
               .words = 1,
               .threads = 2,
               .unit_of = {0, 1},
               .stores = 2,
               .stash = true,
               .remaps = 1,
               .evict = true,
               .plain = true,
               .atomics = true,
               .increments = true,
               .races = true,
               .write_backs = 1,
               .held = 4},
    [MATES] = {.name = "2 racing threads of a cache, 1 word, 3 stores and operations",
               .units = 1,
               .words = 1,
               .threads = 2,
               .unit_of = {0, 0},
               .stores = 3,
               .evict = true,
               .plain = true,
               .atomics = true,
               .increments = true,
               .races = true,
               .write_backs = 1,
               .held = 4},
    [DRIFT] = {.name =
                   "2 units, 1 word, 3 racing stores and operations in caches, a stash that moves it once",
               .units = 2,
               .words = 1,
               .threads = 2,
               .unit_of = {0, 1},
               .stores = 3,
               .stash = true,
               .remaps = 1,
               .plain = true,
               .increments = true,
               .races = true,
               .write_backs = 1,
               .held = 4},
    [WIDE] = {.name = "2 units, 1 word, 3 stores, two entries to write back",
              .units = 2,
              .words = 1,
              .threads = 2,
              .unit_of = {0, 1},
              .stores = 3,
              .stash = true,
              .evict = true,
              .plain = true,
              .write_backs = 2,
              .held = 3},
    [GUESTS] = {.name = "2 units, 3 racing threads, 1 word, 2 stores, a stash that moves it once",
                .units = 2,
                .words = 1,
                .threads = 3,
                .unit_of = {0, 0, 1},
                .stores = 2,
                .stash = true,
                .remaps = 1,
                .plain = true,
                .races = true,
                .write_backs = 1,
                .held = 4},
    [OPERATIONS] = {.name = "a cache, 2 threads, 2 words, 2 stores and operations at the last level",
                    .units = 1,
                    .words = 2,
                    .threads = 2,
                    .unit_of = {0, 0},
                    .stores = 2,
                    .plain = true,
                    .atomics = true,
                    .write_backs = 1,
                    .held = 4},
    [SLIDE] = {.name = "2 units, 1 word, 3 racing stores, a stash that moves it once",
               .units = 2,
               .words = 1,
               .threads = 2,
               .unit_of = {0, 1},
               .stores = 3,
               .stash = true,
               .remaps = 1,
               .evict = true,
               .plain = true,
               .races = true,
               .write_backs = 1,
               .held = 3},
    [TRIPLE] = {.name = "3 units, 2 words, 1 store, no eviction by the last level",
                .units = 3,
                .words = 2,
                .threads = 3,
                .unit_of = {0, 1, 2},
                .stores = 1,
                .stash = true,
                .plain = true,
                .write_backs = 1,
                .held = 4},
    [MIX] = {.name = "2 units, 3 threads, 2 words, 1 store, no eviction by the last level",
             .units = 2,
             .words = 2,
             .threads = 3,
             .unit_of = {0, 1, 1},
             .stores = 1,
             .plain = true,
             .write_backs = 1,
             .held = 4},
    [LINES] = {.name = "2 units, 2 words, 2 stores, no eviction by the last level",
               .units = 2,
               .words = 2,
               .threads = 2,
               .unit_of = {0, 1},
               .stores = 2,
               .stash = true,
               .plain = true,
               .write_backs = 1,
               .held = 4},
    [THREE] = {.name = "3 units, 2 words, 1 store",
               .units = 3,
               .words = 2,
               .threads = 3,
               .unit_of = {0, 1, 2},
               .stores = 1,
               .stash = true,
               .evict = true,
               .plain = true,
               .write_backs = 1,
               .held = 4},
    [CROWD] = {.name = "3 units, 1 word, 2 stores and operations at the last level",
               .units = 3,
               .words = 1,
               .threads = 3,
               .unit_of = {0, 1, 2},
               .stores = 2,
               .stash = true,
               .evict = true,
               .plain = true,
               .atomics = true,
               .write_backs = 1,
               .held = 4},
    [WILD] = {.name = "2 units, 1 word, 3 racing stores and operations, a stash that moves it once",
              .units = 2,
              .words = 1,
              .threads = 2,
              .unit_of = {0, 1},
              .stores = 3,
              .stash = true,
              .remaps = 1,
              .evict = true,
              .plain = true,
              .atomics = true,
              .increments = true,
              .races = true,
              .write_backs = 1,
              .held = 4},
};

static void the_protocol_is_coherent(void **state)
{
    (void)state;
    static struct model_result result;
    unsigned count = getenv("ALL") ? MACHINES : SMALL;
    for (unsigned i = 0; i < count; i++) {
        model_search_apart(&machines[i], &denovo_protocol, 40000000, &result);
        print_message("%s: %zu states, at most %zu messages\n", machines[i].name, result.states,
                      result.deepest);
        if (result.fault[0])
            print_message("%s, after\n%s", result.fault, result.path);
        assert_string_equal(result.fault, "");
        assert_true(result.complete);
    }
}

struct mutant {
    const char *name, *change;
    enum { OF_UNIT, OF_REGISTRY, OF_RULE } of;
    unsigned state, event; /* or the rule, 0 */
    struct denovo_row row;
    enum machine machine;
};

static const struct mutant mutants[] = {
#define UNIT(state, event, next, action, machine)                                                            \
    {"unit " #state " " #event,                                                                              \
     #next " " #action,                                                                                      \
     OF_UNIT,                                                                                                \
     DENOVO_WORD_##state,                                                                                    \
     DENOVO_ON_##event,                                                                                      \
     {DENOVO_WORD_##next, DENOVO_DO_##action},                                                               \
     machine},
#define REGISTRY(standing, event, next, action, machine)                                                     \
    {"registry " #standing " " #event,                                                                       \
     #next " " #action,                                                                                      \
     OF_REGISTRY,                                                                                            \
     DENOVO_IS_##standing,                                                                                   \
     DENOVO_AT_##event,                                                                                      \
     {DENOVO_IS_##next, DENOVO_LET_##action},                                                                \
     machine},
#define RULE(rule, machine) {"rule " #rule, "off", OF_RULE, DENOVO_RULE_##rule, 0, {0, 0}, machine},
#include "tests/mem/denovo/mutant.def"
#undef UNIT
#undef REGISTRY
#undef RULE
};

static struct denovo_rules change(const struct mutant *mutant)
{
    struct denovo_rules rules = denovo_protocol;
    if (mutant->of == OF_UNIT)
        rules.unit[mutant->state][mutant->event] = mutant->row;
    else if (mutant->of == OF_REGISTRY)
        rules.registry[mutant->state][mutant->event] = mutant->row;
    else
        rules.rule[mutant->state] = false;
    return rules;
}

/* Returns whether the machine finds the change, and prints how. */
static bool is_found(const struct mutant *mutant, enum machine machine)
{
    static struct model_result result;
    struct denovo_rules rules = change(mutant);
    model_search_apart(&machines[machine], &rules, 4000000, &result);
    print_message("%s -> %s: %s: %s, after %zu states\n", mutant->name, mutant->change,
                  machines[machine].name, result.fault[0] ? result.fault : "not found", result.states);
    if (getenv("DENOVO_TELL"))
        print_message("%s", result.path);
    return result.fault[0] != '\0';
}

/* Every row and every rule has a change. */
static void every_row_has_a_change(void **state)
{
    (void)state;
    struct denovo_rules left = denovo_protocol;
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        const struct mutant *mutant = &mutants[i];
        if (mutant->of == OF_UNIT)
            left.unit[mutant->state][mutant->event].action = DENOVO_DO_NEVER;
        else if (mutant->of == OF_REGISTRY)
            left.registry[mutant->state][mutant->event].action = DENOVO_LET_NEVER;
        else
            left.rule[mutant->state] = false;
    }
    /* A cache that installs nothing is coherent: test_unit.c finds that. */
    left.unit[DENOVO_WORD_INVALID][DENOVO_ON_ANSWER].action = DENOVO_DO_NEVER;
    for (unsigned word = 0; word < DENOVO_WORD_STATES; word++)
        for (unsigned event = 0; event < DENOVO_EVENTS; event++)
            assert_int_equal(left.unit[word][event].action, DENOVO_DO_NEVER);
    for (unsigned standing = 0; standing < DENOVO_STANDING_COUNT; standing++)
        for (unsigned event = 0; event < DENOVO_REGISTRY_EVENT_COUNT; event++)
            assert_int_equal(left.registry[standing][event].action, DENOVO_LET_NEVER);
    for (unsigned rule = 0; rule < DENOVO_RULES; rule++)
        assert_false(left.rule[rule]);
}

static void every_change_is_found(void **state)
{
    (void)state;
    unsigned missed = 0;
    const char *only = getenv("DENOVO_MUTANT"); /* part of a name */
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++)
        if (!only || strstr(mutants[i].name, only))
            missed += !is_found(&mutants[i], mutants[i].machine);
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_protocol_is_coherent),
        cmocka_unit_test(every_row_has_a_change),
        cmocka_unit_test(every_change_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
