/* Trees of instances: presence, counts, nesting, names, patterns, and which setting wins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/schema/load.h"

#define TIMED "host: {core: inorder}\ndevices: {clint: {}}\n"

static void a_part_is_there_when_it_is_mentioned(void **state)
{
    static const char *const ways[] = {"crossbar: {}\n", "crossbar:\n", "crossbar: default\n",
                                       "crossbar: {width: 16 B}\n"};
    struct machine_config config;
    must_load(*state, &config, TIMED, NULL);
    assert_null(tree_find(config.tree, "crossbar"));
    assert_non_null(tree_find(config.tree, "l2")); /* cores that tell time need it */
    machine_free(&config);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s%s", TIMED, ways[i]);
        must_load(*state, &config, text, NULL);
        assert_value(&config, "crossbar", "width", i == 3 ? "16 B" : "32 B");
        machine_free(&config);
    }
    must_load(*state, &config, TIMED, SETS("crossbar=default"));
    assert_non_null(tree_find(config.tree, "crossbar"));
    machine_free(&config);
    must_load(*state, &config, "{}\n", NULL);
    assert_null(tree_find(config.tree, "l2"));
    machine_free(&config);
}

static void none_takes_out_with_all_below(void **state)
{
    const struct folder *folder = *state;
    static const char base[] =
        TIMED "crossbar: {width: 16 B, latency: 9}\naccel: {count: 2, l1d: {size: 16 KiB}}\n"
              "near: {kind: group, dram: {channels: 2}}\n";
    struct machine_config config;
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
    must_load(folder, &config, "extends: base\ncrossbar: none\naccel: none\nnear: none\n", NULL);
    assert_null(tree_find(config.tree, "crossbar"));
    assert_null(tree_find(config.tree, "accel"));
    assert_null(tree_find(config.tree, "near"));
    assert_int_equal(config.accel_count, 0);
    machine_free(&config);

    /* What is put in again begins anew: defaults, and one copy. */
    must_load(folder, &config, "extends: base\ncrossbar: none\naccel: none\n",
              SETS("crossbar=default", "accel=default", "accel.l1i.size=8 KiB"));
    assert_value(&config, "crossbar", "width", "32 B");
    assert_value(&config, "crossbar", "latency", "2");
    assert_value(&config, "accel", "l1d.size", "(none)");
    assert_value(&config, "accel.l1d", "size", "32 KiB");
    assert_value(&config, "accel.l1i", "size", "8 KiB");
    assert_int_equal(config.accel_count, 1);
    machine_free(&config);

    assert_refused_as(folder, "extends: base\ncrossbar: none\naccel: none\n", SETS("crossbar.width=8 B"),
                      "--set 'crossbar.width=8 B': the machine has no crossbar; crossbar=default adds one");
    assert_refused_as(folder, "memory: none\n", NULL,
                      "/m.yaml:1: memory: none is not allowed: every machine has this part");
    assert_refused_as(folder, "crossbar: absent\n", NULL,
                      "/m.yaml:1: 'crossbar' is a section, not a value; its keys: clock, width, latency, "
                      "request_queue, response_queue, queues, buffer, energy_bit, leakage, in, out");
}

/* Patterns remove as single names do, from all copies or from some. */
static void none_takes_out_through_patterns(void **state)
{
    const struct folder *folder = *state;
    static const char base[] = TIMED "templates: {bus: {width: 16 B}}\n"
                                     "pile:\n"
                                     "  kind: group\n"
                                     "  count: 3\n"
                                     "  simt: {count: 2, warps: 24, l2: {slices: 2}}\n"
                                     "  crossbar: {template: bus, latency: 9}\n"
                                     "  bank: {kind: group, count: 2, dram: {channels: 2}}\n"
                                     "  2.crossbar.buffer: 5\n"
                                     "pile.*.crossbar.request_queue: 4\n";
    static const char *const parts[] = {"simt", "crossbar", "bank"};
    struct machine_config config;
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
    for (size_t i = 0; i < 3; i++) {
        char every[64], one[64], part[64];
        (void)snprintf(every, sizeof every, "pile.*.%s=none", parts[i]);
        (void)snprintf(one, sizeof one, "*.1.%s=none", parts[i]);
        must_load(folder, &config, "extends: base\n", SETS(every));
        for (unsigned copy = 0; copy < 3; copy++) {
            (void)snprintf(part, sizeof part, "pile.%u.%s", copy, parts[i]);
            assert_null(tree_find(config.tree, part));
        }
        machine_free(&config);
        must_load(folder, &config, "extends: base\n", SETS(one));
        for (unsigned copy = 0; copy < 3; copy++) {
            (void)snprintf(part, sizeof part, "pile.%u.%s", copy, parts[i]);
            assert_true((tree_find(config.tree, part) == NULL) == (copy == 1));
        }
        machine_free(&config);
    }
    must_load(folder, &config, "extends: base\n",
              SETS("pile.0.bank=none", "pile.1.bank=none", "pile.2.bank=none", "pile.*.simt.l2=none"));
    assert_null(tree_find(config.tree, "pile.2.bank"));
    assert_null(tree_find(config.tree, "pile.1.simt.l2"));
    machine_free(&config);
}

