/* Machine descriptions: where values come from, and the message for each thing that can be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/machine/machine.h"
#include "emu/schema/machine_list.h"
#include "tests/machine/folder.h"

static void write_text(const struct folder *folder, const char *name, const char *text)
{
    folder_write(folder, name, text, strlen(text));
}

static bool load(const struct folder *folder, struct machine_config *config, const char *name,
                 const char *set, struct error *err)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return machine_load(config, path, folder->shipped, &set, set ? 1 : 0, err);
}

static void assert_loads(const struct folder *folder, struct machine_config *config, const char *name,
                         const char *set)
{
    struct error err = {.text = ""};
    if (!load(folder, config, name, set, &err))
        fail_msg("%s", err.text);
}

static void assert_source(const struct machine_config *config, const char *key, const char *end)
{
    char source[MACHINE_SOURCE];
    machine_source(config, key, source);
    size_t length = strlen(source);
    assert_true(length >= strlen(end));
    assert_string_equal(source + length - strlen(end), end);
}

/* The kinds in a tree, each once: those of roles, and of the list. */
struct kinds {
    const struct part_kind *of[64];
    size_t count;
};

static void add_kind(struct kinds *kinds, const struct part_kind *kind)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (kinds->of[i] == kind)
            return;
    assert_true(kinds->count < 64);
    kinds->of[kinds->count++] = kind;
    for (const struct part_role *role = kind->roles; role && role->name; role++)
        add_kind(kinds, role->kind);
}

static void all_kinds(struct kinds *kinds)
{
    kinds->count = 0;
    add_kind(kinds, &root_kind);
    for (const struct part_kind *const *kind = machine_kinds; *kind; kind++)
        add_kind(kinds, *kind);
}

static void assert_sound(const struct part_kind *kind, int index, void *config)
{
    const struct part_field *field = &kind->fields[index];
    struct error err;
    char allowed[512];
    field_allowed(field, allowed, sizeof allowed);
    assert_int_equal(part_field_find(kind, field->name), index); /* unique */
    assert_true(field->offset + field->size <= kind->config_size);
    for (unsigned variant = 0; variant < PART_VARIANTS; variant++)
        if (field->initial[variant] && !field_set(field, config, field->initial[variant], &err))
            fail_msg("%s", err.text);
    for (unsigned variant = 0; variant < PART_VARIANTS; variant++)
        assert_non_null(field->source[variant]);
    assert_true(field->initial[0] || kind->derive);
    assert_true(field->type >= FIELD_BOOL ||
                (field_set(field, config, field->min, &err) && field_set(field, config, field->max, &err)));
    size_t length = strlen(field->explanation);
    if (length <= 10 || length >= 120 || field->explanation[length - 1] != '.')
        fail_msg("%s: %s", field->name, field->explanation);
}

static void every_row_of_the_tables_is_sound(void **state)
{
    struct kinds kinds;
    unsigned rows = 0;
    (void)state;
    all_kinds(&kinds);
    for (size_t i = 0; i < kinds.count; i++) {
        void *config = calloc(1, kinds.of[i]->config_size + 1);
        assert_non_null(config);
        for (size_t j = 0; j < kinds.of[i]->field_count; j++, rows++)
            assert_sound(kinds.of[i], (int)j, config);
        free(config);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(kinds.of[i]->name, kinds.of[j]->name);
    }
    assert_true(rows > 200 && kinds.count > 10);
}

/* What a role sets is a field of its part, with a value that the field takes. */
static void every_default_of_a_role_is_sound(void **state)
{
    struct kinds kinds;
    unsigned walked = 0;
    (void)state;
    all_kinds(&kinds);
    for (size_t i = 0; i < kinds.count; i++) {
        for (const struct part_role *role = kinds.of[i]->roles; role && role->name; role++) {
            void *config = calloc(1, role->kind->config_size + 1);
            assert_non_null(config);
            for (const struct part_default *d = role->defaults; d && d->field; d++, walked++) {
                int field = part_field_find(role->kind, d->field);
                struct error err;
                bool port = false;
                for (const struct part_port *p = role->kind->ports; p && p->name; p++)
                    port = port || strcmp(p->name, d->field) == 0;
                assert_true(field >= 0 || port);
                assert_true(port || *d->value == '@' ||
                            field_set(&role->kind->fields[field], config, d->value, &err));
            }
            free(config);
        }
    }
    assert_true(walked > 20);
}

