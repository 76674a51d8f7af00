#include "emu/env/linux/space/frames.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

static void insert(struct frames *frames, size_t at, struct frame_range range)
{
    if (frames->count == frames->room) {
        frames->room = frames->room ? 2 * frames->room : 16;
        frames->free = alloc_resize(frames->free, frames->room * sizeof *frames->free);
    }
    memmove(&frames->free[at + 1], &frames->free[at], (frames->count - at) * sizeof *frames->free);
    frames->free[at] = range;
    frames->count++;
}

static void erase(struct frames *frames, size_t at)
{
    frames->count--;
    memmove(&frames->free[at], &frames->free[at + 1], (frames->count - at) * sizeof *frames->free);
}

void frames_init(struct frames *frames, const struct phys *memory, uint64_t first)
{
    *frames = (struct frames){.memory = memory};
    if (first < memory->base + memory->size)
        insert(frames, 0, (struct frame_range){first, memory->base + memory->size});
}

void frames_free(struct frames *frames)
{
    free(frames->free);
    *frames = (struct frames){0};
}

uint64_t frames_left(const struct frames *frames)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < frames->count; i++)
        sum += frames->free[i].end - frames->free[i].first;
    return sum;
}

bool frames_take(struct frames *frames, uint64_t bytes, struct frame_range *range)
{
    size_t best = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < frames->count && most < bytes; i++) {
        uint64_t size = frames->free[i].end - frames->free[i].first;
        if (size > most) {
            best = i;
            most = size;
        }
    }
    if (most == 0)
        return false;
    struct frame_range *from = &frames->free[best];
    *range = (struct frame_range){from->first, from->first + (bytes < most ? bytes : most)};
    from->first = range->end;
    if (from->first == from->end)
        erase(frames, best);
    return true;
}

uint64_t frames_take_table(struct frames *frames)
{
    if (frames->count == 0)
        return 0;
    struct frame_range *last = &frames->free[frames->count - 1];
    uint64_t table = last->end -= FRAME;
    if (last->first == last->end)
        frames->count--;
    return table;
}

void frames_zero(const struct frames *frames, struct frame_range range)
{
    uint64_t size = range.end - range.first;
    uint8_t *at = phys_at(frames->memory, range.first, size);
    if (!phys_discard(frames->memory, at, size))
        memset(at, 0, size);
    phys_note_release(frames->memory, range.first, size);
}

void frames_give(struct frames *frames, struct frame_range range)
{
    size_t at = 0;
    frames_zero(frames, range);
    while (at < frames->count && frames->free[at].first < range.first)
        at++;
    if (at < frames->count && frames->free[at].first == range.end) {
        range.end = frames->free[at].end;
        erase(frames, at);
    }
    if (at > 0 && frames->free[at - 1].end == range.first)
        frames->free[at - 1].end = range.end;
    else
        insert(frames, at, range);
}
