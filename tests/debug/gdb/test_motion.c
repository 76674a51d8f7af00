/* The session over a fake target: packets that let it go on, its stops, and how sessions end. */
#include "tests/debug/gdb/world.h"

/* Runs once after the packet and returns the stop reply. */
static const char *move(struct world *world, const char *packet, struct gdb_stop stop)
{
    assert_string_equal(talk(world, packet), "");
    assert_int_equal(world->session->state, GDB_RUNNING);
    world->fake.next = stop;
    gdb_session_advance(world->session);
    return answers(world);
}

static const struct gdb_stop stepped = {.kind = GDB_STOP_SIGNAL, .signal = GDB_SIGNAL_TRAP};

static void assert_actions(const struct world *world, enum gdb_motion first, unsigned first_signal,
                           enum gdb_motion second, unsigned second_signal)
{
    assert_int_equal(world->fake.actions[0].motion, first);
    assert_int_equal(world->fake.actions[0].signal, first_signal);
    assert_int_equal(world->fake.actions[1].motion, second);
    assert_int_equal(world->fake.actions[1].signal, second_signal);
}

static void test_resume(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "?"), "T05" AT_START);
    assert_string_equal(talk(world, "vCont?"), "vCont;c;C;s;S;r");
    assert_string_equal(move(world, "vCont;s:1;c", stepped), "T05" AT_START);
    assert_actions(world, GDB_STEP, 0, GDB_CONTINUE, 0);
    (void)move(world, "vCont;s:2", stepped);
    assert_actions(world, GDB_STAY, 0, GDB_STEP, 0);
    (void)move(world, "vCont;C0b:1;S5:-1", stepped);
    assert_actions(world, GDB_CONTINUE, 11, GDB_STEP, 5);
    (void)move(world, "vCont;c;s:1", stepped);
    assert_actions(world, GDB_CONTINUE, 0, GDB_CONTINUE, 0);
    (void)move(world, "s", stepped);
    assert_actions(world, GDB_STEP, 0, GDB_CONTINUE, 0);
    assert_string_equal(talk(world, "Hc2"), "OK");
    (void)move(world, "C02;1234", stepped);
    assert_actions(world, GDB_STAY, 0, GDB_CONTINUE, 2);
    assert_int_equal(world->fake.registers[1][GDB_REGISTER_PC], 0x1234);
    /* A signal is delivered once. */
    (void)move(world, "C02", (struct gdb_stop){.kind = GDB_STOP_NONE});
    assert_actions(world, GDB_STAY, 0, GDB_CONTINUE, 2);
    gdb_session_advance(world->session);
    assert_actions(world, GDB_STAY, 0, GDB_CONTINUE, 0);
}

/* A thread that steps through a range is not reported before it leaves the range or comes to a breakpoint; it makes one
 * step at least. */
static void test_range(void **state)
{
    struct world *world = *state;
    uint64_t *pc = &world->fake.registers[0][GDB_REGISTER_PC];
    *pc = 0x80000004;
    assert_string_equal(move(world, "vCont;r80000000,80000010:1;c", stepped), "");
    assert_actions(world, GDB_STEP, 0, GDB_CONTINUE, 0);
    assert_true(world->fake.runs > 1);
    assert_int_equal(world->session->state, GDB_RUNNING);
    *pc = 0x80000010;
    gdb_session_advance(world->session);
    assert_string_equal(answers(world), "T05" HERE("1", "1000008000000000"));
    *pc = 0x80000004;
    (void)talk(world, "Z0,80000004,2");
    assert_string_equal(move(world, "vCont;r80000000,80000010:1", stepped),
                        "T05" HERE("1", "0400008000000000"));
    assert_int_equal(world->session->last.kind, GDB_STOP_BREAK);
    (void)talk(world, "z0,80000004,2");
    /* An empty range is a step; a stop of another thread ends the stepping. */
    assert_string_equal(move(world, "vCont;r80000004,80000004:1", stepped),
                        "T05" HERE("1", "0400008000000000"));
    const struct gdb_stop other = {.kind = GDB_STOP_SIGNAL, .signal = GDB_SIGNAL_SEGV, .thread = 1};
    assert_non_null(strstr(move(world, "vCont;r80000000,80000010:1;c", other), "T0bthread:2;"));
    assert_string_equal(talk(world, "vCont;r80000000:1"), "E16");
    assert_string_equal(talk(world, "vCont;r80000000,:1"), "E16");
}

static void test_running(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "c"), "");
    world->fake.next.kind = GDB_STOP_NONE;
    gdb_session_advance(world->session);
    gdb_session_advance(world->session);
    assert_int_equal(world->fake.runs, 2);
    assert_string_equal(talk(world, "g"), "E10");
    assert_int_equal(world->session->state, GDB_RUNNING);
    assert_int_equal(gdb_session_receive(world->session, "\x03$qC#b4", 7), 1);
    assert_string_equal(answers(world), "T02" AT_START);
    assert_string_equal(talk(world, "?"), "T02" AT_START);
}