static void the_defaults_are_the_documented_ones(void **state)
{
    struct machine_config config;
    write_text(*state, "tiny.yaml", "{}\n");
    assert_loads(*state, &config, "tiny.yaml", NULL);
    assert_string_equal(config.name, "tiny");
    assert_string_equal(config.description, "");
    assert_true(config.harts == 1 && config.memory->base == 0x80000000 && config.memory->size == 1 << 30);
    assert_true(config.stack->size == 8 << 20 && config.host->core == CORE_FUNCTIONAL);
    assert_true(config.host_count == 1 && config.host->rob == 128 && config.accel_count == 0);
    assert_true(!config.accel && !tree_config(config.tree, "nucd") && !config.simt && !config.devices.clint);
    assert_source(&config, "memory.size", "default");
    machine_free(&config);
}

static void files_extend_files_and_shipped_machines(void **state)
{
    struct machine_config config;
    write_text(
        *state, "shipped/base.yaml",
        "name: base\ndescription: the base\nmemory:\n  size: 64 MiB\n  base: 0x1000\nhost:\n  rob: 64\n");
    write_text(*state, "middle.yaml", "extends: base\nhost: {rob: 32, store_queue: 8}\n");
    write_text(*state, "shipped/top.yaml",
               "description: on top\nextends: ../middle.yaml\n\nhost:\n  rob: 16\n");
    struct error err = {.text = ""};
    const char *sets[] = {"user_stack.size=1 MiB", "user_stack.size=2MiB", "accel.count=4"};
    const struct folder *folder = *state;
    if (!machine_load(&config, "top", folder->shipped, sets, 3, &err))
        fail_msg("%s", err.text);
    assert_string_equal(config.name, "top"); /* name and description are a file's own */
    assert_string_equal(config.description, "on top");
    assert_true(config.memory->size == 64 << 20 && config.memory->base == 0x1000);
    assert_true(config.host->rob == 16 && config.host->store_queue == 8);
    assert_true(config.stack->size == 2 << 20 && config.accel_count == 4);
    assert_source(&config, "host.rob", "top.yaml:5");
    assert_source(&config, "host.store_queue", "middle.yaml:2");
    assert_source(&config, "memory.size", "base.yaml:4");
    assert_source(&config, "user_stack.size", "--set");

    const char *names[8];
    size_t count = tree_unused(config.tree, names, 8);
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "host.store_queue");
    assert_string_equal(names[1], "host.rob");
    assert_string_equal(names[2], "accel.count");
    machine_free(&config);
}

static void lists_shipped_machines_in_order(void **state)
{
    const struct folder *folder = *state;
    struct machine_list list;
    struct error err;
    write_text(folder, "shipped/zeta.yaml", "{}");
    write_text(folder, "shipped/alpha.yaml", "{}");
    write_text(folder, "shipped/.hidden.yaml", "{}");
    write_text(folder, "shipped/readme.txt", "{}");
    assert_true(machine_list(&list, folder->shipped, &err));
    assert_int_equal(list.count, 2);
    assert_string_equal(list.names[0], "alpha");
    assert_string_equal(list.names[1], "zeta");
    machine_list_free(&list);
    assert_false(machine_list(&list, "/nowhere", &err));
    assert_string_equal(err.text, "/nowhere: cannot list the shipped machines: No such file or directory");
}

/* The tests run in the repository's root folder. */
static void every_shipped_machine_is_sound(void **state)
{
    (void)state;
    struct machine_list list;
    struct error err = {.text = ""};
    assert_true(machine_list(&list, "emu/machine/shipped", &err));
    assert_true(list.count >= 1);
    for (size_t i = 0; i < list.count; i++) {
        struct machine_config config;
        if (!machine_load(&config, list.names[i], "emu/machine/shipped", NULL, 0, &err))
            fail_msg("%s", err.text);
        assert_string_equal(config.name, list.names[i]);
        assert_true(strlen(config.description) > 10);
        machine_free(&config);
    }
    machine_list_free(&list);
}

/* A description, a --set or NULL, and the message without the folder's path; %s in it stands for the folder.
 */
struct fault {
    const char *text, *set, *message;
};

