/* The in-order core's issue: one pass over the executed instructions, in program order. What happens nearly
 * always is here: blocks of the line that is being fetched, predicted jumps, loads and stores that hit. */
#include "emu/core/inorder_state.h"

/* When all operands are there, and who is to blame until then: ready_at(). */
static inline uint64_t operands_ready(const struct inorder *c, const struct stream_op *op)
{
    uint64_t a = c->ready[op->rs1], b = c->ready[op->rs2], d = c->ready[op->rs3];
    uint64_t later = a > b ? a : b;
    return later > d ? later : d;
}

static inline uint64_t next_pc(const struct stream *stream, uint32_t at)
{
    return at + 1 < stream->count ? stream->entries[at + 1].op->pc : stream->next_pc;
}

/* The line of pc is another one than that of the last block; whether it is in the cache, which is asked. */
static inline bool enter_line(struct inorder *c, uint64_t pc, uint64_t cycle)
{
    uint64_t physical;
    struct cache_actor actor = {pc, c->core.parts.number};
    if (c->core.parts.tlb || c->fetching || !code_physical(&c->code, pc, &physical))
        return false;
    c->line = pc >> c->code_shift;
    c->fetching = cache_access(c->core.parts.l1i, physical, CACHE_FETCH, inorder_time(c, cycle), actor,
                               &c->fetch_waiter) != CACHE_HIT;
    return !c->fetching;
}

/* Fetches the block that pc is in. */
static inline bool fetch_block(struct inorder *c, uint64_t pc)
{
    uint32_t next = c->block_at + 1 == c->blocks ? 0 : c->block_at + 1;
    uint64_t cycle = c->left[next] > c->fetch_next ? c->left[next] : c->fetch_next;
    if (c->line != pc >> c->code_shift || __builtin_expect(c->arrived != 0, 0))
        if (c->arrived || !enter_line(c, pc, cycle))
            return inorder_fetch_slowly(c, pc);
    c->left[c->block_at] = c->next;
    c->block = pc >> c->fetch_shift;
    c->block_end = (c->block + 1) << c->fetch_shift;
    c->block_at = next;
    c->fetched = cycle;
    c->fetch_next = cycle + 1;
    if (__builtin_expect(c->redirect_until != 0, 0)) {
        inorder_stall(c, c->redirect_until, c->redirect_cause);
        c->redirect_until = 0;
    }
    inorder_stall(c, cycle + c->fetch_clocks, CPI_frontend);
    return true;
}

bool inorder_fetch(struct inorder *c, uint64_t pc, unsigned length)
{
    uint64_t last = pc + length - 1;
    if (pc >> c->fetch_shift != c->block && last >> c->fetch_shift != pc >> c->fetch_shift &&
        !fetch_block(c, pc))
        return false;
    return last >> c->fetch_shift == c->block || fetch_block(c, last);
}

/* Predicts and trains; whether what is fetched behind the instruction is wrong. */
static inline bool control(struct inorder *c, const struct stream_op *op)
{
    uint64_t next = next_pc(&c->core.stream, c->at);
    enum predict_outcome outcome = predict(&c->predictor, op, next);
    if (__builtin_expect(outcome != PREDICT_RIGHT, 0))
        return inorder_surprise(c, op, outcome);
    if (next != op->pc + op->length) {
        c->block = INORDER_NOWHERE;
        c->block_end = 0;
        c->fetch_next += c->config.taken_clocks;
    }
    return false;
}

/* Whether the access is in one line, and nothing that was issued before has to be looked at. */
static inline bool is_plain(struct inorder *c, const struct stream_entry *entry)
{
    if (__builtin_expect(c->freed > c->cycle, 0)) {
        inorder_stall(c, c->freed, c->freed_cause);
        c->cycle = c->next;
    }
    return (entry->physical & c->line_mask) + entry->op->size <= c->line_mask + 1 && c->store_count == 0 &&
           !(c->stage & STAGE_FIRST);
}

static inline bool load(struct inorder *c, const struct stream_entry *entry, uint64_t *ready)
{
    if (c->translating && !inorder_translate(c, entry->address, STAGE_TRANSLATED))
        return false;
    if (__builtin_expect(!is_plain(c, entry) || !c->free_loads, 0))
        return inorder_load_slowly(c, entry, ready);
    struct inorder_load *slot = &c->loads[__builtin_ctzll(c->free_loads)];
    struct cache_actor actor = {entry->op->pc, c->core.parts.number};
    if (slot->room)
        return false;
    enum cache_outcome outcome = cache_access(c->core.parts.l1d, entry->physical, CACHE_LOAD,
                                              inorder_time(c, c->cycle), actor, &slot->waiter);
    if (__builtin_expect(outcome != CACHE_HIT, 0))
        return inorder_load_missed(c, slot, entry->op, outcome, ready);
    *ready = ready_at(c->cycle + c->rules[entry->op->id].latency, CPI_l1);
    return true;
}