static void test_stops(void **state)
{
    struct world *world = *state;
    const struct gdb_stop broken = {.kind = GDB_STOP_BREAK, .thread = 1, .address = 0x80001000};
    const struct gdb_stop wrote = {.kind = GDB_STOP_WATCH, .address = 0x1004, .write = true};
    const struct gdb_stop wrote_before = {.kind = GDB_STOP_WATCH, .address = 0xffc, .write = true};
    const struct gdb_stop loaded = {.kind = GDB_STOP_WATCH, .address = 0x1004};
    (void)talk(world, "Z0,80001000,2");
    assert_string_equal(move(world, "c", broken), "T05" HERE("2", "0010008000000000"));
    assert_string_equal(talk(world, "qC"), "QC2");
    assert_non_null(strstr(talk(world, "qSupported:multiprocess+;swbreak+;hwbreak+"), "PacketSize=4000;"));
    assert_string_equal(move(world, "c", broken),
                        "T05thread:2;swbreak:;2:0000000000000000;20:0010008000000000;");
    (void)talk(world, "z0,80001000,2");
    (void)talk(world, "Z1,80001000,2");
    assert_string_equal(move(world, "c", broken),
                        "T05thread:2;hwbreak:;2:0000000000000000;20:0010008000000000;");
    (void)talk(world, "Z2,1000,8");
    assert_non_null(strstr(move(world, "c", wrote), ";watch:1004;"));
    assert_non_null(strstr(move(world, "c", wrote_before), ";watch:1000;"));
    (void)talk(world, "z2,1000,8");
    (void)talk(world, "Z2,1008,8");
    (void)talk(world, "Z2,1004,4");
    assert_non_null(strstr(move(world, "c", wrote), ";watch:1004;"));
    (void)talk(world, "z2,1008,8");
    (void)talk(world, "z2,1004,4");
    (void)talk(world, "Z3,1000,8");
    assert_non_null(strstr(move(world, "c", loaded), ";rwatch:1004;"));
    (void)talk(world, "z3,1000,8");
    (void)talk(world, "Z4,1000,8");
    assert_non_null(strstr(move(world, "c", loaded), ";awatch:1004;"));
    assert_non_null(strstr(move(world, "c", wrote), ";awatch:1004;"));
}

static void test_exit(void **state)
{
    struct world *world = *state;
    assert_string_equal(move(world, "c", (struct gdb_stop){.kind = GDB_STOP_EXIT, .status = 3}), "W03");
    assert_int_equal(world->session->state, GDB_ENDED);
    assert_string_equal(talk(world, "c"), "W03");
    assert_string_equal(talk(world, "?"), "W03");
}

static void test_death(void **state)
{
    struct world *world = *state;
    const struct gdb_stop fault = {.kind = GDB_STOP_SIGNAL, .signal = GDB_SIGNAL_SEGV};
    assert_string_equal(move(world, "c", fault), "T0b" AT_START);
    assert_string_equal(move(world, "C0b", (struct gdb_stop){.kind = GDB_STOP_DIED, .signal = 11}), "X0b");
    assert_actions(world, GDB_CONTINUE, 11, GDB_CONTINUE, 0);
}

static void test_kill(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "vKill;1"), "OK");
    assert_int_equal(world->session->state, GDB_ENDED);
    assert_int_equal(world->session->last.kind, GDB_STOP_DIED);
    assert_int_equal(world->session->last.signal, GDB_SIGNAL_KILL);
}

/* After a detach the target runs by itself, and a signal that gdb had seen reaches it. */
static void test_detach(void **state)
{
    struct world *world = *state;
    const struct gdb_stop fault = {.kind = GDB_STOP_SIGNAL, .signal = GDB_SIGNAL_SEGV, .thread = 1};
    (void)talk(world, "Z0,80001000,2");
    (void)move(world, "c", fault);
    assert_string_equal(talk(world, "D"), "OK");
    assert_int_equal(world->session->state, GDB_FREE);
    assert_false(world->session->attached);
    assert_int_equal(world->fake.breakpoints, 0);
    gdb_session_advance(world->session);
    assert_actions(world, GDB_CONTINUE, 0, GDB_CONTINUE, 11);
    gdb_session_connect(world->session, collect, world);
    assert_int_equal(world->session->state, GDB_STOPPED);
    assert_string_equal(talk(world, "qC"), "QC2");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_resume), TEST(test_running), TEST(test_range), TEST(test_stops),
        TEST(test_exit),   TEST(test_death),   TEST(test_kill),  TEST(test_detach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