static const struct fault faults[] = {
    {"", NULL, "%s/m.yaml: the file is empty; a machine description has at least one key"},
    {"# nothing\n", NULL, "%s/m.yaml: the file is empty; a machine description has at least one key"},
    {"harts", NULL, "%s/m.yaml:1: a machine description is a mapping of keys, such as `harts: 1`"},
    {"\n- harts\n", NULL, "%s/m.yaml:2: a machine description is a mapping of keys, such as `harts: 1`"},
    {"harts: 1\nhart: 1\n", NULL,
     "%s/m.yaml:2: unknown key 'hart'; did you mean 'harts'? Known at the top: name, description, harts, "
     "quantum, isa, homes, stack_hash, pages, memory, user_stack, host, accel, nucd, l2, simt, crossbar, "
     "dram, "
     "mmu, "
     "devices"},
    {"\nmemory:\n  siez: 1 GiB\n", NULL,
     "%s/m.yaml:3: unknown key 'memory.siez'; did you mean 'memory.size'? Known in memory: base, size"},
    {"memory:\n  rob: 5\n", NULL,
     "%s/m.yaml:2: unknown key 'memory.rob'; did you mean 'host.rob'? Known in memory: base, size"},
    {"user_stak:\n  size: 1 MiB\n", NULL,
     "%s/m.yaml:1: unknown key 'user_stak'; did you mean 'user_stack'? Known at the top: name, description, "
     "harts, "
     "quantum, isa, homes, stack_hash, pages, memory, user_stack, host, accel, nucd, l2, simt, crossbar, "
     "dram, "
     "mmu, "
     "devices"},
    {"zzz: 1", NULL,
     "%s/m.yaml:1: unknown key 'zzz'; known at the top: name, description, harts, quantum, isa, homes, "
     "stack_hash, pages, memory, "
     "user_stack, host, accel, nucd, l2, simt, crossbar, dram, mmu, devices"},
    {"extend: functional", NULL,
     "%s/m.yaml:1: unknown key 'extend'; did you mean 'extends'? Known at the top: name, description, harts, "
     "quantum, isa, homes, stack_hash, pages, memory, user_stack, host, accel, nucd, l2, simt, crossbar, "
     "dram, "
     "mmu, "
     "devices"},
    {"memory: 1 GiB", NULL, "%s/m.yaml:1: 'memory' is a section, not a value; its keys: base, size"},
    {"harts:\n  count: 1\n", NULL, "%s/m.yaml:1: harts takes one value, not a mapping"},
    {"extends: {a: b}\n", NULL, "%s/m.yaml:1: extends takes one value, not a mapping"},
    {"harts: [1, 2]\n", NULL, "%s/m.yaml:1: 'harts' takes one value, not a list"},
    {"? [a]\n: 1\n", NULL, "%s/m.yaml:1: a key must be a name, not a mapping or a list"},
    {"harts: 1\nharts: 1\n", NULL, "%s/m.yaml:2: 'harts' is set twice, here and on line 1"},
    {"memory: {size: 1 GiB}\nmemory: {base: 0}\n", NULL,
     "%s/m.yaml:2: 'memory' is set twice, here and on line 1"},
    {"harts: &one 1\n", NULL,
     "%s/m.yaml:1: anchors, aliases and tags (& * !) are not allowed in a machine description"},
    {"harts: 1\nhost: *one\n", NULL,
     "%s/m.yaml:2: anchors, aliases and tags (& * !) are not allowed in a machine description"},
    {"harts: !!int 1\n", NULL,
     "%s/m.yaml:1: anchors, aliases and tags (& * !) are not allowed in a machine description"},
    {"harts: 1\n---\nharts: 1\n", NULL,
     "%s/m.yaml:2: a second document begins; a file holds one machine description"},
    {"harts: 1\n  memory: 2\n", NULL,
     "%s/m.yaml:2: not YAML: mapping values are not allowed in this context"},
    {"name: \"a\\0b\"\n", NULL, "%s/m.yaml:1: 'name': the value contains a NUL character"},
    {"name: \"a\\nb\"\n", NULL,
     "%s/m.yaml:1: name: 'a?b' is not allowed; allowed: one line of UTF-8 text of at most 255 bytes"},
    {"name: a\nmemory:\n  size:\n", NULL,
     "%s/m.yaml:3: memory.size: has no value; allowed: 128 KiB to 1 TiB, a multiple of 4 KiB"},
    {"memory:\n  size: 4096\n", NULL,
     "%s/m.yaml:2: memory.size: '4096' has no unit; write a size such as 32 KiB (units: B, KiB, MiB, GiB, "
     "TiB)"},
    {"memory:\n  size: 2 TiB\n", NULL,
     "%s/m.yaml:2: memory.size: '2 TiB' is not allowed; allowed: 128 KiB to 1 TiB, a multiple of 4 KiB"},
    {"memory:\n  size: 4097 B\n", NULL,
     "%s/m.yaml:2: memory.size: '4097 B' is not allowed; allowed: 128 KiB to 1 TiB, a multiple of 4 KiB"},
    {"harts: 513\ndevices: {clint: {}}\n", NULL,
     "%s/m.yaml:1: harts: '513' is not allowed; allowed: 1 to 512"},
    {"harts: 2\n", NULL,
     "%s/m.yaml:1: harts: 2 is not allowed; allowed: 1, or more with devices.clint, whose software "
     "interrupts connect the harts"},
    {"devices:\n  uart:\n    irk: 3\n", NULL,
     "%s/m.yaml:3: unknown key 'devices.uart.irk'; did you mean 'devices.uart.irq'? Known in devices.uart: "
     "base, irq"},
    {"devices:\n  uart: 0x10000000\n", NULL,
     "%s/m.yaml:2: 'devices.uart' is a section, not a value; its keys: base, irq"},
    {"devices: {uart: {base: 0x10000001}}\n", NULL,
     "%s/m.yaml:1: devices.uart.base: '0x10000001' is not allowed; allowed: 0x0 to 0xfffffffffff000, a "
     "multiple of 0x1000"},
    {"devices: {rtc: {irq: 97}}\n", NULL,
     "%s/m.yaml:1: devices.rtc.irq: '97' is not allowed; allowed: 1 to 96"},
    {"mmu:\n  ad: hardwired\n", NULL,
     "%s/m.yaml:2: mmu.ad: 'hardwired' is not allowed; allowed: hardware, fault; did you mean 'hardware'?"},
    {"host:\n  core: functionel\n", NULL,
     "%s/m.yaml:2: host.core: 'functionel' is not allowed; allowed: functional, inorder, ooo; did you mean "
     "'functional'?"},
    {"host:\n  core: x\n", NULL,
     "%s/m.yaml:2: host.core: 'x' is not allowed; allowed: functional, inorder, ooo"},
    {"memory:\n  base: 0xfffffffffff000\n  size: 128 KiB\n", NULL,
     "%s/m.yaml:3: memory.size: 128 KiB from memory.base 0xfffffffffff000 reaches beyond the last physical "
     "address, 2^56-1"},
    {"memory:\n  size: 1 MiB\n", NULL,
     "%s/m.yaml:2: memory.size: 1 MiB is not allowed; allowed: more than user_stack.size, which is 8 MiB "
     "(default: the default of Linux)"},
    {"harts: 1\nextends: nowhere.yaml\n", NULL,
     "%s/m.yaml:2: extends: %s/nowhere.yaml: cannot be opened: No such file or directory"},
    {"extends: shipped/\n", NULL,
     "%s/m.yaml:1: extends: %s/shipped/: not a regular file; a machine description is a YAML file"},
    {"extends:\n", NULL,
     "%s/m.yaml:1: extends: the name of the machine is empty; write a shipped machine's name or a path"},
    {"extends: functionl\n", NULL,
     "%s/m.yaml:1: extends: unknown machine 'functionl'; did you mean 'functional'? Shipped machines: "
     "functional, "
     "other (a path contains a '/' or ends in .yaml)"},
    {"extends: zzz\n", NULL,
     "%s/m.yaml:1: extends: unknown machine 'zzz'; shipped machines: functional, other (a path contains a "
     "'/' or "
     "ends in .yaml)"},
    {"extends: m.yaml\n", NULL, "%s/m.yaml:1: extends: %s/m.yaml extends itself"},
    {"extends: \"a/\\e[31m.yaml\"\n", NULL,
     "%s/m.yaml:1: extends: the name of the machine, 'a/?[31m.yaml', has characters that are not printable"},
    {"extends: other\n", NULL,
     "%s/shipped/other.yaml:2: extends: %s/shipped/../m.yaml extends itself through other files"},
    {"{}", "memory.size", "--set 'memory.size': write NAME=VALUE, such as --set memory.size=2GiB"},
    {"{}", "memory.siz=1",
     "--set: unknown key 'memory.siz'; did you mean 'memory.size'? Known in memory: base, size"},
    {"{}", "user_stak.size=1 MiB",
     "--set: unknown key 'user_stak.size'; did you mean 'user_stack.size'? Known at the top: name, "
     "description, "
     "harts, "
     "quantum, isa, homes, stack_hash, pages, memory, user_stack, host, accel, nucd, l2, simt, crossbar, "
     "dram, "
     "mmu, "
     "devices"},
    {"{}", "memory=1", "--set: 'memory' is a section, not a value; its keys: base, size"},
    {"{}", "extends=functional", "--set: extends belongs in a machine file; choose a machine with --machine"},
    {"{}", "memory.size=32KB",
     "--set: memory.size: '32KB' has the unknown unit 'KB' (did you mean 'KiB'?); write a size such as 32 "
     "KiB "
     "(units: B, KiB, MiB, GiB, TiB)"},
    {"{}",
     "memory.size=", "--set: memory.size: has no value; allowed: 128 KiB to 1 TiB, a multiple of 4 KiB"},
    {"{}", "=",
     "--set '=': unknown key ''; known at the top: name, description, harts, quantum, isa, homes, "
     "stack_hash, "
     "pages, "
     "memory, "
     "user_stack, "
     "host, "
     "accel, nucd, l2, simt, crossbar, dram, mmu, devices"},
    {"{}", "name=a\tb",
     "--set: name: 'a?b' is not allowed; allowed: one line of UTF-8 text of at most 255 bytes"},
    {"{}", "name=\xc0\x80",
     "--set: name: '?\?' is not allowed; allowed: one line of UTF-8 text of at most 255 bytes"},
};

