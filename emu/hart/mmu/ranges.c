#include "emu/hart/mmu/ranges.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "emu/hart/hart.h"
#include "isa/include/croft/range.h"

static_assert(sizeof(struct croft_range) == 32 && offsetof(struct croft_range_table, entries) == 32,
              "two entries in a cache line");
static_assert(CROFT_RANGES_MAX <= 1 << (MMU_READS - 2),
              "a walk reads the head and one entry for each step of the binary search");

enum outcome { FOUND, MISSING, UNREADABLE };

bool range_mmu_active(const struct hart *hart, enum privilege mode)
{
    return mode == PRIV_U && hart->priv.mrange != 0;
}

/* mlocal holds a naturally aligned power of two, encoded as in pmpaddr; pages are the smallest unit of translation. */
bool range_mmu_windowed(const struct hart *hart, uint64_t address)
{
    uint64_t local = hart->priv.mlocal;
    uint64_t mask = (local ^ (local + 1)) << 2 | (MMU_PAGE - 1);
    return local != 0 && ((address ^ local << 2) & ~mask) == 0;
}

/* Reads part of the table as the walker does, and lists the read. */
static bool read_table(const struct hart *hart, uint64_t at, void *to, uint64_t size, struct mmu_walk *list)
{
    const uint8_t *bytes = phys_at(hart->memory, at, size);
    if (!bytes || !pmp_allows(&hart->priv, at, size, PMP_R, PRIV_S))
        return false;
    list->entries[list->count++] = at;
    memcpy(to, bytes, size);
    return true;
}

/* Ignores the bits of a range below the page size. */
static void align(struct croft_range *range)
{
    const uint64_t mask = ~(uint64_t)(MMU_PAGE - 1);
    range->base &= mask;
    range->size &= mask;
    range->physical = range->physical == CROFT_RANGE_PAGED ? range->physical : range->physical & mask;
}

/* Looks an address up; *range is valid if the outcome is FOUND. */
static enum outcome find(const struct hart *hart, uint64_t address, struct croft_range *range,
                         struct mmu_walk *list)
{
    uint64_t table = hart->priv.mrange, head[2];
    *list = (struct mmu_walk){.ranges = true};
    if (!read_table(hart, table, head, sizeof head, list) || head[1] > CROFT_RANGES_MAX)
        return UNREADABLE;
    uint64_t low = 0, high = head[0] & 1 ? 0 : head[1];
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        uint64_t at = table + offsetof(struct croft_range_table, entries) + middle * sizeof *range;
        if (!read_table(hart, at, range, sizeof *range, list))
            return UNREADABLE;
        align(range);
        if (address - range->base < range->size)
            break;
        if (address < range->base)
            high = middle;
        else
            low = middle + 1;
    }
    if (low >= high || range->physical == CROFT_RANGE_PAGED || !(range->permissions & CROFT_RANGE_PRESENT))
        return MISSING;
    list->leaf = true;
    list->first = range->base;
    list->last = range->base + range->size - 1;
    return FOUND;
}

bool range_mmu_translate(struct hart *hart, uint64_t address, enum mmu_access access, uint64_t *physical)
{
    static const struct {
        enum trap_cause page, access;
        uint32_t permission;
    } kinds[] = {
        [MMU_LOAD] = {TRAP_LOAD_PAGE, TRAP_LOAD_ACCESS, CROFT_RANGE_READ},
        [MMU_STORE] = {TRAP_STORE_PAGE, TRAP_STORE_ACCESS, CROFT_RANGE_WRITE},
        [MMU_FETCH] = {TRAP_FETCH_PAGE, TRAP_FETCH_ACCESS, CROFT_RANGE_EXECUTE},
    };
    struct croft_range range;
    struct mmu_walk list;
    *physical = address;
    if (range_mmu_windowed(hart, address))
        return true;
    enum outcome outcome = find(hart, address, &range, &list);
    if (outcome != FOUND || !(range.permissions & kinds[access].permission)) {
        hart->trap =
            (struct trap){outcome == UNREADABLE ? kinds[access].access : kinds[access].page, address};
        return false;
    }
    *physical = range.physical + (address - range.base);
    return true;
}

bool range_mmu_peek(const struct hart *hart, uint64_t address, uint64_t *physical)
{
    struct croft_range range;
    struct mmu_walk list;
    *physical = address;
    if (range_mmu_windowed(hart, address))
        return true;
    if (find(hart, address, &range, &list) != FOUND)
        return false;
    *physical = range.physical + (address - range.base);
    return true;
}

void range_mmu_list_walk(const struct hart *hart, uint64_t address, struct mmu_walk *list)
{
    struct croft_range range;
    *list = (struct mmu_walk){.ranges = true};
    if (!range_mmu_windowed(hart, address))
        (void)find(hart, address, &range, list);
}
