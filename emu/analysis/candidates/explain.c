#include "emu/analysis/candidates/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/analysis/candidates/choose.h"
#include "emu/sim/alloc.h"

__attribute__((format(printf, 5, 6))) static void refuse(struct candidate_search *s, const struct function *f,
                                                         int begin, int where, const char *format, ...)
{
    struct candidates *found = &s->found;
    if ((found->refused & (found->refused - 1)) == 0)
        found->refusals = alloc_resize(found->refusals, 2 * (found->refused + 1) * sizeof *found->refusals);
    struct candidate_refusal *refusal = &found->refusals[found->refused++];
    int last = begin;
    for (unsigned i = 0; s->explained != NODE_NONE && i < f->loops.list[s->explained].count; i++) {
        const int end = function_last(f, f->loops.members[f->loops.list[s->explained].first + i]);
        last = end > last ? end : last;
    }
    *refusal = (struct candidate_refusal){.last = s->cfg->insns[last].step.pc,
                                          .function = s->cfg->insns[f->part->entry].step.pc,
                                          .begin = s->cfg->insns[begin].step.pc,
                                          .loop = s->explained != NODE_NONE,
                                          .where = where == CFG_NONE ? 0 : s->cfg->insns[where].step.pc};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(refusal->text, sizeof refusal->text, format, arguments);
    va_end(arguments);
}

static const char other_blocks[] = "blocks that share code with it save more, or enough others do (--most)";

/* Tells what a block changes. `rounds` tells of its loop, if it begins with one. */
static void refuse_change(struct candidate_search *s, const struct function *f, int begin, int where,
                          const char *what, const struct candidate *c, const char *rounds)
{
    refuse(s, f, begin, where, "%s %+.2f: N_LD %g, N_ST %g, %u registers sent, %u returned%s", what,
           c->tx + c->rx, c->loads, c->stores, c->reg_tx, c->reg_rx, rounds);
}

void explain_loop(struct candidate_search *s, const struct function *f, unsigned loop)
{
    unsigned header = f->loops.list[loop].header, end = header;
    const int begin = function_first(f, header);
    const struct trip *trip = &s->trips[loop];
    int at = CFG_NONE;
    char rounds[96] = "";
    s->explained = loop;
    while (end != NODE_NONE && end != f->part->count && loops_contain(&f->loops, loop, end))
        end = f->post.parent[end];
    struct candidate_region r = block_of(s, f, header, end == NODE_NONE ? f->part->count : end);
    struct candidate c = {.trip = {.kind = TRIP_UNKNOWN, .step_register = REGISTER_NONE}};
    const char *reason = block_collect(s, &r, &at);
    if (!reason && (end == NODE_NONE || end == f->part->count))
        reason = "its paths do not end at one instruction";
    if (trip->kind == TRIP_UNKNOWN)
        (void)snprintf(rounds, sizeof rounds, ", in one round, because %s", trip->unknown);
    else if (trip->kind == TRIP_STATIC)
        (void)snprintf(rounds, sizeof rounds, ", in its %llu rounds", (unsigned long long)trip->count);
    else
        (void)snprintf(rounds, sizeof rounds, ", and more rounds do not pay for them");
    if (reason)
        refuse(s, f, begin, at, "%s", reason);
    else if (candidate_estimate(s, &r, &c))
        refuse(s, f, begin, CFG_NONE, "%s", other_blocks);
    else if (!(c.loads + c.stores > 0))
        refuse(s, f, begin, CFG_NONE, "no load or store is executed in each round");
    else
        refuse_change(s, f, begin, CFG_NONE, "it changes bytes by", &c, rounds);
    block_free(&r);
}

/* Returns the first access of the function that is not relative to sp, or CFG_NONE. */
static int first_access(const struct function *f)
{
    for (unsigned node = 0; node < f->part->count; node++)
        for (int i = function_first(f, node); i <= function_last(f, node); i++) {
            const struct insn *insn = &f->cfg->insns[i].step.insn;
            if (insn_table[insn->id].access != ACCESS_NONE && insn->rs1 != SP)
                return i;
        }
    return CFG_NONE;
}

void explain_function(struct candidate_search *s, const struct function *f)
{
    const int begin = f->part->entry, access = first_access(f);
    int at = CFG_NONE;
    s->explained = NODE_NONE;
    if (access == CFG_NONE) {
        refuse(s, f, begin, CFG_NONE, "it has no loads or stores but of its stack");
    } else if (!s->best_known) {
        unsigned node = 0;
        while (function_first(f, node) > access || function_last(f, node) < access)
            node++;
        const char *reason = block_node_obstacle(s, f, node, &at);
        refuse(s, f, begin, reason ? at : access, "%s",
               reason ? reason : "no block around its accesses is executed as a whole");
    } else if (s->best.tx + s->best.rx < 0) {
        refuse(s, f, begin, CFG_NONE, "%s", other_blocks);
    } else {
        refuse_change(s, f, begin, cfg_at(s->cfg, s->best.begin), "its best block changes bytes by", &s->best,
                      "");
    }
}

void explain_kept(struct candidates *found, const struct cfg *cfg)
{
    bool *in = alloc((size_t)cfg->count + 1, sizeof *in);
    size_t kept = 0;
    candidates_mark(found, cfg, in);
    for (size_t i = 0; i < found->refused; i++) {
        const struct candidate_refusal *refusal = &found->refusals[i];
        const struct cfg_function *part = &cfg->functions[cfg->function_at[cfg_at(cfg, refusal->function)]];
        bool taken = refusal->loop && in[cfg_at(cfg, refusal->begin)] && in[cfg_at(cfg, refusal->last)];
        for (unsigned j = 0; !refusal->loop && j < part->count; j++)
            for (int at = cfg->blocks[part->blocks[j]].first, n = cfg->blocks[part->blocks[j]].count; n > 0;
                 n--)
                taken |= in[at++];
        if (!taken)
            found->refusals[kept++] = *refusal;
    }
    found->refused = kept;
    free(in);
}
