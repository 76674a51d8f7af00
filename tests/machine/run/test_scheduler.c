/* The run loop. What holds for all systems is tested on a system without a clock and on machine ddr3, whose
 * core runs by events. Programs are assembled instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/probe.h"
#include "emu/machine/timed/state.h"
#include "isa/decode.h"
#include "tests/isa/encode.h"

#define BASE   UINT64_C(0x80000000)
#define SIZE   UINT64_C(0x100000)
#define SECOND UINT64_C(1000000000) /* ns */

enum { A0 = 10, CALLS = 16, QUANTUM = 100, LONG_CALL = 1500000 };

/* The trap hook's action at a call. */
enum action { SERVE, EXIT, REFUSE, SLEEP, INTERRUPT, WAIT, EXECUTE, EXECUTE_AND_INTERRUPT };

struct rig {
    struct machine_config machine;
    struct phys memory;
    struct decoder *decoder;
    struct system system;
    struct timed *timed; /* NULL: harts run in rounds */
    uint64_t at;         /* address of the next instruction */
    enum action action;
    uint64_t sleep; /* ns */
    unsigned calls, markers, updates;
    unsigned last_update;      /* the one that interrupts the system; 0: none does */
    uint64_t time[CALLS];      /* ns: times at which calls were served */
    uint64_t demand, executed; /* EXECUTE: instructions of a call; instructions executed so far */
    bool waited;               /* result of scheduler_wait() */
    bool arrived;
    uint64_t arrivals; /* changes for scheduler_wait() */
    struct event arrival;
};

static unsigned looks; /* calls of has_arrived() */

static bool has_arrived(const void *context)
{
    looks++;
    return ((const struct rig *)context)->arrived;
}

static void arrive(void *owner, uint64_t now)
{
    struct rig *rig = owner;
    (void)now;
    rig->arrived = true;
    rig->arrivals++;
}

/* Interrupts the system at this time, as a signal's handler would. */
static void interrupt(void *owner, uint64_t now)
{
    (void)now;
    system_interrupt(&((struct rig *)owner)->system);
}

static void hook_update(void *context)
{
    struct rig *rig = context;
    if (++rig->updates == rig->last_update)
        system_interrupt(&rig->system);
}

/* A quantum of a call that takes rig->demand instructions. Returns true when the call is over. */
static bool execute(struct rig *rig)
{
    uint64_t quantum = system_open_call(&rig->system, rig->executed);
    quantum = quantum < rig->demand ? quantum : rig->demand;
    rig->executed += quantum;
    rig->demand -= quantum;
    system_count_call(&rig->system, rig->executed, rig->demand == 0);
    return rig->demand == 0;
}

static bool hook_trap(void *context, struct hart *hart)
{
    struct rig *rig = context;
    assert_true(rig->calls < CALLS);
    rig->time[rig->calls++] = system_nanoseconds(&rig->system);
    switch (rig->action) {
    case REFUSE: return false;
    case EXIT: system_exit(&rig->system, 7); break;
    case SLEEP: system_sleep(&rig->system, rig->sleep); break;
    case INTERRUPT: system_interrupt(&rig->system); break;
    case WAIT: rig->waited = scheduler_wait(rig->system.scheduler, has_arrived, rig, &rig->arrivals); break;
    case EXECUTE_AND_INTERRUPT: system_interrupt(&rig->system); /* fall through */
    case EXECUTE:
        if (execute(rig))
            break;
        return true;
    case SERVE: break;
    }
    hart_retire_call(hart);
    return true;
}

static void hook_semihosting(void *context, struct hart *hart)
{
    struct rig *rig = context;
    rig->time[rig->calls++] = system_nanoseconds(&rig->system);
    if (rig->action == EXECUTE_AND_INTERRUPT)
        system_interrupt(&rig->system);
    if (execute(rig))
        hart_retire_call(hart);
}

static bool hook_marker(void *context, struct hart *hart)
{
    struct rig *rig = context;
    (void)hart;
    rig->markers++;
    return true;
}

static struct rig *rig_make(const char *machine, unsigned harts, unsigned hosts, const char *set);

/* Makes a system of a user program on several hosts of the machine. */
static struct rig *rig_new_user(const char *machine, unsigned hosts)
{
    return rig_make(machine, 0, hosts, NULL);
}

