#include "emu/nucd/engine/engines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/hart/mmu.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"
#include "emu/simt/warp.h"

/* The engine of a host or a multiprocessor. Its accelerators are first, first + stride and so on. It takes
 * the credits of the accelerators whose number modulo `homes` is `home`; a multiprocessor takes none, and its
 * homes is 0. */
struct host_engine {
    struct engines *all;
    struct engine *engine; /* NULL: the host does not offload */
    struct hart *hart;
    unsigned number; /* of the host */
    unsigned first, stride;
    unsigned home, homes;
    struct accelerators_observer observer;
    char *name; /* scope of its statistics, such as "nucd.1" */
};

struct engines {
    const struct nucd_config *config;
    struct accelerators *accelerators;
    const struct core_services *machine;
    uint32_t line;                        /* longest of the cores' caches */
    struct nucd_turns turns;              /* of all engines that share accelerators */
    struct host_engine **multiprocessors; /* by number */
    unsigned multiprocessor_count;
    struct cache *host_l1d;         /* of host 0 */
    struct nucd_causes warned;      /* nucds of threads for which a warning was printed */
    struct keep_out keep_out;       /* outputs of the tasks in flight, by engine */
    struct observer_list observers; /* struct engines_observer */
    unsigned count;                 /* number of hosts that offload */
    struct host_engine each[];
};

static unsigned accelerator_of(const struct host_engine *e, unsigned own)
{
    return e->first + own * e->stride;
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
    const struct host_engine *e = context;
    accelerators_resume(e->all->accelerators, accelerator_of(e, own));
}

static void kill_task(void *context, unsigned own)
{
    (void)task_unit_kill(unit_of(context, own));
}

static void warn(void *context, uint64_t pc, const char *text)
{
    const struct core_services *machine = ((struct host_engine *)context)->all->machine;
    char place[CORE_DESCRIPTION];
    machine->begin_message(machine->context);
    say_warning("%s: %s", machine->describe(machine->context, pc, place, sizeof place), text);
}

/* Threads on several multiprocessors run the same code: warns once. */
static void warn_of_thread(void *context, uint64_t pc, const char *text)
{
    struct error unused;
    if (nucd_causes_note(&((struct host_engine *)context)->all->warned, NUCD_CAUSE_CODE, pc, &unused))
        warn(context, pc, text);
}

/* Returns "task 3", or "a task" if the record has no number. */
static const char *task_name(const struct nucd_record *record, char text[32])
{
    (void)snprintf(text, 32, record->number == NUCD_NO_RECORD ? "a task" : "task %" PRIu64, record->number);
    return text;
}

static void expired(void *context, const struct nucd_record *record)
{
    const struct host_engine *e = context;
    const struct core_services *machine = e->all->machine;
    unsigned accelerator = accelerator_of(e, record->accelerator);
    char place[CORE_DESCRIPTION], now_at[CORE_DESCRIPTION], limit[QUANTITY_TEXT], name[32];
    uint64_t pc = accelerators_hart(e->all->accelerators, accelerator)->pc;
    quantity_format(QUANTITY_TIME, e->all->config->timeout, limit);
    machine->begin_message(machine->context);
    say("%s of the nucd at 0x%" PRIx64
        ", %s, has not ended on accelerator %u within %s (nucd.timeout); its pc is 0x%" PRIx64 ", %s",
        task_name(record, name), record->task->pc,
        machine->describe(machine->context, record->task->pc, place, sizeof place), accelerator, limit, pc,
        machine->describe(machine->context, pc, now_at, sizeof now_at));
    machine->expire(machine->context, "nucd.timeout");
}

static struct nucd_record numbered(const struct host_engine *e, const struct nucd_record *record)
{
    struct nucd_record copy = *record;
    copy.host = e->number;
    copy.accelerator = accelerator_of(e, record->accelerator);
    return copy;
}

static void began(void *context, const struct nucd_record *record)
{
    const struct host_engine *e = context;
    const struct nucd_record copy = numbered(e, record);
    OBSERVER_TELL(&e->all->observers, struct engines_observer, began, &copy);
}

static void left(void *context, const struct nucd_record *record)
{
    const struct host_engine *e = context;
    const struct nucd_record copy = numbered(e, record);
    OBSERVER_TELL(&e->all->observers, struct engines_observer, left, &copy);
}

/* Returns whether the accelerator is the host's, or runs tasks for it. */
static bool is_own(const struct host_engine *e, unsigned accelerator)
{
    if (accelerator % e->stride != e->first)
        return false;
    return e->all->config->arbitration == NUCD_PARTITION || engine_owns(e->engine, accelerator / e->stride);
}

