/* Older descriptions: messages for their keys, and files rewritten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/schema/machine_list.h"
#include "emu/schema/renames.h"
#include "tests/schema/load.h"

static void old_keys_name_what_to_write(void **state)
{
    static const char *const parts[] = {"crossbar",    "nucd",          "devices.rom",  "devices.finisher",
                                        "devices.rtc", "devices.clint", "devices.plic", "devices.uart"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char set[64], text[128], option[512], file[600];
        const char *sets[] = {set, NULL}, *dot = strchr(parts[i], '.');
        (void)snprintf(set, sizeof set, "%s.present=true", parts[i]);
        (void)snprintf(
            option, sizeof option,
            "--set: %s.present is obsolete; write `%s: {}` to add the part, `%s: none` to remove it "
            "(croft show --migrate FILE rewrites a file)",
            parts[i], parts[i], parts[i]);
        assert_refused_as(*state, "{}\n", sets, option);
        (void)snprintf(file, sizeof file, "/m.yaml:2: %s", option + 7);
        if (dot)
            (void)snprintf(text, sizeof text, "devices: {%s:\n  {present: false}}\n", dot + 1);
        else
            (void)snprintf(text, sizeof text, "%s:\n  {present: false}\n", parts[i]);
        assert_refused_as(*state, text, NULL, file);
    }
}

#define MOVED                                                                                                \
    " (croft show --migrate FILE rewrites a file); a group of that name needs a `kind` or a `template`"

/* The user program's stack, whose old name groups can have. */
static void the_stack_has_another_name(void **state)
{
    static const char group[] = "stack: {kind: group, count: 2, simt: {count: 1, memory: dram}}\n";
    static const char *const set[] = {"stack.size=1 MiB", NULL}, *const warps[] = {"stack.*.simt.warps=96",
                                                                                   NULL};
    struct machine_config config;
    assert_refused_as(*state, "{}\n", set, "--set: stack.size is obsolete; write user_stack.size" MOVED);
    assert_refused_as(*state, "harts: 1\nstack.size: 1 MiB\n", NULL,
                      "/m.yaml:2: stack.size is obsolete; write user_stack.size" MOVED);
    assert_refused_as(*state, "harts: 1\nstack: {size: 1 MiB}\n", NULL,
                      "/m.yaml:2: stack is obsolete; write user_stack" MOVED);
    must_load(*state, &config, group, warps);
    assert_value(&config, "stack.1.simt", "warps", "96");
    machine_free(&config);
}

/* The rewritten text of a description; free() it. */
static char *migrated(const struct folder *folder, const char *old)
{
    char path[128], *text;
    size_t size;
    struct error err;
    folder_write(folder, "old.yaml", old, strlen(old));
    (void)snprintf(path, sizeof path, "%s/old.yaml", folder->path);
    FILE *out = open_memstream(&text, &size);
    bool done = renames_migrate(path, out, &err);
    (void)fclose(out);
    if (!done)
        fail_msg("%s", err.text);
    return text;
}

