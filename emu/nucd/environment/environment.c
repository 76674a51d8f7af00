/* NUCD's accelerators as environments of programs see them (emu/core/tasks.h). */
#include "emu/nucd/environment/environment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/nucd/environment/driver.h"
#include "emu/nucd/mechanism.h"
#include "emu/nucd/nucd.h"
#include "emu/sim/alloc.h"

static_assert((int)NUCD_OVERFLOW_TEXT <= (int)TASKS_TEXT && (int)NUCD_DRIVER_TEXT <= (int)TASKS_TEXT,
              "messages fit");

struct environment {
    struct tasks tasks; /* its mechanism is of the struct nucd */
    const struct tree *tree;
    struct nucd_causes causes; /* of nucds that the driver found malformed */
};

static void free_tasks(struct tasks *tasks)
{
    nucd_free(tasks->mechanism.context);
    free(tasks);
}

static bool restart(struct tasks *tasks, struct error *err)
{
    return nucd_restart(tasks->mechanism.context, err);
}

static void protect(struct tasks *tasks, uint64_t first)
{
    nucd_protect(tasks->mechanism.context, first);
}

static void set_ranges(struct tasks *tasks, uint64_t table)
{
    nucd_set_ranges(tasks->mechanism.context, table);
}

static bool fault(const struct tasks *tasks, const struct hart *hart, unsigned *accelerator, uint64_t *pc)
{
    return nucd_fault(tasks->mechanism.context, hart, accelerator, pc);
}

static bool keep(const struct tasks *tasks, const struct hart *hart)
{
    return nucd_keeps(tasks->mechanism.context, hart);
}

static bool overflow(const struct tasks *tasks, unsigned accelerator, const struct trap *trap,
                     char text[TASKS_TEXT])
{
    return nucd_overflow(tasks->mechanism.context, accelerator, trap, text);
}

static bool region(const struct tasks *tasks, unsigned accelerator, struct tasks_region *stopped)
{
    return nucd_stopped_region(tasks->mechanism.context, accelerator, stopped);
}

static bool caller(const struct tasks *tasks, unsigned accelerator, struct tasks_caller *found)
{
    return nucd_caller(tasks->mechanism.context, accelerator, found);
}

static void answer(struct tasks *tasks, unsigned accelerator, uint64_t result)
{
    nucd_answer_call(tasks->mechanism.context, accelerator, result);
}

static bool malformed(struct tasks *tasks, uint64_t cause, uint64_t pc, struct error *warning)
{
    assert(cause < NUCD_CAUSE_COUNT);
    return nucd_causes_note(&((struct environment *)tasks)->causes, (enum nucd_cause)cause, pc, warning);
}

static void timeout(const struct tasks *tasks, const struct kernel_frame *frame, const char *place,
                    char text[TASKS_TEXT])
{
    nucd_driver_timeout(((const struct environment *)tasks)->tree, frame, place, text);
}

static void publish(struct tasks *tasks, const struct kernel_boot *boot, struct stats *stats)
{
    nucd_driver_publish(boot, &((struct environment *)tasks)->causes, stats);
}

static const struct tasks_ops ops = {
    .free = free_tasks,
    .restart = restart,
    .protect = protect,
    .set_ranges = set_ranges,
    .fault = fault,
    .keep = keep,
    .overflow = overflow,
    .region = region,
    .caller = caller,
    .answer = answer,
    .malformed = malformed,
    .timeout = timeout,
    .publish = publish,
};

static struct tasks *make(const struct tasks_options *options, struct error *err)
{
    struct nucd *nucd = nucd_new(options, err);
    if (!nucd)
        return NULL;
    const unsigned hosts = nucd_hosts(nucd);
    struct environment *environment = alloc(1, sizeof *environment);
    environment->tasks = (struct tasks){.ops = &ops,
                                        .instruction = "nucd",
                                        .mechanism = nucd_mechanism(nucd),
                                        .harts = options->harts + hosts,
                                        .count = options->count - hosts,
                                        .memory = *accelerators_memory(nucd_accelerators(nucd))};
    environment->tree = options->tree;
    return &environment->tasks;
}

static uint64_t interrupt(const struct tree *tree)
{
    return nucd_described(tree)->irq;
}

static void node(const struct tree *tree, const char *firmware, struct tasks_node *node)
{
    const struct nucd_config *config = nucd_described(tree);
    unsigned count = nucd_count(tree, firmware);
    *node = (struct tasks_node){.name = "nucd",
                                .compatible = "undercroft,nucd",
                                .base = config->base,
                                .size = (uint64_t)count * TASK_UNIT_SIZE,
                                .interrupt = config->irq,
                                .units = count,
                                .queue_lines = config->queue_lines,
                                .capabilities = config->capabilities};
}

/* The firmware is position-independent and linked at CROFT_NUCD_FIRMWARE (linker/nucd.ld). */
const struct tasks_kind nucd_tasks = {
    .firmware = "firmware/nucd.elf",
    .wanted = nucd_wanted,
    .count = nucd_count,
    .interrupt = interrupt,
    .node = node,
    .program_memory = nucd_program_memory,
    .boot = nucd_driver_boot,
    .be_patient = nucd_be_patient,
    .warn_without_kernel = nucd_warn_driver,
    .warn_hosts = nucd_warn_hosts,
    .make = make,
};
