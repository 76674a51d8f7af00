/* The services of a timed machine that NUCD uses (emu/nucd/nucd.h). */
#include "emu/machine/timed_state.h"

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

void timed_start_nucd(struct timed *timed)
{
    const struct nucd_machine machine = {.queue = &timed->queue,
                                         .components = &timed->numbers.component,
                                         .interrupt = interrupt,
                                         .begin_message = begin_message,
                                         .describe = describe,
                                         .expire = expire,
                                         .context = timed};
    nucd_start_clock(timed->options.nucd, &machine);
}

static void allow(void *nucd, uint64_t first, uint64_t last)
{
    nucd_check_allow(nucd, first, last);
}

void timed_check_nucd(struct timed *timed)
{
    nucd_check(timed->options.nucd);
    symbols_read_only(timed->symbols, allow, timed->options.nucd);
}
