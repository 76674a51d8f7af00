#include "emu/hart/dispatch.h"
#include "emu/core/ooo/state.h"

/* A copy of the core's state during dispatch, kept in host registers: in memory, each instruction would wait for the
 * stores of the one before it. */
struct pace {
    uint64_t at;         /* o->dispatched_at */
    uint64_t tail;       /* also in memory */
    uint64_t free;       /* before this number, the reorder buffer has room for an instruction at once */
    uint32_t dispatched; /* as in struct ooo */
};

ALWAYS_INLINE static void put_back(struct ooo *o, const struct pace *pace)
{
    o->dispatched_at = pace->at;
    o->dispatched = pace->dispatched;
}

ALWAYS_INLINE static void take(const struct ooo *o, struct pace *pace)
{
    *pace = (struct pace){o->dispatched_at, o->tail, 0, o->dispatched};
}

/* Makes the instruction wait for those of its first `count` operands that are unknown. */
static void pend(struct ooo *o, const struct stream_op *op, struct ooo_entry *e, unsigned count,
                 uint64_t ready)
{
    const uint8_t regs[OOO_OPERANDS] = {op->rs1, op->rs2, op->rs3};
    uint64_t number = o->tail;
    e->id = op->id;
    e->dependents = OOO_NONE;
    e->issue = e->complete = OOO_NEVER;
    e->waiting = 0;
    for (unsigned i = 0; i < count; i++) {
        if (o->times[regs[i]] == OOO_NEVER) {
            ooo_depend(o, number, i, o->producer[regs[i]]);
            e->waiting++;
        } else {
            ready = ooo_later(ready, o->times[regs[i]]);
        }
    }
    o->pending[number & o->rob_mask].ready = ready;
    ooo_queue_pend(o);
}

ALWAYS_INLINE static void dispatch_plain(struct ooo *o, const struct stream_op *op,
                                         const struct ooo_class *class, struct ooo_entry *e, uint32_t facts)
{
    const bool plain = ooo_is(facts, OOO_PLAIN);
    uint64_t ready = ooo_later(ooo_later(o->times[op->rs1], o->times[op->rs2]), e->dispatch + 1);
    if (!plain)
        ready = ooo_later(ready, o->times[op->rs3]);
    if (UNLIKELY(ready - e->dispatch >= OOO_SOON) && ready == OOO_NEVER) {
        pend(o, op, e, OOO_OPERANDS, e->dispatch + 1);
        ooo_result_unknown(o, op->rd);
        return;
    }
    uint64_t issue;
    if (LIKELY(plain && ready - e->dispatch < OOO_SOON && ports_try(&o->ports, &class->use, ready, &issue))) {
        o->queue.issued = ooo_later(o->queue.issued, issue);
    } else {
        issue = ports_take_any(&o->ports, &class->use, ready);
        ooo_queue_issue(o, e->dispatch, issue);
    }
    uint64_t complete = issue + class->latency;
    e->issue = issue;
    e->complete = complete;
    o->times[op->rd] = complete;
    o->times[STREAM_NONE] = 0;
    if (__builtin_expect(facts & OOO_MISPREDICTED, 0))
        ooo_fetch_resolve(o, complete);
}

/* Enters the load being dispatched into its queue, except for what ooo_load_enter() sets. */
ALWAYS_INLINE static void enter_load(struct ooo *o, struct ooo_entry *e)
{
    uint32_t place = (uint32_t)o->loads++ & o->load_mask;
    o->load_numbers[place] = o->tail;
    e->memory = (uint16_t)place;
    e->cause = CPI_l1;
}

/* Dispatches a load for which dispatch_load() has no answer, or which is ahead. */
static NOINLINE void dispatch_any_load(struct ooo *o, const struct stream_entry *in,
                                       const struct ooo_class *class, struct ooo_entry *e, bool ahead)
{
    const struct stream_op *op = in->op;
    uint64_t base = o->times[op->rs1];
    if (base == OOO_NEVER) {
        struct ooo_load *load = ooo_load_enter(o, in, e);
        load->deferred = true;
        load->ahead = ahead;
        pend(o, op, e, 1, e->dispatch + 1);
        ooo_result_unknown(o, op->rd);
        return;
    }
    e->issue = ports_take(&o->ports, &class->use, ooo_later(base, e->dispatch + 1));
    ooo_queue_issue(o, e->dispatch, e->issue);
    if (ahead && o->ahead.view.held_for) {
        struct ooo_load *load = ooo_load_enter(o, in, e);
        ooo_result_unknown(o, op->rd);
        ooo_load_hold(o, load, o->ahead.view.held_for, e->issue + class->latency);
        return;
    }
    ooo_load_first(o, in, e, e->issue + class->latency);
}

