#include "emu/dev/uart16550.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/dev/device.h"
#include "emu/sim/alloc.h"
#include "linker/map.h"

enum { RBR_THR_DLL = 0, IER_DLM = 1, IIR_FCR = 2, LCR = 3, MCR = 4, LSR = 5, MSR = 6, SCR = 7 };

enum {
    IER_RECEIVED = 0x01,
    IER_EMPTY = 0x02,
    IER_LINE = 0x04,
    IER_MODEM = 0x08,

    IIR_NONE = 0x01,
    IIR_MODEM = 0x00,
    IIR_EMPTY = 0x02,
    IIR_RECEIVED = 0x04,
    IIR_LINE = 0x06,
    IIR_TIMEOUT = 0x0c,
    IIR_FIFOS = 0xc0,

    FCR_ENABLE = 0x01,
    FCR_CLEAR_RECEIVER = 0x02,
    FCR_TRIGGER_SHIFT = 6,

    LCR_LENGTH = 0x03,
    LCR_STOP = 0x04,
    LCR_PARITY = 0x08,
    LCR_DLAB = 0x80,

    MCR_DTR = 0x01,
    MCR_RTS = 0x02,
    MCR_OUT1 = 0x04,
    MCR_OUT2 = 0x08,
    MCR_LOOP = 0x10,
    MCR_BITS = 0x1f,

    LSR_DATA = 0x01,
    LSR_OVERRUN = 0x02,
    LSR_THRE = 0x20,
    LSR_TEMT = 0x40,

    MSR_DCTS = 0x01,
    MSR_DDSR = 0x02,
    MSR_TERI = 0x04,
    MSR_DDCD = 0x08,
    MSR_CTS = 0x10,
    MSR_DSR = 0x20,
    MSR_RI = 0x40,
    MSR_DCD = 0x80,

    FIFO = 16,
    RESET_DIVISOR = 2, /* 115200 baud; undefined in the data sheet */
};

struct uart16550 {
    uint8_t fifo[FIFO];
    unsigned first, count; /* ring buffer of received characters */
    uint8_t ier, fcr, lcr, mcr, scr;
    uint8_t modem_delta; /* MSR bits 0 to 3 */
    uint16_t divisor;
    bool overrun;
    bool empty_pending; /* the transmitter has become empty since the last read of IIR that reported it */
    bool timed_out;     /* the character timeout has occurred since the last read of RBR */
    bool irq_level;
    unsigned looks;
    uint64_t timeout; /* tick of the character timeout; receiving or reading a character moves it */
    struct uart16550_wiring wiring;
};

static bool fifos(const struct uart16550 *uart)
{
    return uart->fcr & FCR_ENABLE;
}

static unsigned capacity(const struct uart16550 *uart)
{
    return fifos(uart) ? FIFO : 1;
}

static bool trigger_reached(const struct uart16550 *uart)
{
    static const uint8_t levels[] = {1, 4, 8, 14};
    return uart->count >= (fifos(uart) ? levels[uart->fcr >> FCR_TRIGGER_SHIFT] : 1u);
}

/* Returns four times the duration of a character, in ticks. */
static uint64_t four_characters(const struct uart16550 *uart)
{
    uint64_t length = 5 + (uart->lcr & LCR_LENGTH);
    uint64_t half_bits = 2 * (1 + length + ((uart->lcr & LCR_PARITY) != 0) + 1);
    if (uart->lcr & LCR_STOP)
        half_bits += length == 5 ? 1 : 2;
    uint64_t divisor = uart->divisor ? uart->divisor : 0x10000;
    uint64_t cycles = 4 * half_bits * 16 * divisor / 2;
    return (cycles * TIMEBASE_HZ + UART16550_HZ - 1) / UART16550_HZ;
}

static void restart_timeout(struct uart16550 *uart)
{
    uart->timeout = timebase_now(&uart->wiring.timebase) + four_characters(uart);
    if (uart->count > 0)
        timebase_moved(&uart->wiring.timebase);
}

