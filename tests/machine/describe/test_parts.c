/* The parts of timed machines: automatic values, effects of keys, and the messages of checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/core/tlb.h"
#include "emu/dram/standard.h"
#include "emu/machine/plan/plan.h"
#include "emu/mem/cache.h"
#include "emu/mem/cache/tags.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/nucd/config.h"
#include "tests/machine/folder.h"

/* Compares two configurations field by field, because bytes between fields are undefined. */
static void assert_same(const struct part_kind *kind, const void *is, const void *wanted)
{
    assert_non_null(is);
    for (size_t i = 0; i < kind->field_count; i++) {
        char one[FIELD_VALUE], two[FIELD_VALUE];
        if (!part_field_used(kind, &kind->fields[i], wanted))
            continue;
        field_format(&kind->fields[i], is, one);
        field_format(&kind->fields[i], wanted, two);
        if (strcmp(one, two) != 0)
            fail_msg("%s.%s: %s, not %s", kind->name, kind->fields[i].name, one, two);
    }
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
    assert_loads(
        *state, &config,
        "host: {core: inorder}\ndram: {standard: hbm1, tRP: 15 ns, tCL: auto}\nmemory: {size: 1 GiB}\n");
    const struct dram_config *dram = tree_config(config.tree, "dram");
    assert_int_equal(dram->tCK, 2000000); /* fs */
    assert_int_equal(dram->tCL, 14000000);
    assert_int_equal(dram->tRP, 15000000);
    assert_int_equal(dram->channels, 8);
    assert_int_equal(dram->energy_act, 828000); /* fJ */
    assert_int_equal(dram->power_open, 66000);  /* uW */
    assert_string_equal(dram->map, "R14 B2 C5 G2 H3 O6");
    assert_source(&config, "dram.tCK", "hbm1: JESD235: 500 MHz for 1 Gb/s");
    assert_source(&config, "dram.read_queue", "hbm1");
    struct dram_config wanted;
    dram_config_default(&wanted, DRAM_STANDARD_hbm1);
    wanted.tRP = 15000000;
    assert_same(&dram_kind, dram, &wanted);
    machine_free(&config);
}

static void every_standard_comes_through_whole(void **state)
{
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct machine_config config;
        struct dram_config wanted;
        char text[64];
        (void)snprintf(text, sizeof text, "dram: {standard: %s}\n", dram_standard_name(standard));
        assert_loads(*state, &config, text);
        dram_config_default(&wanted, standard);
        assert_same(&dram_kind, tree_config(config.tree, "dram"), &wanted);
        machine_free(&config);
    }
}

static void the_kind_of_core_decides_its_values(void **state)
{
    struct machine_config config;
    struct core_config inorder, ooo;
    core_config_default(&inorder, CORE_INORDER);
    core_config_default(&ooo, CORE_OOO);
    assert_loads(*state, &config, "host: {core: inorder}\n");
    assert_same(&core_kind, config.host, &inorder);
    machine_free(&config);

    assert_loads(*state, &config,
                 "host: {core: ooo, rob: 64, predict: {btb: 1024}, latency: {mul: 7}, ports: {mul: 2}}\n"
                 "accel: {}\ncrossbar: {}\ndevices: {clint: {}}\n");
    ooo.rob = 64;
    ooo.predict.btb = 1024;
    ooo.latency.of[CORE_WORK_mul].latency = 7;
    ooo.latency.of[CORE_WORK_mul].ports = 2;
    assert_same(&core_kind, config.host, &ooo);
    inorder.clock = 1000000000; /* the accelerators' core */
    assert_same(&core_kind, config.accel, &inorder);
    machine_free(&config);
}

static void parts_without_keys_are_their_own_defaults(void **state)
{
    struct machine_config config;
    struct cache_config l1;
    struct llc_config llc;
    struct tlb_config tlb;
    struct crossbar_config crossbar;
    assert_loads(*state, &config,
                 "host: {core: ooo}\naccel: {count: 3}\ncrossbar: {}\ndevices: {clint: {}}\n");
    part_defaults(&cache_kind, 0, &l1);
    part_defaults(&tlb_kind, 0, &tlb);
    part_defaults(&llc_kind, 0, &llc);
    part_defaults(&crossbar_kind, 0, &crossbar);
    assert_same(&cache_kind, tree_config(config.tree, "accel.2.l1d"), &l1);
    assert_same(&cache_kind, tree_config(config.tree, "host.l1i"), &l1);
    assert_same(&tlb_kind, tree_config(config.tree, "host.tlb"), &tlb);
    assert_same(&llc_kind, tree_config(config.tree, "l2"), &llc);
    assert_same(&crossbar_kind, tree_config(config.tree, "crossbar"), &crossbar);
    assert_int_equal(config.harts, 4);
    assert_int_equal(config.accel_count, 3);
    machine_free(&config);
}

