/* The window compared with instruction-by-instruction execution. Harts execute the regions of random programs
 * at random times. Registers, memory and flags must be equal at the end, and traps must be at the same
 * place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/nucd/window.h"
#include "emu/sim/mix.h"
#include "tests/nucd/window/random_program.h"

enum { TASKS = 4, ENTRIES = 512, STEPS_MOST = 200000, NUCDS_MOST = 1024 };

/* A task in flight. */
struct flight {
    struct nucd_task task;
    uint64_t number;
    bool used, launched, finished;
};

/* A task that has run. */
struct past {
    uint64_t number, result;
    uint8_t fflags;
};

/* Counts of events, to show what the test has covered. */
struct seen {
    unsigned stops[WINDOW_SERIAL + 1];
    unsigned deferred, held, squashed, flushed, orphans, again, in_flight[TASKS + 1], hints, traps;
    unsigned overtaken; /* deferred entries before a task that is launched */
};

struct machine {
    struct fixture f;
    struct hart accelerators[TASKS];
    struct nucd_depend tasks;
    struct window *window;
    struct flight flights[TASKS];
    struct past past[ENTRIES]; /* by number; older entries are overwritten */
    struct program random;
    struct seen seen;
    /* Digests of the registers before each executed nucd, by run_inline(); number of nucds committed. */
    uint64_t precise[NUCDS_MOST];
    unsigned nucds;
};

/* Digests the state that a trap handler sees. */
static uint64_t digest(const struct hart *hart)
{
    uint64_t d = hart->pc ^ (uint64_t)hart->fflags << 56 ^ (uint64_t)hart->frm << 48;
    for (unsigned r = 0; r < TEMP; r++) {
        d = (d ^ hart->x[r]) * MIX_FACTOR;
        d = (d ^ d >> 29 ^ hart->f[r]) * UINT64_C(0xd1342543de82ef95);
    }
    return d;
}

static void machine_init(struct machine *m)
{
    struct error err;
    memset(m, 0, sizeof *m);
    fixture_init(&m->f, PROGRAM_BYTES);
    for (unsigned i = 0; i < TASKS; i++)
        assert_true(hart_init(&m->accelerators[i], &m->f.memory, m->f.decoder, &err));
}

static void machine_free(struct machine *m)
{
    for (unsigned i = 0; i < TASKS; i++)
        hart_free(&m->accelerators[i]);
    fixture_free(&m->f);
}

static void add_task(struct machine *m)
{
    static const uint8_t capabilities[] = {0};
    static const struct nucd_limits limits = {.capabilities = capabilities, .accelerators = 1};
    struct nucd_operands operands = {.pc = window_pc(m->window),
                                     .xn = XN,
                                     .xd = XD,
                                     .frm = m->f.hart.frm,
                                     .read = window_read,
                                     .context = m->window};
    struct nucd_task task;
    if (nucd_packet_task(&operands, &limits, &task) != NUCD_WELL_FORMED) {
        (void)window_hint(m->window);
        m->seen.hints++;
        return;
    }
    const struct past *past = &m->past[window_next(m->window) % ENTRIES];
    if (past->number == window_next(m->window)) {
        uint64_t number = window_task(m->window, &task, NUCD_NO_TASK);
        assert_int_equal(window_complete(m->window, number, past->result, past->fflags), WINDOW_NONE);
        m->seen.again++;
        return;
    }
    int slot = nucd_depend_add(&m->tasks, &task, NULL);
    if (slot == NUCD_NO_TASK)
        return;
    m->flights[slot] = (struct flight){.task = task, .used = true};
    m->flights[slot].number = window_task(m->window, &task, slot);
    m->seen.in_flight[__builtin_popcountll(m->tasks.used)]++;
}

/* Returns true when the program has ended. */
static bool dispatch(struct machine *m)
{
    struct window_step step = window_step(m->window);
    m->seen.stops[step.stop]++;
    if (step.stop == WINDOW_NUCD)
        add_task(m);
    if (step.stop == WINDOW_DISPATCHED) {
        const struct window_entry *entry = window_entry(m->window, step.number);
        m->seen.deferred += entry->deferred;
        m->seen.held += entry->held_for != WINDOW_NONE;
    }
    if (step.stop != WINDOW_SERIAL || step.number != WINDOW_NONE)
        return false;
    struct step_report report;
    return hart_step(&m->f.hart, &report) == HART_STOP_TRAP;
}

