#include "emu/nucd/window/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/hart.h"

struct window *window_new(struct hart *hart, const struct nucd_depend *tasks, unsigned size, unsigned stores,
                          struct error *err)
{
    assert(size >= 1 && size <= WINDOW_MOST && stores >= 1 && stores <= WINDOW_MOST);
    uint64_t places = 1;
    while (places <= size) /* the entry after the youngest is filled in before it is dispatched */
        places *= 2;
    struct window *w = calloc(1, sizeof *w + places * sizeof w->entries[0]);
    uint64_t *ring = calloc(places, sizeof *ring);
    if (!w || !ring) {
        (void)error_set(err, "no memory for a window of %u instructions: %s", size, strerror(errno));
        free(w);
        free(ring);
        return NULL;
    }
    w->hart = hart;
    w->tasks = tasks;
    w->size = size;
    w->stores_limit = stores;
    w->stores = ring;
    w->mask = places - 1;
    w->head = w->tail = WINDOW_NONE + 1;
    return w;
}

void window_free(struct window *w)
{
    free(w->stores);
    free(w);
}

uint64_t window_pc(const struct window *w)
{
    return w->head == w->tail ? w->hart->pc : window_seen(w, w->tail - 1)->next_pc;
}

uint64_t window_oldest(const struct window *w)
{
    return w->head;
}

uint64_t window_next(const struct window *w)
{
    return w->tail;
}

const struct window_entry *window_entry(const struct window *w, uint64_t number)
{
    assert(number >= w->head && number < w->tail);
    return window_seen(w, number);
}

/* The memory view of the instruction being evaluated. */
struct view {
    struct window *window;
    struct window_entry *entry;
    enum window_result result;
};

static bool view_load(void *context, uint64_t address, unsigned size, uint64_t *value)
{
    struct view *view = context;
    struct window_entry *entry = view->entry;
    view->result = WINDOW_REFUSED;
    entry->held_for = WINDOW_NONE;
    entry->address = address;
    if (!entry->address_known)
        entry->address_known = window_locate(view->window, address, size, false, &entry->physical);
    if (entry->address_known)
        view->result = window_load(view->window, entry, size, value);
    return view->result == WINDOW_DONE;
}

/* Fills in the operands whose producers are evaluated. Returns whether all operands are known. */
static bool collect(struct window *w, struct window_entry *entry)
{
    bool all = true;
    for (unsigned i = 0; i < DEFER_OPERANDS; i++) {
        if (entry->producer[i] == WINDOW_NONE)
            continue;
        const struct window_entry *producer = window_seen(w, entry->producer[i]);
        if (producer->evaluated) {
            entry->input.operand[i] = producer->result;
            entry->producer[i] = WINDOW_NONE;
        }
        all &= producer->evaluated;
    }
    return all;
}

/* Stores the address of a store, which can be known before its data: in all store formats the address depends
 * on rs1 only. */
static enum window_result place_store(struct window *w, struct window_entry *entry,
                                      const struct defer_outcome *outcome)
{
    if (!entry->address_known) {
        if (!window_locate(w, outcome->address, outcome->size, true, &entry->physical))
            return WINDOW_REFUSED;
        entry->address = outcome->address;
        entry->address_known = true;
        window_count_lines(w, entry, 1);
    }
    entry->data = outcome->data;
    return WINDOW_DONE;
}

enum window_result window_evaluate(struct window *w, struct window_entry *entry)
{
    struct view view = {w, entry, WINDOW_REFUSED};
    struct defer_outcome outcome;
    bool store = entry->op.flags & STREAM_STORE, all = collect(w, entry);
    if (!all && (!store || entry->producer[0] != WINDOW_NONE))
        return WINDOW_WAIT;
    const struct defer_view memory = {view_load, &view};
    if (!defer_evaluate(&entry->insn, &entry->input, &memory, &outcome))
        return view.result;
    if (store && place_store(w, entry, &outcome) == WINDOW_REFUSED)
        return WINDOW_REFUSED;
    if (!all)
        return WINDOW_WAIT;
    entry->result = outcome.result;
    entry->next_pc = outcome.next_pc;
    entry->fflags = outcome.fflags;
    entry->evaluated = true;
    return WINDOW_DONE;
}

/* Squashes from the first instruction that was fetched from bytes that the store writes, after the store's
 * address has become known. */
static void squash_stale(struct window *w, const struct window_entry *store)
{
    for (uint64_t number = store->number + 1; number < w->tail; number++)
        if (window_is_stale(window_seen(w, number), store))
            window_squash(w, number);
}

/* Evaluates all entries after `number` that can be. One pass is enough, because entries wait only for older
 * ones. */