/* A part that is removed, or has one copy less, does not hide a misspelt key. */
static void none_hides_no_misspelt_key(void **state)
{
    static const char *const texts[] = {
        "crossbar: {wdth: 16 B}\n",
        "pile: {kind: group, count: 2, simt: {wraps: 4}}\n",
        "pile: {kind: group, count: 2, bank: {kind: dram, chanels: 4}}\n",
        "pile: {kind: group, count: 2, crossbar: {}, simt: {count: 1}}\npile.*.*.wraps: 4\n",
    };
    static const char *const sets[][3] = {
        {"crossbar=none"},
        {"pile.1.simt=none"},
        {"pile.*.bank=none"},
        {"pile.*.simt=none"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct machine_config config;
        struct error err;
        assert_false(try_load(*state, &config, texts[i], sets[i], &err));
        if (!strstr(err.text, "m.yaml:") || strstr(err.text, "--set"))
            fail_msg("%s: %s", texts[i], err.text);
    }
}

static void copies_are_set_together_or_one_by_one(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char text[] = TIMED "crossbar: {}\n"
                                     "accel:\n"
                                     "  3: {l1d: {size: 16 KiB}}\n"
                                     "  count: 5\n"
                                     "  l1i: {size: 8 KiB}\n"
                                     "  1.l1i.size: 64 KiB\n";
    must_load(
        folder, &config, text,
        SETS("accel.*.l1d.ways=2", "accel.4.l1d.size=64 KiB", "accel.2.latency.mul=9", "accel.0.l1d.ways=1"));
    assert_int_equal(config.accel_count, 5);
    static const char *const sizes[] = {"32 KiB", "32 KiB", "32 KiB", "16 KiB", "64 KiB"};
    for (unsigned i = 0; i < 5; i++) {
        char part[32];
        (void)snprintf(part, sizeof part, "accel.%u.l1d", i);
        assert_value(&config, part, "size", sizes[i]);
        assert_value(&config, part, "ways", i == 0 ? "1" : "2");
        (void)snprintf(part, sizeof part, "accel.%u.l1i", i);
        assert_value(&config, part, "size", i == 1 ? "64 KiB" : "8 KiB");
        assert_value(&config, part, "ways", "4");
        (void)snprintf(part, sizeof part, "accel.%u", i);
        assert_value(&config, part, "latency.mul", i == 2 ? "9" : "3");
    }
    assert_null(tree_find(config.tree, "accel.5"));
    machine_free(&config);

    /* The number of copies is applied first, wherever it stands. */
    must_load(folder, &config, text, SETS("accel.6.l1d.size=16 KiB", "accel.count=7"));
    assert_value(&config, "accel.6.l1d", "size", "16 KiB");
    machine_free(&config);
    assert_refused_as(folder, text, SETS("accel.5.l1d.size=16 KiB"),
                      "--set 'accel.5.l1d.size=16 KiB': the machine has no accel.5: accel.count is 5, and "
                      "copies are numbered from 0");
    struct error err;
    assert_false(try_load(folder, &config, text, SETS("accel.count=3"), &err));
    assert_memory_equal(err.text, "--set 'accel.count=3': ", 23);
    assert_non_null(strstr(
        err.text, "/m.yaml:5: the machine has no accel.3: accel.count is 3, and copies are numbered from 0"));
    assert_refused_as(
        folder, TIMED, SETS("accel.l1d.size=16 KiB"),
        "--set 'accel.l1d.size=16 KiB': the machine has no accel; accel=default or accel.count=N adds one");
}

static void counts_have_their_range(void **state)
{
    const struct folder *folder = *state;
    static const char *const bad[][2] = {
        {"accel: {count: -1}\n", "'-1' is not a whole number"},
        {"accel: {count: 65}\n",
         "accel.count: '65' is not allowed; allowed: 0 to 64, the stacks that their firmware has"},
        {"accel: {count: 99999999999999999999}\n", "accel.count: "},
        {"host: {count: 0}\n", "'0' is not allowed; allowed: 1 to 512"},
        {"near: {kind: group, count: 65537}\n", "'65537' is not allowed; allowed: 0 to 65536"},
        {"accel: {count: {}}\n", "accel.count"},
        {"accel: {count: }\n", "accel.count"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct machine_config config;
        struct error err;
        assert_false(try_load(folder, &config, bad[i][0], NULL, &err));
        if (!strstr(err.text, bad[i][1]) || !strstr(err.text, "/m.yaml:1: "))
            fail_msg("%s: %s", bad[i][0], err.text);
    }
}

/* A part without copies is absent, but what is set of it is still looked at. */
static void no_copies_are_absence(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char text[] = TIMED "accel: {count: 4, l1d: {size: 16 KiB}}\ncrossbar: {}\n"
                                     "near: {kind: group, count: 2, dram: {channels: 2}}\n";
    must_load(folder, &config, text, SETS("accel.count=0", "near.count=0"));
    assert_null(config.accel);
    assert_int_equal(config.accel_count, 0);
    assert_int_equal(config.harts, 1);
    assert_null(tree_find(config.tree, "near"));
    for (const struct instance *i = tree_next(config.tree, NULL); i; i = tree_next(config.tree, i))
        assert_true(strncmp(i->path, "accel", 5) != 0 && strncmp(i->path, "near", 4) != 0);
    machine_free(&config);
    must_load(folder, &config, text, SETS("accel.count=0", "accel.count=auto"));
    assert_int_equal(config.accel_count, 1);
    machine_free(&config);
    assert_refused_as(
        folder, text, SETS("accel.count=0", "accel.l1d.sice=1"),
        "--set: unknown key 'accel.l1d.sice'; did you mean 'accel.l1d.size'? Known in accel.0.l1d: "
        "size, ways, line, hit_clocks, mshrs, mshr_targets, write_buffer, replacement, "
        "write_through, write_allocate, prefetch, prefetch_degree, prefetch_distance, "
        "prefetch_table, prefetch_reserve, energy_read, energy_write");
}

static const char stacks[] = "extends: base\n"
                             "templates:\n"
                             "  near: {kind: simt, count: 1, warps: 24, l2: {slices: 2}}\n"
                             "  stack:\n"
                             "    kind: group\n"
                             "    dram: {standard: hmc_tom}\n"
                             "    sm: {template: near, threads: 768}\n"
                             "far:\n"
                             "  template: stack\n"
                             "  count: 4\n"
                             "  pair: {kind: group, count: 2, dram: {standard: hbm1}}\n"
                             "  dram: {channels: 8}\n";

static void write_base(const struct folder *folder)
{
    static const char base[] = TIMED "memory: {size: 64 MiB}\n";
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
}

static void parts_nest_under_names_of_ones_own(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    write_base(folder);
    must_load(folder, &config, stacks,
              SETS("far.*.sm.warps=96", "far.2.sm.warps=12", "far.*.pair.1.dram.channels=2",
                   "far.3.pair.0.dram.channels=4"));
    for (unsigned i = 0; i < 4; i++) {
        char part[64];
        (void)snprintf(part, sizeof part, "far.%u.sm", i);
        assert_value(&config, part, "warps", i == 2 ? "12" : "96");
        assert_value(&config, part, "threads", "768");
        (void)snprintf(part, sizeof part, "far.%u.sm.l2", i);
        assert_value(&config, part, "slices", "2");
        assert_value(&config, part, "clock", "700 MHz"); /* the role's default in a multiprocessor */
        (void)snprintf(part, sizeof part, "far.%u.dram", i);
        assert_value(&config, part, "standard", "hmc_tom");
        assert_value(&config, part, "channels", "8");
        for (unsigned j = 0; j < 2; j++) {
            (void)snprintf(part, sizeof part, "far.%u.pair.%u.dram", i, j);
            assert_value(&config, part, "channels", j == 1 ? "2" : i == 3 ? "4" : "8");
        }
    }
    const struct instance *vault = tree_find(config.tree, "far.3.pair.1.dram");
    assert_string_equal(vault->path, "far.3.pair.1.dram");
    assert_string_equal(vault->parent->path, "far.3.pair.1");
    assert_int_equal(vault->parent->copies, 2);
    machine_free(&config);

    assert_refused_as(folder, stacks, SETS("far.*.sm.width=16", "far.2.sm.width=8"),
                      "--set: far.2.sm.width: differs from far.0.sm.width; all multiprocessors must have the "
                      "same value");
    assert_refused_as(
        folder, stacks, SETS("far.*.sm.wraps=96"),
        "--set: unknown key 'far.*.sm.wraps'; did you mean 'far.*.sm.warps'? Known in far.0.sm: count, "
        "width, reconvergence, "
        "warps, threads, block_threads, blocks, launches, cluster, scratchpad, stack, stack_write_back, "
        "stack_near, "
        "stack_drop, "
        "registers, clock, schedulers, policy, placement, placement_table, banks, walkers, memory_queue, "
        "accesses, "
        "one_line, atomics, l1_banks, latency, interval, power, energy, l1, crossbar, l2, tlb, walk_cache, "
        "memory");
}

static void wildcards_stand_for_names_and_numbers(void **state)
{
    struct machine_config config;
    write_base(*state);
    must_load(*state, &config, stacks,
              SETS("*.l1d.ways=2", "*.*.*.*.*.channels=16", "far.0.*.0.dram.channels=1"));
    assert_value(&config, "host.l1d", "ways", "2");
    assert_value(&config, "far.1.pair.1.dram", "channels", "16");
    assert_value(&config, "far.0.pair.0.dram", "channels", "1");
    assert_value(&config, "far.0.pair.1.dram", "channels", "16");
    machine_free(&config);
}

/* A pattern counts the parts that the machine has; it adds none. */
static void counts_take_patterns(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char text[] = TIMED "near: {kind: group, count: 3, dram: {}}\n"
                                     "far: {kind: group, near: {kind: group, count: 2}}\n";
    must_load(folder, &config, text, SETS("*.count=2", "far.*.near.count=4", "*.0.*.count=5"));
    assert_int_equal(config.host_count, 2);
    assert_int_equal(config.accel_count, 0);
    assert_int_equal(tree_find(config.tree, "near")->copies, 2);
    assert_int_equal(tree_find(config.tree, "far")->copies, 2);
    assert_int_equal(tree_find(config.tree, "far.0.near")->copies, 5);
    assert_int_equal(tree_find(config.tree, "far.1.near")->copies, 4);
    char source[TREE_SOURCE];
    tree_source_of(config.tree, "near.count", source);
    assert_string_equal(source, "--set");
    machine_free(&config);
    must_load(folder, &config, text, SETS("*.count=2", "host.count=1", "near.count=1", "far.count=1"));
    assert_int_equal(config.host_count, 1);
    assert_int_equal(tree_find(config.tree, "near")->copies, 1);
    machine_free(&config);
    assert_refused_as(folder, text, SETS("*.count=65537"),
                      "--set: *.count: '65537' is not allowed; allowed: 1 to 512");
    assert_refused_as(
        folder, "near: {kind: group}\n", SETS("near.*.count=2"),
        "--set: unknown key 'near.*.count'; did you mean 'host.count'? Known at the top: name, "
        "description, harts, quantum, isa, homes, stack_hash, pages, memory, user_stack, host, accel, nucd, "
        "l2, simt, crossbar, dram, mmu, devices");
}

/* Each part finds its settings among those of many names, some of which begin with others. */
static void many_names_have_their_settings(void **state)
{
    enum { NAMES = 2000 };
    struct machine_config config;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    (void)fputs("host: {core: inorder}\n'*.request_queue': 3\n", out);
    for (unsigned i = 0; i < NAMES; i++)
        (void)fprintf(out, "x%u: {kind: crossbar, request_queue: %u}\n", i, 1 + i % 50);
    (void)fputs("x7.request_queue: 60\n'*.buffer': 9\nx700.buffer: 8\n", out);
    (void)fclose(out);
    must_load(*state, &config, text, NULL);
    free(text);
    for (unsigned i = 0; i < NAMES; i++) {
        char part[16], queue[16];
        (void)snprintf(part, sizeof part, "x%u", i);
        (void)snprintf(queue, sizeof queue, "%u", i == 7 ? 60 : 1 + i % 50);
        assert_value(&config, part, "request_queue", queue);
        assert_value(&config, part, "buffer", i == 700 ? "8" : "9");
    }
    machine_free(&config);
    /* Of several errors, the first in the order of settings is reported. */
    assert_refused_as(*state,
                      "host: {core: inorder}\nb: {kind: crossbar, latency: x}\n\na: {kind: crossbar, "
                      "latency: y}\nc: {}\n",
                      NULL, "/m.yaml:2: b.latency: 'x' is not a whole number such as 16");
}

static void a_pattern_that_concerns_nothing_is_an_error(void **state)
{
    const struct folder *folder = *state;
    static const char *const texts[] = {
        "\nhots: {core: inorder}\n",
        "\nmemory: {*.size: 1 GiB}\n",
        "\n'*.l3.size': 1 MiB\n",
        "\nnear: {dram: {}}\n",
        "\nnear: none\n",
        "\nhost: {5: {core: ooo}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct machine_config config;
        struct error err;
        assert_false(try_load(folder, &config, texts[i], NULL, &err));
        if (!strstr(err.text, "/m.yaml:2: "))
            fail_msg("%s: %s", texts[i], err.text);
    }
}

static void the_last_setting_wins_and_is_named(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char base[] = TIMED "crossbar: {}\naccel: {count: 2, l1d: {size: 16 KiB}}\n";
    char *text;
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
    must_load(folder, &config,
              "extends: base\naccel:\n  0: {l1d: {ways: 8}}\n  l1d: {ways: 2}\n  1.l1d.size: 8 KiB\n",
              SETS("accel.1.l1d.ways=1"));
    assert_value(&config, "accel.0.l1d", "ways", "2"); /* though it was the more special */
    assert_value(&config, "accel.1.l1d", "ways", "1");
    text = shown(&config);
    assert_non_null(strstr(text, "\n    size: 16 KiB  # base.yaml:4\n"));
    assert_non_null(strstr(text, "/m.yaml:4\n"));
    assert_null(strstr(text, "/m.yaml:3\n")); /* overruled */
    assert_non_null(strstr(text, "\n  1:\n"));
    assert_non_null(strstr(text, "\n      ways: 1  # --set\n"));
    assert_non_null(strstr(text, "\n      size: 8 KiB  # "));
    assert_non_null(strstr(text, "/m.yaml:5\n"));
    free(text);
    char source[TREE_SOURCE];
    tree_source_of(config.tree, "accel.1.l1d.ways", source);
    assert_string_equal(source, "--set");
    tree_source_of(config.tree, "accel.0.l1d.size", source);
    assert_string_equal(source, "base.yaml:4");
    tree_source_of(config.tree, "accel.count", source);
    assert_string_equal(source, "base.yaml:4");
    machine_free(&config);
}

static void auto_restores_what_follows(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char base[] =
        "host: {core: ooo, clock: 3 GHz, rob: 64, iq: 10, tlb: {l1_ways: 2}}\n"
        "l2: {clock: 1 GHz}\ndram: {standard: hbm1, channels: 4, map: \"R14 B2 C5 G2 H2 O6\"}\n";
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
    must_load(folder, &config, "extends: base\n", NULL);
    assert_value(&config, "l2", "clock", "1 GHz");
    assert_value(&config, "host", "iq", "10");
    machine_free(&config);
    must_load(folder, &config, "extends: base\nhost: {iq: auto}\n",
              SETS("l2.clock=auto", "host.tlb.l1_ways=auto", "dram.map=auto", "dram.channels=auto"));
    assert_value(&config, "l2", "clock", "3 GHz");
    assert_value(&config, "host", "iq", "64");
    assert_value(&config, "host", "rob", "64");
    assert_value(&config, "host.tlb", "l1_ways", "32");
    assert_value(&config, "dram", "channels", "8");
    assert_value(&config, "dram", "map", "\"R14 B2 C5 G2 H3 O6\"");
    machine_free(&config);
    must_load(folder, &config, "extends: base\n", SETS("host.clock=auto", "host.rob=auto", "l2.clock=auto"));
    assert_value(&config, "host", "rob", "128");
    assert_value(&config, "l2", "clock", "2 GHz");
    machine_free(&config);
}

static void names_of_ones_own_are_words(void **state)
{
    static const char *const bad[] = {"*",    "7",    "a b",     "\\u00fc", "count", "kind",  "extends",
                                      "none", "auto", "default", "-a",      "a\\nb", "\\e[2J"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct machine_config config;
        struct error err;
        char text[128];
        (void)snprintf(text, sizeof text, "near: {kind: group, \"%s\": {kind: group}}\n", bad[i]);
        assert_false(try_load(*state, &config, text, NULL, &err));
        assert_non_null(strstr(err.text, "/m.yaml:1: "));
        for (const char *c = err.text; *c; c++)
            assert_true(*c >= ' ' && *c <= '~');
    }
}

/* A part of a name that no kind has a place for, without `kind`: nearly that of a part that exists, that of a kind, and
 * another one. */
static void parts_without_a_kind_get_hints(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"stackk: {kind: group, count: 2}\nstacck: {crossbar: {}}\n",
         "/m.yaml:2: unknown key 'stacck'; did you mean 'stackk'? Known at the top: name, "},
        {"near: {kind: group, far: {kind: group}}\nnear.farr.crossbar: {}\n",
         "/m.yaml:2: unknown key 'near.farr.crossbar'; did you mean 'near.far.crossbar'? Known "},
        {"link: {to: dram}\n",
         "/m.yaml:1: unknown key 'link'; a part of that name needs its kind, such as kind: link; "
         "known at the top: name, "},
        {"x: {dram: {}}\n",
         "/m.yaml:1: unknown key 'x'; a part of that name needs its kind, one of group, dram, link, "},
        {"near: {kind: grup}\n",
         "/m.yaml:1: near: unknown kind 'grup'; did you mean 'group'? Allowed: group, dram, link, "},
        {"x: 5\n", "/m.yaml:1: unknown key 'x'; known at the top: name, "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config config;
        struct error err;
        assert_false(try_load(*state, &config, cases[i].text, NULL, &err));
        if (!strstr(err.text, cases[i].wanted))
            fail_msg("%s, not %s", err.text, cases[i].wanted);
    }
}

static void templates_are_found_and_end(void **state)
{
    const struct folder *folder = *state;
    struct machine_config config;
    static const char base[] = "templates: {wide: {width: 64 B, latency: 5}, slow: {clock: 500 MHz}}\n";
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
    must_load(folder, &config,
              "extends: base\ntemplates:\n  slow: {clock: 400 MHz}\n  both: {template: wide, buffer: 3}\n"
              "host: {core: inorder}\na: {kind: crossbar, template: both, latency: 7}\nb: {kind: crossbar, "
              "template: slow}\n",
              NULL);
    assert_value(&config, "a", "width", "64 B");
    assert_value(&config, "a", "latency", "7"); /* its own key wins */
    assert_value(&config, "a", "buffer", "3");
    assert_value(&config, "b", "clock", "400 MHz"); /* the nearest file's */
    machine_free(&config);
    assert_refused_as(folder, "\na: {template: wide}\n", NULL,
                      "/m.yaml:2: template: unknown template 'wide'");
    assert_refused_as(folder, "templates: {a: {template: b}, b: {template: a}}\nc: {template: a}\n", NULL,
                      "/m.yaml:1: template: 'a': templates are nested too deeply");
    assert_refused_as(folder, "templates: {a: {kind: group, b: {template: a}}}\nc: {template: a}\n", NULL,
                      "/m.yaml:1: template: 'a': templates are nested too deeply");
    assert_refused_as(folder, "templates: 5\n", NULL,
                      "/m.yaml:1: 'templates' is a section, not a value: it holds templates by name");
    assert_refused_as(folder, "templates:\n  a: 5\n", NULL,
                      "/m.yaml:2: 'a' is a section, not a value: a template is a mapping of keys");
}

/* Messages and origins name the file in which a template stands, not the one that uses it. */
static void templates_have_their_own_lines(void **state)
{
    const struct folder *folder = *state;
    static const char base[] = "host: {core: inorder}\n\n\ntemplates:\n  slow:\n    latency: 7\n"
                               "    clock: 400 MHz\n  twice: {template: slow}\n";
    static const char other[] = "extends: base\ntemplates:\n  bad:\n    latency: fast\n";
    static const char third[] = "extends: base\ntemplates:\n\n  worse: {template: lost}\n";
    struct machine_config config;
    folder_write(folder, "shipped/base.yaml", base, sizeof base - 1);
    folder_write(folder, "shipped/other.yaml", other, sizeof other - 1);
    folder_write(folder, "shipped/third.yaml", third, sizeof third - 1);
    must_load(folder, &config, "extends: base\na: {kind: crossbar, template: twice, width: 8 B}\n", NULL);
    static const char *const sources[][2] = {
        {"a.latency", "base.yaml:6"}, {"a.clock", "base.yaml:7"}, {"a.width", "m.yaml:2"}};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char source[TREE_SOURCE];
        tree_source_of(config.tree, sources[i][0], source);
        const char *slash = strrchr(source, '/');
        assert_string_equal(slash ? slash + 1 : source, sources[i][1]);
    }
    machine_free(&config);
    assert_refused_as(folder, "extends: other\na: {kind: crossbar, template: bad}\n", NULL,
                      "/shipped/other.yaml:4: a.latency: 'fast' is not a whole number such as 16");
    assert_refused_as(folder, "extends: third\na: {kind: crossbar, template: worse}\n", NULL,
                      "/shipped/third.yaml:4: template: unknown template 'lost'");
}

