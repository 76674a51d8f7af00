/* The in-order core's issue: one pass over the executed instructions, in program order. This file has the common cases:
 * blocks of the current line, predicted jumps, loads and stores that hit. */
#include "emu/core/inorder/state.h"
#include "emu/core/warm.h"
#include "emu/hart/dispatch.h"

/* A copy of the core's state during issue, kept in host registers. Cycles are shifted, as in ready_at() without a
 * cause. */
struct issue {
    uint64_t next, cycle; /* as in struct inorder */
    uint64_t ready;       /* ready_at() of the result */
    uint32_t used;        /* as in struct inorder */
    uint64_t pairs;       /* all bits set: the instruction issues beside the one before */
};

ALWAYS_INLINE static void put_cycles(struct inorder *c, const struct issue *issue)
{
    c->next = issue->next >> READY_CAUSE_BITS;
    c->cycle = issue->cycle >> READY_CAUSE_BITS;
    c->used = issue->used;
}

ALWAYS_INLINE static void put_back(struct inorder *c, const struct stream_entry *entry,
                                   const struct issue *issue)
{
    put_cycles(c, issue);
    c->at = (uint32_t)(entry - c->core.stream.entries);
}

ALWAYS_INLINE static void take_again(const struct inorder *c, struct issue *issue)
{
    issue->next = ready_at(c->next, 0);
    issue->cycle = ready_at(c->cycle, 0);
    issue->used = c->used;
    issue->pairs = -(uint64_t)(c->cycle != c->next);
}

/* inorder_stall() for the copy of the state. */
ALWAYS_INLINE static void stall(struct inorder *c, struct issue *issue, uint64_t cycle, unsigned cause,
                                bool observed)
{
    uint64_t until = ready_at(cycle, 0);
    if (until < issue->next)
        return;
    if (observed)
        inorder_stalled(c, cause, issue->next >> READY_CAUSE_BITS, cycle);
    c->core.cpi[cause] += (until - issue->next) >> READY_CAUSE_BITS;
    issue->next = until;
    issue->used = USES_ALL;
}

/* Accesses the line at `physical`, which did not hit at once. Returns whether it is in the cache. insn: the instruction's pc. */
static NOINLINE bool access_line(struct inorder *c, uint64_t physical, uint64_t insn, uint64_t cycle)
{
    struct cache_actor actor = {.pc = insn, .core = c->core.parts.number};
    c->fetching = cache_access_slowly(c->core.parts.l1i, physical, CACHE_FETCH, inorder_time(c, cycle), actor,
                                      &c->fetch_waiter) != CACHE_HIT;
    c->arrived = c->fetching ? INORDER_PENDING : 0;
    return !c->fetching;
}

/* Enters the line of pc, which differs from the last block's. Returns whether it is in the cache, which is accessed.
 * insn: the instruction's pc. */
ALWAYS_INLINE static bool enter_line(struct inorder *c, uint64_t pc, uint64_t insn, uint64_t cycle)
{
    uint64_t physical;
    if (c->core.parts.tlb && (c->page != pc / MMU_PAGE || c->page_walked))
        return false;
    if (UNLIKELY(c->fetching) || UNLIKELY(!code_physical(&c->code, pc, &physical)))
        return false;
    c->line = pc & c->code_mask;
    if (LIKELY(cache_hit(c->core.parts.l1i, physical, CACHE_FETCH)))
        return true;
    return access_line(c, physical, insn, cycle);
}

