/* Idle load-to-use latency of the built-in machines and of those of tests/machine: the whole path, from a
 * core through its caches, the crossbar and the controller to the devices and back, is the sum of the parts
 * listed here, to the femtosecond. Each part comes from the machine's description or the standard's
 * datasheet; none is read from the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/machine/timed/state.h"
#include "isa/decode.h"
#include "tests/isa/encode.h"

#define BASE UINT64_C(0x80000000)
#define SIZE UINT64_C(0x100000)

enum {
    LOADS = 5,
    PHASES = 20,  /* starts, a core clock apart, for all phases between the clocks */
    POINTER = 10, /* a0 */
};
#define PS(value) ((value)*UINT64_C(1000))

/* Times are in clocks of the named domain; those of devices are in ps and whole clocks. A line has 64 bytes.
 * If it needs two bursts, the second comes `second` after the first. */
struct path {
    const char *machine;
    unsigned core;       /* 0: the host's; for nucd, 1: the first accelerator */
    uint64_t stride;     /* bytes between lines in different banks without open rows */
    uint64_t core_clock; /* ps */
    uint64_t l1_lookup;  /* core clocks: l1d.hit_clocks */
    uint64_t l2_lookup;  /* host clocks: l2.tag_clocks; 0: the caches are not coherent with the host */
    uint64_t l2_fill;    /* host clocks: l2.fill_clocks */
    uint64_t cross;      /* crossbar clocks: crossbar.latency; 0: no crossbar */
    uint64_t cross_data; /* crossbar clocks: latency, plus one for the second half of 64 bytes on 32 B */
    uint64_t tCK, front, tRCDRD, second, tCL, tBURST, back;
    const char *memory; /* path of the memory of the lines; NULL: the only one */
    uint64_t first;     /* offset of the first line from the code */
    uint64_t links[2];  /* GB/s of the links between crossbars, from the core on; 0: none */
};

/* The crossbar's clock is 1 GHz in all machines that have one. */
enum { CROSSBAR_CLOCK = 1000 };

/* 64 B on 32 B take a second clock in a crossbar. With the stack's bits above the vault's, 2 KiB are in one
 * stack. */
#define CUBE 500, 2, 4, 2, 2, 3, 1600, 0, 14400, 0, 14400, 6400, 0
#define NEAR "tests/machine/tree.yaml", 0, 128, CUBE, "stack.0.dram"
#define FAR  "tests/machine/tree.yaml", 0, 128, CUBE, "module.4.dram"

static const struct path paths[] = {
    /* 64 B are one burst; banks are 8 KiB apart. 13.75 ns are 11 clocks. */
    {"ddr3", 0, 8192, 500, 2, 4, 2, 0, 0, 1250, 0, 13750, 0, 13750, 5000, 0, NULL, 0, {0, 0}},
    /* Two bursts of 32 B, in two bank groups: the second activate comes tRRD = 6 ns after the first. */
    {"gddr5", 0, 256, 500, 2, 4, 2, 0, 0, 1000, 0, 12000, 6000, 12000, 2000, 0, NULL, 0, {0, 0}},
    {"hbm1", 0, 64, 500, 2, 4, 2, 0, 0, 2000, 0, 14000, 0, 14000, 4000, 0, NULL, 0, {0, 0}},
    /* Two bursts of 32 B in one row: tCCD = 3.2 ns, 4 clocks. tRCD 10.2 ns and tCL 9.9 ns are 13 clocks each.
     * The controller takes 4 ns in each direction. */
    {"hmc", 0, 256, 500, 2, 4, 2, 0, 0, 800, 4000, 10400, 3200, 10400, 3200, 4000, NULL, 0, {0, 0}},
    /* 13.75 ns are 9 clocks of 1.6 ns. */
    {"hmc_tom", 0, 128, 500, 2, 4, 2, 0, 0, 1600, 0, 14400, 0, 14400, 6400, 0, NULL, 0, {0, 0}},
    {"nucd", 0, 64, 500, 2, 4, 2, 2, 3, 2000, 0, 14000, 0, 14000, 4000, 0, NULL, 0, {0, 0}},
    {"nucd", 1, 64, 1000, 2, 0, 0, 2, 3, 2000, 0, 14000, 0, 14000, 4000, 0, NULL, 0, {0, 0}},
    {"tests/machine/stacks.yaml", 0, 128, CUBE, "stack.2.dram", 2 * 2048, {80, 0}},
    /* Memories are numbered in the tree's order: the eight of the outer modules, then those of the centre. */
    {NEAR, 8 * 2048, {160, 0}},
    {FAR, 4 * 2048, {80, 80}},
};

