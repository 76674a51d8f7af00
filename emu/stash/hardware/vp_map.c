/* The VP-map: translations of the pages of all valid entries, in both directions (section 4.1.4). */
#include <assert.h>

#include "emu/stash/hardware/state.h"

#define PAGE_OF(va) ((va) & ~(uint64_t)(STASH_PAGE - 1))

/* Adds the pages of a range to a list in ascending order. */
static unsigned add_range(uint64_t *pages, unsigned count, unsigned limit, uint64_t from, uint64_t to)
{
    for (uint64_t page = PAGE_OF(from); page < to && count < limit; page += STASH_PAGE)
        if (!count || pages[count - 1] < page)
            pages[count++] = page;
    return count;
}

unsigned stash_pages_of(const struct stash_mapping *mapping, uint64_t *pages, unsigned limit)
{
    unsigned count = 0;
    for (uint64_t row = 0; row < mapping->strides && count < limit; row++) {
        const uint64_t start = mapping->global + row * mapping->stride;
        const uint64_t last = start + (mapping->objects - 1) * mapping->object;
        if (mapping->object < STASH_PAGE) /* each page from the first field to the last has a part of one */
            count = add_range(pages, count, limit, start, last + mapping->field);
        else
            for (uint64_t i = 0, at = start; i < mapping->objects && count < limit;
                 i++, at += mapping->object)
                count = add_range(pages, count, limit, at, at + mapping->field);
    }
    return count;
}

bool stash_touches(const struct stash_mapping *mapping, uint64_t page)
{
    for (uint64_t row = 0; row < mapping->strides; row++) {
        const uint64_t start = mapping->global + row * mapping->stride;
        const uint64_t last = start + (mapping->objects - 1) * mapping->object;
        if (page + STASH_PAGE <= start || page >= last + mapping->field)
            continue;
        if (page <= start)
            return true;
        const uint64_t object = start + (page - start) / mapping->object * mapping->object;
        if (page < object + mapping->field || (object < last && object + mapping->object < page + STASH_PAGE))
            return true;
    }
    return false;
}

static struct stash_page *find(const struct stash *stash, uint64_t page)
{
    for (uint32_t i = 0; i < stash->config.pages; i++)
        if (stash->pages[i].used && stash->pages[i].virtual == page)
            return &stash->pages[i];
    return NULL;
}

unsigned stash_pages_missing(const struct stash *stash, const uint64_t *pages, unsigned count)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < count; i++)
        missing += !find(stash, pages[i]);
    return missing;
}

unsigned stash_pages_free(const struct stash *stash)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < stash->config.pages; i++)
        count += !stash->pages[i].used;
    return count;
}

void stash_pages_point(struct stash *stash, const uint64_t *pages, unsigned count, unsigned entry)
{
    uint32_t slot = 0;
    for (unsigned i = 0; i < count; i++) {
        struct stash_page *page = find(stash, pages[i]);
        if (!page) {
            while (stash->pages[slot].used)
                slot++;
            assert(slot < stash->config.pages);
            page = &stash->pages[slot];
            *page = (struct stash_page){.used = true, .virtual = pages[i]};
        }
        page->entry = (uint8_t)entry;
        if (!page->known)
            page->known = stash->user.translate(stash->user.context, page->virtual, &page->physical);
    }
}

static bool needs(const struct stash_entry *entry, uint64_t page)
{
    return entry->valid && stash_touches(&entry->mapping, page);
}

void stash_pages_leave(struct stash *stash, unsigned entry)
{
    for (uint32_t i = 0; i < stash->config.pages; i++) {
        struct stash_page *page = &stash->pages[i];
        if (!page->used || page->entry != entry || needs(&stash->entries[entry], page->virtual))
            continue;
        uint64_t latest = 0;
        for (unsigned e = 0; e < stash->config.entries; e++)
            if (stash->entries[e].age > latest && needs(&stash->entries[e], page->virtual)) {
                latest = stash->entries[e].age;
                page->entry = (uint8_t)e;
            }
        page->used = latest > 0;
    }
}

/* Returns the page of an address, which is known if it exists. */
static struct stash_page *translated(struct stash *stash, uint64_t va)
{
    struct stash_page *page = find(stash, PAGE_OF(va));
    assert(page && "a page is in the VP-map as long as a valid entry maps it");
    if (!page->known)
        page->known = stash->user.translate(stash->user.context, page->virtual, &page->physical);
    return page;
}

bool stash_can_translate(struct stash *stash, uint64_t va)
{
    return translated(stash, va)->known;
}

uint64_t stash_translate(struct stash *stash, uint64_t va)
{
    const struct stash_page *page = translated(stash, va);
    assert(page->known && "the access has been executed");
    return page->physical + va % STASH_PAGE;
}

bool stash_reverse(const struct stash *stash, uint64_t physical, unsigned n, uint64_t *va)
{
    for (uint32_t i = 0; i < stash->config.pages; i++) {
        const struct stash_page *page = &stash->pages[i];
        if (page->used && page->known && page->physical == PAGE_OF(physical) && n-- == 0) {
            *va = page->virtual + physical % STASH_PAGE;
            return true;
        }
    }
    return false;
}
