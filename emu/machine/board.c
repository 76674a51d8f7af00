#include "emu/machine/board.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/dev/clint.h"
#include "emu/dev/finisher.h"
#include "emu/dev/plic.h"
#include "emu/dev/rtc.h"
#include "emu/dev/uart16550.h"
#include "emu/hart/priv.h"

struct wire {
    struct board *board;
    unsigned hart;
};

struct board {
    struct clint *clint; /* devices that the machine does not have are NULL */
    struct rtc *rtc;
    struct uart16550 *uart;
    struct htif *htif;
    struct console *console;
    struct plic *plic;
    struct rom *rom;
    struct finisher finisher;
    struct board_host host;
    struct timebase timebase;
    struct bus *bus;
    uint64_t rom_base;
    const char *owners[PLIC_SOURCES + 1]; /* by interrupt number: the device */
    unsigned harts;
    struct wire wires[CLINT_HARTS];
};

static void set_interrupt(void *context, unsigned number, bool level)
{
    const struct wire *wire = context;
    wire->board->host.interrupt(wire->board->host.context, wire->hart, number, level);
}

static struct irq_line hart_line(struct board *board, unsigned hart, unsigned number)
{
    return (struct irq_line){.set = set_interrupt, .context = &board->wires[hart], .number = number};
}

/* Puts the message's key and its place before the message. */
static bool at_key(const struct machine_config *config, const char *name, const char *field,
                   struct error *err)
{
    char key[64], source[MACHINE_SOURCE];
    (void)snprintf(key, sizeof key, "devices.%s.%s", name, field);
    machine_source(config, key, source);
    return error_prefix(err, "%s: %s", source, key);
}

static bool map(struct board *board, const struct machine_config *config, const struct bus_region *region,
                struct error *err)
{
    if (!region->device)
        return error_set(err, "out of memory");
    return bus_add(board->bus, region, err) || at_key(config, region->name, "base", err);
}

bool board_connect(struct board *board, const char *owner, uint64_t number, struct irq_line *line,
                   struct error *err)
{
    *line = (struct irq_line){0};
    if (!board->plic)
        return true;
    if (number > PLIC_SOURCES)
        return error_set(err, "interrupt %" PRIu64 " does not exist; choose 1 to %d", number, PLIC_SOURCES);
    if (board->owners[number])
        return error_set(err,
                         "interrupt %" PRIu64 " already belongs to devices.%s; choose another of 1 to %d",
                         number, board->owners[number], PLIC_SOURCES);
    board->owners[number] = owner;
    *line = plic_input(board->plic, (unsigned)number);
    return true;
}

/* The same for a device of the section `devices`. */
static bool connect(struct board *board, const struct machine_config *config, const char *name,
                    uint64_t number, struct irq_line *line, struct error *err)
{
    return board_connect(board, name, number, line, err) || at_key(config, name, "irq", err);
}

static bool add_clint(struct board *board, const struct machine_config *config, struct error *err)
{
    struct irq_line software[CLINT_HARTS], timer[CLINT_HARTS];
    if (!config->devices.clint)
        return true;
    for (unsigned hart = 0; hart < board->harts; hart++) {
        software[hart] = hart_line(board, hart, IRQ_MSI);
        timer[hart] = hart_line(board, hart, IRQ_MTI);
    }
    board->clint = clint_create(board->harts, &board->timebase, software, timer);
    return map(board, config,
               &(struct bus_region){.base = config->devices.clint->base,
                                    .size = CLINT_SIZE,
                                    .sizes = CLINT_ACCESS,
                                    .ops = &clint_ops,
                                    .device = board->clint,
                                    .name = "clint"},
               err);
}

static bool add_plic(struct board *board, const struct machine_config *config, struct error *err)
{
    struct irq_line lines[PLIC_CONTEXTS];
    if (!config->devices.plic)
        return true;
    for (unsigned hart = 0; hart < board->harts; hart++) {
        lines[2 * hart] = hart_line(board, hart, IRQ_MEI);
        lines[2 * hart + 1] = hart_line(board, hart, IRQ_SEI);
    }
    board->plic = plic_create(2 * board->harts, lines);
    return map(board, config,
               &(struct bus_region){.base = config->devices.plic->base,
                                    .size = PLIC_SIZE,
                                    .sizes = PLIC_ACCESS,
                                    .ops = &plic_ops,
                                    .device = board->plic,
                                    .name = "plic"},
               err);
}

static bool add_rom(struct board *board, const struct machine_config *config, struct error *err)
{
    if (!config->devices.rom)
        return true;
    board->rom = rom_create();
    board->rom_base = config->devices.rom->base;
    return map(board, config,
               &(struct bus_region){.base = board->rom_base,
                                    .size = ROM_SIZE,
                                    .sizes = ROM_ACCESS,
                                    .executable = true,
                                    .ops = &rom_ops,
                                    .device = board->rom,
                                    .name = "rom"},
               err);
}

static bool add_finisher(struct board *board, const struct machine_config *config, struct error *err)
{
    if (!config->devices.finisher)
        return true;
    board->finisher = (struct finisher){
        .exit = board->host.exit, .reset = board->host.reset, .context = board->host.context};
    return map(board, config,
               &(struct bus_region){.base = config->devices.finisher->base,
                                    .size = FINISHER_SIZE,
                                    .sizes = FINISHER_ACCESS,
                                    .ops = &finisher_ops,
                                    .device = &board->finisher,
                                    .name = "finisher"},
               err);
}

