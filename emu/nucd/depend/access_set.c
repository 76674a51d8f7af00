#include "emu/nucd/depend/access_set.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

void nucd_lines_append(struct nucd_lines *lines, uint64_t line)
{
    struct nucd_range *last = lines->count ? &lines->range[lines->count - 1] : NULL;
    assert(line % NUCD_LINE == 0 && (!last || line > last->last));
    if (last && line == last->last + 1) {
        last->last += NUCD_LINE;
        return;
    }
    if (lines->count == lines->room) {
        lines->room = lines->room ? 2 * lines->room : 16;
        lines->range = alloc_resize(lines->range, lines->room * sizeof *lines->range);
    }
    lines->range[lines->count++] = (struct nucd_range){line, line + NUCD_LINE - 1};
}

bool nucd_lines_touch(const struct nucd_lines *lines, uint64_t first, uint64_t last)
{
    unsigned low = 0, high = lines->count; /* the first run that ends at `first` or later */
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (lines->range[middle].last < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lines->count && lines->range[low].first <= last;
}

void nucd_access_set_free(struct nucd_access_set *set)
{
    if (!set)
        return;
    free(set->in.range);
    free(set->out.range);
    free(set);
}