/* Makes a system of a user program (harts: 0) or of that many privileged harts; on the machine, if it is not
 * NULL. */
static struct rig *rig_new(const char *machine, unsigned harts, const char *set)
{
    return rig_make(machine, harts, 1, set);
}

static struct rig *rig_make(const char *machine, unsigned harts, unsigned hosts, const char *set)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err = {""};
    char count[32];
    const char *sets[] = {count, set};
    (void)snprintf(count, sizeof count, "host.count=%u", harts ? harts : hosts);
    assert_non_null(rig);
    rig->at = BASE;
    rig->decoder = decoder_new();
    if (!phys_init(&rig->memory, BASE, SIZE, &err) ||
        !(harts ? system_init(&rig->system, harts, QUANTUM, &rig->memory, rig->decoder, &err)
                : system_init_user(&rig->system, hosts, 0, &rig->memory, rig->decoder, &err)))
        fail_msg("%s", err.text);
    for (unsigned i = 0; i < rig->system.count; i++)
        rig->system.harts[i].pc = BASE;
    rig->system.hooks = (struct system_hooks){.update = hook_update,
                                              .marker = hook_marker,
                                              .semihosting = hook_semihosting,
                                              .trap = harts ? NULL : hook_trap,
                                              .context = rig};
    if (!machine)
        return rig;
    if (!machine_load(&rig->machine, machine, "emu/machine/shipped", sets, set ? 2 : 1, &err))
        fail_msg("%s", err.text);
    const struct timed_options options = {.machine = &rig->machine, .max_time = UINT64_MAX};
    rig->timed = timed_new(&options, rig->system.harts, rig->system.count, &err);
    if (!rig->timed)
        fail_msg("%s", err.text);
    timed_attach(rig->timed, &rig->system);
    return rig;
}

static void rig_free(struct rig *rig)
{
    timed_free(rig->timed);
    system_free(&rig->system);
    phys_free(&rig->memory);
    decoder_free(rig->decoder);
    if (rig->timed)
        machine_free(&rig->machine);
    free(rig);
}

static void emit_operands(struct rig *rig, enum insn_id id, struct operands operands)
{
    uint32_t code = encode(id, &operands);
    memcpy(phys_at(&rig->memory, rig->at, 4), &code, 4);
    rig->at += 4;
}
#define EMIT(rig, name, ...) emit_operands(rig, INSN_##name, (struct operands){__VA_ARGS__})

/* a0++; ecall; a0++; then back: four instructions a turn. */
static void emit_calls(struct rig *rig)
{
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 1);
    EMIT(rig, ecall, .rd = 0);
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 1);
    EMIT(rig, jal, .rd = 0, .imm = -12);
}

/* Machines; NULL: rounds. */
enum { PACES = 2 };
static const char *const paces[PACES] = {NULL, "ddr3"};

/* Two hosts of a user program: the calls of each in order, with the time of each in ns. */
struct pair {
    struct rig *rig;
    unsigned calls[2];
    uint64_t time[2][CALLS];
};

/* The first host sleeps from its first call until the other one's second; then the call is served again. Its third call lets it
 * sleep for 5 us, which does not delay the other one, whose tenth call ends the run. */
static bool serve_pair(void *context, struct hart *hart)
{
    struct pair *pair = context;
    struct system *system = &pair->rig->system;
    unsigned host = hart->hartid, call = pair->calls[host]++;
    pair->time[host][call] = system_nanoseconds(system);
    if (host == 0 && call == 0) {
        system->harts[1].pc = BASE;
        system_resume(system, 1, false);
        system_suspend(system, 0);
        return true;
    }
    if (host == 1 && call == 1)
        system_resume(system, 0, true);
    if (host == 0 && call == 3)
        system_sleep(system, 5000);
    if (host == 1 && call == 9)
        system_exit(system, 0);
    hart_retire_call(hart);
    return true;
}

