/* Descriptions that multiply or mutate: each ends in a message or a machine, soon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

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
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "a: {kind: group, ");
        for (unsigned i = 0; i < depth; i++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "}");
        bool loaded = try_load(*state, &config, text, NULL, &err);
        if (loaded)
            machine_free(&config);
        assert_true(loaded == (depth < 16));
        if (!loaded)
            assert_non_null(strstr(err.text, depth < 32 ? "parts are nested more than 16 deep"
                                                        : "mappings are nested more than 32 deep"));
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

static const char good[] = "templates: {t: {kind: group, dram: {channels: 2}}}\n"
                           "memory: {size: 64 MiB}\nhost: {core: ooo, rob: 64}\n"
                           "accel: {count: 3, 1: {l1d.ways: 2}}\ncrossbar: {}\nnucd: none\n"
                           "devices: {clint: {}}\n'*.l1i.ways': 2\nzoo: {template: t, count: 2}\n"
                           "zoo.1.dram: none\n";

/* Copies, drops, swaps and changes of bytes and words. */
static void random_mutations_are_survived(void **state)
{
    static const char *const words[] = {
        "none", "auto", "default", "count", "kind", "template", "*",    "0",    "group", "{}",
        "{",    "}",    ": ",      ".",     "-1",   "65535",    "core", "simt", "\n",    "extends: m.yaml\n",
        "\xff", "zoo",  "dram",    "1024"};
    uint64_t random = 7;
    unsigned loaded = 0, refused = 0;
    for (unsigned i = 0; i < 3000; i++) {
        char text[2048];
        struct machine_config config;
        struct error err;
        strcpy(text, good);
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        for (unsigned edits = 1 + (random >> 60 & 1); edits > 0; edits--) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t length = strlen(text), at = (size_t)(random >> 32) % length,
                   cut = (size_t)(random >> 20) % 8;
            const char *word = random >> 16 & 1 ? words[(random >> 8) % (sizeof words / sizeof *words)] : "";
            char changed[2048];
            cut = cut > length - at ? length - at : cut;
            (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)at, text, word, text + at + cut);
            strcpy(text, changed);
        }
        bool fine = try_load(*state, &config, text, NULL, &err);
        *(fine ? &loaded : &refused) += 1;
        if (fine) {
            char *once = shown(&config);
            free(once);
            machine_free(&config);
        } else if (!strstr(err.text, "m.yaml") && !strstr(err.text, ": ")) {
            fail_msg("%s", err.text);
        }
    }
    assert_true(loaded > 50 && refused > 1000); /* both do happen */
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(copies_of_copies_end),          FOLDER_TEST(depth_ends),
        FOLDER_TEST(templates_of_templates_end),    FOLDER_TEST(very_many_keys_end),
        FOLDER_TEST(parts_times_settings_end),      FOLDER_TEST(long_names_end),
        FOLDER_TEST(random_mutations_are_survived),
    };
    return cmocka_run_group_tests_name("descriptions without bounds", tests, NULL, NULL);
}
