/* The test finisher (SiFive): lets a guest end the run or restart the machine. */
#ifndef EMU_DEV_FINISHER_H
#define EMU_DEV_FINISHER_H

#include "emu/mem/phys/bus.h"

/* One register at offset 0, for accesses of 2 and 4 bytes. It reads as 0. Values written:
 *   0x5555               end the run with status 0
 *   0x3333 | code << 16  end the run as failed, with the low 8 bits of code as status, or 1 if they are 0
 *   0x7777               restart the machine
 * Other values are ignored. */
enum { FINISHER_SIZE = 0x1000, FINISHER_ACCESS = BUS_2 | BUS_4 };

struct finisher {
    void (*exit)(void *context, int status); /* status 0 to 255 */
    void (*reset)(void *context);
    void *context;
};

/* Operates on a `struct finisher`, which has no other state. */
extern const struct device_ops finisher_ops;

#endif
