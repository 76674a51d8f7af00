/* The in-order core's issue: one pass over the executed instructions, in program order. What happens nearly
 * always is here: blocks of the line that is being fetched, predicted jumps, loads and stores that hit. */
#include "emu/core/inorder_state.h"
#include "emu/hart/dispatch.h"

/* When all operands are there, and who is to blame until then: ready_at(). */
ALWAYS_INLINE static uint64_t operands_ready(const struct inorder *c, const struct stream_op *op)
{
    uint64_t a = c->ready[op->rs1], b = c->ready[op->rs2], d = c->ready[op->rs3];
    uint64_t later = a > b ? a : b;
    return later > d ? later : d;
}

ALWAYS_INLINE static uint64_t next_pc(const struct stream *stream, const struct stream_entry *entry)
{
    const struct stream_entry *next = entry + 1;
    return next < &stream->entries[stream->count] ? next->op->pc : stream->next_pc;
}

/* The line of pc is another one than that of the last block; whether it is in the cache, which is asked. */
ALWAYS_INLINE static bool enter_line(struct inorder *c, uint64_t pc, uint64_t cycle)
{
    uint64_t physical;
    struct cache_actor actor = {pc, c->core.parts.number};
    if (c->core.parts.tlb || c->fetching || !code_physical(&c->code, pc, &physical))
        return false;
    c->line = pc & c->code_mask;
    c->fetching = cache_access(c->core.parts.l1i, physical, CACHE_FETCH, inorder_time(c, cycle), actor,
                               &c->fetch_waiter) != CACHE_HIT;
    c->arrived = c->fetching ? INORDER_PENDING : 0;
    return !c->fetching;
}

/* Fetches the block that pc is in. */
ALWAYS_INLINE static bool fetch_block(struct inorder *c, uint64_t pc)
{
    uint32_t next = c->block_at + 1 == c->blocks ? 0 : c->block_at + 1;
    uint64_t cycle = c->left[next] > c->fetch_next ? c->left[next] : c->fetch_next;
    if (c->line != (pc & c->code_mask) || UNLIKELY(c->arrived != 0))
        if (c->arrived || !enter_line(c, pc, cycle))
            return inorder_fetch_slowly(c, pc);
    c->left[c->block_at] = c->next;
    c->block = pc & c->block_mask;
    c->block_end = c->block + c->config.fetch_bytes;
    c->block_at = next;
    c->fetched = cycle;
    c->fetch_next = cycle + 1;
    if (UNLIKELY(c->redirect_until != 0)) {
        inorder_stall(c, c->redirect_until, c->redirect_cause);
        c->redirect_until = 0;
    }
    inorder_stall(c, cycle + c->fetch_clocks, CPI_frontend);
    return true;
}

bool inorder_fetch(struct inorder *c, uint64_t pc, unsigned length)
{
    uint64_t first = pc & c->block_mask, last = (pc + length - 1) & c->block_mask;
    if (UNLIKELY(first != last) && first != c->block && !fetch_block(c, pc))
        return false;
    return last == c->block || fetch_block(c, pc + length - 1);
}

/* Predicts and trains; whether what is fetched behind the instruction is wrong. */
ALWAYS_INLINE static bool control(struct inorder *c, const struct stream_entry *entry)
{
    const struct stream_op *op = entry->op;
    uint64_t next = next_pc(&c->core.stream, entry);
    enum predict_outcome outcome = predict(&c->predictor, op, next);
    if (UNLIKELY(outcome != PREDICT_RIGHT))
        return inorder_surprise(c, op, outcome);
    if (next != op->pc + op->length) {
        c->block = INORDER_NOWHERE;
        c->block_end = 0;
        c->fetch_next += c->config.taken_clocks;
    }
    return false;
}

/* What an instruction has of the core's state while it issues: kept in registers. */
struct issue {
    uint64_t next, cycle; /* of struct inorder */
    uint64_t ready;       /* its result: ready_at() */
};

ALWAYS_INLINE static void put_back(struct inorder *c, const struct stream_entry *entry,
                                   const struct issue *issue)
{
    c->next = issue->next;
    c->cycle = issue->cycle;
    c->at = (uint32_t)(entry - c->core.stream.entries);
}

ALWAYS_INLINE static void take_again(const struct inorder *c, struct issue *issue)
{
    issue->next = c->next;
    issue->cycle = c->cycle;
}