static void evaluate_behind(struct window *w, uint64_t number)
{
    while (++number < w->tail) {
        struct window_entry *entry = window_at(w, number);
        if (entry->evaluated || entry->is_task)
            continue;
        bool placed = entry->address_known;
        if (window_evaluate(w, entry) == WINDOW_REFUSED) {
            window_squash(w, number);
        } else if ((entry->op.flags & STREAM_STORE) && entry->address_known && !placed) {
            w->unknown--;
            squash_stale(w, entry);
        }
    }
}

uint64_t window_complete(struct window *w, uint64_t number, uint64_t result, uint8_t fflags)
{
    struct window_entry *entry = window_at(w, number);
    uint64_t tail = w->tail;
    assert(number >= w->head && number < tail && entry->is_task && !entry->evaluated);
    entry->result = result;
    entry->fflags = fflags;
    entry->evaluated = true;
    evaluate_behind(w, number);
    return w->tail == tail ? WINDOW_NONE : w->tail;
}

/* Returns whether the access must be committed before the task starts. */
static bool is_in_way(const struct window_entry *entry, const struct nucd_depend_entry *task)
{
    uint64_t last = entry->address + entry->op.size - 1;
    if (!(entry->op.flags & (STREAM_LOAD | STREAM_STORE)))
        return false;
    if (nucd_depend_writes(task, entry->address, last))
        return true;
    return (entry->op.flags & STREAM_STORE) && nucd_depend_reads(task, entry->address, last);
}

/* Returns whether the entry can neither trap nor squash younger ones any more. Branches are evaluated when they are
 * dispatched, arithmetic does not trap, and an access whose address is known has been translated. */
static bool is_settled(const struct window_entry *entry)
{
    return entry->evaluated || entry->is_task || entry->address_known ||
           !(entry->op.flags & (STREAM_LOAD | STREAM_STORE));
}

bool window_task_ready(const struct window *w, uint64_t number)
{
    const struct nucd_depend_entry *task = &w->tasks->entry[window_seen(w, number)->slot];
    for (uint64_t older = w->head; older < number; older++) {
        const struct window_entry *entry = window_seen(w, older);
        if (!is_settled(entry) || is_in_way(entry, task))
            return false;
    }
    return true;
}

/* Sets FS to Dirty after a write of floating-point state (privileged specification, section 3.1.6.6). If FS
 * is Off, only a task can have written it, with its accelerator's floating-point unit; the host's FS stays
 * Off. */
static void make_fp_dirty(struct hart *hart)
{
    uint64_t status = hart->priv.mstatus & MSTATUS_FS;
    if (status == MSTATUS_FS || status == 0)
        return;
    hart->priv.mstatus |= MSTATUS_FS;
    priv_changed(hart);
}

static void write_memory(struct window *w, const struct window_entry *entry)
{
    memcpy(phys_at(w->hart->memory, entry->physical, entry->op.size), &entry->data, entry->op.size);
    phys_note_store(w->hart->memory, entry->physical, entry->op.size);
    window_count_lines(w, entry, -1);
    w->store_head++;
}

static void commit_oldest(struct window *w)
{
    const struct window_entry *entry = window_at(w, w->head);
    struct hart *hart = w->hart;
    assert(entry->evaluated);
    if (entry->op.flags & STREAM_STORE)
        write_memory(w, entry);
    if (entry->op.rd < 32)
        hart->x[entry->op.rd] = entry->result;
    else if (entry->op.rd != STREAM_NONE)
        hart->f[entry->op.rd - 32] = entry->result;
    if (entry->fflags || (entry->op.rd >= 32 && entry->op.rd != STREAM_NONE))
        make_fp_dirty(hart);
    hart->fflags |= entry->fflags;
    hart->pc = entry->next_pc;
    hart->instret++;
    hart->stepped[entry->op.iclass]++;
    w->head++;
}

void window_commit(struct window *w, uint64_t number)
{
    assert(number < w->tail);
    while (w->head <= number)
        commit_oldest(w);
}

static void forget_stores(struct window *w, uint64_t number)
{
    while (w->store_tail > w->store_head && window_store(w, w->store_tail - 1) >= number) {
        const struct window_entry *store = window_seen(w, window_store(w, --w->store_tail));
        if (store->address_known)
            window_count_lines(w, store, -1);
        else
            w->unknown--;
    }
}

void window_squash(struct window *w, uint64_t number)
{
    assert(number >= w->head && number <= w->tail);
    forget_stores(w, number);
    w->tail = number;
    memset(w->writer, 0, sizeof w->writer);
    for (uint64_t i = w->head; i < w->tail; i++) {
        unsigned rd = window_seen(w, i)->op.rd;
        if (rd != STREAM_NONE)
            w->writer[rd] = i;
    }
}
