/* The serial port (NS16550A), with its FIFOs. */
#ifndef EMU_DEV_UART16550_H
#define EMU_DEV_UART16550_H

#include "emu/dev/timebase.h"
#include "emu/mem/bus.h"

/* Eight byte registers at offsets 0 to 7 (National Semiconductor PC16550D data sheet, table II); wider
 * accesses reach the register at their offset alone. What is particular here:
 *
 *   - The transmitter takes no time: a character leaves when it is written, so THRE and TEMT always read 1.
 *   - All 8 bits travel, whatever length LCR names: many programs send without having set it.
 *   - The line is perfect: parity and framing errors and breaks do not occur. Overruns occur in loopback
 *     only, because the host waits for room.
 *   - The character timeout is in simulated time: four characters by divisor and format, from 3.6864 MHz.
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

/* NULL when the host has no memory. Release with uart16550_free(). */
struct uart16550 *uart16550_create(const struct uart16550_wiring *wiring);
void uart16550_free(struct uart16550 *uart);
void uart16550_reset(struct uart16550 *uart);

extern const struct device_ops uart16550_ops;

/* How many characters the receiver can take: 0 to 16 with the FIFOs enabled, else 0 or 1. 0 in loopback, when
 * the receiver is cut off from the line. */
unsigned uart16550_room(const struct uart16550 *uart);

/* Whether the guest waits for a character: the receiver is empty, and either its interrupt is enabled or the
 * guest has looked for one in vain UART16550_LOOKS times. A look is a read of LSR or RBR; the one that comes
 * with each transmitted character is not counted. */
bool uart16550_waits(const struct uart16550 *uart);
enum { UART16550_LOOKS = 16 };

/* A character arrives from the line, for which there must be room. */
void uart16550_receive(struct uart16550 *uart, uint8_t byte);

/* See timebase.h. */
uint64_t uart16550_next_event(const struct uart16550 *uart);
void uart16550_update(struct uart16550 *uart);

#endif
