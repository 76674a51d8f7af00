/* Drawings of machines. The expected content is written by hand from the machines' files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/machine/describe/graph.h"
#include "emu/schema/machine_list.h"

typedef bool graph(const struct machine_config *machine, FILE *out, struct error *err);

/* Draws a machine. The caller frees the result. */
static char *drawn(graph *draw, const char *name, const char *const *sets, size_t set_count)
{
    struct machine_config machine;
    struct error err = {.text = ""};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!machine_load(&machine, name, "emu/machine/shipped", sets, set_count, &err) ||
        !draw(&machine, out, &err))
        fail_msg("%s: %s", name, err.text);
    machine_free(&machine);
    (void)fclose(out);
    return text;
}

static void assert_has(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("'%s' is not in:\n%s", wanted, text);
}

/* Checks that the text has a line for each core, cache and memory of the machine, below those that hold it. */
static void assert_parts(const struct machine_config *machine, const char *text)
{
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i)) {
        if (strcmp(i->kind->name, "tlb") == 0 || !i->kind->ports)
            continue;
        size_t column = 0;
        bool there = false;
        for (const struct instance *above = i->parent; above; above = above->parent)
            column += 3;
        for (const char *line = strchr(text, '\n'); line && !there; line = strchr(line + 1, '\n'))
            there = strspn(line + 1, "|-` ") == column &&
                    strncmp(line + 1 + column, i->name, strlen(i->name)) == 0;
        if (!there)
            fail_msg("%s has no line in column %zu of:\n%s", i->path, column, text);
    }
}

/* Checks that both ends of each edge are parts that are drawn. Returns the number of edges. */
static unsigned assert_edges(char *dot)
{
    unsigned edges = 0;
    for (char *at = dot; (at = strstr(at, " -> ")) != NULL; at += 4, edges++) {
        char end[TREE_NAME + 8];
        char *from = at - 1;
        while (from[-1] != '"')
            from--;
        assert_true(from[-2] == ' ' && at[-1] == '"' && at[4] == '"');
        (void)snprintf(end, sizeof end, " \"%.*s\" [", (int)(at - 1 - from), from);
        assert_has(dot, end);
        (void)snprintf(end, sizeof end, " \"%.*s\" [", (int)strcspn(at + 5, "\""), at + 5);
        assert_has(dot, end);
    }
    return edges;
}

static unsigned count(const char *text, const char *word)
{
    unsigned count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        count++;
    return count;
}

static void every_shipped_machine_can_be_drawn(void **state)
{
    struct machine_list list;
    struct error err = {.text = ""};
    (void)state;
    assert_true(machine_list(&list, "emu/machine/shipped", &err));
    assert_true(list.count >= 9);
    for (size_t i = 0; i < list.count; i++) {
        struct machine_config machine;
        char *text = drawn(graph_text, list.names[i], NULL, 0),
             *dot = drawn(graph_dot, list.names[i], NULL, 0);
        assert_true(machine_load(&machine, list.names[i], "emu/machine/shipped", NULL, 0, &err));
        assert_int_equal(strncmp(text, machine.name, strlen(machine.name)), 0);
        assert_parts(&machine, text);
        assert_int_equal(strncmp(dot, "digraph ", 8), 0);
        assert_string_equal(dot + strlen(dot) - 2, "}\n");
        unsigned edges = assert_edges(dot);
        assert_int_equal(count(text, "->"), edges);
        assert_true((edges > 0) == machine_timed(&machine));
        free(text);
        free(dot);
        machine_free(&machine);
    }
    machine_list_free(&list);
}

static void links_lead_from_cores_to_memory(void **state)
{
    (void)state;
    char *text = drawn(graph_text, "nucd", NULL, 0);
    assert_has(text, "\n|- host: out of order, 2 GHz\n|  |   memory -> l2.in\n");
    assert_has(text, "\n|- accel x 16: in order, 1 GHz\n|  |   memory -> crossbar.in\n");
    assert_has(text, "\n|- l2: 1 MiB\n|      memory -> crossbar.in\n");
    assert_has(text, "\n|- crossbar\n|      out -> dram.in\n");
    assert_has(text, "\n`- dram: hbm1, 8 channels\n");
    free(text);
}

/* The parts that multiprocessors connect themselves: with all of them, and without some. */
static void links_inside_multiprocessors_are_drawn(void **state)
{
    static const char *const no_l2[] = {"simt.l2=none"}, *const neither[] = {"simt.l2=none",
                                                                             "simt.crossbar=none"};
    (void)state;
    char *text = drawn(graph_text, "gpu", NULL, 0);
    assert_has(text, "\n|  |- l1: 32 KiB\n|  |      -> crossbar.in\n|  |- crossbar\n|  |      out -> l2.in\n"
                     "|  |- l2: 8 slices of 128 KiB\n|  |      memory -> ../simt.memory\n"
                     "|  `- walk_cache: 8 KiB\n|         -> crossbar.in\n");
    free(text);
    text = drawn(graph_text, "gpu", no_l2, 1);
    assert_has(text, "\n|  |      -> crossbar.in\n|  |- crossbar\n|  |      out -> ../simt.memory\n");
    free(text);
    text = drawn(graph_text, "gpu", neither, 2);
    assert_has(text, "\n|  |- l1: 32 KiB\n|  |      -> ../simt.memory\n");
    free(text);
    char *dot = drawn(graph_dot, "gpu", NULL, 0);
    assert_has(dot, "  \"simt\" -> \"dram\";\n");
    assert_has(dot, "  \"simt.l1\" -> \"simt.crossbar\";\n");
    assert_has(dot, "  \"simt.crossbar\" -> \"simt.l2\";\n");
    assert_has(dot, "  \"simt.l2\" -> \"simt\";\n");
    free(dot);
}

