/* The controllers' free warps. */
#include "emu/sim/alloc.h"
#include "emu/tom/controller/controller.h"

struct warp *tom_take_warp(struct tom *tom)
{
    struct error err;
    if (tom->warp_count > 0)
        return tom->warps[--tom->warp_count];
    struct warp *warp = warp_new(simt_grid_memory(tom->grid), &err);
    if (!warp)
        alloc_failed();
    return warp;
}

void tom_give_warp(struct tom_task *task)
{
    struct tom *tom = task->tom;
    if (!task->guest.warp)
        return;
    if (tom->warp_count == tom->warp_room) {
        tom->warp_room = tom->warp_room ? 2 * tom->warp_room : 64;
        tom->warps = alloc_resize(tom->warps, tom->warp_room * sizeof(struct warp *));
    }
    tom->warps[tom->warp_count++] = task->guest.warp;
    task->guest.warp = NULL;
}
