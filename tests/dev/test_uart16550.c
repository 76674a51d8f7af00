/* The UART against the PC16550D data sheet. */
#include "tests/dev/rig.h"

#include "emu/dev/uart16550.h"

enum { RBR, IER, IIR, LCR, MCR, LSR, MSR, SCR, IRQ = 10 };

static struct uart16550 *make(struct rig *rig)
{
    struct uart16550_wiring wiring = {
        .irq = rig_line(rig, IRQ), .timebase = rig_timebase(rig), .transmit = rig_output, .context = rig};
    struct uart16550 *uart = uart16550_new(&wiring);
    assert_non_null(uart);
    return uart;
}

static unsigned get(struct uart16550 *uart, uint64_t offset)
{
    return (unsigned)uart16550_ops.read(uart, offset, 1);
}

static void put(struct uart16550 *uart, uint64_t offset, uint64_t value)
{
    uart16550_ops.write(uart, offset, 1, value);
}

static void receive(struct uart16550 *uart, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        uart16550_receive(uart, (uint8_t)('a' + i));
}

static void reset_values(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, SCR, 0x5a);
    put(uart, IER, 0x0f);
    put(uart, IIR, 0xc1);
    receive(uart, 3);
    uart16550_reset(uart);
    assert_int_equal(get(uart, IER), 0);
    assert_int_equal(get(uart, IIR), 0x01);
    assert_int_equal(get(uart, LCR), 0);
    assert_int_equal(get(uart, MCR), 0);
    assert_int_equal(get(uart, LSR), 0x60);
    assert_int_equal(get(uart, MSR), 0xb0);
    assert_int_equal(get(uart, SCR), 0);
    assert_false(rig.level[IRQ]);
    uart16550_free(uart);
}

static void writable_bits(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, IER, 0xff);
    assert_int_equal(get(uart, IER), 0x0f);
    put(uart, MCR, 0xef);
    assert_int_equal(get(uart, MCR), 0x0f);
    put(uart, SCR, 0x1a5);
    assert_int_equal(get(uart, SCR), 0xa5);
    put(uart, LCR, 0x83); /* the divisor latch */
    put(uart, RBR, 0x34);
    put(uart, IER, 0x12);
    assert_int_equal(get(uart, RBR), 0x34);
    assert_int_equal(get(uart, IER), 0x12);
    put(uart, LCR, 0x03);
    assert_int_equal(get(uart, IER), 0x0f);
    put(uart, 100, 1); /* nothing is there */
    assert_int_equal(get(uart, 100), 0);
    assert_int_equal(rig.length, 0);
    uart16550_free(uart);
}

static void characters_leave_at_once(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    for (const char *text = "hello \xff"; *text; text++) {
        assert_int_equal(get(uart, LSR) & 0x60, 0x60);
        put(uart, RBR, (uint8_t)*text);
    }
    uart16550_ops.write(uart, RBR, 4, 0x12345621); /* a wide store is a store of its low byte */
    assert_string_equal(rig.text, "hello \xff!");
    uart16550_free(uart);
}

static void without_fifos_one_character_fits(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    assert_int_equal(uart16550_room(uart), 1);
    receive(uart, 1);
    assert_int_equal(uart16550_room(uart), 0);
    assert_int_equal(get(uart, LSR), 0x61);
    assert_false(rig.level[IRQ]);
    put(uart, IER, 0x01);
    assert_true(rig.level[IRQ]);
    assert_int_equal(get(uart, IIR), 0x04);
    assert_int_equal(get(uart, RBR), 'a');
    assert_false(rig.level[IRQ]);
    assert_int_equal(get(uart, IIR), 0x01);
    assert_int_equal(get(uart, LSR), 0x60);
    uart16550_free(uart);
}