/* Returns the interrupt with the highest priority, as IIR bits 0 to 3 (data sheet, table IV). */
static uint8_t interrupt(const struct uart16550 *uart)
{
    if ((uart->ier & IER_LINE) && uart->overrun)
        return IIR_LINE;
    if ((uart->ier & IER_RECEIVED) && trigger_reached(uart))
        return IIR_RECEIVED;
    if ((uart->ier & IER_RECEIVED) && uart->timed_out)
        return IIR_TIMEOUT;
    if ((uart->ier & IER_EMPTY) && uart->empty_pending)
        return IIR_EMPTY;
    if ((uart->ier & IER_MODEM) && uart->modem_delta)
        return IIR_MODEM;
    return IIR_NONE;
}

static void update_irq(struct uart16550 *uart)
{
    bool level = interrupt(uart) != IIR_NONE;
    if (uart->irq_level == level)
        return;
    uart->irq_level = level;
    irq_set(&uart->wiring.irq, level);
}

void uart16550_update(struct uart16550 *uart)
{
    if (fifos(uart) && uart->count > 0 && timebase_now(&uart->wiring.timebase) >= uart->timeout)
        uart->timed_out = true;
    update_irq(uart);
}

uint64_t uart16550_next_event(const struct uart16550 *uart)
{
    bool running = fifos(uart) && uart->count > 0 && !uart->timed_out && (uart->ier & IER_RECEIVED);
    return running ? uart->timeout : TIMEBASE_NEVER;
}

static void clear_receiver(struct uart16550 *uart)
{
    uart->first = uart->count = 0;
    uart->timed_out = false;
}

void uart16550_reset(struct uart16550 *uart)
{
    uart->ier = uart->fcr = uart->lcr = uart->mcr = uart->scr = uart->modem_delta = 0;
    uart->divisor = RESET_DIVISOR;
    uart->overrun = uart->empty_pending = false;
    uart->looks = 0;
    clear_receiver(uart);
    update_irq(uart);
}

/* A register of 8 bits. */
static void snapshot_byte(struct snapshot *s, const char *name, uint8_t *value, uint8_t bits)
{
    *value = (uint8_t)snapshot_number(s, name, *value, bits);
}

void uart16550_snapshot(struct uart16550 *uart, struct snapshot *s)
{
    uint64_t now = timebase_now(&uart->wiring.timebase);
    snapshot_byte(s, "ier", &uart->ier, 0x0f);
    snapshot_byte(s, "fcr", &uart->fcr, UINT8_MAX);
    snapshot_byte(s, "lcr", &uart->lcr, UINT8_MAX);
    snapshot_byte(s, "mcr", &uart->mcr, MCR_BITS);
    snapshot_byte(s, "scr", &uart->scr, UINT8_MAX);
    snapshot_byte(s, "modem_delta", &uart->modem_delta, 0x0f);
    uart->divisor = (uint16_t)snapshot_number(s, "divisor", uart->divisor, UINT16_MAX);
    uart->overrun = snapshot_flag(s, "overrun", uart->overrun);
    uart->empty_pending = snapshot_flag(s, "empty_pending", uart->empty_pending);
    uart->timed_out = snapshot_flag(s, "timed_out", uart->timed_out);
    uart->irq_level = snapshot_flag(s, "irq_level", uart->irq_level);
    uart->looks = (unsigned)snapshot_number(s, "looks", uart->looks, UINT32_MAX);
    uart->timeout = snapshot_number(s, "timeout", uart->timeout - now, UINT64_MAX) + now;
    uart->first = (unsigned)snapshot_number(s, "first", uart->first, FIFO - 1);
    uart->count = (unsigned)snapshot_number(s, "count", uart->count, capacity(uart));
    snapshot_bytes(s, "fifo", uart->fifo, sizeof uart->fifo);
}

struct uart16550 *uart16550_new(const struct uart16550_wiring *wiring)
{
    struct uart16550 *uart = alloc(1, sizeof *uart);
    uart->wiring = *wiring;
    uart16550_reset(uart);
    return uart;
}

void uart16550_free(struct uart16550 *uart)
{
    free(uart);
}

unsigned uart16550_room(const struct uart16550 *uart)
{
    return uart->mcr & MCR_LOOP ? 0 : capacity(uart) - uart->count;
}

static bool can_wait(const struct uart16550 *uart)
{
    return uart->count == 0 && !(uart->mcr & MCR_LOOP);
}

bool uart16550_waits(const struct uart16550 *uart)
{
    return can_wait(uart) && ((uart->ier & IER_RECEIVED) || uart->looks >= UART16550_POLLS);
}

