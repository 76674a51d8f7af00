/* The in-order core's front end: fetch of blocks, jumps, wrong paths. */
#include "emu/core/inorder/state.h"

static void line_came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct inorder *c = waiter->owner;
    c->fetching = false;
    c->arrived = clock_cycle(&c->core.parts.clock, now);
    if (level == MEM_LEVELS) /* refused: ask again */
        c->line = INORDER_NOWHERE;
    inorder_go_on(c, now);
}

static void page_came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    struct inorder *c = waiter->owner;
    c->walking = false;
    c->walked = clock_cycle(&c->core.parts.clock, now);
    inorder_go_on(c, now);
}

void inorder_fetch_init(struct inorder *c)
{
    const struct cache_config *l1i = cache_configuration(c->core.parts.l1i);
    c->block_mask = ~(uint64_t)(c->config.fetch_bytes - 1);
    c->code_mask = ~(uint64_t)(l1i->line - 1);
    c->fetch_clocks = l1i->hit_clocks + c->config.frontend_clocks;
    /* A block is freed when its last instruction issues, so blocks in the pipeline stages count too. */
    c->blocks = c->config.fetch_queue + (uint32_t)c->fetch_clocks;
    if (c->blocks > INORDER_BLOCKS)
        c->blocks = INORDER_BLOCKS;
    c->block = c->line = c->page = INORDER_NOWHERE;
    c->redirect_cause = CPI_frontend;
    c->fetch_waiter = (struct cache_waiter){NULL, line_came, c};
    c->tlb_waiter = (struct cache_waiter){NULL, page_came, c};
    code_map_init(&c->code, c->core.parts.hart);
}

/* Translates the page of pc. *cycle becomes the cycle in which the access can begin. Returns false while a
 * walk is under way. */
static bool translate_page(struct inorder *c, uint64_t pc, uint64_t *cycle)
{
    struct core_tlb *tlb = c->core.parts.tlb;
    uint64_t time = inorder_time(c, *cycle), ready;
    if (c->walking)
        return false;
    if (!tlb || (c->page == pc / MMU_PAGE && !c->page_walked))
        return true;
    if (!c->page_walked) {
        c->page = pc / MMU_PAGE;
        if (tlb_access(tlb, pc, TLB_FETCH, time, &ready, &c->tlb_waiter) == TLB_WALK) {
            c->walking = c->page_walked = true;
            return false;
        }
        c->walked = ready > time ? clock_cycle(&c->core.parts.clock, ready) : 0;
    }
    c->page_walked = false;
    if (c->walked > *cycle)
        *cycle = c->walked;
    return true;
}

/* Fetches the line of pc. *cycle becomes the cycle in which the access began, or in which a hit would have
 * begun. Returns false while the access is under way. */
static bool access_line(struct inorder *c, uint64_t pc, uint64_t insn, uint64_t *cycle)
{
    uint64_t physical, hit = c->fetch_clocks - c->config.frontend_clocks;
    if (c->fetching)
        return false;
    if (c->line != (pc & c->code_mask)) {
        if (c->arrived > *cycle) /* the cache has room again */
            *cycle = c->arrived;
        c->arrived = 0;
        c->line = pc & c->code_mask;
        if (code_physical(&c->code, pc, &physical)) {
            struct cache_actor actor = {.pc = insn, .core = c->core.parts.number};
            c->fetching = cache_access(c->core.parts.l1i, physical, CACHE_FETCH, inorder_time(c, *cycle),
                                       actor, &c->fetch_waiter) != CACHE_HIT;
            if (c->fetching) {
                c->arrived = INORDER_PENDING;
                return false;
            }
        }
    }
    if (c->arrived > *cycle + hit)
        *cycle = c->arrived - hit;
    return true;
}

bool inorder_fetch_slowly(struct inorder *c, uint64_t pc, uint64_t insn)
{
    uint64_t cycle = c->fetch_next, before;
    uint32_t next = c->block_at + 1 == c->blocks ? 0 : c->block_at + 1;
    c->left[c->block_at] = c->next;
    if (c->left[next] > cycle)
        cycle = c->left[next];
    if (c->line != (pc & c->code_mask) || c->arrived) {
        before = cycle;
        if (!translate_page(c, pc, &cycle))
            return false;
        if (cycle > before) { /* a page walk took time */
            c->redirect_until = cycle + c->fetch_clocks;
            c->redirect_cause = CPI_serialise;
        }
        if (!access_line(c, pc, insn, &cycle))
            return false;
        c->arrived = 0;
    }
    c->block = pc & c->block_mask;
    c->block_end = c->block + c->config.fetch_bytes;
    c->block_at = next;
    c->fetched = cycle;
    c->fetch_next = cycle + 1;
    inorder_stall(c, c->redirect_until, c->redirect_cause);
    c->redirect_until = 0;
    inorder_stall(c, cycle + c->fetch_clocks, CPI_frontend);
    return true;
}

void inorder_redirect(struct inorder *c, uint64_t cycle, unsigned cause)
{
    c->block = INORDER_NOWHERE;
    c->block_end = 0;
    c->fetch_next = cycle;
    c->redirect_until = cycle + c->fetch_clocks;
    c->redirect_cause = (uint8_t)cause;
}

void inorder_refetch(struct inorder *c)
{
    inorder_redirect(c, c->cycle, CPI_serialise);
    c->line = c->page = INORDER_NOWHERE;
    code_map_init(&c->code, c->core.parts.hart);
}

/* Fetches straight on from pc, from the cycle after the branch's fetch until `end`, while the queue has room.
 * A line that misses, or the end of the page, ends the path. */
static void follow_wrong_path(struct inorder *c, uint64_t pc, uint64_t end)
{
    uint64_t cycle = c->fetched + 1, page = pc / MMU_PAGE, physical;
    uint32_t room = c->blocks;
    c->line = INORDER_NOWHERE;
    while (room && cycle < end && pc / MMU_PAGE == page && code_physical(&c->code, pc, &physical)) {
        struct cache_actor actor = {.pc = pc, .core = c->core.parts.number, .speculative = true};
        c->wrong_lines++;
        if (cache_access(c->core.parts.l1i, physical, CACHE_FETCH, inorder_time(c, cycle), actor, NULL) !=
            CACHE_HIT)
            break;
        /* The other blocks of the line take a cycle each. */
        uint64_t next = (pc | ~c->code_mask | ~c->block_mask) + 1;
        uint32_t blocks = (uint32_t)((next - (pc & c->block_mask)) >> __builtin_ctz(c->config.fetch_bytes));
        room -= blocks < room ? blocks : room;
        cycle += blocks;
        pc = next;
    }
}

bool inorder_redirected(struct inorder *c, const struct stream_op *op, enum predict_outcome outcome)
{
    c->block = INORDER_NOWHERE;
    c->block_end = 0;
    if (outcome == PREDICT_LATE) {
        c->fetch_next = c->fetched + c->fetch_clocks - c->config.frontend_clocks + c->config.decode_clocks;
        return false;
    }
    uint64_t resolved = c->cycle + (c->rules[op->id].result >> READY_CAUSE_BITS);
    follow_wrong_path(c, c->predictor.wrong_pc, resolved);
    inorder_redirect(c, resolved, CPI_branch);
    return true;
}