/* The address is translated, and no entry of a queue is waited for. False while a walk is under way. */
static bool begin_access(struct inorder *c, const struct stream_entry *entry)
{
    if (c->freed > c->cycle) {
        inorder_stall(c, c->freed, c->freed_cause);
        c->cycle = c->next;
    }
    return !c->translating || inorder_translate(c, entry->address, STAGE_TRANSLATED);
}

/* Whether the access is in one line, and nothing that was issued before has to be looked at. */
ALWAYS_INLINE static bool is_plain(const struct inorder *c, const struct stream_entry *entry)
{
    bool inside = (entry->physical & c->line_mask) + entry->op->size <= c->line_mask + 1;
    return inside & (c->store_count == 0) & !(c->stage & STAGE_FIRST);
}

ALWAYS_INLINE static bool load(struct inorder *c, const struct stream_entry *entry, struct issue *issue)
{
    if (UNLIKELY(c->translating | (c->freed > issue->cycle))) {
        put_back(c, entry, issue);
        bool begins = begin_access(c, entry);
        take_again(c, issue);
        if (!begins)
            return false;
    }
    if (UNLIKELY(!is_plain(c, entry) | !c->free_loads)) {
        put_back(c, entry, issue);
        uint64_t ready = 0;
        bool done = inorder_load_slowly(c, entry, &ready);
        issue->ready = ready;
        take_again(c, issue);
        c->stage = done ? 0 : c->stage;
        return done;
    }
    struct inorder_load *slot = &c->loads[__builtin_ctzll(c->free_loads)];
    struct cache_actor actor = {entry->op->pc, c->core.parts.number};
    if (UNLIKELY(slot->room))
        return false;
    enum cache_outcome outcome = cache_access(c->core.parts.l1d, entry->physical, CACHE_LOAD,
                                              inorder_time(c, issue->cycle), actor, &slot->waiter);
    issue->ready = ready_at(issue->cycle + c->load_clocks, CPI_l1);
    c->stage = outcome == CACHE_FULL ? c->stage : 0;
    if (LIKELY(outcome == CACHE_HIT))
        return true;
    put_back(c, entry, issue);
    issue->ready = INORDER_PENDING;
    return inorder_load_missed(c, slot, entry->op, outcome);
}

ALWAYS_INLINE static bool store(struct inorder *c, const struct stream_entry *entry, struct issue *issue)
{
    if (UNLIKELY(c->translating | (c->freed > issue->cycle))) {
        put_back(c, entry, issue);
        bool begins = begin_access(c, entry);
        take_again(c, issue);
        if (!begins)
            return false;
    }
    if (UNLIKELY(!is_plain(c, entry))) {
        put_back(c, entry, issue);
        bool done = inorder_store_slowly(c, entry);
        take_again(c, issue);
        c->stage = done ? 0 : c->stage;
        return done;
    }
    uint64_t cycle = issue->cycle + 1 > c->store_next ? issue->cycle + 1 : c->store_next;
    struct cache_actor actor = {entry->op->pc, c->core.parts.number};
    enum cache_outcome outcome =
        cache_access(c->core.parts.l1d, entry->physical, CACHE_STORE, inorder_time(c, cycle), actor,
                     &c->stores[c->first_store].waiter);
    c->store_next = cycle + 1;
    c->store_done = cycle + c->hit_clocks > c->store_done ? cycle + c->hit_clocks : c->store_done;
    c->stage = 0;
    if (UNLIKELY(outcome != CACHE_HIT))
        inorder_store_missed(c, entry, outcome);
    return true;
}