static bool add_rtc(struct board *board, const struct machine_config *config, struct error *err)
{
    struct irq_line irq;
    if (!config->devices.rtc)
        return true;
    if (!connect(board, config, "rtc", config->devices.rtc->irq, &irq, err))
        return false;
    board->rtc = rtc_create(&board->timebase, config->devices.rtc->epoch, irq);
    return map(board, config,
               &(struct bus_region){.base = config->devices.rtc->base,
                                    .size = RTC_SIZE,
                                    .sizes = RTC_ACCESS,
                                    .ops = &rtc_ops,
                                    .device = board->rtc,
                                    .name = "rtc"},
               err);
}

static void transmit(void *context, uint8_t byte)
{
    const struct board *board = context;
    if (board->console)
        console_put(board->console, byte);
}

static bool add_uart(struct board *board, const struct machine_config *config, struct error *err)
{
    struct uart16550_wiring wiring = {.timebase = board->timebase, .transmit = transmit, .context = board};
    if (!config->devices.uart)
        return true;
    if (!connect(board, config, "uart", config->devices.uart->irq, &wiring.irq, err))
        return false;
    board->uart = uart16550_create(&wiring);
    return map(board, config,
               &(struct bus_region){.base = config->devices.uart->base,
                                    .size = UART16550_SIZE,
                                    .sizes = UART16550_ACCESS,
                                    .ops = &uart16550_ops,
                                    .device = board->uart,
                                    .name = "uart"},
               err);
}

/* The PLIC comes before the devices that are wired to it. */
static bool (*const adders[])(struct board *, const struct machine_config *, struct error *) = {
    add_rom, add_clint, add_plic, add_finisher, add_rtc, add_uart,
};

struct board *board_create(const struct machine_config *config, struct bus *bus,
                           const struct board_host *host, struct console *console, struct error *err)
{
    struct board *board = calloc(1, sizeof *board);
    if (!board) {
        (void)error_set(err, "out of memory");
        return NULL;
    }
    board->bus = bus;
    board->host = *host;
    board->console = console;
    board->harts = (unsigned)config->harts;
    board->timebase = (struct timebase){.now = host->ticks, .moved = host->moved, .context = host->context};
    for (unsigned hart = 0; hart < board->harts; hart++)
        board->wires[hart] = (struct wire){.board = board, .hart = hart};
    for (size_t i = 0; i < sizeof adders / sizeof adders[0]; i++) {
        if (adders[i](board, config, err))
            continue;
        board_free(board);
        return NULL;
    }
    return board;
}

void board_free(struct board *board)
{
    if (!board)
        return;
    htif_free(board->htif);
    uart16550_free(board->uart);
    rtc_free(board->rtc);
    rom_free(board->rom);
    plic_free(board->plic);
    clint_free(board->clint);
    free(board);
}

void board_reset(struct board *board)
{
    if (board->htif)
        htif_reset(board->htif);
    if (board->uart)
        uart16550_reset(board->uart);
    if (board->rtc)
        rtc_reset(board->rtc);
    if (board->plic)
        plic_reset(board->plic);
    if (board->clint)
        clint_reset(board->clint);
}

bool board_add_htif(struct board *board, uint64_t tohost, uint64_t fromhost, struct error *err)
{
    struct htif *htif = htif_create(&(struct htif_wiring){.memory = board->bus->memory,
                                                          .tohost = tohost,
                                                          .fromhost = fromhost,
                                                          .exit = board->host.tohost,
                                                          .output = transmit,
                                                          .exit_context = board->host.context,
                                                          .output_context = board},
                                    err);
    if (!htif)
        return false;
    htif_free(board->htif);
    board->htif = htif;
    return true;
}

struct htif *board_htif(const struct board *board)
{
    return board->htif;
}

bool board_set_boot(struct board *board, const struct rom_boot *boot, uint64_t *address)
{
    if (!board->rom)
        return false;
    rom_set_boot(board->rom, boot);
    *address = board->rom_base;
    return true;
}

uint64_t board_time(const struct board *board)
{
    return board->clint ? clint_time(board->clint) : timebase_now(&board->timebase);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t board_next_event(const struct board *board)
{
    uint64_t next = TIMEBASE_NEVER;
    if (board->clint)
        next = earlier(next, clint_next_event(board->clint));
    if (board->rtc)
        next = earlier(next, rtc_next_event(board->rtc));
    if (board->uart)
        next = earlier(next, uart16550_next_event(board->uart));
    return next;
}

void board_update(struct board *board)
{
    if (board->clint)
        clint_update(board->clint);
    if (board->rtc)
        rtc_update(board->rtc);
    if (board->uart)
        uart16550_update(board->uart);
}

/* Hands input to whom waits for it: a program that uses HTIF has asked for one character. */
static void hand_over_input(struct board *board)
{
    uint8_t byte;
    if (board->htif && htif_waits(board->htif) && console_get(board->console, &byte))
        htif_receive(board->htif, byte);
    if (!board->uart || !uart16550_waits(board->uart))
        return;
    while (uart16550_room(board->uart) > 0 && console_get(board->console, &byte))
        uart16550_receive(board->uart, byte);
}

enum console_state board_poll(struct board *board, struct error *err)
{
    board_update(board);
    if (board->htif && !htif_poll(board->htif, err))
        return CONSOLE_FAILED;
    if (!board->console)
        return CONSOLE_RUNNING;
    enum console_state state = console_poll(board->console, err);
    if (state == CONSOLE_RUNNING)
        hand_over_input(board);
    return state;
}

bool board_wait(struct board *board, int milliseconds)
{
    bool waits = (board->htif && htif_waits(board->htif)) || (board->uart && uart16550_waits(board->uart));
    return board->console && (waits || console_interactive(board->console)) &&
           console_wait(board->console, milliseconds);
}
