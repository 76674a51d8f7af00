/* The accesses of a group's lanes to memory. Compiled for each build variant: included by rows.h. */

/* Returns the host address of a lane's access of constant size if a fast path covers it, otherwise NULL. */
static ALWAYS_INLINE uint8_t *reach(const struct warp *warp, unsigned lane, unsigned size, bool store)
{
    const struct warp_memory *memory = warp->memory;
    uint64_t address = warp->address[lane];
    uint64_t in_memory = address - (store ? memory->store_base : memory->load_base);
    if (LIKELY(in_memory < (store ? memory->store_count : memory->load_count)))
        return (store ? memory->store_bytes : memory->load_bytes) + in_memory;
    uint64_t in_pad = address - WARP_SHARED_WINDOW, in_stack = address - WARP_STACK_WINDOW;
    if (in_pad < warp->pad.size && size <= warp->pad.size - in_pad)
        return warp->pad.bytes + in_pad;
    if (in_stack < (store ? memory->stack_store : memory->stack_size) &&
        in_stack % WARP_STACK_WORD + size <= WARP_STACK_WORD)
        return memory->stack + warp_stack_swizzle(memory, in_stack);
    const struct warp_page *page = &memory->pages[store][address / WARP_PAGE % WARP_PAGES];
    if (page->address == (address & ~(uint64_t)(WARP_PAGE - 1)) + 1 &&
        address % WARP_PAGE + size <= WARP_PAGE)
        return page->bytes + address % WARP_PAGE;
    return NULL;
}

/* Like reach(), for an aligned access that was checked: it never crosses the end of a page or of a stack
 * word. */
static inline uint8_t *locate(struct warp *warp, unsigned lane, unsigned size, bool store)
{
    uint64_t room;
    uint8_t *at = reach(warp, lane, size, store);
    if (LIKELY(at))
        return at;
    at = warp_memory_reach(warp->memory, &warp->pad, warp->address[lane], store ? WARP_STORE : WARP_LOAD,
                           &room);
    if (store)
        warp_memory_note_store(warp->memory, at, size);
    return at;
}

static ALWAYS_INLINE bool all_within(const struct warp *warp, uint64_t base, uint64_t count)
{
    uint64_t outside = 0;
    EACH_LANE
    outside |= (uint64_t)(warp->address[lane] - base >= count);
    return !outside;
}

/* A range of addresses of which the host's are known: accesses at base + d with d < count. */
struct warp_window {
    uint64_t base, count;
    uint8_t *bytes;
};

/* Returns the window around an access. Its count is 0 if there is none. */
static ALWAYS_INLINE struct warp_window window_of(const struct warp *warp, uint64_t address, unsigned size,
                                                  bool store)
{
    const struct warp_memory *memory = warp->memory;
    const uint64_t base = store ? memory->store_base : memory->load_base;
    const uint64_t count = store ? memory->store_count : memory->load_count;
    if (LIKELY(address - base < count))
        return (struct warp_window){base, count, store ? memory->store_bytes : memory->load_bytes};
    if (address - WARP_SHARED_WINDOW < warp->pad.size && size <= warp->pad.size)
        return (struct warp_window){WARP_SHARED_WINDOW, warp->pad.size - size + 1, warp->pad.bytes};
    const struct warp_page *page = &memory->pages[store][address / WARP_PAGE % WARP_PAGES];
    const uint64_t first = address & ~(uint64_t)(WARP_PAGE - 1);
    if (page->address == first + 1)
        return (struct warp_window){first, WARP_PAGE - size + 1, page->bytes};
    return (struct warp_window){0};
}

/* Gives the lanes that are not in the group the address of its first lane. */
static ALWAYS_INLINE void fill_addresses(struct warp *warp)
{
    const uint64_t first = warp->address[__builtin_ctz(warp->mask)];
    EACH_LANE
    warp->address[lane] = (warp->address[lane] & warp->select[lane]) | (first & ~warp->select[lane]);
}

/* Returns the host address of the words of the lanes' stacks, one beside the other, if each lane accesses the same bytes of its
 * stack within a word, otherwise NULL. */
static ALWAYS_INLINE uint8_t *stack_row(const struct warp *warp, unsigned size, bool store)
{
    const struct warp_memory *memory = warp->memory;
    const unsigned shift = memory->setup.stack_shift, lane0 = (unsigned)__builtin_ctz(warp->mask);
    const uint64_t first = warp->address[lane0] - ((uint64_t)lane0 << shift), s = first - WARP_STACK_WINDOW;
    uint64_t differ = 0;
    if (s >= (store ? memory->stack_store : memory->stack_size) ||
        s % WARP_STACK_WORD + size > WARP_STACK_WORD || memory->setup.width != WARP_LANES ||
        (s >> shift) % WARP_LANES)
        return NULL;
    EACH_SET(left, warp->mask)
    differ |= (warp->address[lane] - first) ^ ((uint64_t)lane << shift);
    return differ ? NULL : memory->stack + warp_stack_swizzle(memory, s);
}