/* Fetches the block of pc, a byte of the instruction at insn. */
ALWAYS_INLINE static bool fetch_block(struct inorder *c, struct issue *issue, uint64_t pc, uint64_t insn,
                                      bool observed)
{
    uint32_t next = c->block_at + 1 == c->blocks ? 0 : c->block_at + 1;
    uint64_t cycle = c->left[next] > c->fetch_next ? c->left[next] : c->fetch_next;
    if (c->line != (pc & c->code_mask) || UNLIKELY(c->arrived != 0))
        if (UNLIKELY(c->arrived != 0) || UNLIKELY(!enter_line(c, pc, insn, cycle))) {
            put_cycles(c, issue);
            bool fetched = inorder_fetch_slowly(c, pc, insn);
            take_again(c, issue);
            return fetched;
        }
    c->left[c->block_at] = issue->next >> READY_CAUSE_BITS;
    c->block = pc & c->block_mask;
    c->block_end = c->block + c->config.fetch_bytes;
    c->block_at = next;
    c->fetched = cycle;
    c->fetch_next = cycle + 1;
    if (UNLIKELY(c->redirect_until != 0)) {
        stall(c, issue, c->redirect_until, c->redirect_cause, observed);
        c->redirect_until = 0;
    }
    stall(c, issue, cycle + c->fetch_clocks, CPI_frontend, observed);
    return true;
}

/* Fetches an instruction that does not end in the current block. */
ALWAYS_INLINE static bool fetch(struct inorder *c, struct issue *issue, uint64_t pc, unsigned length,
                                bool observed)
{
    uint64_t last = pc + length - 1;
    if (UNLIKELY(((pc ^ last) & c->block_mask) != 0) && (pc & c->block_mask) != c->block &&
        !fetch_block(c, issue, pc, pc, observed))
        return false;
    return fetch_block(c, issue, last, pc, observed);
}

bool inorder_fetch(struct inorder *c, uint64_t pc, unsigned length)
{
    struct issue issue;
    if (((pc + length - 1) & c->block_mask) == c->block)
        return true;
    take_again(c, &issue);
    bool fetched = fetch(c, &issue, pc, length, c->stalls_told);
    put_cycles(c, &issue);
    return fetched;
}

/* Predicts and trains. Returns whether the instructions fetched after this one are wrong. */
ALWAYS_INLINE static bool control(struct inorder *c, const struct stream_entry *entry,
                                  const struct issue *issue)
{
    const struct stream_op *op = entry->op;
    uint64_t next = entry[1].op->pc;
    enum predict_outcome outcome = predict(&c->predictor, op, next);
    if (UNLIKELY(outcome != PREDICT_RIGHT)) {
        c->cycle = issue->cycle >> READY_CAUSE_BITS;
        return inorder_redirected(c, op, outcome);
    }
    if (next != op->pc + op->length) {
        c->block = INORDER_NOWHERE;
        c->block_end = 0;
        c->fetch_next += c->config.taken_clocks;
    }
    return false;
}

/* Returns whether the access is within one line, and nothing in the core delays it. */
ALWAYS_INLINE static bool is_common(const struct inorder *c, const struct stream_entry *entry,
                                    const struct issue *issue)
{
    return LIKELY((entry->physical & c->line_mask) + entry->op->size <= c->line_mask + 1) &&
           LIKELY(c->uncommon == 0) && LIKELY(ready_at(c->freed, 0) <= issue->cycle);
}

/* Returns whether the access is within one line, and no earlier access needs to be checked. */
ALWAYS_INLINE static bool is_plain(const struct inorder *c, const struct stream_entry *entry)
{
    bool inside = (entry->physical & c->line_mask) + entry->op->size <= c->line_mask + 1;
    return inside & (c->store_count == 0) & !(c->stage & STAGE_FIRST);
}

/* Waits for the queue entry that the access needs, and translates its address. Returns false while a walk is under
 * way. */
static bool begin_access(struct inorder *c, const struct stream_entry *entry)
{
    if (c->freed > c->cycle) {
        inorder_stall(c, c->freed, c->freed_cause);
        c->cycle = c->next;
    }
    return !c->translating || inorder_translate(c, entry->address, STAGE_TRANSLATED);
}

