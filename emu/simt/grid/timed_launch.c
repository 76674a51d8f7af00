#include "emu/simt/grid/timed_launch.h"

#include <stdio.h>

#include "emu/analysis/pressure.h"
#include "emu/sim/text/say.h"

enum { MOST_REGISTERS = 2048 }; /* a larger number in a launch is taken for an error */

static bool fetch(void *context, uint64_t pc, uint32_t *bits)
{
    const struct timed_launch *t = context;
    const struct warp_scratchpad none = {0};
    *bits = 0;
    return warp_memory_load(t->work.memory, &none, pc, bits, 4) ||
           warp_memory_load(t->work.memory, &none, pc, bits, 2);
}

/* Returns the number of 32-bit registers that a thread needs. */
static uint32_t demand(struct timed_launch *t, uint64_t entry)
{
    unsigned slot = (unsigned)(entry / 2) % TIMED_LAUNCH_ENTRIES;
    if (t->demands[slot].entry != entry || !t->demands[slot].halves) {
        t->demands[slot].pressure = pressure_of(t->decoder, &(struct reach_code){fetch, t}, entry);
        t->demands[slot].entry = entry;
        t->demands[slot].halves = t->demands[slot].pressure.units;
    }
    return t->demands[slot].halves;
}

/* Prints what a block of the launch needs, and how many of them a multiprocessor holds. */
static void tell(struct timed_launch *t, const struct launch_work *work, uint32_t halves)
{
    const struct grid_launch *launch = &work->launch;
    unsigned slot = (unsigned)(launch->entry / 2) % TIMED_LAUNCH_ENTRIES;
    uint64_t threads = grid_block_threads(launch);
    const struct simt_need need = {.warps = grid_block_warps(launch, t->simt->width),
                                   .threads = (uint32_t)threads,
                                   .registers = halves,
                                   .scratchpad = launch->scratchpad};
    const char *limit;
    uint32_t blocks = simt_occupancy(t->simt, &need, &limit);
    if (t->demands[slot].told_entry == launch->entry && t->demands[slot].told == threads)
        return;
    t->demands[slot].told_entry = launch->entry;
    t->demands[slot].told = threads;
    char source[64] = ", as the program says";
    if (!work->registers)
        (void)snprintf(source, sizeof source, " (the compiler's code names %u)",
                       t->demands[slot].pressure.named);
    say("launch %llu: %u 32-bit registers per thread%s; a multiprocessor holds %u blocks of %llu threads, %u "
        "of "
        "%u warps, limited by %s",
        (unsigned long long)launch->number, halves, source, blocks, (unsigned long long)threads,
        blocks * need.warps, t->simt->warps, limit);
}

/* Returns `halves`, or less if a block of the launch fits only with fewer registers; then it warns once. */
static uint32_t limited(struct timed_launch *t, const struct grid_launch *launch, uint32_t halves)
{
    uint64_t lanes = grid_block_warps(launch, t->simt->width) * t->simt->width;
    uint64_t most = t->simt->registers / lanes;
    if (halves <= most)
        return halves;
    if (!t->warned)
        say_warning("a thread of launch %llu needs %u 32-bit registers, but %llu threads "
                    "have only %llu each; the launch runs as if its threads needed no more (simt.registers)",
                    (unsigned long long)launch->number, halves, (unsigned long long)lanes,
                    (unsigned long long)most);
    t->warned = true;
    return (uint32_t)most;
}

static void fault(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report)
{
    const struct timed_launch *t = context;
    const struct launch_host *host = t->work.host;
    if (end == GRID_TRAP)
        host->fault(host->context, warp, report);
    else if (end == GRID_STOP)
        host->stop(host->context);
    else if (end == GRID_CALL)
        host->refuse(host->context, warp, "makes a call");
    else if (end == GRID_CODE)
        host->refuse(host->context, warp, "stores to code");
}

static enum launch_end enqueue(void *context, const struct launch_work *work)
{
    struct timed_launch *t = context;
    const struct timed_launch_machine *machine = &t->machine;
    const struct grid_launch *launch = &work->launch;
    t->work = *work;
    machine->bind(machine->context, work->memory, &work->host->grid, fault, t);
    uint32_t halves =
        work->registers && work->registers < MOST_REGISTERS ? work->registers : demand(t, launch->entry);
    halves = limited(t, launch, halves);
    if (t->verbose)
        tell(t, work, halves);
    if (!machine->possible(machine->context, launch, halves))
        return LAUNCH_REFUSED;
    if (!machine->launch(machine->context, launch, halves, work->queue))
        return LAUNCH_ENDED;
    t->counts.launches++;
    t->waited = false;
    return LAUNCH_DONE;
}

static bool wait(void *context, uint64_t number)
{
    struct timed_launch *t = context;
    const struct timed_launch_machine *machine = &t->machine;
    t->waited = true;
    return machine->wait(machine->context, number);
}

static bool ready(void *context, uint64_t number)
{
    struct timed_launch *t = context;
    const struct timed_launch_machine *machine = &t->machine;
    t->waited = t->waited || number != LAUNCH_ROOM;
    return machine->ready(machine->context, number);
}

static bool pending(void *context, uint64_t number, struct grid_pending *described)
{
    const struct timed_launch_machine *machine = &((struct timed_launch *)context)->machine;
    return machine->pending(machine->context, number, described);
}

static void resume(void *context, struct custom_waiter *waiter)
{
    const struct timed_launch_machine *machine = &((struct timed_launch *)context)->machine;
    machine->resume(machine->context, waiter);
}

static void forget(void *context)
{
    const struct timed_launch_machine *machine = &((struct timed_launch *)context)->machine;
    machine->forget(machine->context);
}

static struct warp *warp(void *context, uint32_t number)
{
    const struct timed_launch_machine *machine = &((struct timed_launch *)context)->machine;
    return machine->warp(machine->context, number);
}

static void moved(void *context)
{
    const struct timed_launch_machine *machine = &((struct timed_launch *)context)->machine;
    machine->moved(machine->context);
}

static const struct launch_counts *count(void *context)
{
    struct timed_launch *t = context;
    t->counts.blocks = t->counts.insns = t->counts.thread_insns = 0;
    for (uint32_t i = 0; t->machine.counted && i < t->count; i++) {
        const struct simt_counters *counters = t->machine.counted(t->machine.context, i);
        t->counts.blocks += counters->blocks;
        t->counts.insns += counters->instructions;
        t->counts.thread_insns += counters->thread_instructions;
    }
    return &t->counts;
}

void timed_launch_init(struct timed_launch *t, const struct simt_config *simt, uint32_t count_of,
                       uint32_t warps, const struct decoder *decoder)
{
    *t = (struct timed_launch){.simt = simt, .count = count_of, .decoder = decoder};
    t->device = (struct launch_device){
        .enqueue = enqueue,
        .wait = wait,
        .count = count,
        .ready = ready,
        .pending = pending,
        .resume = resume,
        .forget = forget,
        .warp = warp,
        .moved = moved,
        .context = t,
        .warps = warps,
    };
}