static void dispatch_load_ahead(struct ooo *o, const struct stream_entry *in, const struct ooo_class *class,
                                struct ooo_entry *e)
{
    enter_load(o, e);
    dispatch_any_load(o, in, class, e, true);
}

/* Dispatches a load. Calls nothing but in the end, so that the common case, a hit that no store affects, saves no registers of
 * the host. */
static NOINLINE void dispatch_load(struct ooo *o, const struct stream_entry *in,
                                   const struct ooo_class *class, struct ooo_entry *e)
{
    const struct stream_op *op = in->op;
    uint64_t ready = ooo_later(o->times[op->rs1], e->dispatch + 1), issue;
    enter_load(o, e);
    if (UNLIKELY(ready - e->dispatch >= OOO_SOON) || UNLIKELY(class->use.special) ||
        UNLIKELY(!ports_try(&o->ports, &class->use, ready, &issue))) {
        dispatch_any_load(o, in, class, e, false);
        return;
    }
    o->queue.issued = ooo_later(o->queue.issued, issue);
    e->issue = issue;
    uint64_t cycle = issue + class->latency;
    if (LIKELY(ooo_load_is_plain(o, in, cycle)) && LIKELY(cache_hit(o->l1d, in->physical, CACHE_LOAD))) {
        e->complete = o->times[op->rd] = cycle + o->hit_clocks;
        o->times[STREAM_NONE] = 0;
        return;
    }
    ooo_load_first(o, in, e, cycle);
}

static NOINLINE void dispatch_store(struct ooo *o, const struct stream_entry *in,
                                    const struct ooo_class *class, struct ooo_entry *e, bool placed)
{
    const struct stream_op *op = in->op;
    uint32_t place = (uint32_t)o->stores & o->store_mask;
    struct ooo_store *store = &o->store_ring[place];
    e->memory = (uint16_t)place;
    store->pc = op->pc;
    store->index = o->stores++;
    store->address = in->address;
    store->physical = in->physical;
    store->size = op->size;
    store->done = OOO_NEVER;
    store->loads = OOO_NONE;
    store->parts = store->started = 0;
    store->level = MEM_LEVEL_L1;
    store->count = 0;
    if (placed)
        ooo_store_enter(o, store);
    uint64_t base = o->times[op->rs1], data = o->times[op->rs2];
    store->data = data;
    store->known = OOO_NEVER;
    e->dependents = OOO_NONE;
    e->complete = OOO_NEVER;
    if (data == OOO_NEVER)
        ooo_depend(o, o->tail, 1, o->producer[op->rs2]);
    if (base == OOO_NEVER) {
        pend(o, op, e, 1, e->dispatch + 1);
        return;
    }
    e->issue = ports_take(&o->ports, &class->use, ooo_later(base, e->dispatch + 1));
    ooo_queue_issue(o, e->dispatch, e->issue);
    store->known = e->issue + class->latency;
    if (data != OOO_NEVER)
        e->complete = ooo_later(store->known, data);
}

/* Dispatches a task. It begins when its nucd is dispatched, and leaves the issue queue once its operands are known. */
static void dispatch_task(struct ooo *o, const struct stream_op *op, struct ooo_entry *e)
{
    uint64_t ready = ooo_later(ooo_later(o->times[op->rs1], o->times[op->rs2]), e->dispatch + 1);
    o->fetch.wait = FETCH_TARGET;
    o->fetch.block = OOO_NEVER;
    o->ahead.stalled = o->ahead.stalls ? o->tail : OOO_NEVER;
    e->dependents = OOO_NONE;
    e->cause = CPI_task;
    if (o->ahead.early)
        e->facts |= OOO_EARLY;
    if (ready == OOO_NEVER)
        pend(o, op, e, 2, e->dispatch + 1);
    ooo_result_unknown(o, op->rd);
    if (ready == OOO_NEVER)
        return;
    ooo_task_issue(o, o->tail, ready);
    ooo_queue_issue(o, e->dispatch, ready);
}

