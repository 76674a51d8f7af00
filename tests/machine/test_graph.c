/* Drawings of machines. What they must say is written out by hand from the machines' files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/machine/graph.h"

typedef bool graph(const struct machine_config *machine, FILE *out, struct error *err);

/* Draws a machine; free() the result. */
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

static void every_shipped_machine_can_be_drawn(void **state)
{
    static const char *const names[] = {"functional", "virt", "ddr3",    "gddr5", "hbm1",
                                        "hmc",        "gpu",  "hmc_tom", "nucd"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text = drawn(graph_text, names[i], NULL, 0), *dot = drawn(graph_dot, names[i], NULL, 0);
        assert_int_equal(strncmp(text, names[i], strlen(names[i])), 0);
        assert_has(text, "host: ");
        assert_int_equal(strncmp(dot, "digraph ", 8), 0);
        assert_string_equal(dot + strlen(dot) - 2, "}\n");
        free(text);
        free(dot);
    }
}

static void links_lead_from_cores_to_memory(void **state)
{
    (void)state;
    char *text = drawn(graph_text, "nucd", NULL, 0);
    assert_has(text, "\n  host: out of order, 2 GHz  -> l2\n");
    assert_has(text, "\n  accel x 16: in order, 1 GHz  -> crossbar\n");
    assert_has(text, "\n  l2: 1 MiB  -> crossbar\n");
    assert_has(text, "\n  crossbar  -> dram\n");
    assert_has(text, "\n  dram: hbm1, 8 channels\n");
    free(text);
}

/* Without a clock, nothing is joined: a core does not ask for memory. */
static void machines_without_a_clock_have_no_links(void **state)
{
    (void)state;
    char *text = drawn(graph_text, "functional", NULL, 0);
    assert_has(text, "\n  host: functional");
    assert_null(strstr(text, "->"));
    free(text);
}

static void drawings_follow_settings(void **state)
{
    static const char *const sets[] = {"accel.count=3", "dram.channels=4"};
    (void)state;
    char *text = drawn(graph_text, "nucd", sets, 2);
    assert_has(text, "\n  accel x 3: ");
    assert_has(text, "\n  dram: hbm1, 4 channels\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_machine_can_be_drawn),
        cmocka_unit_test(links_lead_from_cores_to_memory),
        cmocka_unit_test(machines_without_a_clock_have_no_links),
        cmocka_unit_test(drawings_follow_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
