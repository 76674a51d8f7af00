/* References of ports: which parts they name, which slots these get, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/machine/plan/wiring.h"
#include "tests/schema/load.h"

#define STACKS                                                                                               \
    "host: {core: inorder}\nmemory: {size: 1 GiB}\ndram: none\ncrossbar: {}\n"                               \
    "stack:\n  kind: group\n  count: 4\n  crossbar: {}\n  dram: {standard: hmc_tom}\n"

/* A link between the crossbars of two stacks, whose `to` each test sets: line 11. */
#define LINKED                                                                                               \
    STACKS "crossbar.out: stack.*.crossbar\n"                                                                \
           "x: {kind: link, from: 'stack[0].crossbar', to: 'stack[1].crossbar'}\n"

/* Returns the wires of a machine, a line each: "host.0.memory[0] l2.in[0]". free() it. */
static char *wires_of(const struct machine_config *config)
{
    struct wiring wiring;
    struct error err;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!wiring_plan(&wiring, config->tree, machine_kinds, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < wiring.count; i++) {
        const struct wire *wire = &wiring.wires[i];
        (void)fprintf(out, "\n%s.%s[%u] %s.%s[%u]\n", wire->client->path,
                      wire->client->kind->ports[wire->client_port].name, wire->client_slot,
                      wire->server->path, wire->server->kind->ports[wire->server_port].name,
                      wire->server_slot);
    }
    (void)fclose(out);
    wiring_free(&wiring);
    return text;
}

/* Checks that the machine has these wires, and no others from the same part. */
static void assert_wires(const struct folder *folder, const char *text, const char *const *sets,
                         const char *part, const char *const *wanted)
{
    struct machine_config config;
    char from[TREE_NAME];
    unsigned count = 0, found = 0;
    must_load(folder, &config, text, sets);
    char *wires = wires_of(&config);
    (void)snprintf(from, sizeof from, "\n%s.", part);
    for (const char *at = wires; (at = strstr(at, from)) != NULL; at++)
        found++;
    for (; wanted[count]; count++) {
        char line[2 * TREE_NAME];
        (void)snprintf(line, sizeof line, "\n%s\n", wanted[count]);
        if (!strstr(wires, line))
            fail_msg("'%s' is not in:%s", wanted[count], wires);
    }
    if (found != count)
        fail_msg("%u wires from %s:%s", found, part, wires);
    free(wires);
    machine_free(&config);
}

static void only_copies_have_numbers(void **state)
{
    assert_refused_as(
        *state, "host: {core: inorder}\n", SETS("l2.memory=dram[7]"),
        "--set: l2.memory: 'dram[7]': no such part; dram has no copies, write it without a number");
    assert_refused_as(
        *state, "host: {core: inorder}\n", SETS("l2.memory=dram[0]"),
        "--set: l2.memory: 'dram[0]': no such part; dram has no copies, write it without a number");
    assert_refused_as(
        *state, "host: {core: inorder}\n", SETS("l2.memory=dram.0"),
        "--set: l2.memory: 'dram.0': no such part; dram has no copies, write it without a number");
    assert_refused_as(*state, LINKED, SETS("x.to=stack[1].crossbar[9]"),
                      "--set: x.to: 'stack[1].crossbar[9]': no such part; crossbar has no copies, write it "
                      "without a number");
    assert_refused_as(*state, LINKED, SETS("x.to=stack[*].crossbar[9]"),
                      "--set: x.to: 'stack[*].crossbar[9]': no such part; crossbar has no copies, write it "
                      "without a number");
    assert_refused_as(
        *state, LINKED, SETS("x.to=stack.4.crossbar"),
        "--set: x.to: 'stack.4.crossbar': no such part; copies of stack are numbered from 0 to 3");
    assert_refused_as(*state, LINKED, SETS("x.to=stack.crossbar"),
                      "--set: x.to: 'stack.crossbar': there are 4 of stack; write stack[NUMBER], or stack[*] "
                      "for all");
    assert_wires(*state, "host: {core: inorder}\n", SETS("l2.memory=dram[*]"), "l2",
                 SETS("l2.memory[0] dram.in[0]"));
}

