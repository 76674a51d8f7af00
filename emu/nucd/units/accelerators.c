#include "emu/nucd/units/accelerators.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/probe.h"
#include "emu/sim/alloc.h"
#include "isa/csr.h"
#include "linker/map.h"

enum { A0 = 10, A1, A2, A3, A4, A5 };

struct accelerator {
    struct accelerators *all;
    unsigned number;
    struct task_unit *unit;
    struct task_unit_observer unit_observer;
    struct hart *hart;
    struct core *core; /* NULL: there is no clock */
    struct cache_waiter emptied;
    bool started; /* a task was started, and the comparator is not set for it yet */
    bool awaited; /* the observer waits for the region's first instruction */
    struct core_observer observer;
    uint64_t last_pc; /* of the region's last instruction */
    bool compares;    /* the comparator is set, to `end` */
    uint64_t end;
};

struct accelerators {
    const struct nucd_config *config;
    const struct core_services *machine; /* valid while there are cores, that is, with a clock */
    struct observer_list observers;      /* struct accelerators_observer */
    bool tells_begun;                    /* some observer has a function `begun` */
    struct footprint_check *check;       /* NULL: accesses are not checked */
    uint64_t memory_base;                /* first address of main memory */
    struct phys firmware;
    unsigned count;
    struct accelerator each[];
};

/* Task unit i is at offset i * TASK_UNIT_SIZE of the bus region. */
static uint64_t read_unit(void *device, uint64_t offset, unsigned size)
{
    const struct accelerators *all = device;
    struct task_unit *unit = all->each[offset / TASK_UNIT_SIZE].unit;
    return task_unit_ops.read(unit, offset % TASK_UNIT_SIZE, size);
}

