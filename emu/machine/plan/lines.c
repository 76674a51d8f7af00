#include "emu/machine/plan/lines.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/core/config.h"
#include "emu/dram/config.h"
#include "emu/mem/cache.h"
#include "emu/mem/llc.h"
#include "emu/net/network.h"
#include "emu/sim/alloc.h"
#include "emu/simt/multiprocessor.h"

static uint32_t line_of(const struct instance *part)
{
    if (part->kind == &cache_kind)
        return ((const struct cache_config *)part->config)->line;
    return part->kind == &llc_kind ? ((const struct llc_config *)part->config)->line : 0;
}

uint32_t lines_longest(const struct tree *tree, const struct instance **cache)
{
    uint32_t longest = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        if (line_of(i) <= longest)
            continue;
        longest = line_of(i);
        *cache = i;
    }
    return longest;
}

const struct wire *lines_slices(const struct wiring *wiring, const struct instance *network)
{
    for (size_t i = 0; i < wiring->count; i++) {
        const struct wire *wire = &wiring->wires[i];
        const struct llc_config *llc = wire->server->config;
        if (wire->client == network && network->kind == &network_kind && wire->server->kind == &llc_kind &&
            llc->interleave == LLC_BY_NODE)
            return wire;
    }
    return NULL;
}

const struct instance *lines_level(const struct wiring *wiring, const struct instance *part, bool *far)
{
    const struct instance *level = NULL;
    *far = false;
    for (size_t i = 0; i < wiring->count; i++) {
        const struct instance *server = wiring->wires[i].server;
        if (wiring->wires[i].client != part)
            continue;
        const struct wire *slices = lines_slices(wiring, server);
        if (server->kind == &llc_kind) {
            level = server;
            *far = false;
        } else if (slices && slices->server != part && part->kind != &network_kind) {
            level = slices->server;
            *far = true;
        }
    }
    return level;
}

static bool is_given(const struct instance *cache)
{
    int field = part_field_find(cache->kind, "line");
    return field >= 0 && cache->given[field];
}

/* Sets the message for a cache and the last level below it, whose line sizes differ. The message names the
 * place of the line size that the description sets (the cache's, if it sets both); if it sets neither, that
 * of the two parts. Returns false. */
static bool differs(const struct tree *tree, const struct instance *cache, const struct instance *level,
                    struct error *err)
{
    const struct instance *wrong = is_given(cache) || !is_given(level) ? cache : level,
                          *right = wrong == cache ? level : cache;
    if (is_given(wrong)) {
        (void)error_set(err, "%" PRIu32 " B is not allowed; allowed: %s.line, which is %" PRIu32 " B",
                        line_of(wrong), right->path, line_of(right));
        return tree_at(tree, wrong, "line", err);
    }
    (void)error_set(err,
                    "%s.line is %" PRIu32 " B, but requests go to %s, whose line is %" PRIu32
                    " B; they must be equal",
                    cache->path, line_of(cache), level->path, line_of(level));
    return tree_at_parts(tree, cache, level, err);
}

struct walk {
    const struct tree *tree;
    const struct wiring *wiring;
    const struct instance *from; /* a part with caches */
    bool *seen;                  /* by part number */
    unsigned levels;             /* number of last levels that it reaches */
};

/* Checks the part's caches whose requests leave it against the last level that they reach after `steps`
 * wires. */
static bool check_pair(const struct walk *walk, const struct instance *level, unsigned steps,
                       struct error *err)
{
    const struct instance *part = walk->from;
    const struct tree *tree = walk->tree;
    bool far;
    assert(level);
    if (part->kind == &core_kind && steps > 1 && lines_level(walk->wiring, part, &far) != level) {
        (void)error_set(
            err,
            "%s reaches %s through other parts; coherent caches must be joined to their last level "
            "directly: memory: %s; or by one network that has its slices at nodes: %s.interleave: node",
            part->path, level->path, level->path, level->path);
        return tree_at_part(tree, part, err);
    }
    if (part->kind == &llc_kind)
        return line_of(part) == line_of(level) || differs(tree, part, level, err);
    const struct instance *own = tree_below(part, &llc_kind);
    if (own)
        return line_of(own) == line_of(level) || differs(tree, own, level, err);
    for (const struct instance *i = part->first; i; i = i->next)
        if (!i->absent && line_of(i) && line_of(i) != line_of(level))
            return differs(tree, i, level, err);
    return true;
}

