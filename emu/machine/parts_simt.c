#include "emu/machine/parts_simt.h"

#include <inttypes.h>
#include <string.h>

#include "emu/machine/key.h"
#include "emu/machine/parts_field.h"

#define SIMT_WORK(name, ...)                                                                                 \
    {#name, offsetof(struct simt_config, work[SIMT_WORK_##name].latency), sizeof(uint16_t)},
static const struct parts_field latency_fields[] = {
#include "emu/simt/work.def"
    {0}};
#define SIMT_WORK(name, ...)                                                                                 \
    {#name, offsetof(struct simt_config, work[SIMT_WORK_##name].interval), sizeof(uint16_t)},
static const struct parts_field interval_fields[] = {
#include "emu/simt/work.def"
    {0}};

/* 45 clocks from a load that hits to its user are Fermi's (Andersch, Lucas, Alvarez-Mesa, Juurlink, "On latency in GPU
 * throughput microarchitectures", ISPASS 2015; recalled): 18 in the pipeline and 27 here. The clock from issue to the memory
 * pipeline makes it 46. Machine gpu's way to closed rows takes 546 clocks (tests/machine/test_simt_bandwidth.c adds it up),
 * less than the 685 of the same source (recalled), of which we cannot say where they are spent. So many lines must be
 * under way that 15 multiprocessors can use all of the bandwidth: 192 GB/s * 390 ns / 128 B / 15 = 39, and 49 at 685. */
static void l1_default(struct cache_config *l1)
{
    cache_config_default(l1);
    l1->size = 32 << 10;
    l1->ways = 4;
    l1->line = 128;
    l1->hit_clocks = 27;
    l1->mshrs = 64;
    l1->mshr_targets = 32;
    l1->write_buffer = 64;
    l1->write_through = true;
    l1->write_allocate = false;
}

/* A hit here takes 310 clocks of 1.4 GHz in all on Fermi (the same; recalled), and 306 here: the 46 above, 2 * 8 and 4 for
 * the line's bytes in the crossbar, and 120 of 700 MHz here, as GPGPU-Sim's rop latency (SM2_GTX480; recalled). */
static void l2_default(struct llc_config *l2)
{
    llc_config_default(l2);
    l2->size = 128 << 10;
    l2->ways = 16;
    l2->line = 128;
    l2->hit_clocks = 120;
    l2->tag_clocks = 60;
    l2->probe_clocks = 0;
    l2->fill_clocks = 60;
    l2->mshrs = 64;
    l2->queue = 256;
    l2->write_buffer = 64;
}

/* 32 bytes a clock, as GPGPU-Sim's flits; 8 clocks: ours, for an input's and an output's queue, arbitration and wires. */
static void crossbar_default(struct crossbar_config *crossbar)
{
    crossbar_config_default(crossbar);
    crossbar->width = 32;
    crossbar->latency = 8;
    crossbar->request_queue = 16;
    crossbar->response_queue = 16;
    crossbar->buffer = 16;
}

void parts_simt_resolve(struct machine_config *config)
{
    struct parts_simt simt;
    simt_config_default(&simt.core);
    l1_default(&simt.l1);
    l2_default(&simt.l2);
    crossbar_default(&simt.crossbar);
    parts_draw(config, "simt.latency", latency_fields, &simt.core);
    parts_draw(config, "simt.interval", interval_fields, &simt.core);
    parts_draw(config, "simt.l1", parts_l1_fields, &simt.l1);
    parts_draw(config, "simt.crossbar", parts_crossbar_fields, &simt.crossbar);
    parts_draw(config, "simt.l2", parts_llc_fields, &simt.l2);
}

static void core_of(const struct machine_config *config, struct simt_config *core)
{
    const struct machine_simt *keys = &config->simt;
    simt_config_default(core);
    core->width = (uint32_t)keys->width;
    core->warps = (uint32_t)keys->warps;
    core->schedulers = (uint32_t)keys->schedulers;
    core->registers = (uint32_t)keys->registers;
    core->threads = (uint32_t)keys->threads;
    core->blocks = (uint32_t)keys->blocks;
    core->scratchpad = keys->scratchpad;
    core->banks = (uint32_t)keys->banks;
    core->memory_queue = (uint32_t)keys->memory_queue;
    core->accesses = (uint32_t)keys->accesses;
    core->atomics = (uint32_t)keys->atomics;
    core->policy = keys->policy == MACHINE_SIMT_GTO ? SIMT_GTO : SIMT_ROUND_ROBIN;
    parts_fill(config, "simt.latency", latency_fields, core);
    parts_fill(config, "simt.interval", interval_fields, core);
}

void parts_simt(const struct machine_config *config, struct parts_simt *simt)
{
    core_of(config, &simt->core);
    l1_default(&simt->l1);
    l2_default(&simt->l2);
    crossbar_default(&simt->crossbar);
    parts_fill(config, "simt.l1", parts_l1_fields, &simt->l1);
    parts_fill(config, "simt.crossbar", parts_crossbar_fields, &simt->crossbar);
    parts_fill(config, "simt.l2", parts_llc_fields, &simt->l2);
    simt->l2.slices = (uint32_t)config->simt.l2.slices;
    simt->crossbar.inputs = (uint32_t)config->simt.count;
    simt->crossbar.outputs = simt->l2.slices;
}

/* Lines are one size, which the memory's queues hold. */
static bool check_line(const struct machine_config *config, const struct parts_simt *simt, struct error *err)
{
    uint64_t reads = config->dram.read_queue, writes = config->dram.write_queue;
    uint64_t room = (reads < writes ? reads : writes) * config->dram.burst_bytes;
    if (simt->l1.line != simt->l2.line)
        return error_set(err, "simt.l1.line: %u B is not allowed; allowed: simt.l2.line, which is %u B",
                         simt->l1.line, simt->l2.line);
    if (simt->l2.line > room)
        return error_set(
            err,
            "simt.l2.line: %u B is not allowed; allowed: what the smaller of dram.read_queue and "
            "dram.write_queue holds, %" PRIu64 " B",
            simt->l2.line, room);
    if (!simt->l1.write_through || simt->l1.write_allocate)
        return error_set(err,
                         "simt.l1.%s is not allowed: a cache that is not coherent is write_through, and not "
                         "write_allocate",
                         simt->l1.write_through ? "write_allocate: true" : "write_through: false");
    return true;
}

bool parts_simt_check(const struct machine_config *config, const char **section, struct error *err)
{
    struct parts_simt simt;
    parts_simt(config, &simt);
    *section = "simt";
    if (!simt_config_check(&simt.core, err))
        return false;
    *section = "simt.l1";
    if (!cache_config_check(&simt.l1, err))
        return false;
    *section = "simt.l2";
    if (!llc_config_check(&simt.l2, err))
        return false;
    *section = "simt.crossbar";
    if (!crossbar_config_check(&simt.crossbar, err))
        return false;
    *section = NULL;
    return check_line(config, &simt, err);
}

const char *parts_simt_note(const char *name)
{
    if (strncmp(name, "simt.", 5) != 0)
        return NULL;
    if (strncmp(name, "simt.latency.", 13) == 0 || strncmp(name, "simt.interval.", 14) == 0)
        for (enum simt_work work = 0; work < SIMT_WORKS; work++)
            if (strcmp(simt_work_name(work), strrchr(name, '.') + 1) == 0)
                return simt_work_source(work);
    return "like Fermi, or ours: see emu/machine/parts_simt.c";
}