/* A link's packet is a header of one 16-byte flit, plus the line's 64 B on the way back. It arrives the
 * link's latency after its last byte. */
enum { LINK_LATENCY = 11000, LINK_REQUEST = 16, LINK_RESPONSE = 80 };

/* Returns the first edge at or after `time`. */
static uint64_t edge(uint64_t time, uint64_t period)
{
    return (time + period - 1) / period * period;
}

/* Returns when the value of a load issued at `time` (ps) can be used, summed part by part. */
static uint64_t value_at(const struct path *p, uint64_t time)
{
    time += p->l1_lookup * p->core_clock;
    time += p->l2_lookup * p->core_clock;
    if (p->cross)
        time = edge(time, CROSSBAR_CLOCK) + p->cross * CROSSBAR_CLOCK;
    for (unsigned i = 0; i < 2 && p->links[i]; i++) {
        time += LINK_REQUEST * UINT64_C(1000) / p->links[i] + LINK_LATENCY;
        time = edge(time, CROSSBAR_CLOCK) + p->cross * CROSSBAR_CLOCK;
    }
    time = edge(time, p->tCK) + p->front;
    time += p->tRCDRD + p->second + p->tCL + p->tBURST + p->back;
    if (p->cross)
        time = edge(time, CROSSBAR_CLOCK) + p->cross_data * CROSSBAR_CLOCK;
    for (unsigned i = 2; i-- > 0;) {
        if (!p->links[i])
            continue;
        time += LINK_RESPONSE * UINT64_C(1000) / p->links[i] + LINK_LATENCY;
        time = edge(time, CROSSBAR_CLOCK) + p->cross_data * CROSSBAR_CLOCK;
    }
    return edge(time, p->core_clock) + p->l2_fill * p->core_clock;
}

/* A machine with a chase through untouched lines. */
struct chase {
    struct core_observer observer;
    const struct path *path;
    struct machine_config machine;
    struct phys memory;
    struct decoder *decoder;
    struct hart harts[2];
    struct timed *timed;
    unsigned apart; /* 0: each load waits for the previous one; 1: none does */
    unsigned loads;
    uint64_t last; /* ps: arrival of the previous value */
};

static void retired(void *context, const struct core *core, const struct core_note *note)
{
    struct chase *chase = context;
    const struct path *path = chase->path;
    (void)core;
    if (note->insn.id != INSN_ld)
        return;
    uint64_t issue = note->issue * path->core_clock, complete = note->complete * path->core_clock;
    assert_int_equal(note->level, MEM_LEVEL_MEMORY);
    if (chase->loads++ > 0)
        assert_int_equal(issue, chase->last); /* the next load waits only for this value */
    if (complete != value_at(path, issue))
        fail_msg("%s, core %u: a load at %llu ps has its value at %llu ps, but its parts make %llu ps",
                 path->machine, path->core, (unsigned long long)issue, (unsigned long long)complete,
                 (unsigned long long)value_at(path, issue));
    chase->last = complete;
}

static void put(struct chase *chase, uint64_t address, const void *bytes, size_t size)
{
    memcpy(phys_at(&chase->memory, address, size), bytes, size);
}

/* One line of code: loads of a0 from the address in a0, or loads with a separate register each; then the
 * end. */
static void write_program(struct chase *chase)
{
    const struct operands none = {0};
    for (unsigned i = 0; i <= LOADS; i++) {
        uint8_t pointer = (uint8_t)(POINTER + i * chase->apart);
        const struct operands load = {.rd = pointer, .rs1 = pointer};
        uint32_t code = i < LOADS ? encode(INSN_ld, &load) : encode(INSN_ecall, &none);
        uint64_t next = BASE + chase->path->first + (i + 1) * chase->path->stride;
        put(chase, BASE + 4 * i, &code, sizeof code);
        if (i > 0)
            put(chase, BASE + chase->path->first + i * chase->path->stride, &next, sizeof next);
    }
}

