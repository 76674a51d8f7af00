/* The console: a UART of type 16550. */
#ifndef CROFT_FIRMWARE_UART_H
#define CROFT_FIRMWARE_UART_H

#include <stdbool.h>

/* 8 data bits, no parity, FIFOs on unless a byte is waiting, interrupts off. The start-up code has called it.
 */
void uart_init(void);

/* Sends one byte; waits while the transmitter is full. */
void uart_put(char byte);
void uart_puts(const char *text);

/* The next received byte, or -1 if there is none yet. */
int uart_get(void);

/* Whether received bytes raise the UART's interrupt (source CROFT_UART_IRQ of the PLIC). */
void uart_receive_interrupt(bool enabled);

#endif
