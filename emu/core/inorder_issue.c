/* The in-order core's issue: one pass over the executed instructions, in program order. */
#include "emu/core/inorder_state.h"

/* When all operands are there, and who is to blame until then: ready_at(). */
static inline uint64_t operands_ready(const struct inorder *c, const struct stream_op *op)
{
    uint64_t a = c->ready[op->rs1], b = c->ready[op->rs2], d = c->ready[op->rs3];
    uint64_t later = a > b ? a : b;
    return later > d ? later : d;
}

/* A result may not be written before an earlier one of the same register. False while the earlier one is
 * pending. */
static bool wait_register(struct inorder *c, uint64_t ready, unsigned latency)
{
    if (ready == INORDER_PENDING)
        return false;
    inorder_stall(c, (ready >> READY_CAUSE_BITS) - latency, ready & ((1 << READY_CAUSE_BITS) - 1));
    return true;
}

static inline uint64_t next_pc(const struct stream *stream, uint32_t at)
{
    return at + 1 < stream->count ? stream->entries[at + 1].op->pc : stream->next_pc;
}

static inline void finish_issue(struct inorder *c, const struct inorder_rule *rule)
{
    c->used = c->used ? USES_ALL : rule->after;
    c->issued++;
    c->at++;
    c->stage = 0;
}

/* The entry that is next issues. False: blocked. */
static inline bool issue_one(struct inorder *c, const struct stream_entry *entry)
{
    const struct stream_op *op = entry->op;
    const struct inorder_rule *rule = &c->rules[op->id];
    uint64_t last = op->pc + op->length - 1;
    bool wrong = false;
    if (last >> c->fetch_shift != c->block && !inorder_fetch(c, op->pc, op->length))
        return false;
    if (c->used & rule->uses)
        inorder_next_cycle(c);
    uint64_t operands = operands_ready(c, op);
    if (operands >> READY_CAUSE_BITS > c->cycle && !wait_register(c, operands, 0))
        return false;
    unsigned rd = op->rd | op->rd >> 6; /* STREAM_NONE becomes INORDER_SINK */
    uint64_t earlier = c->ready[rd];
    if (earlier >> READY_CAUSE_BITS > c->cycle + rule->latency && rd != INORDER_SINK &&
        !wait_register(c, earlier, rule->latency))
        return false;
    if (rule->interval > 1) {
        inorder_stall(c, c->busy[rule->iclass], CPI_dependency);
        c->busy[rule->iclass] = c->cycle + rule->interval;
    }
    uint64_t ready = ready_at(c->cycle + rule->latency, CPI_dependency);
    if (op->flags & STREAM_LOAD) {
        if (!inorder_load(c, entry, &ready))
            return false;
    } else if (op->flags & STREAM_STORE) {
        if (!inorder_store(c, entry))
            return false;
    } else if (op->flags & (STREAM_BRANCH | STREAM_JUMP)) {
        wrong = inorder_control(c, op, next_pc(&c->core.stream, c->at));
    }
    c->ready[rd] = ready;
    if (c->noting)
        inorder_note(c, op, ready == INORDER_PENDING ? ready : ready >> READY_CAUSE_BITS, wrong);
    finish_issue(c, rule);
    return true;
}

bool inorder_issue(struct inorder *c)
{
    const struct stream *stream = &c->core.stream;
    while (c->at < stream->count)
        if (!issue_one(c, &stream->entries[c->at]))
            return false;
    return true;
}

void inorder_warm(struct inorder *c)
{
    const struct stream *stream = &c->core.stream;
    struct predict_counts count = c->predictor.count;
    uint64_t physical;
    for (; c->at < stream->count; c->at++) {
        const struct stream_entry *entry = &stream->entries[c->at];
        const struct stream_op *op = entry->op;
        if (op->pc >> c->code_shift != c->line) {
            c->line = op->pc >> c->code_shift;
            if (code_physical(&c->code, op->pc, &physical))
                cache_warm(c->core.parts.l1i, physical, false);
        }
        if (op->flags & (STREAM_LOAD | STREAM_STORE))
            cache_warm(c->core.parts.l1d, entry->physical, op->flags & STREAM_STORE);
        if (op->flags & (STREAM_BRANCH | STREAM_JUMP))
            (void)predict(&c->predictor, op, next_pc(stream, c->at));
    }
    c->predictor.count = count;
    c->cycle += stream->count;
    c->core.cpi[CPI_base] += stream->count;
}
