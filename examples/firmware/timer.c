/* A timer interrupt every 10 ms while the main program does its own work; shows the CLINT, a handler in C and
 * vectored mode. Ends after five ticks. */
#include <croft/firmware/clint.h>
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/trap.h>
#include <stdint.h>
#include <stdio.h>

enum { TICKS = 5 };

static const uint64_t period = CROFT_TIMEBASE / 100;

static volatile unsigned ticks;
static uint64_t next;

/* Runs in machine mode with interrupts disabled. Setting the next time clears the interrupt. */
static void on_timer(struct trap_frame *frame)
{
    (void)frame;
    ticks++;
    next += period;
    clint_set_timer(hart_id(), ticks < TICKS ? next : UINT64_MAX);
}

int main(void)
{
    uint64_t start = clint_time();

    trap_set_interrupt(INTERRUPT_MACHINE_TIMER, on_timer);
    trap_use_vectors(true);
    next = start + period;
    clint_set_timer(hart_id(), next);
    csr_set(mie, 1ul << INTERRUPT_MACHINE_TIMER);
    trap_enable();

    for (unsigned seen = 0; seen < TICKS;) {
        trap_disable(); /* otherwise a tick between the check and wfi would be lost */
        if (seen == ticks)
            __asm__ volatile("wfi"); /* a pending interrupt ends it, even if interrupts are disabled */
        trap_enable();
        while (seen < ticks)
            printf("tick %u\n", ++seen);
    }

    uint64_t milliseconds = (clint_time() - start) / (CROFT_TIMEBASE / 1000);
    printf("%u ticks, %s\n", ticks, milliseconds >= 50 ? "no sooner than they should be" : "too soon");
    return 0;
}
