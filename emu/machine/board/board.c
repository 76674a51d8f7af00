#include "emu/machine/board/board.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dev/clint.h"
#include "emu/dev/plic.h"
#include "emu/dev/uart16550.h"
#include "emu/dev/virtio/console.h"
#include "emu/dev/virtio/net.h"
#include "emu/sim/alloc.h"

struct wire {
    struct board *board;
    unsigned hart;
};

/* A device on the board. */
struct device {
    const struct instance *part;
    const struct device_kind *kind;
    void *object;
};

struct board {
    struct device *devices;
    unsigned count;
    struct clint *clint; /* one of the devices; NULL: the machine has none */
    struct uart16550 *uart;
    struct plic *plic;
    struct virtio_console *virtio_console;
    struct virtio_net *net;
    struct rom *rom;
    struct htif *htif;
    struct console *console;
    struct board_host host;
    struct timebase timebase;
    struct bus *bus;
    uint64_t rom_base;
    const char *owners[PLIC_SOURCES + 1]; /* owners[interrupt number]: name of the device */
    unsigned harts;
    struct wire *wires; /* by hart */
};

static void set_interrupt(void *context, unsigned number, bool level)
{
    const struct wire *wire = context;
    wire->board->host.interrupt(wire->board->host.context, wire->hart, number, level);
}

static struct irq_line hart_line(void *context, unsigned hart, unsigned number)
{
    struct board *board = context;
    return (struct irq_line){.set = set_interrupt, .context = &board->wires[hart], .number = number};
}

static void transmit(void *context, uint8_t byte)
{
    const struct board *board = context;
    if (board->console)
        console_put(board->console, byte);
}

static void exit_run(void *context, int status)
{
    const struct board *board = context;
    board->host.exit(board->host.context, status);
}

