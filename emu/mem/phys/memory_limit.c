#include "emu/mem/phys/memory_limit.h"

#include <inttypes.h>
#include <stdlib.h>

static void check(struct memory_limit *limit, uint64_t page)
{
    if (limit->used <= limit->most || limit->exceeded)
        return;
    limit->exceeded = true;
    limit->address = limit->memory->base + page * CODE_PAGE;
    if (limit->full)
        limit->full(limit->context);
}

/* Returns false, because this watcher needs to be told only of the first store to a page. */
static bool stored(void *context, uint64_t page, unsigned first, unsigned last)
{
    struct memory_limit *limit = context;
    (void)first, (void)last;
    if (limit->written[page])
        return false;
    limit->written[page] = 1;
    limit->used += CODE_PAGE;
    check(limit, page);
    return false;
}

static bool released(void *context, uint64_t page)
{
    struct memory_limit *limit = context;
    if (limit->written[page])
        limit->used -= CODE_PAGE;
    limit->written[page] = 0;
    return true;
}

static void marked(void *context, uint64_t page, unsigned end, bool first)
{
    (void)context, (void)page, (void)end, (void)first;
}

bool memory_limit_init(struct memory_limit *limit, const struct phys *memory, uint64_t most,
                       struct error *err)
{
    const uint64_t pages = memory->size / CODE_PAGE;
    *limit = (struct memory_limit){0};
    uint8_t *written = calloc(pages, 1);
    if (!written)
        return error_set(err,
                         "--max-memory: the host has no memory for a list of the %" PRIu64
                         " pages of main memory; choose a smaller memory.size",
                         pages);
    *limit = (struct memory_limit){
        .most = most,
        .memory = memory,
        .watcher = {.stored = stored, .released = released, .marked = marked, .context = limit},
        .written = written};
    code_pages_watch(memory->code, &limit->watcher);
    memory->code->limited = true;
    for (uint64_t page = 0; page < pages; page++)
        code_pages_mark(memory->code, page, CODE_PAGE);
    return true;
}

void memory_limit_free(struct memory_limit *limit)
{
    if (!limit->memory)
        return;
    code_pages_leave(limit->memory->code, &limit->watcher);
    free(limit->written);
    *limit = (struct memory_limit){0};
}

void memory_limit_call(struct memory_limit *limit, void (*full)(void *context), void *context)
{
    limit->full = full;
    limit->context = context;
    if (limit->exceeded)
        full(context);
}
