#include "emu/tom/storage.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "emu/analysis/candidate_table.h"
#include "emu/tom/mapping/allocations.h"
#include "emu/tom/mapping/analyzer.h"

/* TOM 6.6: addresses of 48 bits; a range has a start, a length, and whether candidates touch it; bits of an entry of metadata. */
enum { VIRTUAL_BITS = 48, RANGE_BITS = 2 * VIRTUAL_BITS + 1, PAPER_ENTRY = 258 };

static unsigned bits_of(uint64_t stacks)
{
    unsigned bits = 0;
    while (UINT64_C(1) << bits < stacks)
        bits++;
    return bits;
}

void tom_storage_print(const char *machine, const struct tom_storage *parts)
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
