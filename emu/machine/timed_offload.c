/* The offload engines between hosts and accelerators (emu/nucd/engine.h). Engines do not share accelerators: of n hosts
 * that offload, host h has the accelerators h, h + n, h + 2n ... as its targets 0, 1, 2 ... */
#include <stdio.h>
#include <stdlib.h>

#include "emu/hart/mmu.h"
#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"
#include "emu/nucd/engine.h"
#include "emu/sim/unit.h"

/* A host's engine. */
struct timed_engine {
    struct timed *timed;
    struct engine *engine;
    struct hart *hart;
    unsigned host, hosts; /* which of those that offload */
    struct offload_observer observer;
    char name[16]; /* "nucd.1", of its statistics */
};

static unsigned accelerator_of(const struct timed_engine *e, unsigned target)
{
    return e->host + target * e->hosts;
}

#define USER_END (UINT64_C(1) << 38) /* the lower half of Sv39 */

/* Under translation, an address that is not mapped may become so when it is touched. */
static bool is_memory(const void *context, uint64_t address)
{
    const struct hart *hart = ((const struct timed_engine *)context)->hart;
    if (hart->privileged && hart->privilege != PRIV_M && hart->priv.satp >> SATP_MODE_SHIFT != SATP_BARE)
        return address < USER_END;
    return phys_at(hart->memory, address, 1) != NULL;
}

/* Whether the page at an address can be fetched from, as the program's addresses go now. */
static bool is_fetchable(struct hart *hart, uint64_t address)
{
    uint64_t physical;
    struct trap trap = hart->trap;
    bool found = mmu_check(hart, address, 2, MMU_FETCH, (enum privilege)hart->privilege, &physical);
    hart->trap = trap;
    return found;
}

/* What a program may store to is no text of it. */
static bool is_code(const void *context, uint64_t begin, uint64_t end)
{
    struct hart *hart = ((const struct timed_engine *)context)->hart;
    if (!hart->privileged)
        return phys_at(hart->memory, begin, end - begin) &&
               (hart->store_base == hart->memory->base || end <= hart->store_base);
    for (uint64_t page = begin & ~(uint64_t)(MMU_PAGE - 1); page < end; page += MMU_PAGE)
        if (!is_fetchable(hart, page < begin ? begin : page))
            return false;
    return true;
}

static struct task_unit *unit_of(const struct timed_engine *e, unsigned target)
{
    return offload_unit(e->timed->options.offload, accelerator_of(e, target));
}

static void push(void *context, unsigned target, const uint64_t *words, unsigned count)
{
    bool room = task_unit_push(unit_of(context, target), words, count);
    (void)room; /* a driver beside the engine would have taken it; the unit counts that */
}

/* For --check nucd. */
static void sent(void *context, unsigned target, uint16_t tag, const struct nucd_task *task)
{
    const struct timed_engine *e = context;
    (void)tag;
    if (e->timed->footprint)
        footprint_check_begin(e->timed->footprint, accelerator_of(e, target), task);
}

static void resume(void *context, unsigned target)
{
    (void)task_unit_resume(unit_of(context, target));
}

static void kill_task(void *context, unsigned target)
{
    (void)task_unit_kill(unit_of(context, target));
}

static void warn(void *context, uint64_t pc, const char *text)
{
    struct timed *timed = ((struct timed_engine *)context)->timed;
    char place[SYMBOLS_TEXT];
    scheduler_begin_message(&timed->scheduler);
    fprintf(stderr, "croft run: warning: %s: %s\n", symbols_describe(timed->symbols, pc, place, sizeof place),
            text);
}

static void expired(void *context, unsigned target, const struct nucd_task *task)
{
    const struct timed_engine *e = context;
    struct timed *timed = e->timed;
    unsigned accel = accelerator_of(e, target);
    char place[SYMBOLS_TEXT], limit[UNIT_TEXT];
    const struct hart *hart = &timed->harts[timed->hosts + accel];
    unit_format(UNIT_TIME, timed->options.machine->nucd->timeout, limit);
    progress_hide(&timed->scheduler.progress);
    fprintf(stderr,
            "croft run: the task of the nucd at 0x%llx, %s, has not ended on accelerator %u within %s",
            (unsigned long long)task->pc, symbols_describe(timed->symbols, task->pc, place, sizeof place),
            accel, limit);
    fprintf(stderr, " (nucd.timeout); its pc is 0x%llx, %s\n", (unsigned long long)hart->pc,
            symbols_describe(timed->symbols, hart->pc, place, sizeof place));
    scheduler_expire(&timed->scheduler, "nucd.timeout");
}

static void told(void *context, unsigned accel, const struct task_unit_report *report)
{
    const struct timed_engine *e = context;
    if (accel % e->hosts == e->host)
        engine_report(e->engine, accel / e->hosts, report);
}

static void begun(void *context, unsigned accel, uint16_t tag, uint64_t time)
{
    const struct timed_engine *e = context;
    if (accel % e->hosts == e->host)
        engine_begun(e->engine, tag, time);
}