/* Issues a load that does not hit at once. Call it after put_back(). */
static bool load_slowly(struct inorder *c, const struct stream_entry *entry, uint64_t *ready)
{
    if (!begin_access(c, entry))
        return false;
    if (!is_plain(c, entry) || !c->free_loads) {
        *ready = 0;
        bool done = inorder_load_slowly(c, entry, ready);
        c->stage = done ? 0 : c->stage;
        return done;
    }
    struct inorder_load *slot = &c->loads[__builtin_ctzll(c->free_loads)];
    struct cache_actor actor = {.pc = entry->op->pc, .core = c->core.parts.number, .bytes = entry->op->size};
    if (slot->room)
        return false;
    enum cache_outcome outcome = cache_access(c->core.parts.l1d, entry->physical, CACHE_LOAD,
                                              inorder_time(c, c->cycle), actor, &slot->waiter);
    *ready = ready_at(c->cycle + c->load_clocks, CPI_l1);
    c->stage = outcome == CACHE_FULL ? c->stage : 0;
    if (outcome == CACHE_HIT)
        return true;
    *ready = INORDER_PENDING;
    return inorder_load_missed(c, slot, entry->op, outcome);
}

ALWAYS_INLINE static bool load(struct inorder *c, const struct stream_entry *entry, struct issue *issue)
{
    if (LIKELY(is_common(c, entry, issue)) && LIKELY(c->free_loads != 0) &&
        LIKELY(cache_hit(c->core.parts.l1d, entry->physical, CACHE_LOAD)))
        return true;
    put_back(c, entry, issue);
    uint64_t ready = issue->ready; /* taking the struct's address would move it out of host registers */
    bool done = load_slowly(c, entry, &ready);
    take_again(c, issue);
    issue->ready = ready;
    return done;
}

/* Issues a store that does not hit at once. Call it after put_back(). */
static bool store_slowly(struct inorder *c, const struct stream_entry *entry)
{
    if (!begin_access(c, entry))
        return false;
    if (!is_plain(c, entry)) {
        bool done = inorder_store_slowly(c, entry);
        c->stage = done ? 0 : c->stage;
        return done;
    }
    uint64_t cycle = c->cycle + 1 > c->store_next ? c->cycle + 1 : c->store_next;
    struct cache_actor actor = {.pc = entry->op->pc, .core = c->core.parts.number, .bytes = entry->op->size};
    enum cache_outcome outcome =
        cache_access(c->core.parts.l1d, entry->physical, CACHE_STORE, inorder_time(c, cycle), actor,
                     &c->stores[c->first_store].waiter);
    c->store_next = cycle + 1;
    c->store_done = cycle + c->hit_clocks > c->store_done ? cycle + c->hit_clocks : c->store_done;
    c->stage = 0;
    if (outcome != CACHE_HIT)
        inorder_store_missed(c, entry, outcome);
    return true;
}

ALWAYS_INLINE static bool store(struct inorder *c, const struct stream_entry *entry, struct issue *issue)
{
    if (LIKELY(is_common(c, entry, issue)) &&
        LIKELY(cache_hit(c->core.parts.l1d, entry->physical, CACHE_STORE))) {
        uint64_t from = (issue->cycle >> READY_CAUSE_BITS) + 1;
        uint64_t cycle = from > c->store_next ? from : c->store_next;
        c->store_next = cycle + 1;
        c->store_done = cycle + c->hit_clocks > c->store_done ? cycle + c->hit_clocks : c->store_done;
        return true;
    }
    put_back(c, entry, issue);
    bool done = store_slowly(c, entry);
    take_again(c, issue);
    return done;
}

/* Delays the instruction so that it writes its register after the earlier result. Returns false while that is
 * pending. */
static bool wait_result(struct inorder *c, const struct inorder_rule *rule, unsigned rd)
{
    uint64_t ready = c->ready[rd], latency = rule->result >> READY_CAUSE_BITS;
    if (ready == INORDER_PENDING)
        return false;
    if (ready >> READY_CAUSE_BITS > c->next + latency)
        inorder_stall(c, (ready >> READY_CAUSE_BITS) - latency, ready & READY_CAUSES);
    return true;
}