/* Follows the part's wires to the last levels and memories that its requests reach. */
static bool follow(struct walk *walk, const struct instance *part, unsigned steps, struct error *err)
{
    if (walk->seen[part->number])
        return true;
    walk->seen[part->number] = true;
    for (size_t i = 0; i < walk->wiring->count; i++) {
        const struct wire *wire = &walk->wiring->wires[i];
        if (wire->client != part)
            continue;
        walk->levels += wire->server->kind == &llc_kind;
        bool fine = wire->server->kind == &llc_kind ? check_pair(walk, wire->server, steps + 1, err)
                                                    : follow(walk, wire->server, steps + 1, err);
        if (!fine)
            return false;
    }
    return true;
}

static bool fits(const struct tree *tree, const struct instance *cache, uint64_t request, struct error *err)
{
    if (line_of(cache) <= request)
        return true;
    (void)error_set(err,
                    "%" PRIu32 " B is not allowed; allowed: at most the size of the smaller of "
                    "dram.read_queue and dram.write_queue, which is %" PRIu64 " B",
                    line_of(cache), request);
    return tree_at(tree, cache, "line", err);
}

/* Checks the caches of a part that reaches no last level. Accelerators' caches must still have the host's
 * line size, because offloads clean caches in lines of that size. */
static bool check_alone(const struct tree *tree, const struct instance *part, uint64_t request,
                        struct error *err)
{
    const struct instance *host = part->kind == &core_kind ? tree_find(tree, "l2") : NULL;
    if (part->kind == &llc_kind)
        return fits(tree, part, request, err);
    const struct instance *own = tree_below(part, &llc_kind);
    if (own)
        return fits(tree, own, request, err);
    for (const struct instance *i = part->first; i; i = i->next) {
        if (i->absent || !line_of(i))
            continue;
        if (host ? line_of(i) != line_of(host) && !differs(tree, i, host, err) : !fits(tree, i, request, err))
            return false;
    }
    return true;
}

/* Checks a part's caches against its own last level. */
static bool check_own(const struct tree *tree, const struct instance *part, struct error *err)
{
    const struct instance *own = tree_below(part, &llc_kind);
    for (const struct instance *i = part->first; own && i; i = i->next)
        if (!i->absent && i->kind == &cache_kind && line_of(i) != line_of(own))
            return differs(tree, i, own, err);
    return true;
}

static bool check_part(struct walk *walk, uint64_t request, struct error *err)
{
    return check_own(walk->tree, walk->from, err) && follow(walk, walk->from, 0, err) &&
           (walk->levels > 0 || check_alone(walk->tree, walk->from, request, err));
}

/* Returns true for parts whose requests come from their own caches. A last level within such a part belongs
 * to it. */
static bool has_caches(const struct instance *part)
{
    return part->kind == &core_kind || part->kind == &simt_kind ||
           (part->kind == &llc_kind && part->parent->kind != &simt_kind);
}

bool lines_check(const struct tree *tree, const struct wiring *wiring, uint64_t request, struct error *err)
{
    size_t parts = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        parts++;
    bool fine = true, *seen = alloc(1, parts * sizeof *seen);
    for (const struct instance *i = tree_next(tree, NULL); fine && i; i = tree_next(tree, i)) {
        struct walk walk = {.tree = tree, .wiring = wiring, .from = i, .seen = seen};
        memset(seen, 0, parts * sizeof *seen);
        fine = !has_caches(i) || check_part(&walk, request, err);
    }
    free(seen);
    return fine;
}
