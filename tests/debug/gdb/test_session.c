/* The session over a fake target: each packet that gdb may send while it stands still, and those that nobody should. */
#include "tests/debug/gdb/world.h"

static void test_acknowledge(void **state)
{
    struct world *world = *state;
    raw(world, "$qC#b4", "+$QC1#c5");
    raw(world, "-", "$QC1#c5");
    raw(world, "$qC#00", "-");
    raw(world, "$QStartNoAckMode#b0", "+$OK#9a");
    raw(world, "+", "");
    raw(world, "$qC#b4", "$QC1#c5");
    raw(world, "-", "");
    raw(world, "$qC#00", "$E16#ac");
    raw(world, "\x03", "");
}

static void test_unknown(void **state)
{
    static const char *const unknown[] = {
        "",       "!",        "y",    "vRun;1",   "vMustReplyEmpty",  "qCRC:1,2",
        "Qfoo",   "qTStatus", "\xff", "qOffsets", "QStartNoAckModeX", "vCont",
        "vContX", "i",        "b"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_string_equal(talk(*state, unknown[i]), "");
}

static void test_malformed(void **state)
{
    static const char *const malformed[] = {"g0",
                                            "G",
                                            "G0",
                                            "Gzz",
                                            "p",
                                            "pz",
                                            "p1042",
                                            "p0,",
                                            "P",
                                            "P0",
                                            "P0=",
                                            "P0=12",
                                            "P1042=0000000000000000",
                                            "P20=0100000000000000",
                                            "m",
                                            "m1000",
                                            "m,4",
                                            "m1000,",
                                            "m1000,4x",
                                            "m11112222333344445,1",
                                            "M",
                                            "M1000",
                                            "M1000,2",
                                            "M1000,2:12",
                                            "M1000,1:zz",
                                            "M1000,1:1234",
                                            "M1000,ffffffffffffffff:12",
                                            "X1000,2:1",
                                            "X1000,",
                                            "Z",
                                            "Z5,1000,2",
                                            "Z0",
                                            "Z0,",
                                            "Z0,1000",
                                            "Z0,1000,2;x",
                                            "z0,1000",
                                            "z9,1,1",
                                            "H",
                                            "Hx1",
                                            "Hg",
                                            "Hg-2",
                                            "Hg1x",
                                            "T",
                                            "Tz",
                                            "c1x",
                                            "cz",
                                            "C",
                                            "C1234",
                                            "C5;",
                                            "C5;z",
                                            "s80000001",
                                            "vCont;",
                                            "vCont;x",
                                            "vCont;c:",
                                            "vCont;c;",
                                            "vCont;C",
                                            "vCont;C100",
                                            "vCont;c:9",
                                            "vCont;s:1x",
                                            "qRcmd,1",
                                            "qRcmd,zz",
                                            "qXfer:features:read:other.xml:0,10",
                                            "qXfer:features:read:target.xml:0",
                                            "qXfer:features:read:target.xml:ffffff,10",
                                            "qThreadExtraInfo,",
                                            "?x"};
    struct world *world = *state;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        const char *answer = talk(world, malformed[i]);
        if (strcmp(answer, "E16") != 0)
            fail_msg("'%s' is answered by '%s'", malformed[i], answer);
        assert_int_equal(world->session->state, GDB_STOPPED);
    }
    assert_int_equal(world->fake.breakpoints, 0);
}

static void test_registers(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "P5=efcdab8967452301"), "OK");
    assert_int_equal(world->fake.registers[0][5], 0x0123456789abcdef);
    assert_string_equal(talk(world, "p5"), "efcdab8967452301");
    assert_string_equal(talk(world, "p20"), "0000008000000000");
    assert_string_equal(talk(world, "P341=0100000000000000"), "OK");
    assert_int_equal(world->fake.mstatus, 1);
    assert_string_equal(talk(world, "p341"), "0100000000000000");
    assert_string_equal(talk(world, "p342"), "xxxxxxxxxxxxxxxx");
    assert_string_equal(talk(world, "Hg2"), "OK");
    assert_string_equal(talk(world, "p20"), "0010008000000000");
    assert_string_equal(talk(world, "Hg0"), "OK");
    assert_string_equal(talk(world, "p20"), "0000008000000000");
    const char *all = talk(world, "g");
    assert_int_equal(strlen(all), 65 * 16);
    assert_memory_equal(all + 5 * 16, "efcdab8967452301", 16);
    assert_memory_equal(all + 32 * 16, "0000008000000000", 16);
    assert_string_equal(talk(world, "G01000000000000000200000000000000"), "OK");
    assert_int_equal(world->fake.registers[0][1], 2);
}

