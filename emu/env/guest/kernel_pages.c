#include "emu/env/guest/kernel_pages.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/mmu.h"
#include "emu/sim/alloc.h"

/* A copy of scattered bytes, used by a call. */
struct copy {
    struct copy *next;
    uint64_t address, length;
    bool write;
    uint8_t bytes[];
};

struct kernel_pages {
    struct hart *hart;
    const struct croft_range_table *ranges;
    struct copy *copies; /* youngest first */
    struct kernel_missing missing;
};

struct kernel_pages *kernel_pages_new(struct hart *hart)
{
    struct kernel_pages *pages = alloc(1, sizeof *pages);
    pages->hart = hart;
    return pages;
}

void kernel_pages_free(struct kernel_pages *pages)
{
    if (!pages)
        return;
    (void)kernel_pages_settle(pages, false);
    free(pages);
}

/* Translates the bytes of [address, address + length) that lie in the first byte's page; sets *part to their
 * number and *physical to their address. Returns false if the program may not access them or they do not
 * exist. */
static bool translate_part(const struct kernel_pages *pages, uint64_t address, uint64_t length, bool write,
                           uint64_t *part, uint64_t *physical)
{
    uint64_t left = MMU_PAGE - address % MMU_PAGE;
    const struct hart *hart = pages->hart;
    const struct bytes bytes = {hart->memory, hart->holders};
    *part = length < left ? length : left;
    return mmu_check(pages->hart, address, 1, write ? MMU_STORE : MMU_LOAD, PRIV_U, physical) &&
           (phys_at(hart->memory, *physical, *part) || bytes_reach(&bytes, *physical, *part, true) == *part);
}

/* Copies from the program to the copy, or back if `store` is set. Returns false if a holder outside of memory
 * refuses. */
static bool transfer(const struct kernel_pages *pages, struct copy *copy, bool store)
{
    const struct bytes bytes = {pages->hart->memory, pages->hart->holders};
    for (uint64_t done = 0, part, physical; done < copy->length; done += part) {
        if (!translate_part(pages, copy->address + done, copy->length - done, copy->write, &part,
                            &physical) ||
            (store ? bytes_write(&bytes, physical, copy->bytes + done, part)
                   : bytes_read(&bytes, physical, copy->bytes + done, part)) < part)
            return false;
    }
    return true;
}

/* Makes a copy. With bytes outside of memory (`elsewhere`), it also writes them back unchanged if `write` is
 * set, so that a holder that refuses the write does so before the call has effects. */
static void *make_copy(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write,
                       bool elsewhere)
{
    struct copy *copy = alloc(1, sizeof *copy + length);
    *copy = (struct copy){pages->copies, address, length, write};
    if (!transfer(pages, copy, false) || (elsewhere && write && !transfer(pages, copy, true))) {
        free(copy);
        return NULL;
    }
    pages->copies = copy;
    return copy->bytes;
}

/* Where the bytes of a view are. */
struct extent {
    uint8_t *first;  /* address of the first byte in memory */
    bool contiguous; /* all bytes follow it */
    bool elsewhere;  /* some bytes are outside of memory */
};

static bool find_extent(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write,
                        struct extent *extent)
{
    *extent = (struct extent){.contiguous = true};
    for (uint64_t done = 0, part, physical; done < length; done += part) {
        if (!translate_part(pages, address + done, length - done, write, &part, &physical)) {
            if (pages->missing.length == 0)
                pages->missing = (struct kernel_missing){address + done, length - done, write};
            return false;
        }
        uint8_t *at = phys_at(pages->hart->memory, physical, part);
        if (at && write)
            phys_note_store(pages->hart->memory, physical, part);
        if (done == 0)
            extent->first = at;
        extent->elsewhere = extent->elsewhere || !at;
        extent->contiguous = extent->contiguous && at && at == extent->first + done;
    }
    return true;
}

void *kernel_pages_view(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write)
{
    struct extent extent;
    if (!find_extent(pages, address, length, write, &extent))
        return NULL;
    return extent.contiguous ? extent.first : make_copy(pages, address, length, write, extent.elsewhere);
}

bool kernel_pages_reach(struct kernel_pages *pages, uint64_t address, uint64_t length, bool write)
{
    struct extent extent;
    return find_extent(pages, address, length, write, &extent);
}

/* Stores the copies, the oldest first. */
static void store_copies(const struct kernel_pages *pages, struct copy *copy)
{
    struct copy *oldest = NULL;
    while (copy) {
        struct copy *next = copy->next;
        copy->next = oldest;
        oldest = copy;
        copy = next;
    }
    for (struct copy *next; oldest; oldest = next) {
        next = oldest->next;
        if (oldest->write)
            (void)transfer(pages, oldest, true);
        free(oldest);
    }
}

struct kernel_missing kernel_pages_settle(struct kernel_pages *pages, bool keep)
{
    struct kernel_missing missing = pages->missing;
    for (struct copy *copy = pages->copies; copy && !keep; copy = copy->next)
        copy->write = false;
    store_copies(pages, pages->copies);
    pages->copies = NULL;
    pages->missing = (struct kernel_missing){0};
    return missing;
}

bool kernel_pages_translate(const struct kernel_pages *pages, uint64_t address, uint32_t permission,
                            uint64_t *physical)
{
    enum mmu_access access = permission == CROFT_RANGE_WRITE     ? MMU_STORE
                             : permission == CROFT_RANGE_EXECUTE ? MMU_FETCH
                                                                 : MMU_LOAD;
    return mmu_check(pages->hart, address, 1, access, PRIV_U, physical);
}

bool kernel_pages_allow(const struct kernel_pages *pages, uint64_t address, uint32_t permission)
{
    const struct croft_range_table *ranges = pages->ranges;
    for (uint64_t i = 0; ranges && i < ranges->count && i < CROFT_RANGES_MAX; i++) {
        const struct croft_range *range = &ranges->entries[i];
        if (address >= range->base && address - range->base < range->size)
            return range->permissions & permission;
    }
    return false;
}

void kernel_pages_set_ranges(struct kernel_pages *pages, const struct croft_range_table *ranges)
{
    pages->ranges = ranges;
}

const struct croft_range_table *kernel_pages_ranges(const struct kernel_pages *pages)
{
    return pages->ranges;
}

const char *kernel_pages_refusal(const struct kernel_pages *pages, uint64_t address, uint32_t permission)
{
    const struct croft_range_table *ranges = pages->ranges;
    for (uint64_t i = 0; ranges && i < ranges->count && i < CROFT_RANGES_MAX; i++) {
        const struct croft_range *range = &ranges->entries[i];
        if (address < range->base || address - range->base >= range->size)
            continue;
        if (range->permissions & permission)
            return "which requires aligned accesses";
        if (!(range->permissions & CROFT_RANGE_ACCESS))
            return "which allows no access";
        switch (permission) {
        case CROFT_RANGE_WRITE: return "which is read-only";
        case CROFT_RANGE_EXECUTE: return "which is not executable";
        default: return "which cannot be read";
        }
    }
    return "where nothing is mapped";
}