bool uart16550_asks(const struct uart16550 *uart)
{
    return can_wait(uart) && uart->looks >= UART16550_POLLS;
}

/* Receives a character. With full FIFOs the new character is lost; with FIFOs disabled it replaces the unread
 * one. Both are overruns. */
static void take(struct uart16550 *uart, uint8_t byte)
{
    uart->looks = 0;
    if (uart->count == capacity(uart)) {
        uart->overrun = true;
        if (!fifos(uart))
            uart->fifo[uart->first] = byte;
    } else {
        uart->fifo[(uart->first + uart->count++) % FIFO] = byte;
    }
    restart_timeout(uart);
    update_irq(uart);
}

void uart16550_receive(struct uart16550 *uart, uint8_t byte)
{
    assert(uart16550_room(uart) > 0);
    uart16550_update(uart);
    take(uart, byte);
}

static void count_look(struct uart16550 *uart)
{
    if (uart->count == 0 && uart->looks < UART16550_POLLS)
        uart->looks++;
}

static uint8_t read_character(struct uart16550 *uart)
{
    count_look(uart);
    if (uart->count == 0)
        return 0;
    uint8_t byte = uart->fifo[uart->first];
    uart->first = (uart->first + 1) % FIFO;
    uart->count--;
    uart->timed_out = false;
    restart_timeout(uart);
    return byte;
}

static void transmit(struct uart16550 *uart, uint8_t byte)
{
    uart->empty_pending = true; /* the write clears it, and the character that leaves at once sets it again */
    uart->looks -= uart->looks < UART16550_SENDS ? uart->looks : UART16550_SENDS;
    if (uart->mcr & MCR_LOOP)
        take(uart, byte);
    else
        uart->wiring.transmit(uart->wiring.context, byte);
}

static uint8_t iir_of(const struct uart16550 *uart)
{
    return (uint8_t)(interrupt(uart) | (fifos(uart) ? IIR_FIFOS : 0));
}

static uint8_t read_iir(struct uart16550 *uart)
{
    uint8_t value = iir_of(uart);
    if (interrupt(uart) == IIR_EMPTY)
        uart->empty_pending = false;
    return value;
}

static uint8_t lsr_of(const struct uart16550 *uart)
{
    return (uint8_t)(LSR_THRE | LSR_TEMT | (uart->count ? LSR_DATA : 0) | (uart->overrun ? LSR_OVERRUN : 0));
}

static uint8_t read_lsr(struct uart16550 *uart)
{
    uint8_t value = lsr_of(uart);
    count_look(uart);
    uart->overrun = false;
    return value;
}

/* Returns MSR bits 4 to 7. In loopback they are the modem control outputs. */
static uint8_t modem_inputs(const struct uart16550 *uart)
{
    if (!(uart->mcr & MCR_LOOP))
        return MSR_CTS | MSR_DSR | MSR_DCD;
    return (uint8_t)((uart->mcr & MCR_RTS ? MSR_CTS : 0) | (uart->mcr & MCR_DTR ? MSR_DSR : 0) |
                     (uart->mcr & MCR_OUT1 ? MSR_RI : 0) | (uart->mcr & MCR_OUT2 ? MSR_DCD : 0));
}

static void write_mcr(struct uart16550 *uart, uint8_t value)
{
    uint8_t before = modem_inputs(uart);
    uart->mcr = value & MCR_BITS;
    uint8_t after = modem_inputs(uart);
    uint8_t changed = (before ^ after) & (MSR_CTS | MSR_DSR | MSR_DCD);
    uint8_t ring_ended = before & (uint8_t)~after & MSR_RI;
    uart->modem_delta |= (uint8_t)((changed | ring_ended) >> 4);
}

static void write_fcr(struct uart16550 *uart, uint8_t value)
{
    bool toggled = (uart->fcr ^ value) & FCR_ENABLE;
    if (toggled || (value & FCR_ENABLE && value & FCR_CLEAR_RECEIVER))
        clear_receiver(uart);
    uart->fcr = value & FCR_ENABLE ? value : 0; /* the other bits are programmed only if bit 0 is set */
}

static void write_ier(struct uart16550 *uart, uint8_t value)
{
    if (value & (uint8_t)~uart->ier & IER_EMPTY)
        uart->empty_pending = true;
    uart->ier = value & 0x0f;
    timebase_moved(&uart->wiring.timebase);
}

