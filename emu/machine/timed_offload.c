/* The offload engine between the first host and the accelerators (emu/nucd/engine.h). */
#include <stdio.h>

#include "emu/hart/mmu.h"
#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"
#include "emu/nucd/engine.h"
#include "emu/sim/unit.h"

#define USER_END (UINT64_C(1) << 38) /* the lower half of Sv39 */

/* Under translation, an address that is not mapped may become so when it is touched. */
static bool is_memory(const void *context, uint64_t address)
{
    const struct timed *timed = context;
    const struct hart *hart = &timed->harts[0];
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
    const struct timed *timed = context;
    struct hart *hart = &timed->harts[0];
    if (!hart->privileged)
        return phys_at(hart->memory, begin, end - begin) &&
               (hart->store_base == hart->memory->base || end <= hart->store_base);
    for (uint64_t page = begin & ~(uint64_t)(MMU_PAGE - 1); page < end; page += MMU_PAGE)
        if (!is_fetchable(hart, page < begin ? begin : page))
            return false;
    return true;
}

static void push(void *context, unsigned target, const uint64_t *words, unsigned count)
{
    const struct timed *timed = context;
    bool room = task_unit_push(offload_unit(timed->options.offload, target), words, count);
    (void)room; /* a driver beside the engine would have taken it; the unit counts that */
}

/* For --check nucd. */
static void sent(void *context, unsigned target, uint16_t tag, const struct nucd_task *task)
{
    const struct timed *timed = context;
    (void)tag;
    if (timed->footprint)
        footprint_check_begin(timed->footprint, target, task);
}

static void resume(void *context, unsigned target)
{
    const struct timed *timed = context;
    (void)task_unit_resume(offload_unit(timed->options.offload, target));
}

static void kill_task(void *context, unsigned target)
{
    const struct timed *timed = context;
    (void)task_unit_kill(offload_unit(timed->options.offload, target));
}

static void warn(void *context, uint64_t pc, const char *text)
{
    struct timed *timed = context;
    char place[SYMBOLS_TEXT];
    scheduler_begin_message(&timed->scheduler);
    fprintf(stderr, "croft run: warning: %s: %s\n", symbols_describe(timed->symbols, pc, place, sizeof place),
            text);
}

static void expired(void *context, unsigned target, const struct nucd_task *task)
{
    struct timed *timed = context;
    char place[SYMBOLS_TEXT], limit[UNIT_TEXT];
    const struct hart *hart = &timed->harts[timed->hosts + target];
    unit_format(UNIT_TIME, timed->options.machine->nucd->timeout, limit);
    progress_hide(&timed->scheduler.progress);
    fprintf(stderr,
            "croft run: the task of the nucd at 0x%llx, %s, has not ended on accelerator %u within %s",
            (unsigned long long)task->pc, symbols_describe(timed->symbols, task->pc, place, sizeof place),
            target, limit);
    fprintf(stderr, " (nucd.timeout); its pc is 0x%llx, %s\n", (unsigned long long)hart->pc,
            symbols_describe(timed->symbols, hart->pc, place, sizeof place));
    scheduler_expire(&timed->scheduler, "nucd.timeout");
}

static void told(void *context, unsigned accel, const struct task_unit_report *report)
{
    engine_report(context, accel, report);
}

static void begun(void *context, uint16_t tag, uint64_t time)
{
    engine_begun(context, tag, time);
}

static void configure(const struct timed *timed, const struct core_config *core, struct engine_config *config)
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
    *scheduler = (struct nucd_scheduler_config){.targets = offload_count(timed->options.offload),
                                                .queue_lines = nucd->queue_lines,
                                                .buffer_lines = nucd->buffer_lines,
                                                .transfer_lines = nucd->transfer_lines,
                                                .coalesce = nucd->coalesce};
    if (scheduler->transfer_lines > scheduler->queue_lines)
        scheduler->transfer_lines = scheduler->queue_lines;
    for (unsigned i = 0; i < scheduler->targets; i++)
        scheduler->capabilities[i] = (uint8_t)nucd->capabilities;
}

bool timed_make_engine(struct timed *timed, unsigned i, const struct core_config *described,
                       struct core_offload *offload, struct error *err)
{
    static const struct engine_core_ops core_ops = {core_offload_complete, core_offload_squash,
                                                    core_offload_go_on, core_offload_arrived,
                                                    core_offload_storing};
    const struct timed_core *core = &timed->cores[i];
    const struct nucd_config *nucd = timed->options.machine->nucd;
    unsigned mode = nucd ? nucd->mode : NUCD_MODE_NONE;
    if (i != 0 || !timed->options.offload || (mode != NUCD_MODE_NUCD && mode != NUCD_MODE_IDEAL))
        return true;
    struct engine_config config;
    configure(timed, described, &config);
    const struct engine_parts engine_parts = {
        .hart = &timed->harts[i],
        .queue = &timed->queue,
        .clock = timed->cores[i].clock,
        .component = timed_component(timed),
        .number = (uint16_t)i,
        .l1d = core->l1d,
        .l1i = core->l1i,
        .core = &core_ops,
        .limits = {.memory = is_memory, .code = is_code, .context = timed},
        .targets = {.push = push, .sent = sent, .resume = resume, .kill = kill_task, .context = timed},
        .warn = warn,
        .expired = expired,
        .context = timed,
    };
    timed->nucd = engine_new(&config, &engine_parts, err);
    if (!timed->nucd)
        return false;
    *offload = engine_offload(timed->nucd);
    timed->nucd_observer = (struct offload_observer){.told = told, .begun = begun, .context = timed->nucd};
    offload_observe(timed->options.offload, &timed->nucd_observer);
    return true;
}

void timed_attach_engine(struct timed *timed, unsigned i)
{
    if (i == 0 && timed->nucd)
        engine_attach(timed->nucd, timed->cores[i].core, &timed->cores[i].core->stream);
}

bool timed_task_fault(const struct timed *timed, unsigned *accelerator, uint64_t *pc)
{
    const struct engine_fault *fault = timed->nucd ? engine_fault(timed->nucd) : NULL;
    const struct hart *hart = &timed->harts[0];
    if (!fault || hart->pc != fault->nucd)
        return false;
    *accelerator = fault->target;
    *pc = fault->pc;
    return true;
}