static void templates_without_users_are_checked(void **state)
{
    static const char *const good[] = {
        "a: {}",
        "a: {kind: crossbar, width: 8 B, latency: auto, out: dram, count: 3}",
        "a: {width: 8 B, request_queue: 4}",
        "a: {kind: group, count: 2, dram: {channels: 2}, sm: {kind: simt, l2: none}, x: {width: 3}, y: none}",
        "a: {kind: group, b: {template: b}, 1.b.latency: 3, '*.latency': 4}, b: {kind: crossbar}",
        "a: {core: ooo, predict: {btb: 512}, l1d.size: 8 KiB, 3: {rob: 64}}",
    };
    static const char *const bad[][2] = {
        {"a: {bogus: 3}", "template 'a': no kind of part takes the key 'bogus' with this value"},
        {"a: {width: 3 ns}", "template 'a': no kind of part takes the key 'width' with this value"},
        {"a: {width: 8 B, rob: 64, channels: 4}",
         "template 'a': no kind of part has all keys; a key `kind` tells which one is meant"},
        {"a: {kind: croossbar}", "template 'a': unknown kind 'croossbar'"},
        {"a: {kind: crossbar, wdth: 8 B}",
         "template 'a': unknown key 'wdth'; keys of crossbar: clock, width, latency, request_queue, "
         "response_queue, queues, buffer, energy_bit, leakage, in, out"},
        {"a: {kind: crossbar, width: 8 ns}", "template 'a': width: '8 ns' has the unknown unit 'ns'; "},
        {"a: {kind: crossbar, width: {b: 1}}", "template 'a': width takes one value, not a mapping"},
        {"a: {kind: group, dram: {chanels: 2}}", "template 'a': unknown key 'chanels'; keys of dram: "},
        {"a: {kind: group, x: {kind: link, ways: 3}}", "template 'a': unknown key 'ways'; keys of link: "},
        {"a: {kind: group, dram: 3}", "template 'a': unknown key 'dram'; keys of group: "},
        {"a: {b: {template: c}}", "template: unknown template 'c'"},
        {"a: {b: {template: a}}", "template: 'a': templates are nested too deeply"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct machine_config config;
        (void)snprintf(text, sizeof text, "harts: 1\ntemplates: {%s}\n", good[i]);
        must_load(*state, &config, text, NULL);
        machine_free(&config);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct machine_config config;
        struct error err;
        (void)snprintf(text, sizeof text, "harts: 1\ntemplates: {%s}\n", bad[i][0]);
        assert_false(try_load(*state, &config, text, NULL, &err));
        const char *message = strstr(err.text, "/m.yaml:2: ");
        if (!message || strncmp(message + 11, bad[i][1], strlen(bad[i][1])) != 0)
            fail_msg("%s: %s", bad[i][0], err.text);
    }
    struct machine_config config; /* the user of a template decides what its keys mean */
    must_load(*state, &config, "templates: {a: {b: {width: 16 B}}}\n",
              SETS("c.template=a", "c.kind=group", "c.b.kind=crossbar"));
    assert_value(&config, "c.b", "width", "16 B");
    machine_free(&config);
}

/* A part starts with its template, wherever the key stands and however its name is written. */
static void templates_are_named_by_dotted_keys(void **state)
{
    static const char templates[] = "host: {core: inorder}\n"
                                    "templates:\n"
                                    "  bus: {kind: crossbar, width: 64 B, latency: 5}\n"
                                    "  wide: {width: 128 B}\n"
                                    "  pair: {kind: group, count: 2, bus: {template: bus}, bus.latency: 6}\n";
    static const char *const ways[] = {
        "a: {latency: 7, template: bus}\n",   "a.latency: 7\na: {template: bus}\n",
        "a.latency: 7\na.template: bus\n",    "a.template: bus\na: {latency: 7}\n",
        "a: {latency: 7}\na.template: bus\n",
    };
    struct machine_config config;
    char text[1024];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        (void)snprintf(text, sizeof text, "%s%s", templates, ways[i]);
        must_load(*state, &config, text, NULL);
        assert_value(&config, "a", "width", "64 B");
        assert_value(&config, "a", "latency", "7");
        machine_free(&config);
    }
    /* The template of an outer part comes before that of a part within it. */
    (void)snprintf(text, sizeof text, "%sb.bus.template: wide\nb.1.bus.width: 16 B\nb.template: pair\n",
                   templates);
    must_load(*state, &config, text, SETS("c.template=bus", "c.width=32 B"));
    assert_value(&config, "b.0.bus", "width", "128 B");
    assert_value(&config, "b.1.bus", "width", "16 B");
    assert_value(&config, "b.1.bus", "latency", "6");
    assert_value(&config, "c", "width", "32 B");
    assert_value(&config, "c", "latency", "5");
    machine_free(&config);
    (void)snprintf(text, sizeof text, "%sa.template: buss\n", templates);
    assert_refused_as(*state, text, NULL, "/m.yaml:6: template: unknown template 'buss'");
    assert_refused_as(*state, templates, SETS("a.template=buss"),
                      "--set 'a.template=buss': template: unknown template 'buss'");
    assert_refused_as(
        *state, templates, SETS("template=bus"),
        "--set: unknown key 'template'; known at the top: name, description, harts, quantum, isa, "
        "homes, stack_hash, pages, memory, user_stack, host, accel, nucd, l2, simt, crossbar, "
        "dram, mmu, devices");
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_part_is_there_when_it_is_mentioned),
        FOLDER_TEST(none_takes_out_with_all_below),
        FOLDER_TEST(none_takes_out_through_patterns),
        FOLDER_TEST(none_hides_no_misspelt_key),
        FOLDER_TEST(counts_take_patterns),
        FOLDER_TEST(many_names_have_their_settings),
        FOLDER_TEST(copies_are_set_together_or_one_by_one),
        FOLDER_TEST(counts_have_their_range),
        FOLDER_TEST(no_copies_are_absence),
        FOLDER_TEST(parts_nest_under_names_of_ones_own),
        FOLDER_TEST(wildcards_stand_for_names_and_numbers),
        FOLDER_TEST(a_pattern_that_concerns_nothing_is_an_error),
        FOLDER_TEST(the_last_setting_wins_and_is_named),
        FOLDER_TEST(auto_restores_what_follows),
        FOLDER_TEST(names_of_ones_own_are_words),
        FOLDER_TEST(parts_without_a_kind_get_hints),
        FOLDER_TEST(templates_are_found_and_end),
        FOLDER_TEST(templates_have_their_own_lines),
        FOLDER_TEST(templates_are_named_by_dotted_keys),
        FOLDER_TEST(templates_without_users_are_checked),
    };
    return cmocka_run_group_tests_name("trees of instances", tests, NULL, NULL);
}
