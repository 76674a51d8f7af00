/* The services of a timed machine that a mechanism of its cores uses (emu/core/mechanism.h). */
#include "emu/machine/timed/state.h"

static void interrupt(void *context, unsigned core)
{
    struct timed *timed = context;
    scheduler_interrupt(&timed->scheduler, core);
}

static void begin_message(void *context)
{
    struct timed *timed = context;
    scheduler_begin_message(&timed->scheduler);
}

static const char *describe(void *context, uint64_t pc, char *text, size_t size)
{
    const struct timed *timed = context;
    return symbols_describe(timed->symbols, pc, text, size);
}

static void expire(void *context, const char *limit)
{
    struct timed *timed = context;
    scheduler_expire(&timed->scheduler, limit);
}

void timed_start_mechanism(struct timed *timed)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    const struct core_services services = {.queue = timed->queues,
                                           .components = &timed->numbers.component,
                                           .interrupt = interrupt,
                                           .begin_message = begin_message,
                                           .describe = describe,
                                           .expire = expire,
                                           .context = timed};
    if (mechanism->ops)
        mechanism->ops->start(mechanism->context, &services);
}

void timed_check_tasks(struct timed *timed)
{
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    mechanism->ops->check(mechanism->context);
    symbols_read_only(timed->symbols, mechanism->ops->allow, mechanism->context);
}