/* The message with every %s replaced by the folder's path. */
static void expected(const struct folder *folder, const char *message, char *to, size_t size)
{
    *to = '\0';
    for (const char *part; (part = strstr(message, "%s")) != NULL; message = part + 2) {
        size_t used = strlen(to);
        (void)snprintf(to + used, size - used, "%.*s%s", (int)(part - message), message, folder->path);
    }
    size_t used = strlen(to);
    (void)snprintf(to + used, size - used, "%s", message);
}

static void each_fault_has_its_message(void **state)
{
    const struct folder *folder = *state;
    write_text(folder, "shipped/functional.yaml", "{}\n");
    write_text(folder, "shipped/other.yaml", "harts: 1\nextends: ../m.yaml\n");
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct machine_config config;
        struct error err = {.text = ""};
        char message[1024];
        write_text(folder, "m.yaml", faults[i].text);
        assert_false(load(folder, &config, "m.yaml", faults[i].set, &err));
        expected(folder, faults[i].message, message, sizeof message);
        assert_string_equal(err.text, message);
    }
}

static void chains_have_an_end(void **state)
{
    const struct folder *folder = *state;
    char name[32], text[64];
    struct machine_config config;
    struct error err = {.text = ""};
    for (int i = 0; i < TREE_CHAIN + 1; i++) {
        (void)snprintf(name, sizeof name, "m%d.yaml", i);
        (void)snprintf(text, sizeof text, i ? "extends: m%d.yaml\n" : "harts: 1\n", i - 1);
        write_text(folder, name, text);
    }
    (void)snprintf(name, sizeof name, "m%d.yaml", TREE_CHAIN - 1);
    assert_loads(folder, &config, name, NULL);
    machine_free(&config);
    (void)snprintf(name, sizeof name, "m%d.yaml", TREE_CHAIN);
    assert_false(load(folder, &config, name, NULL, &err));
    assert_non_null(strstr(err.text, "m1.yaml:1: extends: a machine may consist of at most 16 files"));
}