static void the_fifo_has_trigger_levels(void **state)
{
    (void)state;
    static const unsigned levels[] = {1, 4, 8, 14};
    for (unsigned i = 0; i < 4; i++) {
        struct rig rig = {0};
        struct uart16550 *uart = make(&rig);
        put(uart, IIR, 0x01 | i << 6);
        put(uart, IER, 0x01);
        assert_int_equal(uart16550_room(uart), 16);
        receive(uart, levels[i] - 1);
        assert_false(rig.level[IRQ]);
        receive(uart, 1);
        assert_true(rig.level[IRQ]);
        assert_int_equal(get(uart, IIR), 0xc4);
        (void)get(uart, RBR); /* below the level: gone, although characters remain */
        assert_false(rig.level[IRQ]);
        assert_int_equal(get(uart, IIR), 0xc1);
        receive(uart, 16 - levels[i] + 1);
        assert_int_equal(uart16550_room(uart), 0);
        uart16550_free(uart);
    }
}

static void the_fifo_keeps_order(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, IIR, 0x01);
    for (unsigned round = 0; round < 5; round++) {
        receive(uart, 13);
        for (unsigned i = 0; i < 13; i++)
            assert_int_equal(get(uart, RBR), 'a' + i);
        assert_int_equal(get(uart, LSR) & 1, 0);
    }
    uart16550_free(uart);
}

/* 8N1 from 3.6864 MHz by 2: 115200 baud; four times ten bits last 347.2 us. */
static void the_character_timeout(void **state)
{
    (void)state;
    struct rig rig = {.now = 1000};
    struct uart16550 *uart = make(&rig);
    put(uart, LCR, 0x03);
    put(uart, IIR, 0xc1);
    put(uart, IER, 0x01);
    assert_true(uart16550_next_event(uart) == TIMEBASE_NEVER);
    receive(uart, 1);
    assert_int_equal(uart16550_next_event(uart), 1000 + 3473);
    rig.now = 2000;
    receive(uart, 1); /* starts anew */
    assert_int_equal(uart16550_next_event(uart), 2000 + 3473);
    rig.now = 2000 + 3472;
    uart16550_update(uart);
    assert_false(rig.level[IRQ]);
    rig.now++;
    uart16550_update(uart);
    assert_true(rig.level[IRQ]);
    assert_int_equal(get(uart, IIR), 0xcc);
    assert_int_equal(get(uart, IIR), 0xcc);
    assert_true(uart16550_next_event(uart) == TIMEBASE_NEVER);
    assert_int_equal(get(uart, RBR), 'a');
    assert_false(rig.level[IRQ]);
    assert_int_equal(uart16550_next_event(uart), rig.now + 3473); /* one character is left */
    assert_int_equal(get(uart, RBR), 'a');
    assert_true(uart16550_next_event(uart) == TIMEBASE_NEVER);
    uart16550_free(uart);
}

/* 5 bits, parity, 1.5 stop bits: 8.5 bits; divisor 0x180: 600 baud. 4 * 8.5 / 600 s = 56.67 ms. */
static void the_timeout_depends_on_the_format(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, LCR, 0x8c);
    put(uart, RBR, 0x80);
    put(uart, IER, 0x01);
    put(uart, LCR, 0x0c);
    put(uart, IIR, 0x81);
    put(uart, IER, 0x01);
    receive(uart, 1);
    assert_int_equal(uart16550_next_event(uart), 566667);
    uart16550_free(uart);
}

static void the_transmitter_interrupt(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, IER, 0x02); /* empty already: at once */
    assert_true(rig.level[IRQ]);
    assert_int_equal(get(uart, IIR), 0x02);
    assert_false(rig.level[IRQ]); /* taken back by reading IIR */
    assert_int_equal(get(uart, IIR), 0x01);
    put(uart, RBR, 'x');
    assert_true(rig.level[IRQ]);
    put(uart, IER, 0x02); /* no change, no new interrupt */
    assert_int_equal(get(uart, IIR), 0x02);
    put(uart, IER, 0x02);
    assert_false(rig.level[IRQ]);
    put(uart, IER, 0x00);
    put(uart, IER, 0x02);
    assert_true(rig.level[IRQ]);
    uart16550_free(uart);
}