static void hosts_sleep_until_they_are_resumed(void **state)
{
    enum { HOSTS = 2 };
    (void)state;
    struct rig *rig = rig_new_user("ddr3", HOSTS);
    struct pair pair = {.rig = rig};
    emit_calls(rig);
    rig->system.hooks = (struct system_hooks){.trap = serve_pair, .context = &pair};
    assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_EXIT);
    assert_int_equal(pair.calls[1], 10);
    /* served again at the time of the other one's second call, after no instruction */
    assert_int_equal(pair.time[0][1], pair.time[1][1]);
    assert_int_equal(rig->system.harts[0].x[A0] % 2, 1);
    assert_true(pair.calls[0] == 4 || pair.time[0][4] >= pair.time[0][3] + 5000);
    for (unsigned i = 2; i < 10; i++)
        assert_true(pair.time[1][i] - pair.time[1][i - 1] < 1000);
    rig_free(rig);
}

static void limits_are_exact(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        struct hart *hart = &rig->system.harts[0];
        emit_calls(rig);
        assert_int_equal(system_run(&rig->system, 10), SYSTEM_LIMIT);
        assert_int_equal(hart->instret, 10);
        assert_int_equal(hart->pc, BASE + 8); /* two turns and two instructions */
        assert_int_equal(rig->calls, 3);
        assert_int_equal(system_run(&rig->system, 0), SYSTEM_LIMIT);
        assert_int_equal(hart->instret, 10);
        rig->system.max_insns = 13; /* limit of the whole run */
        assert_int_equal(system_run(&rig->system, 2), SYSTEM_LIMIT);
        assert_int_equal(hart->instret, 12);
        assert_int_equal(system_run(&rig->system, 100), SYSTEM_LIMIT);
        assert_int_equal(hart->instret, 13);
        assert_int_equal(hart->x[A0], 7);
        rig_free(rig);
    }
}

static void a_call_is_one_step(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        struct hart *hart = &rig->system.harts[0];
        emit_calls(rig);
        rig->system.motion[0] = SYSTEM_STEP;
        for (unsigned i = 1; i <= 3; i++) {
            assert_int_equal(system_run(&rig->system, 100), SYSTEM_STEPPED);
            assert_int_equal(hart->instret, i);
            assert_int_equal(hart->pc, BASE + 4 * i);
            assert_int_equal(rig->calls, i > 1);
        }
        rig->system.motion[0] = SYSTEM_GO;
        rig->action = EXIT; /* a step also reports the end of the program */
        assert_int_equal(system_run(&rig->system, 2), SYSTEM_LIMIT);
        rig->system.motion[0] = SYSTEM_STEP;
        assert_int_equal(system_run(&rig->system, 100), SYSTEM_EXIT);
        assert_int_equal(rig->system.status, 7);
        rig_free(rig);
    }
}

static void traps_that_nobody_serves_end_a_run(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        struct hart *hart = &rig->system.harts[0];
        emit_calls(rig);
        rig->action = REFUSE;
        for (unsigned i = 1; i <= 2; i++) { /* repeatedly */
            assert_int_equal(system_run(&rig->system, 100), SYSTEM_TRAP);
            assert_int_equal(rig->system.current, 0);
            assert_int_equal(hart->trap.cause, TRAP_ECALL_USER);
            assert_int_equal(hart->pc, BASE + 4);
            assert_int_equal(hart->instret, 1);
            assert_int_equal(rig->calls, i);
        }
        rig_free(rig);
    }
}

static void steps_stop_at_breakpoints(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        struct hart *hart = &rig->system.harts[0];
        emit_calls(rig);
        assert_true(hart_breakpoint_add(hart, BASE + 8));
        assert_int_equal(system_run(&rig->system, 100), SYSTEM_BREAK);
        assert_int_equal(hart->instret, 2);
        assert_true(hart_breakpoint_remove(hart, BASE + 8));
        assert_true(hart_breakpoint_add(hart, BASE + 12));
        rig->system.motion[0] = SYSTEM_STEP;
        assert_int_equal(system_run(&rig->system, 100), SYSTEM_STEPPED);
        assert_int_equal(hart->pc, BASE + 12);
        assert_int_equal(system_run(&rig->system, 100), SYSTEM_BREAK);
        assert_int_equal(hart->pc, BASE + 12);
        assert_int_equal(hart->instret, 3);
        rig_free(rig);
    }
}

/* A request of a signal's handler ends one system_run(). */
static void an_interrupt_ends_one_run(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        emit_calls(rig);
        rig->action = INTERRUPT;
        assert_int_equal(system_run(&rig->system, 100), SYSTEM_WATCHED);
        assert_int_equal(rig->calls, 1);
        rig->action = SERVE;
        assert_int_equal(system_run(&rig->system, 8), SYSTEM_LIMIT);
        assert_int_equal(rig->calls, 3);
        rig_free(rig);
    }
}

