/* The energy of AxRAM's units and of the commands inside the devices. */
#include <stddef.h>

#include "emu/axram/part.h"
#include "emu/sim/alloc.h"

enum { WORD = 4 };

/* The memories' count of a command, times a factor, for an account of energy. */
struct axram_figure {
    const struct axram *axram;
    uint32_t command;
    uint64_t factor;
};

static uint64_t read_figure(const void *context)
{
    const struct axram_figure *figure = context;
    const struct axram *axram = figure->axram;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < axram->memory_count; i++) {
        dram_memory_sync(axram->memories[i], axram->queue->now);
        sum += dram_memory_sum(axram->memories[i], offsetof(struct dram_channel, counters.own[0]) +
                                                       figure->command * sizeof(uint64_t));
    }
    return sum * figure->factor;
}

static void charge_units(const struct axram *axram, struct energy_ledger *ledger, struct scope scope)
{
    const struct axram_counters *counters = &axram->shared.counters;
    const struct energy_account accounts[] = {
        {.name = "sha",
         .count = &counters->sha_iterations,
         .unit = axram->config.energy_sha,
         .fields = "energy_sha"},
        {.name = "fxp",
         .count = &counters->fxp_macs,
         .unit = axram->config.energy_fxp,
         .fields = "energy_fxp"},
        {.name = "fp", .count = &counters->fp_macs, .unit = axram->config.energy_fp, .fields = "energy_fp"},
        {.name = "register",
         .count = &counters->register_accesses,
         .unit = axram->config.energy_register,
         .fields = "energy_register"},
    };
    energy_add_all(ledger, scope, "axram", accounts, sizeof accounts / sizeof *accounts);
}

/* Charges the commands inside the devices by the memories' energies. I/O is charged only for what the controller reads and
 * sends. */
static void charge_commands(struct axram *axram, struct energy_ledger *ledger, struct scope scope)
{
    const struct dram_config *dram = axram->shared.dram;
    const uint64_t bits = 8 * (AXRAM_BLOCK / axram->shared.parts);
    const struct {
        const char *name;
        uint32_t command; /* number among the standard's own commands */
        uint64_t factor, unit;
        const char *source;
    } rows[] = {
        {"activate", 0, dram_config_wide(dram), dram->energy_act,
         "dram.energy_act, one for each group of an ACT4"},
        {"read", 2, bits, dram->energy_read_bit, "dram.energy_read_bit, 256 bits for each group of an RD4"},
        {"write", 3, bits, dram->energy_write_bit, "dram.energy_write_bit, 256 bits for each group of a WR4"},
        {"word", 4, 8 * WORD, dram->energy_io_bit, "dram.energy_io_bit, 32 bits of a word for the chip"},
        {"poll", 6, 8 * WORD, dram->energy_io_bit, "dram.energy_io_bit, 32 bits: MR0, once over the pins"},
    };
    axram->figure_count = sizeof rows / sizeof *rows;
    axram->figures = alloc(axram->figure_count, sizeof *axram->figures);
    for (size_t i = 0; i < axram->figure_count; i++) {
        axram->figures[i] = (struct axram_figure){axram, rows[i].command, rows[i].factor};
        energy_add(ledger, scope,
                   &(struct energy_account){.name = rows[i].name,
                                            .read = read_figure,
                                            .context = &axram->figures[i],
                                            .unit = rows[i].unit,
                                            .kind = ENERGY_PER_EVENT,
                                            .source = rows[i].source,
                                            .group = "dram"});
    }
}

void axram_energy(struct axram *axram, struct energy_ledger *ledger, struct scope scope)
{
    charge_units(axram, ledger, scope);
    charge_commands(axram, ledger, scope);
}