static void a_name_is_looked_up_among_the_shipped(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    struct error err = {.text = ""};
    assert_false(machine_load(&config, "functional", folder->shipped, NULL, 0, &err));
    assert_non_null(strstr(err.text, "unknown machine 'functional': no machines are installed in "));
    assert_false(machine_load(&config, "", folder->shipped, NULL, 0, &err));
    assert_string_equal(err.text,
                        "the name of the machine is empty; write a shipped machine's name or a path");
    assert_false(machine_load(&config, "./functional", folder->shipped, NULL, 0, &err));
    assert_string_equal(err.text, "./functional: cannot be opened: No such file or directory");
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_tables_is_sound),
        cmocka_unit_test(every_default_of_a_role_is_sound),
        FOLDER_TEST(the_defaults_are_the_documented_ones),
        FOLDER_TEST(files_extend_files_and_shipped_machines),
        FOLDER_TEST(lists_shipped_machines_in_order),
        cmocka_unit_test(every_shipped_machine_is_sound),
        FOLDER_TEST(each_fault_has_its_message),
        FOLDER_TEST(chains_have_an_end),
        FOLDER_TEST(a_name_is_looked_up_among_the_shipped),
    };
    return cmocka_run_group_tests_name("machine descriptions", tests, NULL, NULL);
}
