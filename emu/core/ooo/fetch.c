#include "emu/core/ooo/state.h"
#include "emu/hart/dispatch.h"

void ooo_fetch_forget(struct ooo *o)
{
    code_map_init(&o->code, o->core.parts.hart);
    o->fetch.page = OOO_NEVER;
    o->fetch.line = OOO_NEVER;
    o->fetch.block = OOO_NEVER;
}

static void line_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo *o = waiter->owner;
    ooo_callback(o, now);
    struct ooo_fetch *f = &o->fetch;
    uint64_t hit = cache_configuration(o->l1i)->hit_clocks;
    if (level == MEM_LEVELS)
        f->line = OOO_NEVER; /* refused: ask again */
    f->wait = FETCH_GOES;
    /* The bytes are available like those of a hit that was requested earlier; frontend_clocks counts from then. */
    f->next = ooo_later(f->next, level == MEM_LEVELS || o->floor < hit ? o->floor : o->floor - hit);
    f->next_cause = CPI_frontend;
    ooo_go_on(o);
}

static void walk_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    struct ooo *o = waiter->owner;
    ooo_callback(o, now);
    o->fetch.wait = FETCH_GOES;
    o->fetch.next = ooo_later(o->fetch.next, o->floor);
    o->fetch.next_cause = CPI_serialise;
    ooo_go_on(o);
}

static void wrong_line_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)now;
    (void)level;
    ((struct ooo *)waiter->owner)->fetch.wrong_busy = false;
}

void ooo_fetch_init(struct ooo *o)
{
    ooo_fetch_forget(o);
    o->fetch.fetched = ooo_fetched(0, CPI_frontend);
    o->fetch.next_cause = CPI_frontend;
    o->fetch.waiter.owner = o->fetch.wrong_waiter.owner = o;
    o->fetch.wrong_waiter.done = wrong_line_done;
}

/* Translates the page of pc; *cycle becomes the time of the result. Returns false while a walk is under way. */
static bool fetch_page(struct ooo *o, uint64_t pc, uint64_t *cycle)
{
    struct core_tlb *tlb = o->core.parts.tlb;
    o->fetch.page = pc / MMU_PAGE;
    if (!tlb)
        return true;
    uint64_t time = ooo_time(o, *cycle), ready;
    o->fetch.waiter.done = walk_done;
    if (tlb_access(tlb, pc, TLB_FETCH, time, &ready, &o->fetch.waiter) == TLB_WALK) {
        o->fetch.wait = FETCH_WALK;
        return false;
    }
    if (ready > time)
        *cycle = clock_cycle(&o->core.parts.clock, ready);
    return true;
}

/* The rest of fetch_line(), if the line did not hit at once. */
static NOINLINE bool access_line(struct ooo *o, uint64_t physical, uint64_t insn, const uint64_t *cycle)
{
    o->fetch.waiter.done = line_done;
    const struct cache_actor actor = {.pc = insn, .core = o->core.parts.number};
    if (cache_access_slowly(o->l1i, physical, CACHE_FETCH, ooo_time(o, *cycle), actor, &o->fetch.waiter) ==
        CACHE_HIT)
        return true;
    o->fetch.wait = FETCH_LINE;
    return false;
}

/* Fetches the line of pc, a byte of the instruction at insn. Returns false if the line arrives later. */
ALWAYS_INLINE static bool fetch_line(struct ooo *o, uint64_t pc, uint64_t insn, uint64_t *cycle)
{
    if (__builtin_expect(pc / MMU_PAGE != o->fetch.page, 0) && !fetch_page(o, pc, cycle))
        return false;
    o->fetch.line = pc & o->line_mask;
    uint64_t physical;
    if (!code_physical(&o->code, pc, &physical)) /* the program has just unmapped it */
        return true;
    return __builtin_expect(cache_hit(o->l1i, physical, CACHE_FETCH), 1) ||
           access_line(o, physical, insn, cycle);
}

