/* Chips of AxRAM for a process of Linux. */
#ifndef HOST_LINUX_CHIPS_H
#define HOST_LINUX_CHIPS_H

#include <stdint.h>

struct chips_taken {
    uint64_t base;        /* address of the first chip's first piece */
    uint64_t size;        /* bytes of these chips */
    uint64_t turn, piece; /* bytes from a piece of a chip to its next; of a piece */
    uint32_t count;
};

/* Takes chips of /dev/axram, as many as the variable AXRAM_CHIPS says (all), and maps accelerator memory. The process keeps both until it
 * ends. Returns 0; or -1, with errno and axram_error() set. */
int chips_take(struct chips_taken *taken);

#endif