/* queues: among which the machine's parts are divided. */
static struct chase *chase_new(const struct path *path, unsigned apart, unsigned queues)
{
    static const char *const idle[] = {"host.l1d.prefetch=none", "accel.l1d.prefetch=none",
                                       "l2.prefetch=none"};
    struct chase *chase = calloc(1, sizeof *chase);
    struct error err;
    size_t sets =
        strcmp(path->machine, "nucd") == 0 ? sizeof idle / sizeof *idle : 0; /* it has prefetchers */
    assert_non_null(chase);
    chase->path = path;
    chase->apart = apart;
    chase->decoder = decoder_new();
    if (!machine_load(&chase->machine, path->machine, "emu/machine/shipped", idle, sets, &err) ||
        !phys_init(&chase->memory, BASE, SIZE, &err))
        fail_msg("%s", err.text);
    for (unsigned i = 0; i < 2; i++)
        if (!hart_init(&chase->harts[i], &chase->memory, chase->decoder, &err))
            fail_msg("%s", err.text);
    const struct timed_options options = {
        .machine = &chase->machine, .max_time = UINT64_MAX, .check_dram = true, .queues = queues};
    chase->timed = timed_new(&options, chase->harts, path->core + 1, &err);
    if (!chase->timed)
        fail_msg("%s", err.text);
    chase->observer = (struct core_observer){.retired = retired, .context = chase};
    core_observe(chase->timed->cores[path->core].core, &chase->observer);
    write_program(chase);
    return chase;
}

static void chase_free(struct chase *chase)
{
    timed_free(chase->timed);
    for (unsigned i = 0; i < 2; i++)
        hart_free(&chase->harts[i]);
    phys_free(&chase->memory);
    decoder_free(chase->decoder);
    machine_free(&chase->machine);
    free(chase);
}

static void begin(struct chase *chase, uint64_t start)
{
    struct core *core = chase->timed->cores[chase->path->core].core;
    struct hart *hart = &chase->harts[chase->path->core];
    hart->pc = BASE;
    for (unsigned i = 0; i < LOADS; i++)
        hart->x[POINTER + i] = BASE + chase->path->first + (i + 1) * chase->path->stride;
    core->limit = UINT64_MAX;
    core_wake(core, PS(start));
}

static bool step(struct chase *chase)
{
    const struct scheduler *scheduler = &chase->timed->scheduler;
    return scheduler->step ? scheduler->step(scheduler->step_context, scheduler->queue)
                           : event_queue_step(scheduler->queue);
}

static void run(struct chase *chase, uint64_t start)
{
    begin(chase, start);
    while (!chase->timed->scheduler.stopped)
        assert_true(step(chase));
    assert_int_equal(chase->timed->scheduler.stop, HART_STOP_TRAP);
    assert_int_equal(chase->harts[chase->path->core].x[POINTER],
                     BASE + chase->path->first + (LOADS + 1) * chase->path->stride);
}

static void loads_take_the_sum_of_their_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        print_message("%-8s core %u: %.1f ns from an edge of all clocks\n", paths[i].machine, paths[i].core,
                      (double)value_at(&paths[i], 0) * 1e-3);
        for (uint64_t phase = 0; phase < PHASES; phase++) {
            struct chase *chase = chase_new(&paths[i], 0, 1 + (unsigned)(phase % 3));
            run(chase, phase * paths[i].core_clock);
            assert_int_equal(chase->loads, LOADS);
            assert_int_equal(timed_finish(chase->timed, NULL), 0);
            /* The loads' lines, and the code's if it is in the same memory; each burst is from a closed
             * row. */
            uint64_t lines = LOADS + (paths[i].first == 0), bursts = lines * (paths[i].second ? 2 : 1);
            const struct dram_memory *memory =
                builder_object(&chase->timed->builder,
                               tree_find(chase->machine.tree, paths[i].memory ? paths[i].memory : "dram"));
            assert_int_equal(DRAM_MEMORY_SUM(memory, reads), bursts);
            chase_free(chase);
        }
    }
}

/* A run may end with requests anywhere under way; sanitizers check that all parts are freed. */
static void machines_end_at_any_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) /* large machines take long to make */
        for (unsigned events = 0, ended = false; !ended; events += paths[i].links[0] ? 23 : 1) {
            struct chase *chase = chase_new(&paths[i], 1, 1 + events % 3);
            core_unobserve(chase->timed->cores[paths[i].core].core, &chase->observer);
            begin(chase, 0);
            for (unsigned n = 0; n < events && !ended; n++)
                ended = !step(chase) || chase->timed->scheduler.stopped;
            chase_free(chase);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_take_the_sum_of_their_parts),
        cmocka_unit_test(machines_end_at_any_time),
    };
    return cmocka_run_group_tests_name("load-to-use latency of the shipped machines", tests, NULL, NULL);
}