static void markers_are_served_on_the_way(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        EMIT(rig, sltiu, .rd = 0, .rs1 = A0, .imm = 1);
        EMIT(rig, jal, .rd = 0, .imm = -4);
        assert_int_equal(system_run(&rig->system, 9), SYSTEM_LIMIT);
        assert_int_equal(rig->markers, 5);
        rig_free(rig);
    }
}

/* Whatever a call takes, a sleep adds its own length, also beyond 2^63 fs, which are 9223 s. */
static void sleeping_takes_as_long_as_it_says(void **state)
{
    (void)state;
    const uint64_t lengths[] = {0, 1, 999, 1000000, 9000 * SECOND, 10000 * SECOND, 18000 * SECOND};
    uint64_t awake = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct rig *rig = rig_new("ddr3", 0, NULL);
        emit_calls(rig);
        rig->action = SLEEP;
        assert_int_equal(system_run(&rig->system, 8), SYSTEM_LIMIT); /* code is in the cache */
        rig->sleep = lengths[i];
        assert_int_equal(system_run(&rig->system, 6), SYSTEM_LIMIT);
        assert_int_equal(rig->calls, 4);
        uint64_t took = rig->time[3] - rig->time[2];
        if (i == 0)
            awake = took;
        assert_int_equal(took - awake, lengths[i]);
        rig_free(rig);
    }
}

static void nobody_wakes_beyond_the_end_of_time(void **state)
{
    (void)state;
    struct rig *rig = rig_new("ddr3", 0, NULL);
    emit_calls(rig);
    rig->action = SLEEP;
    rig->sleep = 18447 * SECOND; /* 2^64 fs are 18446.7 s */
    assert_int_equal(system_run(&rig->system, 100), SYSTEM_STUCK);
    assert_int_equal(rig->calls, 1);
    assert_true(system_nanoseconds(&rig->system) < SECOND);
    rig_free(rig);
}

static void time_ends_a_run(void **state)
{
    (void)state;
    struct rig *rig = rig_new("ddr3", 0, NULL);
    EMIT(rig, jal, .rd = 0, .imm = 0);
    assert_null(system_time_limit(&rig->system));
    scheduler_limit_time(&rig->timed->scheduler, UINT64_C(12345678000));
    assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_EXPIRED);
    assert_int_equal(rig->timed->queues[0].now, UINT64_C(12345678000));
    assert_string_equal(system_time_limit(&rig->system), "--max-time");
    assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_EXPIRED);
    rig_free(rig);
}

/* Instructions executed for a call count against limits; meanwhile its hart and time stand still. */
static void a_long_call_is_served_by_quanta(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        struct hart *hart = &rig->system.harts[0];
        emit_calls(rig);
        rig->action = EXECUTE;
        rig->demand = 100;
        assert_int_equal(system_run(&rig->system, 10), SYSTEM_LIMIT);
        assert_int_equal(rig->executed, 9);
        assert_int_equal(system_run(&rig->system, 50), SYSTEM_LIMIT);
        assert_int_equal(rig->executed, 59);
        assert_int_equal(hart->instret, 1);
        assert_int_equal(hart->pc, BASE + 4);
        assert_int_equal(rig->calls, 2);
        if (pace == 0)
            assert_int_equal(system_nanoseconds(&rig->system), 1);
        /* 41 for the call, which is counted itself when it is over, and three instructions from it to the
         * next call */
        assert_int_equal(system_run(&rig->system, 45), SYSTEM_LIMIT);
        assert_int_equal(rig->executed, 100);
        assert_int_equal(rig->calls, 3);
        assert_int_equal(hart->instret, 5);
        assert_int_equal(hart->pc, BASE + 4);
        rig_free(rig);
    }
}

static void a_long_call_ends_with_the_run(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        emit_calls(rig);
        rig->action = EXECUTE_AND_INTERRUPT;
        rig->demand = UINT64_MAX;
        assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_WATCHED);
        assert_int_equal(rig->calls, 1);
        rig->action = EXECUTE;
        rig->system.max_insns = rig->executed + 30;
        assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_LIMIT);
        assert_true(system_in_call(&rig->system) && system_limit_reached(&rig->system));
        assert_int_equal(rig->executed, rig->system.max_insns - 1); /* one instruction was the program's */
        rig_free(rig);
    }
}