static void interrupts_have_priorities(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, IIR, 0x41); /* trigger level 4 */
    put(uart, MCR, 0x10); /* loopback: the only way to an overrun, and to a modem status change */
    (void)get(uart, MSR);
    put(uart, MCR, 0x12); /* CTS changes */
    for (unsigned i = 0; i < 17; i++)
        put(uart, RBR, 'A' + i);
    put(uart, IER, 0x0f);
    assert_int_equal(get(uart, IIR), 0xc6);
    assert_int_equal(get(uart, LSR), 0x63);
    assert_int_equal(get(uart, LSR), 0x61); /* read once */
    assert_int_equal(get(uart, IIR), 0xc4);
    for (unsigned i = 0; i < 13; i++)
        assert_int_equal(get(uart, RBR), 'A' + i);
    rig.now += 1000000;
    assert_int_equal(get(uart, IIR), 0xcc); /* below the level, but for long */
    for (unsigned i = 13; i < 16; i++)
        assert_int_equal(get(uart, RBR), 'A' + i); /* the 17th is lost */
    assert_int_equal(get(uart, IIR), 0xc2);
    assert_int_equal(get(uart, IIR), 0xc0);
    assert_int_equal(get(uart, MSR), 0x11);
    assert_int_equal(get(uart, IIR), 0xc1);
    assert_false(rig.level[IRQ]);
    assert_int_equal(rig.length, 0);
    uart16550_free(uart);
}

static void an_overrun_without_fifos_replaces(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, MCR, 0x10);
    put(uart, RBR, '1');
    put(uart, RBR, '2');
    assert_int_equal(get(uart, LSR), 0x63);
    assert_int_equal(get(uart, RBR), '2');
    assert_int_equal(get(uart, LSR), 0x60);
    uart16550_free(uart);
}

static void loopback_connects_the_modem_lines(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, MCR, 0x1f);
    assert_int_equal(get(uart, MSR), 0xf0); /* nothing but RI differs, whose beginning does not count */
    assert_int_equal(uart16550_room(uart), 0);
    put(uart, MCR, 0x1b);
    assert_int_equal(get(uart, MSR), 0xb4); /* RI has ended */
    put(uart, MCR, 0x10);
    assert_int_equal(get(uart, MSR), 0x0b);
    assert_int_equal(get(uart, MSR), 0x00);
    put(uart, MCR, 0x00);
    assert_int_equal(get(uart, MSR), 0xbb);
    uart16550_free(uart);
}

static void fcr_clears_the_receiver(void **state)
{
    (void)state;
    static const uint8_t values[] = {0x03, 0x00};
    for (unsigned i = 0; i < 2; i++) {
        struct rig rig = {0};
        struct uart16550 *uart = make(&rig);
        put(uart, IIR, 0x01);
        put(uart, IER, 0x01);
        receive(uart, 5);
        put(uart, IIR, 0x05); /* clears the transmitter only */
        assert_true(rig.level[IRQ]);
        put(uart, IIR, values[i]); /* clear; or switch the FIFOs off */
        assert_false(rig.level[IRQ]);
        assert_int_equal(get(uart, LSR), 0x60);
        assert_int_equal(get(uart, IIR), i == 0 ? 0xc1 : 0x01);
        uart16550_free(uart);
    }
}

static void it_is_known_when_the_guest_waits(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    assert_false(uart16550_waits(uart));
    for (unsigned i = 0; i < 100; i++) { /* sending is no waiting */
        (void)get(uart, LSR);
        put(uart, RBR, '.');
    }
    assert_false(uart16550_waits(uart));
    for (unsigned i = 0; i < UART16550_POLLS; i++) {
        assert_false(uart16550_waits(uart));
        (void)get(uart, LSR);
    }
    assert_true(uart16550_waits(uart));
    receive(uart, 1);
    assert_false(uart16550_waits(uart));
    (void)get(uart, RBR);
    assert_false(uart16550_waits(uart)); /* counts from the start again */
    put(uart, IER, 0x01);
    assert_true(uart16550_waits(uart));
    assert_false(uart16550_asks(uart)); /* it may only have opened the port */
    put(uart, MCR, 0x10);
    assert_false(uart16550_waits(uart));
    uart16550_free(uart);
}