/* Returns the youngest older instruction that must retire to free a queue entry and a register for this one. */
ALWAYS_INLINE static uint64_t makes_room(struct ooo *o, const struct stream_op *op, uint32_t facts,
                                         uint64_t tail, bool rare)
{
    uint64_t number = tail - o->rob;
    if (rare && o->few_registers) {
        if (op->rd < 32)
            number =
                ooo_later(number, o->int_numbers[(uint32_t)(o->int_writes - o->int_renames) & o->int_mask]);
        else if (op->rd < STREAM_NONE)
            number = ooo_later(number, o->fp_numbers[(uint32_t)(o->fp_writes - o->fp_renames) & o->fp_mask]);
    }
    if (ooo_is(facts, OOO_LOAD))
        number = ooo_later(number, o->load_numbers[(uint32_t)(o->loads - o->load_queue) & o->load_mask]);
    return number;
}

/* Records the writer of a register, to find out when a physical register is freed. */
static void count_registers(struct ooo *o, const struct stream_op *op)
{
    if (op->rd < 32)
        o->int_numbers[(uint32_t)o->int_writes++ & o->int_mask] = o->tail;
    else if (op->rd < STREAM_NONE)
        o->fp_numbers[(uint32_t)o->fp_writes++ & o->fp_mask] = o->tail;
}

/* Counts which limit delayed the dispatch. */
static void count_limit(struct ooo *o, const struct stream_op *op, uint32_t facts, uint64_t number)
{
    if (number == o->tail - o->rob)
        o->count.rob_full++;
    else if (ooo_is(facts, OOO_LOAD) &&
             number == o->load_numbers[(uint32_t)(o->loads - o->load_queue) & o->load_mask])
        o->count.load_queue_full++;
    else
        o->count.renames_full += op->rd < STREAM_NONE;
}

/* Returns the first cycle at or after `cycle` in which the store queue has room, or OOO_NEVER if that is unknown. The wait is
 * attributed to the level that answers the oldest store. */
static uint64_t store_room(struct ooo *o, uint64_t cycle, uint64_t *fetched)
{
    static const uint8_t causes[MEM_LEVELS] = {CPI_l1, CPI_l2, CPI_memory};
    uint64_t index = o->stores - o->store_queue;
    if (index >= o->freed)
        return OOO_NEVER;
    const struct ooo_store *store = &o->store_ring[index & o->store_mask];
    if (index < OOO_QUEUE_MOST || store->freed <= cycle)
        return cycle;
    o->count.store_queue_full++;
    *fetched =
        ooo_fetched(*fetched >> OOO_FETCHED_SHIFT, causes[store->level]) | (*fetched & OOO_FETCHED_WRONG);
    return store->freed;
}

/* Finds the cycle of dispatch of the entry at o->position as far as others have to retire first. Returns OOO_NEVER if that is
 * unknown. */
static NOINLINE uint64_t find_cycle(struct ooo *o, const struct stream_op *op, uint32_t facts, bool rare)
{
    uint64_t number = makes_room(o, op, facts, o->tail, rare);
    if (number >= o->head && !ooo_retire(o, number))
        return OOO_NEVER;
    uint64_t *fetched = &o->fetches[o->position];
    uint64_t cycle = ooo_later((*fetched >> OOO_FETCHED_SHIFT) + o->frontend_clocks, o->dispatched_at);
    uint64_t room = ooo_at(o, number)->retire + 1;
    if (room > cycle) {
        count_limit(o, op, facts, number);
        cycle = room;
    }
    if (ooo_is(facts, OOO_STORE)) {
        cycle = store_room(o, cycle, fetched);
        if (cycle == OOO_NEVER)
            return OOO_NEVER;
    }
    return cycle + ((cycle == o->dispatched_at) & (o->dispatched == o->decode_width));
}