/* A call that takes several system_run() is one step; a debugger that moves the hart away ends it. */
static void debuggers_look_into_long_calls(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 0, NULL);
        struct hart *hart = &rig->system.harts[0];
        emit_calls(rig);
        assert_int_equal(system_run(&rig->system, 1), SYSTEM_LIMIT);
        rig->action = EXECUTE;
        rig->demand = 25;
        rig->system.motion[0] = SYSTEM_STEP;
        assert_int_equal(system_run(&rig->system, 10), SYSTEM_LIMIT);
        assert_int_equal(system_run(&rig->system, 10), SYSTEM_LIMIT);
        assert_int_equal(hart->pc, BASE + 4);
        assert_int_equal(system_run(&rig->system, 10), SYSTEM_STEPPED);
        assert_int_equal(hart->pc, BASE + 8);
        assert_int_equal(rig->calls, 3);
        rig->system.motion[0] = SYSTEM_GO;
        rig->demand = 25;
        assert_int_equal(system_run(&rig->system, 13), SYSTEM_LIMIT);
        assert_true(system_in_call(&rig->system));
        hart->pc = BASE + 8;
        assert_int_equal(system_run(&rig->system, 1), SYSTEM_LIMIT);
        assert_int_equal(hart->pc, BASE + 12);
        assert_int_equal(rig->calls, 4);
        assert_int_equal(rig->demand, 15);
        rig_free(rig);
    }
}

/* The call of a privileged hart: no other hart has its turn before it is over; afterwards turns are as long
 * as before. */
static void long_calls_keep_turns(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL, 2, NULL);
    struct hart *harts = rig->system.harts;
    harts[0].semihosting = true;
    EMIT(rig, slli, .rd = 0, .rs1 = 0, .imm = 0x1f);
    EMIT(rig, ebreak, .rd = 0);
    EMIT(rig, srai, .rd = 0, .rs1 = 0, .imm = 7);
    harts[1].pc = rig->at;
    EMIT(rig, jal, .rd = 0, .imm = 0);
    rig->demand = 10 * QUANTUM;
    for (uint64_t done = 4; done < 10 * QUANTUM; done += 4 * QUANTUM) {
        assert_int_equal(system_run(&rig->system, done == 4 ? 5 : 4 * QUANTUM), SYSTEM_LIMIT);
        assert_int_equal(rig->executed, done);
        assert_int_equal(harts[0].instret, 1);
        assert_int_equal(harts[1].instret, 0);
    }
    assert_int_equal(system_run(&rig->system, 2 * QUANTUM - 4 + 2 * QUANTUM - 1), SYSTEM_LIMIT);
    assert_int_equal(rig->executed, 10 * QUANTUM);
    assert_int_equal(harts[0].instret, QUANTUM);
    assert_int_equal(harts[1].instret, QUANTUM);
    rig_free(rig);
}

/* While a debugger holds a hart in its call, another hart waits at its own, which the hook does not see. */
static void a_second_call_waits_for_the_first(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 2, NULL);
        struct hart *harts = rig->system.harts;
        harts[0].semihosting = harts[1].semihosting = true;
        harts[1].pc = rig->at + 16;
        for (unsigned i = 0; i < 2; i++) {
            EMIT(rig, slli, .rd = 0, .rs1 = 0, .imm = 0x1f);
            EMIT(rig, ebreak, .rd = 0);
            EMIT(rig, srai, .rd = 0, .rs1 = 0, .imm = 7);
            EMIT(rig, jal, .rd = 0, .imm = 0);
        }
        rig->system.motion[1] = SYSTEM_HOLD;
        rig->action = EXECUTE_AND_INTERRUPT;
        rig->demand = LONG_CALL;
        assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_WATCHED);
        assert_true(rig->calls == 1 && rig->executed > 0 && rig->demand > 0);
        rig->action = SERVE;
        rig->system.motion[0] = SYSTEM_HOLD;
        rig->system.motion[1] = SYSTEM_GO;
        rig->last_update = rig->updates + 4;
        assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_WATCHED);
        assert_int_equal(rig->calls, 1);
        assert_int_equal(harts[1].instret, 1);
        rig->system.motion[0] = SYSTEM_GO;
        assert_int_equal(system_run(&rig->system, LONG_CALL), SYSTEM_LIMIT);
        assert_int_equal(rig->executed, LONG_CALL);
        assert_true(harts[0].instret > 2 && harts[1].instret > 2);
        rig_free(rig);
    }
}