static void drivers_that_look_twice_to_send_do_not_ask(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    for (unsigned i = 0; i < 100; i++) {
        (void)get(uart, LSR);
        put(uart, RBR, '.');
        (void)get(uart, LSR);
    }
    assert_false(uart16550_waits(uart));
    for (unsigned i = 0; i < 10 && !uart16550_asks(uart); i++) {
        put(uart, RBR, '.'); /* a sign of life now and then does not hide that it polls */
        for (unsigned k = 0; k < 8; k++)
            (void)get(uart, LSR);
    }
    assert_true(uart16550_asks(uart) && uart16550_waits(uart));
    receive(uart, 1);
    assert_false(uart16550_asks(uart));
    uart16550_free(uart);
}

static unsigned peek(struct uart16550 *uart, uint64_t offset)
{
    uint8_t byte;
    assert_true(uart16550_ops.functional(uart, &(struct mem_access){offset, &byte, 1, false}));
    return byte;
}

/* A debugger sees what a read returns, as often as it likes. */
static void a_debugger_changes_nothing(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct uart16550 *uart = make(&rig);
    put(uart, MCR, 0x10); /* loopback, so that modem lines change: */
    put(uart, MCR, 0x12);
    put(uart, RBR, 'a');
    put(uart, RBR, 'b'); /* an overrun: the FIFOs are off */
    put(uart, MCR, 0x00);
    put(uart, IER, 0x0f);
    for (uint64_t offset = RBR; offset <= SCR + 1; offset++) {
        unsigned seen = peek(uart, offset);
        unsigned changes = rig.changes[IRQ];
        assert_int_equal(peek(uart, offset), seen);
        assert_int_equal(rig.changes[IRQ], changes);
        if (offset != RBR)
            assert_int_equal(get(uart, offset), seen);
    }
    assert_int_equal(peek(uart, RBR), 'b');
    assert_int_equal(get(uart, RBR), 'b');
    assert_int_equal(peek(uart, RBR), 0);
    receive(uart, 1);
    put(uart, LCR, 0x83);
    assert_int_equal(peek(uart, RBR), get(uart, RBR));
    put(uart, LCR, 0x03);
    assert_int_equal(get(uart, LSR) & 1, 1);
    uint8_t byte = 0;
    assert_false(uart16550_ops.functional(uart, &(struct mem_access){RBR, &byte, 1, true}));
    uart16550_free(uart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reset_values),
        cmocka_unit_test(writable_bits),
        cmocka_unit_test(characters_leave_at_once),
        cmocka_unit_test(without_fifos_one_character_fits),
        cmocka_unit_test(the_fifo_has_trigger_levels),
        cmocka_unit_test(the_fifo_keeps_order),
        cmocka_unit_test(the_character_timeout),
        cmocka_unit_test(the_timeout_depends_on_the_format),
        cmocka_unit_test(the_transmitter_interrupt),
        cmocka_unit_test(interrupts_have_priorities),
        cmocka_unit_test(an_overrun_without_fifos_replaces),
        cmocka_unit_test(loopback_connects_the_modem_lines),
        cmocka_unit_test(fcr_clears_the_receiver),
        cmocka_unit_test(it_is_known_when_the_guest_waits),
        cmocka_unit_test(drivers_that_look_twice_to_send_do_not_ask),
        cmocka_unit_test(a_debugger_changes_nothing),
    };
    return cmocka_run_group_tests_name("uart16550", tests, NULL, NULL);
}
