#include "emu/simt/trace/sharing.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

/* Touches in a hash table with linear probing; requests is 0 in an empty place. */
struct touches {
    struct sharing_touch *places, *sorted;
    size_t room, count; /* room: a power of two */
};

struct sharing {
    struct sharing_setup setup;
    struct touches blocks, multiprocessors;
    struct access_record last; /* last request, whose instruction is counted */
    struct sharing_launch *launches;
    size_t launch_count, launch_room;
};

enum { FIRST_ROOM = 1024 };

struct sharing *sharing_new(const struct sharing_setup *setup)
{
    struct sharing *sharing = alloc(1, sizeof *sharing);
    *sharing = (struct sharing){.setup = *setup};
    return sharing;
}

void sharing_free(struct sharing *sharing)
{
    if (!sharing)
        return;
    free(sharing->blocks.places);
    free(sharing->blocks.sorted);
    free(sharing->multiprocessors.places);
    free(sharing->multiprocessors.sorted);
    free(sharing->launches);
    free(sharing);
}

/* Multiplies by odd constants, and takes the upper bits (Knuth, volume 3, section 6.4). */
static size_t place_of(const struct touches *touches, const struct sharing_touch *touch)
{
    uint64_t hash = touch->page * MIX_FACTOR;
    hash = (hash ^ touch->launch) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ touch->by) * UINT64_C(0xc4ceb9fe1a85ec53);
    size_t at = (size_t)(hash >> 20) & (touches->room - 1);
    while (touches->places[at].requests &&
           (touches->places[at].page != touch->page || touches->places[at].launch != touch->launch ||
            touches->places[at].by != touch->by))
        at = (at + 1) & (touches->room - 1);
    return at;
}

static void grow(struct touches *touches)
{
    struct touches larger = {.room = touches->room ? 2 * touches->room : FIRST_ROOM, .count = touches->count};
    larger.places = alloc(larger.room, sizeof *larger.places);
    for (size_t i = 0; i < touches->room; i++)
        if (touches->places[i].requests)
            larger.places[place_of(&larger, &touches->places[i])] = touches->places[i];
    free(touches->places);
    free(touches->sorted);
    *touches = larger;
}

static void touch(struct touches *touches, struct sharing_touch one)
{
    if (2 * touches->count >= touches->room)
        grow(touches);
    struct sharing_touch *place = &touches->places[place_of(touches, &one)];
    touches->count += place->requests == 0;
    one.requests = place->requests + 1;
    *place = one;
}

/* Returns the launch's entry. Searches from the latest, because launches come in order unless they overlap. */
static struct sharing_launch *launch_of(struct sharing *sharing, uint32_t launch)
{
    for (size_t i = sharing->launch_count; i-- > 0;)
        if (sharing->launches[i].launch == launch)
            return &sharing->launches[i];
    if (sharing->launch_count == sharing->launch_room) {
        sharing->launch_room = sharing->launch_room ? 2 * sharing->launch_room : 16;
        sharing->launches = alloc_resize(sharing->launches, sharing->launch_room * sizeof *sharing->launches);
    }
    sharing->launches[sharing->launch_count] = (struct sharing_launch){.launch = launch};
    return &sharing->launches[sharing->launch_count++];
}

void sharing_add(struct sharing *sharing, const struct access_record *record)
{
    const struct sharing_setup *setup = &sharing->setup;
    struct sharing_launch *launch = launch_of(sharing, record->launch);
    if (record->kind == ACCESS_IS_LAUNCH) {
        launch->kernel = record->pc;
        launch->blocks = record->block;
        return;
    }
    if ((record->stack && !setup->stacks) || record->address < setup->first || record->address > setup->last)
        return;
    const struct access_record *last = &sharing->last;
    launch->instructions += !last->threads || last->time != record->time || last->pc != record->pc ||
                            last->warp != record->warp || last->block != record->block ||
                            last->launch != record->launch;
    sharing->last = *record;
    uint64_t page = record->address & ~(setup->page - 1);
    touch(&sharing->blocks, (struct sharing_touch){page, record->launch, record->block, 0});
    touch(&sharing->multiprocessors, (struct sharing_touch){page, 0, record->multiprocessor, 0});
}

static int in_order(const void *one, const void *other)
{
    const struct sharing_touch *a = one, *b = other;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->page != b->page)
        return a->page < b->page ? -1 : 1;
    return (a->by > b->by) - (a->by < b->by);
}

static const struct sharing_touch *sorted(struct touches *touches, size_t *count)
{
    size_t used = 0;
    touches->sorted = alloc_resize(touches->sorted, (touches->count + 1) * sizeof *touches->sorted);
    for (size_t i = 0; i < touches->room; i++)
        if (touches->places[i].requests)
            touches->sorted[used++] = touches->places[i];
    qsort(touches->sorted, used, sizeof *touches->sorted, in_order);
    *count = used;
    return touches->sorted;
}

const struct sharing_touch *sharing_blocks(struct sharing *sharing, size_t *count)
{
    return sorted(&sharing->blocks, count);
}

const struct sharing_touch *sharing_multiprocessors(struct sharing *sharing, size_t *count)
{
    return sorted(&sharing->multiprocessors, count);
}

static int by_launch(const void *one, const void *other)
{
    const struct sharing_launch *a = one, *b = other;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

const struct sharing_launch *sharing_launches(struct sharing *sharing, size_t *count)
{
    size_t touches;
    const struct sharing_touch *at = sharing_blocks(sharing, &touches), *end = at + touches;
    *count = sharing->launch_count;
    if (!sharing->launch_count)
        return NULL;
    qsort(sharing->launches, sharing->launch_count, sizeof *sharing->launches, by_launch);
    for (size_t i = 0; i < sharing->launch_count; i++) {
        struct sharing_launch *launch = &sharing->launches[i];
        launch->pages = launch->shared = launch->most = 0;
        while (at < end && at->launch == launch->launch) {
            const struct sharing_touch *first = at;
            while (at < end && at->launch == first->launch && at->page == first->page)
                at++;
            uint64_t blocks = (uint64_t)(at - first);
            launch->pages++;
            launch->shared += blocks;
            launch->most = blocks > launch->most ? blocks : launch->most;
        }
    }
    return sharing->launches;
}

uint64_t sharing_pages(struct sharing *sharing)
{
    size_t count;
    const struct sharing_touch *touch = sharing_multiprocessors(sharing, &count);
    uint64_t pages = 0;
    for (size_t i = 0; i < count; i++)
        pages += i == 0 || touch[i].page != touch[i - 1].page;
    return pages;
}
