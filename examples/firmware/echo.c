/* A console that sleeps until a line is typed; shows the UART's interrupt, the PLIC and newlib. The line
 * `exit` or control-D ends it. */
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/plic.h>
#include <croft/firmware/trap.h>
#include <croft/firmware/uart.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 80, CONTROL_D = 4 };

static char line[LINE];
static unsigned length;
static volatile unsigned complete; /* main() may read the line; the handler does not change it */

static void on_byte(int byte)
{
    if (byte == '\r' || byte == '\n' || byte == CONTROL_D) {
        if (byte == CONTROL_D)
            strcpy(line, "exit");
        else
            line[length] = '\0';
        length = 0;
        complete = 1;
    } else if (length + 1 < LINE) {
        line[length++] = (char)byte;
    }
}

/* Handles the interrupts of all devices. While a line waits to be read, further bytes stay in the UART. */
static void on_device(struct trap_frame *frame)
{
    (void)frame;
    unsigned context = plic_machine_context(hart_id()), source;
    while ((source = plic_claim(context)) != 0) {
        int byte;
        while (source == CROFT_UART_IRQ && !complete && (byte = uart_get()) >= 0)
            on_byte(byte);
        if (complete)
            uart_receive_interrupt(false);
        plic_complete(context, source);
    }
}

int main(void)
{
    unsigned context = plic_machine_context(hart_id());
    trap_set_interrupt(INTERRUPT_MACHINE_EXTERNAL, on_device);
    plic_set_priority(CROFT_UART_IRQ, 1);
    plic_enable(context, CROFT_UART_IRQ, true);
    plic_set_threshold(context, 0);
    csr_set(mie, 1ul << INTERRUPT_MACHINE_EXTERNAL);
    uart_receive_interrupt(true);

    printf("Type something.\n");
    for (unsigned count = 1;; count++) {
        while (!complete) {
            __asm__ volatile("wfi"); /* a pending interrupt ends wfi; it is taken at trap_enable() */
            trap_enable();
            trap_disable();
        }
        printf("%u: %s\n", count, line);
        if (strcmp(line, "exit") == 0)
            return 0;
        complete = 0;
        uart_receive_interrupt(true);
    }
}
