#include "emu/analysis/candidates/choose.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

static double saving(const struct candidate *c)
{
    return -(c->tx + c->rx);
}

static int by_size(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->insns != y->insns)
        return x->insns < y->insns ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_saving(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (saving(x) < saving(y) || saving(x) > saving(y))
        return saving(x) > saving(y) ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_begin(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Visits the instructions of a candidate: those that its beginning leads to, up to its end. If `taken` is NULL, sets their owner[]
 * to `number` (a candidate's number plus 1, or 0). Otherwise stores the numbers of the candidates that own them to taken[],
 * possibly repeated, and returns how many it stored. */
static size_t walk(const struct cfg *cfg, const struct candidate *c, size_t *owner, size_t number,
                   size_t *taken)
{
    int *todo = alloc(CANDIDATE_INSNS * 2 + 4, sizeof *todo);
    bool *seen = alloc((size_t)cfg->count + 1, sizeof *seen);
    size_t count = 0, depth = 0, others = 0;
    todo[depth++] = cfg_at(cfg, c->begin);
    seen[todo[0]] = true;
    while (depth) {
        int at = todo[--depth];
        const int next[] = {cfg->insns[at].next, cfg->insns[at].target};
        if (owner[at] && taken && (others == 0 || taken[others - 1] != owner[at] - 1))
            taken[others++] = owner[at] - 1;
        if (!taken)
            owner[at] = number;
        count++;
        for (unsigned i = 0; i < 2; i++) {
            if (next[i] == CFG_NONE || seen[next[i]] || cfg->insns[next[i]].step.pc == c->end)
                continue;
            seen[next[i]] = true;
            todo[depth++] = next[i];
        }
    }
    free(todo);
    free(seen);
    return others;
}

static bool is_in(const size_t *list, size_t count, size_t wanted)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == wanted)
            return true;
    return false;
}

/* Takes a candidate if it saves more than all taken candidates together that share instructions with it, and drops these. */
static void compete(const struct cfg *cfg, struct candidates *found, size_t *owner, bool *taken,
                    size_t number)
{
    const struct candidate *one = &found->list[number];
    size_t *others = alloc(2 * CANDIDATE_INSNS, sizeof *others), count = 0;
    size_t seen = walk(cfg, one, owner, 0, others);
    uint64_t rounds = one->threshold ? one->threshold : 1;
    double sum = 0;
    for (size_t i = 0; i < seen; i++) {
        if (is_in(others, count, others[i]))
            continue;
        const struct candidate *other = &found->list[others[i]];
        rounds = other->threshold > rounds ? other->threshold : rounds;
        others[count++] = others[i];
    }
    for (size_t i = 0; i < count; i++)
        sum += candidate_saved(&found->list[others[i]], (double)rounds);
    if (count == 0 || candidate_saved(one, (double)rounds) > sum) {
        for (size_t i = 0; i < count; i++) {
            taken[others[i]] = false;
            (void)walk(cfg, &found->list[others[i]], owner, 0, NULL);
        }
        taken[number] = true;
        (void)walk(cfg, one, owner, number + 1, NULL);
    }
    free(others);
}

void candidates_choose(struct candidates *found, const struct cfg *cfg, size_t most)
{
    size_t *owner = alloc((size_t)cfg->count + 1, sizeof *owner), count = 0;
    bool *taken = alloc(found->count + 1, sizeof *taken);
    if (found->count)
        qsort(found->list, found->count, sizeof *found->list, by_size);
    for (size_t i = 0; i < found->count; i++)
        compete(cfg, found, owner, taken, i);
    for (size_t i = 0; i < found->count; i++)
        if (taken[i])
            found->list[count++] = found->list[i];
    free(owner);
    free(taken);
    if (count)
        qsort(found->list, count, sizeof *found->list, by_saving);
    found->left_out = count > most ? count - most : 0;
    found->count = count - found->left_out;
    if (found->count)
        qsort(found->list, found->count, sizeof *found->list, by_begin);
}

void candidates_mark(const struct candidates *found, const struct cfg *cfg, bool *in)
{
    size_t *owner = alloc((size_t)cfg->count + 1, sizeof *owner);
    for (size_t i = 0; i < found->count; i++)
        (void)walk(cfg, &found->list[i], owner, i + 1, NULL);
    for (int i = 0; i < cfg->count; i++)
        in[i] = owner[i] != 0;
    free(owner);
}
