/* General loads, stores and fetches: translated, checked, of any alignment, to memory and devices. */
#ifndef EMU_HART_ACCESS_H
#define EMU_HART_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

/* size is 1, 2, 4 or 8 bytes. On failure they return false with hart->trap set, and change nothing. *value is
 * zero-extended; *physical becomes the physical address of the first byte. */
bool access_load(struct hart *hart, uint64_t address, unsigned size, uint64_t *value, uint64_t *physical);
bool access_store(struct hart *hart, uint64_t address, unsigned size, uint64_t value, uint64_t *physical);

/* Returns whether a store would succeed: for SC and AMO, which must fault before they read. */
bool access_can_store(struct hart *hart, uint64_t address, unsigned size);

/* Fetches the 2 bytes of code at an address. Fails like a load. */
bool access_fetch(struct hart *hart, uint64_t address, uint16_t *parcel);

/* Operations on the 64-byte cache block that holds address: the check for cbo.inval, cbo.clean and cbo.flush, which
 * need permission to load or to store, and the zeroing of cbo.zero. *physical becomes the physical address of the
 * block. */
enum { CACHE_BLOCK = 64 };
bool access_block_check(struct hart *hart, uint64_t address, uint64_t *physical);
bool access_block_zero(struct hart *hart, uint64_t address, uint64_t *physical);

/* Translates the address of a prefetch instruction, which never traps. Returns whether it may access main memory there. */
bool access_prefetch(const struct hart *hart, uint64_t address, uint64_t *physical);

#endif