static const char *const files[][2] = {
    {"{}\n", "{}\n"},
    {"stack: {size: 1 MiB}\nharts: 1\n", "user_stack:\n  size: 1 MiB\nharts: 1\n"},
    {"stack.size: 1 MiB\n", "user_stack.size: 1 MiB\n"},
    /* Groups: of this file, and of the one that it extends. */
    {"stack: {kind: group, count: 2}\n", "stack:\n  kind: group\n  count: 2\n"},
    {"stack: {template: a}\n", "stack:\n  template: a\n"},
    {"stack: {simt: {warps: 4}}\n", "stack:\n  simt:\n    warps: 4\n"},
    {"name: a\nharts: auto\nmemory: {base: 0x1000, size: 64 MiB}\n",
     "name: a\nharts: auto\nmemory:\n  base: 0x1000\n  size: 64 MiB\n"},
    {"crossbar: {present: true}\nnucd: {present: false, mode: driver}\n",
     "crossbar: {}\n# 'nucd.mode': 'driver' is left out: the machine had no nucd.\nnucd: none\n"},
    {"crossbar: {width: 16 B, present: true}\n", "crossbar:\n  width: 16 B\n"},
    /* A part that was only described: another file may have it, or none has. */
    {"extends: nucd\ncrossbar: {width: 16 B}\naccel: {l1d: {size: 8 KiB}}\ndevices: {uart: {irq: 5}, rtc: "
     "{present: true}}\n",
     "extends: nucd\ncrossbar.width: 16 B\naccel.l1d:\n  size: 8 KiB\ndevices:\n  uart.irq: 5\n  rtc: {}\n"},
    {"crossbar: {present: true}\naccel: {clock: 1 GHz}\n",
     "crossbar: {}\n# 'accel.clock': '1 GHz' is left out: the machine had no accel.\naccel: none\n"},
    {"accel: {clock: 1 GHz}\n", "accel:\n  clock: 1 GHz\n"},
    {"nucd: {present: true}\naccel: {clock: 1 GHz, count: 0}\n",
     "nucd: {}\naccel:\n  clock: 1 GHz\n  count: 0\n"},
    {"description: 'a: \"b\" # c'\nname: '- x'\n", "description: \"a: \\\"b\\\" # c\"\nname: \"- x\"\n"},
    {"name: \"a\\nb\"\ndram: {map: R14 % O6, tCL: }\n",
     "name: \"a\\x0ab\"\ndram:\n  map: \"R14 % O6\"\n  tCL:\n"},
    /* Dotted keys. */
    {"extends: hmc\ncrossbar.present: true\n", "extends: hmc\ncrossbar: {}\n"},
    {"crossbar.width: 16 B\ncrossbar.present: true\n", "crossbar.width: 16 B\ncrossbar: {}\n"},
    {"crossbar.present: true\ncrossbar: {width: 16 B}\n", "crossbar:\n  width: 16 B\n"},
    {"crossbar: {present: true, width: 16 B}\ncrossbar.present: false\n",
     "# 'crossbar.width': '16 B' is left out: the machine had no crossbar.\ncrossbar: none\n"},
    {"nucd.mode: driver\nnucd.present: false\n",
     "# 'nucd.mode': 'driver' is left out: the machine had no nucd.\nnucd: none\n"},
    {"devices.uart.present: true\ndevices: {rtc.present: false, rtc.irq: 3}\n",
     "devices.uart: {}\ndevices:\n  # 'devices.rtc.irq': '3' is left out: the machine had no devices.rtc.\n"
     "  rtc: none\n"},
    {"devices.uart: {irq: 3, present: true}\ndevices: {uart: {irq: 4, present: true}}\n",
     "devices.uart:\n  irq: 3\ndevices:\n  uart:\n    irq: 4\n"},
    {"crossbar.present: true\naccel.l1d: {size: 8 KiB}\n",
     "crossbar: {}\n# 'accel.l1d.size': '8 KiB' is left out: the machine had no accel.\naccel: none\n"},
    {"extends: hmc\ncrossbar.present: true\naccel.l1d: {size: 8 KiB}\nnucd: none\n",
     "extends: hmc\ncrossbar: {}\naccel.l1d:\n  size: 8 KiB\nnucd: none\n"},
    /* Old and new names of one part. */
    {"stack: {size: 1 MiB}\nuser_stack: {size: 2 MiB}\n",
     "user_stack:\n  # 'user_stack.size': '1 MiB' is left out: line 2 sets it again.\n  size: 2 MiB\n"},
    {"user_stack: {}\nstack: {size: 1 MiB}\nharts: 1\n", "user_stack:\n  size: 1 MiB\nharts: 1\n"},
    {"stack.size: 1 MiB\nharts: 1\nuser_stack.size: 2 MiB\n",
     "harts: 1\n# 'user_stack.size': '1 MiB' is left out: line 3 sets it again.\nuser_stack.size: 2 MiB\n"},
    {"stack: {size: 1 MiB}\nstack.dram: {}\n", "stack:\n  size: 1 MiB\nstack.dram: {}\n"},
    /* Comments. */
    {"# a\n\n  #b\nname: x # c\n# d\ncrossbar: # e\n  # f\n  present: true # g\n  width: 16 B\n  # h\n",
     "# a\n#b\n# c\nname: x\n# d\n# e\n# f\n# g\ncrossbar:\n  width: 16 B\n# h\n"},
    {"description: 'not # one' # one\nname: \"# \\\" #\" # two\nharts: 1# three\n",
     "# one\ndescription: \"not # one\"\n# two\nname: \"# \\\" #\"\nharts: \"1# three\"\n"},
    {"description: |\n  # text\nname: \xc3\xa4 # \xc3\xa4\nharts: # z\n  1\n",
     "description: \"# text\\x0a\"\n# \xc3\xa4\nname: \"\xc3\xa4\"\n# z\nharts: 1\n"},
    {"# \xc2\x85name: x # a\r\nharts: 1 # b\r# c\n", "# \n# a\nname: x\n# b\nharts: 1\n# c\n"},
    {"extends: hmc # a\ncrossbar.present: true # b\naccel: # c\n  # d\n  width: 2 # e\n",
     "# a\nextends: hmc\n# b\ncrossbar: {}\n# c\n# d\n# e\naccel.width: 2\n"},
    {"# only a comment\n{}\n# and one more\n", "{}\n# only a comment\n# and one more\n"},
};

