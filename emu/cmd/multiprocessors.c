#include "emu/cmd/multiprocessors.h"

#include <errno.h>
#include <stdio.h>

#include "emu/analysis/reach.h"
#include "emu/machine/timed_simt.h"

static bool fetch(void *context, uint64_t pc, uint32_t *bits)
{
    const struct multiprocessors *m = context;
    const struct warp_scratchpad none = {0};
    *bits = 0;
    return warp_memory_load(m->work.memory, &none, pc, bits, 4) ||
           warp_memory_load(m->work.memory, &none, pc, bits, 2);
}

/* The 32-bit halves of a thread. */
static uint32_t demand(struct multiprocessors *m, uint64_t entry)
{
    unsigned slot = (unsigned)(entry / 2) % MULTIPROCESSORS_ENTRIES;
    if (m->demands[slot].entry != entry || !m->demands[slot].halves) {
        struct reach reach = reach_walk(m->decoder, &(struct reach_code){fetch, m}, entry);
        m->demands[slot].entry = entry;
        m->demands[slot].halves = reach_halves(&reach);
    }
    return m->demands[slot].halves;
}

/* At most what lets a block of the launch fit. */
static uint32_t limited(struct multiprocessors *m, const struct grid_launch *launch, uint32_t halves)
{
    uint64_t lanes = grid_block_warps(launch, m->machine->simt->width) * m->machine->simt->width;
    uint64_t most = m->machine->simt->registers / lanes;
    if (halves <= most)
        return halves;
    if (!m->warned)
        fprintf(stderr,
                "croft run: warning: a thread of launch %llu needs %u 32-bit registers, and %llu threads "
                "have %llu "
                "each; it is taken for one that needs no more (simt.registers)\n",
                (unsigned long long)m->work.number, halves, (unsigned long long)lanes,
                (unsigned long long)most);
    m->warned = true;
    return (uint32_t)most;
}

static void fault(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report)
{
    struct multiprocessors *m = context;
    if (end == GRID_TRAP)
        m->work.fault(m->work.fault_context, warp, report);
    else if (end == GRID_STOP)
        m->work.stop(m->work.fault_context);
}

static int64_t enqueue(void *context, const struct launch_work *work)
{
    struct multiprocessors *m = context;
    m->work = *work;
    timed_simt_bind(m->timed, work->memory, work->host, fault, m);
    uint32_t halves =
        work->registers && work->registers < 1024 ? 2 * work->registers : demand(m, work->launch.entry);
    halves = limited(m, &work->launch, halves);
    if (!timed_simt_possible(m->timed, &work->launch, halves))
        return -EINVAL;
    if (!timed_simt_launch(m->timed, &work->launch, halves, work->queue, work->number))
        return -EINTR;
    m->counts.launches++;
    return 0;
}

static int64_t wait(void *context, uint64_t number)
{
    struct multiprocessors *m = context;
    return timed_simt_wait(m->timed, number) ? 0 : -EINTR;
}

static const struct launch_counts *count(void *context)
{
    struct multiprocessors *m = context;
    m->counts.blocks = m->counts.insns = m->counts.thread_insns = 0;
    for (uint32_t i = 0; m->timed && i < m->machine->multiprocessors; i++) {
        const struct simt_counters *counters = timed_simt_counted(m->timed, i);
        m->counts.blocks += counters->blocks;
        m->counts.insns += counters->instructions;
        m->counts.thread_insns += counters->thread_instructions;
    }
    return &m->counts;
}

void multiprocessors_limit(const struct machine_config *machine, struct grid_limits *limits)
{
    uint64_t most = 0;
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i)) {
        const struct simt_config *simt = i->config;
        if (i->kind != &simt_kind || simt->count == 0)
            continue;
        uint64_t held = (uint64_t)simt->warps * simt->width;
        held = simt->threads < held ? simt->threads : held;
        most = held > most ? held : most;
    }
    if (machine->simt && most < limits->block_threads)
        limits->block_threads = (uint32_t)most;
}

void multiprocessors_init(struct multiprocessors *m, const struct machine_config *machine,
                          const struct decoder *decoder)
{
    *m = (struct multiprocessors){.machine = machine, .decoder = decoder};
    m->device = (struct launch_device){
        .enqueue = enqueue,
        .wait = wait,
        .count = count,
        .context = m,
        .warps = machine->warps,
    };
}
