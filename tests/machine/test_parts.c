/* The parts of timed machines: automatic values, what the keys make of them, and the messages of their
 * checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/dram/standard.h"
#include "emu/machine/key.h"
#include "emu/machine/parts.h"
#include "tests/machine/folder.h"

/* Structs are compared by the fields that have keys, as what is between them means nothing. */
#define SECTION(...)
#define SECTION_END(...)
#define CHOICES(...)
#define KEY(...)
#define CHOICE_KEY(section, field, ...)               SAME(field)
#define EXPANDED_AUTO_KEY(section, field, kind, ...)  SAME_##kind(field)
#define EXPANDED_AUTO_CHOICE_KEY(section, field, ...) SAME(field)
#define SAME(field)                                   assert_int_equal(is->field, wanted->field);
#define SAME_COUNT(field)                             SAME(field)
#define SAME_SIZE(field)                              SAME(field)
#define SAME_TIME(field)                              SAME(field)
#define SAME_BOOL(field)                              SAME(field)
#define SAME_ENERGY(field)                            SAME(field)
#define SAME_POWER(field)                             SAME(field)
#define SAME_TEXT(field)                              assert_string_equal(is->field, wanted->field);

static void assert_dram(const struct dram_config *is, const struct dram_config *wanted)
{
#include "emu/machine/keys/dram.def"
}

static void assert_l1(const struct cache_config *is, const struct cache_config *wanted)
{
#include "emu/machine/keys/l1.def"
    SAME(coherent)
}

static void assert_tlb(const struct tlb_config *is, const struct tlb_config *wanted)
{
#include "emu/machine/keys/tlb.def"
}

static void assert_llc(const struct llc_config *is, const struct llc_config *wanted)
{
#include "emu/machine/keys/l2.def"
}

static void assert_crossbar(const struct crossbar_config *is, const struct crossbar_config *wanted)
{
#include "emu/machine/keys/crossbar.def"
    SAME(inputs)
    SAME(outputs)
}

static bool load(const struct folder *folder, struct machine_config *config, const char *text,
                 struct error *err)
{
    char path[256];
    folder_write(folder, "m.yaml", text, strlen(text));
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    return machine_load(config, path, folder->shipped, NULL, 0, err);
}

static void assert_loads(const struct folder *folder, struct machine_config *config, const char *text)
{
    struct error err = {.text = ""};
    if (!load(folder, config, text, &err))
        fail_msg("%s", err.text);
}

static void assert_source(const struct machine_config *config, const char *key, const char *wanted)
{
    char source[MACHINE_SOURCE];
    machine_source(config, key, source);
    assert_string_equal(source, wanted);
}

/* The datasheet values are those of emu/dram/standards. */
static void a_standard_gives_its_values(void **state)
{
    struct machine_config config;
    assert_loads(*state, &config, "dram: {standard: hbm1, tRP: 15 ns, tCL: auto}\nmemory: {size: 1 GiB}\n");
    assert_int_equal(config.dram.tCK, 2000000); /* fs */
    assert_int_equal(config.dram.tCL, 14000000);
    assert_int_equal(config.dram.tRP, 15000000);
    assert_int_equal(config.dram.channels, 8);
    assert_int_equal(config.dram.energy_act, 828000); /* fJ */
    assert_int_equal(config.simt.energy.fp32, 3700);
    assert_int_equal(config.accel.energy_fpu, 43000);
    assert_int_equal(config.dram.power_open, 66000); /* uW */
    assert_string_equal(config.dram.map, "R14 B2 C5 G2 H3 O6");
    assert_source(&config, "dram.tCK", "hbm1: JESD235: 500 MHz for 1 Gb/s");
    assert_source(&config, "dram.read_queue", "hbm1");
    struct dram_config dram, wanted;
    dram_config_default(&wanted, DRAM_STANDARD_hbm1);
    wanted.tRP = 15000000;
    parts_dram(&config, &dram);
    assert_dram(&dram, &wanted);
    machine_free(&config);
}

static void every_standard_comes_through_whole(void **state)
{
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct machine_config config;
        struct dram_config dram, wanted;
        char text[64];
        (void)snprintf(text, sizeof text, "dram: {standard: %s}\n", dram_standard_name(standard));
        assert_loads(*state, &config, text);
        dram_config_default(&wanted, standard);
        parts_dram(&config, &dram);
        assert_dram(&dram, &wanted);
        machine_free(&config);
    }
}

