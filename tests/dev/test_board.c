/* The board: devices at their addresses, interrupts on their way to the harts, input on its way to the guest.
 */
#include "tests/dev/machine.h"

#include <unistd.h>

#include "emu/machine/board/board.h"

enum { MSIP = 3, MTIP = 7, SEIP = 9, MEIP = 11 };
enum { UART = 0x10000000, CLINT = 0x2000000, PLIC = 0xc000000, FINISHER = 0x100000, RTC = 0x101000 };

struct place {
    struct rig rig; /* wire 16 h + n: interrupt n of hart h */
    struct machine_config config;
    struct phys memory;
    struct bus bus;
    struct console *console;
    struct board *board;
    int input; /* write end of the console's pipe */
};

static uint64_t ticks(void *context)
{
    return ((const struct place *)context)->rig.now;
}

static void interrupt(void *context, unsigned hart, unsigned number, bool level)
{
    rig_set(&((struct place *)context)->rig, 16 * hart + number, level);
}

static void end(void *context, int status)
{
    rig_exit(&((struct place *)context)->rig, status);
}

static void tohost(void *context, uint64_t code)
{
    rig_code(&((struct place *)context)->rig, code);
}

static void reset(void *context)
{
    rig_reset(&((struct place *)context)->rig);
}

static struct moment moment(void *context)
{
    return (struct moment){.ticks = ((const struct place *)context)->rig.now};
}

static const struct board_host callbacks = {
    .ticks = ticks, .interrupt = interrupt, .exit = end, .tohost = tohost, .reset = reset};

static void make(struct place *place, const char *machine, const char *const *sets)
{
    int ends[2];
    struct error err = {.text = ""};
    struct board_host host = callbacks;
    *place = (struct place){0};
    machine_make(&place->config, machine, sets);
    assert_true(phys_init(&place->memory, place->config.memory->base, place->config.memory->size, &err));
    bus_init(&place->bus, &place->memory);
    assert_int_equal(pipe(ends), 0);
    place->input = ends[1];
    place->console = console_new(
        &(struct console_options){.input = ends[0], .output = ends[1], .moment = moment, .context = place},
        &err);
    host.context = place;
    place->board = board_new(&place->config, &place->bus, &host, place->console, &err);
    if (!place->board)
        fail_msg("%s", err.text);
}

static void drop(struct place *place)
{
    struct error err;
    board_free(place->board);
    assert_true(console_close(place->console, &err));
    bus_free(&place->bus);
    phys_free(&place->memory);
    machine_free(&place->config);
}

static uint64_t get(struct place *place, uint64_t address, unsigned size)
{
    uint64_t value = 0;
    assert_true(bus_read(&place->bus, address, size, &value));
    return value;
}

static void put(struct place *place, uint64_t address, unsigned size, uint64_t value)
{
    assert_true(bus_write(&place->bus, address, size, value));
}

static void poll_board(struct place *place)
{
    struct error err;
    assert_int_equal(board_poll(place->board, &err), CONSOLE_RUNNING);
}

static void virt_has_its_devices(void **state)
{
    (void)state;
    struct place place;
    uint64_t value;
    make(&place, "virt", NO_SETS);
    assert_true(board_set_boot(place.board, &(struct rom_boot){.start = 0x80000000}, &value));
    assert_int_equal(value, 0x1000);
    assert_int_equal(get(&place, 0x1000, 4), 0x297);
    assert_int_equal(get(&place, UART + 5, 1), 0x60);
    assert_int_equal(get(&place, PLIC, 4), 0);
    assert_true(get(&place, CLINT + 0x4000, 8) == UINT64_MAX);
    place.rig.now = 1234;
    assert_int_equal(get(&place, CLINT + 0xbff8, 8), 1234);
    assert_int_equal(board_time(place.board), 1234);
    assert_int_equal(get(&place, RTC + 4, 4), 0);
    assert_int_equal(get(&place, RTC, 4), (uint32_t)(UINT64_C(1704067200000000000) + 123400));
    put(&place, FINISHER, 4, 0x5555);
    assert_true(place.rig.exits == 1 && place.rig.code == 0);
    put(&place, FINISHER, 2, 0x7777);
    assert_int_equal(place.rig.resets, 1);
    assert_false(bus_read(&place.bus, UART + 0x100, 1, &value));
    assert_false(bus_read(&place.bus, PLIC, 8, &value));
    drop(&place);
}