/* fetch_line() for the line of the first byte of an instruction that ends in another line. */
static NOINLINE bool fetch_first_line(struct ooo *o, uint64_t pc, uint64_t *cycle)
{
    return fetch_line(o, pc, pc, cycle);
}

ALWAYS_INLINE static void enter_block(struct ooo_fetch *f, uint64_t block, uint64_t cycle)
{
    f->block = block;
    f->cycle = cycle;
    f->next = cycle + 1;
    f->fetched = ooo_fetched(cycle, f->next_cause);
    f->next_cause = CPI_frontend;
}

/* Fetches the aligned block in which the instruction ends. */
static NOINLINE bool fetch_block(struct ooo *o, uint64_t pc, uint64_t block)
{
    struct ooo_fetch *f = &o->fetch;
    uint64_t oldest = o->tail + (o->fetched - o->position) - o->fetch_queue;
    if (oldest >= o->tail)
        return false; /* the queue is full, and it is unknown until when */
    uint64_t cycle = ooo_later(f->next, ooo_at(o, oldest)->dispatch);
    uint64_t first = pc & o->block_mask;
    if ((pc & o->line_mask) != f->line && (pc & o->line_mask) != (block & o->line_mask) &&
        !fetch_first_line(o, pc, &cycle)) {
        f->next = ooo_later(f->next, cycle);
        return false;
    }
    if ((block & o->line_mask) != f->line && !fetch_line(o, pc > block ? pc : block, pc, &cycle)) {
        f->next = ooo_later(f->next, cycle);
        return false;
    }
    if (first != block && first != f->block)
        cycle++; /* the first half of the instruction needs a block of its own */
    enter_block(f, block, cycle);
    return true;
}

/* Fetches lines from the wrong pc on, one after the other, until `until`, the first miss, or the end of the queue.
 * Makes no page walks for them. */
static void fetch_wrong_path(struct ooo *o, uint64_t until)
{
    struct ooo_fetch *f = &o->fetch;
    uint64_t pc = f->wrong_pc, cycle = f->cycle + 1;
    uint64_t physical;
    uint64_t room = (uint64_t)o->fetch_queue * 4;
    f->wrong_done = true;
    while (pc && cycle < until && room > 0 && !f->wrong_busy) {
        if (!code_physical(&o->code, pc, &physical))
            break;
        uint64_t bytes = (pc | ~o->line_mask) + 1 - pc;
        struct cache_actor actor = {.pc = pc, .core = o->core.parts.number, .speculative = true};
        enum cache_outcome outcome =
            cache_access(o->l1i, physical, CACHE_FETCH, ooo_time(o, cycle), actor, &f->wrong_waiter);
        o->count.fetch_wrong_lines++;
        f->wrong_busy = outcome != CACHE_HIT;
        pc += bytes;
        room -= bytes < room ? bytes : room;
        cycle += bytes > o->fetch_bytes ? bytes / o->fetch_bytes : 1;
    }
}

void ooo_fetch_redirect(struct ooo *o, uint64_t cycle, enum cpi_cause cause)
{
    o->fetch.next = ooo_later(o->fetch.next, cycle);
    o->fetch.next_cause = cause;
    o->fetch.block = OOO_NEVER;
    o->fetch.line = OOO_NEVER;
}

void ooo_fetch_resolve(struct ooo *o, uint64_t cycle)
{
    if (!o->fetch.wrong_done)
        fetch_wrong_path(o, cycle);
    o->fetch.wait = FETCH_GOES;
    ooo_fetch_redirect(o, cycle + o->redirect_clocks, CPI_branch);
}

void ooo_fetch_target(struct ooo *o, uint64_t cycle, enum cpi_cause cause)
{
    if (o->fetch.wait == FETCH_TARGET)
        o->fetch.wait = FETCH_GOES;
    ooo_fetch_redirect(o, cycle + o->redirect_clocks, cause);
}

