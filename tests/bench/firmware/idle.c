/* Sleeps for SECONDS, waking once in each of them: what an idle simulated second costs the host. */
#include <croft/firmware/clint.h>
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/trap.h>
#include <stdint.h>
#include <stdio.h>

static volatile unsigned ticks;
static uint64_t next;

static void on_timer(struct trap_frame *frame)
{
    (void)frame;
    ticks++;
    next += CROFT_TIMEBASE;
    clint_set_timer(hart_id(), next);
}

int main(void)
{
    trap_set_interrupt(INTERRUPT_MACHINE_TIMER, on_timer);
    trap_use_vectors(true);
    next = clint_time() + CROFT_TIMEBASE;
    clint_set_timer(hart_id(), next);
    csr_set(mie, 1ul << INTERRUPT_MACHINE_TIMER);
    while (ticks < SECONDS) {
        __asm__ volatile("wfi");
        trap_enable();
        trap_disable();
    }
    printf("%u s\n", ticks);
    return 0;
}