/* The nearest name that exists where the path ends: beside the part, below another part, a port, or further outwards. */
static void misspelt_references_get_hints(void **state)
{
    static const char text[] =
        "host: {core: inorder}\ndram: {}\nstack: {kind: group, count: 2, crossbar: {out: /dram}}\n"
        "x: {kind: group, crossbar: {out: /dram}}\n";
    static const char *const cases[][2] = {
        {"l2.memory=drm", "l2.memory: 'drm': no such part; did you mean 'dram'?"},
        {"l2.memory=stack[1].crosbar.in",
         "'stack[1].crosbar.in': no such part; did you mean 'stack[1].crossbar.in'?"},
        {"l2.memory=stack[0].crossbar.inn[3]", "no such part; did you mean 'stack[0].crossbar.in[3]'?"},
        {"l2.memory=/stak[1].crossbar",
         "'/stak[1].crossbar': no such part; did you mean '/stack[1].crossbar'?"},
        {"x.crossbar.out=dram", "'dram': no such part in x; did you mean '../dram'?"},
        {"x.crossbar.out=../drm", "'../drm': no such part; did you mean '../dram'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[256];
        (void)snprintf(wanted, sizeof wanted, "--set: %.*s: ", (int)strcspn(cases[i][0], "="), cases[i][0]);
        struct machine_config config;
        struct error err;
        assert_false(try_load(*state, &config, text, SETS(cases[i][0]), &err));
        assert_memory_equal(err.text, wanted, strlen(wanted));
        if (!strstr(err.text, cases[i][1]))
            fail_msg("%s, not %s", err.text, cases[i][1]);
    }
    assert_refused_as(*state, text, SETS("l2.memory=nothing_like_it"),
                      "--set: l2.memory: 'nothing_like_it': no such part");
}

/* An expression, and how its refusal ends; NULL: its value is 1. */
static const struct {
    const char *text, *ends;
} expressions[] = {
    {"1", NULL},
    {"(3*7-5)/16", NULL},
    {"1000000000-999999999", NULL},
    {"0-1000000000+1000000001", "numbers are at most 1000000000"},
    {"1000000001", "numbers are at most 1000000000"},
    {"1000000*(1000000*9999999)", "numbers are at most 1000000000"},
    {"1000000000*1000000000*1000000000", "numbers are at most 1000000000"},
    {"999999999999999999999999999999", "numbers are at most 1000000000"},
    {"1-2", "copies and slots are numbered from 0; a number in brackets is negative"},
    {"1/(1-1)", "it divides by 0"},
    {"1%0", "it divides by 0"},
    {"(1", "a parenthesis is not closed"},
    {"1)", "brackets hold a number, such as [2], [i/4] or [*]"},
    {"", "brackets hold a number, such as [2], [i/4] or [*]"},
    {"+", "brackets hold a number, such as [2], [i/4] or [*]"},
    {"((((((((((((((((1))))))))))))))))", NULL},
    {"(((((((((((((((((1)))))))))))))))))", "brackets hold a number, such as [2], [i/4] or [*]"},
    {"i", "i, j and k are the numbers of the copies that the port is in, and there are fewer"},
};

static void expressions_end_in_a_number_or_a_reason(void **state)
{
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char set[256], message[512];
        (void)snprintf(set, sizeof set, "x.to=stack[%s].crossbar", expressions[i].text);
        (void)snprintf(message, sizeof message, "--set: x.to: '%s' is not a reference: %s", set + 5,
                       expressions[i].ends ? expressions[i].ends : "");
        if (expressions[i].ends)
            assert_refused_as(*state, LINKED, SETS(set), message);
        else
            assert_wires(*state, LINKED, SETS(set), "x", SETS("x.to[0] stack.1.crossbar.in[0]"));
    }
    assert_refused_as(*state, LINKED, SETS("x.to=stack.18446744073709551615.crossbar"),
                      "--set: x.to: 'stack.18446744073709551615.crossbar' is not a reference: numbers are at "
                      "most 1000000000");
    assert_refused_as(
        *state, LINKED, SETS("x.to=stack.1.crossbar.in.99999999999"),
        "--set: x.to: 'stack.1.crossbar.in.99999999999' is not a reference: numbers are at most "
        "1000000000");
}

static void asterisks_stand_for_any_name(void **state)
{
    static const char two[] = "host: {core: inorder}\nmemory: {size: 1 GiB}\ndram: none\ncrossbar: {}\n"
                              "a: {kind: group, dram: {standard: hmc_tom}}\n"
                              "b: {kind: group, count: 2, dram: {standard: hmc_tom}, "
                              "c: {kind: group, dram: {standard: hmc_tom}}}\n";
    assert_wires(*state, two, SETS("crossbar.out=*.dram"), "crossbar",
                 SETS("crossbar.out[0] a.dram.in[0]", "crossbar.out[1] b.0.dram.in[0]",
                      "crossbar.out[2] b.1.dram.in[0]"));
    assert_wires(*state, two, SETS("crossbar.out=*[1].dram"), "crossbar",
                 SETS("crossbar.out[0] b.1.dram.in[0]"));
    assert_wires(*state, two, SETS("crossbar.out=b.*.*.dram /a.dram"), "crossbar",
                 SETS("crossbar.out[0] b.0.c.dram.in[0]", "crossbar.out[1] b.1.c.dram.in[0]",
                      "crossbar.out[2] a.dram.in[0]"));
    assert_refused_as(*state, two, SETS("crossbar.out=*.l9"), "--set: crossbar.out: '*.l9': no such part");
    assert_refused_as(*state, two, SETS("crossbar.out=*[7].dram"),
                      "--set: crossbar.out: '*[7].dram': no such part");
}