static void functional_has_none(void **state)
{
    (void)state;
    struct place place;
    uint64_t value;
    make(&place, "functional", NO_SETS);
    assert_int_equal(place.bus.count, 0);
    assert_false(board_set_boot(place.board, &(struct rom_boot){0}, &value));
    place.rig.now = 55;
    assert_int_equal(board_time(place.board), 55);
    assert_true(board_next_event(place.board) == UINT64_MAX);
    board_update(place.board);
    poll_board(&place);
    assert_false(board_wait(place.board, -1)); /* nobody takes input */
    board_reset(place.board);
    drop(&place);
}

static void devices_move(void **state)
{
    (void)state;
    struct place place;
    uint64_t value;
    make(&place, "virt", SETS("devices.uart.base=0x40000000", "devices.rtc=none"));
    assert_int_equal(get(&place, 0x40000005, 1), 0x60);
    assert_false(bus_read(&place.bus, UART + 5, 1, &value));
    assert_false(bus_read(&place.bus, RTC, 4, &value));
    drop(&place);
}

static void interrupts_reach_their_harts(void **state)
{
    (void)state;
    struct place place;
    make(&place, "virt", SETS("harts=4"));
    put(&place, CLINT + 4 * 2, 4, 1);
    assert_true(place.rig.level[16 * 2 + MSIP]);
    put(&place, CLINT + 0x4000 + 8 * 3, 8, 500);
    assert_int_equal(board_next_event(place.board), 500);
    place.rig.now = 500;
    board_update(place.board);
    assert_true(place.rig.level[16 * 3 + MTIP]);
    assert_true(board_next_event(place.board) == UINT64_MAX);
    put(&place, PLIC + 4 * 10, 4, 1);                  /* the UART's priority */
    put(&place, PLIC + 0x2000 + 0x80 * 2, 4, 1 << 10); /* hart 1, M */
    put(&place, PLIC + 0x2000 + 0x80 * 7, 4, 1 << 10); /* hart 3, S */
    put(&place, UART + 1, 1, 2);                       /* transmitter empty */
    assert_true(place.rig.level[16 * 1 + MEIP] && place.rig.level[16 * 3 + SEIP]);
    assert_int_equal(get(&place, PLIC + 0x200004 + 0x1000 * 7, 4), 10);
    assert_true(!place.rig.level[16 * 1 + MEIP] && !place.rig.level[16 * 3 + SEIP]);
    unsigned changes = 0;
    for (unsigned i = 0; i < RIG_WIRES; i++)
        changes += place.rig.changes[i];
    assert_int_equal(changes, 6);
    put(&place, PLIC + 4 * 11, 4, 1); /* the clock's */
    put(&place, PLIC + 0x2000, 4, 1 << 11);
    put(&place, RTC + 0x10, 4, 1);
    put(&place, RTC + 0x08, 4, 0);
    assert_true(place.rig.level[MEIP]);
    board_reset(place.board);
    for (unsigned i = 0; i < RIG_WIRES; i++)
        assert_false(place.rig.level[i]);
    drop(&place);
}

static void all_64_harts_are_wired(void **state)
{
    (void)state;
    struct place place;
    make(&place, "virt", SETS("harts=64"));
    assert_int_equal(get(&place, PLIC + 0x200000 + 0x1000 * 127, 4), 0);
    put(&place, PLIC + 0x200000 + 0x1000 * 127, 4, 7);
    assert_int_equal(get(&place, PLIC + 0x200000 + 0x1000 * 127, 4), 7);
    put(&place, CLINT + 0x4000 + 8 * 63, 8, 9);
    assert_int_equal(board_next_event(place.board), 9);
    drop(&place);
}

