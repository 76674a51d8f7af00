#include "host/kernel/memory/memory.h"

#include "host/kernel/hosts.h"
#include "host/kernel/memory/pages.h"
#include "host/kernel/memory/ranges.h"
#include "host/kernel/memory/table.h"
#include "host/kernel/units.h"

/* Linux's error numbers. */
enum { NO_MEMORY = 12, BAD_ADDRESS = 14, NO_DEVICE = 19, INVALID = 22 };

enum { READ_WRITE = CROFT_RANGE_READ | CROFT_RANGE_WRITE };

static struct {
    uint64_t start, end_of_data, top; /* break and mappings lie in [start, top) */
    uint64_t break_physical;
    bool around; /* a fault in a contiguous range makes PRESENT_AROUND bytes present */
} heap;

static enum memory_result add_page(const struct croft_range *range, uint64_t address, table_entry *slot)
{
    uint64_t page = range->physical == CROFT_RANGE_PAGED
                        ? pages_take(1)
                        : range->physical + (page_down(address) - range->base);
    if (!page)
        return MEMORY_FULL;
    pages_zero(page);
    *slot = table_entry_of(page, range->permissions);
    return MEMORY_READY;
}

/* Bytes made present at once, as Linux does with anonymous folios of 64 KiB: few ranges arise, and
 * accelerators do not fault on memory that the program has accessed. */
enum { PRESENT_AROUND = 64 * 1024 };

/* Makes the part of a contiguous range around [first, end) present. [first, end) lies within the range. */
static enum memory_result fill(const struct croft_range *range, uint64_t first, uint64_t end)
{
    const struct croft_range whole = *range;
    first &= ~(uint64_t)(PRESENT_AROUND - 1);
    end = (end + PRESENT_AROUND - 1) & ~(uint64_t)(PRESENT_AROUND - 1);
    if (first < whole.base || !ranges_have_room())
        first = whole.base;
    if (end > range_end(&whole) || !ranges_have_room())
        end = range_end(&whole);
    for (uint64_t page = first; page < end; page += PAGE) {
        table_entry *slot = table_slot(page, true);
        if (!slot || (*slot == 0 && add_page(&whole, page, slot) != MEMORY_READY))
            return MEMORY_FULL;
    }
    ranges_present(first, end);
    return MEMORY_READY;
}

enum memory_result memory_fault(uint64_t address, uint32_t permission)
{
    const struct croft_range *range = ranges_find(address);
    if (!range || !(range->permissions & permission))
        return MEMORY_DENIED;
    table_entry *slot = table_slot(address, true);
    if (!slot)
        return MEMORY_FULL;
    if (*slot == 0 && heap.around && range->physical != CROFT_RANGE_PAGED)
        return fill(range, page_down(address), page_down(address) + PAGE);
    if (*slot == 0)
        return add_page(range, address, slot);
    /* The page is mapped. The hart may have cached the entry from before it was valid (privileged
     * specification, section 4.2.1). Flushing here is cheaper than flushing at every new page. */
    table_synchronize();
    return table_allows(*slot, permission) ? MEMORY_READY : MEMORY_DENIED;
}

enum memory_result memory_touch(uint64_t address, uint64_t size, uint32_t permission)
{
    if (address + size < address || address + size > UINT64_MAX - PAGE ||
        !ranges_cover(address, address + size, permission))
        return MEMORY_DENIED;
    for (uint64_t page = page_down(address); page < address + size; page += PAGE) {
        const table_entry *slot = table_slot(page, false);
        if (slot && table_allows(*slot, permission))
            continue;
        enum memory_result result = memory_fault(page, permission);
        if (result != MEMORY_READY)
            return result;
    }
    return MEMORY_READY;
}

enum memory_result memory_present(uint64_t first, uint64_t end)
{
    enum memory_result result = MEMORY_READY;
    while (first < end) {
        size_t i = ranges_from(first);
        const struct croft_range *range = &ranges.entries[i];
        if (i == ranges.count || range->base >= end)
            break;
        uint64_t part = first > range->base ? first : range->base;
        first = range_end(range) < end ? range_end(range) : end;
        if (!(range->permissions & CROFT_RANGE_ACCESS) || (range->permissions & CROFT_RANGE_PRESENT))
            continue;
        if (range->physical == CROFT_RANGE_PAGED)
            result = MEMORY_DENIED;
        else if (fill(range, part, first) != MEMORY_READY)
            return MEMORY_FULL;
    }
    return result;
}

/* Returns the next non-zero entry of a page in [*at, end), or NULL, and advances *at past it. */
static table_entry *next_entry(uint64_t *at, uint64_t end)
{
    enum { TABLE_SPAN = PAGE * 512 };
    while (*at < end) {
        table_entry *slot = table_slot(*at, false);
        if (!slot) {
            *at = (*at & ~(uint64_t)(TABLE_SPAN - 1)) + TABLE_SPAN;
            continue;
        }
        *at += PAGE;
        if (*slot)
            return slot;
    }
    return NULL;
}

