#include <croft/firmware/map.h>
#include <croft/firmware/uart.h>

#include "firmware/mmio.h"

/* Byte registers of the NS16550A, and their bits (data sheet, tables II and III). */
enum { DATA = 0, IER = 1, FCR = 2, LCR = 3, MCR = 4, LSR = 5 };
enum {
    IER_RECEIVED = 1,
    FCR_ENABLE_AND_CLEAR = 7,
    LCR_8N1 = 3,
    MCR_DTR_RTS_OUT2 = 0xb, /* OUT2 gates the interrupt on many boards */
    LSR_DATA_READY = 1,
    LSR_TRANSMIT_EMPTY = 0x20,
};

static volatile uint8_t *uart_register(unsigned offset)
{
    return mmio8(CROFT_UART_BASE + offset);
}

void uart_init(void)
{
    *uart_register(IER) = 0;
    *uart_register(LCR) = LCR_8N1;
    /* Enabling the FIFOs would discard a byte that has already arrived; in that case leave them off. */
    if (!(*uart_register(LSR) & LSR_DATA_READY))
        *uart_register(FCR) = FCR_ENABLE_AND_CLEAR;
    *uart_register(MCR) = MCR_DTR_RTS_OUT2;
}

void uart_put(char byte)
{
    while (!(*uart_register(LSR) & LSR_TRANSMIT_EMPTY))
        ;
    *uart_register(DATA) = (uint8_t)byte;
}

void uart_puts(const char *text)
{
    while (*text)
        uart_put(*text++);
}

int uart_get(void)
{
    return *uart_register(LSR) & LSR_DATA_READY ? *uart_register(DATA) : -1;
}

void uart_receive_interrupt(bool enabled)
{
    *uart_register(IER) = enabled ? IER_RECEIVED : 0;
}