/* Waits for the pipe of an instruction with a long latency, and notes its result, which later ones must not
 * overtake. */
static void wait_pipe(struct inorder *c, const struct stream_op *op, const struct inorder_rule *rule)
{
    const unsigned interval = c->intervals[op->id];
    if (interval > 1)
        inorder_stall(c, c->busy[op->iclass], CPI_dependency);
    uint64_t done = ready_at(c->next + (rule->result >> READY_CAUSE_BITS), 0);
    c->busy[op->iclass] = (inorder_choose(c, rule->uses) ? c->cycle : c->next) + interval;
    c->late_known = done > c->late_known ? done : c->late_known;
    if (c->late != INORDER_PENDING)
        c->late = c->late_known;
}

/* wait_issue() for an instruction with a long latency or a third operand, and for a prefetch, which it issues. Call it after
 * put_back(). */
static bool wait_slowly(struct inorder *c, const struct stream_entry *entry, const struct inorder_rule *rule)
{
    const struct stream_op *op = entry->op;
    uint64_t a = c->ready[op->rs1], b = c->ready[op->rs2], d = c->ready[op->rs3];
    uint64_t later = a > b ? a : b, operands = later > d ? later : d;
    if (operands == INORDER_PENDING)
        return false;
    inorder_stall(c, operands >> READY_CAUSE_BITS, operands & READY_CAUSES);
    if (c->late > ready_at(c->next, 0) && !wait_result(c, rule, op->rd))
        return false;
    if (rule->uses & SLOW_RESULT)
        wait_pipe(c, op, rule);
    if (!(op->flags & STREAM_PREFETCH))
        return true;
    (void)inorder_choose(c, rule->uses);
    return inorder_prefetch(c, entry);
}

/* wait_slowly() from within issue. */
ALWAYS_INLINE static bool wait_aside(struct inorder *c, const struct stream_entry *entry,
                                     const struct inorder_rule *rule, struct issue *issue)
{
    put_back(c, entry, issue);
    bool ready = wait_slowly(c, entry, rule);
    take_again(c, issue);
    return ready;
}

/* Waits for operands of which the latest is ready at `operands`, which is known. Returns the counters of the cycle before the
 * next one. */
ALWAYS_INLINE static uint32_t wait_operands(struct inorder *c, struct issue *issue, uint64_t operands,
                                            bool observed)
{
    uint64_t lost = operands - issue->next, cause = lost & READY_CAUSES;
    if (observed)
        inorder_stalled(c, (unsigned)cause, issue->next >> READY_CAUSE_BITS, operands >> READY_CAUSE_BITS);
    c->core.cpi[cause] += lost >> READY_CAUSE_BITS;
    issue->next = operands - cause;
    return USES_ALL;
}

/* Waits for operands, earlier results and pipes of the current instruction, which sets its cycle. Returns false if
 * blocked. */
ALWAYS_INLINE static bool wait_issue(struct inorder *c, const struct stream_entry *entry,
                                     const struct inorder_rule *rule, struct issue *issue, bool observed)
{
    const struct stream_op *op = entry->op;
    uint64_t a = c->ready[op->rs1], b = c->ready[op->rs2], operands = a > b ? a : b;
    uint32_t used = issue->used + c->start;
    bool slow = rule->uses & (SLOW_RESULT | SLOW_THIRD);
    if (UNLIKELY(c->late >= issue->next) && !slow) {
        uint64_t start = operands > issue->next ? operands : issue->next;
        uint64_t done = start + rule->result; /* the comparison ignores causes */
        slow = c->late >= start &&
               ((operands == INORDER_PENDING) | (c->ready[op->rd] >= (done - (done & READY_CAUSES))));
    }
    if (UNLIKELY(slow)) {
        put_back(c, entry, issue);
        bool ready = wait_slowly(c, entry, rule);
        take_again(c, issue);
        if (!ready)
            return false;
        used = issue->used + c->start;
    } else if (operands > issue->next) {
        /* A branch, so that the host goes on with later instructions before it knows when these operands are ready. */
        used = wait_operands(c, issue, operands, observed);
    }
    if (used & rule->uses) {
        issue->pairs = 0;
        issue->cycle = issue->next;
    } else {
        issue->pairs = ~(uint64_t)0;
        issue->cycle = issue->next - ready_at(1, 0);
    }
    return true;
}

