/* tree_show(): what it prints can be loaded again and means the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/schema/document.h"
#include "emu/schema/machine_list.h"
#include "tests/isa/random.h"
#include "tests/schema/load.h"

/* Loads folder/m.yaml; shows it; stores the text as folder/m.yaml. */
static void load_and_show(const struct folder *folder, struct machine_config *config, const char *const *sets,
                          size_t count, char **text)
{
    char path[256];
    size_t size;
    struct error err = {.text = ""};
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    if (!machine_load(config, path, folder->shipped, sets, count, &err))
        fail_msg("%s", err.text);
    FILE *out = open_memstream(text, &size);
    machine_show(config, out);
    (void)fclose(out);
    folder_write(folder, "m.yaml", *text, size);
}

static void assert_same_values(const struct machine_config *a, const struct machine_config *b)
{
    const struct instance *x = tree_next(a->tree, NULL), *y = tree_next(b->tree, NULL);
    for (; x && y; x = tree_next(a->tree, x), y = tree_next(b->tree, y)) {
        assert_string_equal(x->path, y->path);
        assert_ptr_equal(x->kind, y->kind);
        assert_int_equal(x->index, y->index);
        assert_int_equal(x->copies, y->copies);
        for (size_t i = 0; x->kind->ports && x->kind->ports[i].name; i++) {
            const char *one = x->references[i], *two = y->references[i];
            assert_string_equal(one ? one : "(none)", two ? two : "(none)");
        }
        for (size_t i = 0; i < x->kind->field_count; i++) {
            char one[FIELD_VALUE], two[FIELD_VALUE];
            field_format(&x->kind->fields[i], x->config, one);
            field_format(&x->kind->fields[i], y->config, two);
            assert_string_equal(one, two);
        }
    }
    assert_true(!x && !y);
}

static void round_trip(const struct folder *folder, const char *text, const char *const *sets, size_t count)
{
    struct machine_config first, second, third;
    char *once, *again, *third_time;
    folder_write(folder, "m.yaml", text, strlen(text));
    load_and_show(folder, &first, sets, count, &once);
    load_and_show(folder, &second, NULL, 0, &again);
    load_and_show(folder, &third, NULL, 0, &third_time);
    assert_same_values(&first, &second);
    assert_string_equal(again, third_time); /* also where the values came from: every key's line by now */
    free(once);
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
               "host: {core: inorder}\naccel: {count: 4}\ncrossbar: {}\n"
               "devices: {clint: {}}\ndram: {standard: hbm1, tRP: 15.5 ns}\n",
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

    char longest[5 + ROOT_TEXT] = "name=";
    const char *set = longest;
    memset(longest + 5, '"', ROOT_TEXT - 1);
    round_trip(*state, "{}", &set, 1);
}

static void numbers_round_trip_at_their_limits(void **state)
{
    static const char everything[] =
        "accel: {}\nnucd: {}\nsimt: {}\ncrossbar: {}\nl2: {}\ndram: {}\n"
        "devices: {rom: {}, finisher: {}, rtc: {}, clint: {}, plic: {}, uart: {}}\n";
    struct machine_config all;
    char *text;
    unsigned walked = 0;
    folder_write(*state, "m.yaml", everything, strlen(everything));
    load_and_show(*state, &all, NULL, 0, &text);
    for (const struct instance *i = tree_next(all.tree, NULL); i; i = tree_next(all.tree, i)) {
        for (size_t j = 0; j < i->kind->field_count; j++) {
            const struct part_field *field = &i->kind->fields[j];
            const char *limits[] = {field->min, field->max};
            for (size_t k = 0; field->type < FIELD_BOOL && k < 2; k++) {
                char set[TREE_NAME + 64];
                const char *sets[] = {"memory.size=1 TiB", "user_stack.size=64 KiB", "memory.base=0", set};
                (void)snprintf(set, sizeof set, "%s%s%s=%s", i->path, *i->path ? "." : "", field->name,
                               limits[k]);
                if (strcmp(i->path, "memory") == 0 || strcmp(set, "harts=4096") == 0)
                    continue;
                walked++;
                if ((j + k) % 2 == 0 || getenv("ALL")) /* a limit of each field */
                    round_trip(*state, everything, sets, 4);
            }
        }
    }
    free(text);
    machine_free(&all);
    assert_true(walked > 400);
    round_trip(*state, "{memory: {base: 0xfffffffffe0000, size: 128 KiB}, user_stack: {size: 64 KiB}}", NULL,
               0);
}