static void input_waits_for_the_guest(void **state)
{
    (void)state;
    struct place place;
    make(&place, "virt", NO_SETS);
    assert_int_equal(write(place.input, "abcdefghijklmnopqrstuvwxyz", 26), 26);
    poll_board(&place);
    assert_int_equal(get(&place, UART + 5, 1), 0x60); /* the first look in vain */
    for (unsigned i = 0; i < 20; i++) {
        place.rig.now += 100;
        poll_board(&place);
        if (i < 15)
            assert_int_equal(get(&place, UART + 5, 1), 0x60);
    }
    assert_int_equal(get(&place, UART + 5, 1), 0x61);
    assert_int_equal(get(&place, UART, 1), 'a');
    put(&place, UART + 2, 1, 0x01); /* FIFOs on, receive interrupt on */
    put(&place, UART + 1, 1, 0x01);
    assert_true(board_wait(place.board, 0));
    for (unsigned i = 0; i < 25; i++) { /* a pipe gives one byte at each poll point */
        poll_board(&place);
        assert_int_equal(get(&place, UART + 5, 1), 0x61);
        assert_false(board_wait(place.board, 0)); /* it has something to read first */
        assert_int_equal(get(&place, UART, 1), 'b' + i);
        assert_int_equal(get(&place, UART + 5, 1), 0x60);
    }
    drop(&place);
}

static void htif_shares_the_console(void **state)
{
    (void)state;
    struct place place;
    struct error err;
    uint8_t *word;
    make(&place, "functional", NO_SETS);
    assert_null(board_htif(place.board));
    assert_false(board_add_htif(place.board, 0x1000, 0, &err));
    assert_true(board_add_htif(place.board, 0x80001000, 0x80001008, &err));
    word = phys_at(&place.memory, 0x80001000, 16);
    word[7] = 1; /* read a character */
    htif_store(board_htif(place.board), 0x80001000, 8);
    assert_int_equal(write(place.input, "k", 1), 1);
    assert_true(board_wait(place.board, 1000));
    poll_board(&place);
    assert_int_equal(word[8], 'k');
    assert_int_equal(word[9], 1);
    word[0] = 7;
    htif_store(board_htif(place.board), 0x80001000, 8);
    assert_true(place.rig.exits == 1 && place.rig.code == 3);
    word[6] = 9; /* a command that does not exist */
    htif_store(board_htif(place.board), 0x80001000, 8);
    assert_int_equal(board_poll(place.board, &err), CONSOLE_FAILED);
    drop(&place);
}

static void conflicts_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *set, *message;
    } conflicts[] = {
        {"devices.uart.base=0x80000000",
         "--set: devices.uart.base: device uart at 0x80000000 overlaps main memory at 0x80000000"},
        {"devices.uart.base=0xc5ff000",
         "--set: devices.uart.base: device uart at 0xc5ff000 overlaps device plic at "
         "0xc000000"},
        {"devices.uart.irq=11",
         "--set: devices.uart.irq: interrupt 11 already belongs to devices.rtc; choose another of "
         "1 to 96"},
        {"memory.base=0x0",
         "virt.yaml:15: devices.plic.base: device plic at 0xc000000 overlaps main memory at 0x0"},
    };
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
        struct machine_config config;
        struct phys memory;
        struct bus bus;
        struct place place = {0};
        struct board_host host = callbacks;
        struct error err = {.text = ""};
        host.context = &place;
        machine_make(&config, "virt", SETS(conflicts[i].set));
        assert_true(phys_init(&memory, config.memory->base, config.memory->size, &err));
        bus_init(&bus, &memory);
        assert_null(board_new(&config, &bus, &host, NULL, &err));
        assert_string_equal(err.text, conflicts[i].message);
        bus_free(&bus);
        phys_free(&memory);
        machine_free(&config);
    }
}

