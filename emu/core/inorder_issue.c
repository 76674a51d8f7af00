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

/* Fetches the block that pc is in. */
static inline bool fetch_block(struct inorder *c, uint64_t pc)
{
    if (__builtin_expect(c->line != pc >> c->code_shift || c->arrived || c->redirect_until > c->cycle, 0))
        return inorder_fetch_slowly(c, pc);
    uint32_t next = c->block_at + 1 == c->blocks ? 0 : c->block_at + 1;
    c->left[c->block_at] = c->cycle;
    uint64_t cycle = c->left[next] > c->fetch_next ? c->left[next] : c->fetch_next;
    c->block = pc >> c->fetch_shift;
    c->block_at = next;
    c->fetched = cycle;
    c->fetch_next = cycle + 1;
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
    bool taken = next != op->pc + op->length;
    c->block = taken ? INORDER_NOWHERE : c->block;
    c->fetch_next += taken ? c->config.taken_clocks : 0;
    return false;
}

/* Whether the access is in one line, and nothing that was issued before has to be looked at. */
static inline bool is_plain(struct inorder *c, const struct stream_entry *entry)
{
    if (__builtin_expect(c->freed > c->cycle, 0))
        inorder_stall(c, c->freed, c->freed_cause);
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

/* A result may not be written before an earlier one of the same register. False while the earlier one is
 * pending. */
static bool wait_register(struct inorder *c, uint64_t ready, unsigned latency)
{
    if (ready == INORDER_PENDING)
        return false;
    inorder_stall(c, (ready >> READY_CAUSE_BITS) - latency, ready & READY_CAUSES);
    return true;
}

/* Everything that an instruction needs before it issues. False: blocked. */
static inline bool wait_issue(struct inorder *c, const struct stream_op *op, const struct inorder_rule *rule,
                              unsigned rd)
{
    uint64_t last = op->pc + op->length - 1;
    if (last >> c->fetch_shift != c->block && !inorder_fetch(c, op->pc, op->length))
        return false;
    uint64_t full = (c->used & rule->uses) != 0;
    c->core.cpi[CPI_base] += full;
    c->cycle += full;
    c->used = full ? 0 : c->used;
    uint64_t operands = operands_ready(c, op);
    if (__builtin_expect(operands == INORDER_PENDING, 0))
        return false;
    inorder_stall(c, operands >> READY_CAUSE_BITS, operands & READY_CAUSES);
    if (__builtin_expect(c->ready[rd] >> READY_CAUSE_BITS > c->cycle + rule->latency, 0) &&
        rd != INORDER_SINK && !wait_register(c, c->ready[rd], rule->latency))
        return false;
    if (rule->interval > 1) {
        inorder_stall(c, c->busy[rule->iclass], CPI_dependency);
        c->busy[rule->iclass] = c->cycle + rule->interval;
    }
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
    c->used = c->used ? USES_ALL : rule->after;
    c->at++;
    c->stage = 0;
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
