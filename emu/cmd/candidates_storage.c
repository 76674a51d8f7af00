#include "emu/cmd/candidates_storage.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "emu/analysis/candidate_table.h"
#include "emu/cmd/paths.h"
#include "emu/machine/machine.h"
#include "emu/simt/simt.h"
#include "emu/tom/allocations.h"
#include "emu/tom/analyzer.h"
#include "emu/tom/tom.h"

/* TOM 6.6: addresses of 48 bits; a range has a start, a length, and whether candidates touch it; bits of an entry of metadata. */
enum { VIRTUAL_BITS = 48, RANGE_BITS = 2 * VIRTUAL_BITS + 1, PAPER_ENTRY = 258 };

/* What counts for storage. */
struct parts {
    uint64_t stacks, fronts, warps; /* warps: of a multiprocessor in front */
    bool controllers;
};

static struct parts count_parts(const struct tree *tree)
{
    struct parts parts = {0};
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *simt = i->kind == &simt_kind ? i->config : NULL;
        parts.stacks += i->kind == &tom_unit_kind;
        parts.controllers = parts.controllers || i->kind == &tom_kind;
        if (!simt || !simt->launches || simt->count == 0)
            continue;
        parts.fronts += simt->count;
        parts.warps = simt->warps > parts.warps ? simt->warps : parts.warps;
    }
    return parts;
}

static unsigned bits_of(uint64_t stacks)
{
    unsigned bits = 0;
    while (UINT64_C(1) << bits < stacks)
        bits++;
    return bits;
}

static void print_parts(const char *machine, const struct parts *parts)
{
    const unsigned first = bits_of(parts->stacks);
    const uint64_t paper_analyzer = TOM_POSITIONS * parts->stacks * parts->warps;
    const uint64_t analyzer = paper_analyzer + (uint64_t)TOM_POSITIONS * first * parts->warps;
    const uint64_t ranges = (uint64_t)TOM_RANGES * RANGE_BITS;
    const uint64_t paper_table = (uint64_t)CANDIDATE_ENTRIES * PAPER_ENTRY;
    const uint64_t table = (uint64_t)CANDIDATE_ENTRIES * CANDIDATE_ENTRY * CHAR_BIT;
    printf("Storage of TOM in %s, in bits: %" PRIu64 " multiprocessors of %" PRIu64
           " warps in front of %" PRIu64 " stacks\n",
           machine, parts->fronts, parts->warps, parts->stacks);
    printf("%-32s %8s %8s  %s\n", "", "here", "paper", "paper: TOM section 6.6; here");
    printf("%-32s %8" PRIu64 " %8" PRIu64 "  %d maps x %" PRIu64 " stacks x %" PRIu64
           " warps; and %u bits a map for the first stack\n",
           "analyzer, a multiprocessor", analyzer, paper_analyzer, TOM_POSITIONS, parts->stacks, parts->warps,
           first);
    printf("%-32s %8" PRIu64 " %8" PRIu64 "  %d ranges x (%d + %d + 1); the same\n",
           "allocation table, shared", ranges, ranges, TOM_RANGES, VIRTUAL_BITS, VIRTUAL_BITS);
    printf("%-32s %8" PRIu64 " %8" PRIu64 "  %d entries x %d; x %d: two sets of 64 registers\n",
           "metadata table, a multiprocessor", table, paper_table, CANDIDATE_ENTRIES, PAPER_ENTRY,
           CANDIDATE_ENTRY * CHAR_BIT);
    printf("%-32s %8" PRIu64 " %8" PRIu64 "  %" PRIu64 " multiprocessors, and the allocation table\n", "all",
           parts->fronts * (analyzer + table) + ranges,
           parts->fronts * (paper_analyzer + paper_table) + ranges, parts->fronts);
    printf("Area: 0.11 mm2, 0.018 %% of the GPU (TOM section 6.6: CACTI 6.5, 40 nm); not estimated here.\n");
}

bool candidates_print_storage(const char *machine, struct error *err)
{
    char folder[PATH_MAX];
    struct machine_config config;
    if (!paths_share("machines", folder, sizeof folder, err) ||
        !machine_load(&config, machine, folder, NULL, 0, err))
        return false;
    const struct parts parts = count_parts(config.tree);
    machine_free(&config);
    if (!parts.controllers || !parts.stacks || !parts.fronts)
        return error_set(
            err, "machine '%s' does not offload blocks (parts of kinds tom and tom_unit); tom does", machine);
    print_parts(machine, &parts);
    return true;
}