/* Fetches the wrong path while fetch waits for a branch. Returns false. */
static NOINLINE bool wait(struct ooo *o)
{
    if (o->fetch.wait == FETCH_BRANCH && !o->fetch.wrong_done)
        fetch_wrong_path(o, OOO_NEVER);
    return false;
}

/* ooo_fetch_enter() for the cases that are not common. */
static NOINLINE bool enter_slowly(struct ooo *o, uint64_t pc, uint64_t block)
{
    return o->fetch.wait == FETCH_GOES ? fetch_block(o, pc, block) : wait(o);
}

/* Calls nothing but in the end, so that the common case, an instruction in one block and a line that hits, saves no registers of
 * the host. */
bool ooo_fetch_enter(struct ooo *o, const struct stream_op *op, uint64_t block)
{
    struct ooo_fetch *f = &o->fetch;
    uint64_t pc = op->pc, physical;
    uint64_t oldest = o->tail + (o->fetched - o->position) - o->fetch_queue;
    if (UNLIKELY(f->wait != FETCH_GOES) || UNLIKELY(oldest >= o->tail) || UNLIKELY(pc < block))
        return enter_slowly(o, pc, block);
    if ((pc & o->line_mask) != f->line) {
        if (UNLIKELY(pc / MMU_PAGE != f->page) || UNLIKELY(!code_known(&o->code, pc, &physical)) ||
            UNLIKELY(!cache_hit(o->l1i, physical, CACHE_FETCH)))
            return enter_slowly(o, pc, block);
        f->line = pc & o->line_mask;
    }
    enter_block(f, block, ooo_later(f->next, ooo_at(o, oldest)->dispatch));
    return true;
}

/* Fetch does not go on right after this branch or jump. */
static NOINLINE void mispredicted(struct ooo *o, uint32_t i, enum predict_outcome outcome)
{
    struct ooo_fetch *f = &o->fetch;
    f->block = OOO_NEVER;
    if (outcome == PREDICT_LATE) {
        f->next = f->cycle + 1 + o->late_clocks;
        return;
    }
    o->fetches[i] |= OOO_FETCHED_WRONG;
    f->wait = FETCH_BRANCH;
    f->wrong_pc = o->predictor.wrong_pc;
    f->wrong_done = false;
}

/* Fetch goes on after a branch or jump as predicted. */
ALWAYS_INLINE static void predicted(struct ooo *o, const struct stream_op *op, uint64_t next_pc)
{
    struct ooo_fetch *f = &o->fetch;
    if (next_pc == op->pc + op->length)
        return;
    f->block = OOO_NEVER;
    f->next = f->cycle + 1 + o->taken_clocks;
}

/* The rest of ooo_fetch_control(), for jumps, mispredictions, and targets that are not in the first place. */
static NOINLINE bool control_slowly(struct ooo *o, const struct stream_entry *in, uint32_t i,
                                    enum predict_outcome outcome)
{
    uint64_t next_pc = in[1].op->pc;
    if (outcome == PREDICT_TARGET)
        outcome = predict_target(&o->predictor, in->op, next_pc);
    if (outcome == PREDICT_RIGHT)
        predicted(o, in->op, next_pc);
    else
        mispredicted(o, i, outcome);
    return true;
}

bool ooo_fetch_control(struct ooo *o, const struct stream_entry *in, uint32_t i)
{
    uint64_t next_pc = in[1].op->pc;
    if (UNLIKELY(o->fetch.wait != FETCH_GOES))
        return wait(o);
    o->fetches[i] = o->fetch.fetched;
    o->fetched = i + 1;
    enum predict_outcome outcome = predict_direction(&o->predictor, in->op, next_pc);
    if (UNLIKELY(outcome != PREDICT_RIGHT))
        return control_slowly(o, in, i, outcome);
    predicted(o, in->op, next_pc);
    return true;
}

bool ooo_fetch_at(struct ooo *o, uint64_t pc, unsigned length)
{
    uint64_t block = (pc + length - 1) & o->block_mask;
    return o->fetch.wait == FETCH_GOES && (block == o->fetch.block || fetch_block(o, pc, block));
}