static void restart(void *context)
{
    const struct board *board = context;
    board->host.reset(board->host.context);
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

static bool has_interrupt(const struct instance *part)
{
    return part_field_find(part->kind, "irq") >= 0;
}

/* Returns a device's name on the board: "uart", "disk.0". */
static const char *name_of(const struct instance *part)
{
    return part->path + strlen("devices.");
}

/* Makes a device, connects its interrupt and adds it to the bus. */
static bool add_device(struct board *board, const struct machine_config *config, const struct instance *part,
                       struct error *err)
{
    const struct device_config *described = part->config;
    struct device_site site = {.harts = board->harts,
                               .timebase = board->timebase,
                               .bytes = {board->bus->memory, &board->bus->holders},
                               .hart_line = hart_line,
                               .transmit = transmit,
                               .exit = exit_run,
                               .restart = restart,
                               .context = board};
    if (has_interrupt(part) && !board_connect(board, name_of(part), described->irq, &site.irq, err))
        return tree_at(config->tree, part, "irq", err);
    board->devices = alloc_resize(board->devices, (board->count + 1) * sizeof *board->devices);
    struct device *device = &board->devices[board->count];
    *device = (struct device){.part = part, .kind = part->kind->extension};
    device->object = device->kind->make(described, &site);
    board->count++;
    if (device->kind->open && !device->kind->open(device->object, described, err))
        return error_prefix(err, "%s", part->path);
    const struct bus_region region = {.base = described->base,
                                      .size = device->kind->size,
                                      .sizes = device->kind->sizes,
                                      .executable = device->kind->executable,
                                      .storage = device->kind->storage,
                                      .ops = device->kind->ops,
                                      .device = device->object,
                                      .name = name_of(part)};
    return bus_add(board->bus, &region, err) || tree_at(config->tree, part, "base", err);
}

/* Returns the device of that kind, or NULL. */
static void *device_of(const struct board *board, const struct part_kind *kind)
{
    for (unsigned i = 0; i < board->count; i++)
        if (board->devices[i].part->kind == kind)
            return board->devices[i].object;
    return NULL;
}

/* Adds the interrupt controllers, or all other devices. Controllers come first: the others connect to them. */
static bool add_devices(struct board *board, const struct machine_config *config, bool controllers,
                        struct error *err)
{
    const struct instance *devices = tree_find(config->tree, "devices");
    for (const struct instance *part = devices->first; part; part = part->next) {
        const struct device_kind *kind = part->kind->extension;
        if (!part->absent && kind && kind->controller == controllers && !add_device(board, config, part, err))
            return false;
        board->plic = device_of(board, &plic_kind);
    }
    return true;
}

struct board *board_new(const struct machine_config *config, struct bus *bus, const struct board_host *host,
                        struct console *console, struct error *err)
{
    struct board *board = alloc(1, sizeof *board);
    board->bus = bus;
    board->host = *host;
    board->console = console;
    board->harts = config->harts;
    board->timebase = (struct timebase){.now = host->ticks, .moved = host->moved, .context = host->context};
    board->wires = alloc(board->harts, sizeof *board->wires);
    for (unsigned hart = 0; hart < board->harts; hart++)
        board->wires[hart] = (struct wire){.board = board, .hart = hart};
    if (!add_devices(board, config, true, err) || !add_devices(board, config, false, err)) {
        board_free(board);
        return NULL;
    }
    const struct device_config *rom = tree_config(config->tree, "devices.rom");
    board->rom_base = rom ? rom->base : 0;
    board->rom = device_of(board, &rom_kind);
    board->clint = device_of(board, &clint_kind);
    board->uart = device_of(board, &uart_kind);
    board->virtio_console = device_of(board, &virtio_console_kind);
    board->net = device_of(board, &net_kind);
    return board;
}

void board_free(struct board *board)
{
    if (!board)
        return;
    htif_free(board->htif);
    while (board->count > 0) {
        struct device *device = &board->devices[--board->count];
        device->kind->free(device->object);
    }
    free(board->devices);
    free(board->wires);
    free(board);
}

void board_reset(struct board *board)
{
    if (board->htif)
        htif_reset(board->htif);
    for (unsigned i = board->count; i-- > 0;)
        if (board->devices[i].kind->reset)
            board->devices[i].kind->reset(board->devices[i].object);
}

bool board_add_htif(struct board *board, uint64_t tohost, uint64_t fromhost, struct error *err)
{
    struct htif *htif = htif_new(&(struct htif_wiring){.memory = board->bus->memory,
                                                       .holders = &board->bus->holders,
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

static void snapshot_htif(struct board *board, struct snapshot *s)
{
    struct error why;
    snapshot_section(s, "htif");
    uint64_t tohost = snapshot_number(s, "tohost", board->htif ? htif_tohost(board->htif) : 0, UINT64_MAX);
    uint64_t fromhost =
        snapshot_number(s, "fromhost", board->htif ? htif_fromhost(board->htif) : 0, UINT64_MAX);
    if (s->failed || tohost == 0)
        return;
    if (!s->saves && (tohost % 8 != 0 || !board_add_htif(board, tohost, fromhost, &why)))
        snapshot_fail(s, "the snapshot is damaged: tohost cannot be at 0x%" PRIx64, tohost);
    else
        htif_snapshot(board->htif, s);
}

void board_snapshot(struct board *board, struct snapshot *s)
{
    for (unsigned i = 0; i < board->count && !s->failed; i++) {
        const struct device *device = &board->devices[i];
        if (!device->kind->snapshot)
            continue;
        snapshot_section(s, device->part->path);
        snapshot_same(s, "base", ((const struct device_config *)device->part->config)->base);
        if (has_interrupt(device->part))
            snapshot_same(s, "irq", ((const struct device_config *)device->part->config)->irq);
        device->kind->snapshot(device->object, s);
    }
    snapshot_htif(board, s);
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

uint64_t board_next_event(const struct board *board)
{
    uint64_t next = TIMEBASE_NEVER;
    for (unsigned i = 0; i < board->count; i++) {
        const struct device *device = &board->devices[i];
        uint64_t own = device->kind->next_event ? device->kind->next_event(device->object) : TIMEBASE_NEVER;
        next = own < next ? own : next;
    }
    return next;
}

void board_update(struct board *board)
{
    for (unsigned i = 0; i < board->count; i++)
        if (board->devices[i].kind->update)
            board->devices[i].kind->update(board->devices[i].object);
}

/* Takes a byte for a guest that asks for it, or one that only waits. */
static bool take_input(struct board *board, bool asks, uint8_t *byte)
{
    return asks ? console_get(board->console, byte) : console_offer(board->console, byte);
}

/* Passes console input to the program that waits for it. An HTIF program has requested one character. */
static void hand_over_input(struct board *board)
{
    struct virtio_console *virtio = board->virtio_console;
    struct uart16550 *uart = board->uart;
    uint8_t byte;
    if (board->htif && htif_waits(board->htif) && console_get(board->console, &byte))
        htif_receive(board->htif, byte);
    while (virtio && virtio_console_waits(virtio) && take_input(board, virtio_console_asks(virtio), &byte))
        virtio_console_receive(virtio, byte);
    bool waits = uart && uart16550_waits(uart), asks = uart && uart16550_asks(uart);
    while (waits && uart16550_room(uart) > 0 && take_input(board, asks, &byte))
        uart16550_receive(uart, byte);
}

enum console_state board_poll(struct board *board, struct error *err)
{
    board_update(board);
    if (board->net)
        virtio_net_poll(board->net);
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
    bool waits = (board->htif && htif_waits(board->htif)) || (board->uart && uart16550_waits(board->uart)) ||
                 (board->virtio_console && virtio_console_waits(board->virtio_console));
    bool input = board->console && (waits || console_interactive(board->console));
    if (board->console)
        console_flush(board->console);
    bool waited =
        board->net && virtio_net_wait(board->net, input ? console_input(board->console) : -1, milliseconds);
    bool looked = input && console_wait(board->console, waited ? 0 : milliseconds);
    return waited || looked;
}
