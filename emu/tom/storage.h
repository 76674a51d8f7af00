/* The storage that TOM takes in a machine, beside what the paper counts (TOM 6.6). */
#ifndef EMU_TOM_STORAGE_H
#define EMU_TOM_STORAGE_H

#include <stdint.h>

/* What counts for storage. */
struct tom_storage {
    uint64_t stacks, fronts, warps; /* multiprocessors in front; warps of one of them */
};

/* Prints the bits of TOM's tables in the machine of that name. */
void tom_storage_print(const char *machine, const struct tom_storage *parts);

#endif