static void the_kind_of_core_decides_its_values(void **state)
{
    struct machine_config config;
    struct parts_core core;
    struct inorder_config inorder;
    struct ooo_config ooo;
    inorder_config_default(&inorder);
    ooo_config_default(&ooo);
    assert_loads(*state, &config, "host: {core: inorder}\n");
    parts_core(&config, "host", &core);
    assert_false(core.ooo);
    assert_int_equal(core.inorder_config.frontend_clocks, inorder.frontend_clocks);
    assert_memory_equal(&core.inorder_config.predict, &inorder.predict, sizeof inorder.predict);
    assert_memory_equal(&core.inorder_config.latency, &inorder.latency, sizeof inorder.latency);
    machine_free(&config);

    assert_loads(*state, &config,
                 "host: {core: ooo, rob: 64, predict: {btb: 1024}, latency: {mul: 7}, ports: {mul: 2}}\n");
    parts_core(&config, "host", &core);
    assert_true(core.ooo);
    assert_int_equal(core.ooo_config.frontend_clocks, ooo.frontend_clocks);
    assert_int_equal(core.ooo_config.rob, 64);
    assert_int_equal(core.ooo_config.predict.btb, 1024);
    assert_int_equal(core.ooo_config.predict.returns, ooo.predict.returns);
    assert_int_equal(core.ooo_config.latency.of[CORE_WORK_mul].latency, 7);
    assert_int_equal(core.ooo_config.latency.of[CORE_WORK_mul].ports, 2);
    assert_int_equal(core.ooo_config.latency.of[CORE_WORK_div].latency,
                     ooo.latency.of[CORE_WORK_div].latency);
    parts_core(&config, "accel", &core);
    assert_false(core.ooo);
    assert_int_equal(core.inorder_config.width, inorder.width);
    machine_free(&config);
}

static void parts_without_keys_are_their_own_defaults(void **state)
{
    struct machine_config config;
    struct parts_core core;
    struct cache_config l1;
    struct llc_config llc, llc_wanted;
    struct tlb_config tlb;
    struct crossbar_config crossbar, crossbar_wanted;
    assert_loads(*state, &config,
                 "host: {core: ooo}\naccel: {count: 3}\ncrossbar: {present: true}\n"
                 "devices: {clint: {present: true}}\n");
    cache_config_default(&l1);
    tlb_config_default(&tlb);
    parts_core(&config, "accel", &core);
    l1.coherent = false;
    assert_l1(&core.l1d, &l1);
    parts_core(&config, "host", &core);
    l1.coherent = true; /* the one field that follows from where it is */
    assert_l1(&core.l1i, &l1);
    assert_tlb(&core.tlb, &tlb);
    llc_config_default(&llc_wanted);
    parts_llc(&config, &llc);
    assert_llc(&llc, &llc_wanted);
    crossbar_config_default(&crossbar_wanted);
    parts_crossbar(&config, &crossbar);
    crossbar_wanted.inputs = 4; /* the host's, and 3 accelerators */
    crossbar_wanted.outputs = 1;
    assert_crossbar(&crossbar, &crossbar_wanted);
    assert_int_equal(config.harts, 4);
    machine_free(&config);
}

/* The enumerations of keys are converted by number. */
static void choices_are_those_of_the_parts(void **state)
{
    (void)state;
    const struct key *standard = &machine_keys[key_find("dram.standard")];
    for (enum dram_standard i = 0; i < DRAM_STANDARDS; i++)
        assert_string_equal(standard->choices[i], dram_standard_name(i));
    assert_null(standard->choices[DRAM_STANDARDS]);
    assert_int_equal(MACHINE_PAGE_OPEN, DRAM_PAGE_OPEN);
    assert_int_equal(MACHINE_PAGE_CLOSED, DRAM_PAGE_CLOSED);
    assert_int_equal(MACHINE_PAGE_TIMEOUT, DRAM_PAGE_TIMEOUT);
    assert_int_equal(MACHINE_REFRESH_NONE, DRAM_REFRESH_NONE);
    assert_int_equal(MACHINE_REFRESH_ALL, DRAM_REFRESH_ALL);
    assert_int_equal(MACHINE_REFRESH_BANK, DRAM_REFRESH_BANK);
    assert_int_equal(MACHINE_REPLACEMENT_LRU, TAGS_LRU);
    assert_int_equal(MACHINE_REPLACEMENT_TREE_PLRU, TAGS_TREE_PLRU);
    assert_int_equal(MACHINE_PREFETCH_NONE, CACHE_PREFETCH_NONE);
    assert_int_equal(MACHINE_PREFETCH_NEXT, CACHE_PREFETCH_NEXT_LINE);
    assert_int_equal(MACHINE_PREFETCH_STRIDE, CACHE_PREFETCH_STRIDE);
}