/* The progress line is due at the first check. A turn or quantum of at least 2^16 instructions ends with a
 * check; of shorter ones, every 256th does. The last run writes the line and removes it. */
static void rounds_show_progress(void **state)
{
    const struct {
        enum action action;
        uint64_t runs, insns; /* instructions of each run */
        const char *line;     /* the part that does not depend on the host */
    } cases[] = {
        {SERVE, 1, 65535, ""},
        {SERVE, 255, 1, ""},
        {SERVE, 256, 1, "\r0.000 ms simulated, 0.0 million instructions, "},
        {EXECUTE, 1, 3000000,
         "\r0.000 ms simulated, 1.0 million instructions, "}, /* a call's quantum has 2^20 */
        {SERVE, 1, 3000000, "\r3.000 ms simulated, 3.0 million instructions, "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig *rig = rig_new(NULL, 0, NULL);
        FILE *file = tmpfile();
        char text[256] = "";
        assert_non_null(file);
        rig->action = cases[i].action;
        rig->demand = UINT64_MAX;
        if (rig->action == EXECUTE)
            emit_calls(rig);
        else
            EMIT(rig, jal, .rd = 0, .imm = 0);
        rig->system.progress = (struct progress){.countdown = PROGRESS_CALLS, .out = file};
        for (uint64_t run = 0; run < cases[i].runs; run++)
            assert_int_equal(system_run(&rig->system, cases[i].insns), SYSTEM_LIMIT);
        rewind(file);
        size_t length = fread(text, 1, sizeof text - 1, file);
        assert_int_equal(length == 0, cases[i].line[0] == '\0');
        assert_memory_equal(text, cases[i].line, strlen(cases[i].line));
        assert_true(length == 0 || text[length - 1] == '\r');
        (void)fclose(file);
        rig_free(rig);
    }
}

/* In time, all quanta are one event, which a limit ends. */
static void in_time_long_calls_take_none(void **state)
{
    (void)state;
    for (unsigned limited = 0; limited < 2; limited++) {
        struct rig *rig = rig_new("ddr3", 1, NULL);
        struct hart *hart = &rig->system.harts[0];
        hart->semihosting = true;
        EMIT(rig, slli, .rd = 0, .rs1 = 0, .imm = 0x1f);
        EMIT(rig, ebreak, .rd = 0);
        EMIT(rig, srai, .rd = 0, .rs1 = 0, .imm = 7);
        EMIT(rig, jal, .rd = 0, .imm = 0);
        rig->demand = UINT64_C(5000000);
        rig->system.max_insns = limited ? 3000000 : 5000010;
        assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_LIMIT);
        assert_int_equal(rig->executed, limited ? 2999999 : 5000000);
        assert_true(rig->calls > 1);
        for (unsigned i = 1; i < rig->calls; i++)
            assert_int_equal(rig->time[i], rig->time[0]);
        assert_int_equal(system_in_call(&rig->system), limited);
        if (!limited) /* the limit counts the hart's instructions again */
            assert_int_equal(hart->instret, 5000010);
        rig_free(rig);
    }
}

/* A memory whose rows take 7.5 us to open does not answer the first fetch before. */
static void an_interrupt_ends_a_run_in_which_nothing_comes(void **state)
{
    (void)state;
    struct rig *rig = rig_new("ddr3", 0, "dram.tRCDRD=7.5 us");
    emit_calls(rig);
    event_init(&rig->arrival, UINT16_MAX, interrupt, rig);
    event_schedule(rig->timed->queues, &rig->arrival, CLOCK_SECOND / 200000);
    assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_WATCHED);
    assert_int_equal(rig->timed->queues[0].now, CLOCK_SECOND / 200000);
    rig_free(rig);
}

