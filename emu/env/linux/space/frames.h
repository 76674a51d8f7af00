/* The free pages of a Linux program's physical memory. All free pages are zero. */
#ifndef EMU_ENV_LINUX_SPACE_FRAMES_H
#define EMU_ENV_LINUX_SPACE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/phys.h"

enum { FRAME = 4096 };

struct frame_range {
    uint64_t first, end; /* physical addresses, multiples of FRAME */
};

struct frames {
    const struct phys *memory;
    struct frame_range *free; /* ascending, not adjacent */
    size_t count, room;
};

/* Makes all of memory from `first` on free. Release with frames_free(). */
void frames_init(struct frames *frames, const struct phys *memory, uint64_t first);
void frames_free(struct frames *frames);

/* Returns the number of free bytes. */
uint64_t frames_left(const struct frames *frames);

/* Takes `bytes` (a multiple of FRAME, not 0) in one piece from the lowest place that has them; if none has, takes
 * the longest free piece. Sets *range. Returns false if nothing is free. */
bool frames_take(struct frames *frames, uint64_t bytes, struct frame_range *range);

/* Takes the highest free page, for page tables. Returns 0 if nothing is free. */
uint64_t frames_take_table(struct frames *frames);

/* Zeroes a range and gives its host memory back; it stays taken. */
void frames_zero(const struct frames *frames, struct frame_range range);

/* Zeroes a range and makes it free. */
void frames_give(struct frames *frames, struct frame_range range);

#endif
