#include "emu/machine/timed/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/debug/symbols.h"
#include "emu/sim/alloc.h"

enum { NAME = 128, WORDS = sizeof(struct kernels_sample) / sizeof(uint64_t) };

struct kernel {
    uint64_t pc, launches;
    struct kernels_sample sum;
};

struct running {
    struct running *next;
    uint64_t launch;
    size_t kernel; /* index */
    struct kernels_sample begin;
};

struct kernels {
    struct symbols *symbols;
    struct kernel *list; /* in the order of their first launches */
    size_t count;
    struct running *running;
};

struct kernels *kernels_new(struct symbols *symbols)
{
    struct kernels *kernels = alloc(1, sizeof *kernels);
    kernels->symbols = symbols;
    return kernels;
}

void kernels_free(struct kernels *kernels)
{
    if (!kernels)
        return;
    for (struct running *at = kernels->running, *next; at; at = next) {
        next = at->next;
        free(at);
    }
    free(kernels->list);
    free(kernels);
}

void kernels_begin(struct kernels *kernels, uint64_t launch, uint64_t pc, const struct kernels_sample *sample)
{
    size_t i = 0;
    while (i < kernels->count && kernels->list[i].pc != pc)
        i++;
    if (i == kernels->count) {
        kernels->list = alloc_resize(kernels->list, (i + 1) * sizeof *kernels->list);
        kernels->list[kernels->count++] = (struct kernel){.pc = pc};
    }
    struct running *running = alloc(1, sizeof *running);
    *running = (struct running){.next = kernels->running, .launch = launch, .kernel = i, .begin = *sample};
    kernels->running = running;
}

void kernels_end(struct kernels *kernels, uint64_t launch, const struct kernels_sample *sample)
{
    struct running **at = &kernels->running;
    while (*at && (*at)->launch != launch)
        at = &(*at)->next;
    struct running *running = *at;
    if (!running)
        return;
    struct kernel *kernel = &kernels->list[running->kernel];
    uint64_t sum[WORDS], from[WORDS], to[WORDS];
    _Static_assert(sizeof sum == sizeof kernel->sum, "a sample consists of words");
    memcpy(sum, &kernel->sum, sizeof sum);
    memcpy(from, &running->begin, sizeof from);
    memcpy(to, sample, sizeof to);
    for (unsigned i = 0; i < WORDS; i++)
        sum[i] += to[i] - from[i];
    memcpy(&kernel->sum, sum, sizeof sum);
    kernel->launches++;
    *at = running->next;
    free(running);
}

void kernels_add(struct kernels_sample *sample, const struct simt_counters *counters, uint32_t schedulers)
{
    sample->instructions += counters->instructions;
    sample->thread_instructions += counters->thread_instructions;
    sample->flops += counters->flops;
    for (uint32_t i = 0; i < schedulers; i++)
        for (unsigned cause = 0; cause < SIMT_STALLS; cause++)
            sample->slots[cause] += counters->stalls[i][cause];
}

static void fact(struct stats *stats, const char *kernel, const char *name, uint64_t value)
{
    char text[NAME + 64];
    (void)snprintf(text, sizeof text, "kernel.%s.%s", kernel, name);
    stats_fact_number(stats, text, value);
}

static void add_facts(const struct kernels *kernels, const struct kernel *kernel, struct stats *stats)
{
    const struct kernels_sample *sum = &kernel->sum;
    uint64_t offset;
    const char *symbol = symbols_name(kernels->symbols, kernel->pc, &offset);
    char name[NAME], cause[32];
    if (symbol && offset == 0)
        (void)snprintf(name, sizeof name, "%s", symbol);
    else
        (void)snprintf(name, sizeof name, "0x%" PRIx64, kernel->pc);
    fact(stats, name, "launches", kernel->launches);
    fact(stats, name, "time", sum->time);
    fact(stats, name, "instructions", sum->instructions);
    fact(stats, name, "thread_instructions", sum->thread_instructions);
    fact(stats, name, "flops", sum->flops);
    fact(stats, name, "bytes", sum->bytes);
    for (enum simt_stall i = 0; i < SIMT_STALLS; i++) {
        (void)snprintf(cause, sizeof cause, "scheduler.%s", simt_stall_name(i));
        fact(stats, name, cause, sum->slots[i]);
    }
}

void kernels_facts(const struct kernels *kernels, uint64_t flops, uint64_t bytes, struct stats *stats)
{
    if (kernels->count == 0)
        return;
    stats_fact_number(stats, "roofline.flops_per_second", flops);
    stats_fact_number(stats, "roofline.bytes_per_second", bytes);
    for (size_t i = 0; i < kernels->count; i++)
        add_facts(kernels, &kernels->list[i], stats);
}