static void write_unit(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    const struct accelerators *all = device;
    struct task_unit *unit = all->each[offset / TASK_UNIT_SIZE].unit;
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

/* Drives the unit's interrupt line to its core. */
static void set_work(void *context, unsigned number, bool level)
{
    struct accelerator *accelerator = context;
    hart_set_interrupt(accelerator->hart, number, level);
    if (accelerator->core && level)
        accelerator->all->machine->interrupt(accelerator->all->machine->context,
                                             accelerator->core->parts.number);
}

static void stop_awaiting(struct accelerator *accelerator)
{
    if (accelerator->awaited)
        core_unobserve(accelerator->core, &accelerator->observer);
    accelerator->awaited = false;
}

static void unit_tells(void *context, const struct task_unit_report *report)
{
    struct accelerator *accelerator = context;
    if (report->event != TASK_UNIT_EMPTIED)
        stop_awaiting(accelerator);
    OBSERVER_TELL(&accelerator->all->observers, struct accelerators_observer, told, accelerator->number,
                  report);
}

/* Called for firmware's instructions and for the region's first. */
static void first_retired(void *context, const struct core *core, const struct core_note *note)
{
    struct accelerator *accelerator = context;
    const struct accelerators *all = accelerator->all;
    const struct nucd_packet *packet = task_unit_packet(accelerator->unit);
    if (note->pc != packet->begin)
        return;
    stop_awaiting(accelerator);
    OBSERVER_TELL(&all->observers, struct accelerators_observer, begun, accelerator->number, packet->tag,
                  clock_time(&core->parts.clock, note->issue));
}

static void unit_started(void *context)
{
    struct accelerator *accelerator = context;
    accelerator->started = true;
    accelerator->hart->offload.ordered = task_unit_packet(accelerator->unit)->ordered;
    if (!accelerator->all->tells_begun || !accelerator->core || accelerator->awaited)
        return;
    accelerator->awaited = true;
    accelerator->observer = (struct core_observer){.retired = first_retired, .context = accelerator};
    core_observe(accelerator->core, &accelerator->observer);
}

static void cache_emptied(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    const struct accelerator *accelerator = waiter->owner;
    (void)now;
    (void)level;
    task_unit_emptied(accelerator->unit);
}

static void empty_cache(void *context)
{
    struct accelerator *accelerator = context;
    if (!accelerator->core) {
        task_unit_emptied(accelerator->unit);
        return;
    }
    const struct core_parts *parts = &accelerator->core->parts;
    const struct cache_actor actor = {.pc = accelerator->hart->pc, .core = parts->number};
    cache_maintain(parts->l1d, MEM_CLEAN_INVALIDATE, parts->hart->memory->base, parts->hart->memory->size,
                   parts->queue->now, actor, &accelerator->emptied);
}

/* The comparator stays for further tasks of the same region, because a change makes the hart discard its
 * predecoded code. */
static void set_comparator(struct accelerator *accelerator)
{
    uint64_t end = task_unit_packet(accelerator->unit)->end;
    accelerator->started = false;
    accelerator->compares = true;
    accelerator->end = end;
    hart_compare(accelerator->hart, end);
}

static void begin_task(struct accelerator *accelerator)
{
    set_comparator(accelerator);
    if (accelerator->all->check)
        footprint_check_start(accelerator->all->check, accelerator->number,
                              task_unit_packet(accelerator->unit));
}

/* Called with the instructions that the hart executes. Ignores firmware up to and including its MRET. */
static void follow(void *context, const struct stream_entry *entries, uint32_t count)
{
    struct accelerator *accelerator = context;
    if (accelerator->started)
        begin_task(accelerator);
    struct nucd_region *region = task_unit_region(accelerator->unit);
    if (!region || accelerator->hart->privilege != PRIV_U || entries[0].op->id == INSN_mret)
        return;
    for (uint32_t i = 0; i < count; i++) {
        /* Not before an instruction outside is executed: a fault at its fetch comes first, as on the host. */
        if (nucd_region_left(region, entries[i].op->pc)) {
            task_unit_leave(accelerator->unit, accelerator->last_pc);
            break;
        }
        nucd_region_follow(region, entries[i].op, entries[i].address);
        accelerator->last_pc = entries[i].op->pc;
    }
    if (accelerator->all->check)
        footprint_check_follow(accelerator->all->check, accelerator->number, entries, count);
}

bool accelerators_stopped(struct accelerators *all, unsigned number, enum hart_stop stop, uint64_t now)
{
    struct accelerator *accelerator = &all->each[number];
    if (stop != HART_STOP_BREAK || !accelerator->compares || accelerator->hart->pc != accelerator->end)
        return false;
    if (accelerator->hart->privilege == PRIV_U && task_unit_arrive(accelerator->unit, accelerator->end))
        OBSERVER_TELL(&all->observers, struct accelerators_observer, ended, number,
                      task_unit_packet(accelerator->unit)->tag, now);
    return true;
}

static bool make_accelerator(struct accelerators *all, const struct accelerators_options *options, unsigned i,
                             struct error *err)
{
    struct accelerator *accelerator = &all->each[i];
    *accelerator = (struct accelerator){.all = all, .number = i, .hart = &options->harts[i]};
    accelerator->emptied = (struct cache_waiter){NULL, cache_emptied, accelerator};
    const struct task_unit_config config = {
        .queue_lines = options->config->queue_lines,
        .capabilities = (uint8_t)options->config->capabilities,
        .work = {set_work, accelerator, IRQ_MEI},
        .done = options->done ? options->done[i] : (struct irq_line){0},
        .empty = empty_cache,
        .context = accelerator,
    };
    accelerator->unit = task_unit_new(&config, err);
    if (!accelerator->unit)
        return false;
    accelerator->unit_observer =
        (struct task_unit_observer){.told = unit_tells, .started = unit_started, .context = accelerator};
    task_unit_observe(accelerator->unit, &accelerator->unit_observer);
    return true;
}

struct accelerators *accelerators_new(const struct accelerators_options *options, struct error *err)
{
    struct accelerators *all = alloc(1, sizeof *all + options->count * sizeof all->each[0]);
    all->config = options->config;
    all->memory_base = options->memory_base;
    all->firmware = options->firmware;
    for (; all->count < options->count; all->count++)
        if (!make_accelerator(all, options, all->count, err)) {
            accelerators_free(all);
            return NULL;
        }
    return all;
}

bool accelerators_connect(struct accelerators *all, struct bus *bus, struct error *err)
{
    const struct bus_region region = {.base = all->config->base,
                                      .size = (uint64_t)all->count * TASK_UNIT_SIZE,
                                      .sizes = TASK_UNIT_ACCESS,
                                      .ops = &units_ops,
                                      .device = all,
                                      .name = "nucd"};
    return bus_add(bus, &region, err);
}

void accelerators_free(struct accelerators *all)
{
    if (!all)
        return;
    for (unsigned i = 0; i < all->count; i++)
        task_unit_free(all->each[i].unit);
    free(all);
}

void accelerators_reset(struct accelerators *all, uint64_t entry)
{
    for (unsigned i = 0; i < all->count; i++) {
        struct accelerator *accelerator = &all->each[i];
        struct hart *hart = accelerator->hart;
        task_unit_reset(accelerator->unit);
        hart->has_ranges = true;
        hart->offload.ordered = false;
        hart->pc = entry;
        hart->x[A0] = i;
        hart->x[A1] = all->config->base + (uint64_t)i * TASK_UNIT_SIZE;
        hart->x[A2] = all->memory_base;
        hart->x[A3] = all->firmware.base;
        hart->x[A4] = all->firmware.size;
        hart->x[A5] = all->memory_base;
    }
}

void accelerators_protect(struct accelerators *all, uint64_t first)
{
    for (unsigned i = 0; i < all->count; i++)
        all->each[i].hart->x[A5] = first & ~UINT64_C(3);
}

void accelerators_stack(const struct accelerators *all, unsigned number, uint64_t *first, uint64_t *size)
{
    *size = all->firmware.size / 2 / CROFT_HARTS_MAX;
    *first = all->firmware.base + all->firmware.size / 2 + number * *size;
}

/* Returns the saved registers of the region at an accelerator, or NULL. */
static void *context_of(const struct accelerators *all, unsigned number)
{
    const struct task_unit *unit = all->each[number].unit;
    uint64_t address = task_unit_context(unit);
    if (task_unit_state(unit) != TASK_UNIT_FAULTED || address == 0)
        return NULL;
    return phys_at(&all->firmware, address, 32 * sizeof(uint64_t));
}

bool accelerators_stopped_region(const struct accelerators *all, unsigned number, struct tasks_region *region)
{
    const struct nucd_packet *packet = task_unit_packet(all->each[number].unit);
    void *context = context_of(all, number);
    uint64_t first, size;
    if (!context)
        return false;
    accelerators_stack(all, number, &first, &size);
    *region = (struct tasks_region){
        .saved = context,
        .stack = {.bytes = phys_at(&all->firmware, first, size), .base = first, .size = size},
        .begin = packet->begin,
        .end = packet->end};
    memcpy(region->x, context, sizeof region->x);
    region->x[0] = 0;
    (void)hart_csr_peek(all->each[number].hart, CSR_mepc, &region->pc);
    return true;
}

void accelerators_answer_call(struct accelerators *all, unsigned number, uint64_t result)
{
    enum { ECALL_BYTES = 4 };
    uint64_t *context = context_of(all, number), pc, ranges;
    struct hart *hart = all->each[number].hart;
    assert(context);
    memcpy(&context[A0], &result, sizeof result);
    (void)hart_csr_peek(hart, CSR_mepc, &pc);
    (void)hart_csr_poke(hart, CSR_mepc, pc + ECALL_BYTES);
    /* Others are told before their next tasks. */
    if (hart_csr_peek(hart, CSR_mrange, &ranges) && ranges)
        (void)hart_csr_poke(hart, CSR_mrange, ranges);
}

void accelerators_resume(struct accelerators *all, unsigned number)
{
    if (task_unit_resume(all->each[number].unit))
        all->each[number].hart->offload.ordered = false;
}

struct task_unit *accelerators_unit(struct accelerators *all, unsigned number)
{
    return all->each[number].unit;
}

const struct hart *accelerators_hart(const struct accelerators *all, unsigned number)
{
    return all->each[number].hart;
}

void accelerators_observe(struct accelerators *all, struct accelerators_observer *observer)
{
    observer_add(&all->observers, &observer->link);
    all->tells_begun = all->tells_begun || observer->begun;
}

void accelerators_unobserve(struct accelerators *all, const struct accelerators_observer *observer)
{
    observer_remove(&all->observers, &observer->link);
}

void accelerators_change_code(struct accelerators *all)
{
    for (unsigned i = 0; i < all->count; i++)
        task_unit_change_code(all->each[i].unit);
}

void accelerators_check(struct accelerators *all, struct footprint_check *check)
{
    uint64_t first, size;
    all->check = check;
    for (unsigned i = 0; check && i < all->count; i++) {
        accelerators_stack(all, i, &first, &size);
        footprint_check_stack(check, i, first, first + size - 1);
    }
}

struct footprint_check *accelerators_checker(const struct accelerators *all)
{
    return all->check;
}

void accelerators_set_ranges(struct accelerators *all, uint64_t table)
{
    for (unsigned i = 0; i < all->count; i++)
        task_unit_set_ranges(all->each[i].unit, table);
}

void accelerators_publish(struct accelerators *all, struct stats *stats)
{
    for (unsigned i = 0; i < all->count; i++)
        task_unit_publish(all->each[i].unit, stats, scope_at(NULL, "accel", i));
}

const struct phys *accelerators_memory(const struct accelerators *all)
{
    return &all->firmware;
}

unsigned accelerators_count(const struct accelerators *all)
{
    return all->count;
}

struct core_near accelerators_near_host(const struct accelerators *all)
{
    return (struct core_near){.base = all->config->base,
                              .size = (uint64_t)all->count * TASK_UNIT_SIZE,
                              .clocks = 2 * all->config->link_clocks};
}

struct core_near accelerators_near(const struct accelerators *all, unsigned number)
{
    return (struct core_near){.base = all->config->base + (uint64_t)number * TASK_UNIT_SIZE,
                              .size = TASK_UNIT_PAGE,
                              .clocks = all->config->unit_clocks,
                              .beside = true};
}

void accelerators_attach(struct accelerators *all, unsigned number, struct core *core,
                         const struct core_services *machine)
{
    struct accelerator *accelerator = &all->each[number];
    all->machine = machine;
    accelerator->core = core;
    core->stream.follow = follow;
    core->stream.follow_context = accelerator;
}

bool accelerators_warm(const struct accelerators *all)
{
    return all->each[0].core && all->each[0].core->warming;
}

void accelerators_detach(struct accelerators *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        all->each[i].core = NULL;
        all->each[i].awaited = false;
    }
}
