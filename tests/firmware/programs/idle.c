/* Sleeps for a second of simulated time. */
#include <croft/firmware/clint.h>
#include <croft/firmware/csr.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/map.h>
#include <croft/firmware/trap.h>
#include <stdio.h>

static volatile int rung;

static void on_timer(struct trap_frame *frame)
{
    (void)frame;
    rung = 1;
    clint_set_timer(hart_id(), UINT64_MAX);
}

int main(void)
{
    uint64_t start = clint_time();
    trap_set_interrupt(INTERRUPT_MACHINE_TIMER, on_timer);
    trap_use_vectors(true);
    clint_set_timer(hart_id(), start + CROFT_TIMEBASE);
    csr_set(mie, 1ul << INTERRUPT_MACHINE_TIMER);
    trap_disable();
    while (!rung) {
        __asm__ volatile("wfi");
        trap_enable();
        trap_disable();
    }
    printf("slept for %lu ms\n", (unsigned long)((clint_time() - start) * 1000 / CROFT_TIMEBASE));
    return 0;
}