static void launch(struct machine *m, unsigned slot)
{
    struct flight *flight = &m->flights[slot];
    struct hart *hart = &m->accelerators[slot];
    if (!flight->used || flight->launched || nucd_depend_blocked(&m->tasks, (int)slot) ||
        !window_task_ready(m->window, flight->number))
        return;
    for (unsigned r = 1; r < 32; r++)
        hart->x[r] = hart->f[r] = program_random(&m->random);
    const struct nucd_live_ins *live_ins = &flight->task.live_ins;
    unsigned next = 0;
    for (uint32_t mask = live_ins->mask; mask != 0; mask &= mask - 1)
        hart->x[__builtin_ctz(mask)] = live_ins->value[next++];
    hart->frm = flight->task.frm;
    hart->fflags = 0;
    hart->pc = flight->task.begin;
    hart_flush_code(hart);
    flight->launched = true;
    for (uint64_t i = window_oldest(m->window); i < flight->number; i++)
        m->seen.overtaken += !window_entry(m->window, i)->evaluated && !window_entry(m->window, i)->is_task;
}

static void work(struct machine *m, unsigned slot, unsigned steps)
{
    struct flight *flight = &m->flights[slot];
    struct hart *hart = &m->accelerators[slot];
    for (; steps > 0 && flight->launched && !flight->finished; steps--) {
        struct step_report report;
        assert_int_equal(hart_step(hart, &report), HART_STOP_LIMIT);
        flight->finished = hart->pc == flight->task.end;
    }
}

/* Removes a task that has run from the table. */
static const struct past *retire(struct machine *m, unsigned slot)
{
    struct flight *flight = &m->flights[slot];
    const struct hart *hart = &m->accelerators[slot];
    struct past *past = &m->past[flight->number % ENTRIES];
    assert_true(flight->finished);
    *past = (struct past){flight->number, hart->x[flight->task.result], hart->fflags};
    flight->used = false;
    (void)nucd_depend_complete(&m->tasks, (int)slot);
    return past;
}

/* The tasks from `number` on were squashed: those that were sent finish first. */
static void forget_tasks(struct machine *m, uint64_t number)
{
    for (unsigned slot = 0; slot < TASKS; slot++) {
        struct flight *flight = &m->flights[slot];
        if (!flight->used || flight->number < number || !flight->launched)
            continue;
        work(m, slot, STEPS_MOST);
        (void)retire(m, slot);
        m->seen.orphans++;
    }
    for (unsigned slot = 0; slot < TASKS; slot++) {
        struct flight *flight = &m->flights[slot];
        if (!flight->used || flight->number < number)
            continue;
        flight->used = false;
        if (m->tasks.used >> slot & 1)
            (void)nucd_depend_squash(&m->tasks, (int)slot);
    }
    m->seen.squashed++;
}

static void complete(struct machine *m, unsigned slot)
{
    struct flight *flight = &m->flights[slot];
    if (!flight->used || !flight->finished)
        return;
    const struct past *past = retire(m, slot);
    uint64_t squashed = window_complete(m->window, flight->number, past->result, past->fflags);
    unsigned orphans = m->seen.orphans;
    if (squashed != WINDOW_NONE) {
        forget_tasks(m, squashed);
        assert_int_equal(m->seen.orphans, orphans);
        m->seen.flushed++;
    }
    for (uint64_t i = window_oldest(m->window); m->tasks.used == 0 && i < window_next(m->window); i++)
        assert_true(window_entry(m->window, i)->evaluated);
}

