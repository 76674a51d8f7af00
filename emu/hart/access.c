#include "emu/hart/access.h"

#include <string.h>

#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"

static bool fault(struct hart *hart, enum trap_cause cause, uint64_t address)
{
    hart->trap = (struct trap){cause, address};
    return false;
}

/* Returns whether an access crosses a page, so that its bytes may be in two places. */
static bool crosses_page(const struct hart *hart, uint64_t address, unsigned size)
{
    return hart->privileged && (address & (MMU_PAGE - 1)) + size > MMU_PAGE;
}

/* Records that a watchpoint was touched; the run ends after the instruction. */
static void check_watchpoints(struct hart *hart, uint64_t address, unsigned size, enum hart_watch kind)
{
    for (unsigned i = 0; i < hart->watchpoint_count; i++) {
        const struct watchpoint *w = &hart->watchpoints[i];
        if ((w->kinds & kind) && address < w->address + w->length && w->address < address + size)
            hart->watch_hit = (struct watch_hit){w->address, kind == HART_WATCH_WRITE, true};
    }
}

/* Returns where an access within one page is on the host if the TLB knows the page, or NULL. *physical is its address. Harts under a
 * core model translate each access. */
static uint8_t *known_bytes(const struct hart *hart, uint64_t address, unsigned size, bool store,
                            uint64_t *physical)
{
    const uint64_t offset = address & (MMU_PAGE - 1);
    if (!hart->tlb || hart->timed || hart->trace || offset + size > MMU_PAGE)
        return NULL;
    const struct tlb_entry *entry = &(store ? hart->store_tlb : hart->load_tlb)[tlb_index(address)];
    if (entry->tag != address - offset)
        return NULL;
    uint8_t *bytes = (uint8_t *)(uintptr_t)(entry->addend + address);
    *physical = hart->memory->base + (uint64_t)(bytes - hart->memory->bytes);
    return bytes;
}

/* Loads the part of an access that is in one page. */
static bool load_part(struct hart *hart, uint64_t address, unsigned size, uint64_t *value, uint64_t *physical)
{
    const uint8_t *bytes = known_bytes(hart, address, size, false, physical);
    *value = 0;
    if (bytes) {
        memcpy(value, bytes, size);
        return true;
    }
    if (!mmu_check(hart, address, size, MMU_LOAD, priv_data_mode(hart), physical))
        return false;
    bytes = phys_at(hart->memory, *physical, size);
    if (bytes) {
        memcpy(value, bytes, size);
        mmu_remember(hart, address, *physical, MMU_LOAD);
        return true;
    }
    if (hart->bus && bus_read(hart->bus, *physical, size, value))
        return true;
    return fault(hart, TRAP_LOAD_ACCESS, address);
}

static bool store_part(struct hart *hart, uint64_t address, uint64_t physical, unsigned size, uint64_t value)
{
    uint8_t *bytes = phys_at(hart->memory, physical, size);
    if (bytes) {
        memcpy(bytes, &value, size);
        phys_note_store(hart->memory, physical, size);
        mmu_remember(hart, address, physical, MMU_STORE);
        if (hart->hook && physical < hart->hook_address + 8 && hart->hook_address < physical + size)
            hart->hook(hart->hook_context, physical, size);
        return true;
    }
    return hart->bus && bus_write(hart->bus, physical, size, value);
}

/* Translates a store, and checks that memory or a device takes it. */
static bool check_store(struct hart *hart, uint64_t address, unsigned size, uint64_t *physical)
{
    if (!hart->privileged && address < hart->store_base)
        return fault(hart, TRAP_STORE_ACCESS, address);
    if (!mmu_check(hart, address, size, MMU_STORE, priv_data_mode(hart), physical))
        return false;
    if (phys_at(hart->memory, *physical, size) || (hart->bus && bus_takes(hart->bus, *physical, size)))
        return true;
    return fault(hart, TRAP_STORE_ACCESS, address);
}

/* Returns how many bytes of an access that crosses a page are in the first one. */
static unsigned first_part(uint64_t address)
{
    return MMU_PAGE - (unsigned)(address & (MMU_PAGE - 1));
}

static bool load_bytes(struct hart *hart, uint64_t address, unsigned size, uint64_t *value,
                       uint64_t *physical)
{
    uint64_t second;
    unsigned split = first_part(address);
    /* A fault on the second page comes before a device on the first one is read. */
    if (!mmu_check(hart, address, split, MMU_LOAD, priv_data_mode(hart), &second) ||
        !mmu_check(hart, address + split, size - split, MMU_LOAD, priv_data_mode(hart), &second))
        return false;
    *value = 0;
    for (unsigned i = 0; i < size; i++) {
        uint64_t byte, other;
        if (!load_part(hart, address + i, 1, &byte, i == 0 ? physical : &other))
            return false;
        *value |= byte << 8 * i;
    }
    return true;
}

bool access_load(struct hart *hart, uint64_t address, unsigned size, uint64_t *value, uint64_t *physical)
{
    bool done = crosses_page(hart, address, size) ? load_bytes(hart, address, size, value, physical)
                                                  : load_part(hart, address, size, value, physical);
    if (done && hart->watchpoint_count)
        check_watchpoints(hart, address, size, HART_WATCH_READ);
    return done;
}

