#include "emu/mem/coherence/lines.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

enum { FIRST_BITS = 10 };

static void *grown(void *array, uint64_t count, uint64_t size)
{
    void *result = alloc_resize(array, count * size);
    return result;
}

static uint32_t *table_of(uint32_t bits)
{
    uint32_t *table = alloc((size_t)1 << bits, sizeof *table);
    return table;
}

void coherence_lines_init(struct coherence_lines *lines)
{
    *lines = (struct coherence_lines){.table = table_of(FIRST_BITS), .bits = FIRST_BITS, .copy_count = 1};
}

void coherence_lines_free(struct coherence_lines *lines)
{
    free(lines->table);
    free(lines->lines);
    free(lines->copies);
}

/* Returns the slot of the address in the table, or the free slot for it: linear probing with a multiplicative
 * hash (Knuth, "The Art of Computer Programming", volume 3, section 6.4). */
static uint32_t *slot_of(const struct coherence_lines *lines, uint64_t address)
{
    uint32_t mask = (UINT32_C(1) << lines->bits) - 1;
    uint32_t at = (uint32_t)((address * MIX_FACTOR) >> (64 - lines->bits));
    while (lines->table[at] && lines->lines[lines->table[at] - 1].address != address)
        at = (at + 1) & mask;
    return &lines->table[at];
}

static void grow_table(struct coherence_lines *lines)
{
    free(lines->table);
    lines->table = table_of(++lines->bits);
    for (uint32_t i = 0; i < lines->line_count; i++)
        *slot_of(lines, lines->lines[i].address) = i + 1;
}

struct coherence_line *coherence_line_at(struct coherence_lines *lines, uint64_t address)
{
    uint32_t *slot = slot_of(lines, address);
    if (*slot)
        return &lines->lines[*slot - 1];
    if (lines->line_count == lines->line_room) {
        lines->line_room = lines->line_room ? 2 * lines->line_room : 256;
        lines->lines = grown(lines->lines, lines->line_room, sizeof *lines->lines);
    }
    lines->lines[lines->line_count++] = (struct coherence_line){.address = address};
    *slot = lines->line_count;
    if (lines->line_count > UINT32_C(1) << (lines->bits - 1))
        grow_table(lines);
    return &lines->lines[lines->line_count - 1];
}

struct coherence_copy *coherence_copy_of(const struct coherence_lines *lines,
                                         const struct coherence_line *line, unsigned holder)
{
    for (uint32_t i = line->copies; i; i = lines->copies[i].next)
        if (lines->copies[i].holder == holder)
            return &lines->copies[i];
    return NULL;
}

struct coherence_copy *coherence_copy_at(struct coherence_lines *lines, struct coherence_line *line,
                                         unsigned holder)
{
    struct coherence_copy *copy = coherence_copy_of(lines, line, holder);
    if (copy)
        return copy;
    if (lines->copy_count >= lines->copy_room) {
        lines->copy_room = lines->copy_room ? 2 * lines->copy_room : 256;
        lines->copies = grown(lines->copies, lines->copy_room, sizeof *lines->copies);
    }
    copy = &lines->copies[lines->copy_count];
    *copy = (struct coherence_copy){.next = line->copies, .holder = (uint16_t)holder};
    line->copies = lines->copy_count++;
    return copy;
}