/* A call waits until something has happened, or until a signal arrives. */
static void calls_can_wait(void **state)
{
    (void)state;
    for (unsigned interrupted = 0; interrupted < 2; interrupted++) {
        struct rig *rig = rig_new("ddr3", 0, NULL);
        const uint64_t when = UINT64_C(25000000123); /* poll events occur meanwhile */
        emit_calls(rig);
        rig->action = WAIT;
        looks = 0;
        event_init(&rig->arrival, UINT16_MAX, interrupted ? interrupt : arrive, rig);
        event_schedule(rig->timed->queues, &rig->arrival, when);
        enum system_stop stop = system_run(&rig->system, 2);
        assert_int_equal(rig->calls, 1);
        assert_int_equal(rig->timed->queues[0].now, when);
        assert_int_equal(rig->waited, !interrupted);
        assert_int_equal(looks, interrupted ? 1 : 2); /* not after polls */
        assert_int_equal(rig->updates, 2);
        assert_int_equal(stop, interrupted ? SYSTEM_WATCHED : SYSTEM_LIMIT);
        rig_free(rig);
    }
}

/* Rounds: each of two harts runs a quantum of 1 ns per instruction, and a limit ends the run between two
 * instructions. */
static void harts_take_turns(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL, 2, NULL);
    struct hart *harts = rig->system.harts;
    EMIT(rig, jal, .rd = 0, .imm = 0);
    for (uint64_t done = 1; done <= 5 * QUANTUM; done++) {
        uint64_t rounds = (done - 1) / (2 * QUANTUM) * QUANTUM, rest = (done - 1) % (2 * QUANTUM) + 1;
        assert_int_equal(system_run(&rig->system, 1), SYSTEM_LIMIT);
        assert_int_equal(harts[0].instret, rounds + (rest < QUANTUM ? rest : QUANTUM));
        assert_int_equal(harts[1].instret, rounds + (rest < QUANTUM ? 0 : rest - QUANTUM));
        assert_int_equal(system_nanoseconds(&rig->system), rounds + (rest - 1) % QUANTUM + 1);
    }
    rig_free(rig);
}

/* A debugger holds one hart while the other one runs or steps. */
static void held_harts_execute_nothing(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        for (unsigned held = 0; held < 2; held++) {
            struct rig *rig = rig_new(paces[pace], 2, NULL);
            struct hart *harts = rig->system.harts;
            EMIT(rig, jal, .rd = 0, .imm = 0);
            rig->system.motion[held] = SYSTEM_HOLD;
            assert_int_equal(system_run(&rig->system, 1000), SYSTEM_LIMIT);
            assert_int_equal(harts[held].instret, 0);
            assert_int_equal(harts[!held].instret, 1000);
            rig->system.motion[!held] = SYSTEM_STEP;
            assert_int_equal(system_run(&rig->system, 1000), SYSTEM_STEPPED);
            assert_int_equal(rig->system.current, !held);
            assert_int_equal(harts[!held].instret, 1001);
            rig->system.motion[held] = SYSTEM_GO;
            rig->system.motion[!held] = SYSTEM_HOLD;
            assert_int_equal(system_run(&rig->system, 1000), SYSTEM_LIMIT);
            assert_int_equal(harts[held].instret, 1000);
            assert_int_equal(harts[!held].instret, 1001);
            rig->system.motion[!held] = SYSTEM_GO; /* later the other hart is held instead */
            assert_int_equal(system_run(&rig->system, 1000), SYSTEM_LIMIT);
            rig->system.motion[held] = SYSTEM_HOLD;
            uint64_t done = harts[held].instret;
            assert_int_equal(system_run(&rig->system, 1000), SYSTEM_LIMIT);
            assert_int_equal(harts[held].instret, done);
            rig_free(rig);
        }
    }
}

/* Harts with a common limit exceed it by at most one instruction each, and share it about equally. */
static void a_limit_is_shared(void **state)
{
    (void)state;
    const unsigned counts[] = {2, 64};
    for (unsigned k = 0; k < PACES * 2; k++) {
        const unsigned count = counts[k / PACES];
        const uint64_t share = 6172, limit = share * count + 1;
        struct rig *rig = rig_new(paces[k % PACES], count, NULL);
        EMIT(rig, jal, .rd = 0, .imm = 0);
        assert_int_equal(system_run(&rig->system, limit), SYSTEM_LIMIT);
        assert_in_range(system_instructions(&rig->system), limit, limit + count);
        for (unsigned i = 0; i < count; i++)
            assert_in_range(rig->system.harts[i].instret, share - 3 * QUANTUM, share + 3 * QUANTUM);
        rig_free(rig);
    }
}