/* Executes the part specific to the kind of instruction. Returns false if blocked. */
ALWAYS_INLINE static bool execute(struct inorder *c, const struct stream_entry *entry, struct issue *issue,
                                  bool observed)
{
    unsigned flags = entry->op->flags;
    if (LIKELY(!(flags & (STREAM_LOAD | STREAM_STORE | STREAM_BRANCH | STREAM_JUMP))))
        return true;
    if (flags & STREAM_LOAD)
        return load(c, entry, issue);
    if (flags & STREAM_STORE)
        return store(c, entry, issue);
    bool wrong = control(c, entry, issue);
    if (observed)
        c->wrong = wrong;
    return true;
}

/* Issues the next entry. Returns false if blocked. */
ALWAYS_INLINE static bool issue_one(struct inorder *c, const struct stream_entry *entry, struct issue *issue,
                                    bool observed)
{
    const struct stream_op *op = entry->op;
    const struct inorder_rule *rule = &c->rules[op->id];
    if (op->pc + op->length > c->block_end && !fetch(c, issue, op->pc, op->length, observed))
        return false;
    if (!wait_issue(c, entry, rule, issue, observed))
        return false;
    issue->ready = issue->cycle + rule->result;
    if (!execute(c, entry, issue, observed))
        return false;
    c->ready[op->rd] = issue->ready;
    c->ready[STREAM_NONE] = 0;
    if (observed && c->noting) {
        put_back(c, entry, issue);
        inorder_note(c, op, issue->ready == INORDER_PENDING ? issue->ready : issue->ready >> READY_CAUSE_BITS,
                     c->wrong);
        c->wrong = false;
    }
    issue->used = (issue->used & (uint32_t)issue->pairs) + rule->adds;
    issue->next = issue->cycle + ready_at(1, 0);
    return true;
}

ALWAYS_INLINE static bool issue_all(struct inorder *c, bool observed)
{
    const struct stream *stream = &c->core.stream;
    const struct stream_entry *entry = &stream->entries[c->at], *end = &stream->entries[stream->count];
    struct issue issue;
    take_again(c, &issue);
    while (entry < end && issue_one(c, entry, &issue, observed))
        entry++;
    put_back(c, entry, &issue);
    return entry == end;
}

static uint64_t cycles_lost(const struct core *core)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < CPI_CAUSES; i++)
        lost += i == CPI_base ? 0 : core->cpi[i];
    return lost;
}

bool inorder_issue(struct inorder *c)
{
    uint64_t before = c->next - cycles_lost(&c->core);
    bool all = c->noting || c->stalls_told ? issue_all(c, true) : issue_all(c, false);
    /* An instruction issued in each cycle that was not lost. */
    c->core.cpi[CPI_base] += c->next - cycles_lost(&c->core) - before;
    return all;
}

void inorder_warm(struct inorder *c)
{
    uint32_t count = c->core.stream.count - c->at; /* 0 if the core only waits for its time */
    if (count == 0)
        return;
    warm_batch(&c->core, &c->code, &c->predictor, c->at);
    c->at += count;
    c->next += count;
    c->core.cpi[CPI_base] += count;
    inorder_redirect(c, c->next, CPI_frontend);
    c->line = c->page = INORDER_NOWHERE;
}
