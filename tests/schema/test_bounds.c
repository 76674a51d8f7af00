/* Descriptions that multiply or mutate: each ends in a message or a machine, soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "tests/isa/random.h"
#include "tests/schema/load.h"

/* The description must be refused within seconds, with one printable line that contains a text. */
static void assert_bounded(const struct folder *folder, const char *text, const char *wanted)
{
    struct machine_config config;
    struct error err;
    clock_t begin = clock();
    assert_false(try_load(folder, &config, text, NULL, &err));
    assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
    if (!strstr(err.text, wanted) || !strstr(err.text, "/m.yaml:"))
        fail_msg("%s", err.text);
    for (const char *c = err.text; *c; c++)
        assert_true(*c >= ' ' && *c <= '~');
}

static void copies_of_copies_end(void **state)
{
    assert_bounded(*state, "a: {kind: group, count: 1000, b: {kind: group, count: 1000, dram: {}}}\n",
                   ":1: a.32.b: a machine may have at most 65536 parts");
    assert_bounded(*state, "a: {kind: group, count: 1000000}\n", ":1: a.count: '1000000' is not allowed");
    assert_bounded(*state, "a: {kind: group, count: 18446744073709551616}\n", ":1: a.count: ");
    assert_bounded(*state,
                   "accel: {count: 64}\nb: {kind: group, count: 256, accel: {kind: core, count: 1024}}\n",
                   "a machine may have at most 65536 parts");
}

/* Groups nested as deep as YAML allows, and deeper. */
static void depth_ends(void **state)
{
    for (unsigned depth = 1; depth < 40; depth++) {
        struct machine_config config;
        struct error err;
        char text[2048] = "";
        for (unsigned i = 0; i < depth; i++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "a: {kind: group,\n ");
        for (unsigned i = 0; i < depth; i++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "}");
        bool loaded = try_load(*state, &config, text, NULL, &err);
        if (loaded)
            machine_free(&config);
        assert_true(loaded == (depth < 16));
        if (!loaded)
            assert_non_null(strstr(err.text, depth < 32 ? "parts are nested more than 16 deep"
                                                        : "mappings are nested more than 32 deep"));
        if (!loaded) /* the 16th part and the 32nd mapping, each on a line of its own; the file is a mapping, too */
            assert_non_null(strstr(err.text, depth < 32 ? ".yaml:16: a.a.a.a" : ".yaml:32: mappings"));
    }
}

static void templates_of_templates_end(void **state)
{
    char *bytes;
    size_t size;
    FILE *out = open_memstream(&bytes, &size);
    (void)fputs("templates:\n", out);
    for (unsigned i = 0; i < 6; i++) {
        (void)fprintf(out, "  t%u:\n    kind: group\n", i);
        for (unsigned j = 0; j < 30; j++)
            (void)fprintf(out, "    x%u: {template: t%u}\n", j, i + 1);
    }
    (void)fputs("  t6: {kind: group}\na: {template: t0}\n", out);
    (void)fclose(out);
    assert_bounded(*state, bytes, "a machine may have at most 65536 settings");
    free(bytes);
}

static void very_many_keys_end(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        char *bytes;
        size_t size;
        FILE *out = open_memstream(&bytes, &size);
        for (unsigned j = 0; j < 40000; j++)
            (void)fprintf(out, i ? "k%u: {kind: group}\n" : "k%u: 1\n", j);
        (void)fclose(out);
        assert_bounded(*state, bytes, ":4097: a mapping may have at most 4096 keys");
        free(bytes);
    }
}

/* Each link is joined to the same two parts; each crossbar to all of the memories. */
static void very_many_wires_end(void **state)
{
    struct machine_config config;
    clock_t begin = clock();
    must_load(
        *state, &config,
        "host: {core: inorder}\ncrossbar: {}\nx: {kind: link, count: 20000, from: crossbar, to: dram}\n",
        NULL);
    machine_free(&config);
    must_load(*state, &config, "host: {core: inorder}\nx: {kind: link, count: 20000, to: 'x[(i+1)%20000]'}\n",
              NULL);
    machine_free(&config);
    assert_true(clock() - begin < 20 * CLOCKS_PER_SEC);
    assert_bounded(*state,
                   "host: {core: inorder}\na: {kind: crossbar, count: 10000, out: 'b[*].in'}\n"
                   "b: {kind: dram, count: 10000}\n",
                   ":2: a.104.out: a machine may have at most 1048576 connections");
    assert_bounded(*state,
                   "host: {core: inorder}\na: {kind: crossbar, out: 'b.* b.* b.*'}\n"
                   "b: {kind: dram, count: 30000}\n",
                   ":2: a.out: the reference names more than 65536 parts");
}

/* Many parts and many settings at once: each looks at each. */
static void parts_times_settings_end(void **state)
{
    char *bytes;
    size_t size;
    FILE *out = open_memstream(&bytes, &size);
    (void)fputs("a: {kind: group, count: 60000}\n", out);
    for (unsigned i = 0; i < 4000; i++)
        (void)fprintf(out, "a.%u.dram: {channels: 4}\n", i);
    (void)fclose(out);
    assert_bounded(*state, bytes, "the machine is too large: 6");
    free(bytes);
}