/* Bytes without effect, as a debugger reads them: what the bus reads, except where a read would do more. */
static void devices_show_their_bytes_without_effect(void **state)
{
    struct place place;
    struct rom_boot boot = {.start = 0x80000000, .fdt = 0x82000000};
    uint64_t rom, value;
    uint8_t bytes[16];
    (void)state;
    make(&place, "virt", NO_SETS);
    const struct bytes view = {&place.memory, &place.bus.holders};
    assert_true(board_set_boot(place.board, &boot, &rom));
    assert_int_equal(bytes_read(&view, rom + 0x18, bytes, 16), 16);
    assert_memory_equal(bytes, "\0\0\0\x80\0\0\0\0\0\0\0\x82\0\0\0\0", 16);
    assert_int_equal(bytes_write(&view, rom + 0x57, "!", 1), 0); /* of the boot program */
    assert_int_equal(bytes_write(&view, rom + 0x58, "!", 1), 1);
    assert_true(bus_read(&place.bus, rom + 0x58, 1, &value));
    assert_int_equal(value, '!');
    assert_int_equal(bytes_reach(&view, rom, 1, true), 1);

    assert_true(bus_write(&place.bus, CLINT + 0x4000, 8, 0x123456789abcdef0));
    assert_int_equal(bytes_read(&view, CLINT + 0x4001, bytes, 6), 6);
    assert_memory_equal(bytes, "\xde\xbc\x9a\x78\x56\x34", 6);
    assert_int_equal(bytes_write(&view, CLINT + 0x4000, "!", 1), 0);
    assert_int_equal(bytes_reach(&view, CLINT, 1, true), 0);

    /* A character arrives: it stays, and so does its interrupt. */
    assert_true(bus_write(&place.bus, PLIC + 4 * 10, 4, 1) &&
                bus_write(&place.bus, PLIC + 0x2000, 4, 1 << 10));
    assert_true(bus_write(&place.bus, UART + 1, 1, 1));
    assert_int_equal(write(place.input, "A", 1), 1);
    struct error err;
    assert_int_equal(board_poll(place.board, &err), CONSOLE_RUNNING);
    assert_int_equal(bytes_read(&view, UART, bytes, 6), 6);
    assert_memory_equal(bytes, "A\x01\x04\0\0\x61", 6);
    assert_int_equal(bytes_write(&view, UART, "!", 1), 0);
    assert_int_equal(bytes_read(&view, PLIC + 0x200004, bytes, 4), 0);
    assert_int_equal(bytes_read(&view, PLIC + 0x1000, bytes, 4), 4);
    assert_memory_equal(bytes, "\0\x04\0\0", 4);
    assert_true(bus_read(&place.bus, PLIC + 0x200004, 4, &value));
    assert_int_equal(value, 10);
    assert_true(bus_read(&place.bus, UART, 1, &value));
    assert_int_equal(value, 'A');

    assert_int_equal(bytes_read(&view, FINISHER, bytes, 4), 4);
    assert_memory_equal(bytes, "\0\0\0\0", 4);
    assert_int_equal(bytes_write(&view, FINISHER, "\x55\x55\0\0", 4), 0);
    /* The low half of the time latches the high one, but not here. */
    assert_true(bus_read(&place.bus, RTC + 4, 4, &value));
    assert_int_equal(value, 0);
    assert_int_equal(bytes_read(&view, RTC, bytes, 8), 8);
    assert_int_equal(memcmp(bytes, (const uint8_t[4]){0}, 4) != 0, 1);
    assert_memory_equal(bytes + 4, "\0\0\0\0", 4);
    drop(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virt_has_its_devices),
        cmocka_unit_test(devices_show_their_bytes_without_effect),
        cmocka_unit_test(functional_has_none),
        cmocka_unit_test(devices_move),
        cmocka_unit_test(interrupts_reach_their_harts),
        cmocka_unit_test(all_64_harts_are_wired),
        cmocka_unit_test(input_waits_for_the_guest),
        cmocka_unit_test(htif_shares_the_console),
        cmocka_unit_test(conflicts_are_told),
    };
    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