/* A crossbar serves the memory beside it, or that of all groups beside it. */
static void a_crossbar_sends_to_the_memories_of_groups(void **state)
{
    assert_wires(*state, STACKS, NULL, "crossbar",
                 SETS("crossbar.out[0] stack.0.dram.in[0]", "crossbar.out[1] stack.1.dram.in[0]",
                      "crossbar.out[2] stack.2.dram.in[0]", "crossbar.out[3] stack.3.dram.in[0]"));
    assert_wires(*state, STACKS, NULL, "stack.3.crossbar",
                 SETS("stack.3.crossbar.out[0] stack.3.dram.in[1]"));
    assert_wires(*state, STACKS, SETS("dram=default", "dram.standard=hmc_tom"), "crossbar",
                 SETS("crossbar.out[0] dram.in[0]"));
}

static void auto_restores_the_default_partners(void **state)
{
    static const char text[] = "host: {core: inorder, memory: crossbar}\ncrossbar: {}\nhomes: R14\n";
    struct machine_config config;
    assert_wires(*state, text, SETS("homes=auto"), "host.0", SETS("host.0.memory[0] crossbar.in[1]"));
    assert_wires(*state, text, SETS("host.memory=auto"), "host.0", SETS("host.0.memory[0] l2.in[0]"));
    assert_wires(*state, text, SETS("host.memory=auto", "host.memory=/dram"), "host.0",
                 SETS("host.0.memory[0] dram.in[1]"));
    must_load(*state, &config, text, SETS("homes=auto"));
    assert_value(&config, "", "homes", "\"\"");
    machine_free(&config);
}

/* Loads the text and checks a line of what is shown; what is shown has the same wires. */
static void assert_shown(const struct folder *folder, const char *text, const char *const *sets,
                         const char *wanted)
{
    struct machine_config config, again;
    must_load(folder, &config, text, sets);
    char *once = shown(&config), *wires = wires_of(&config);
    if (!strstr(once, wanted))
        fail_msg("'%s' is not in:\n%s", wanted, once);
    must_load(folder, &again, once, NULL);
    char *others = wires_of(&again);
    assert_string_equal(wires, others);
    free(once);
    free(wires);
    free(others);
    machine_free(&again);
    machine_free(&config);
}

static void ports_are_shown_with_partner_and_source(void **state)
{
    assert_shown(
        *state, "host: {core: inorder}\n", NULL,
        "  # Allowed: a part that serves memory; or auto. Default: the first of l2, crossbar, dram.\n"
        "  memory: auto  # default: l2\n");
    assert_shown(*state, "host: {core: inorder}\n", SETS("host.memory=dram"),
                 "  memory: \"dram\"  # --set\n");
    assert_shown(*state, "host: {core: inorder}\naccel: {}\ncrossbar: {}\ndevices: {clint: {}}\n", NULL,
                 "Default: crossbar.\n  memory: auto  # default: crossbar (NUCD paper, section IV)\n");
    assert_shown(*state, STACKS, NULL, "  out: auto  # default: *.dram\n");
    assert_shown(*state, "host: {core: inorder}\ncrossbar: {}\ng: {kind: group, simt: {}}\n", NULL,
                 "    memory: auto  # default: ../crossbar\n");
    assert_shown(*state, LINKED, NULL, "  from: \"stack[0].crossbar\"  # ");
    assert_shown(*state, LINKED, NULL,
                 "  # Allowed: parts that ask for memory; or auto.\n  in: auto  # default\n");
}