/* Returns the number before which the reorder buffer has room for instructions from `tail` on at `cycle`: those that have their
 * places have retired before. 0: none. */
ALWAYS_INLINE static uint64_t find_free(const struct ooo *o, uint64_t tail, uint64_t cycle)
{
    uint64_t end = tail + OOO_LOOKAHEAD, number = end - 1 - o->rob;
    return number < o->head && o->rob_entries[number & o->rob_mask].retire < cycle ? end : 0;
}

/* Returns whether the queue of a load or store has an entry that was left before `cycle`. */
ALWAYS_INLINE static bool has_entry(const struct ooo *o, uint32_t facts, uint64_t cycle)
{
    if (ooo_is(facts, OOO_LOAD)) {
        uint64_t number = o->load_numbers[(uint32_t)(o->loads - o->load_queue) & o->load_mask];
        return number < o->head && o->rob_entries[number & o->rob_mask].retire < cycle;
    }
    if (!ooo_is(facts, OOO_STORE))
        return true;
    uint64_t index = o->stores - o->store_queue;
    return index < o->freed &&
           (index < OOO_QUEUE_MOST || o->store_ring[index & o->store_mask].freed <= cycle);
}

/* Keeps what is known of an entry's fetch until it is dispatched. */
ALWAYS_INLINE static void note_fetched(struct ooo *o, uint32_t i, uint64_t fetched)
{
    o->fetches[i] = fetched;
    o->fetched = o->fetched > i ? o->fetched : i + 1;
}

/* Finds the cycle of dispatch of the next entry, into pace->at. Returns false if it is unknown. */
ALWAYS_INLINE static bool go_to_cycle(struct ooo *o, const struct stream_op *op, uint32_t facts, uint32_t i,
                                      uint64_t *fetched, struct pace *pace, bool rare)
{
    uint64_t cycle;
    if (UNLIKELY(pace->tail >= pace->free) && !(rare && o->few_registers))
        pace->free = find_free(o, pace->tail, pace->at);
    if (LIKELY(pace->tail < pace->free) && LIKELY(has_entry(o, facts, pace->at))) {
        cycle = ooo_later((*fetched >> OOO_FETCHED_SHIFT) + o->frontend_clocks, pace->at);
        cycle += (cycle == pace->at) & (pace->dispatched == o->decode_width);
    } else {
        note_fetched(o, i, *fetched);
        put_back(o, pace);
        cycle = find_cycle(o, op, facts, rare);
        take(o, pace);
        if (cycle == OOO_NEVER)
            return false;
        *fetched = o->fetches[i];
    }
    cycle = ooo_queue_room(o, pace->tail, cycle);
    if (UNLIKELY(cycle == OOO_NEVER)) {
        note_fetched(o, i, *fetched);
        return false;
    }
    pace->dispatched = (cycle == pace->at ? pace->dispatched : 0) + 1;
    pace->at = cycle;
    return true;
}

/* The facts of an entry that the offload mechanism gave. Ahead of a task, a prefetch has no effect. */
static uint32_t kind_ahead(const struct ooo *o, const struct stream_op *op)
{
    if (o->ahead.is_task)
        return OOO_TASK << OOO_KIND_SHIFT | OOO_PARTED;
    if (op->flags & STREAM_PREFETCH)
        return OOO_SPECIAL << OOO_KIND_SHIFT;
    return o->classes[op->id].facts;
}

/* Dispatches the entry of the batch at i, o->position, of which `fetched` tells the fetch. Returns false if that depends on an
 * unknown time. rare: the core is observed, or registers are few. ahead: the offload mechanism gave the entry. */
