/* Banks of a multiprocessor's shared memory: how often an access has to go there. */
#ifndef EMU_SIMT_SHARED_BANKS_H
#define EMU_SIMT_SHARED_BANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/simt/warp.h"

enum { SHARED_BANKS = 32, SHARED_WORD = 4 };

/* Word number n lies in bank n % banks, and a bank gives one word in a pass. The passes that accesses of `size` bytes
 * (1 to 8) at addresses[lane] take for the lanes in mask: the most words that one bank has to give, where a word that
 * several lanes want counts once (broadcast). For atomics it counts for each of those lanes, which take turns.
 * banks is a power of two up to SHARED_BANKS; 0 passes for an empty mask. (CUDA C Programming Guide 4, section F.4.3:
 * 32 banks, broadcast of any number of words.) */
unsigned shared_banks_passes(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned banks,
                             bool atomic);

#endif