/* The choices of a field, in the order of its enumeration. */
static void assert_choices(const struct part_kind *kind, const char *name, size_t count,
                           const char *const *names)
{
    int index = part_field_find(kind, name);
    assert_true(index >= 0);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(kind->fields[index].choices[i], names[i]);
    assert_null(kind->fields[index].choices[count]);
}

static void choices_are_those_of_the_parts(void **state)
{
    (void)state;
    const char *standards[DRAM_STANDARDS];
    for (enum dram_standard i = 0; i < DRAM_STANDARDS; i++)
        standards[i] = dram_standard_name(i);
    assert_choices(&dram_kind, "standard", DRAM_STANDARDS, standards);
    assert_choices(
        &dram_kind, "page", 3,
        (const char *const[]){
            [DRAM_PAGE_OPEN] = "open", [DRAM_PAGE_CLOSED] = "closed", [DRAM_PAGE_TIMEOUT] = "timeout"});
    assert_choices(
        &dram_kind, "refresh", 3,
        (const char *const[]){
            [DRAM_REFRESH_NONE] = "none", [DRAM_REFRESH_ALL] = "all", [DRAM_REFRESH_BANK] = "bank"});
    assert_choices(&cache_kind, "replacement", 2,
                   (const char *const[]){[TAGS_LRU] = "lru", [TAGS_TREE_PLRU] = "tree_plru"});
    assert_choices(&cache_kind, "prefetch", 4,
                   (const char *const[]){[CACHE_PREFETCH_NONE] = "none",
                                         [CACHE_PREFETCH_NEXT_LINE] = "next_line",
                                         [CACHE_PREFETCH_STRIDE] = "stride",
                                         [CACHE_PREFETCH_STREAM] = "stream"});
    assert_choices(&core_kind, "core", 3,
                   (const char *const[]){
                       [CORE_FUNCTIONAL] = "functional", [CORE_INORDER] = "inorder", [CORE_OOO] = "ooo"});
}

/* A description, and the required begin and content of its message after the folder's path. */
struct fault {
    const char *text, *begins, *contains;
};

