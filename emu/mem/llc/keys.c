/* The keys of lines in the tags: their sets do not depend on the bits that select the slice. */
#include <assert.h>

#include "emu/mem/llc/state.h"

uint64_t llc_moved_key(const struct llc *llc, uint64_t line)
{
    uint64_t low = line & ((UINT64_C(1) << llc->block_shift) - 1), rest = line >> llc->block_shift;
    uint64_t chooses = rest & ((UINT64_C(1) << llc->moved) - 1);
    assert(line >> LLC_TOP == 0);
    return (rest >> llc->moved) << llc->block_shift | low | chooses << LLC_TOP;
}

uint64_t llc_moved_line(const struct llc *llc, uint64_t key)
{
    uint64_t low = key & ((UINT64_C(1) << llc->block_shift) - 1), chooses = key >> LLC_TOP;
    uint64_t rest = (key & ((UINT64_C(1) << LLC_TOP) - 1)) >> llc->block_shift;
    return (rest << llc->moved | chooses) << llc->block_shift | low;
}

uint64_t llc_folded(const struct llc *llc, uint64_t line)
{
    const uint64_t mask = llc->tags.set_mask;
    const int width = __builtin_popcountll(mask);
    uint64_t fold = 0;
    if (mask)
        for (uint64_t rest = line >> llc->tags.shift >> width; rest; rest >>= width)
            fold ^= rest & mask;
    return line ^ fold << llc->tags.shift;
}