static void long_names_end(void **state)
{
    char name[1000], text[2100];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)snprintf(text, sizeof text, "%s: {kind: group}\n", name);
    assert_bounded(*state, text, " is too long");
    (void)snprintf(text, sizeof text, "a: {kind: %s}\n", name);
    assert_bounded(*state, text, "unknown kind ");
    (void)snprintf(text, sizeof text, "a: {template: %s}\n", name);
    assert_bounded(*state, text, "unknown template ");
    (void)snprintf(text, sizeof text, "accel: {count: %s}\n", name);
    assert_bounded(*state, text, "accel.count: ");
    (void)snprintf(text, sizeof text, "host: {%.251s: 1}\n", name);
    assert_bounded(*state, text, " is too long");
    (void)snprintf(text, sizeof text, "%.200s: {kind: group, %.54s: 1}\n", name, name);
    assert_bounded(*state, text, "unknown key '");
    for (unsigned length = 240; length < 256; length++) {
        struct machine_config config;
        struct error err;
        (void)snprintf(text, sizeof text, "%.*s: {kind: group, count: 2, l2: {}}\n", (int)length, name);
        if (try_load(*state, &config, text, NULL, &err)) {
            char *once = shown(&config);
            free(once);
            machine_free(&config);
        }
    }
    char set[2100];
    const char *sets[] = {set, NULL};
    struct machine_config config;
    struct error err;
    (void)snprintf(set, sizeof set, "%s.%s=1", name, name);
    assert_false(try_load(*state, &config, "{}\n", sets, &err));
}

/* Machines with timing, whose ports and homes are checked when they load: copies and templates, and a tree of stacks
 * with links. */
static const char *const good[] = {
    "templates: {t: {kind: group, dram: {channels: 2}}}\n"
    "memory: {size: 64 MiB}\nhost: {core: ooo, rob: 64}\n"
    "accel: {count: 3, 1: {l1d.ways: 2}}\ncrossbar: {}\nnucd: none\n"
    "devices: {clint: {}}\n'*.l1i.ways': 2\nzoo: {template: t, count: 2}\n"
    "zoo.1.dram: none\nzoo.dram: none\n",
    "memory: {size: 1 GiB}\nhost: {core: inorder}\ndram: none\ncrossbar: {out: link.*}\n"
    "stack: {kind: group, count: 2, crossbar: {}, dram: {standard: hmc_tom}}\n"
    "link: {kind: link, count: 2, to: 'stack[i].crossbar.in[0]'}\n"
    "peer: {kind: link, count: 2, from: 'stack[i].crossbar', to: 'stack[(i+1)%2].crossbar'}\n",
};

/* Copies, drops, swaps and changes one or two places of a text. */
static void mutate(char text[2048], uint64_t *random)
{
    static const char *const words[] = {"none",
                                        "auto",
                                        "default",
                                        "count",
                                        "kind",
                                        "template",
                                        "*",
                                        "0",
                                        "group",
                                        "{}",
                                        "{",
                                        "}",
                                        ": ",
                                        ".",
                                        "-1",
                                        "65535",
                                        "core",
                                        "simt",
                                        "\n",
                                        "\xff",
                                        "zoo",
                                        "dram",
                                        "1024",
                                        "crossbar",
                                        "link",
                                        "[i]",
                                        "[*]",
                                        "[i/2]",
                                        "in[1]",
                                        "out",
                                        "../",
                                        "/",
                                        "*.dram",
                                        "memory: l2",
                                        "[9]",
                                        "l2",
                                        "from: ",
                                        "to: host",
                                        "simt: ",
                                        "stack[1]",
                                        "%1-2)",
                                        "homes: R14",
                                        "extends: m.yaml\n"};
    for (uint64_t edits = 1 + (random_step(random) >> 60 & 1); edits > 0; edits--) {
        uint64_t bits = random_step(random);
        size_t length = strlen(text), at = (size_t)(bits >> 32) % length, cut = (size_t)(bits >> 20) % 8;
        const char *word = bits >> 16 & 1 ? words[(bits >> 8) % (sizeof words / sizeof *words)] : "";
        char changed[2048];
        cut = cut > length - at ? length - at : cut;
        (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)at, text, word, text + at + cut);
        strcpy(text, changed);
    }
}

static void random_mutations_are_survived(void **state)
{
    const struct folder *folder = *state;
    uint64_t random = 7;
    unsigned timed = 0, refused = 0, joined = 0;
    struct machine_config whole;
    for (size_t i = 0; i < 2; i++) {
        must_load(folder, &whole, good[i], NULL);
        machine_free(&whole);
    }
    const unsigned count = getenv("ALL") ? 6000 : 2000;
    for (unsigned i = 0; i < count; i++) {
        char text[2048];
        struct machine_config config;
        struct error err;
        strcpy(text, good[i % 2]);
        mutate(text, &random);
        if (try_load(folder, &config, text, NULL, &err)) {
            char *once = shown(&config);
            free(once);
            timed += machine_timed(&config);
            machine_free(&config);
            continue;
        }
        refused++;
        joined +=
            strstr(err.text, "no such part") || strstr(err.text, "partner") || strstr(err.text, " port");
        for (const char *c = err.text; *c; c++)
            assert_true(*c >= ' ' && *c <= '~');
        if (strncmp(err.text, folder->path, strlen(folder->path)) != 0 || !strstr(err.text, "m.yaml:"))
            fail_msg("%s\n%s", err.text, text);
    }
    assert_true(timed > count / 40 && refused > count / 6 && joined > count / 30); /* all do happen */
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(copies_of_copies_end),          FOLDER_TEST(depth_ends),
        FOLDER_TEST(templates_of_templates_end),    FOLDER_TEST(very_many_keys_end),
        FOLDER_TEST(parts_times_settings_end),      FOLDER_TEST(long_names_end),
        FOLDER_TEST(random_mutations_are_survived), FOLDER_TEST(very_many_wires_end),
    };
    return cmocka_run_group_tests_name("descriptions without bounds", tests, NULL, NULL);
}