/* A description, and what its message must begin with and contain behind the folder's path. */
struct fault {
    const char *text, *begins, *contains;
};

static const struct fault faults[] = {
    {"host:\n  core: inorder\n  l1d:\n    size: 33000 B\n", "/m.yaml:4: host.l1d.size: ", ""},
    {"host: {core: inorder}\nl2:\n  ways: 3\n  size: 1 MiB\n", "/m.yaml:4: l2.size: ", ""},
    {"host: {core: inorder}\naccel:\n  l1i:\n    line: 24 B\n", "/m.yaml:4: accel.l1i.line: ", ""},
    {"host:\n  core: inorder\n  l1d: {line: 32 B}\n", "/m.yaml:3: host.l1d.line: ", "l2.line, which is 64 B"},
    {"host: {core: inorder}\ndram:\n  read_queue: 1\n  standard: gddr5\nmemory: {size: 64 MiB}\n", "",
     ": l2.line: 64 B is not allowed; allowed: what the smaller of dram.read_queue and dram.write_queue "
     "holds, 1 "
     "bursts of 32 B"},
    {"host: {core: inorder}\nmemory:\n  size: 2 GiB\ndram: {standard: gddr5}\n",
     "/m.yaml:3: memory.size: ", "rows and row_bytes hold, 768 MiB"},
    {"host: {core: inorder}\ndram:\n  write_high: 40\n", "/m.yaml:3: dram.write_high: ", ""},
    {"host: {core: inorder}\ndram:\n  map: X9\n", "/m.yaml:3: dram.map: ", ""},
    {"host: {core: inorder}\ndram:\n  banks: 64\n  ranks: 2\n",
     "dram: ranks * groups * banks: ", "at most 64"},
    {"host:\n  core: ooo\n  predict:\n    btb: 3\n", "/m.yaml:4: host.predict.btb: ", ""},
    {"host:\n  core: ooo\n  fetch_bytes: 24\n", "/m.yaml:3: host.fetch_bytes: ", ""},
    {"host:\n  core: ooo\n  tlb:\n    l1_ways: 5\n", "", "host.tlb.l1_"},
    {"host: {core: inorder}\naccel:\n  count: 2\n", "/m.yaml:3: accel.count: ", "crossbar.present"},
    {"host: {core: inorder, count: 4}\naccel:\n  count: 62\ncrossbar: {present: true}\n",
     "/m.yaml:3: accel.count: ", "65 cores in all"},
    {"harts: 3\nhost: {core: inorder, count: 2}\ndevices: {clint: {present: true}}\n",
     "/m.yaml:1: harts: ", "allowed: auto, or host.count and accel.count together, 2"},
    {"host: {core: inorder, count: 2}\n", "the number of cores: harts: 2", "devices.clint.present"},
    {"dram:\n  tRP: 1\n", "/m.yaml:2: dram.tRP: ", "has no unit; write a time such as 13.75 ns"},
    {"dram:\n  energy_act: 1 nW\n", "/m.yaml:2: dram.energy_act: ", "write an energy"},
    {"dram: {tRPP: 1 ns}\n", "/m.yaml:1: unknown key 'dram.tRPP'; did you mean 'dram.tRP'?", ""},
    {"host:\n  l1d: {sice: 1 KiB}\n", "/m.yaml:2: unknown key 'host.l1d.sice'; did you mean 'host.l1d.size'?",
     ""},
};