static void test_memory(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "M1000,4:01020304"), "OK");
    assert_string_equal(talk(world, "m1000,5"), "0102030400");
    assert_string_equal(talk(world, "m1000,0"), "");
    assert_string_equal(talk_bytes(world, "X1001,5:\0#$}*", 13), "OK");
    assert_string_equal(talk(world, "m1000,7"), "01002324"
                                                "7d2a00");
    assert_string_equal(talk(world, "X1000,0:"), "OK");
    assert_string_equal(talk(world, "mfff,1"), "E0e");
    assert_string_equal(talk(world, "mffffffffffffffff,2"), "E0e");
    assert_string_equal(talk(world, "M37ff,2:0102"), "E0e");
    assert_string_equal(talk(world, "M37ff,1:01"), "OK");
    /* What lies before a hole is delivered; more than fits in a packet is cut. */
    assert_int_equal(strlen(talk(world, "m1000,ffffffffffffffff")), 2 * 0x2000);
    assert_int_equal(strlen(talk(world, "m1000,2800")), 2 * 0x2000);
    assert_int_equal(strlen(talk(world, "m2f00,2800")), 2 * 0x100);
}

static void test_threads(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "qfThreadInfo"), "m1,2");
    assert_string_equal(talk(world, "qsThreadInfo"), "l");
    assert_string_equal(talk(world, "qThreadExtraInfo,2"), "66616b652031");
    assert_string_equal(talk(world, "qThreadExtraInfo,3"), "E03");
    assert_string_equal(talk(world, "T2"), "OK");
    assert_string_equal(talk(world, "T3"), "E03");
    assert_string_equal(talk(world, "T0"), "E03");
    assert_string_equal(talk(world, "Hc-1"), "OK");
    assert_string_equal(talk(world, "Hg3"), "E03");
    assert_string_equal(talk(world, "qC"), "QC1");
}

static void test_points(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "Z0,80000000,2"), "OK");
    assert_string_equal(talk(world, "Z0,80000000,2"), "OK");
    assert_string_equal(talk(world, "Z1,80000000,4"), "OK");
    assert_int_equal(world->fake.breakpoints, 1);
    assert_string_equal(talk(world, "z0,80000000,2"), "OK");
    assert_int_equal(world->fake.breakpoints, 1);
    assert_string_equal(talk(world, "z1,80000000,4"), "OK");
    assert_int_equal(world->fake.breakpoints, 0);
    assert_string_equal(talk(world, "z1,80000000,4"), "OK");
    assert_string_equal(talk(world, "Z0,80000001,2"), "E0c");
    assert_string_equal(talk(world, "Z2,1000,8"), "OK");
    assert_string_equal(talk(world, "Z2,1000,4"), "OK");
    assert_string_equal(talk(world, "Z4,1000,8"), "OK");
    assert_int_equal(world->fake.watchpoints, 3);
    assert_string_equal(talk(world, "Z3,1000,0"), "E0c");
    assert_string_equal(talk(world, "Z3,1000,1001"), "E0c");
    assert_string_equal(talk(world, "Z3,fffffffffffffff9,8"), "E0c");
    assert_string_equal(talk(world, "Z3,fffffffffffffff8,8"), "OK");
    for (unsigned i = 0; i < FAKE_POINTS + 2; i++) {
        char packet[32];
        (void)snprintf(packet, sizeof packet, "Z0,%x,2", i * 2);
        assert_string_equal(talk(world, packet), i < FAKE_POINTS ? "OK" : "E0c");
    }
    gdb_session_disconnect(world->session);
    assert_int_equal(world->fake.breakpoints + world->fake.watchpoints, 0);
}

static void test_queries(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "qAttached"), "1");
    assert_string_equal(talk(world, "qAttached:1"), "1");
    assert_string_equal(talk(world, "qSymbol::"), "OK");
}

static void test_description(void **state)
{
    static const char *const wanted[] = {"<architecture>riscv:rv64</architecture>",
                                         "org.gnu.gdb.riscv.cpu",
                                         "org.gnu.gdb.riscv.fpu",
                                         "org.gnu.gdb.riscv.csr",
                                         "org.gnu.gdb.riscv.virtual",
                                         "name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"32\"",
                                         "name=\"fa0\" bitsize=\"64\" type=\"ieee_double\" regnum=\"43\"",
                                         "name=\"fcsr\" bitsize=\"64\" type=\"int\" regnum=\"68\"",
                                         "name=\"instret\" bitsize=\"64\" type=\"int\" regnum=\"3139\"",
                                         "name=\"priv\" bitsize=\"64\" type=\"int\" regnum=\"4161\""};
    struct world *world = *state;
    char text[1 << 17] = "", packet[80];
    size_t length = 0;
    const char *part;
    do {
        (void)snprintf(packet, sizeof packet, "qXfer:features:read:target.xml:%zx,7f", length);
        part = talk(world, packet);
        assert_true(part[0] == 'm' || part[0] == 'l');
        assert_true(strlen(part) <= 0x80 && length + strlen(part) < sizeof text);
        memcpy(text + length, part + 1, strlen(part));
        length += strlen(part) - 1;
    } while (part[0] == 'm');
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (!strstr(text, wanted[i]))
            fail_msg("target.xml lacks '%s'", wanted[i]);
    }
    (void)snprintf(packet, sizeof packet, "qXfer:features:read:target.xml:%zx,10", length);
    assert_string_equal(talk(world, packet), "l");
}

