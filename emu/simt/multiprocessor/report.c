/* A multiprocessor's statistics and energy. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/simt/multiprocessor/state.h"

static const struct {
    const char *name, *meaning;
} works[SIMT_WORKS] = {
#define SIMT_WORK(name, meaning, ...) {#name, meaning},
#include "emu/simt/multiprocessor/work.def"
};

static const struct {
    const char *name, *meaning;
} stalls[SIMT_STALLS] = {
#define SIMT_STALL(name, meaning) {#name, meaning},
#include "emu/simt/multiprocessor/stall.def"
};

/* Reading `cycles` updates it and all statistics that add up to it. */
static uint64_t read_cycles(const void *context)
{
    return simt_counted((struct simt *)(uintptr_t)context)->cycles;
}

static void publish_stalls(struct simt *simt, struct stats *stats, struct scope scope)
{
    stats_computed(stats, scope, "cycles", read_cycles, simt, "cycles",
                   "clock cycles in which the multiprocessor had blocks");
    for (uint32_t i = 0; i < simt->config.schedulers; i++) {
        const struct scope scheduler = scope_at(&scope, "scheduler", i);
        for (unsigned j = 0; j < SIMT_STALLS; j++)
            stats_counter(stats, scheduler, stalls[j].name, &simt->counters.stalls[i][j], "cycles",
                          stalls[j].meaning);
    }
}

void simt_publish(struct simt *simt, struct stats *stats, struct scope scope)
{
    const struct simt_counters *c = &simt->counters;
    const struct stats_row before[] = {
        {"instructions", &c->instructions, "instructions", "instructions of warps"},
        {"thread_instructions", &c->thread_instructions, "instructions",
         "instructions of threads: active lanes, summed over the warps' instructions"},
        {"apart", &c->apart, "instructions", "branches and jumps that sent lanes to different addresses"},
        {"registers_read", &c->registers_read, "registers",
         "registers of threads read by instructions; x0 is none"},
        {"registers_written", &c->registers_written, "registers", "registers of threads written; x0 is none"},
        {"flops", &c->flops, "operations",
         "floating-point additions, multiplications, divisions and square roots of threads; a fused "
         "multiply-add is two"},
        {"handovers", &c->handovers, "instructions",
         "times that lanes were sent on from where they waited for diverged ones"},
        {"accesses", &c->accesses, "instructions", "loads and stores of global memory and stacks"},
        {"requests", &c->requests, "requests", "lines that accesses were coalesced into"},
        {"divergent", &c->divergent, "instructions",
         "accesses with more requests than the lines that their bytes fill when packed"},
    };
    const struct stats_row after[] = {
        {"shared.accesses", &c->shared_accesses, "instructions", "accesses to shared memory"},
        {"shared.passes", &c->shared_passes, "cycles",
         "passes of shared.accesses; more than one per access are bank conflicts"},
        {"atomics", &c->atomics, "instructions", "atomics on global memory"},
        {"atomic_requests", &c->atomic_requests, "requests",
         "requests of atomics: one per line and turn on the same word"},
        {"barriers", &c->barriers, "barriers", "barriers that blocks have passed"},
        {"blocks", &c->blocks, "blocks", "blocks placed on the multiprocessor"},
    };
    const struct scope work = scope_enter(&scope, "work");
    publish_stalls(simt, stats, scope);
    stats_counters(stats, scope, before, sizeof before / sizeof *before);
    for (unsigned i = 0; i < SIMT_WORKS; i++)
        stats_counter(stats, work, works[i].name, &c->work[i], "instructions", works[i].meaning);
    stats_histogram(stats, scope, "requests_of", &c->requests_of, "requests/access", "instructions",
                    "accesses by their number of requests");
    stats_histogram(stats, scope, "loads_of", &c->loads_of, "requests/load", "instructions",
                    "loads by their number of requests");
    stats_counter(stats, scope, "one_response", &c->one_response, "instructions",
                  "loads of which the first-level cache answered all requests but one");
    stats_histogram(
        stats, scope, "response_delay", &c->response_delay, "cycles", "instructions",
        "loads of which it answered all but several, by the cycles between their first and last responses");
    stats_counters(stats, scope, after, sizeof after / sizeof *after);
    if (simt->config.l1_banks)
        stats_counter(stats, scope, "shared.words", &c->shared_words, "words",
                      "words of shared.accesses, each once for all threads of a warp that want it");
    if (simt->config.l1_banks)
        stats_counter(stats, scope_enter(&scope, "l1"), "passes", &c->l1_passes, "cycles",
                      "passes of lines; more than one per line are conflicts of banks");
}

static uint64_t read_registers(const void *context)
{
    const struct simt *simt = context;
    return simt->counters.registers_read + simt->counters.registers_written;
}

static uint64_t read_time(const void *context)
{
    return ((const struct simt *)context)->parts.queue->now;
}

/* Opens the accounts of the register file and of static power. */
static void charge_own(struct simt *simt, struct energy_ledger *ledger, struct scope scope)
{
    const struct energy_account accounts[] = {
        {.name = "registers",
         .read = read_registers,
         .unit = simt->config.energy_register,
         .fields = "energy.register",
         .group = "registers"},
        {.name = "static",
         .read = read_time,
         .unit = simt->config.power_static,
         .kind = ENERGY_OVER_TIME,
         .fields = "power.static",
         .group = "static"},
    };
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++) {
        struct energy_account account = accounts[i];
        account.context = simt;
        if (account.unit)
            energy_add(ledger, scope, &account);
    }
}

static uint64_t read_words(const void *context)
{
    const struct simt *simt = context;
    const struct cache_config *l1 = cache_configuration(simt->parts.l1);
    return simt->counters.l1_words[0] * l1->energy_read + simt->counters.l1_words[1] * l1->energy_write;
}

/* Opens the account of the first-level cache's words: its own counts a line as one access. */
static void charge_words(const struct simt *simt, struct energy_ledger *ledger, struct scope scope)
{
    const struct cache_config *l1 = cache_configuration(simt->parts.l1);
    if (simt->config.l1_banks && (l1->energy_read || l1->energy_write))
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "words",
                                            .read = read_words,
                                            .context = simt,
                                            .unit = 1,
                                            .fields = "energy_read energy_write",
                                            .group = "l1"});
}

void simt_energy(struct simt *simt, struct energy_ledger *ledger, struct scope scope)
{
    charge_words(simt, ledger, scope_enter(&scope, "l1"));
    const struct scope work = scope_enter(&scope, "work");
    if (simt->config.energy_instruction)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "instruction",
                                            .count = &simt->counters.instructions,
                                            .unit = simt->config.energy_instruction,
                                            .fields = "energy.instruction",
                                            .group = "instructions"});
    for (unsigned i = 0; i < SIMT_WORKS; i++) {
        char field[32];
        (void)snprintf(field, sizeof field, "energy.%s", works[i].name);
        if (simt->config.energy[i])
            energy_add(
                ledger, work,
                &(struct energy_account){.name = works[i].name,
                                         .count = i == SIMT_WORK_shared && simt->config.l1_banks
                                                      ? &simt->counters.shared_words
                                                      : &simt->counters.work[i],
                                         .unit = simt->config.energy[i],
                                         .fields = field,
                                         .group = i == SIMT_WORK_shared ? "scratchpad" : "instructions"});
    }
    charge_own(simt, ledger, scope);
}
