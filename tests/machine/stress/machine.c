/* Writes a random machine of the family of `undercroft` in YAML: machine SEED. One of ten is `undercroft` itself with other keys; the
 * others have 1 to 8 stacks of 2 to 16 vaults and 1 to 8 multiprocessors around a network of any topology. In each, some mechanisms
 * are off, and some keys have other values. Its first line is a comment: the program of the two that it needs, `full` or `plain` (without
 * units of AxRAM), and options of croft run. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/mix.h"

struct machine {
    uint64_t random;
    unsigned stacks_log, vaults_log, multiprocessors, accelerators, nodes; /* accelerators: of a stack */
    bool small, units, stash, engine, near; /* near: thread stacks are in the memories near multiprocessors */
};

static uint32_t chance(struct machine *m, uint32_t below)
{
    return (uint32_t)((mix_next(&m->random) >> 32) * below >> 32);
}

/* Values of a key, which `|` separates; the key is set in one of `in` machines. */
struct setting {
    const char *key, *values;
    uint32_t in;
};

static const struct setting host_settings[] = {
    {"host.core", "inorder|ooo", 3},
    {"host.l1d.size", "4 KiB|16 KiB|64 KiB", 4},
    {"host.l1d.prefetch", "none|next_line|stride|stream", 4},
    {"l2.size", "32 KiB|128 KiB", 4},
    {"l2.prefetch", "none|next_line|stream", 4},
    {"l2.mshrs", "2|8", 4},
    {"accel.core", "inorder|ooo", 4},
    {"accel.l1d.size", "4 KiB|16 KiB", 4},
    {"accel.l1d.mshrs", "2|3", 4},
    {"accel.l1d.prefetch", "none|next_line|stride", 4},
    {"nucd.tasks", "1|4|16", 4},
    {"nucd.ranges", "line|page", 6},
    {"nucd.queue_lines", "8|32", 4},
    {"nucd.retire", "inorder|checkpoint", 3},
    {"nucd.coalesce", "false", 4},
    {"nucd.transfer_lines", "2|8", 4},
    {"nucd.buffer_lines", "2|16", 4},
};

static const struct setting simt_settings[] = {
    {"simt.reconvergence", "minpc|stack", 4},
    {"simt.policy", "gto|round_robin", 4},
    {"simt.blocks", "1|2|16", 4},
    {"simt.schedulers", "1|4", 4},
    {"simt.memory_queue", "1|2", 4},
    {"simt.accesses", "32|64", 4},
    {"simt.placement", "round_robin|contiguous", 4},
    {"simt.one_line", "false", 4},
    {"simt.l1.size", "2 KiB|8 KiB|128 KiB", 3},
    {"simt.l1.ways", "1|2|8", 4},
    {"simt.l1.mshrs", "2|8", 4},
    {"simt.l1.mshr_targets", "1|4", 4},
    {"simt.l1.write_buffer", "1|8", 4},
    {"stack.simt.l1.size", "2 KiB|8 KiB", 3},
    {"stack.simt.l1.mshrs", "1|4", 4},
    {"offload.decide_clocks", "1|100", 4},
    {"offload.pending", "1|3", 4},
    {"offload.each_round", "true", 3},
    {"offload.balance", "true", 4},
    {"offload.alu_ratio", "2|8", 6},
    {"offload.push_all", "true", 6},
    {"offload.send_held", "true", 4},
    {"offload.window", "10 ns|2 us", 4},
    {"offload.busy_percent", "10|50|101", 4},
};

/* Where stacks of threads are not near them. */
static const struct setting warp_settings[] = {
    {"simt.warps", "4|16", 3},
    {"stack.simt.warps", "2|8", 3},
};

static const struct setting map_settings[] = {
    {"offload.learn_instances", "1|3|10|40", 1},
    {"offload.learn_pending", "2|8", 3},
    {"offload.learn_limit", "2 us|50 us", 1},
    {"offload.map_choice", "together|even", 2},
    {"offload.copy", "true", 3},
    {"pcie.requests", "1|4", 4},
};

static const struct setting stash_settings[] = {
    {"stash.maps", "2|3|8", 3},
    {"stash.entries", "32|48", 3},
    {"stash.pages", "6|16", 4},
    {"stash.answer", "word|mapped|line", 2},
    {"stash.scout", "1|3", 4},
    {"stash.prefetch", "16|64", 4},
    {"stash.replication", "false", 3},
    {"stash.reads", "1|8", 4},
    {"stash.writes", "1|4", 4},
    {"stash.translations", "4", 4},
    {"stash.translation_clocks", "0|40", 4},
};