static void each_key_is_explained(void **state)
{
    struct machine_config config;
    char *text;
    const char *set = "memory.size=2 GiB";
    folder_write(*state, "m.yaml", "host:\n  rob: 64\n", 16);
    load_and_show(*state, &config, &set, 1, &text);
    for (const struct instance *i = tree_next(config.tree, NULL); i; i = tree_next(config.tree, i)) {
        for (size_t j = 0; j < i->kind->field_count; j++)
            assert_non_null(strstr(text, i->kind->fields[j].explanation));
        for (const struct part_role *role = i->kind->roles; role && role->name; role++)
            assert_non_null(strstr(text, role->explanation)); /* of absent parts too */
    }
    assert_non_null(strstr(text, "\nmemory:\n"));
    assert_non_null(strstr(text, "\n  size: 2 GiB  # --set\n"));
    assert_non_null(strstr(text, "\n  size: 8 MiB  # default: the default of Linux\n"));
    assert_non_null(strstr(text, "m.yaml:2\n"));
    assert_non_null(strstr(text, "# Allowed: 128 KiB to 1 TiB, a multiple of 4 KiB; or auto.\n"));
    assert_non_null(strstr(text, "; or auto. Default: "));
    assert_non_null(strstr(text, "\ncrossbar: none\n"));
    free(text);
    machine_free(&config);
}

static const char nested[] =
    "description: two stacks\n"
    "harts: auto\n"
    "memory: {base: 0x80000000, size: 64 MiB}\n"
    "host: {core: ooo, count: 2, rob: 64, clock: 3 GHz, l1d: {size: 16 KiB, ways: 2}, predict: {btb: 512, "
    "returns: 8}}\n"
    "accel:\n"
    "  count: 4\n"
    "  clock: 800 MHz\n"
    "  3: {l1d: {size: 8 KiB, ways: 1}, store_buffer: 4}\n"
    "  l1i: {size: 8 KiB}\n"
    "crossbar: {width: 16 B}\n"
    "l2: {size: 512 KiB}\n"
    "dram: {standard: hbm1, channels: 4, tRP: 15 ns}\n"
    "devices: {clint: {}, rtc: {irq: 3}}\n"
    "zoo: {kind: group, count: 2, xbar: {kind: crossbar, latency: 3}, bank: {kind: dram, standard: "
    "hmc_tom}}\n"
    "ape: {kind: group, simt: {count: 2, warps: 24, l2: none}, dram: {standard: gddr5}}\n";

/* Copies that differ, groups and parts of their own names. */
static void nested_machines_round_trip(void **state)
{
    round_trip(*state, nested, NULL, 0);
    round_trip(*state, nested,
               SETS("zoo.1.xbar.width=8 B", "zoo.0.bank.channels=6", "host.1.core=inorder",
                    "accel.2.tlb.l2_entries=0", "accel.0.width=1", "zoo.1.l2=default"),
               6);
    round_trip(*state, nested, SETS("accel=none", "zoo.count=0", "ape.simt=none"), 3);
    round_trip(*state, nested, SETS("accel.count=4", "zoo.count=1"), 2);
}

