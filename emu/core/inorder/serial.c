/* The in-order core's handling of serial instructions and of stops. */
#include "emu/core/inorder/state.h"
#include "emu/core/warm.h"

static void serial_came(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct inorder *c = waiter->owner;
    c->serial_waits = false;
    uint64_t cycle = clock_cycle(&c->core.parts.clock, now);
    if (cycle > c->serial_ready)
        c->serial_ready = cycle;
    if (level == MEM_LEVELS) /* refused: repeat the access */
        c->serial_offset = 0;
    inorder_go_on(c, now);
}

static void settled(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct inorder *c = waiter->owner;
    (void)level;
    c->settling = false;
    c->settled = clock_cycle(&c->core.parts.clock, now);
    inorder_go_on(c, now);
}

static void unit_done(struct custom_waiter *waiter, uint64_t now)
{
    struct inorder *c = waiter->owner;
    c->serial_waits = false;
    c->serial_ready = clock_cycle(&c->core.parts.clock, now);
    inorder_go_on(c, now);
}

void inorder_serial_init(struct inorder *c)
{
    c->core.unit = (struct custom_waiter){.done = unit_done, .owner = c, .clock = c->core.parts.clock};
    c->serial_waiter = (struct cache_waiter){NULL, serial_came, c};
    c->settle_waiter = (struct cache_waiter){NULL, settled, c};
    c->passed = INORDER_NOWHERE;
}

/* Returns whether the data cache has registered all words that were stored; if not, the core goes on when it has. */
static bool is_settled(struct inorder *c)
{
    if (!c->settling)
        c->settling = !cache_release(c->core.parts.l1d, &c->settle_waiter);
    if (!c->settling)
        cache_released(c->core.parts.l1d);
    return !c->settling;
}

/* Waits until all issued instructions, and if `stores` all stores, are complete, at least until cycle `last`. Returns
 * false if blocked. */
static bool drain(struct inorder *c, bool stores, uint64_t last)
{
    if (c->free_loads != c->all_loads || (stores && (c->store_count || !is_settled(c)))) {
        c->blocked = true;
        return false;
    }
    for (unsigned i = 0; i < INORDER_SINK; i++)
        if (c->ready[i] >> READY_CAUSE_BITS > last)
            last = c->ready[i] >> READY_CAUSE_BITS;
    if (stores && c->store_done > last)
        last = c->store_done;
    if (stores && c->settled > last)
        last = c->settled;
    inorder_stall(c, last > c->next ? last : c->next, CPI_serialise);
    c->cycle = c->next;
    return true;
}

/* Fetches the serial instruction, and waits for the instructions before it. */
static bool prepare(struct inorder *c)
{
    unsigned length;
    bool stores = true;
    if (c->end == STREAM_STEP) {
        stores = serial_needs_stores(&c->core, &length);
        if (length && c->core.warming) {
            warm_fetch(&c->core, &c->code, c->core.parts.hart->pc, length);
        } else if (length && !inorder_fetch(c, c->core.parts.hart->pc, length)) {
            c->blocked = true;
            return false;
        }
    }
    return drain(c, stores, c->end == STREAM_STEP ? serial_awaits(&c->core) : 0);
}

/* Continues the memory access of the executed serial instruction. Returns false while it is under way. */
static bool access_serial(struct inorder *c)
{
    const struct serial *serial = &c->serial;
    struct cache *l1d = c->core.parts.l1d;
    struct cache_actor actor = {.pc = serial->report.pc,
                                .core = c->core.parts.number,
                                .atomic = insn_table[serial->report.insn.id].iclass == CLASS_AMO};
    uint64_t hit = cache_configuration(l1d)->hit_clocks;
    while (!c->serial_waits && c->serial_offset < serial->size) {
        uint64_t at = serial->physical + c->serial_offset, time = inorder_time(c, c->serial_ready);
        const uint32_t room = (uint32_t)(c->line_mask + 1 - (at & c->line_mask));
        const uint32_t rest = serial->size - c->serial_offset;
        actor.bytes = (uint8_t)(rest < room ? rest : room);
        c->serial_offset += room;
        if (serial->wait == SERIAL_MAINTAIN) {
            c->serial_offset = serial->size;
            c->serial_waits = true;
            cache_maintain(l1d, serial->op, serial->physical, serial->size, time, actor, &c->serial_waiter);
        } else if (cache_access(l1d, at, serial->use, time, actor, &c->serial_waiter) == CACHE_HIT) {
            c->serial_ready += hit;
        } else {
            c->serial_waits = true;
        }
    }
    c->blocked = c->serial_waits;
    return !c->serial_waits;
}

