#include <croft/firmware/clint.h>
#include <croft/firmware/map.h>

#include "firmware/mmio.h"

/* Register offsets (SiFive's core-local interruptor). */
enum { MSIP = 0, MTIMECMP = 0x4000, MTIME = 0xbff8 };

uint64_t clint_time(void)
{
    return *mmio64(CROFT_CLINT_BASE + MTIME);
}

void clint_set_timer(unsigned hart, uint64_t time)
{
    *mmio64(CROFT_CLINT_BASE + MTIMECMP + 8ul * hart) = time;
}

void clint_send_ipi(unsigned hart)
{
    mmio_fence(); /* earlier writes are visible to the hart */
    *mmio32(CROFT_CLINT_BASE + MSIP + 4ul * hart) = 1;
}

void clint_clear_ipi(unsigned hart)
{
    *mmio32(CROFT_CLINT_BASE + MSIP + 4ul * hart) = 0;
    mmio_fence();
}

bool clint_ipi_pending(unsigned hart)
{
    return *mmio32(CROFT_CLINT_BASE + MSIP + 4ul * hart) & 1;
}