bool access_can_store(struct hart *hart, uint64_t address, unsigned size)
{
    uint64_t physical;
    return check_store(hart, address, size, &physical);
}

bool access_store(struct hart *hart, uint64_t address, unsigned size, uint64_t value, uint64_t *physical)
{
    uint8_t *bytes = known_bytes(hart, address, size, true, physical);
    if (bytes) {
        memcpy(bytes, &value, size);
    } else if (!crosses_page(hart, address, size)) {
        if (!check_store(hart, address, size, physical) || !store_part(hart, address, *physical, size, value))
            return false;
    } else {
        /* Check both pages before writing any byte. */
        unsigned split = first_part(address);
        uint64_t second;
        if (!check_store(hart, address, split, physical) ||
            !check_store(hart, address + split, size - split, &second))
            return false;
        for (unsigned i = 0; i < size; i++) {
            uint64_t at = i < split ? *physical + i : second + i - split;
            (void)store_part(hart, address + i, at, 1, value >> 8 * i & 0xff);
        }
    }
    if (hart->watchpoint_count)
        check_watchpoints(hart, address, size, HART_WATCH_WRITE);
    return true;
}

/* Fetches from a device, such as a ROM. */
static bool fetch_from_device(struct hart *hart, uint64_t address, uint64_t physical, uint16_t *parcel)
{
    hart->fetched = NULL;
    if (hart->bus && bus_fetch(hart->bus, physical, parcel))
        return true;
    return fault(hart, TRAP_FETCH_ACCESS, address);
}

bool access_fetch(struct hart *hart, uint64_t address, uint16_t *parcel)
{
    uint64_t page = address & ~(uint64_t)(MMU_PAGE - 1), physical;
    if (hart->fetch_page != page) {
        if (!mmu_check(hart, address, 2, MMU_FETCH, (enum privilege)hart->privilege, &physical))
            return false;
        const uint8_t *bytes = phys_at(hart->memory, physical, 2);
        if (!bytes)
            return fetch_from_device(hart, address, physical, parcel);
        uint64_t physical_page = physical & ~(uint64_t)(MMU_PAGE - 1);
        if (phys_at(hart->memory, physical_page, MMU_PAGE) &&
            (!hart->privileged ||
             pmp_allows(&hart->priv, physical_page, MMU_PAGE, PMP_X, (enum privilege)hart->privilege))) {
            hart->fetch_page = page;
            hart->fetch_bytes = phys_at(hart->memory, physical_page, MMU_PAGE);
        }
        hart->fetched = bytes;
        memcpy(parcel, bytes, 2);
        return true;
    }
    hart->fetched = hart->fetch_bytes + (address - page);
    memcpy(parcel, hart->fetched, 2);
    return true;
}

bool access_block_check(struct hart *hart, uint64_t address, uint64_t *physical)
{
    uint64_t block = address & ~(uint64_t)(CACHE_BLOCK - 1);
    enum privilege mode = priv_data_mode(hart);
    if (mmu_check(hart, block, CACHE_BLOCK, MMU_LOAD, mode, physical) ||
        mmu_check(hart, block, CACHE_BLOCK, MMU_STORE, mode, physical))
        return phys_at(hart->memory, *physical, CACHE_BLOCK) || fault(hart, TRAP_STORE_ACCESS, address);
    /* Faults of cache-block management are store faults, at the address of the operand. */
    bool page = hart->trap.cause == TRAP_LOAD_PAGE || hart->trap.cause == TRAP_STORE_PAGE;
    return fault(hart, page ? TRAP_STORE_PAGE : TRAP_STORE_ACCESS, address);
}

bool access_block_zero(struct hart *hart, uint64_t address, uint64_t *physical)
{
    uint64_t block = address & ~(uint64_t)(CACHE_BLOCK - 1);
    uint8_t *bytes = known_bytes(hart, block, CACHE_BLOCK, true, physical);
    if (bytes) {
        memset(bytes, 0, CACHE_BLOCK);
    } else {
        if (!mmu_check(hart, block, CACHE_BLOCK, MMU_STORE, priv_data_mode(hart), physical)) {
            hart->trap.value = address;
            return false;
        }
        bytes = phys_at(hart->memory, *physical, CACHE_BLOCK);
        if (!bytes || (!hart->privileged && block < hart->store_base))
            return fault(hart, TRAP_STORE_ACCESS, address);
        memset(bytes, 0, CACHE_BLOCK);
        phys_note_store(hart->memory, *physical, CACHE_BLOCK);
        mmu_remember(hart, block, *physical, MMU_STORE);
    }
    if (hart->watchpoint_count)
        check_watchpoints(hart, block, CACHE_BLOCK, HART_WATCH_WRITE);
    return true;
}

bool access_prefetch(const struct hart *hart, uint64_t address, uint64_t *physical)
{
    return mmu_prefetch(hart, address, physical) && phys_at(hart->memory, *physical, 1);
}
