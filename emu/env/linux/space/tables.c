#include "emu/env/linux/space/tables.h"

#include <string.h>

/* Page-table entry bits (privileged specification, section 4.4). A and D are always set, so that walks write nothing. */
enum { PTE_V = 1, PTE_R = 2, PTE_W = 4, PTE_X = 8, PTE_U = 16, PTE_A = 64, PTE_D = 128 };
enum { PPN_SHIFT = 10, PAGE_SHIFT = 12, VPN_BITS = 9, ENTRIES = 512 };

static uint64_t entry_at(const struct space *space, uint64_t at)
{
    uint64_t entry;
    memcpy(&entry, phys_at(space->frames.memory, at, 8), 8);
    return entry;
}

static void set_entry(struct space *space, uint64_t at, uint64_t entry)
{
    memcpy(phys_at(space->frames.memory, at, 8), &entry, 8);
    phys_note_store(space->frames.memory, at, 8);
}

/* Returns the table of last-level entries for an address; makes it if `make` is set. 0: there is none. */
static uint64_t leaf_table(struct space *space, uint64_t address, bool make)
{
    uint64_t table = space->root;
    for (unsigned level = 2; level > 0; level--) {
        const uint64_t at = table + (address >> (PAGE_SHIFT + level * VPN_BITS) & (ENTRIES - 1)) * 8;
        uint64_t entry = entry_at(space, at);
        if (!entry) {
            uint64_t new = make ? frames_take_table(&space->frames) : 0;
            if (!new)
                return 0;
            entry = new >> PAGE_SHIFT << PPN_SHIFT | PTE_V;
            set_entry(space, at, entry);
        }
        table = entry >> PPN_SHIFT << PAGE_SHIFT;
    }
    return table;
}

static uint64_t leaf_bits(uint8_t protection)
{
    uint64_t bits = PTE_V | PTE_U | PTE_A | PTE_D;
    bits |= protection & (SPACE_READ | SPACE_WRITE) ? PTE_R : 0; /* W without R is reserved */
    bits |= protection & SPACE_WRITE ? PTE_W : 0;
    return bits | (protection & SPACE_EXECUTE ? PTE_X : 0);
}

/* Replaces the entry of a page. */
static void set_leaf(struct space *space, uint64_t at, uint64_t entry)
{
    const uint64_t old = space->mirror ? entry_at(space, at) : 0;
    if (old & PTE_W)
        mirror_count_writer(space->mirror, old >> PPN_SHIFT << PAGE_SHIFT, false);
    if (space->mirror && (entry & PTE_W))
        mirror_count_writer(space->mirror, entry >> PPN_SHIFT << PAGE_SHIFT, true);
    set_entry(space, at, entry);
}

/* Shows the pages on the host, as long as that is possible. */
static void show(struct space *space, uint64_t first, uint64_t end, uint64_t physical, uint8_t protection)
{
    const unsigned rights = (protection & (SPACE_READ | SPACE_WRITE) ? MIRROR_READ : 0) |
                            (protection & SPACE_WRITE ? MIRROR_WRITE : 0);
    if (space->mirror)
        mirror_show(space->mirror, first, end, physical, physical == SPACE_UNBACKED ? 0 : rights);
}

bool tables_set(struct space *space, uint64_t first, uint64_t end, uint64_t physical, uint8_t protection)
{
    bool maps = physical != SPACE_UNBACKED && protection;
    uint64_t table = 0;
    for (uint64_t page = first; page < end; page += FRAME) {
        const uint64_t index = page >> PAGE_SHIFT & (ENTRIES - 1);
        if (page == first || index == 0)
            table = leaf_table(space, page, maps);
        if (!table && maps)
            return false;
        if (!table) { /* nothing is mapped in this table's 2 MiB */
            page |= (uint64_t)(ENTRIES - 1) << PAGE_SHIFT;
            continue;
        }
        const uint64_t frame = physical + (page - first);
        set_leaf(space, table + index * 8,
                 maps ? frame >> PAGE_SHIFT << PPN_SHIFT | leaf_bits(protection) : 0);
    }
    show(space, first, end, physical, protection);
    return true;
}
