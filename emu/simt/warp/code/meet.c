#include "emu/simt/warp/code/meet.h"

#include <stdlib.h>

#include "emu/analysis/flow/cfg.h"
#include "emu/analysis/flow/dominators.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "emu/simt/warp/code/code.h"

/* Returns the entry of pc, or the empty one where it would be. The table has room. */
static struct warp_meet_entry *entry_of(const struct warp_meets *meets, uint64_t pc)
{
    size_t at = (size_t)(pc * MIX_FACTOR >> 32) & (meets->size - 1);
    while (meets->entries[at].pc && meets->entries[at].pc != pc)
        at = (at + 1) & (meets->size - 1);
    return &meets->entries[at];
}

static void grow(struct warp_meets *meets)
{
    struct warp_meets larger = {.size = meets->size ? 2 * meets->size : 256, .count = meets->count};
    larger.entries = alloc(larger.size, sizeof *larger.entries);
    for (size_t i = 0; i < meets->size; i++)
        if (meets->entries[i].pc)
            *entry_of(&larger, meets->entries[i].pc) = meets->entries[i];
    free(meets->entries);
    *meets = larger;
}

static void put(struct warp_meets *meets, const struct warp_meet_entry *entry)
{
    if (2 * meets->count >= meets->size)
        grow(meets);
    struct warp_meet_entry *at = entry_of(meets, entry->pc);
    meets->count += at->pc == 0;
    *at = *entry;
}

static bool fetch(void *memory, uint64_t pc, uint32_t *bits)
{
    return warp_memory_fetch(memory, pc, bits);
}

/* Adds the post-dominators of a function's blocks. */
static void add_function(struct warp_meets *meets, const struct cfg *cfg, const struct cfg_function *function)
{
    struct digraph reverse = digraph_reverse(&function->graph);
    struct dominators post = dominators_of(&reverse, function->count);
    for (unsigned i = 0; i < function->count; i++) {
        const struct cfg_block *block = &cfg->blocks[function->blocks[i]];
        struct warp_meet_entry entry = {cfg->insns[block->first].step.pc, WARP_MEET_RETURN, 1};
        if (post.depth[i] && post.parent[i] != function->count) {
            entry.meet = cfg->insns[cfg->blocks[function->blocks[post.parent[i]]].first].step.pc;
            entry.depth = post.depth[i] - 1;
        }
        put(meets, &entry);
        entry.pc = cfg->insns[block->first + block->count - 1].step.pc;
        put(meets, &entry);
    }
    dominators_free(&post);
    digraph_free(&reverse);
}

/* Returns the entry of the branch, or of the first instruction of a block. What is reachable from an instruction decides what
 * post-dominates it, so the part of the function that follows is enough. */
static struct warp_meet_entry find(struct warp_memory *memory, uint64_t pc)
{
    struct warp_meets *meets = warp_code_meets(memory->code);
    if (meets->size && entry_of(meets, pc)->pc)
        return *entry_of(meets, pc);
    struct cfg cfg = cfg_build(memory->setup.decoder, &(struct reach_code){fetch, memory}, &pc, 1,
                               &(struct cfg_options){.within = true});
    if (cfg.function_count)
        add_function(meets, &cfg, &cfg.functions[0]);
    cfg_free(&cfg);
    if (!meets->size || !entry_of(meets, pc)->pc)
        put(meets, &(struct warp_meet_entry){pc, WARP_MEET_RETURN, 1});
    return *entry_of(meets, pc);
}

uint64_t warp_meet(struct warp_memory *memory, uint64_t pc)
{
    return find(memory, pc).meet;
}

/* Returns the depth of an instruction in the tree; of WARP_MEET_RETURN 0. */
static unsigned depth_of(struct warp_memory *memory, uint64_t pc)
{
    return pc == WARP_MEET_RETURN ? 0 : find(memory, pc).depth;
}

uint64_t warp_meet_of(struct warp_memory *memory, const uint64_t *targets, unsigned count)
{
    uint64_t meet = targets[0];
    for (unsigned i = 1; i < count; i++) {
        for (uint64_t other = targets[i]; other != meet;) {
            if (depth_of(memory, meet) < depth_of(memory, other))
                other = warp_meet(memory, other);
            else
                meet = warp_meet(memory, meet);
        }
    }
    return meet;
}
