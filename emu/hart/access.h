/* Loads, stores and fetches the general way: translated, checked, of any alignment, to memory and devices. */
#ifndef EMU_HART_ACCESS_H
#define EMU_HART_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

/* size is 1, 2, 4 or 8 bytes. On failure hart->trap is set, and nothing is changed. *value is zero-extended.
 * *physical receives the first byte's physical address. */
bool access_load(struct hart *hart, uint64_t address, unsigned size, uint64_t *value, uint64_t *physical);
bool access_store(struct hart *hart, uint64_t address, unsigned size, uint64_t value, uint64_t *physical);

/* Whether a store would succeed: for SC and AMO, which must fault before they read. */
bool access_can_store(struct hart *hart, uint64_t address, unsigned size);

/* The 2 bytes of code at an address. */
bool access_fetch(struct hart *hart, uint64_t address, uint16_t *parcel);

/* Cache-block operations on the 64-byte block that holds address: checks alone (cbo.inval, cbo.clean,
 * cbo.flush need leave to load or store), and zeroing. *physical receives the block's physical address. */
enum { CACHE_BLOCK = 64 };
bool access_block_check(struct hart *hart, uint64_t address, uint64_t *physical);
bool access_block_zero(struct hart *hart, uint64_t address, uint64_t *physical);

#endif
