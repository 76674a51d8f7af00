#include "emu/simt/warp/code/code.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/simt/warp/code/meet.h"
#include "emu/simt/warp_debug.h"

enum { BUCKETS = 64 };

struct code_page {
    uint64_t address;
    struct code_page *next; /* in the same bucket */
    uint64_t number;        /* of its page of memory (code_pages.h) plus 1; 0: nothing was decoded */
    struct warp_op ops[WARP_CODE_OPS];
};

struct warp_code {
    const struct warp_table *table; /* NULL: not chosen yet */
    struct warp_meets meets;
    struct code_page *buckets[BUCKETS];
};

struct warp_code *warp_code_new(struct error *err)
{
    struct warp_code *code = calloc(1, sizeof *code);
    if (!code) {
        (void)error_set(err, "no memory for the code of warps");
        return NULL;
    }
    return code;
}

static void forget_meets(struct warp_code *code)
{
    free(code->meets.entries);
    code->meets = (struct warp_meets){0};
}

void warp_code_flush(struct warp_code *code)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct code_page *page = code->buckets[i], *next; page; page = next) {
            next = page->next;
            free(page);
        }
        code->buckets[i] = NULL;
    }
    forget_meets(code);
}

void warp_code_free(struct warp_code *code)
{
    if (code)
        warp_code_flush(code);
    free(code);
}

void warp_code_use(struct warp_code *code, const struct warp_table *table)
{
    code->table = table;
}

const struct warp_table *warp_code_table(const struct warp_code *code)
{
    return code->table;
}

/* An instruction that the store changes may begin 2 bytes before the store, perhaps on the page before. */
bool warp_code_forget(struct warp_code *code, uint64_t number, unsigned first, unsigned last)
{
    bool left = false;
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct code_page *page = code->buckets[i]; page; page = page->next) {
            if (first < 2)
                page->ops[WARP_CODE_OPS - 1].run = NULL;
            if (page->number != number + 1)
                continue;
            left = true;
            for (unsigned op = (first < 2 ? 0 : first - 2) / 2; op <= last / 2; op++)
                page->ops[op].run = NULL;
        }
    }
    if (left)
        forget_meets(code);
    return left;
}

void warp_code_mark(struct warp_code *code, uint64_t address, uint64_t number)
{
    for (struct code_page *p = code->buckets[address / WARP_PAGE % BUCKETS]; p; p = p->next)
        if (p->address == address)
            p->number = number + 1;
}

struct warp_meets *warp_code_meets(struct warp_code *code)
{
    return &code->meets;
}

struct warp_op *warp_code_page(struct warp_code *code, uint64_t address)
{
    struct code_page **bucket = &code->buckets[address / WARP_PAGE % BUCKETS];
    for (struct code_page *page = *bucket; page; page = page->next) {
        if (page->address == address)
            return page->ops;
    }
    struct code_page *page = alloc(1, sizeof *page);
    page->address = address;
    page->next = *bucket;
    *bucket = page;
    return page->ops;
}

/* Decodes the instruction at an address anew when it is next fetched, because a breakpoint there has changed. */
static void decode_again(struct warp_code *code, uint64_t address)
{
    uint64_t page = address & ~(uint64_t)(WARP_PAGE - 1);
    for (struct code_page *p = code->buckets[page / WARP_PAGE % BUCKETS]; p; p = p->next)
        if (p->address == page)
            p->ops[address % WARP_PAGE / 2].run = NULL;
}

bool warp_debug_has(const struct warp_debug *debug, uint64_t address)
{
    for (uint32_t i = 0; i < debug->count; i++)
        if (debug->breakpoints[i] == address)
            return true;
    return false;
}

static void changed(const struct warp_memory *memory, uint64_t address)
{
    if (memory && memory->code)
        decode_again(memory->code, address);
}

bool warp_debug_insert(struct warp_debug *debug, struct warp_memory *memory, uint64_t address)
{
    if (debug->count == WARP_BREAKPOINTS)
        return false;
    debug->breakpoints[debug->count++] = address;
    changed(memory, address);
    return true;
}

bool warp_debug_remove(struct warp_debug *debug, struct warp_memory *memory, uint64_t address)
{
    for (uint32_t i = 0; i < debug->count; i++) {
        if (debug->breakpoints[i] != address)
            continue;
        debug->breakpoints[i] = debug->breakpoints[--debug->count];
        changed(memory, address);
        return true;
    }
    return false;
}
