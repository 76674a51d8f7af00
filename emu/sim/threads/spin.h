/* Waiting for another host thread for less than the host needs to put one to sleep. */
#ifndef EMU_SIM_THREADS_SPIN_H
#define EMU_SIM_THREADS_SPIN_H

#include <sched.h>

enum { SPINS = 50 }; /* some microseconds */

/* Waits a moment; every SPINS times, lets others use the processor. */
static inline void spin_once(unsigned *spins)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
    if (++*spins % SPINS == 0)
        (void)sched_yield();
}

#endif
