#include "emu/mem/phys/code_pages.h"

#include <sys/mman.h>

struct code_pages *code_pages_new(const uint8_t *bytes, uint64_t size)
{
    size_t length = sizeof(struct code_pages) + size / CODE_PAGE * sizeof(uint16_t);
    /* Not calloc(), which clears and so touches all of it where it lies in freed memory. */
    struct code_pages *pages =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    pages->bytes = bytes;
    pages->length = length;
    return pages;
}

void code_pages_free(struct code_pages *pages)
{
    if (pages)
        (void)munmap(pages, pages->length);
}

void code_pages_watch(struct code_pages *pages, struct code_watcher *watcher)
{
    if (!pages)
        return;
    watcher->next = pages->watchers;
    pages->watchers = watcher;
}

void code_pages_leave(struct code_pages *pages, struct code_watcher *watcher)
{
    if (!pages)
        return;
    struct code_watcher **link = &pages->watchers;
    while (*link && *link != watcher)
        link = &(*link)->next;
    if (*link)
        *link = watcher->next;
}

void code_pages_mark(struct code_pages *pages, uint64_t page, unsigned end)
{
    if (!pages || pages->ends[page] >= end)
        return;
    bool first = pages->ends[page] == 0;
    pages->ends[page] = (uint16_t)end;
    for (struct code_watcher *w = pages->watchers; w; w = w->next)
        w->marked(w->context, page, end, first);
}

static void store(struct code_pages *pages, uint64_t page, unsigned first, unsigned last)
{
    bool left = false;
    if (pages->ends[page] == 0)
        return;
    for (struct code_watcher *w = pages->watchers; w; w = w->next)
        left |= w->stored(w->context, page, first, last);
    if (!left)
        pages->ends[page] = 0;
}

void code_pages_store(struct code_pages *pages, const uint8_t *at, uint64_t length)
{
    uint64_t first = (uint64_t)(at - pages->bytes), last = first + length - 1;
    for (uint64_t page = first / CODE_PAGE; page <= last / CODE_PAGE; page++) {
        uint64_t start = page * CODE_PAGE;
        store(pages, page, first > start ? (unsigned)(first - start) : 0,
              last - start < CODE_PAGE ? (unsigned)(last - start) : CODE_PAGE - 1);
    }
}

static void release(struct code_pages *pages, uint64_t page)
{
    bool tells = false;
    for (struct code_watcher *w = pages->watchers; w; w = w->next) {
        if (w->released)
            tells |= w->released(w->context, page);
        else if (pages->ends[page])
            (void)w->stored(w->context, page, 0, CODE_PAGE - 1);
    }
    if (!tells)
        pages->ends[page] = 0;
    else if (pages->ends[page] == 0) /* otherwise no fast path leads to it */
        code_pages_mark(pages, page, CODE_PAGE);
}

void code_pages_release(struct code_pages *pages, const uint8_t *at, uint64_t length)
{
    uint64_t first = (uint64_t)(at - pages->bytes) / CODE_PAGE;
    for (uint64_t page = first; page < first + length / CODE_PAGE; page++)
        release(pages, page);
}