/* Copies with different parts, counts and references. */
static void different_copies_round_trip(void **state)
{
    static const char base[] = "host: {core: inorder}\n"
                               "devices: {clint: {}}\n"
                               "crossbar: {}\n"
                               "dram: {}\n"
                               "pile:\n"
                               "  kind: group\n"
                               "  count: 4\n"
                               "  crossbar: {}\n"
                               "  simt: {count: 1, memory: crossbar, l2: {}}\n"
                               "  dram: {}\n";
    static const char *const sets[][8] = {
        /* Parts that only some copies have. */
        {"pile.0.x.kind=group"},
        {"pile.0.x.kind=group", "pile.0.x.dram=default", "pile.0.x.count=2"},
        {"pile.2.x.kind=group", "pile.2.x.dram=default"},
        {"pile.y.kind=group", "pile.y.dram=default", "pile.1.y=none"},
        {"pile.y.kind=group", "pile.y.z.kind=group", "pile.0.y.z=none", "pile.3.y=none"},
        {"pile.y.kind=group", "pile.y.z.kind=group", "pile.1.y.z=none", "pile.1.dram=none"},
        {"pile.0.simt.l2=none", "pile.1.crossbar=none", "pile.1.simt.memory=dram", "pile.3.simt=none"},
        /* Counts of 0 and others. */
        {"pile.x.kind=group", "pile.x.y.kind=group", "pile.3.x.y.count=0"},
        {"pile.x.kind=group", "pile.x.y.kind=group", "pile.0.x.y.count=0"},
        {"pile.x.kind=group", "pile.x.count=2", "pile.1.x.count=3", "pile.1.x.2.dram=default",
         "pile.0.x.1.dram=default"},
        {"pile.x.kind=group", "pile.0.x.count=2", "pile.0.x.1.dram=default"}, /* the others have no number */
        {"pile.x.kind=group", "pile.1.x.count=1", "pile.x.y.kind=group", "pile.1.x.0.y.count=2"},
        /* References that only some copies have. */
        {"pile.0.simt.memory=crossbar"},
        {"pile.1.simt.memory=crossbar", "pile.2.simt.memory=/crossbar"},
        {"pile.0.crossbar.out=dram"},
        {"pile.x.kind=crossbar", "pile.x.count=3", "pile.0.x.1.out=dram", "pile.1.x.0.out=dram",
         "pile.x.out=auto", "pile.2.x.2.out=../dram"},
        {"pile.x.kind=crossbar", "pile.x.count=3", "pile.0.x.0.out=dram", "pile.3.x.*.out=dram",
         "pile.1.x.1.out=dram"},
        /* Kinds that differ. */
        {"pile.x.kind=group", "pile.x.dram=default", "pile.1.x.kind=dram", "pile.2.x.kind=crossbar",
         "pile.2.x.out=dram", "pile.3.x.kind=simt"},
        {"host.count=3", "host.0.memory=crossbar", "host.2.memory=dram"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        size_t count = 0;
        while (count < 8 && sets[i][count])
            count++;
        round_trip(*state, base, sets[i], count);
    }
}

/* The tests run in the repository's root folder. */
static void shipped_machines_round_trip(void **state)
{
    const struct folder *folder = *state;
    struct machine_list list;
    struct error err;
    assert_true(machine_list(&list, "emu/machine/shipped", &err));
    assert_true(list.count > 5);
    for (size_t i = 0; i < list.count; i++) {
        struct machine_config first, second;
        if (!machine_load(&first, list.names[i], "emu/machine/shipped", NULL, 0, &err))
            fail_msg("%s", err.text);
        char *text = shown(&first);
        must_load(folder, &second, text, NULL);
        assert_same_values(&first, &second);
        free(text);
        machine_free(&first);
        machine_free(&second);
    }
    machine_list_free(&list);
}

/* Appends the description with the keys of every mapping in a random order. */
static void write_shuffled(FILE *out, const struct node *mapping, unsigned depth, uint64_t *random)
{
    const struct node *members[64];
    size_t count = 0;
    for (const struct node *node = mapping->first; node; node = node->next)
        members[count++] = node;
    for (size_t i = count; i > 1; i--) {
        random_step(random);
        size_t other = (size_t)(*random >> 33) % i;
        const struct node *swapped = members[i - 1];
        members[i - 1] = members[other];
        members[other] = swapped;
    }
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%*s\"%s\":", (int)(2 * depth), "", members[i]->name);
        if (members[i]->text)
            (void)fprintf(out, " \"%s\"\n", members[i]->text);
        else if (!members[i]->first)
            (void)fputs(" {}\n", out);
        else {
            (void)fputc('\n', out);
            write_shuffled(out, members[i], depth + 1, random);
        }
    }
}

/* Replaces the numbers of lines ("m.yaml:12") by nothing. */
static void drop_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        *to++ = *from++;
        if (to - text > 6 && strncmp(to - 6, ".yaml:", 6) == 0)
            from += strspn(from, "0123456789");
    }
    *to = '\0';
}

static struct node *read_nested(const struct folder *folder)
{
    char path[256];
    struct error err;
    folder_write(folder, "nested.yaml", nested, sizeof nested - 1);
    (void)snprintf(path, sizeof path, "%s/nested.yaml", folder->path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct node *document = document_read(fileno(file), path, &err);
    (void)fclose(file);
    assert_non_null(document);
    return document;
}

static void the_order_of_keys_means_nothing(void **state)
{
    struct node *document = read_nested(*state);
    struct machine_config config;
    uint64_t random = 2024;
    must_load(*state, &config, nested, NULL);
    char *wanted = shown(&config);
    drop_lines(wanted);
    machine_free(&config);
    for (unsigned i = 0; i < 100; i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        write_shuffled(out, document, 0, &random);
        (void)fclose(out);
        must_load(*state, &config, text, NULL);
        char *is = shown(&config);
        drop_lines(is);
        assert_string_equal(is, wanted);
        free(is);
        free(text);
        machine_free(&config);
    }
    free(wanted);
    node_free(document);
}

/* Results must not depend on where croft is installed. */
static void shipped_files_are_named_without_their_folder(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    struct error err;
    char *text;
    size_t size;
    folder_write(folder, "shipped/base.yaml", "harts: 1\n", 9);
    assert_true(machine_load(&config, "base", folder->shipped, NULL, 0, &err));
    FILE *out = open_memstream(&text, &size);
    machine_show(&config, out);
    (void)fclose(out);
    assert_non_null(strstr(text, "\nharts: 1  # base.yaml:1\n"));
    assert_null(strstr(text, folder->path));
    free(text);
    machine_free(&config);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(nested_machines_round_trip),  FOLDER_TEST(different_copies_round_trip),
        FOLDER_TEST(shipped_machines_round_trip), FOLDER_TEST(the_order_of_keys_means_nothing),
        FOLDER_TEST(plain_machines_round_trip),   FOLDER_TEST(timed_machines_round_trip),
        FOLDER_TEST(awkward_texts_round_trip),    FOLDER_TEST(numbers_round_trip_at_their_limits),
        FOLDER_TEST(each_key_is_explained),       FOLDER_TEST(shipped_files_are_named_without_their_folder),
    };
    return cmocka_run_group_tests_name("croft show", tests, NULL, NULL);
}
