/* machine_show(): what it prints can be loaded again and means the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/machine/key.h"
#include "tests/machine/folder.h"

/* Loads folder/m.yaml; shows it; stores the text as folder/m.yaml. */
static void load_and_show(const struct folder *folder, struct machine_config *config, const char *const *sets,
                          size_t count, char **shown)
{
    char path[256];
    size_t size;
    struct error err = {.text = ""};
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    if (!machine_load(config, path, folder->shipped, sets, count, &err))
        fail_msg("%s", err.text);
    FILE *out = open_memstream(shown, &size);
    machine_show(config, out);
    (void)fclose(out);
    folder_write(folder, "m.yaml", *shown, size);
}

static void assert_same_values(const struct machine_config *a, const struct machine_config *b)
{
    for (int i = 0; i < MACHINE_KEYS; i++) {
        char one[KEY_VALUE], two[KEY_VALUE];
        key_format(&machine_keys[i], a, one);
        key_format(&machine_keys[i], b, two);
        assert_string_equal(one, two);
    }
}

static void round_trip(const struct folder *folder, const char *text, const char *const *sets, size_t count)
{
    struct machine_config first, second, third;
    char *shown, *again, *third_time;
    folder_write(folder, "m.yaml", text, strlen(text));
    load_and_show(folder, &first, sets, count, &shown);
    load_and_show(folder, &second, NULL, 0, &again);
    load_and_show(folder, &third, NULL, 0, &third_time);
    assert_same_values(&first, &second);
    assert_string_equal(again, third_time); /* also where the values came from: every key's line by now */
    free(shown);
    free(again);
    free(third_time);
    machine_free(&first);
    machine_free(&second);
    machine_free(&third);
}

static void plain_machines_round_trip(void **state)
{
    round_trip(*state, "{}", NULL, 0);
    round_trip(*state, "description: '# not: a comment'\nmemory: {base: 0x0, size: 1536 MiB}\n", NULL, 0);
}

static void timed_machines_round_trip(void **state)
{
    round_trip(*state, "host: {core: ooo, rob: 64}\n", NULL, 0);
    round_trip(*state,
               "host: {core: inorder}\naccel: {count: 4}\ncrossbar: {present: true}\n"
               "devices: {clint: {present: true}}\ndram: {standard: hbm1, tRP: 15.5 ns}\n",
               NULL, 0);
}

static void awkward_texts_round_trip(void **state)
{
    static const char *const texts[] = {
        "name=",
        "name= leading and trailing ",
        "name=\"quotes\" and \\backslashes\\",
        "name='",
        "name=~",
        "name=null",
        "name=- [a, {b: c}]",
        "name=*alias &anchor !tag",
        "name=%d%s",
        "name=gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
        "description=# x",
        "description=a: b",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        round_trip(*state, "{}", &texts[i], 1);

    char longest[5 + MACHINE_TEXT] = "name=";
    const char *set = longest;
    memset(longest + 5, '"', MACHINE_TEXT - 1);
    round_trip(*state, "{}", &set, 1);
}

static void numbers_round_trip_at_their_limits(void **state)
{
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const struct key *key = &machine_keys[i];
        const char *limits[] = {key->min, key->max};
        if (key->kind >= KEY_BOOL || strcmp(key->name, "memory.base") == 0)
            continue;
        for (size_t j = 0; j < 2; j++) {
            char set[256];
            const char *sets[] = {"memory.size=1 TiB", "stack.size=64 KiB", "memory.base=0",
                                  "devices.clint.present=true", set};
            (void)snprintf(set, sizeof set, "%s=%s", key->name, limits[j]);
            round_trip(*state, "{}", sets, 5);
        }
    }
    round_trip(*state, "{memory: {base: 0xfffffffffe0000, size: 128 KiB}, stack: {size: 64 KiB}}", NULL, 0);
}

static void each_key_is_explained(void **state)
{
    struct machine_config config;
    char *shown;
    const char *set = "memory.size=2 GiB";
    folder_write(*state, "m.yaml", "host:\n  rob: 64\n", 16);
    load_and_show(*state, &config, &set, 1, &shown);
    for (int i = 0; i < MACHINE_KEYS; i++)
        assert_non_null(strstr(shown, machine_keys[i].explanation));
    assert_non_null(strstr(shown, "\nmemory:\n"));
    assert_non_null(strstr(shown, "\n  size: 2 GiB  # --set\n"));
    assert_non_null(strstr(shown, "\n  size: 8 MiB  # default\n"));
    assert_non_null(strstr(shown, "m.yaml:2\n"));
    assert_non_null(strstr(shown, "# Allowed: 128 KiB to 1 TiB, a multiple of 4 KiB. Default: 1 GiB.\n"));
    free(shown);
    machine_free(&config);
}

/* Results must not depend on where croft is installed. */
static void shipped_files_are_named_without_their_folder(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    struct error err;
    char *shown;
    size_t size;
    folder_write(folder, "shipped/base.yaml", "harts: 1\n", 9);
    assert_true(machine_load(&config, "base", folder->shipped, NULL, 0, &err));
    FILE *out = open_memstream(&shown, &size);
    machine_show(&config, out);
    (void)fclose(out);
    assert_non_null(strstr(shown, "\nharts: 1  # base.yaml:1\n"));
    assert_null(strstr(shown, folder->path));
    free(shown);
    machine_free(&config);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(plain_machines_round_trip), FOLDER_TEST(timed_machines_round_trip),
        FOLDER_TEST(awkward_texts_round_trip),  FOLDER_TEST(numbers_round_trip_at_their_limits),
        FOLDER_TEST(each_key_is_explained),     FOLDER_TEST(shipped_files_are_named_without_their_folder),
    };
    return cmocka_run_group_tests_name("croft show", tests, NULL, NULL);
}
