#include "emu/mem/phys/snapshot.h"

#include <string.h>

enum { PAGE = CODE_PAGE, RUN = 256 /* most pages of a block, so that the file is read piece by piece */ };

static bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE - 1) == 0;
}

/* Returns the number of pages from `page` on that are stored as one block; 0: the page is zero. */
static uint64_t run_from(const struct phys *memory, uint64_t page)
{
    const uint64_t left = memory->size / PAGE - page;
    uint64_t count = 0;
    while (count < left && count < RUN && !is_zero(memory->bytes + (page + count) * PAGE))
        count++;
    return count;
}

static void save(const struct phys *memory, struct snapshot *s)
{
    const uint64_t pages = memory->size / PAGE;
    for (uint64_t page = 0, count; page < pages && !s->failed; page += count ? count : 1) {
        count = run_from(memory, page);
        if (count == 0)
            continue;
        (void)snapshot_number(s, "page", page, pages);
        snapshot_bytes(s, "bytes", memory->bytes + page * PAGE, count * PAGE);
    }
    (void)snapshot_number(s, "page", pages, pages);
}

static void restore(const struct phys *memory, struct snapshot *s)
{
    const uint64_t pages = memory->size / PAGE;
    for (uint64_t next = 0; !s->failed;) {
        uint64_t page = snapshot_number(s, "page", 0, pages);
        if (s->failed || page == pages)
            return;
        uint64_t most = pages - page < RUN ? pages - page : RUN;
        uint64_t size = snapshot_number(s, "bytes", 0, most * PAGE);
        if (page < next || size == 0 || size % PAGE != 0)
            snapshot_fail(s, "the snapshot is damaged: pages do not follow each other");
        snapshot_block(s, memory->bytes + page * PAGE, size);
        phys_note_store(memory, memory->base + page * PAGE, size);
        next = page + size / PAGE;
    }
}

void phys_snapshot(const struct phys *memory, struct snapshot *s)
{
    snapshot_same(s, "base", memory->base);
    snapshot_same(s, "size", memory->size);
    if (s->saves)
        save(memory, s);
    else
        restore(memory, s);
}
