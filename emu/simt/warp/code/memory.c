#include "emu/simt/warp_memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"
#include "emu/simt/local_memory.h"
#include "emu/simt/warp/code/code.h"

static bool is_power(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* Returns whether a page's first store must be noted. */
static bool is_limited(const struct warp_memory *memory)
{
    const struct code_pages *code = memory->setup.memory->code;
    return code && code->limited;
}

/* Without translation, program addresses form one window for loads and one for stores. */
static void open_windows(struct warp_memory *memory)
{
    const struct phys *all = memory->setup.memory;
    memory->load_count = memory->store_count = 0;
    if (memory->setup.translate)
        return;
    uint64_t first = memory->setup.write_first;
    if (first < all->base)
        first = all->base;
    memory->load_base = all->base;
    memory->load_count = all->size - 7;
    memory->load_bytes = all->bytes;
    if (first - all->base > all->size - 8 || is_limited(memory))
        return;
    memory->store_base = first;
    memory->store_count = all->base + all->size - 7 - first;
    memory->store_bytes = all->bytes + (first - all->base);
}

const char *const warp_reconvergence_names[] = {[WARP_MINPC] = "minpc", [WARP_STACKED] = "stack", NULL};

static bool forget_code(void *context, uint64_t page, unsigned first, unsigned last)
{
    const struct warp_memory *memory = context;
    if (memory->turns) { /* its thread may execute this code */
        if (first < memory->setup.memory->code->ends[page])
            memory->turns->changed(memory->turns->context);
        return true;
    }
    return warp_code_forget(memory->code, page, first, last);
}

/* Stores to the page take the slow path, which notes them. */
static void leave_code(void *context, uint64_t page, unsigned end, bool first)
{
    (void)first;
    struct warp_memory *memory = context;
    const uint8_t *bytes = memory->setup.memory->code->bytes + page * CODE_PAGE;
    if (memory->store_count > 0 && bytes + end > memory->store_bytes)
        memory->store_count = 0;
    for (unsigned i = 0; i < WARP_PAGES; i++)
        if (memory->pages[1][i].bytes == bytes)
            memory->pages[1][i] = (struct warp_page){0};
}

void warp_memory_note_store(const struct warp_memory *memory, const uint8_t *at, uint64_t length)
{
    const struct phys *all = memory->setup.memory;
    uint64_t offset = (uintptr_t)at - (uintptr_t)all->bytes;
    if (offset < all->size) /* otherwise a scratchpad */
        phys_note_store(all, all->base + offset, length);
}

bool warp_memory_init(struct warp_memory *memory, const struct warp_memory_setup *setup, struct error *err)
{
    *memory = (struct warp_memory){.setup = *setup};
    memory->peers = &memory->alone;
    memory->alone.threads = memory;
    memory->reservations = &memory->own;
    if (!is_power(setup->width) || setup->width > 32 || setup->stack_shift < 4 || setup->stack_shift > 30)
        return error_set(err, "a warp of %u threads with stacks of 2^%u bytes is not possible", setup->width,
                         setup->stack_shift);
    memory->stack_size = ((uint64_t)setup->stack_warps * setup->width) << setup->stack_shift;
    memory->stack_turns = setup->stack_warps ? UINT64_C(1) << (31 - __builtin_clz(setup->stack_warps)) : 1;
    memory->stack = phys_at(setup->memory, setup->stack_physical, memory->stack_size);
    if (!memory->stack)
        return error_set(err, "thread stacks of %" PRIu64 " bytes at 0x%" PRIx64 " are not in memory",
                         memory->stack_size, setup->stack_physical);
    memory->stack_store = is_limited(memory) ? 0 : memory->stack_size;
    open_windows(memory);
    memory->code = warp_code_new(err);
    memory->watcher = (struct code_watcher){.stored = forget_code, .marked = leave_code, .context = memory};
    if (memory->code)
        code_pages_watch(setup->memory->code, &memory->watcher);
    return memory->code;
}

struct warp_memory *warp_memory_copy(struct warp_memory *memory, struct error *err)
{
    struct warp_memory *copy = alloc(1, sizeof *copy);
    *copy = *memory; /* with its reservations and peers */
    copy->code = warp_code_new(err);
    if (!copy->code) {
        free(copy);
        return NULL;
    }
    copy->watcher.context = copy;
    code_pages_watch(memory->setup.memory->code, &copy->watcher);
    memory->copies = copy;
    return copy;
}

void warp_memory_set_groups(struct warp_memory *memory, uint32_t groups, uint32_t first)
{
    assert(memory->setup.stack_warps % groups == 0);
    memory->stack_groups = groups;
    memory->stack_group = first % groups;
    memory->stack_turns = UINT64_C(1) << (31 - __builtin_clz(memory->setup.stack_warps / groups));
}

static void free_code(struct warp_memory *memory)
{
    if (memory->code)
        code_pages_leave(memory->setup.memory->code, &memory->watcher);
    warp_code_free(memory->code);
    memory->code = NULL;
}

void warp_memory_free(struct warp_memory *memory)
{
    for (struct warp_memory *copy = memory->copies, *next; copy; copy = next) {
        next = copy->copies;
        free_code(copy);
        free(copy);
    }
    memory->copies = NULL;
    free_code(memory);
}

void warp_memory_forget(struct warp_memory *memory)
{
    for (struct warp_memory *at = memory; at; at = at->copies)
        memset(at->pages, 0, sizeof at->pages);
}

void warp_memory_disturb(struct warp_memory *memory, uint64_t physical, uint64_t size)
{
    uint64_t last = (physical + size - 1) / WARP_RESERVATION;
    for (uint64_t block = physical / WARP_RESERVATION; block <= last; block++)
        ++memory->reservations->versions[block % WARP_VERSIONS];
}

bool warp_memory_stored(void *memory, uint64_t physical, unsigned size)
{
    struct warp_memory *own = memory;
    if (size)
        warp_memory_disturb(own, physical, size);
    return own->reservations->held;
}

void warp_memory_flush(struct warp_memory *memory)
{
    warp_memory_forget(memory);
    for (struct warp_memory *at = memory; at; at = at->copies)
        warp_code_flush(at->code);
}

static bool translate(const struct warp_memory *memory, uint64_t address, enum warp_access access,
                      uint64_t *physical)
{
    const struct warp_memory_setup *setup = &memory->setup;
    if (setup->translate)
        return setup->translate(setup->context, address, access, physical);
    *physical = address;
    return access != WARP_STORE || address >= setup->write_first;
}

/* Returns the bytes of the program's page, or NULL. Translations are cached. The permission is checked for
 * the address itself, because write_first need not be at the start of a page. */
static uint8_t *page_at(struct warp_memory *memory, uint64_t address, enum warp_access access)
{
    uint64_t page = address & ~(uint64_t)(WARP_PAGE - 1), physical;
    struct warp_page *entry = &memory->pages[access == WARP_STORE][page / WARP_PAGE % WARP_PAGES];
    bool cached = access != WARP_FETCH && (memory->setup.translate || is_limited(memory));
    if (cached && entry->address == page + 1)
        return entry->bytes;
    if (!translate(memory, address, access, &physical))
        return NULL;
    uint8_t *bytes = phys_at(memory->setup.memory, physical & ~(uint64_t)(WARP_PAGE - 1), WARP_PAGE);
    bool noted = access == WARP_STORE && bytes &&
                 (phys_has_code(memory->setup.memory, physical) || page < memory->setup.write_first);
    if (bytes && cached && !noted)
        *entry = (struct warp_page){page + 1, bytes};
    return bytes;
}

const struct warp_local *warp_memory_local(const struct warp_memory *memory)
{
    return memory->setup.custom ? memory->setup.custom->local : NULL;
}

uint8_t *warp_memory_reach(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                           enum warp_access access, uint64_t *room)
{
    uint64_t offset = address - WARP_SHARED_WINDOW, s = address - WARP_STACK_WINDOW;
    if (access != WARP_FETCH && offset < pad->size) {
        *room = pad->size - offset;
        return pad->bytes + offset;
    }
    if (access != WARP_FETCH && s < memory->stack_size) {
        *room = WARP_STACK_WORD - s % WARP_STACK_WORD;
        return memory->stack + warp_stack_swizzle(memory, s);
    }
    const struct warp_local *local = warp_memory_local(memory);
    if (local && access != WARP_FETCH && address >= WARP_SHARED_WINDOW)
        return local->reach(local->context, memory, pad, offset, access, room);
    uint8_t *bytes = page_at(memory, address, access);
    *room = WARP_PAGE - address % WARP_PAGE;
    return bytes ? bytes + address % WARP_PAGE : NULL;
}

/* Notes that the page that contains pc is decoded from bytes in memory, so that stores to them are noticed. */
static void mark(const struct warp_memory *memory, uint64_t pc, const uint8_t *bytes)
{
    const struct phys *all = memory->setup.memory;
    uint64_t page = pc & ~(uint64_t)(WARP_PAGE - 1);
    if (!all->code)
        return;
    uint64_t number = phys_page(all, all->base + (uint64_t)(bytes - all->bytes));
    warp_code_mark(memory->code, page, number);
    code_pages_mark(all->code, number, (unsigned)(pc - page) + 2);
}

bool warp_memory_fetch(struct warp_memory *memory, uint64_t pc, uint32_t *bits)
{
    static const struct warp_scratchpad none = {0};
    uint64_t room;
    if (memory->turns)
        memory->turns->wait(memory->turns->context);
    const uint8_t *low = warp_memory_reach(memory, &none, pc, WARP_FETCH, &room);
    if (!low)
        return false;
    mark(memory, pc, low);
    *bits = low[0] | (uint32_t)low[1] << 8;
    if ((*bits & 3) != 3)
        return true;
    const uint8_t *high = warp_memory_reach(memory, &none, pc + 2, WARP_FETCH, &room);
    if (!high)
        return false;
    mark(memory, pc + 2, high);
    *bits |= (uint32_t)high[0] << 16 | (uint32_t)high[1] << 24;
    return true;
}

bool warp_memory_can(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                     uint64_t length, enum warp_access access)
{
    for (uint64_t room; length; address += room, length -= room) {
        if (!warp_memory_reach(memory, pad, address, access, &room))
            return false;
        if (room > length)
            room = length;
    }
    return true;
}

bool warp_memory_load(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                      void *bytes, uint64_t length)
{
    uint8_t *to = bytes;
    for (uint64_t room; length; address += room, length -= room, to += room) {
        const uint8_t *from = warp_memory_reach(memory, pad, address, WARP_LOAD, &room);
        if (!from)
            return false;
        if (room > length)
            room = length;
        memcpy(to, from, room);
    }
    return true;
}

bool warp_memory_store(struct warp_memory *memory, const struct warp_scratchpad *pad, uint64_t address,
                       const void *bytes, uint64_t length)
{
    const uint8_t *from = bytes;
    if (!warp_memory_can(memory, pad, address, length, WARP_STORE))
        return false;
    for (uint64_t room; length; address += room, length -= room, from += room) {
        uint8_t *to = warp_memory_reach(memory, pad, address, WARP_STORE, &room);
        if (room > length)
            room = length;
        memcpy(to, from, room);
        warp_memory_note_store(memory, to, room);
    }
    return true;
}

enum warp_space warp_memory_place(struct warp_memory *memory, uint64_t address, enum warp_access access,
                                  uint64_t *place)
{
    const struct phys *all = memory->setup.memory;
    uint64_t s = address - WARP_STACK_WINDOW;
    if (s < memory->stack_size) {
        *place = memory->setup.stack_physical + warp_stack_swizzle(memory, s);
        return WARP_STACK;
    }
    *place = address;
    if (address >= WARP_SHARED_WINDOW) {
        *place = address - WARP_SHARED_WINDOW;
        return WARP_SHARED;
    }
    if (memory->setup.translate) {
        const uint8_t *bytes = page_at(memory, address, access);
        *place = bytes ? (uint64_t)(bytes - all->bytes) + all->base + address % WARP_PAGE : 0;
    }
    return WARP_GLOBAL;
}
