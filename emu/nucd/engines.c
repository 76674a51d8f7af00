#include "emu/nucd/engines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/hart/mmu.h"
#include "emu/sim/alloc.h"
#include "emu/sim/quantity.h"

struct host_engine {
    struct engines *all;
    struct engine *engine; /* NULL: the host does not offload */
    struct hart *hart;
    unsigned host;
    struct accelerators_observer observer;
    char name[16]; /* scope of its statistics, such as "nucd.1" */
};

struct engines {
    const struct nucd_config *config;
    struct accelerators *accelerators;
    const struct nucd_machine *machine;
    unsigned count; /* number of hosts that offload */
    struct host_engine each[];
};

static unsigned accelerator_of(const struct host_engine *e, unsigned own)
{
    return e->host + own * e->all->count;
}

#define USER_END (UINT64_C(1) << 38) /* end of the lower half of Sv39 */

/* With address translation, an unmapped address may become mapped when it is touched. */
static bool is_memory(const void *context, uint64_t address)
{
    const struct hart *hart = ((const struct host_engine *)context)->hart;
    if (hart->privileged && hart->privilege != PRIV_M && hart->priv.satp >> SATP_MODE_SHIFT != SATP_BARE)
        return address < USER_END;
    return phys_at(hart->memory, address, 1) != NULL;
}

/* Returns whether code can be fetched from the page at an address, with the current translation. */
static bool is_fetchable(struct hart *hart, uint64_t address)
{
    uint64_t physical;
    struct trap trap = hart->trap;
    bool found = mmu_check(hart, address, 2, MMU_FETCH, (enum privilege)hart->privilege, &physical);
    hart->trap = trap;
    return found;
}

/* Writable pages are not code. */
static bool is_code(const void *context, uint64_t begin, uint64_t end)
{
    struct hart *hart = ((const struct host_engine *)context)->hart;
    if (!hart->privileged)
        return phys_at(hart->memory, begin, end - begin) &&
               (hart->store_base == hart->memory->base || end <= hart->store_base);
    for (uint64_t page = begin & ~(uint64_t)(MMU_PAGE - 1); page < end; page += MMU_PAGE)
        if (!is_fetchable(hart, page < begin ? begin : page))
            return false;
    return true;
}

static struct task_unit *unit_of(const struct host_engine *e, unsigned own)
{
    return accelerators_unit(e->all->accelerators, accelerator_of(e, own));
}

static void push(void *context, unsigned own, const uint64_t *words, unsigned count)
{
    bool room = task_unit_push(unit_of(context, own), words, count);
    (void)room; /* no room: a driver beside the engine has used it; the unit counts an error */
}

/* Reports the task to the checker of --check nucd. */
static void sent(void *context, unsigned own, uint16_t tag, const struct nucd_task *task)
{
    const struct host_engine *e = context;
    struct footprint_check *check = accelerators_checker(e->all->accelerators);
    (void)tag;
    if (check)
        footprint_check_begin(check, accelerator_of(e, own), task);
}

static void resume(void *context, unsigned own)
{
    (void)task_unit_resume(unit_of(context, own));
}

static void kill_task(void *context, unsigned own)
{
    (void)task_unit_kill(unit_of(context, own));
}

static void warn(void *context, uint64_t pc, const char *text)
{
    const struct nucd_machine *machine = ((struct host_engine *)context)->all->machine;
    char place[NUCD_DESCRIPTION];
    machine->begin_message(machine->context);
    fprintf(stderr, "croft run: warning: %s: %s\n",
            machine->describe(machine->context, pc, place, sizeof place), text);
}

static void expired(void *context, unsigned own, const struct nucd_task *task)
{
    const struct host_engine *e = context;
    const struct nucd_machine *machine = e->all->machine;
    unsigned accelerator = accelerator_of(e, own);
    char place[NUCD_DESCRIPTION], limit[QUANTITY_TEXT];
    uint64_t pc = accelerators_hart(e->all->accelerators, accelerator)->pc;
    quantity_format(QUANTITY_TIME, e->all->config->timeout, limit);
    machine->begin_message(machine->context);
    fprintf(stderr,
            "croft run: the task of the nucd at 0x%" PRIx64
            ", %s, has not ended on accelerator %u within %s (nucd.timeout)",
            task->pc, machine->describe(machine->context, task->pc, place, sizeof place), accelerator, limit);
    fprintf(stderr, "; its pc is 0x%" PRIx64 ", %s\n", pc,
            machine->describe(machine->context, pc, place, sizeof place));
    machine->expire(machine->context, "nucd.timeout");
}

static void told(void *context, unsigned accelerator, const struct task_unit_report *report)
{
    const struct host_engine *e = context;
    if (accelerator % e->all->count == e->host)
        engine_report(e->engine, accelerator / e->all->count, report);
}

static void begun(void *context, unsigned accelerator, uint16_t tag, uint64_t time)
{
    const struct host_engine *e = context;
    if (accelerator % e->all->count == e->host)
        engine_begun(e->engine, tag, time);
}