static unsigned two_regions(void *target, struct gdb_region *regions, unsigned room)
{
    (void)target;
    assert_true(room >= 2);
    regions[0] = (struct gdb_region){.first = 0x1000, .size = 0xf000, .rom = true};
    regions[1] = (struct gdb_region){.first = 0x10000, .size = 0x100};
    return 2;
}

/* The map covers the whole address space: gdb refuses accesses outside of it. */
static void test_memory_map(void **state)
{
    static const char *const wanted[] = {
        "<memory type=\"ram\" start=\"0x0\" length=\"0x1000\"/>\n",
        "<memory type=\"rom\" start=\"0x1000\" length=\"0xf000\"/>\n",
        "<memory type=\"ram\" start=\"0x10000\" length=\"0x100\"/>\n",
        "<memory type=\"ram\" start=\"0x10100\" length=\"0xfffffffffffeff00\"/>\n", "</memory-map>\n"};
    struct world *world = *state;
    assert_null(strstr(talk(world, "qSupported"), "memory-map"));
    assert_string_equal(talk(world, "qXfer:memory-map:read::0,1000"), "");
    gdb_session_free(world->session);
    struct gdb_target_ops ops = fake_ops;
    ops.regions = two_regions;
    world->session = gdb_session_new(&(struct gdb_target){&ops, &world->fake});
    gdb_session_connect(world->session, collect, world);
    assert_non_null(strstr(talk(world, "qSupported"), ";qXfer:memory-map:read+"));
    const char *at = talk(world, "qXfer:memory-map:read::0,1000");
    assert_int_equal(*at, 'l');
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        at = strstr(at, wanted[i]);
        assert_non_null(at);
        at += strlen(wanted[i]);
    }
    assert_string_equal(at, "");
    assert_string_equal(talk(world, "qXfer:memory-map:read:x:0,1000"), "E16");
}

/* What a monitor command prints. */
static const char *monitor(struct world *world, const char *command)
{
    static char text[OUTPUT];
    struct gdb_reply packet = {.length = 0};
    size_t length = 0;
    gdb_reply_text(&packet, "qRcmd,");
    gdb_reply_hex(&packet, command, strlen(command));
    const char *answer = talk_bytes(world, packet.payload, packet.length);
    while (*answer == 'O' && answer[1] != 'K') {
        struct gdb_cursor in = {answer + 1, strchr(answer, '|')};
        size_t size = gdb_left(&in) / 2;
        assert_true(gdb_take_hex(&in, text + length, size));
        length += size;
        answer = in.end + 1;
    }
    assert_string_equal(answer, "OK");
    text[length] = '\0';
    return text;
}

static void test_monitor(void **state)
{
    struct world *world = *state;
    assert_non_null(strstr(monitor(world, "help"), "stats"));
    assert_non_null(strstr(monitor(world, ""), "stats"));
    assert_non_null(strstr(monitor(world, "stat"), "did you mean 'stats'?"));
    assert_non_null(strstr(monitor(world, "frobnicate"), "monitor help"));
    assert_non_null(strstr(monitor(world, "regs"), "pc   0x0000000080000000  user mode\n"));
    assert_non_null(strstr(monitor(world, "threads"), "* thread 1: fake 0, pc 0x80000000\n"));
    assert_non_null(strstr(monitor(world, "machine"), "no machine"));
    assert_non_null(strstr(monitor(world, "reset"), "cannot be reset"));
    /* More than a packet holds. */
    char *statistics = NULL;
    size_t length;
    FILE *out = open_memstream(&statistics, &length);
    fake_ops.statistics(&world->fake, NULL, out);
    assert_int_equal(fclose(out), 0);
    assert_true(length > GDB_PACKET);
    assert_string_equal(monitor(world, "stats"), statistics);
    free(statistics);
    /* A pattern; only this command takes more than its name. */
    assert_non_null(strstr(monitor(world, "stats  dram.*"), "like dram.*\n"));
    assert_non_null(strstr(monitor(world, "regs all"), "unknown monitor command"));
}

/* gdb reads registers of other threads, as for its list, without selecting them; it asks for a thread that the user
 * selects. A stop selects its thread. */
static void test_selected_thread(void **state)
{
    struct world *world = *state;
    assert_string_equal(talk(world, "Hg2"), "OK");
    assert_non_null(strstr(monitor(world, "regs"), "pc   0x0000000080000000"));
    assert_string_equal(talk(world, "T2"), "OK");
    assert_string_equal(talk(world, "Hg1"), "OK");
    assert_non_null(strstr(monitor(world, "regs"), "pc   0x0000000080001000"));
    (void)talk(world, "c");
    world->fake.next = (struct gdb_stop){.kind = GDB_STOP_SIGNAL, .signal = GDB_SIGNAL_TRAP};
    gdb_session_advance(world->session);
    (void)answers(world);
    assert_non_null(strstr(monitor(world, "regs"), "pc   0x0000000080000000"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_acknowledge), TEST(test_unknown), TEST(test_malformed),       TEST(test_registers),
        TEST(test_memory),      TEST(test_threads), TEST(test_points),          TEST(test_queries),
        TEST(test_description), TEST(test_monitor), TEST(test_selected_thread), TEST(test_memory_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