/* WFI without an interrupt source. */
static void harts_that_wait_for_ever_are_stuck(void **state)
{
    (void)state;
    for (unsigned pace = 0; pace < PACES; pace++) {
        struct rig *rig = rig_new(paces[pace], 2, NULL);
        EMIT(rig, wfi, .rd = 0);
        EMIT(rig, jal, .rd = 0, .imm = -4);
        assert_int_equal(system_run(&rig->system, UINT64_MAX), SYSTEM_STUCK);
        for (unsigned i = 0; i < 2; i++) {
            assert_true(rig->system.waiting[i]);
            assert_int_equal(rig->system.harts[i].pc, BASE + 4);
        }
        rig_free(rig);
    }
}

/* Code may change, but data caches keep their lines, because memory keeps its bytes. */
static void a_restart_forgets_code(void **state)
{
    (void)state;
    struct rig *rig = rig_new("ddr3", 1, NULL);
    const struct core_tile *tile = rig->timed->cores[0].tile;
    EMIT(rig, auipc, .rd = A0, .imm = 0x1000);
    EMIT(rig, ld, .rd = 11, .rs1 = A0);
    EMIT(rig, jal, .rd = 0, .imm = 0);
    assert_int_equal(system_run(&rig->system, 100), SYSTEM_LIMIT);
    assert_int_not_equal(cache_line_state(tile->l1i, BASE), CACHE_INVALID);
    assert_int_not_equal(cache_line_state(tile->l1d, BASE + 0x1000), CACHE_INVALID);
    system_restart(&rig->system, BASE);
    assert_int_equal(cache_line_state(tile->l1i, BASE), CACHE_INVALID);
    assert_int_not_equal(cache_line_state(tile->l1d, BASE + 0x1000), CACHE_INVALID);
    assert_int_equal(system_run(&rig->system, 100), SYSTEM_LIMIT);
    assert_int_not_equal(cache_line_state(tile->l1i, BASE), CACHE_INVALID);
    rig_free(rig);
}

/* A user program runs on the first host core; the machine is made without the others. */
static void cores_without_a_hart_are_left_out(void **state)
{
    (void)state;
    struct rig *rig = rig_new("ddr3", 0, "host.count=3");
    emit_calls(rig);
    assert_non_null(builder_object(&rig->timed->builder, tree_find(rig->machine.tree, "host.0")));
    for (unsigned i = 1; i < 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "host.%u", i);
        assert_null(builder_object(&rig->timed->builder, tree_find(rig->machine.tree, name)));
    }
    assert_int_equal(system_run(&rig->system, 10), SYSTEM_LIMIT);
    assert_int_equal(rig->system.harts[0].instret, 10);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_sleep_until_they_are_resumed),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(a_call_is_one_step),
        cmocka_unit_test(traps_that_nobody_serves_end_a_run),
        cmocka_unit_test(steps_stop_at_breakpoints),
        cmocka_unit_test(an_interrupt_ends_one_run),
        cmocka_unit_test(markers_are_served_on_the_way),
        cmocka_unit_test(sleeping_takes_as_long_as_it_says),
        cmocka_unit_test(nobody_wakes_beyond_the_end_of_time),
        cmocka_unit_test(time_ends_a_run),
        cmocka_unit_test(an_interrupt_ends_a_run_in_which_nothing_comes),
        cmocka_unit_test(calls_can_wait),
        cmocka_unit_test(harts_take_turns),
        cmocka_unit_test(held_harts_execute_nothing),
        cmocka_unit_test(a_limit_is_shared),
        cmocka_unit_test(harts_that_wait_for_ever_are_stuck),
        cmocka_unit_test(a_restart_forgets_code),
        cmocka_unit_test(a_long_call_is_served_by_quanta),
        cmocka_unit_test(a_long_call_ends_with_the_run),
        cmocka_unit_test(debuggers_look_into_long_calls),
        cmocka_unit_test(long_calls_keep_turns),
        cmocka_unit_test(a_second_call_waits_for_the_first),
        cmocka_unit_test(in_time_long_calls_take_none),
        cmocka_unit_test(rounds_show_progress),
        cmocka_unit_test(cores_without_a_hart_are_left_out),
    };
    return cmocka_run_group_tests_name("the run loop", tests, NULL, NULL);
}