static bool is_end(const struct task_unit_report *report)
{
    return report->event == TASK_UNIT_COMPLETED || report->event == TASK_UNIT_KILLED;
}

static void told(void *context, unsigned accelerator, const struct task_unit_report *report)
{
    const struct host_engine *e = context;
    unsigned own = accelerator / e->stride;
    if (report->event == TASK_UNIT_EMPTIED ? accelerator % e->homes == e->home : is_own(e, accelerator))
        engine_report(e->engine, own, report);
    else if (is_end(report) && accelerator % e->stride == e->first)
        engine_note_end(e->engine, own);
}

static void begun(void *context, unsigned accelerator, uint16_t tag, uint64_t time)
{
    const struct host_engine *e = context;
    if (!e->homes || is_own(e, accelerator))
        engine_begun(e->engine, tag, time);
}

/* told() for multiprocessors: the engine of a host handles the credits. */
static void told_multiprocessor(void *context, unsigned accelerator, const struct task_unit_report *report)
{
    const struct host_engine *e = context;
    if (report->event == TASK_UNIT_EMPTIED)
        return;
    if (engine_has_tag(e->engine, report->tag))
        engine_report(e->engine, accelerator, report);
    else if (is_end(report))
        engine_note_end(e->engine, accelerator);
}

/* Lets all engines try to send. */
static void room(void *context)
{
    const struct engines *engines = ((const struct host_engine *)context)->all;
    if (engines->count == 1 && engines->multiprocessor_count == 0)
        return;
    for (unsigned i = 0; i < engines->count; i++)
        engine_try(engines->each[i].engine);
    for (unsigned i = 0; i < engines->multiprocessor_count; i++)
        engine_try(engines->multiprocessors[i]->engine);
}

static void ended(void *context, unsigned accelerator, uint16_t tag, uint64_t time)
{
    const struct host_engine *e = context;
    if (!e->homes || is_own(e, accelerator))
        engine_ended(e->engine, accelerator / e->stride, tag, time);
}

unsigned engines_hosts(const struct nucd_config *config, unsigned hosts, unsigned accelerators)
{
    if (config->mode != NUCD_MODE_NUCD && config->mode != NUCD_MODE_IDEAL)
        return 0;
    unsigned count = config->hosts < hosts ? config->hosts : hosts;
    return count < accelerators || config->arbitration != NUCD_PARTITION ? count : accelerators;
}

