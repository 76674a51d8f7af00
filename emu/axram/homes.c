#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/axram/axram.h"
#include "emu/dram/map.h"

/* Checks that the chips are of a kind that has units, and that the rows of whole pieces of all chips are contiguous. */
static bool check_chips(const struct dram_config *dram, const char *map, bool vault, struct error *err)
{
    const uint32_t row_bits = (uint32_t)__builtin_ctz(dram->rows);
    char first[8];
    if (!vault && dram->standard != DRAM_STANDARD_gddr5_axram && dram->standard != DRAM_STANDARD_hbm1_axram)
        return error_set(err, "dram.standard is %s; gddr5_axram, hbm1_axram and hmc_axram have accelerators",
                         dram_standard_name(dram->standard));
    (void)snprintf(first, sizeof first, "R%" PRIu32 " ", row_bits);
    if (dram->groups != (vault ? 1 : 4) || dram->banks != (vault ? 16 : 4) ||
        dram->row_bytes != (vault ? 256 : 2048) || dram->burst_bytes != 32 || dram->devices != 1 ||
        row_bits < 6 || strncmp(map, first, strlen(first)) != 0)
        return error_set(err,
                         "dram must have %s, bursts of 32 bytes, one device, 64 rows or more, and a map that "
                         "begins with all bits of the row",
                         vault ? "16 banks without groups, rows of 256 bytes"
                               : "4 groups of 4 banks, rows of 2 KiB");
    return true;
}

bool axram_homes(const struct axram_config *config, const struct dram_config *dram,
                 const struct home_layout *memory, uint64_t base, uint64_t bytes, struct home_map *homes,
                 struct error *err)
{
    const uint32_t memories = memory->geometry.modules * memory->geometry.stacks, halves = config->halves;
    const uint32_t chips = memories * dram->channels * halves, row_bits = (uint32_t)__builtin_ctz(dram->rows);
    const uint64_t turn = (uint64_t)AXRAM_PIECE * chips;
    const bool vault = dram->standard == DRAM_STANDARD_hmc_axram;
    struct home_layout layout = *memory;
    if (!check_chips(dram, memory->text, vault, err))
        return false;
    if (config->offset % turn || config->size % turn)
        return error_set(err,
                         "offset: it and size must be multiples of %" PRIu64
                         " KiB, 256 KiB for each of %" PRIu32 " %s",
                         turn / 1024, chips, halves > 1 ? "halves of chips" : "chips");
    if (halves > 1 && (vault || config->together > 1))
        return error_set(
            err, "halves: 2 is for memories with bank groups, and chips that work alone (together: 1)");
    if (dram->channels % config->together)
        return error_set(err, "together: %" PRIu32 " chips; it must divide a memory's %" PRIu32 " chips",
                         config->together, dram->channels);
    if (config->offset > bytes || config->size > bytes - config->offset)
        return error_set(err, "offset: accelerator memory ends behind main memory; enlarge memory.size");
    layout.stack_hash = layout.controller_hash = layout.bank_hash = false;
    (void)snprintf(layout.text, sizeof layout.text, "R%" PRIu32 " %s%s%s%% %s",
                   row_bits - (vault        ? 6
                               : halves > 1 ? 4
                                            : 3),
                   halves > 1 ? "G1 " : "", layout.geometry.modules > 1 ? "%M " : "",
                   layout.geometry.stacks > 1 ? "%S " : "",
                   vault        ? "R3 B1 R3 C1 B3 C2 O5"
                   : halves > 1 ? "R3 B1 R1 C5 B1 C1 G1 O5"
                                : "R3 B1 C6 B1 G2 O5");
    return home_range_change(homes, base + config->offset, config->size, &layout, NULL, NULL, 0, err);
}