static const struct fault faults[] = {
    {"host: {core: inorder}\naccel: {}\ncrossbar: {}\nnucd:\n  queue_lines: 8\n  transfer_lines: 9\ndevices: "
     "{clint: {}}\n",
     "/m.yaml:6: nucd.transfer_lines: 9 is not allowed", "allowed: 2 to 8, the value of nucd.queue_lines"},
    {"host:\n  core: inorder\n  l1d:\n    size: 33000 B\n", "/m.yaml:4: host.l1d.size: ", ""},
    {"host: {core: inorder}\nl2:\n  ways: 3\n  size: 1 MiB\n", "/m.yaml:4: l2.size: ", ""},
    {"host: {core: inorder}\naccel:\n  l1i:\n    line: 24 B\n", "/m.yaml:4: accel.l1i.line: ", ""},
    {"host:\n  core: inorder\n  l1d: {line: 32 B}\n", "/m.yaml:3: host.l1d.line: ", "l2.line, which is 64 B"},
    {"host: {core: inorder}\ndram:\n  read_queue: 1\n  standard: gddr5\nmemory: {size: 64 MiB}\n", "",
     ": l2.line: 64 B is not allowed; allowed: at most the size of the smaller of dram.read_queue and "
     "dram.write_queue, which is 32 B"},
    {"host: {core: inorder}\nmemory:\n  size: 2 GiB\ndram: {standard: gddr5}\n",
     "/m.yaml:3: memory.size: ", "allowed: at most 768 MiB, the capacity that dram.channels, ranks, "},
    {"host: {core: inorder}\ndram:\n  write_high: 40\n", "/m.yaml:3: dram.write_high: ", ""},
    {"host: {core: inorder}\ndram:\n  map: X9\n", "/m.yaml:3: dram.map: ", ""},
    {"host: {core: inorder}\ndram:\n  banks: 64\n  ranks: 2\n",
     "dram: ranks * groups * banks: ", "at most 64"},
    {"host:\n  core: ooo\n  predict:\n    btb: 3\n", "/m.yaml:4: host.predict.btb: ", ""},
    {"host:\n  core: ooo\n  fetch_bytes: 24\n", "/m.yaml:3: host.fetch_bytes: ", ""},
    {"host:\n  core: ooo\n  tlb:\n    l1_ways: 5\n", "", "host.tlb.l1_"},
    {"host: {core: inorder, count: 449}\naccel:\n  count: 64\ncrossbar: {}\ndevices: {clint: {}}\n", "",
     "harts: 513 is not allowed; allowed: 1 to 512"},
    {"host: {core: inorder}\naccel:\n  count: 65\ncrossbar: {}\ndevices: {clint: {}}\nnucd: {}\n",
     "/m.yaml:3: accel.count: ", "allowed: 0 to 64, the stacks that their firmware has"},
    {"harts: 3\nhost: {core: inorder, count: 2}\ndevices: {clint: {}}\n",
     "/m.yaml:1: harts: ", "allowed: auto, or host.count + accel.count, which is 2"},
    {"host: {core: inorder, count: 2}\n", "the number of cores: harts: 2", "devices.clint"},
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

static void assert_faults(const struct folder *folder, const struct fault *faulty, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct machine_config config;
        struct error err = {.text = ""};
        bool loaded = load(folder, &config, faulty[i].text, &err);
        assert_false(loaded && plan_check(&config, &err));
        if (loaded)
            machine_free(&config);
        if (strncmp(err.text, folder->path, strlen(folder->path)) != 0 ||
            strncmp(err.text + strlen(folder->path), faulty[i].begins, strlen(faulty[i].begins)) != 0 ||
            !strstr(err.text, faulty[i].contains))
            fail_msg("fault %zu: %s", i, err.text);
    }
}

/* Ports that cannot be connected. */
static const struct fault joints[] = {
    {"host: {core: inorder}\naccel:\n  count: 2\ndevices: {clint: {}}\n",
     "/m.yaml:2: accel.0.memory: the port has no partner (", "`memory: crossbar`"},
    {"host:\n  core: inorder\n  memory: host\n",
     "/m.yaml:3: host.0.memory: host.0, a core, has no port that "
     "serves memory",
     ""},
    {"host:\n  core: inorder\n  memory: l3\n", "/m.yaml:3: host.0.memory: ", "l3"},
    {"host: {core: inorder}\nl2:\n  memory: dram.access[3]\n", "/m.yaml:3: l2.memory: ", "dram"},
};

static void ports_that_do_not_fit_are_named(void **state)
{
    assert_faults(*state, joints, sizeof joints / sizeof *joints);
}

#define TWO                                                                                                  \
    "host: {core: inorder}\ndram: none\nstack:\n  kind: group\n  count: 2\n  dram: {standard: hmc_tom}\n"