/* Runs of lanes: as many as a vector of the host holds. RUNS_PAY: whether the host extends their values quickly. RUN_ANY: whether
 * some bit of a vector is set. */
#if defined(__AVX512F__)
enum { RUNS_PAY = true, WARP_RUN = 8, WARP_RUNS = 4, WARP_RUN_BYTES = 64 };
#define RUN_ORDER  0, 1, 2, 3, 4, 5, 6, 7
#define RUN_ANY(v) (_mm512_test_epi64_mask((__m512i)(v), (__m512i)(v)) != 0)
#elif defined(__AVX2__)
enum { RUNS_PAY = true, WARP_RUN = 4, WARP_RUNS = 8, WARP_RUN_BYTES = 32 };
#define RUN_ORDER  0, 1, 2, 3
#define RUN_ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
#else
enum { RUNS_PAY = false, WARP_RUN = 2, WARP_RUNS = 16, WARP_RUN_BYTES = 16 };
#define RUN_ORDER  0, 1
#define RUN_ANY(v) (((v)[0] | (v)[1]) != 0)
#endif
typedef uint64_t run __attribute__((vector_size(WARP_RUN_BYTES)));
typedef uint64_t run64 __attribute__((vector_size(WARP_RUN_BYTES), aligned(1), may_alias));
typedef uint32_t run32 __attribute__((vector_size(WARP_RUN_BYTES / 2), aligned(1), may_alias));
typedef uint16_t run16 __attribute__((vector_size(WARP_RUN_BYTES / 4), aligned(1), may_alias));
typedef uint8_t run8 __attribute__((vector_size(WARP_RUN_BYTES / 8), aligned(1), may_alias));

/* Returns adjacent values of constant size, extended by zeros. */
static ALWAYS_INLINE void read_run(const uint8_t *at, unsigned size, run *values)
{
    switch (size) {
    case 1: *values = __builtin_convertvector(*(const run8 *)at, run); break;
    case 2: *values = __builtin_convertvector(*(const run16 *)at, run); break;
    case 4: *values = __builtin_convertvector(*(const run32 *)at, run); break;
    default: *values = *(const run64 *)at; break;
    }
}

/* Loads of lanes whose addresses are equal or adjacent in each run. Returns false if they are not, or not in the window. */
static ALWAYS_INLINE bool load_runs(struct warp *warp, const struct warp_window *window, unsigned size)
{
    const run order = {RUN_ORDER}, steps = order * size, none = {0};
    run *const address = (run *)warp->address, *const data = (run *)warp->data;
    const uint64_t most = window->count - (WARP_RUN - 1) * (uint64_t)size;
    run differ = none;
    bool outside = window->count < WARP_RUN * (uint64_t)size;
#pragma GCC unroll 8
    for (unsigned i = 0; i < WARP_RUNS; i++) {
        const uint64_t first = warp->address[WARP_RUN * i], second = warp->address[WARP_RUN * i + 1];
        differ |= (address[i] - first) ^ (steps & (none + (first == second ? 0 : UINT64_MAX)));
        outside |= first - window->base >= most;
    }
    if (UNLIKELY(outside) || UNLIKELY(RUN_ANY(differ)))
        return false;
#pragma GCC unroll 8
    for (unsigned i = 0; i < WARP_RUNS; i++) {
        const uint64_t first = warp->address[WARP_RUN * i], second = warp->address[WARP_RUN * i + 1];
        const run select = none + (first == second ? 0 : UINT64_MAX);
        run values;
        read_run(window->bytes + (first - window->base), size, &values);
        data[i] = (values & select) | (values[0] & ~select);
    }
    return true;
}

/* Loads of all lanes, of which those that are not in the group have addresses of others. Returns false if no window has them. */
static ALWAYS_INLINE bool load_window(struct warp *warp, unsigned size)
{
    const struct warp_window window = window_of(warp, warp->address[0], size, false);
    const uintptr_t host = (uintptr_t)window.bytes - window.base;
    if (RUNS_PAY && LIKELY(load_runs(warp, &window, size)))
        return true;
    if (!all_within(warp, window.base, window.count))
        return false;
#pragma GCC unroll 32
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        uint64_t value = 0;
        memcpy(&value, (const uint8_t *)(host + warp->address[lane]), size);
        warp->data[lane] = value;
    }
    return true;
}

/* Loads of few lanes. Returns false if no window has them. */
static ALWAYS_INLINE bool load_few(struct warp *warp, unsigned size)
{
    const struct warp_window window = window_of(warp, warp->address[__builtin_ctz(warp->mask)], size, false);
    EACH_SET(left, warp->mask)
    {
        const uint64_t offset = warp->address[lane] - window.base;
        uint64_t value = 0;
        if (UNLIKELY(offset >= window.count))
            return false;
        memcpy(&value, window.bytes + offset, size);
        warp->data[lane] = value;
    }
    return true;
}

