/* Fuzzes the UART: any sequence of register accesses, arriving characters and passing time. The interrupt
 * must say what IIR says, and characters must come out as they went in. */
#include <stdio.h>
#include <stdlib.h>

#include "emu/dev/uart16550.h"

enum { RBR = 0, IIR = 2, LCR = 3, MCR = 4, LSR = 5, FIFO = 16 };

struct model {
    uint64_t now;
    bool level;
    unsigned sent;
    uint8_t fifo[FIFO]; /* what the receiver must hold */
    unsigned count;
};

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "uart: %s\n", what);
    abort();
}

static uint64_t now(void *context)
{
    return ((const struct model *)context)->now;
}

static void set(void *context, unsigned number, bool level)
{
    struct model *model = context;
    (void)number;
    check(model->level != level, "the wire tells a change that is none");
    model->level = level;
}

static void transmit(void *context, uint8_t byte)
{
    (void)byte;
    ((struct model *)context)->sent++;
}

static void receive(struct uart16550 *uart, struct model *model, uint8_t byte)
{
    unsigned room = uart16550_room(uart);
    check(room <= FIFO, "more room than there is");
    if (room == 0)
        return;
    uart16550_receive(uart, byte);
    check(uart16550_room(uart) == room - 1, "a character takes one place");
    check(!uart16550_waits(uart), "the guest has what it waits for");
    if (model->count < FIFO)
        model->fifo[model->count++] = byte;
}

/* Reads all characters, in the order in which they came. What went through loopback or was cleared is not in
 * the model, which then starts anew. */
static void drain(struct uart16550 *uart, struct model *model, bool known)
{
    uart16550_ops.write(uart, LCR, 1, 3); /* RBR is there, not the divisor */
    for (unsigned i = 0; i < model->count && known; i++)
        check(uart16550_ops.read(uart, RBR, 1) == model->fifo[i], "characters change on their way");
    while (!known && (uart16550_ops.read(uart, LSR, 1) & 1))
        (void)uart16550_ops.read(uart, RBR, 1);
    model->count = 0;
}

/* The wire has the level that IIR gives reason for, without an update, if no time has passed since the last
 * one. */
static bool check_level(struct uart16550 *uart, const struct model *model)
{
    bool level = model->level;
    uint64_t iir = uart16550_ops.read(uart, IIR, 1);
    check(level == !(iir & 1), "interrupt and IIR disagree");
    return level;
}

static void check_interrupt(struct uart16550 *uart, struct model *model)
{
    uart16550_update(uart);
    bool level = check_level(uart, model);
    uint64_t next = uart16550_next_event(uart);
    if (next != TIMEBASE_NEVER && next > model->now && !level) {
        model->now = next;
        uart16550_update(uart);
        check(model->level, "the next event is none");
    }
}

static void step(struct uart16550 *uart, struct model *model, const uint8_t bytes[3])
{
    uint64_t offset = bytes[1] % 16;
    unsigned size = 1u << (bytes[0] >> 6);
    switch (bytes[0] % 8) {
    case 0: (void)uart16550_ops.read(uart, offset, size); break;
    case 1: uart16550_ops.write(uart, offset, size, bytes[2] * UINT64_C(0x010101)); break;
    case 2: receive(uart, model, bytes[1]); break;
    case 3: model->now += (uint64_t)bytes[1] << bytes[2] % 32; break;
    case 4: check_interrupt(uart, model); break;
    case 5: uart16550_update(uart); break;
    case 6: (void)uart16550_waits(uart); break;
    default:
        uart16550_reset(uart);
        model->count = 0;
        break;
    }
    bool changes_fifo = bytes[0] % 8 <= 1;
    if (changes_fifo && bytes[0] & 8)
        (void)check_level(uart, model);
    if (changes_fifo && model->count > 0 && offset <= MCR)
        drain(uart, model, false);
    else if (model->count == FIFO)
        drain(uart, model, uart16550_room(uart) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model model = {0};
    struct uart16550_wiring wiring = {.irq = {.set = set, .context = &model},
                                      .timebase = {.now = now, .context = &model},
                                      .transmit = transmit,
                                      .context = &model};
    struct uart16550 *uart = uart16550_new(&wiring);
    for (; size >= 3; data += 3, size -= 3)
        step(uart, &model, data);
    check_interrupt(uart, &model);
    uart16550_free(uart);
    return 0;
}