/* Impossible homes and paths. A derived value is reported as an error of the memory whose map it follows. */
static const struct fault plans[] = {
    {TWO "crossbar: {out: 'stack.*.dram'}\nhomes: R14 B3\n", "/m.yaml:8: homes: map: ", "R14 B3"},
    {TWO "crossbar: {out: 'stack.*.dram'}\nhomes: S1 R13 C5 B3 H4 O5\n", "/m.yaml:8: homes: map: ", ""},
    {TWO "crossbar: {out: 'stack[0].dram'}\n", "/m.yaml:6: host.0 has no way to stack.1.dram", ""},
    {TWO "crossbar: {out: 'stack.*.dram'}\n"
         "far:\n  kind: group\n  crossbar: {out: '../stack[1].dram'}\n  simt: {count: 1}\n",
     "/m.yaml:11: far.simt has no way to stack.0.dram", ""},
    {"host: {core: inorder}\n\nl2: {memory: 'x[0]'}\nx: {kind: link, count: 20, to: 'x[i+1]'}\nx.19.to: "
     "dram\n",
     "/m.yaml:1: host.0 is too many links away from dram", "a request passes at most 21"},
    {TWO "crossbar: {out: 'stack.*.dram'}\nodd:\n  kind: group\n  dram: {standard: ddr3_1600k}\n",
     "/m.yaml:10: stack.0.dram.channels is 16, odd.dram.channels is 1", "one organisation and one map"},
    {TWO "crossbar: {out: 'stack.*.dram'}\nstack.1.dram.bank_hash: true\n",
     "/m.yaml:8: stack.1.dram.bank_hash is true, stack.0.dram.bank_hash is false", ""},
    {TWO "crossbar: {out: 'stack.*.dram'}\nhomes: R12 B4 C6 H4 S1 O6\n"
         "l2.line: 128 B\nhost.l1i.line: 128 B\nhost.l1d.line: 128 B\n",
     "/m.yaml:8: homes: ", "changes the stack within 128 bytes, the line of host.0.l1i"},
    {TWO "crossbar: {out: 'stack.*.dram'}\nhomes: C6 B4 S1 H4 R12 O6\nstack_hash: true\n"
         "l2.line: 128 B\nhost.l1i.line: 128 B\nhost.l1d.line: 128 B\n",
     "/m.yaml:8: homes: ", "changes the stack within 128 bytes, the line of host.0.l1i"},
    {TWO "crossbar: {out: 'stack.*.dram'}\nstack_hash: true\nstack.count: 3\n",
     "/m.yaml:8: stack_hash: 3 stacks; hashing needs a power of two", ""},
};

/* Lines that meet across the tree, and caches that are coherent only where they are joined to their last level. */
#define LEVEL "host:\n  core: inorder\nl2:\n  memory: y\ny:\n  kind: llc\n  memory: dram\n"
static const struct fault meetings[] = {
    {LEVEL "  line: 16 B\n", "/m.yaml:8: y.line: 16 B is not allowed; allowed: l2.line, which is 64 B", ""},
    {"host:\n  core: inorder\n  memory: y\ny:\n  kind: llc\n  memory: dram\n  line: 128 B\n",
     "/m.yaml:7: y.line: 128 B is not allowed; allowed: host.0.l1i.line, which is 64 B", ""},
    {"host: {core: inorder}\nsimt:\n  count: 1\n  memory: l2\n",
     "/m.yaml:2: ", "simt.l2.line is 128 B, but requests go to l2, whose line is 64 B"},
    {"host:\n  core: inorder\n  memory: wire\nwire: {kind: link, to: l2}\n",
     "/m.yaml:1: host.0 reaches l2 through", "memory: l2"},
    {"host: {core: inorder}\nsimt:\n  count: 1\n  crossbar: none\n  l2: {slices: 4}\n",
     "/m.yaml:5: simt.l2.slices: 4", "without simt.crossbar"},
    {"host: {core: inorder}\nsimt:\n  count: 1\n  l2: {memory: /dram}\n",
     "/m.yaml:4: simt.l2.memory: '/dram' is not allowed: simt joins this port itself", "allowed: auto"},
    {"host: {core: inorder}\nmore: {kind: nucd}\n", "/m.yaml:2: more: a part of kind nucd",
     "allowed: nucd of"},
    {"host: {core: inorder}\nmore: {kind: core}\n", "/m.yaml:2: more: a part of kind core", "host and accel"},
};

static void lines_that_meet_are_equal(void **state)
{
    assert_faults(*state, meetings, sizeof meetings / sizeof *meetings);
}

static void homes_and_ways_that_cannot_be_are_named(void **state)
{
    struct machine_config config;
    assert_faults(*state, plans, sizeof plans / sizeof *plans);
    struct error err = {.text = ""};
    assert_loads(*state, &config, TWO "crossbar: {out: 'stack.*.dram'}\n");
    if (!plan_check(&config, &err))
        fail_msg("%s", err.text);
    machine_free(&config);
}

/* The map of two stacks of hmc_tom as croft show gives it, and what the same text means with and without stack_hash: of
 * R12 B4 C5 S1 H4 C1 O6, the stack is bit 11 and the row begins at bit 21. */