/* Loads from warp->address to warp->data. Returns false if a lane has trapped. */
static ALWAYS_INLINE bool load_group(struct warp *warp, unsigned size)
{
    const bool few = warp->lanes <= WARP_LANES / 2;
    if (!few && warp->mask != UINT32_MAX)
        fill_addresses(warp);
    if (LIKELY(few ? load_few(warp, size) : load_window(warp, size)))
        return true;
    const uint8_t *row = stack_row(warp, size, false);
    if (row) {
        EACH_SET(left, warp->mask)
        {
            uint64_t value = 0;
            memcpy(&value, row + lane * WARP_STACK_WORD, size);
            warp->data[lane] = value;
        }
        return true;
    }
    EACH_SET(left, warp->mask)
    {
        const uint8_t *at = reach(warp, lane, size, false);
        uint64_t value = 0;
        if (LIKELY(at)) {
            memcpy(&value, at, size);
            warp->data[lane] = value;
        } else if (!warp_load_slow(warp, lane, size)) {
            return false;
        }
    }
    return true;
}

/* Stores warp->data to warp->address, the lowest lane first. If a lane traps, stores nothing and returns
 * false. */
static ALWAYS_INLINE bool store_each(struct warp *warp, unsigned size)
{
    uint8_t *at[WARP_LANES];
    EACH_SET(left, warp->mask)
    {
        at[lane] = reach(warp, lane, size, true);
        if (UNLIKELY(!at[lane]) && !warp_store_check(warp, lane, size))
            return false;
    }
    EACH_SET(todo, warp->mask)
    {
        if (LIKELY(at[lane]))
            memcpy(at[lane], &warp->data[lane], size);
        else
            warp_store_slow(warp, lane, size);
    }
    return true;
}

/* Returns whether the lanes' accesses lie one beside the other. */
static ALWAYS_INLINE bool adjacent(const struct warp *warp, unsigned size)
{
    uint64_t uneven = 0;
    EACH_LANE
    uneven |= (warp->address[lane] - warp->address[0]) ^ lane * (uint64_t)size;
    return !uneven;
}

/* Stores of the group if a window has all. Returns whether it does. */
static ALWAYS_INLINE bool store_window(struct warp *warp, unsigned size)
{
    const struct warp_window window = window_of(warp, warp->address[__builtin_ctz(warp->mask)], size, true);
    if (warp->mask == UINT32_MAX) {
        if (!all_within(warp, window.base, window.count))
            return false;
        if (adjacent(warp, size)) {
            uint8_t *const bytes = window.bytes + (warp->address[0] - window.base);
            EACH_LANE
            memcpy(bytes + lane * (uint64_t)size, &warp->data[lane], size);
            return true;
        }
    } else {
        bool outside = false;
        EACH_SET(left, warp->mask)
        outside |= warp->address[lane] - window.base >= window.count;
        if (UNLIKELY(outside))
            return false;
    }
    EACH_SET(left, warp->mask)
    memcpy(window.bytes + (warp->address[lane] - window.base), &warp->data[lane], size);
    return true;
}

static ALWAYS_INLINE bool store_row(struct warp *warp, unsigned size)
{
    uint8_t *const row = stack_row(warp, size, true);
    if (!row)
        return false;
    EACH_SET(left, warp->mask)
    memcpy(row + lane * WARP_STACK_WORD, &warp->data[lane], size);
    return true;
}

static ALWAYS_INLINE bool store_group(struct warp *warp, unsigned size)
{
    if (UNLIKELY(!store_window(warp, size)) && !store_row(warp, size) && !store_each(warp, size))
        return false;
    if (UNLIKELY(warp->memory->peers->reserved)) {
        EACH_SET(left, warp->mask)
        warp_disturb(warp, lane, warp->address[lane]);
    }
    return true;
}

/* Checks an atomic whose addresses are known: alignment, then permission. An SC or AMO without permission to
 * store traps as a store. */
static inline bool atomic_group(struct warp *warp, const struct warp_op *op)
{
    bool store = op->stream.flags & STREAM_STORE;
    EACH_SET(left, warp->mask)
    {
        uint64_t address = warp->address[lane];
        if (address % op->stream.size) {
            (void)warp_raise(warp, lane, store ? TRAP_STORE_MISALIGNED : TRAP_LOAD_MISALIGNED, address);
            return false;
        }
        if (UNLIKELY(address >= WARP_SHARED_WINDOW) &&
            warp_atomic_refused(warp, lane, op->stream.size, store))
            return false;
        if (store ? !warp_store_check(warp, lane, op->stream.size)
                  : !warp_load_slow(warp, lane, op->stream.size))
            return false;
    }
    return true;
}
