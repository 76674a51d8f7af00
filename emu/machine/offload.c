#include "emu/machine/offload.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/probe.h"
#include "emu/machine/timed_state.h"
#include "linker/map.h"

enum { A0 = 10, A1, A2, A3, A4, A5 };

/* An accelerator. */
struct worker {
    struct offload *offload;
    unsigned number;
    struct task_unit *unit;
    struct task_unit_observer unit_observer;
    struct hart *hart;
    struct timed_core *core; /* NULL: there is no clock yet */
    struct cache_waiter emptied;
    bool started; /* the comparator has to be set */
    bool awaited; /* the region's first instruction, by this observer */
    struct core_observer observer;
    bool compares; /* with `end` */
    uint64_t end;
};

struct offload {
    const struct machine_config *machine;
    struct timed *timed;
    struct observer_list observers; /* struct offload_observer */
    bool tells_begun;               /* some observer has the function */
    struct footprint_check *check;  /* NULL: nobody checks */
    uint64_t memory_base;           /* of all memory, where that of the firmware begins, and its size */
    struct phys firmware;
    unsigned count;
    struct worker workers[];
};

bool offload_wanted(const struct machine_config *machine)
{
    return machine_timed(machine) && machine->nucd && machine->accel_count > 0;
}

struct phys offload_program_memory(const struct machine_config *machine, const struct phys *memory)
{
    return (struct phys){memory->bytes, memory->base, memory->size - machine->nucd->memory};
}

struct phys offload_firmware_memory(const struct machine_config *machine, const struct phys *memory)
{
    uint64_t offset = memory->size - machine->nucd->memory;
    return (struct phys){memory->bytes + offset, memory->base + offset, machine->nucd->memory};
}

/* The units lie behind each other in one region. */
static uint64_t read_unit(void *device, uint64_t offset, unsigned size)
{
    const struct offload *offload = device;
    struct task_unit *unit = offload->workers[offset / TASK_UNIT_SIZE].unit;
    return task_unit_ops.read(unit, offset % TASK_UNIT_SIZE, size);
}

static void write_unit(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    const struct offload *offload = device;
    struct task_unit *unit = offload->workers[offset / TASK_UNIT_SIZE].unit;
    task_unit_ops.write(unit, offset % TASK_UNIT_SIZE, size, value);
}

/* Reading a unit's register has no effect. */
static bool peek_unit(void *device, uint64_t offset, uint64_t *value)
{
    *value = read_unit(device, offset, 8);
    return true;
}

static bool units_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 8, peek_unit, device);
}

static const struct device_ops units_ops = {
    .read = read_unit, .write = write_unit, .functional = units_functional};

/* The unit's wire to the core. */
static void set_work(void *context, unsigned number, bool level)
{
    struct worker *worker = context;
    hart_set_interrupt(worker->hart, number, level);
    if (worker->core && level)
        scheduler_interrupt(&worker->offload->timed->scheduler, worker->core->core->parts.number);
}

static void stop_awaiting(struct worker *worker)
{
    if (worker->awaited)
        core_unobserve(worker->core->core, &worker->observer);
    worker->awaited = false;
}

static void unit_tells(void *context, const struct task_unit_report *report)
{
    struct worker *worker = context;
    if (report->event != TASK_UNIT_EMPTIED)
        stop_awaiting(worker);
    OBSERVER_TELL(&worker->offload->observers, struct offload_observer, told, worker->number, report);
}

/* An instruction of firmware, or the region's first. */
static void first_retired(void *context, const struct core *core, const struct core_note *note)
{
    struct worker *worker = context;
    const struct offload *offload = worker->offload;
    const struct nucd_packet *packet = task_unit_packet(worker->unit);
    if (note->pc != packet->begin)
        return;
    stop_awaiting(worker);
    OBSERVER_TELL(&offload->observers, struct offload_observer, begun, worker->number, packet->tag,
                  clock_time(&core->parts.clock, note->issue));
}

static void unit_started(void *context)
{
    struct worker *worker = context;
    worker->started = true;
    if (!worker->offload->tells_begun || !worker->core || worker->awaited)
        return;
    worker->awaited = true;
    worker->observer = (struct core_observer){.retired = first_retired, .context = worker};
    core_observe(worker->core->core, &worker->observer);
}

