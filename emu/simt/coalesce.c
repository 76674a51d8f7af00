#include "emu/simt/coalesce.h"

#include <assert.h>

/* Returns the set of 32-bit words that [address, address + size) touches in its line. The access must end
 * within the line. */
static uint64_t words_of(uint64_t address, unsigned size, unsigned line_bytes)
{
    unsigned offset = (unsigned)(address & (line_bytes - 1));
    unsigned first = offset / COALESCE_WORD, last = (offset + size - 1) / COALESCE_WORD;
    return (UINT64_MAX >> (63 - (last - first))) << first;
}

/* Adds a lane's words of one line. Returns the new number of lines. Searches from the latest line, because it
 * is the most likely one. */
static unsigned add(struct coalesce_line *lines, unsigned count, uint64_t line, uint64_t words, uint32_t lane)
{
    for (unsigned i = count; i-- > 0;) {
        if (lines[i].line != line)
            continue;
        lines[i].words |= words;
        lines[i].lanes |= lane;
        return count;
    }
    assert(count < COALESCE_LINES);
    lines[count] = (struct coalesce_line){line, words, lane};
    return count + 1;
}

unsigned coalesce_lines(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned line_bytes,
                        struct coalesce_line lines[COALESCE_LINES])
{
    unsigned count = 0;
    uint64_t line_mask = ~(uint64_t)(line_bytes - 1);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t address = addresses[lane], line = address & line_mask;
        unsigned here = (unsigned)(line + line_bytes - address);
        unsigned first = size < here ? size : here;
        count = add(lines, count, line, words_of(address, first, line_bytes), left & -left);
        if (first < size)
            count = add(lines, count, line + line_bytes,
                        words_of(line + line_bytes, size - first, line_bytes), left & -left);
    }
    return count;
}

bool coalesce_divergent(unsigned requests, uint32_t mask, unsigned size, unsigned line_bytes)
{
    unsigned bytes = (unsigned)__builtin_popcount(mask) * size;
    return requests > (bytes + line_bytes - 1) / line_bytes;
}

unsigned coalesce_atomics(const uint64_t *addresses, uint32_t mask, unsigned size, unsigned line_bytes,
                          struct coalesce_line lines[COALESCE_LINES])
{
    unsigned count = 0;
    uint64_t line_mask = ~(uint64_t)(line_bytes - 1);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t address = addresses[__builtin_ctz(left)], line = address & line_mask;
        uint64_t words = words_of(address, size, line_bytes);
        unsigned i = 0;
        while (i < count && (lines[i].line != line || (lines[i].words & words)))
            i++;
        if (i == count)
            lines[count++] = (struct coalesce_line){line, 0, 0};
        lines[i].words |= words;
        lines[i].lanes |= left & -left;
    }
    return count;
}
