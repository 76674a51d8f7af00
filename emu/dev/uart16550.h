/* The serial port (NS16550A), with its FIFOs. */
#ifndef EMU_DEV_UART16550_H
#define EMU_DEV_UART16550_H

#include "emu/dev/timebase.h"
#include "emu/mem/phys/bus.h"
#include "emu/sim/snapshot/snapshot.h"

/* Eight byte registers at offsets 0 to 7 (National Semiconductor PC16550D data sheet, table II). Wider
 * accesses reach only the register at their offset. Particular to this model:
 *
 *   - The transmitter takes no time: a character is sent when it is written, so THRE and TEMT always read 1.
 *   - All 8 bits are sent, regardless of the length in LCR: many programs send without setting it.
 *   - The line has no errors: no parity errors, framing errors or breaks. Overruns occur only in loopback, because the
 *     host waits for room.
 *   - The character timeout takes simulated time: four characters at the programmed divisor and format, with
 *     an input clock of 3.6864 MHz.
 *   - CTS, DSR and DCD are asserted by the line and never change outside loopback.
 *   - The divisor is 2 after reset. */
enum { UART16550_SIZE = 0x100, UART16550_ACCESS = BUS_ANY, UART16550_HZ = 3686400 };

struct uart16550_wiring {
    struct irq_line irq;
    struct timebase timebase;
    void (*transmit)(void *context, uint8_t byte);
    void *context;
};

struct uart16550;

/* Creates a UART. NULL when out of host memory. Free with uart16550_free(). */
struct uart16550 *uart16550_new(const struct uart16550_wiring *wiring);
void uart16550_free(struct uart16550 *uart);
void uart16550_reset(struct uart16550 *uart);
void uart16550_snapshot(struct uart16550 *uart, struct snapshot *snapshot);

extern const struct device_ops uart16550_ops;

/* Returns how many characters the receiver can take: 0 to 16 with FIFOs enabled, else 0 or 1. 0 in loopback,
 * which disconnects the receiver from the line. */
unsigned uart16550_room(const struct uart16550 *uart);

/* Returns true if the guest waits for a character: the receiver is empty, and either its interrupt is enabled
 * or uart16550_asks(). */
bool uart16550_waits(const struct uart16550 *uart);

/* Returns true if the guest asks for a character: it has polled the empty receiver UART16550_POLLS times. A poll is a read of
 * LSR or RBR. Drivers read LSR to send, too: a transmitted character takes UART16550_SENDS polls back. */
bool uart16550_asks(const struct uart16550 *uart);
enum { UART16550_POLLS = 16, UART16550_SENDS = 4 };

/* Receives a character from the line. There must be room. */
void uart16550_receive(struct uart16550 *uart, uint8_t byte);

/* See timebase.h. */
uint64_t uart16550_next_event(const struct uart16550 *uart);
void uart16550_update(struct uart16550 *uart);

#endif