static void cache_emptied(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    const struct worker *worker = waiter->owner;
    (void)now;
    (void)level;
    task_unit_emptied(worker->unit);
}

static void empty_cache(void *context)
{
    struct worker *worker = context;
    if (!worker->core) {
        task_unit_emptied(worker->unit);
        return;
    }
    const struct core_parts *parts = &worker->core->core->parts;
    const struct cache_actor actor = {.pc = worker->hart->pc, .core = parts->number};
    cache_maintain(parts->l1d, MEM_CLEAN_INVALIDATE, parts->hart->memory->base, parts->hart->memory->size,
                   worker->offload->timed->queue.now, actor, &worker->emptied);
}

/* A breakpoint is the comparator. It stays for further tasks of the same region, as setting it makes the hart forget
 * its predecoded code. */
static void set_comparator(struct worker *worker)
{
    uint64_t end = task_unit_packet(worker->unit)->end;
    worker->started = false;
    if (worker->compares && worker->end == end)
        return;
    if (worker->compares)
        (void)hart_breakpoint_remove(worker->hart, worker->end);
    worker->compares = hart_breakpoint_add(worker->hart, end);
    worker->end = end;
}

static void begin_task(struct worker *worker)
{
    set_comparator(worker);
    if (worker->offload->check)
        footprint_check_start(worker->offload->check, worker->number, task_unit_packet(worker->unit));
}

/* The stream of the hart: firmware's part is nothing to the unit, to its last instruction, MRET. */
static void follow(void *context, const struct stream_entry *entries, uint32_t count)
{
    struct worker *worker = context;
    if (worker->started)
        begin_task(worker);
    struct nucd_region *region = task_unit_region(worker->unit);
    if (!region || worker->hart->privilege != PRIV_U || entries[0].op->id == INSN_mret)
        return;
    for (uint32_t i = 0; i < count; i++)
        nucd_region_follow(region, entries[i].op);
    if (worker->offload->check)
        footprint_check_follow(worker->offload->check, worker->number, entries, count);
}

bool offload_stopped(struct offload *offload, unsigned accel, enum hart_stop stop)
{
    struct worker *worker = &offload->workers[accel];
    if (stop != HART_STOP_BREAK || !worker->compares || worker->hart->pc != worker->end)
        return false;
    if (worker->hart->privilege == PRIV_U)
        (void)task_unit_arrive(worker->unit, worker->end);
    return true;
}

static bool make_worker(struct offload *offload, const struct offload_options *options, unsigned i,
                        struct error *err)
{
    struct worker *worker = &offload->workers[i];
    *worker = (struct worker){.offload = offload, .number = i, .hart = &options->harts[i]};
    worker->emptied = (struct cache_waiter){NULL, cache_emptied, worker};
    const struct task_unit_config config = {
        .queue_lines = options->machine->nucd->queue_lines,
        .capabilities = (uint8_t)options->machine->nucd->capabilities,
        .work = {set_work, worker, IRQ_MEI},
        .done = options->done ? options->done[i] : (struct irq_line){0},
        .empty = empty_cache,
        .context = worker,
    };
    worker->unit = task_unit_create(&config, err);
    if (!worker->unit)
        return false;
    worker->unit_observer =
        (struct task_unit_observer){.told = unit_tells, .started = unit_started, .context = worker};
    task_unit_observe(worker->unit, &worker->unit_observer);
    return true;
}

struct offload *offload_new(const struct offload_options *options, struct bus *bus, struct error *err)
{
    struct offload *offload = calloc(1, sizeof *offload + options->count * sizeof offload->workers[0]);
    if (!offload)
        abort();
    offload->machine = options->machine;
    offload->memory_base = options->memory->base;
    offload->firmware = offload_firmware_memory(options->machine, options->memory);
    bool made = true;
    for (; made && offload->count < options->count; offload->count += made)
        made = make_worker(offload, options, offload->count, err);
    const struct bus_region region = {.base = options->machine->nucd->base,
                                      .size = (uint64_t)options->count * TASK_UNIT_SIZE,
                                      .sizes = TASK_UNIT_ACCESS,
                                      .ops = &units_ops,
                                      .device = offload,
                                      .name = "nucd"};
    if (made && !bus_add(bus, &region, err)) {
        char source[MACHINE_SOURCE];
        machine_source(options->machine, "nucd.base", source);
        made = error_prefix(err, "%s: nucd.base", source);
    }
    if (made)
        return offload;
    offload_free(offload);
    return NULL;
}

