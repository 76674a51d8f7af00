/* The banks of a multiprocessor's shared memory and first-level cache: the number of passes of an access. */
#ifndef EMU_SIMT_SHARED_BANKS_H
#define EMU_SIMT_SHARED_BANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/simt/warp.h"

enum { SHARED_BANKS = 32, SHARED_WORD = 4 };

/* What an access takes of the banks: `words` are those that they deliver or take. */
struct shared_banks_use {
    unsigned passes, words;
};

/* Returns the number of passes that accesses of `size` bytes (1 to 8) at addresses[lane] take for the lanes
 * in mask. Word n is in bank n % banks, and a bank returns one word per pass, so the result is the largest
 * number of words wanted from one bank. A word that several lanes want counts once (broadcast); for atomics
 * it counts once per lane, because the lanes take turns. `banks` is a power of two up to SHARED_BANKS. An
 * empty mask takes 0 passes. Source: CUDA C Programming Guide 4, section F.4.3: 32 banks, broadcast of any
 * number of words. */
struct shared_banks_use shared_banks_use(const uint64_t *addresses, uint32_t mask, unsigned size,
                                         unsigned banks, bool atomic);

static inline unsigned shared_banks_passes(const uint64_t *addresses, uint32_t mask, unsigned size,
                                           unsigned banks, bool atomic)
{
    return shared_banks_use(addresses, mask, size, banks, atomic).passes;
}

/* Returns the number of passes that the words of a line's mask take in a cache of whose words number n is in bank n % banks, a
 * power of two up to 64; a word is there once, whichever lanes want it. */
unsigned line_banks_passes(uint64_t words, unsigned banks);

#endif