static void derived_homes_are_text_that_can_be_written(void **state)
{
    static const char derived[] = "\nhomes: \"R12 B4 C5 S1 H4 C1 O6\"  # dram.map, ",
                      file[] = TWO "crossbar: {out: 'stack.*.dram'}\n";
    struct machine_config config;
    struct plan plan;
    struct error err = {""};
    for (unsigned i = 0; i < 4; i++) {
        char text[512], *shown = NULL;
        size_t size;
        bool written = i & 1, hash = i & 2;
        (void)snprintf(text, sizeof text, "%s%s%s", file, written ? "homes: R12 B4 C5 S1 H4 C1 O6\n" : "",
                       hash ? "stack_hash: true\n" : "");
        assert_loads(*state, &config, text);
        FILE *out = open_memstream(&shown, &size);
        machine_show(&config, out);
        (void)fclose(out);
        assert_true((strstr(shown, derived) != NULL) == !written);
        free(shown);
        assert_true(plan_machine(&plan, &config, &err));
        for (uint64_t number = 0; number < UINT64_C(1) << 28; number += 0x345680) {
            struct home home;
            unsigned row = (unsigned)(number >> 21) & 0xfff, wanted = (unsigned)(number >> 11) & 1;
            home_resolve(plan.homes, config.memory->base + number, &home);
            assert_int_equal(home.row, row);
            assert_int_equal(home.stack, hash ? wanted ^ ((unsigned)__builtin_popcount(row) & 1) : wanted);
        }
        plan_free(&plan);
        machine_free(&config);
    }
}

static void keys_of_another_core_are_unused(void **state)
{
    struct machine_config config;
    const char *names[8];
    assert_loads(*state, &config,
                 "host: {core: inorder, rob: 64, store_buffer: 4, fetch_bytes: 8}\naccel: {iq: 8}\n"
                 "crossbar: {}\ndevices: {clint: {}}\n");
    assert_int_equal(tree_unused(config.tree, names, 8), 2);
    assert_string_equal(names[0], "host.rob");
    assert_string_equal(names[1], "accel.iq");
    machine_free(&config);
}

/* Sweeping the reorder buffer changes one key. Keys that the user has set are not adjusted. */
static void a_small_reorder_buffer_needs_no_other_key(void **state)
{
    struct machine_config config;
    assert_loads(*state, &config, "host: {core: ooo, rob: 20}\n");
    assert_int_equal(config.host->fetch_queue, 20);
    assert_int_equal(config.host->iq, 20);
    machine_free(&config);
    assert_loads(*state, &config, "host: {core: ooo, rob: 50, iq: 10}\n");
    assert_int_equal(config.host->fetch_queue, 48);
    assert_int_equal(config.host->iq, 10);
    machine_free(&config);
}

