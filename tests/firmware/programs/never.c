/* Timers that are beyond all simulated time: the wait for one never ends, and time does not wrap. COMPARE is
 * the time to wait for; with SUPERVISOR it goes to stimecmp, after mtime was set back. */
#include <croft/firmware/csr.h>
#include <croft/firmware/map.h>
#include <stdint.h>
#include <stdio.h>

#define MENVCFG_STCE (UINT64_C(1) << 63)

int main(void)
{
    volatile uint64_t *time = (volatile uint64_t *)(CROFT_CLINT_BASE + 0xbff8);
    volatile uint64_t *compare = (volatile uint64_t *)(CROFT_CLINT_BASE + 0x4000);
    if (SUPERVISOR) {
        *time = 0;
        __asm__ volatile("csrs 0x30a, %0\ncsrw 0x14d, %1"
                         :
                         : "r"(MENVCFG_STCE), "r"(COMPARE)); /* menvcfg, stimecmp */
    } else {
        *compare = COMPARE;
    }
    puts("waiting");
    csr_write(mie, 1 << 7 | 1 << 5);
    __asm__ volatile("wfi");
    puts("woken");
    return 0;
}
