/* Slow paths of accesses by lanes (page ends, unaligned words of a stack, translation), and reservations. */
#include <string.h>

#include "emu/simt/local_memory.h"
#include "emu/simt/warp/state.h"

enum { SP = 2 };

/* Raises the trap of an access that cannot be done. */
static void raise_access(struct warp *warp, unsigned lane, unsigned size, bool store)
{
    const bool pages = warp->memory->setup.translate;
    const uint64_t address = warp->address[lane];
    const struct warp_local *local = address < WARP_SHARED_WINDOW ? NULL : warp_memory_local(warp->memory);
    struct trap trap;
    if (local && local->fault(local->context, warp->memory, &warp->pad, address - WARP_SHARED_WINDOW, size,
                              store ? WARP_STORE : WARP_LOAD, false, &trap))
        (void)warp_raise(warp, lane, trap.cause, trap.value);
    else if (store)
        (void)warp_raise(warp, lane, pages ? TRAP_STORE_PAGE : TRAP_STORE_ACCESS, address);
    else
        (void)warp_raise(warp, lane, pages ? TRAP_LOAD_PAGE : TRAP_LOAD_ACCESS, address);
}

bool warp_atomic_refused(struct warp *warp, unsigned lane, unsigned size, bool store)
{
    const struct warp_local *local = warp_memory_local(warp->memory);
    struct trap trap;
    if (!local ||
        !local->fault(local->context, warp->memory, &warp->pad, warp->address[lane] - WARP_SHARED_WINDOW,
                      size, store ? WARP_STORE : WARP_LOAD, true, &trap))
        return false;
    (void)warp_raise(warp, lane, trap.cause, trap.value);
    return true;
}

bool warp_load_slow(struct warp *warp, unsigned lane, unsigned size)
{
    uint64_t value = 0;
    if (!warp_memory_load(warp->memory, &warp->pad, warp->address[lane], &value, size)) {
        raise_access(warp, lane, size, false);
        return false;
    }
    warp->data[lane] = value;
    return true;
}

bool warp_store_check(struct warp *warp, unsigned lane, unsigned size)
{
    if (warp_memory_can(warp->memory, &warp->pad, warp->address[lane], size, WARP_STORE))
        return true;
    raise_access(warp, lane, size, true);
    return false;
}

void warp_store_slow(struct warp *warp, unsigned lane, unsigned size)
{
    (void)warp_memory_store(warp->memory, &warp->pad, warp->address[lane], &warp->data[lane], size);
}

uint64_t warp_stack_of(const struct warp *warp, unsigned lane)
{
    const struct warp_memory_setup *setup = &warp->memory->setup;
    return WARP_STACK_WINDOW + (((uint64_t)warp->place.stacks * setup->width + lane) << setup->stack_shift);
}

bool warp_overflowed(const struct warp *warp, unsigned lane, uint64_t *bytes)
{
    const uint64_t most = UINT64_C(1) << 32;
    *bytes = warp_stack_of(warp, lane) - warp->x[SP][lane];
    return *bytes - 1 < most && warp->x[SP][lane] >= WARP_STACK_WINDOW - most;
}

bool warp_stack_check(struct warp *warp, const struct warp_op *op)
{
    const struct warp_memory *memory = warp->memory;
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t address = warp->x[SP][lane] + (uint64_t)(int64_t)op->insn.imm;
        if ((address - warp_stack_of(warp, lane)) >> memory->setup.stack_shift == 0 ||
            address - WARP_STACK_WINDOW >= memory->stack_size)
            continue;
        bool store = op->stream.flags & STREAM_STORE, pages = memory->setup.translate;
        (void)warp_raise(warp, lane,
                         store ? (pages ? TRAP_STORE_PAGE : TRAP_STORE_ACCESS)
                               : (pages ? TRAP_LOAD_PAGE : TRAP_LOAD_ACCESS),
                         address);
        return false;
    }
    return true;
}

static uint32_t *version_of(struct warp_memory *memory, uint64_t address)
{
    return &memory->reservations->versions[address / WARP_RESERVATION % WARP_VERSIONS];
}

/* Returns the address by which blocks are reserved: harts and threads share physical ones. The access to it has been
 * checked. */
static uint64_t block_of(struct warp *warp, uint64_t address)
{
    uint64_t physical;
    const struct warp_local *local = address < WARP_SHARED_WINDOW ? NULL : warp_memory_local(warp->memory);
    if (local) {
        physical = local->place(local->context, warp->memory, &warp->pad, address - WARP_SHARED_WINDOW);
        return physical == UINT64_MAX ? address : physical;
    }
    if (!warp->memory->setup.translate || address >= WARP_STACK_WINDOW)
        return address;
    (void)warp_memory_place(warp->memory, address, WARP_LOAD, &physical);
    return physical;
}

/* Ends other lanes' and harts' reservations; a lane's own stores keep its own. */
void warp_disturb(struct warp *warp, unsigned lane, uint64_t address)
{
    struct warp_memory *memory = warp->memory;
    address = block_of(warp, address);
    const uint32_t *own = version_of(memory, warp->reservation[lane]);
    bool held = *own == warp->version[lane];
    warp_memory_disturb(memory, address, sizeof(uint64_t));
    if (held)
        warp->version[lane] = *own;
    stream_peers_stored(memory->peers, address, sizeof(uint64_t));
}

void warp_reserve(struct warp *warp, unsigned lane, uint64_t address)
{
    address = block_of(warp, address);
    warp->memory->reservations->held = warp->memory->peers->reserved = true;
    warp->reserved |= UINT32_C(1) << lane;
    warp->reservation[lane] = address;
    warp->version[lane] = *version_of(warp->memory, address);
}

bool warp_claim(struct warp *warp, unsigned lane, uint64_t address)
{
    address = block_of(warp, address);
    bool held = warp->reserved >> lane & 1 && warp->reservation[lane] == address &&
                warp->version[lane] == *version_of(warp->memory, address);
    warp->reserved &= ~(UINT32_C(1) << lane);
    return held;
}
