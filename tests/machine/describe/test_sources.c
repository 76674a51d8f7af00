/* Where the numbers of energy accounts come from, by the scope of the account: the fields of the part that opens it, or of
 * one below it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/machine/describe/sources.h"
#include "emu/machine/machine.h"
#include "tests/machine/folder.h"

static void assert_source(const struct machine_config *machine, const char *part, const char *scope,
                          const char *field, const char *wanted)
{
    const struct sources of = {machine->tree, tree_find(machine->tree, part)};
    char text[1024];
    assert_non_null(of.part);
    sources_of_field(&of, scope, field, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void the_description_says_where_a_number_comes_from(void **state)
{
    static const char text[] = "extends: gpu\n"
                               "host: {core: inorder, l1d: {energy_read: 3 pJ}}\n"
                               "simt:\n"
                               "  energy.alu: 4 pJ\n"
                               "  l1.energy_write: 5 pJ\n"
                               "crossbar: {out: link.*}\n"
                               "link: {kind: link, count: 2, to: dram, wires: package}\n";
    static const char *const sets[] = {"link.1.energy_bit=7pJ", "dram.energy_act=5nJ"};
    const struct folder *folder = *state;
    struct machine_config machine;
    struct error err = {.text = ""};
    char path[256], wanted[400];
    folder_write(folder, "m.yaml", text, sizeof text - 1);
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    if (!machine_load(&machine, path, "emu/machine/shipped", sets, 2, &err))
        fail_msg("%s", err.text);
    assert_source(&machine, "link.1", "link.1.request", "energy_bit", "energy_bit 7 pJ (--set)");
    assert_source(&machine, "link.0", "link.0.request", "energy_bit", "energy_bit 2 pJ (package: TOM)");
    assert_source(&machine, "dram", "dram", "energy_act", "energy_act 5 nJ (--set)");
    assert_source(&machine, "host.0", "host.0", "energy_alu",
                  "energy_alu 14 pJ (default: McPAT, logic.cc: embedded core, 45 nm, 1.0 V)");
    (void)snprintf(wanted, sizeof wanted, "energy_read 3 pJ (%s:2)", path);
    assert_source(&machine, "host.0", "host.0.l1d", "energy_read", wanted);
    (void)snprintf(wanted, sizeof wanted, "energy.alu 4 pJ (%s:4)", path);
    assert_source(&machine, "simt", "simt.7.work", "energy.alu", wanted);
    (void)snprintf(wanted, sizeof wanted, "energy_write 5 pJ (%s:5)", path);
    assert_source(&machine, "simt", "simt.7.l1", "energy_write", wanted);
    assert_source(&machine, "simt", "simt.crossbar", "energy_bit",
                  "energy_bit 1.78 pJ (default: HMC: logic layer with DRAM controllers 6.78 pJ (recalled) - "
                  "lanes 5 pJ (CasHMC, ConfigSim.ini))");
    machine_free(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_description_says_where_a_number_comes_from),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
