#include "host/kernel/memory/ranges.h"

struct croft_range_table ranges __attribute__((aligned(PAGE)));
uint64_t ranges_taken;

/* Returns whether `index` is ranges_from()'s result. */
static bool is_first(size_t index, uint64_t address)
{
    return index <= ranges.count && (index == ranges.count || range_end(&ranges.entries[index]) > address) &&
           (index == 0 || range_end(&ranges.entries[index - 1]) <= address);
}

size_t ranges_from(uint64_t address)
{
    static size_t last[2]; /* the driver asks for each of a task's ranges several times, and for its code */
    for (unsigned i = 0; i < 2; i++)
        if (is_first(last[i], address))
            return last[i];
    size_t low = 0, high = ranges.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (range_end(&ranges.entries[middle]) > address)
            high = middle;
        else
            low = middle + 1;
    }
    last[1] = last[0];
    last[0] = low;
    return low;
}

const struct croft_range *ranges_find(uint64_t address)
{
    size_t i = ranges_from(address);
    return i < ranges.count && ranges.entries[i].base <= address ? &ranges.entries[i] : NULL;
}

bool ranges_cover(uint64_t first, uint64_t end, uint32_t permissions)
{
    for (size_t i = ranges_from(first); first < end; i++) {
        const struct croft_range *range = &ranges.entries[i];
        if (i == ranges.count || range->base > first || (permissions & ~range->permissions))
            return false;
        first = range_end(range);
    }
    return true;
}

bool ranges_have_room(void)
{
    return ranges.count + 2 <= CROFT_RANGES_MAX;
}

static bool continues(const struct croft_range *low, const struct croft_range *high)
{
    if (range_end(low) != high->base || low->permissions != high->permissions || low->use != high->use)
        return false;
    if (low->physical == CROFT_RANGE_PAGED || high->physical == CROFT_RANGE_PAGED)
        return low->physical == high->physical;
    return low->physical + low->size == high->physical;
}

static void put(size_t index, struct croft_range range)
{
    struct croft_range *at = &ranges.entries[index];
    memmove(at + 1, at, (ranges.count - index) * sizeof *at);
    *at = range;
    ranges.count++;
}

static void take_out(size_t index)
{
    struct croft_range *at = &ranges.entries[index];
    ranges.count--;
    memmove(at, at + 1, (ranges.count - index) * sizeof *at);
}

/* Enclose each change: `changes` is odd meanwhile, which tells concurrent walkers that the table is
 * changing. */
static void begin_change(void)
{
    ranges.changes++;
    __asm__ volatile("" : : : "memory");
}

static void end_change(void)
{
    __asm__ volatile("" : : : "memory");
    ranges.changes++;
}

void ranges_erase(size_t index)
{
    begin_change();
    take_out(index);
    ranges_taken++;
    end_change();
}

/* Merges entries index - 1 and index if both exist and form one range. */
static void join(size_t index)
{
    struct croft_range *at = &ranges.entries[index];
    if (index == 0 || index >= ranges.count || !continues(at - 1, at))
        return;
    (at - 1)->size += at->size;
    take_out(index);
}

void ranges_insert(struct croft_range range)
{
    begin_change();
    size_t index = ranges_from(range.base);
    put(index, range);
    join(index + 1);
    join(index);
    end_change();
}

static void split(uint64_t address)
{
    size_t index = ranges_from(address);
    struct croft_range *at = &ranges.entries[index];
    if (index == ranges.count || at->base >= address)
        return;
    struct croft_range high = *at;
    high.size = range_end(at) - address;
    high.base = address;
    at->size -= high.size;
    if (high.physical != CROFT_RANGE_PAGED)
        high.physical += at->size;
    put(index + 1, high);
}

void ranges_split(uint64_t address)
{
    begin_change();
    split(address);
    end_change();
}

/* Sets and clears flags of the ranges in [first, end). */
static void change(uint64_t first, uint64_t end, uint32_t set, uint32_t clear)
{
    begin_change();
    split(first);
    split(end);
    for (size_t i = ranges_from(first); i < ranges.count && ranges.entries[i].base < end; i++)
        ranges.entries[i].permissions = (ranges.entries[i].permissions & ~clear) | set;
    /* From the end, because merging moves the later entries. */
    for (size_t i = ranges_from(end) + 1, low = ranges_from(first); i-- > low;)
        join(i);
    end_change();
}

void ranges_permit(uint64_t first, uint64_t end, uint32_t permissions)
{
    ranges_taken++;
    change(first, end, permissions, CROFT_RANGE_ACCESS);
}

void ranges_present(uint64_t first, uint64_t end)
{
    change(first, end, CROFT_RANGE_PRESENT, 0);
}