/* Without a clock there are no connections: a core sends no memory requests. */
static void machines_without_a_clock_have_no_links(void **state)
{
    (void)state;
    char *text = drawn(graph_text, "functional", NULL, 0);
    assert_has(text, "\n`- host: functional");
    assert_null(strstr(text, "->"));
    free(text);
}

static void drawings_follow_settings(void **state)
{
    static const char *const sets[] = {"accel.count=3", "dram.channels=4"};
    (void)state;
    char *text = drawn(graph_text, "nucd", sets, 2);
    assert_has(text, "\n|- accel x 3: ");
    assert_has(text, "\n`- dram: hbm1, 4 channels\n");
    free(text);
}

/* Of the modules in a tree, those at its leaves have other wires than those next to the root. */
static void copies_with_other_wires_are_apart(void **state)
{
    (void)state;
    char *text = drawn(graph_text, "tests/machine/tree.yaml", NULL, 0);
    assert_has(text, "\n|- module.0-3\n|  |- simt: 4 multiprocessors\n|  |  |   memory -> crossbar.in\n");
    assert_has(
        text,
        "\n|  |      out -> /leaf_down.*.from\n|  |      out -> /up.*.from\n|  |      out -> dram.in\n");
    assert_has(text, "\n|- module.4-7\n|  |- simt: 4 multiprocessors\n|  |  |   memory -> crossbar.in\n");
    assert_has(text, "\n|  |      out -> /leaf_up.*.from\n|  |      out -> dram.in\n");
    assert_has(text, "\n|- leaf_down x 4\n|      to -> /module.4-7.crossbar.in\n");
    assert_has(text, "\n|- leaf_up x 4\n|      to -> /module.0-3.crossbar.in\n");
    assert_has(text, "\n|- stack x 8\n");
    free(text);
    char *dot = drawn(graph_dot, "tests/machine/tree.yaml", NULL, 0);
    assert_has(dot, "  \"leaf_down.0\" -> \"module.4.crossbar\";\n");
    assert_has(dot, "label=\"module.4-7\"");
    (void)assert_edges(dot);
    free(dot);
}

static void copies_with_other_parts_are_apart(void **state)
{
    static const char *const size[] = {"accel.3.l1d.size=64 KiB", "accel.5.l1d.size=64 KiB"},
                             *const more[] = {"stack.2.x.kind=group"};
    (void)state;
    char *text = drawn(graph_text, "nucd", size, 2);
    assert_has(text, "\n|- accel.0-2,4,6-15: in order, 1 GHz\n|  |   memory -> crossbar.in\n"
                     "|  |- l1i: 32 KiB\n|  `- l1d: 32 KiB\n");
    assert_has(text, "\n|- accel.3,5: in order, 1 GHz\n|  |   memory -> crossbar.in\n"
                     "|  |- l1i: 32 KiB\n|  `- l1d: 64 KiB\n");
    free(text);
    text = drawn(graph_text, "tests/machine/stacks.yaml", more, 1);
    assert_has(text, "\n|- stack.0-1,3\n");
    assert_has(text, "\n|- stack.2\n");
    assert_has(text, "\n|  `- x\n");
    free(text);
}

/* In a row, no part has the place of another; in a ring, each has. */
static void rows_are_drawn_in_full_and_rings_once(void **state)
{
    static const char *const row[] = {"x.kind=link", "x.count=5", "x.to=x[i+1]", "x.4.to=/dram",
                                      "x.0.from=crossbar"},
                             *const ring[] = {"x.kind=link", "x.count=5", "x.to=x[(i+1)%5]"};
    (void)state;
    char *text = drawn(graph_text, "nucd", row, 5);
    assert_has(
        text,
        "\n|- x.0\n|      to -> x.1.from\n|- x.1\n|      to -> x.2.from\n|- x.2\n|      to -> x.3.from\n"
        "|- x.3\n|      to -> x.4.from\n`- x.4\n       to -> dram.in\n");
    free(text);
    text = drawn(graph_text, "nucd", ring, 3);
    assert_has(text, "\n`- x x 5\n       to -> x.*.from\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_machine_can_be_drawn),
        cmocka_unit_test(links_lead_from_cores_to_memory),
        cmocka_unit_test(links_inside_multiprocessors_are_drawn),
        cmocka_unit_test(machines_without_a_clock_have_no_links),
        cmocka_unit_test(drawings_follow_settings),
        cmocka_unit_test(copies_with_other_wires_are_apart),
        cmocka_unit_test(copies_with_other_parts_are_apart),
        cmocka_unit_test(rows_are_drawn_in_full_and_rings_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
