#include <croft/firmware/csr.h>
#include <croft/firmware/exit.h>
#include <croft/firmware/map.h>

#include "firmware/mmio.h"

/* In the page that start/crtbare.S reserves. */
extern volatile uint64_t tohost, fromhost;

/* Commands of the test finisher (SiFive); FAIL carries the status in its upper half. */
enum { FINISHER_FAIL = 0x3333, FINISHER_PASS = 0x5555 };

_Noreturn void htif_exit(unsigned long number)
{
    for (;;)
        tohost = number << 1 | 1;
}

/* mtvec requires four-byte alignment. */
__attribute__((aligned(4))) _Noreturn static void without_finisher(void)
{
    htif_exit(csr_read(mscratch));
}

_Noreturn void machine_exit(int status)
{
    uint32_t code = (uint32_t)status & 0xff;
    csr_clear(mstatus, MSTATUS_MIE);
    csr_write(mscratch, code);
    csr_write(mtvec, (unsigned long)without_finisher);
    mmio_fence();
    *mmio32(CROFT_FINISHER_BASE) = code == 0 ? FINISHER_PASS : code << 16 | FINISHER_FAIL;
    htif_exit(code);
}

void htif_put(char byte)
{
    enum { DEVICE_CONSOLE = 1, COMMAND_PUT = 1 };
    while (tohost != 0)
        fromhost = 0;
    tohost = (uint64_t)DEVICE_CONSOLE << 56 | (uint64_t)COMMAND_PUT << 48 | (uint8_t)byte;
    while (tohost != 0)
        ;
    fromhost = 0;
}