ALWAYS_INLINE static bool dispatch(struct ooo *o, const struct stream_entry *in, uint32_t i, uint64_t fetched,
                                   struct pace *pace, bool rare, bool ahead)
{
    const struct stream_op *op = in->op;
    const struct ooo_class *class = &o->classes[op->id];
    const uint32_t kind = ahead ? kind_ahead(o, op) : class->facts;
    if (UNLIKELY(!go_to_cycle(o, op, kind, i, &fetched, pace, rare)))
        return false;
    o->queue.due = pace->at;
    struct ooo_entry *e = ooo_at(o, pace->tail);
    e->dispatch = pace->at;
    e->pc = op->pc;
    uint32_t facts = op->rd | kind | ooo_fetched_facts(fetched);
    e->facts = facts;
    e->cause = CPI_dependency;
    e->level = MEM_LEVEL_L1;
    if (rare && o->noting) {
        e->fetch = fetched >> OOO_FETCHED_SHIFT;
        o->insns[pace->tail & o->rob_mask] = *op->insn;
    }
    if (ooo_is(kind, OOO_LOAD)) {
        if (ahead)
            dispatch_load_ahead(o, in, class, e);
        else
            dispatch_load(o, in, class, e);
    } else if (ooo_is(kind, OOO_STORE)) {
        dispatch_store(o, in, class, e, !ahead || o->ahead.view.address_known);
    } else if (ahead && ooo_is(kind, OOO_TASK)) {
        dispatch_task(o, op, e);
    } else {
        dispatch_plain(o, op, class, e, facts);
    }
    if (rare && o->few_registers)
        count_registers(o, op);
    ooo_queue_enter(o, pace->tail);
    o->tail = ++pace->tail;
    o->position = i + 1;
    return true;
}

/* dispatch() for an entry that was fetched before. */
static NOINLINE bool dispatch_fetched(struct ooo *o, bool rare)
{
    uint32_t i = o->position;
    struct pace pace;
    take(o, &pace);
    bool done = dispatch(o, &o->core.stream.entries[i], i, o->fetches[i], &pace, rare, false);
    put_back(o, &pace);
    return done;
}

/* Fetches the entry at i, o->fetched, without counting it, unless it is a branch or jump. Returns false if its cycle is unknown. */
ALWAYS_INLINE static bool fetch(struct ooo *o, const struct stream_entry *in, uint32_t i, uint64_t *fetched)
{
    const struct stream_op *op = in->op;
    uint64_t block = (op->pc + op->length - 1) & o->block_mask;
    if (block != o->fetch.block && !ooo_fetch_enter(o, op, block))
        return false;
    *fetched = o->fetch.fetched;
    if (!(op->flags & (STREAM_BRANCH | STREAM_JUMP)))
        return true;
    bool done = ooo_fetch_control(o, in, i);
    *fetched = o->fetches[i];
    return done;
}

/* Fetches and dispatches entries that have not been fetched. */
ALWAYS_INLINE static bool run_entries(struct ooo *o, bool rare)
{
    const uint32_t count = o->core.stream.count;
    const struct stream_entry *in = &o->core.stream.entries[o->position];
    bool all = true;
    struct pace pace;
    take(o, &pace);
    for (uint32_t i = o->position; i < count; i++, in++) {
        uint64_t fetched;
        all = fetch(o, in, i, &fetched) && dispatch(o, in, i, fetched, &pace, rare, false);
        if (UNLIKELY(!all))
            break;
        o->fetched = i + 1;
    }
    put_back(o, &pace);
    return all;
}

ALWAYS_INLINE static bool run_batch(struct ooo *o, bool rare)
{
    bool all = true;
    while (all && o->position < o->fetched)
        all = dispatch_fetched(o, rare);
    all = all && run_entries(o, rare);
    if (!all && o->position < o->fetched) /* it is fetched, but not dispatched */
        while (o->fetched < o->core.stream.count && ooo_fetch_one(o))
            ;
    return all;
}

bool ooo_run_batch(struct ooo *o)
{
    return o->noting || o->few_registers ? run_batch(o, true) : run_batch(o, false);
}

bool ooo_run_ahead(struct ooo *o)
{
    struct pace pace;
    if (o->fetched == 0) {
        if (!ooo_fetch_one(o))
            return false;
        uint64_t fetched = o->fetches[0];
        if ((fetched >> OOO_FETCHED_SHIFT) + o->frontend_clocks < o->ahead.resumed)
            o->fetches[0] =
                ooo_fetched(fetched >> OOO_FETCHED_SHIFT, o->ahead.cause) | (fetched & OOO_FETCHED_WRONG);
    }
    take(o, &pace);
    bool done = dispatch(o, &o->core.stream.entries[0], 0, o->fetches[0], &pace, true, true);
    put_back(o, &pace);
    return done;
}