/* Results of the same register are written in program order. False while the earlier one is pending. */
static bool wait_result(struct inorder *c, const struct inorder_rule *rule, unsigned rd)
{
    uint64_t ready = c->ready[rd];
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

/* The same where something that takes long is under way, or begins. */
COLD static bool wait_slow(struct inorder *c, const struct inorder_rule *rule, unsigned rd)
{
    if (c->late > c->next && !wait_result(c, rule, rd))
        return false;
    if (rule->slow)
        wait_pipe(c, rule);
    return true;
}

/* The instruction at hand waits for its operands, results and pipes as they say. False: blocked. Its cycle is
 * known then. */
ALWAYS_INLINE static bool wait_issue(struct inorder *c, const struct stream_op *op,
                                     const struct inorder_rule *rule, struct issue *issue, bool observed)
{
    uint64_t operands = operands_ready(c, op), cycle = operands >> READY_CAUSE_BITS, next = c->next;
    if (UNLIKELY(operands == INORDER_PENDING))
        return false;
    /* What inorder_stall() does, but for `used`: it is not looked at again when the operands are late. */
    bool late = cycle >= next;
    uint64_t lost = late ? cycle - next : 0;
    if (observed)
        inorder_stalled(c, operands & READY_CAUSES, next, next + lost);
    c->core.cpi[operands & READY_CAUSES] += lost;
    next += lost;
    if (UNLIKELY(c->late > next) || UNLIKELY(rule->slow)) {
        c->next = next;
        c->used = late ? USES_ALL : c->used;
        if (!wait_slow(c, rule, op->rd))
            return false;
        next = c->next;
    }
    bool pairs = !late & !(c->used & rule->uses);
    issue->next = next;
    issue->cycle = next - pairs;
    return true;
}

/* What kind of instruction it is decides the rest. False: blocked. */
ALWAYS_INLINE static bool execute(struct inorder *c, const struct stream_entry *entry, struct issue *issue)
{
    unsigned flags = entry->op->flags;
    if (flags & STREAM_LOAD)
        return load(c, entry, issue);
    if (flags & STREAM_STORE)
        return store(c, entry, issue);
    if (flags & (STREAM_BRANCH | STREAM_JUMP)) {
        c->cycle = issue->cycle;
        c->wrong = control(c, entry);
    }
    return true;
}

/* The entry that is next issues. False: blocked. */
ALWAYS_INLINE static bool issue_one(struct inorder *c, const struct stream_entry *entry, bool observed)
{
    const struct stream_op *op = entry->op;
    const struct inorder_rule *rule = &c->rules[op->id];
    struct issue issue;
    if (op->pc + op->length > c->block_end && !inorder_fetch(c, op->pc, op->length))
        return false;
    if (!wait_issue(c, op, rule, &issue, observed))
        return false;
    issue.ready = ready_at(issue.cycle + rule->latency, CPI_dependency);
    if (!execute(c, entry, &issue)) {
        put_back(c, entry, &issue);
        return false;
    }
    c->ready[op->rd] = issue.ready;
    c->ready[STREAM_NONE] = 0;
    if (observed && c->noting) {
        put_back(c, entry, &issue);
        inorder_note(c, op, issue.ready == INORDER_PENDING ? issue.ready : issue.ready >> READY_CAUSE_BITS,
                     c->wrong);
        c->wrong = false;
    }
    bool alone = issue.cycle == issue.next;
    c->used = rule->after | (uint8_t)(alone - 1);
    c->core.cpi[CPI_base] += alone;
    c->next = issue.next + alone;
    return true;
}

ALWAYS_INLINE static bool issue_all(struct inorder *c, bool observed)
{
    const struct stream *stream = &c->core.stream;
    const struct stream_entry *entry = &stream->entries[c->at], *end = &stream->entries[stream->count];
    while (entry < end && issue_one(c, entry, observed))
        entry++;
    c->at = (uint32_t)(entry - stream->entries);
    return entry == end;
}

bool inorder_issue(struct inorder *c)
{
    return c->noting || c->stalls_told ? issue_all(c, true) : issue_all(c, false);
}

void inorder_warm(struct inorder *c)
{
    const struct stream *stream = &c->core.stream;
    struct predict_counts count = c->predictor.count;
    uint64_t physical;
    uint32_t left = stream->count - c->at; /* none when the core only waits for its time */
    for (; c->at < stream->count; c->at++) {
        const struct stream_entry *entry = &stream->entries[c->at];
        const struct stream_op *op = entry->op;
        if ((op->pc & c->code_mask) != c->line) {
            c->line = (op->pc & c->code_mask);
            if (code_physical(&c->code, op->pc, &physical))
                cache_warm(c->core.parts.l1i, physical, false);
        }
        if (op->flags & (STREAM_LOAD | STREAM_STORE))
            cache_warm(c->core.parts.l1d, entry->physical, op->flags & STREAM_STORE);
        if (op->flags & (STREAM_BRANCH | STREAM_JUMP))
            (void)predict(&c->predictor, op, next_pc(stream, entry));
    }
    c->predictor.count = count;
    c->next += left;
    c->core.cpi[CPI_base] += left;
}