static void configure(const struct engines *engines, unsigned count, const struct core_config *core,
                      struct engine_config *config)
{
    const struct nucd_config *nucd = engines->config;
    struct nucd_scheduler_config *scheduler = &config->scheduler;
    bool ahead = core->core == CORE_OOO, passes = ahead && nucd->retire == NUCD_RETIRE_CHECKPOINT;
    *config = (struct engine_config){.rob = ahead ? core->rob : 1, /* one task at a time */
                                     .stores = ahead ? core->store_queue : 1,
                                     .checkpoints = passes ? nucd->checkpoints : 0,
                                     .checkpoint_clocks = nucd->checkpoint_clocks,
                                     .checkpoint_window = nucd->checkpoint_window,
                                     .granule = nucd->ranges == NUCD_GRANULE_PAGE ? MMU_PAGE : engines->line,
                                     .oracle = nucd->ranges == NUCD_GRANULE_ORACLE,
                                     .stalls = nucd->frontend_stall,
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
                            unsigned hosts, uint32_t line, const struct core_services *machine)
{
    unsigned count = engines_hosts(config, hosts, accelerators_count(accelerators));
    struct engines *engines = alloc(1, sizeof *engines + count * sizeof engines->each[0]);
    *engines = (struct engines){
        .config = config, .accelerators = accelerators, .machine = machine, .line = line, .count = count};
    engines->turns.first_come = config->arbitration == NUCD_FIRST_COME;
    keep_out_init(&engines->keep_out, count);
    return engines;
}

unsigned engines_count(const struct engines *engines)
{
    return engines->count;
}

static void free_engine(struct host_engine *e)
{
    free(e->name);
    if (!e->engine)
        return;
    accelerators_unobserve(e->all->accelerators, &e->observer);
    engine_free(e->engine);
}

void engines_free(struct engines *engines)
{
    if (!engines)
        return;
    for (unsigned i = 0; i < engines->count; i++)
        free_engine(&engines->each[i]);
    for (unsigned i = 0; i < engines->multiprocessor_count; i++) {
        free_engine(engines->multiprocessors[i]);
        free(engines->multiprocessors[i]);
    }
    free(engines->multiprocessors);
    keep_out_free(&engines->keep_out);
    free(engines);
}

/* Returns the parts that engines of hosts and multiprocessors have in common. */
static struct engine_parts parts_of(struct host_engine *e, const struct clock *clock)
{
    return (struct engine_parts){
        .hart = e->hart,
        .queue = e->all->machine->queue,
        .clock = *clock,
        .component = (*e->all->machine->components)++,
        .keep_out = &e->all->keep_out,
        .limits = {.memory = is_memory, .code = is_code, .context = e},
        .accelerators = {.push = push, .sent = sent, .resume = resume, .kill = kill_task, .context = e},
        .warn = warn,
        .expired = expired,
        .room = room,
        .began = began,
        .left = left,
        .context = e,
    };
}

/* Makes the engine and observes the accelerators. */
static bool make_engine(struct host_engine *e, const struct engine_config *config,
                        const struct engine_parts *parts, struct error *err)
{
    e->engine = engine_new(config, parts, err);
    if (!e->engine)
        return false;
    e->observer = (struct accelerators_observer){
        .told = parts->core ? told : told_multiprocessor, .begun = begun, .ended = ended, .context = e};
    accelerators_observe(e->all->accelerators, &e->observer);
    return true;
}

/* Makes the engine share each accelerator: with the first host, or with `partition` with the host that has
 * it. */
static void share(struct host_engine *e, unsigned accelerators)
{
    struct engines *engines = e->all;
    unsigned hosts = engines->config->arbitration == NUCD_PARTITION ? engines->count : 1;
    for (unsigned i = 0; i < accelerators; i++)
        engine_share(e->engine, i, engines->each[i % hosts].engine, i / hosts, &engines->turns);
}

bool engines_make(struct engines *engines, const struct nucd_core *core, struct core_offload *offload,
                  struct error *err)
{
    if (engines->count == 0)
        return true;
    cache_keep_out(core->l1d, &engines->keep_out);
    cache_keep_out(core->l1i, &engines->keep_out);
    if (core->llc)
        llc_slices_keep_out(core->llc, &engines->keep_out);
    if (core->number >= engines->count)
        return true;
    struct host_engine *e = &engines->each[core->number];
    bool partition = engines->config->arbitration == NUCD_PARTITION;
    unsigned count = accelerators_count(engines->accelerators);
    if (partition)
        count = (count - core->number - 1) / engines->count + 1;
    static const struct engine_core_ops core_ops = {core_offload_complete, core_offload_squash,
                                                    core_offload_go_on, core_offload_arrived,
                                                    core_offload_storing};
    struct engine_config config;
    char name[16];
    *e = (struct host_engine){.all = engines,
                              .hart = core->hart,
                              .number = core->number,
                              .first = partition ? core->number : 0,
                              .stride = partition ? engines->count : 1,
                              .home = core->number,
                              .homes = engines->count};
    (void)snprintf(name, sizeof name, core->number ? "nucd.%u" : "nucd", core->number);
    e->name = alloc_text(name);
    configure(engines, count, core->config, &config);
    config.scheduler.exclusive = !partition;
    struct engine_parts parts = parts_of(e, &core->clock);
    parts.number = (uint16_t)core->number;
    parts.l1d = core->l1d;
    parts.keep_out_owner = core->number;
    parts.core = &core_ops;
    if (core->number == 0)
        engines->host_l1d = core->l1d;
    if (!make_engine(e, &config, &parts, err))
        return false;
    *offload = engine_offload(e->engine);
    if (!partition && core->number > 0)
        share(e, count);
    return true;
}

bool engines_add(struct engines *engines, const struct nucd_multiprocessor *multiprocessor, struct error *err)
{
    const struct core_config one = {.core = CORE_INORDER};
    unsigned number = engines->multiprocessor_count, accelerators = accelerators_count(engines->accelerators);
    struct engine_config config;
    if (number == ENGINE_MULTIPROCESSORS)
        return error_set(err, "at most %d multiprocessors can offload by nucd", ENGINE_MULTIPROCESSORS);
    struct host_engine *e = alloc(1, sizeof *e);
    engines->multiprocessors =
        alloc_resize(engines->multiprocessors, (number + 1) * sizeof *engines->multiprocessors);
    engines->multiprocessors[engines->multiprocessor_count++] = e;
    cache_keep_out(multiprocessor->l1, &engines->keep_out);
    *e = (struct host_engine){.all = engines, .hart = multiprocessor->hart, .stride = 1};
    e->name = scope_path(scope_enter(NULL, multiprocessor->name), "nucd");
    configure(engines, accelerators, &one, &config);
    struct engine_parts parts = parts_of(e, &multiprocessor->clock);
    parts.number = multiprocessor->number;
    parts.l1d = multiprocessor->l1;
    parts.keep_out_owner = keep_out_add(&engines->keep_out);
    parts.block = multiprocessor->block;
    parts.host_l1d = engines->host_l1d;
    parts.warn = warn_of_thread;
    parts.began = parts.left = NULL; /* traces show the hosts' tasks */
    parts.first_tag = (uint16_t)(ENGINE_FIRST_TAG + number * NUCD_TASKS);
    if (!make_engine(e, &config, &parts, err))
        return false;
    share(e, accelerators);
    return true;
}

static uint32_t take_lanes(void *context, struct custom_lanes *lanes)
{
    const struct engines *engines = context;
    const struct host_engine *e = engines->multiprocessors[warp_where(lanes->warp)->multiprocessor];
    return accelerators_warm(engines->accelerators) ? 0 : engine_take_lanes(e->engine, lanes);
}

void engines_serve(struct engines *engines, struct custom_units *units)
{
    if (engines->multiprocessor_count > 0)
        custom_serve(units, EXTENSION_Xnucd,
                     &(struct custom_unit){.take_lanes = take_lanes, .context = engines});
}

void engines_attach(struct engines *engines, unsigned host, struct core *core)
{
    if (host < engines->count)
        engine_attach(engines->each[host].engine, core, &core->stream);
}

void engines_observe(struct engines *engines, struct engines_observer *observer)
{
    observer_add(&engines->observers, &observer->link);
}

void engines_unobserve(struct engines *engines, const struct engines_observer *observer)
{
    observer_remove(&engines->observers, &observer->link);
}

void engines_tell_rest(struct engines *engines)
{
    for (unsigned i = 0; i < engines->count; i++)
        if (engines->each[i].engine)
            engine_tell_rest(engines->each[i].engine);
}

void engines_publish(const struct engines *engines, struct stats *stats)
{
    for (unsigned i = 0; i < engines->count; i++)
        engine_publish(engines->each[i].engine, stats, scope_enter(NULL, engines->each[i].name));
    for (unsigned i = 0; i < engines->multiprocessor_count; i++)
        engine_publish(engines->multiprocessors[i]->engine, stats,
                       scope_enter(NULL, engines->multiprocessors[i]->name));
}

void engines_add_facts(const struct engines *engines, struct stats *stats)
{
    for (unsigned i = 0; i < engines->count; i++)
        engine_add_facts(engines->each[i].engine, stats, scope_enter(NULL, engines->each[i].name));
    for (unsigned i = 0; i < engines->multiprocessor_count; i++)
        engine_add_facts(engines->multiprocessors[i]->engine, stats,
                         scope_enter(NULL, engines->multiprocessors[i]->name));
}

bool engines_task_sp(const struct engines *engines, unsigned accelerator, uint16_t tag, uint64_t *sp)
{
    for (unsigned i = 0; i < engines->count; i++) {
        const struct host_engine *e = &engines->each[i];
        const struct nucd_task *task = !e->homes || is_own(e, accelerator)
                                           ? engine_task_at(e->engine, accelerator / e->stride, tag)
                                           : NULL;
        if (task && task->sp != 0) {
            *sp = task->sp;
            return true;
        }
    }
    return false;
}

bool engines_keep(const struct engines *engines, const struct hart *hart)
{
    bool keeps = false;
    for (unsigned i = 0; i < engines->count && !keeps; i++)
        keeps = engines->each[i].hart == hart && engine_keeps(engines->each[i].engine);
    return keeps;
}

static bool is_faulty(const struct host_engine *e, unsigned *accelerator, uint64_t *pc)
{
    const struct engine_fault *fault = engine_fault(e->engine);
    if (!fault || e->hart->pc != fault->nucd)
        return false;
    *accelerator = accelerator_of(e, fault->accelerator);
    *pc = fault->pc;
    return true;
}

bool engines_fault(const struct engines *engines, const struct hart *hart, unsigned *accelerator,
                   uint64_t *pc)
{
    bool faulty = false;
    for (unsigned i = 0; i < engines->count && !faulty; i++)
        faulty = engines->each[i].hart == hart && is_faulty(&engines->each[i], accelerator, pc);
    for (unsigned i = 0; i < engines->multiprocessor_count && !faulty; i++)
        faulty = is_faulty(engines->multiprocessors[i], accelerator, pc);
    return faulty;
}