void offload_free(struct offload *offload)
{
    if (!offload)
        return;
    for (unsigned i = 0; i < offload->count; i++)
        task_unit_free(offload->workers[i].unit);
    free(offload);
}

void offload_reset(struct offload *offload, uint64_t entry)
{
    for (unsigned i = 0; i < offload->count; i++) {
        struct worker *worker = &offload->workers[i];
        struct hart *hart = worker->hart;
        task_unit_reset(worker->unit);
        hart->has_ranges = true;
        hart->pc = entry;
        hart->x[A0] = i;
        hart->x[A1] = offload->machine->nucd->base + (uint64_t)i * TASK_UNIT_SIZE;
        hart->x[A2] = offload->memory_base;
        hart->x[A3] = offload->firmware.base;
        hart->x[A4] = offload->firmware.size;
        hart->x[A5] = offload->memory_base;
    }
}

void offload_protect(struct offload *offload, uint64_t first)
{
    for (unsigned i = 0; i < offload->count; i++)
        offload->workers[i].hart->x[A5] = first & ~UINT64_C(3);
}

void offload_stack(const struct offload *offload, unsigned accel, uint64_t *firmware, uint64_t *first,
                   uint64_t *size)
{
    *firmware = offload->firmware.base;
    *size = offload->firmware.size / 2 / CROFT_HARTS_MAX;
    *first = offload->firmware.base + offload->firmware.size / 2 + accel * *size;
}

struct task_unit *offload_unit(struct offload *offload, unsigned accel)
{
    return offload->workers[accel].unit;
}

void offload_observe(struct offload *offload, struct offload_observer *observer)
{
    observer_add(&offload->observers, &observer->link);
    offload->tells_begun = offload->tells_begun || observer->begun;
}

void offload_change_code(struct offload *offload)
{
    for (unsigned i = 0; i < offload->count; i++)
        task_unit_change_code(offload->workers[i].unit);
}

void offload_check(struct offload *offload, struct footprint_check *check)
{
    uint64_t firmware, first, size;
    offload->check = check;
    for (unsigned i = 0; i < offload->count; i++) {
        offload_stack(offload, i, &firmware, &first, &size);
        footprint_check_stack(check, i, first, first + size - 1);
    }
}

struct footprint_check *offload_checker(const struct offload *offload)
{
    return offload->check;
}

void offload_set_ranges(struct offload *offload, uint64_t table)
{
    for (unsigned i = 0; i < offload->count; i++)
        task_unit_set_ranges(offload->workers[i].unit, table);
}

void offload_publish(struct offload *offload, struct stats *stats)
{
    for (unsigned i = 0; i < offload->count; i++)
        task_unit_publish(offload->workers[i].unit, stats, scope_at(NULL, "accel", i));
}

unsigned offload_count(const struct offload *offload)
{
    return offload->count;
}

struct core_near offload_near_host(const struct offload *offload)
{
    return (struct core_near){.base = offload->machine->nucd->base,
                              .size = (uint64_t)offload->count * TASK_UNIT_SIZE,
                              .clocks = 2 * offload->machine->nucd->link_clocks};
}

struct core_near offload_near(const struct offload *offload, unsigned accel)
{
    return (struct core_near){.base = offload->machine->nucd->base + (uint64_t)accel * TASK_UNIT_SIZE,
                              .size = TASK_UNIT_PAGE,
                              .clocks = offload->machine->nucd->unit_clocks};
}

void offload_attach(struct offload *offload, struct timed *timed)
{
    offload->timed = timed;
    for (unsigned i = 0; i < timed->hosts; i++) {
        timed->harts[i].offload.present = timed->harts[i].privileged;
        timed->harts[i].offload.traps =
            timed->harts[i].privileged && offload->machine->nucd->mode == NUCD_MODE_DRIVER;
    }
    for (unsigned i = 0; i < offload->count; i++) {
        struct worker *worker = &offload->workers[i];
        struct timed_core *core = &timed->cores[timed->hosts + i];
        worker->core = core;
        core->core->stream.follow = follow;
        core->core->stream.follow_context = worker;
        if (!timed->harts[0].privileged)
            core_wake(core->core, timed->queue.now);
    }
}