/* Before a nucd, the hart's state is precise. */
static void commit(struct machine *m)
{
    uint64_t number = window_oldest(m->window), end = number + below(&m->random, 20);
    for (; number < end && number < window_next(m->window); number++) {
        const struct window_entry *entry = window_entry(m->window, number);
        if (!entry->evaluated)
            break;
        m->nucds += entry->op.id == INSN_nucd;
    }
    if (number > window_oldest(m->window))
        window_commit(m->window, number - 1);
    if (number < window_next(m->window) && window_entry(m->window, number)->op.id == INSN_nucd)
        assert_int_equal(digest(&m->f.hart), m->precise[m->nucds]);
}

/* Squashes like a fault or an interrupt. */
static void squash(struct machine *m)
{
    uint64_t first = window_oldest(m->window);
    uint64_t number = first + below(&m->random, (unsigned)(window_next(m->window) - first) + 1);
    window_squash(m->window, number);
    forget_tasks(m, number);
}

static bool act(struct machine *m)
{
    unsigned slot = below(&m->random, TASKS), choice = below(&m->random, 100);
    if (choice < 70)
        return dispatch(m);
    if (choice < 80)
        launch(m, slot);
    else if (choice < 88)
        work(m, slot, below(&m->random, 12));
    else if (choice < 91)
        complete(m, slot);
    else if (choice < 99)
        commit(m);
    else if (below(&m->random, 4) == 0)
        squash(m);
    return false;
}

static unsigned any_size(struct program *random)
{
    return below(random, 2) ? 1 + below(random, 8) : 1 + below(random, ENTRIES);
}

static void run_ahead(struct machine *m, uint64_t seed)
{
    struct error err;
    m->random.random = seed * UINT64_C(0xd1342543de82ef95) | 1;
    unsigned rob = any_size(&m->random), stores = any_size(&m->random);
    nucd_depend_init(&m->tasks, 1 + below(&m->random, TASKS), below(&m->random, 4) ? NUCD_LINE : 4096);
    memset(m->flights, 0, sizeof m->flights);
    memset(m->past, 0, sizeof m->past);
    m->nucds = 0;
    m->window = window_new(&m->f.hart, &m->tasks, rob, stores, &err);
    assert_non_null(m->window);
    unsigned steps = 0;
    while (!act(m))
        assert_true(++steps < STEPS_MOST);
    window_free(m->window);
}

static void run_inline(struct fixture *f, uint64_t precise[NUCDS_MOST])
{
    struct step_report report;
    unsigned steps = 0, nucds = 0;
    uint64_t before = digest(&f->hart);
    while (hart_step(&f->hart, &report) != HART_STOP_TRAP) {
        assert_true(++steps < STEPS_MOST && nucds < NUCDS_MOST);
        if (report.insn.id == INSN_nucd)
            precise[nucds++] = before;
        before = digest(&f->hart);
    }
}

enum { PROGRAMS = 8000 };

static void programs_mean_what_they_say(void **state)
{
    (void)state;
    struct fixture wanted;
    struct machine *m = malloc(sizeof *m);
    assert_non_null(m);
    fixture_init(&wanted, PROGRAM_BYTES);
    machine_init(m);
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        program_make(&wanted, seed, true);
        program_make(&m->f, seed, true);
        run_inline(&wanted, m->precise);
        run_ahead(m, seed);
        m->seen.traps += m->f.hart.trap.cause != TRAP_BREAKPOINT;
        program_compare(&wanted.hart, &wanted.memory, &m->f.hart, &m->f.memory, true, seed);
    }
    for (unsigned stop = 0; stop <= WINDOW_SERIAL; stop++)
        assert_true(m->seen.stops[stop] > PROGRAMS / 50);
    for (unsigned tasks = 1; tasks <= TASKS; tasks++)
        assert_true(m->seen.in_flight[tasks] > PROGRAMS / 50);
    assert_true(m->seen.deferred > PROGRAMS && m->seen.held > PROGRAMS / 2 &&
                m->seen.overtaken > PROGRAMS / 50);
    assert_true(m->seen.squashed > PROGRAMS / 50 && m->seen.flushed > PROGRAMS / 100 &&
                m->seen.hints > PROGRAMS / 50 && m->seen.traps > 20 && m->seen.again > PROGRAMS / 50);
    machine_free(m);
    fixture_free(&wanted);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_mean_what_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
