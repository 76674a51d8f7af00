/* The part kind `ngpu`: construction, statistics and energy. */
#include "emu/ngpu/ngpu.h"

#include <stdlib.h>

#include "emu/ngpu/part.h"
#include "emu/sim/alloc.h"

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    struct ngpu *ngpu = alloc(1, sizeof *ngpu);
    (void)err;
    ngpu->config = *(const struct ngpu_config *)config;
    ngpu->queue = site->queue;
    ngpu->component = part_component(site);
    ngpu->image = alloc(NETWORK_HEADER + NETWORK_WEIGHTS, sizeof *ngpu->image);
    return ngpu;
}

static void free_part(void *part)
{
    struct ngpu *ngpu = part;
    while (ngpu->all) {
        struct ngpu_wait *wait = ngpu->all;
        ngpu->all = wait->all;
        event_cancel(ngpu->queue, &wait->event);
        free(wait);
    }
    free(ngpu->image);
    free(ngpu->threads);
    free(ngpu->free);
    free(ngpu);
}

static void units(void *part, struct custom_units *table)
{
    custom_serve(table, EXTENSION_Xngpu,
                 &(struct custom_unit){ngpu_instruction, ngpu_instruction_lanes, .context = part});
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    const struct ngpu_counters *counters = &((const struct ngpu *)part)->counters;
    const struct stats_row rows[] = {
        {"configurations", &counters->configurations, "networks", "Networks that multiprocessors were given"},
        {"invocations", &counters->invocations, "invocations",
         "Networks evaluated for threads of a warp together"},
        {"threads", &counters->threads, "threads", "Networks evaluated, counted for each thread"},
        {"sha_iterations", &counters->sha_iterations, "iterations", "Iterations of shift and add"},
        {"fxp_macs", &counters->fxp_macs, "macs", "Fixed-point multiply-accumulates"},
        {"fp_macs", &counters->fp_macs, "macs", "Floating-point multiply-accumulates"},
        {"words", &counters->words, "words",
         "Words of weights, inputs and results read or written in buffers"},
        {"busy_clocks", &counters->busy_clocks, "clocks",
         "Clocks of multiprocessors in which their units computed"},
        {"queue_clocks", &counters->queue_clocks, "clocks",
         "Clocks for which invocations waited for earlier ones, or for their network"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

static void energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    const struct ngpu *ngpu = part;
    const struct energy_account accounts[] = {
        {.name = "sha",
         .count = &ngpu->counters.sha_iterations,
         .unit = ngpu->config.energy_sha,
         .fields = "energy_sha"},
        {.name = "fxp",
         .count = &ngpu->counters.fxp_macs,
         .unit = ngpu->config.energy_fxp,
         .fields = "energy_fxp"},
        {.name = "fp",
         .count = &ngpu->counters.fp_macs,
         .unit = ngpu->config.energy_fp,
         .fields = "energy_fp"},
        {.name = "register",
         .count = &ngpu->counters.words,
         .unit = ngpu->config.energy_register,
         .fields = "energy_register"},
    };
    energy_add_all(ledger, scope, "ngpu", accounts, sizeof accounts / sizeof *accounts);
}

#define PART struct ngpu_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/ngpu/ngpu.def"
};

const struct part_kind ngpu_kind = {
    .name = "ngpu",
    .explanation = "Neural units in the lanes of all multiprocessors, as the AxRAM paper's NGPU.",
    PART_CONFIG(struct ngpu_config),
    .make = make,
    .free = free_part,
    .units = units,
    .publish = publish,
    .energy = energy,
};