static void slots_have_no_gaps(void **state)
{
    static const char text[] = STACKS "x:\n  kind: link\n  count: 3\n  from: crossbar\n"
                                      "  to: 'stack[0].crossbar.in[2-i]'\n";
    assert_wires(*state, text, NULL, "x.0", SETS("x.0.to[0] stack.0.crossbar.in[2]"));
    assert_wires(*state, text, NULL, "x.2", SETS("x.2.to[0] stack.0.crossbar.in[0]"));
    /* Ends without a number get the lowest free slots, in the tree's order. */
    assert_wires(
        *state, text,
        SETS("x.0.to=stack.0.crossbar.in.1", "x.*.to=stack.0.crossbar", "x.0.to=stack.0.crossbar.in.1"),
        "x.1", SETS("x.1.to[0] stack.0.crossbar.in[0]"));
    assert_wires(*state, text, SETS("x.*.to=stack.0.crossbar", "x.0.to=stack.0.crossbar.in[1]"), "x.2",
                 SETS("x.2.to[0] stack.0.crossbar.in[2]"));
    assert_refused_as(*state, text, SETS("x.1.to=stack.0.crossbar.in[3]"),
                      "--set: x.1.to: stack.0.crossbar.in[3] leaves a gap: slots are numbered from 0 in "
                      "sequence, and the port has 3 partners");
    struct machine_config config;
    struct error err;
    assert_false(try_load(*state, &config, text, SETS("x.1.to=stack.1.crossbar.in[5000000]"), &err));
    assert_memory_equal(err.text, "--set 'x.1.to=stack.1.crossbar.in[5000000]': ", 45);
    assert_non_null(strstr(err.text,
                           "/m.yaml:14: x.0.to: stack.0.crossbar.in[2] leaves a gap: slots are numbered from "
                           "0 in sequence, and the port has 2 partners"));
}

static void doubly_used_ports_are_named(void **state)
{
    assert_refused_as(*state,
                      STACKS "x:\n  kind: link\n  count: 3\n  from: crossbar\n"
                             "  to: 'stack[0].crossbar.in[i/2]'\n",
                      NULL, "/m.yaml:14: x.1.to: stack.0.crossbar.in[0] is used twice, by x.0.to and x.1.to");
    assert_refused_as(*state,
                      STACKS "x:\n  kind: link\n  count: 2\n  from: 'crossbar.out[0]'\n"
                             "  to: 'stack[i].crossbar'\n",
                      NULL, "/m.yaml:13: x.1.from: crossbar.out[0] is used twice, by x.0.from and x.1.from");
    assert_refused_as(*state,
                      STACKS "x: {kind: link, from: crossbar, to: 'stack[0].crossbar'}\n"
                             "crossbar.out: x stack.*.crossbar\n",
                      NULL,
                      "/m.yaml:11: crossbar.out: x.from takes one partner, not both crossbar.out and "
                      "crossbar.out");
    assert_refused_as(*state, "host: {core: inorder}\nlk: {kind: link, from: host, to: l2}\n", NULL,
                      "/m.yaml:2: lk.from: host.0.memory takes one partner, not both lk.from and l2.in");
    assert_refused_as(*state, STACKS "host.memory: stack[*].crossbar\n", NULL,
                      "/m.yaml:10: host.0.memory: the port takes one partner, not 4");
}

/* The distances count the wires between the parts of tests/machine/stacks.yaml. */
static void distances_count_wires(void **state)
{
    static const struct {
        const char *from;
        uint32_t links;
    } ways[] = {{"stack.2.dram", 0},
                {"stack.2.crossbar", 1},
                {"stack.2.simt", 2},
                {"link.2", 2},
                {"link.1", 4},
                {"peer.4", 4},
                {"peer.1", 2},
                {"crossbar", 3},
                {"l2", 4},
                {"host.0", 5},
                {"simt", 4},
                {"stack.0.simt", 4},
                {"memory", UINT32_MAX},
                {"stack.0.dram", UINT32_MAX}};
    struct machine_config config;
    struct wiring wiring;
    struct error err;
    uint32_t *distances;
    (void)state;
    assert_true(machine_load(&config, "tests/machine/stacks.yaml", "emu/machine/shipped", NULL, 0, &err));
    assert_true(wiring_plan(&wiring, config.tree, machine_kinds, &err));
    size_t parts = wiring_distances(&wiring, config.tree, tree_find(config.tree, "stack.2.dram"), &distances);
    for (const struct instance *i = tree_next(config.tree, NULL); i; i = tree_next(config.tree, i))
        parts--;
    assert_int_equal(parts, 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (distances[tree_find(config.tree, ways[i].from)->number] != ways[i].links)
            fail_msg("%s: %u", ways[i].from, distances[tree_find(config.tree, ways[i].from)->number]);
    free(distances);
    wiring_free(&wiring);
    machine_free(&config);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(only_copies_have_numbers),
        FOLDER_TEST(misspelt_references_get_hints),
        FOLDER_TEST(expressions_end_in_a_number_or_a_reason),
        FOLDER_TEST(asterisks_stand_for_any_name),
        FOLDER_TEST(a_crossbar_sends_to_the_memories_of_groups),
        FOLDER_TEST(auto_restores_the_default_partners),
        FOLDER_TEST(ports_are_shown_with_partner_and_source),
        FOLDER_TEST(slots_have_no_gaps),
        FOLDER_TEST(doubly_used_ports_are_named),
        cmocka_unit_test(distances_count_wires),
    };
    return cmocka_run_group_tests_name("references of ports", tests, NULL, NULL);
}