static void transfers_fit_in_a_work_queue(void **state)
{
    static const struct {
        const char *keys;
        uint32_t lines;
    } cases[] = {
        {"", 4}, {"queue_lines: 2", 2}, {"queue_lines: 3", 3}, {"queue_lines: 9, transfer_lines: 9", 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine_config config;
        char text[160];
        (void)snprintf(text, sizeof text,
                       "host: {core: ooo}\naccel: {}\ncrossbar: {}\nnucd: {%s}\ndevices: {clint: {}}\n",
                       cases[i].keys);
        assert_loads(*state, &config, text);
        const struct nucd_config *nucd = tree_config(config.tree, "nucd");
        assert_int_equal(nucd->transfer_lines, cases[i].lines);
        machine_free(&config);
    }
}

/* The limits of fields that another key of the machine forbids, and the text that names that key. */
static const struct {
    const char *kind, *field, *because;
} forbidden[] = {
    {"core", "decode_clocks", "in order: at most"},
    {"core", "fetch_queue", "in order: at most"},
    {"core", "fetch_queue", "out of order: at least"},
    {"core", "fetch_queue", "at most rob"},
    {"core", "frontend_clocks", ".decode_clocks: "},
    {"core", "frontend_clocks", "in order: at most"},
    {"core", "iq", "at most rob"},
    {"core", "load_queue", "in order: at most"},
    {"core", "predict.btb", "at least btb_ways"},
    {"core", "taken_clocks", "in order: at most"},
    {"tlb", "l1_ways", "l1_entries"},
    {"tlb", "l2_ways", "l2_entries"},
    {"dram", "groups", "ranks * groups * banks"},
    {"dram", "read_queue", "dram.read_queue and dram.write_queue"},
    {"dram", "rows", "memory.size: "},
    {"dram", "write_high", "write_low: "},
    {"dram", "write_high", "write_queue"},
    {"dram", "write_low", "write_high"},
    {"dram", "write_queue", "write_high: "},
    {"nucd", "transfer_lines", "the value of nucd.queue_lines"},
    {"llc", "hit_clocks", "tag_clocks: "},
    {"llc", "tag_clocks", "hit_clocks"},
    {"llc", "banks", "at most size / (ways * line)"},
};

enum { FORBIDDEN = sizeof forbidden / sizeof *forbidden };

/* Marks the rows to which this refusal of a field's limit belongs. Returns false if there is none. */
static bool is_forbidden(const struct part_kind *kind, const struct part_field *field, const char *text,
                         bool seen[FORBIDDEN])
{
    bool found = false;
    for (size_t i = 0; i < FORBIDDEN; i++)
        if (strcmp(forbidden[i].kind, kind->name) == 0 && strcmp(forbidden[i].field, field->name) == 0 &&
            strstr(text, forbidden[i].because))
            seen[i] = found = true;
    return found;
}

/* Every value that `croft show` lists as allowed loads, unless another key forbids it. */
static void documented_ranges_hold(void **state)
{
    const struct folder *folder = *state;
    static const char *const cores[] = {"host.core=inorder", "host.core=ooo"};
    static const char file[] = "memory: {size: 256 MiB}\nhost: {core: inorder}\naccel: {}\ncrossbar: {}\n"
                               "nucd: {}\nsimt: {count: 1}\ndevices: {clint: {}}\n";
    char path[256];
    unsigned walked = 0;
    bool seen[FORBIDDEN] = {false};
    struct machine_config all;
    struct error err = {""};
    assert_loads(folder, &all, file);
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    for (const struct instance *i = tree_next(all.tree, NULL); i; i = tree_next(all.tree, i)) {
        for (size_t j = 0; j < 4 * i->kind->field_count; j++) {
            const struct part_field *field = &i->kind->fields[j / 4];
            char set[TREE_NAME + 64];
            const char *sets[] = {cores[j % 2], set};
            struct machine_config config;
            if (field->type != FIELD_COUNT || strcmp(field->name, "harts") == 0)
                continue; /* harts: a timed machine has as many as cores */
            (void)snprintf(set, sizeof set, "%s%s%s=%s", i->path, *i->path ? "." : "", field->name,
                           j / 2 % 2 ? field->max : field->min);
            if (machine_load(&config, path, folder->shipped, sets, 2, &err))
                machine_free(&config);
            else if (!is_forbidden(i->kind, field, err.text, seen))
                fail_msg("%s %s, %s: %s", i->kind->name, sets[0], set, err.text);
            walked++;
        }
    }
    machine_free(&all);
    assert_true(walked > 400);
    for (size_t i = 0; i < FORBIDDEN; i++)
        if (!seen[i])
            fail_msg("%s.%s is not forbidden: %s", forbidden[i].kind, forbidden[i].field,
                     forbidden[i].because);
}

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_standard_gives_its_values),
        FOLDER_TEST(every_standard_comes_through_whole),
        FOLDER_TEST(the_kind_of_core_decides_its_values),
        FOLDER_TEST(a_small_reorder_buffer_needs_no_other_key),
        FOLDER_TEST(transfers_fit_in_a_work_queue),
        FOLDER_TEST(parts_without_keys_are_their_own_defaults),
        cmocka_unit_test(choices_are_those_of_the_parts),
        FOLDER_TEST(documented_ranges_hold),
        FOLDER_TEST(each_fault_names_key_and_line),
        FOLDER_TEST(ports_that_do_not_fit_are_named),
        FOLDER_TEST(homes_and_ways_that_cannot_be_are_named),
        FOLDER_TEST(lines_that_meet_are_equal),
        FOLDER_TEST(derived_homes_are_text_that_can_be_written),
        FOLDER_TEST(keys_of_another_core_are_unused),
    };
    return cmocka_run_group_tests_name("parts of timed machines", tests, NULL, NULL);
}