static const struct setting axram_settings[] = {
    {"axram.columns", "gddr5|paper", 3}, {"axram.held", "32|96", 3},      {"axram.queue", "1|2", 3},
    {"axram.notify", "poll|fixed", 3},   {"axram.drop_clocks", "0|8", 4}, {"axram.message", "1 ns|200 ns", 4},
    {"axram.poll_clocks", "1|64", 4},
};

static const struct setting memory_settings[] = {
    {"stack_hash", "true", 4},
    {"stack.dram.channel_hash", "true", 4},
    {"stack.dram.bank_hash", "false", 4},
    {"stack.dram.page", "open|closed|timeout", 3},
    {"stack.dram.read_queue", "4|8", 4},
    {"stack.dram.refresh", "none|all", 3},
    {"stack.dram.tREFI", "1 us", 6},
    {"stack.dram.hit_cap", "1|4", 4},
    {"stack.crossbar.queues", "fifo|virtual", 4},
    {"stack.crossbar.request_queue", "1|4", 4},
    {"stack.crossbar.response_queue", "1|8", 4},
    {"stack.crossbar.latency", "1|10", 4},
};

static const struct setting net_settings[] = {
    {"net.vcs", "2|3|4", 2},
    {"net.buffer", "4|6|16", 3},
    {"net.flit", "16 B|64 B", 4},
    {"net.header", "8 B", 6},
    {"net.latency", "2|20", 4},
    {"net.speedup", "2", 4},
    {"net.routing_clocks", "1", 4},
    {"net.speculative", "true", 4},
    {"net.iterations", "2", 4},
    {"net.vc_arbitration", "age|age_input|distance|loads|oracle", 3},
    {"net.switch_arbitration", "age|age_input|distance|loads|oracle", 3},
    {"net.vc_choice", "credits", 4},
    {"net.epoch", "100 ns|1 us", 2},
    {"net.track_threshold", "0|100", 4},
    {"net.hysteresis", "0|2", 4},
    {"net.fairness", "10|50", 4},
    {"net.priority_shared", "true", 4},
    {"net.width_change", "stop|late", 4},
    {"net.output_queue", "1|4", 4},
    {"net.send_queue", "1|16", 4},
};

#define SETTINGS(table) table, sizeof(table) / sizeof *(table)

static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
}

/* Writes some of a table's settings: `share` percent of those that chance takes. */
static void set(struct machine *m, const struct setting *table, size_t count, uint32_t share)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t values = 1;
        for (const char *c = table[i].values; *c; c++)
            values += *c == '|';
        const char *value = table[i].values;
        for (uint32_t n = chance(m, values); n > 0; n--)
            value = strchr(value, '|') + 1;
        if (chance(m, table[i].in) == 0 && chance(m, 100) < share)
            put("%s: %.*s\n", table[i].key, (int)strcspn(value, "|"), value);
    }
}

static void write_nodes(struct machine *m, const char *key, unsigned count)
{
    put("  %s: \"", key);
    for (unsigned i = 0; i < count; i++)
        put("%s%u", i ? " " : "", (unsigned)chance(m, m->nodes));
    put("\"\n");
}

static void write_network(struct machine *m)
{
    static const struct {
        const char *topology, *size;
        unsigned places; /* at which nodes are */
    } shapes[] = {
        {"mesh", "2x2", 4},  {"mesh", "3x3", 9},   {"mesh", "2x2x2", 8}, {"torus", "3x3", 9},
        {"torus", "4x2", 8}, {"crossbar", "1", 1}, {"full", "5", 5},     {"tree", "2x3", 4},
        {"tree", "3x2", 3},  {"chain", "4", 4},    {"ring", "5", 5},     {"dragonfly", "2x3", 6},
    };
    const uint32_t shape = chance(m, sizeof shapes / sizeof *shapes);
    const unsigned stacks = 1U << m->stacks_log, at = shapes[shape].places == 1 ? 8 : 1 + chance(m, 3);
    m->nodes = shapes[shape].places * at;
    put("net:\n  topology: %s\n  size: \"%s\"\n  nodes: %u\n", shapes[shape].topology, shapes[shape].size,
        at);
    /* Crossbars of stacks, the host, multiprocessors in front, inputs for packets. */
    write_nodes(m, "in_nodes", stacks + 1 + m->multiprocessors + m->multiprocessors);
    write_nodes(m, "out_nodes", stacks);
    for (int i = 0; i <= 8; i++)
        put("  s%d: none\n", i);
    for (int i = 1; i <= 8; i++)
        put("  w%d: none\n", i);
}

