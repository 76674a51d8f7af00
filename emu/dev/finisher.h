/* The test finisher (SiFive): a guest ends or restarts the machine through it. */
#ifndef EMU_DEV_FINISHER_H
#define EMU_DEV_FINISHER_H

#include "emu/mem/bus.h"

/* One register at offset 0, for accesses of 2 and 4 bytes; it reads 0. Written to it:
 *   0x5555               the run ends with status 0
 *   0x3333 | code << 16  the run ends with the low 8 bits of code, or 1 if these are 0, because it has failed
 *   0x7777               the machine restarts
 * Other values do nothing. */
enum { FINISHER_SIZE = 0x1000, FINISHER_ACCESS = BUS_2 | BUS_4 };

struct finisher {
    void (*exit)(void *context, int status); /* status 0 to 255 */
    void (*reset)(void *context);
    void *context;
};

/* Of a `struct finisher`, which has no other state. */
extern const struct device_ops finisher_ops;

#endif