unsigned engines_hosts(const struct nucd_config *config, unsigned hosts, unsigned accelerators)
{
    if (config->mode != NUCD_MODE_NUCD && config->mode != NUCD_MODE_IDEAL)
        return 0;
    unsigned count = config->hosts < hosts ? config->hosts : hosts;
    return count < accelerators ? count : accelerators;
}

static void configure(const struct nucd_config *nucd, unsigned count, const struct core_config *core,
                      struct engine_config *config)
{
    struct nucd_scheduler_config *scheduler = &config->scheduler;
    bool ahead = core->core == CORE_OOO;
    *config = (struct engine_config){.rob = ahead ? core->rob : 1, /* one task at a time */
                                     .stores = ahead ? core->store_queue : 1,
                                     .tasks = nucd->tasks,
                                     .ideal = nucd->mode == NUCD_MODE_IDEAL,
                                     .read_ports = nucd->read_ports,
                                     .write_words = nucd->write_words,
                                     .table_clocks = nucd->table_clocks,
                                     .schedule_clocks = nucd->schedule_clocks,
                                     .link_width = nucd->link_width,
                                     .link_clocks = nucd->link_clocks,
                                     .timeout = nucd->timeout};
    *scheduler = (struct nucd_scheduler_config){.accelerators = count,
                                                .queue_lines = nucd->queue_lines,
                                                .buffer_lines = nucd->buffer_lines,
                                                .transfer_lines = nucd->transfer_lines,
                                                .coalesce = nucd->coalesce};
    for (unsigned i = 0; i < scheduler->accelerators; i++)
        scheduler->capabilities[i] = (uint8_t)nucd->capabilities;
}

struct engines *engines_new(const struct nucd_config *config, struct accelerators *accelerators,
                            unsigned hosts, const struct nucd_machine *machine)
{
    unsigned count = engines_hosts(config, hosts, accelerators_count(accelerators));
    struct engines *engines = alloc(1, sizeof *engines + count * sizeof engines->each[0]);
    *engines =
        (struct engines){.config = config, .accelerators = accelerators, .machine = machine, .count = count};
    return engines;
}

void engines_free(struct engines *engines)
{
    if (!engines)
        return;
    for (unsigned i = 0; i < engines->count; i++)
        if (engines->each[i].engine) {
            accelerators_unobserve(engines->accelerators, &engines->each[i].observer);
            engine_free(engines->each[i].engine);
        }
    free(engines);
}

static struct engine_parts parts_of(struct host_engine *e, const struct nucd_core *core)
{
    static const struct engine_core_ops core_ops = {core_offload_complete, core_offload_squash,
                                                    core_offload_go_on, core_offload_arrived,
                                                    core_offload_storing};
    return (struct engine_parts){
        .hart = core->hart,
        .queue = e->all->machine->queue,
        .clock = core->clock,
        .component = (*e->all->machine->components)++,
        .number = (uint16_t)core->number,
        .l1d = core->l1d,
        .l1i = core->l1i,
        .core = &core_ops,
        .limits = {.memory = is_memory, .code = is_code, .context = e},
        .accelerators = {.push = push, .sent = sent, .resume = resume, .kill = kill_task, .context = e},
        .warn = warn,
        .expired = expired,
        .context = e,
    };
}

bool engines_make(struct engines *engines, const struct nucd_core *core, struct core_offload *offload,
                  struct error *err)
{
    if (core->number >= engines->count)
        return true;
    struct host_engine *e = &engines->each[core->number];
    unsigned accelerators = accelerators_count(engines->accelerators);
    unsigned count = (accelerators - core->number - 1) / engines->count + 1;
    struct engine_config config;
    *e = (struct host_engine){.all = engines, .hart = core->hart, .host = core->number};
    (void)snprintf(e->name, sizeof e->name, e->host ? "nucd.%u" : "nucd", e->host);
    configure(engines->config, count, core->config, &config);
    const struct engine_parts parts = parts_of(e, core);
    e->engine = engine_new(&config, &parts, err);
    if (!e->engine)
        return false;
    *offload = engine_offload(e->engine);
    e->observer = (struct accelerators_observer){.told = told, .begun = begun, .context = e};
    accelerators_observe(engines->accelerators, &e->observer);
    return true;
}

void engines_attach(struct engines *engines, unsigned host, struct core *core)
{
    if (host < engines->count)
        engine_attach(engines->each[host].engine, core, &core->stream);
}

void engines_publish(const struct engines *engines, struct stats *stats)
{
    for (unsigned i = 0; i < engines->count; i++)
        engine_publish(engines->each[i].engine, stats, scope_enter(NULL, engines->each[i].name));
}

void engines_add_facts(const struct engines *engines, struct stats *stats)
{
    for (unsigned i = 0; i < engines->count; i++)
        engine_add_facts(engines->each[i].engine, stats, scope_enter(NULL, engines->each[i].name));
}

bool engines_fault(const struct engines *engines, unsigned *accelerator, uint64_t *pc)
{
    const struct host_engine *e = engines->each;
    const struct engine_fault *fault = engines->count ? engine_fault(e->engine) : NULL;
    if (!fault || e->hart->pc != fault->nucd)
        return false;
    *accelerator = accelerator_of(e, fault->accelerator);
    *pc = fault->pc;
    return true;
}
