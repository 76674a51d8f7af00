#include "emu/simt/shared_banks.h"

enum { WORDS = 3 * WARP_LANES }; /* 8 unaligned bytes touch three words */

/* A bank's words are a linked list, the latest first. */
struct banks {
    uint8_t count[SHARED_BANKS];
    uint8_t latest[SHARED_BANKS]; /* index + 1 of the list's head; 0: empty */
    uint8_t before[WORDS];
    uint64_t word[WORDS];
    unsigned words, most;
};

static void want(struct banks *b, uint64_t word, unsigned bank, bool atomic)
{
    if (!atomic)
        for (unsigned at = b->latest[bank]; at; at = b->before[at - 1])
            if (b->word[at - 1] == word)
                return;
    b->word[b->words] = word;
    b->before[b->words] = b->latest[bank];
    b->latest[bank] = (uint8_t)++b->words;
    if (++b->count[bank] > b->most)
        b->most = b->count[bank];
}

struct shared_banks_use shared_banks_use(const uint64_t *addresses, uint32_t mask, unsigned size,
                                         unsigned banks, bool atomic)
{
    struct banks b;
    b.words = b.most = 0;
    for (unsigned i = 0; i < SHARED_BANKS; i++)
        b.count[i] = b.latest[i] = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t address = addresses[__builtin_ctz(left)];
        uint64_t last = (address + size - 1) / SHARED_WORD;
        for (uint64_t word = address / SHARED_WORD; word <= last; word++)
            want(&b, word, (unsigned)word & (banks - 1), atomic);
    }
    return (struct shared_banks_use){b.most, b.words};
}

unsigned line_banks_passes(uint64_t words, unsigned banks)
{
    uint64_t of_bank = 0;
    unsigned most = 0;
    for (unsigned i = 0; i < 64; i += banks)
        of_bank |= UINT64_C(1) << i;
    for (unsigned bank = 0; bank < banks; bank++) {
        const unsigned count = (unsigned)__builtin_popcountll(words >> bank & of_bank);
        most = count > most ? count : most;
    }
    return most;
}