static void step(struct inorder *c, uint64_t now)
{
    struct serial *serial = &c->serial;
    c->serial_from = c->cycle;
    serial_step(&c->core, now, serial);
    c->stop = serial->stop;
    c->serial_offset = serial->size;
    c->serial_ready = c->cycle;
    if (c->core.warming)
        warm_serial(&c->core, serial); /* finish() adds one cycle */
    else if (serial->wait == SERIAL_CACHE || serial->wait == SERIAL_MAINTAIN)
        c->serial_offset = 0;
    else if (serial->wait == SERIAL_CUSTOM)
        c->serial_waits = true;
    else if (serial->wait == SERIAL_DEVICE)
        c->serial_ready += serial_device(&c->core, serial, c->cycle);
    else
        c->serial_ready += c->latency.of[CORE_WORK_serial].latency;
}

/* Completes the instruction: later ones can issue. */
static void finish(struct inorder *c)
{
    const struct stream_op *op = &c->core.stream.stepped;
    if (c->serial_ready == c->cycle)
        c->serial_ready++;
    inorder_stall(c, c->serial_ready, CPI_serialise);
    c->cycle = c->next;
    if (c->serial.report.retired) {
        c->ready[op->rd] = ready_at(c->next, CPI_serialise);
        c->ready[STREAM_NONE] = 0;
        c->cycle = c->serial_from;
        if (c->noting)
            inorder_note(c, op, c->next, c->serial.refetch);
        c->number++;
    }
    c->cycle = c->next;
    if (c->serial.refetch)
        inorder_refetch(c);
}

/* Discards the finished batch and the instruction or stop that ended it. */
static void end_batch(struct inorder *c)
{
    c->phase = PHASE_ISSUE;
    c->end = STREAM_MORE;
    c->number += c->at;
    c->at = c->core.stream.count = 0;
}

/* Hands the stop to the server, which may move the hart's pc. Returns false if the core is asleep. */
static bool stop(struct inorder *c, uint64_t now)
{
    const struct hart *hart = c->core.parts.hart;
    uint64_t pc = hart->pc;
    c->core.cycles = c->next - c->origin;
    end_batch(c);
    bool awake = core_stop(&c->core, c->stop, now);
    assert(!awake || c->stop != HART_STOP_LIMIT || hart_progress(hart) < c->core.limit);
    c->passed = c->stop == HART_STOP_BREAK && hart->pc == pc ? pc : INORDER_NOWHERE;
    if (c->stop != HART_STOP_WFI)
        inorder_refetch(c);
    c->slept = !awake;
    return awake;
}

/* Continues after the core has left its mechanism. */
static bool after_task(struct inorder *c)
{
    if (c->phase != PHASE_ISSUE)
        return inorder_serial(c, c->core.parts.queue->now);
    end_batch(c);
    return true;
}

bool inorder_serial(struct inorder *c, uint64_t now)
{
    switch (c->phase) {
    case PHASE_ISSUE:
    case PHASE_DRAIN:
        c->phase = PHASE_DRAIN;
        if (!prepare(c))
            return false;
        c->phase = c->end == STREAM_STEP ? PHASE_STEP : PHASE_STOP;
        if (!inorder_reach(c, c->cycle))
            return false;
        return inorder_serial(c, c->core.parts.queue->now);
    case PHASE_STORES:
        if (!drain(c, true, 0) || !inorder_reach(c, c->cycle))
            return false;
        c->phase = PHASE_TASK;
        /* fall through */
    case PHASE_TASK: return inorder_offload_go(c) && after_task(c);
    case PHASE_STEP:
        if (inorder_offload_takes(c)) {
            c->phase = PHASE_STORES;
            return inorder_serial(c, now);
        }
        inorder_stall(c, clock_cycle(&c->core.parts.clock, now), CPI_serialise);
        c->cycle = c->next;
        step(c, now);
        c->phase = PHASE_ACCESS;
        /* fall through */
    case PHASE_ACCESS:
        if (!access_serial(c))
            return false;
        finish(c);
        if (c->stop == HART_STOP_LIMIT) {
            end_batch(c);
            return true;
        }
        c->phase = PHASE_STOP;
        if (!inorder_reach(c, c->cycle))
            return false;
        now = c->core.parts.queue->now;
        /* fall through */
    case PHASE_STOP: return stop(c, now);
    }
    return true;
}
