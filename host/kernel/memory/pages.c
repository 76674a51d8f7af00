#include "host/kernel/memory/pages.h"

enum { BITS = 64 };

static struct {
    uint64_t base, count; /* physical address of the first page, number of pages */
    uint64_t free_end;    /* all pages from this number on are used */
    uint64_t *used;       /* one bit per page */
} pages;

static bool is_used(uint64_t page)
{
    return pages.used[page / BITS] >> (page % BITS) & 1;
}

/* Marks pages [first, first + count), up to a word at a time. */
static void mark(uint64_t first, uint64_t count, bool used)
{
    for (uint64_t page = first, end = first + count; page < end;) {
        uint64_t *word = &pages.used[page / BITS], bits = BITS - page % BITS;
        if (bits > end - page)
            bits = end - page;
        uint64_t mask = (bits == BITS ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1) << (page % BITS);
        *word = used ? *word | mask : *word & ~mask;
        page += bits;
    }
}

void pages_init(const struct kernel_boot *boot)
{
    pages.base = boot->memory_base;
    pages.count = boot->memory_size / PAGE;
    pages.used = pages_at(boot->bitmap);
    pages.free_end = pages.count;
    memset(pages.used, 0, (pages.count + BITS - 1) / BITS * 8);
    mark(0, (boot->used_end - boot->memory_base) / PAGE, true);
}

bool pages_take_at(uint64_t physical, uint64_t count)
{
    uint64_t first = (physical - pages.base) / PAGE;
    if (physical < pages.base || first > pages.count || count > pages.count - first)
        return false;
    for (uint64_t page = first; page < first + count;) {
        if (page % BITS == 0 && pages.used[page / BITS] == 0) {
            page += BITS;
            continue;
        }
        if (is_used(page++))
            return false;
    }
    mark(first, count, true);
    return true;
}

uint64_t pages_take(uint64_t count)
{
    bool seen_free = false;
    for (uint64_t page = pages.free_end, run = 0; page > 0;) {
        uint64_t word = page % BITS == 0 ? pages.used[page / BITS - 1] : 1;
        if (word == ~UINT64_C(0)) {
            run = 0;
            page -= BITS;
        } else if (word == 0 && count - run > BITS) {
            run += BITS;
            page -= BITS;
        } else {
            run = is_used(--page) ? 0 : run + 1;
        }
        if (run == 0 && !seen_free)
            pages.free_end = page;
        seen_free |= run > 0;
        if (run == count) {
            if (page + count == pages.free_end)
                pages.free_end = page;
            mark(page, count, true);
            return pages.base + page * PAGE;
        }
    }
    return 0;
}

void pages_free(uint64_t physical, uint64_t count)
{
    uint64_t first = (physical - pages.base) / PAGE;
    mark(first, count, false);
    if (first + count > pages.free_end)
        pages.free_end = first + count;
}