/* Adds a range where there is none. physical: preferred address of its memory, or 0. */
static void add_range(uint64_t base, uint64_t size, uint64_t physical, uint32_t permissions,
                      enum croft_range_use use)
{
    struct croft_range range = {.base = base, .size = size, .permissions = permissions, .use = (uint32_t)use};
    range.physical = CROFT_RANGE_PAGED;
    if (physical && pages_take_at(physical, size / PAGE))
        range.physical = physical;
    else if (permissions && (physical = pages_take(size / PAGE)) != 0)
        range.physical = physical;
    ranges_insert(range);
}

/* Contiguous memory of removed ranges that tasks of other hosts may still use. When the list is full, the memory that
 * does not fit in stays unused. */
static struct {
    struct {
        uint64_t physical, count;
    } pieces[64];
    unsigned count;
} late;

/* Frees what no task can use any more: the accelerators forget removed ranges before their next tasks (units.h). */
static void free_late(void)
{
    if (late.count == 0 || !units_are_idle())
        return;
    for (unsigned i = 0; i < late.count; i++)
        pages_free(late.pieces[i].physical, late.pieces[i].count);
    late.count = 0;
}

static void free_contiguous(uint64_t physical, uint64_t count)
{
    if (hosts_count == 1 || !heap.around) {
        pages_free(physical, count);
    } else if (late.count < sizeof late.pieces / sizeof *late.pieces) {
        late.pieces[late.count].physical = physical;
        late.pieces[late.count++].count = count;
    }
}

/* Removes all ranges of that use in [first, end). The table must have room for two more ranges. */
static void remove_ranges(uint64_t first, uint64_t end, enum croft_range_use use)
{
    free_late();
    ranges_split(first);
    ranges_split(end);
    for (size_t i = ranges_from(first); i < ranges.count && ranges.entries[i].base < end;) {
        struct croft_range range = ranges.entries[i];
        if (range.use != (uint32_t)use) {
            i++;
            continue;
        }
        uint64_t at = range.base;
        for (table_entry *entry; (entry = next_entry(&at, range_end(&range)));) {
            if (range.physical == CROFT_RANGE_PAGED)
                pages_free(table_page(*entry), 1);
            *entry = 0;
        }
        if (range.physical != CROFT_RANGE_PAGED)
            free_contiguous(range.physical, range.size / PAGE);
        ranges_erase(i);
    }
    hosts_synchronize();
}

static bool add_segment(const struct kernel_segment *segment)
{
    const struct croft_range range = {segment->first, segment->end - segment->first, segment->physical,
                                      segment->permissions, segment->use};
    ranges_insert(range);
    if (segment->filled_end > segment->filled_first && ranges_have_room())
        ranges_present(segment->filled_first, segment->filled_end);
    for (uint64_t at = segment->filled_first; at < segment->filled_end; at += PAGE) {
        table_entry *slot = table_slot(at, true);
        if (!slot)
            return false;
        *slot = table_entry_of(segment->physical + (at - segment->first), segment->permissions);
    }
    return true;
}

bool memory_init(const struct kernel_boot *boot)
{
    pages_init(boot);
    heap.start = heap.end_of_data = boot->break_start;
    heap.top = boot->map_top;
    heap.break_physical = boot->break_physical;
    heap.around = boot->accelerators > 0;
    /* Reserve the loaded segments first, before page tables are allocated. */
    for (uint64_t i = 0; i < boot->segment_count; i++) {
        const struct kernel_segment *segment = &boot->segments[i];
        if (!pages_take_at(segment->physical, (segment->end - segment->first) / PAGE))
            return false;
    }
    for (uint64_t i = 0; i < boot->segment_count; i++)
        if (!add_segment(&boot->segments[i]))
            return false;
    return true;
}

/* Returns the lowest mapping or memory of accelerators, or the top. */
static uint64_t break_limit(void)
{
    for (size_t i = ranges_from(page_up(heap.end_of_data)); i < ranges.count; i++)
        if (ranges.entries[i].use >= CROFT_USE_MAP)
            return ranges.entries[i].base;
    return heap.top;
}

int64_t memory_break(uint64_t address)
{
    if (address < heap.start || address > break_limit() || !ranges_have_room())
        return (int64_t)heap.end_of_data;
    uint64_t old = page_up(heap.end_of_data), new = page_up(address);
    if (new > old)
        add_range(old, new - old, heap.break_physical + (old - heap.start), READ_WRITE, CROFT_USE_BREAK);
    else if (new < old)
        remove_ranges(new, old, CROFT_USE_BREAK);
    heap.end_of_data = address;
    return (int64_t)address;
}

