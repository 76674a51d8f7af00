/* Messages about --set: they name the key that the user set, and the keys that the machine has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/schema/load.h"

#define TIMED "host: {core: inorder}\n"

/* Asserts that the message begins as wanted; "%s" stands for the folder's path. */
static void assert_message(const struct folder *folder, const char *text, const char *const *sets,
                           const char *wanted)
{
    struct machine_config config;
    struct error err;
    char begin[1024];
    (void)snprintf(begin, sizeof begin, wanted, folder->path);
    assert_false(try_load(folder, &config, text, sets, &err));
    if (strncmp(err.text, begin, strlen(begin)) != 0)
        fail_msg("%s\nbegins otherwise than\n%s", err.text, begin);
}

static const char stacks[] =
    TIMED "stack: {kind: group, count: 2, dram: {channels: 2}}\ncrossbar: {out: stack.*.dram}\n"
          "link: {kind: link, count: 2, from: crossbar, to: 'stack[i].dram'}\n";

static void names_what_was_set(void **state)
{
    const struct folder *folder = *state;
    assert_message(folder, stacks, SETS("stack.count=1"), "--set 'stack.count=1': %s/m.yaml:4: link.1.to: ");
    assert_message(folder, TIMED "dram: {channels: 2}\n",
                   SETS("quantum=5000", "dram.rows=1", "host.l1d.size=16 KiB"),
                   "--set 'dram.rows=1': default: memory.size: 1 GiB is not allowed");
    assert_message(folder, stacks, SETS("stack.count=1", "stack.count=1"),
                   "%s/m.yaml:4: link.1.to: "); /* either setting is enough */
}

static void finds_the_one_of_several(void **state)
{
    const struct folder *folder = *state;
    /* Each is wrong; the message is about the first one. */
    assert_message(folder, stacks, SETS("stack.count=1", "dram=none", "host.rob=1 KiB"), "--set: host.rob: ");
    /* What the file has wrong is due to no setting. */
    assert_message(folder, TIMED "link: {kind: link, from: crosbar, to: dram}\n", SETS("quantum=5000"),
                   "%s/m.yaml:2: link.from: ");
}

static void leaves_messages_that_name_the_key(void **state)
{
    const struct folder *folder = *state;
    assert_message(folder, TIMED, SETS("host.l1d.size=3 KiB"), "--set: host.l1d.size: ");
    assert_message(folder, TIMED, SETS("host.l1d.sise=3 KiB"),
                   "--set: unknown key 'host.l1d.sise'; did you mean");
}

static void finds_parts_elsewhere(void **state)
{
    const struct folder *folder = *state;
    assert_message(
        folder, stacks, SETS("dram=none", "dram.channels=4"),
        "--set 'dram.channels=4': the machine has no dram; did you mean 'stack.*.dram.channels'? Otherwise "
        "dram=default adds one");
    assert_message(
        folder, stacks, SETS("dram=none", "dram.tRCD=4 ns"),
        "--set 'dram.tRCD=4 ns': the machine has no dram; did you mean 'stack.*.dram.tRCDRD'? Otherwise ");
    assert_message(
        folder, TIMED "near: {kind: group, dram: {}}\ncrossbar: {out: near.dram}\ndram: none\n",
        SETS("dram.tCL=4 ns"),
        "--set 'dram.tCL=4 ns': the machine has no dram; did you mean 'near.dram.tCL'? Otherwise ");
}

static void suggests_the_whole_name(void **state)
{
    const struct folder *folder = *state;
    assert_message(folder, TIMED "dram: {}\n", SETS("dram.tRCD=4 ns"),
                   "--set: unknown key 'dram.tRCD'; did you mean 'dram.tRCDRD'? ");
}

static void takes_one_of_several_names(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char *const either[] = {"dram.channels|stack.*.dram.channels=4", NULL};
    must_load(folder, &config, stacks, either);
    assert_value(&config, "stack.0.dram", "channels", "4");
    assert_value(&config, "stack.1.dram", "channels", "4");
    machine_free(&config);
    must_load(folder, &config, TIMED "dram: {channels: 2}\n", either);
    assert_value(&config, "dram", "channels", "4");
    machine_free(&config);
    assert_message(
        folder, TIMED "dram: {}\n", SETS("dram.chanels|x.channels=4"),
        "--set 'dram.chanels|x.channels=4': unknown key 'dram.chanels'; did you mean 'dram.channels'? ");
    assert_message(folder, TIMED "dram: {}\n", SETS("dram.channels|=4"),
                   "--set 'dram.channels|=4': a name before or behind '|' is missing");
    assert_message(folder, TIMED "dram: {}\n", SETS("x.rows|dram.channels=0"), "--set");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_was_set),
        cmocka_unit_test(finds_the_one_of_several),
        cmocka_unit_test(leaves_messages_that_name_the_key),
        cmocka_unit_test(finds_parts_elsewhere),
        cmocka_unit_test(suggests_the_whole_name),
        cmocka_unit_test(takes_one_of_several_names),
    };
    return cmocka_run_group_tests_name("blame", tests, folder_make, folder_remove);
}