static void write_small(struct machine *m)
{
    const unsigned stacks = 1U << m->stacks_log, bits = 24 + m->vaults_log + m->stacks_log;
    put("external: none\nmemory: {size: %llu MiB}\n", 1ULL << (bits - 20));
    if (m->stacks_log > 0)
        put("homes: \"R12 B4 H%u S%u C3 O5\"\n", m->vaults_log, m->stacks_log);
    else
        put("homes: auto\n");
    put("simt: {count: %u}\nstack: {count: %u}\npcie: {count: %u}\noffload: {ports: %u}\n",
        m->multiprocessors, stacks, stacks, m->multiprocessors);
    put("accel: {count: %u, memory: \"stack[i/%u].crossbar\"}\n", m->accelerators * stacks, m->accelerators);
    put("stack.dram.channels: %u\n", 1U << m->vaults_log);
    write_network(m);
}

/* Which mechanisms are off; and the rest of each. */
static void write_mechanisms(struct machine *m, uint32_t share)
{
    const unsigned total = m->small ? 24 + m->vaults_log + m->stacks_log : 32;
    if (m->units) {
        put("axram: {offset: %llu MiB, size: %llu MiB}\n", 1ULL << (total - 22), 1ULL << (total - 23));
        if (chance(m, 4) == 0)
            put("axram.together: %u\n", 1U << chance(m, m->vaults_log)); /* the program has two functions */
        set(m, SETTINGS(axram_settings), share);
    } else
        put("axram: none\n");
    if (m->stash)
        set(m, SETTINGS(stash_settings), share);
    else
        put("stash: none\n");
    if (!m->engine)
        put("nucd.mode: none\n"); /* ideal cleans at once, and --check coherence finds stores that are still under way */
    const uint32_t map = chance(m, 4);
    if (chance(m, 6) == 0)
        put("offload.policy: none\n");
    else if (chance(m, 2))
        put("offload.policy: no_ctrl\n");
    if (map == 0 && m->stacks_log > 0)
        put("offload.map: fixed\noffload.map_bit: %u\n", 7 + (unsigned)chance(m, 10));
    else if (map == 1 && m->stacks_log > 0) {
        put("offload.map: tmap\n");
        set(m, SETTINGS(map_settings), 100);
    }
    switch (chance(m, 4)) {
    case 0: put("net.priority_buffer: 0\n"); break;
    case 1: put("net.track: false\nnet.path_priority: false\n"); break;
    default:
        if (chance(m, 4) == 0)
            put("net.link_widths: true\n");
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s SEED\n", argv[0]);
        return 2;
    }
    struct machine m = {.random = strtoull(argv[1], NULL, 10) * MIX_FACTOR + 1};
    const uint32_t share = chance(&m, 4) == 0 ? 0 : 20 + chance(&m, 80);
    m.small = chance(&m, 20) != 0;
    m.stacks_log = m.small ? chance(&m, 4) : 4;
    m.vaults_log = m.small ? 1 + chance(&m, 4) : 4;
    if (m.stacks_log + m.vaults_log < 4) /* 256 MiB: room for stacks of threads */
        m.vaults_log = 4 - m.stacks_log;
    m.near = chance(&m, 3) == 0;
    m.multiprocessors = m.near ? 1U << m.stacks_log : 1 + chance(&m, 8);
    m.accelerators = 1 + chance(&m, 4);
    m.units = chance(&m, 5) != 0;
    m.stash = chance(&m, 6) != 0;
    m.engine = chance(&m, 6) != 0;
    put("# %s%s%s\nextends: undercroft\n", m.units ? "full" : "plain", chance(&m, 4) ? " --detail roi" : "",
        chance(&m, 12) ? "" : " --env kernel");
    if (m.small)
        write_small(&m);
    write_mechanisms(&m, share);
    set(&m, SETTINGS(host_settings), share);
    set(&m, SETTINGS(simt_settings), share);
    if (!m.near) {
        put("%ssimt.stack_near: false\nstack.simt.stack_near: false\n",
            m.small ? "" : "external.simt.stack_near: false\n");
        set(&m, SETTINGS(warp_settings), share);
    }
    set(&m, SETTINGS(memory_settings), share);
    set(&m, SETTINGS(net_settings), share);
    return 0;
}