/* Returns the highest free address for `size` bytes, or 0. */
static uint64_t find_place(uint64_t size)
{
    uint64_t floor = page_up(heap.end_of_data), ceiling = heap.top;
    for (size_t i = ranges_from(heap.top);; i--) {
        uint64_t below =
            i > 0 && range_end(&ranges.entries[i - 1]) > floor ? range_end(&ranges.entries[i - 1]) : floor;
        if (ceiling >= below && ceiling - below >= size)
            return ceiling - size;
        if (below == floor)
            return 0;
        ceiling = ranges.entries[i - 1].base;
    }
}

/* Linux's PROT_ bits equal CROFT_RANGE_*. Writable memory is also readable. */
static uint32_t permissions_of(uint64_t protection)
{
    uint32_t set = (uint32_t)protection & (READ_WRITE | CROFT_RANGE_EXECUTE);
    return set & CROFT_RANGE_WRITE ? set | CROFT_RANGE_READ : set;
}

static uint64_t map(uint64_t size, uint32_t permissions)
{
    if (size > heap.top - heap.start || !ranges_have_room())
        return 0;
    uint64_t address = find_place(page_up(size));
    if (address)
        add_range(address, page_up(size), 0, permissions, CROFT_USE_MAP);
    return address;
}

int64_t memory_map(const uint64_t a[6])
{
    enum { FIXED = 0x10, ANONYMOUS = 0x20, FIXED_NOREPLACE = 0x100000 };
    if (!(a[3] & ANONYMOUS))
        return -NO_DEVICE;
    if (a[1] == 0 || (a[3] & (FIXED | FIXED_NOREPLACE)))
        return -INVALID;
    uint64_t address = map(a[1], permissions_of(a[2]));
    return address ? (int64_t)address : -NO_MEMORY;
}

int64_t memory_unmap(uint64_t address, uint64_t size)
{
    if (address % PAGE != 0 || size == 0 || address < heap.start || address > heap.top ||
        size > heap.top - address)
        return -INVALID;
    if (!ranges_have_room())
        return -NO_MEMORY;
    remove_ranges(address, page_up(address + size), CROFT_USE_MAP);
    return 0;
}

static bool is_mapping(uint64_t address, uint64_t size)
{
    if (address < heap.start || address > heap.top || size > heap.top - address ||
        !ranges_cover(address, address + size, 0))
        return false;
    for (size_t i = ranges_from(address); i < ranges.count && ranges.entries[i].base < address + size; i++)
        if (ranges.entries[i].use != CROFT_USE_MAP)
            return false;
    return true;
}

/* Copies the mapped pages to another mapping. */
static enum memory_result copy_pages(uint64_t to, uint64_t from, uint64_t size)
{
    uint64_t at = from;
    for (const table_entry *entry; (entry = next_entry(&at, from + size));) {
        uint64_t target = to + (at - PAGE - from);
        table_entry *slot = table_slot(target, true);
        if (!slot || (*slot == 0 && add_page(ranges_find(target), target, slot) != MEMORY_READY))
            return MEMORY_FULL;
        memcpy(pages_at(table_page(*slot)), pages_at(table_page(*entry)), PAGE);
    }
    return MEMORY_READY;
}

int64_t memory_remap(const uint64_t a[6])
{
    enum { MAY_MOVE = 1 };
    uint64_t old_size = page_up(a[1]), new_size = page_up(a[2]);
    if (a[0] % PAGE != 0 || a[2] == 0 || (a[3] & ~(uint64_t)MAY_MOVE) || old_size < a[1])
        return -INVALID;
    if (old_size == 0 || !is_mapping(a[0], old_size))
        return -BAD_ADDRESS;
    if (new_size >= a[2] && new_size <= old_size) {
        if (new_size == old_size || memory_unmap(a[0] + new_size, old_size - new_size) == 0)
            return (int64_t)a[0];
        return -NO_MEMORY;
    }
    uint64_t address = a[3] & MAY_MOVE ? map(a[2], ranges_find(a[0])->permissions & CROFT_RANGE_ACCESS) : 0;
    if (!address)
        return -NO_MEMORY;
    if (!ranges_have_room() || copy_pages(address, a[0], old_size) != MEMORY_READY) {
        (void)memory_unmap(address, new_size);
        return -NO_MEMORY;
    }
    (void)memory_unmap(a[0], old_size);
    return (int64_t)address;
}

int64_t memory_protect(uint64_t address, uint64_t size, uint64_t protection)
{
    uint64_t end = page_up(address + size);
    if (address % PAGE != 0 || (protection & ~(uint64_t)(READ_WRITE | CROFT_RANGE_EXECUTE)))
        return -INVALID;
    if (size == 0)
        return 0;
    if (end <= address || !ranges_cover(address, end, 0) || !ranges_have_room())
        return -NO_MEMORY;
    uint32_t permissions = permissions_of(protection);
    ranges_permit(address, end, permissions);
    uint64_t at = address;
    for (table_entry *entry; (entry = next_entry(&at, end));)
        *entry = table_entry_of(table_page(*entry), permissions);
    hosts_synchronize();
    return 0;
}
