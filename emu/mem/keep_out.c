#include "emu/mem/keep_out.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

static const struct keep_out_range nothing = {UINT64_MAX, 0};

void keep_out_init(struct keep_out *list, unsigned owners)
{
    *list = (struct keep_out){.hull = nothing, .owners = owners};
    list->range = alloc(owners, sizeof *list->range);
    for (unsigned i = 0; i < owners; i++)
        list->range[i] = nothing;
}

void keep_out_free(struct keep_out *list)
{
    free(list->range);
    *list = (struct keep_out){.hull = nothing};
}

unsigned keep_out_add(struct keep_out *list)
{
    list->range = alloc_resize(list->range, (list->owners + 1) * sizeof *list->range);
    list->range[list->owners] = nothing;
    return list->owners++;
}

void keep_out_set(struct keep_out *list, unsigned owner, struct keep_out_range range)
{
    assert(owner < list->owners);
    list->range[owner] = range.first > range.last ? nothing : range;
    list->hull = nothing;
    for (unsigned i = 0; i < list->owners; i++) {
        const struct keep_out_range *one = &list->range[i];
        if (one->first > one->last)
            continue;
        if (list->hull.first > list->hull.last)
            list->hull = *one;
        list->hull.first = one->first < list->hull.first ? one->first : list->hull.first;
        list->hull.last = one->last > list->hull.last ? one->last : list->hull.last;
    }
}

bool keep_out_search(const struct keep_out *list, uint64_t first, uint64_t last)
{
    for (unsigned i = 0; i < list->owners; i++)
        if (last >= list->range[i].first && first <= list->range[i].last)
            return true;
    return false;
}