static void files_are_rewritten(void **state)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = migrated(*state, files[i][0]);
        assert_string_equal(text, files[i][1]);
        char *again = migrated(*state, text);
        assert_string_equal(again, text); /* today's files stay */
        free(again);
        free(text);
    }
}

/* The machine of the NUCD paper and the board as older files described them. */
static void whole_machines_load(void **state)
{
    static const char board[] = "name: virt\nharts: auto\nquantum: 10000\n"
                                "devices:\n"
                                "  rom: {present: true, base: 0x1000}\n"
                                "  clint: {present: true, base: 0x2000000}\n"
                                "  uart: {present: true, base: 0x10000000, irq: 10}\n"
                                "  rtc: {present: false, irq: 12}\n";
    static const char paper[] = "extends: board\n"
                                "host: {count: 1, core: ooo, clock: 2 GHz}\n"
                                "accel: {count: 16, core: inorder, clock: 1 GHz, l1i: {size: 32 KiB}}\n"
                                "nucd: {present: true}\n"
                                "crossbar: {present: true}\n"
                                "devices: {uart: {irq: 9}}\n"
                                "dram: {standard: hbm1, channels: 8}\n";
    const struct folder *folder = *state;
    struct machine_config config;
    char *text = migrated(folder, board);
    folder_write(folder, "shipped/board.yaml", text, strlen(text));
    free(text);
    text = migrated(folder, paper);
    must_load(folder, &config, text, NULL);
    assert_int_equal(config.harts, 17);
    assert_true(tree_find(config.tree, "devices.rom") && config.devices.clint && config.devices.uart &&
                !tree_find(config.tree, "devices.rtc"));
    assert_value(&config, "devices.uart", "irq", "9");
    assert_true(tree_config(config.tree, "nucd") && tree_find(config.tree, "crossbar"));
    assert_value(&config, "dram", "standard", "hbm1");
    machine_free(&config);
    free(text);
}

/* No file of today changes its meaning. The tests run in the repository's root folder. */
static void shipped_machines_stay(void **state)
{
    const struct folder *folder = *state;
    struct machine_list list;
    struct error err;
    assert_true(machine_list(&list, "emu/machine/shipped", &err));
    assert_true(list.count > 5);
    for (size_t i = 0; i < list.count; i++) {
        char path[512], name[128], *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        (void)snprintf(path, sizeof path, "emu/machine/shipped/%s.yaml", list.names[i]);
        assert_true(renames_migrate(path, out, &err));
        (void)fclose(out);
        (void)snprintf(name, sizeof name, "shipped/%.100s.yaml", list.names[i]);
        folder_write(folder, name, text, size);
        free(text);
    }
    for (size_t i = 0; i < list.count; i++) {
        struct machine_config before, after;
        assert_true(machine_load(&before, list.names[i], "emu/machine/shipped", NULL, 0, &err));
        if (!machine_load(&after, list.names[i], folder->shipped, NULL, 0, &err))
            fail_msg("%s", err.text);
        const struct instance *x = tree_next(before.tree, NULL), *y = tree_next(after.tree, NULL);
        for (; x && y; x = tree_next(before.tree, x), y = tree_next(after.tree, y)) {
            assert_string_equal(x->path, y->path);
            assert_memory_equal(x->config, y->config, x->kind->config_size + !x->kind->config_size);
        }
        assert_true(!x && !y);
        machine_free(&before);
        machine_free(&after);
    }
    machine_list_free(&list);
}

static void what_is_no_description_is_refused(void **state)
{
    const struct folder *folder = *state;
    struct error err;
    char path[256];
    folder_write(folder, "old.yaml", "a: [1]\n", 7);
    (void)snprintf(path, sizeof path, "%s/old.yaml", folder->path);
    assert_false(renames_migrate(path, stdout, &err));
    assert_non_null(strstr(err.text, "/old.yaml:1: 'a' takes one value, not a list"));
    assert_false(renames_migrate(folder->path, stdout, &err));
    assert_non_null(strstr(err.text, ": not a regular file; a machine description is a YAML file"));
    assert_false(renames_migrate("/nowhere.yaml", stdout, &err));
    assert_string_equal(err.text, "/nowhere.yaml: cannot be opened: No such file or directory");
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(old_keys_name_what_to_write), FOLDER_TEST(the_stack_has_another_name),
        FOLDER_TEST(files_are_rewritten),         FOLDER_TEST(whole_machines_load),
        FOLDER_TEST(shipped_machines_stay),       FOLDER_TEST(what_is_no_description_is_refused),
    };
    return cmocka_run_group_tests_name("older descriptions", tests, NULL, NULL);
}