static uint64_t uart_read(void *device, uint64_t offset, unsigned size)
{
    struct uart16550 *uart = device;
    bool divisor = uart->lcr & LCR_DLAB;
    uint8_t value = 0;
    (void)size;
    uart16550_update(uart);
    switch (offset) {
    case RBR_THR_DLL: value = divisor ? (uint8_t)uart->divisor : read_character(uart); break;
    case IER_DLM: value = divisor ? (uint8_t)(uart->divisor >> 8) : uart->ier; break;
    case IIR_FCR: value = read_iir(uart); break;
    case LCR: value = uart->lcr; break;
    case MCR: value = uart->mcr; break;
    case LSR: value = read_lsr(uart); break;
    case MSR:
        value = modem_inputs(uart) | uart->modem_delta;
        uart->modem_delta = 0;
        break;
    case SCR: value = uart->scr; break;
    default: break;
    }
    update_irq(uart);
    return value;
}

static void uart_write(void *device, uint64_t offset, unsigned size, uint64_t whole)
{
    struct uart16550 *uart = device;
    bool divisor = uart->lcr & LCR_DLAB;
    uint8_t value = (uint8_t)whole;
    (void)size;
    uart16550_update(uart);
    switch (offset) {
    case RBR_THR_DLL:
        if (divisor)
            uart->divisor = (uint16_t)((uart->divisor & 0xff00) | value);
        else
            transmit(uart, value);
        break;
    case IER_DLM:
        if (divisor)
            uart->divisor = (uint16_t)((uart->divisor & 0x00ff) | value << 8);
        else
            write_ier(uart, value);
        break;
    case IIR_FCR: write_fcr(uart, value); break;
    case LCR: uart->lcr = value; break;
    case MCR: write_mcr(uart, value); break;
    case SCR: uart->scr = value; break;
    default: break; /* LSR and MSR are for factory tests; no registers follow */
    }
    update_irq(uart);
}

/* Returns the value of a read without its effects: the character stays, and no status bit is cleared. */
static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    const struct uart16550 *uart = device;
    bool divisor = uart->lcr & LCR_DLAB;
    switch (offset) {
    case RBR_THR_DLL:
        *value = divisor ? (uint8_t)uart->divisor : uart->count ? uart->fifo[uart->first] : 0;
        return true;
    case IER_DLM: *value = divisor ? (uint8_t)(uart->divisor >> 8) : uart->ier; return true;
    case IIR_FCR: *value = iir_of(uart); return true;
    case LCR: *value = uart->lcr; return true;
    case MCR: *value = uart->mcr; return true;
    case LSR: *value = lsr_of(uart); return true;
    case MSR: *value = modem_inputs(uart) | uart->modem_delta; return true;
    case SCR: *value = uart->scr; return true;
    default: *value = 0; return true;
    }
}

static bool uart_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 1, peek, device);
}

const struct device_ops uart16550_ops = {
    .read = uart_read, .write = uart_write, .functional = uart_functional};

static void *make(const void *config, const struct device_site *site)
{
    const struct uart16550_wiring wiring = {
        .irq = site->irq, .timebase = site->timebase, .transmit = site->transmit, .context = site->context};
    (void)config;
    return uart16550_new(&wiring);
}

DEVICE_CLOCKED(uart16550)

static void describe(struct node_writer *writer, const void *config)
{
    const struct device_config *own = config;
    node_begin_at(writer, "serial", own->base);
    node_text(writer, "compatible", "ns16550a");
    node_reg(writer, own->base, UART16550_SIZE);
    node_cell(writer, "clock-frequency", UART16550_HZ);
    node_interrupt(writer, own->irq);
    node_end(writer);
}

static const struct device_kind device = {
    .size = UART16550_SIZE,
    .sizes = UART16550_ACCESS,
    .ops = &uart16550_ops,
    .make = make,
    DEVICE_CLOCKED_ROWS,
    .describe = describe,
};

static const struct part_field fields[] = {DEVICE_BASE(TEXT_VALUE(CROFT_UART_BASE)),
                                           DEVICE_IRQ(TEXT_VALUE(CROFT_UART_IRQ))};

const struct part_kind uart_kind = {
    .name = "uart",
    .explanation = "Serial port (NS16550A): the console.",
    PART_CONFIG(struct device_config),
    .extension = &device,
};
