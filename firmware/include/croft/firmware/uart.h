/* The console: a 16550 UART. */
#ifndef CROFT_FIRMWARE_UART_H
#define CROFT_FIRMWARE_UART_H

#include <stdbool.h>

/* Sets 8 data bits, no parity, FIFOs on unless a byte is waiting, interrupts off. The start-up code calls
 * it. */
void uart_init(void);

/* Send one byte or a string; wait while the transmitter is full. */
void uart_put(char byte);
void uart_puts(const char *text);

/* Returns the next received byte, or -1 if there is none. */
int uart_get(void);

/* Enables or disables the UART's receive interrupt (source CROFT_UART_IRQ of the PLIC). */
void uart_receive_interrupt(bool enabled);

#endif