/* How many of the hosts offload. */
static unsigned offloading(const struct timed *timed)
{
    const struct nucd_config *nucd = timed->options.machine->nucd;
    if (!timed->options.offload || (nucd->mode != NUCD_MODE_NUCD && nucd->mode != NUCD_MODE_IDEAL))
        return 0;
    return nucd->hosts < timed->hosts ? nucd->hosts : timed->hosts;
}

/* Accelerators of a host. */
static unsigned targets_of(const struct timed *timed, unsigned host, unsigned hosts)
{
    unsigned count = offload_count(timed->options.offload);
    return count > host ? (count - host - 1) / hosts + 1 : 0;
}

static void configure(const struct timed *timed, unsigned targets, const struct core_config *core,
                      struct engine_config *config)
{
    const struct nucd_config *nucd = timed->options.machine->nucd;
    struct nucd_scheduler_config *scheduler = &config->scheduler;
    bool ahead = core->core == CORE_OOO;
    *config = (struct engine_config){.rob = ahead ? core->rob : 1, /* a task at a time */
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
    *scheduler = (struct nucd_scheduler_config){.targets = targets,
                                                .queue_lines = nucd->queue_lines,
                                                .buffer_lines = nucd->buffer_lines,
                                                .transfer_lines = nucd->transfer_lines,
                                                .coalesce = nucd->coalesce};
    if (scheduler->transfer_lines > scheduler->queue_lines)
        scheduler->transfer_lines = scheduler->queue_lines;
    for (unsigned i = 0; i < scheduler->targets; i++)
        scheduler->capabilities[i] = (uint8_t)nucd->capabilities;
}

/* Zeroed; NULL when host i does not offload. */
static struct timed_engine *new_engine(struct timed *timed, unsigned i)
{
    unsigned hosts = offloading(timed);
    if (i >= hosts || targets_of(timed, i, hosts) == 0)
        return NULL;
    struct timed_engine *e = calloc(1, sizeof *e);
    if (!e)
        abort();
    *e = (struct timed_engine){.timed = timed, .hart = &timed->harts[i], .host = i, .hosts = hosts};
    (void)snprintf(e->name, sizeof e->name, i ? "nucd.%u" : "nucd", i);
    timed->engines[i] = e;
    return e;
}

bool timed_make_engine(void *context, const struct part_site *site, const struct core_parts *parts,
                       const struct core_config *described, struct core_offload *offload, struct error *err)
{
    static const struct engine_core_ops core_ops = {core_offload_complete, core_offload_squash,
                                                    core_offload_go_on, core_offload_arrived,
                                                    core_offload_storing};
    struct timed *timed = context;
    struct timed_engine *e = new_engine(timed, parts->number);
    if (!e)
        return true;
    struct engine_config config;
    configure(timed, targets_of(timed, e->host, e->hosts), described, &config);
    const struct engine_parts engine_parts = {
        .hart = e->hart,
        .queue = &timed->queue,
        .clock = parts->clock,
        .component = part_component(site),
        .number = parts->number,
        .l1d = parts->l1d,
        .l1i = parts->l1i,
        .core = &core_ops,
        .limits = {.memory = is_memory, .code = is_code, .context = e},
        .targets = {.push = push, .sent = sent, .resume = resume, .kill = kill_task, .context = e},
        .warn = warn,
        .expired = expired,
        .context = e,
    };
    e->engine = engine_new(&config, &engine_parts, err);
    if (!e->engine)
        return false;
    *offload = engine_offload(e->engine);
    e->observer = (struct offload_observer){.told = told, .begun = begun, .context = e};
    offload_observe(timed->options.offload, &e->observer);
    return true;
}

void timed_attach_engine(struct timed *timed, unsigned i)
{
    if (timed->engines[i])
        engine_attach(timed->engines[i]->engine, timed->cores[i].core, &timed->cores[i].core->stream);
}

void timed_publish_engines(const struct timed *timed, struct stats *stats)
{
    for (unsigned i = 0; i < timed->hosts; i++)
        if (timed->engines[i])
            engine_publish(timed->engines[i]->engine, stats, scope_enter(NULL, timed->engines[i]->name));
}

void timed_add_engine_facts(const struct timed *timed, struct stats *stats)
{
    for (unsigned i = 0; i < timed->hosts; i++)
        if (timed->engines[i])
            engine_add_facts(timed->engines[i]->engine, stats, scope_enter(NULL, timed->engines[i]->name));
}

void timed_free_engines(struct timed *timed)
{
    for (unsigned i = 0; i < timed->hosts; i++) {
        if (timed->engines[i])
            engine_free(timed->engines[i]->engine);
        free(timed->engines[i]);
    }
}

bool timed_task_fault(const struct timed *timed, unsigned *accelerator, uint64_t *pc)
{
    const struct timed_engine *e = timed->engines[0];
    const struct engine_fault *fault = e ? engine_fault(e->engine) : NULL;
    if (!fault || e->hart->pc != fault->nucd)
        return false;
    *accelerator = accelerator_of(e, fault->target);
    *pc = fault->pc;
    return true;
}
