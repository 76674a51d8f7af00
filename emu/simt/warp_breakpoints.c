/* A debugger's breakpoints in the code of warps. */
#include "emu/simt/warp_code.h"
#include "emu/simt/warp_debug.h"

bool warp_debug_has(const struct warp_debug *debug, uint64_t address)
{
    for (uint32_t i = 0; i < debug->count; i++)
        if (debug->breakpoints[i] == address)
            return true;
    return false;
}

static void changed(const struct warp_memory *memory, uint64_t address)
{
    if (memory && memory->code)
        warp_code_again(memory->code, address);
}

bool warp_debug_insert(struct warp_debug *debug, struct warp_memory *memory, uint64_t address)
{
    if (debug->count == WARP_BREAKPOINTS)
        return false;
    debug->breakpoints[debug->count++] = address;
    changed(memory, address);
    return true;
}

bool warp_debug_remove(struct warp_debug *debug, struct warp_memory *memory, uint64_t address)
{
    for (uint32_t i = 0; i < debug->count; i++) {
        if (debug->breakpoints[i] != address)
            continue;
        debug->breakpoints[i] = debug->breakpoints[--debug->count];
        changed(memory, address);
        return true;
    }
    return false;
}