static inline bool store(struct inorder *c, const struct stream_entry *entry)
{
    if (c->translating && !inorder_translate(c, entry->address, STAGE_TRANSLATED))
        return false;
    if (__builtin_expect(!is_plain(c, entry), 0))
        return inorder_store_slowly(c, entry);
    uint64_t cycle = c->cycle + 1 > c->store_next ? c->cycle + 1 : c->store_next;
    struct cache_actor actor = {entry->op->pc, c->core.parts.number};
    enum cache_outcome outcome =
        cache_access(c->core.parts.l1d, entry->physical, CACHE_STORE, inorder_time(c, cycle), actor,
                     &c->stores[c->first_store].waiter);
    if (__builtin_expect(outcome != CACHE_HIT, 0)) {
        inorder_store_missed(c, entry, outcome, cycle);
        return true;
    }
    c->store_next = cycle + 1;
    c->store_done = cycle + c->hit_clocks > c->store_done ? cycle + c->hit_clocks : c->store_done;
    return true;
}

/* Results of the same register are written in program order. False while the earlier one is pending. */
static bool wait_result(struct inorder *c, const struct inorder_rule *rule, unsigned rd)
{
    uint64_t ready = c->ready[rd];
    if (rd == INORDER_SINK)
        return true;
    if (ready == INORDER_PENDING)
        return false;
    if (ready >> READY_CAUSE_BITS > c->next + rule->latency)
        inorder_stall(c, (ready >> READY_CAUSE_BITS) - rule->latency, ready & READY_CAUSES);
    return true;
}

/* An instruction whose result takes long: it needs its pipe, and later ones must not overtake it. */
static void wait_pipe(struct inorder *c, const struct inorder_rule *rule)
{
    if (rule->interval > 1)
        inorder_stall(c, c->busy[rule->iclass], CPI_dependency);
    uint64_t done = c->next + rule->latency;
    c->busy[rule->iclass] =
        inorder_choose(c, rule->uses) ? c->cycle + rule->interval : c->next + rule->interval;
    c->late_known = done > c->late_known ? done : c->late_known;
    if (c->late != INORDER_PENDING)
        c->late = c->late_known;
}

/* Everything that an instruction needs before it issues. False: blocked. */
static inline bool wait_issue(struct inorder *c, const struct stream_op *op, const struct inorder_rule *rule,
                              unsigned rd)
{
    if (op->pc + op->length > c->block_end && !inorder_fetch(c, op->pc, op->length))
        return false;
    uint64_t operands = operands_ready(c, op);
    if (__builtin_expect(operands == INORDER_PENDING, 0))
        return false;
    inorder_stall(c, operands >> READY_CAUSE_BITS, operands & READY_CAUSES);
    if (__builtin_expect(c->late > c->next, 0) && !wait_result(c, rule, rd))
        return false;
    if (__builtin_expect(rule->slow, 0))
        wait_pipe(c, rule);
    return true;
}

/* The entry that is next issues. False: blocked. */
static inline bool issue_one(struct inorder *c, const struct stream_entry *entry)
{
    const struct stream_op *op = entry->op;
    const struct inorder_rule *rule = &c->rules[op->id];
    unsigned rd = op->rd | op->rd >> 6; /* STREAM_NONE becomes INORDER_SINK */
    bool wrong = false;
    if (!wait_issue(c, op, rule, rd))
        return false;
    (void)inorder_choose(c, rule->uses);
    uint64_t ready = ready_at(c->cycle + rule->latency, CPI_dependency);
    if (op->flags & STREAM_LOAD) {
        if (!load(c, entry, &ready))
            return false;
    } else if (op->flags & STREAM_STORE) {
        if (!store(c, entry))
            return false;
    } else if (op->flags & (STREAM_BRANCH | STREAM_JUMP)) {
        wrong = control(c, op);
    }
    c->ready[rd] = ready;
    if (__builtin_expect(c->noting, 0))
        inorder_note(c, op, ready == INORDER_PENDING ? ready : ready >> READY_CAUSE_BITS, wrong);
    uint64_t alone = c->cycle == c->next;
    c->used = alone ? rule->after : USES_ALL;
    c->core.cpi[CPI_base] += alone;
    c->next += alone;
    c->stage = 0;
    return true;
}

bool inorder_issue(struct inorder *c)
{
    const struct stream *stream = &c->core.stream;
    for (; c->at < stream->count; c->at++)
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
    c->next += stream->count;
    c->core.cpi[CPI_base] += stream->count;
}