static void each_fault_names_key_and_line(void **state)
{
    const struct folder *folder = *state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct machine_config config;
        struct error err = {.text = ""};
        assert_false(load(folder, &config, faults[i].text, &err));
        const char *text = err.text;
        if (faults[i].begins[0] == '/')
            text += strlen(folder->path);
        if (strncmp(text, faults[i].begins, strlen(faults[i].begins)) != 0 ||
            !strstr(text, faults[i].contains))
            fail_msg("fault %zu: %s", i, err.text);
    }
}

static void keys_of_another_core_are_unused(void **state)
{
    struct machine_config config;
    const char *names[MACHINE_KEYS];
    assert_loads(*state, &config,
                 "host: {core: inorder, rob: 64, store_buffer: 4, fetch_bytes: 8}\naccel: {iq: 8}\n");
    assert_int_equal(machine_unused_keys(&config, names), 2);
    assert_string_equal(names[0], "host.rob");
    assert_string_equal(names[1], "accel.iq");
    machine_free(&config);
}

/* A sweep of the reorder buffer changes one key; what its user has set himself is not touched, and refused.
 */
static void a_small_reorder_buffer_needs_no_other_key(void **state)
{
    struct machine_config config;
    struct parts_core core;
    assert_loads(*state, &config, "host: {core: ooo, rob: 20}\n");
    parts_core(&config, "host", &core);
    assert_int_equal(core.ooo_config.fetch_queue, 20);
    assert_int_equal(core.ooo_config.iq, 20);
    machine_free(&config);
    assert_loads(*state, &config, "host: {core: ooo, rob: 50, iq: 10}\n");
    parts_core(&config, "host", &core);
    assert_int_equal(core.ooo_config.fetch_queue, 48);
    assert_int_equal(core.ooo_config.iq, 10);
    machine_free(&config);
}

/* Whether the text names a key other than this one, by its last name or in whole. */
static bool names_another(const char *text, const char *key)
{
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const char *last = strrchr(machine_keys[i].name, '.'), *own = strrchr(key, '.');
        last = last ? last + 1 : machine_keys[i].name;
        if (strcmp(machine_keys[i].name, key) == 0 || strcmp(last, own ? own + 1 : key) == 0)
            continue;
        for (const char *at = text; (at = strstr(at, last)) != NULL; at++) {
            const char *end = at + strlen(last);
            if (at > text && strchr(" (.", at[-1]) && strchr(" ,;:)", *end))
                return true;
        }
    }
    return false;
}

/* What `croft show` says is allowed is refused only because of another key, which the message names. */
static void documented_ranges_hold(void **state)
{
    const struct folder *folder = *state;
    static const char *const cores[] = {"host.core=inorder", "host.core=ooo"};
    static const char file[] = "memory: {size: 256 MiB}\n";
    char path[256];
    unsigned walked = 0;
    folder_write(folder, "m.yaml", file, sizeof file - 1);
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    for (int i = 0; i < 2 * 2 * MACHINE_KEYS; i++) {
        const struct key *key = &machine_keys[i / 4];
        char set[128];
        const char *sets[] = {cores[i % 2], set};
        struct machine_config config;
        struct error err = {""};
        if (key->kind != KEY_COUNT || key->use == USE_ALWAYS)
            continue;
        (void)snprintf(set, sizeof set, "%s=%s", key->name, i / 2 % 2 ? key->max : key->min);
        if (!machine_load(&config, path, folder->shipped, sets, 2, &err) &&
            !names_another(err.text, key->name))
            fail_msg("%s, %s: %s", sets[0], set, err.text);
        machine_free(&config);
        walked++;
    }
    assert_true(walked > 400);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_standard_gives_its_values),
        FOLDER_TEST(every_standard_comes_through_whole),
        FOLDER_TEST(the_kind_of_core_decides_its_values),
        FOLDER_TEST(a_small_reorder_buffer_needs_no_other_key),
        FOLDER_TEST(parts_without_keys_are_their_own_defaults),
        cmocka_unit_test(choices_are_those_of_the_parts),
        FOLDER_TEST(documented_ranges_hold),
        FOLDER_TEST(each_fault_names_key_and_line),
        FOLDER_TEST(keys_of_another_core_are_unused),
    };
    return cmocka_run_group_tests_name("parts of timed machines", tests, NULL, NULL);
}
