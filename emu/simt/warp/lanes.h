/* Functions shared by the handlers of rows.h: control flow, memory accesses, and floating-point flags.
 * Compiled for each build variant. */

/* Returns a mask in which bit l is set if met[l] is 1. */
static ALWAYS_INLINE uint32_t lanes_met(const uint8_t met[WARP_LANES])
{
    __m128i low, high;
    memcpy(&low, met, 16);
    memcpy(&high, met + 16, 16);
    return (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(low, 7)) |
           (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(high, 7)) << 16;
}

/* Counts a jump that the whole group has taken. */
static ALWAYS_INLINE void count_jump(struct warp *warp, uint64_t from, uint64_t to)
{
    if (to <= from && UNLIKELY(++warp->jumps % WARP_LOOK == 0))
        warp_look(warp, from);
}

static ALWAYS_INLINE enum warp_event go_either(struct warp *warp, const struct warp_op *op, uint32_t met)
{
    const uint64_t target = op->stream.pc + (uint64_t)(int64_t)op->insn.imm;
    const uint64_t next = op->stream.pc + op->insn.length;
    uint32_t taken = met & warp->mask;
    warp->taken = taken;
    if (taken == 0) {
        warp->pc = next;
    } else if (taken == warp->mask) {
        warp->pc = target;
        count_jump(warp, op->stream.pc, target);
    } else {
        warp_split(warp, op, taken, target, next);
    }
    return WARP_DONE;
}

static inline int depth_change(const struct warp_op *op)
{
    return op->stream.flags & STREAM_CALL ? 1 : op->stream.flags & STREAM_RETURN ? -1 : 0;
}

static inline enum warp_event go_to(struct warp *warp, const struct warp_op *op, uint64_t target)
{
    int change = depth_change(op);
    warp->taken = true;
    warp->pc = target;
    if (change)
        warp_change_depth(warp, change);
    else
        count_jump(warp, op->stream.pc, target);
    return WARP_DONE;
}

static inline enum warp_event go_indirect(struct warp *warp, const struct warp_op *op,
                                          const uint64_t targets[WARP_LANES])
{
    uint64_t first = targets[__builtin_ctz(warp->mask)];
    uint64_t differ = 0;
    EACH_SET(left, warp->mask)
    differ |= targets[lane] ^ first;
    if (!differ)
        return go_to(warp, op, first);
    warp->taken = true;
    warp->depth += depth_change(op);
    warp_scatter(warp, op, targets);
    return WARP_DONE;
}

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

/* Loads from warp->address to warp->data. Returns false if a lane has trapped. */
static ALWAYS_INLINE bool load_group(struct warp *warp, unsigned size)
{
    const struct warp_memory *memory = warp->memory;
    if (LIKELY(warp->mask == UINT32_MAX) && LIKELY(all_within(warp, memory->load_base, memory->load_count))) {
        const uint8_t *bytes = memory->load_bytes;
        uint64_t base = memory->load_base;
        EACH_LANE
        {
            uint64_t value = 0;
            memcpy(&value, bytes + (warp->address[lane] - base), size);
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

static ALWAYS_INLINE bool store_group(struct warp *warp, unsigned size)
{
    const struct warp_memory *memory = warp->memory;
    if (LIKELY(warp->mask == UINT32_MAX) &&
        LIKELY(all_within(warp, memory->store_base, memory->store_count))) {
        uint8_t *bytes = memory->store_bytes;
        uint64_t base = memory->store_base;
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            memcpy(bytes + (warp->address[lane] - base), &warp->data[lane], size);
    } else if (!store_each(warp, size)) {
        return false;
    }
    if (UNLIKELY(memory->peers->reserved)) {
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

/* Makes the group wait after a write of the barrier's CSR. */
static inline enum warp_event after_csr(struct warp *warp, const struct warp_op *op)
{
    const struct insn *insn = &op->insn;
    uint32_t mask = warp->mask;
    bool writes = insn->id == INSN_csrrw || insn->id == INSN_csrrwi || insn->rs1 != 0;
    warp->pc = op->stream.pc + insn->length;
    if ((insn->imm & 0xfff) != CSR_sbarrier || !writes)
        return WARP_DONE;
    warp_park(warp, warp->pc);
    warp->waiting |= mask;
    return WARP_BARRIER;
}

static ALWAYS_INLINE bool rounds_to_even(const struct warp *warp, const struct warp_op *op)
{
    return op->insn.rm == RM_RNE || (op->insn.rm == RM_DYN && !warp->frm_set);
}

/* Does not raise the flag for infinity times zero plus a NaN, so float_done() looks for NaNs. */
static ALWAYS_INLINE uint64_t lanes_f64_fma(uint64_t a, uint64_t b, uint64_t c)
{
    return f64_canonical(__builtin_fma(f64_of(a), f64_of(b), f64_of(c)));
}

static ALWAYS_INLINE uint32_t lanes_f32_fma(uint32_t a, uint32_t b, uint32_t c)
{
    return f32_canonical(__builtin_fmaf(f32_of(a), f32_of(b), f32_of(c)));
}

static uint32_t lanes_nan(const uint64_t out[WARP_LANES])
{
    uint8_t is[WARP_LANES];
    EACH_LANE
    is[lane] = out[lane] == box(F32_NAN) || out[lane] == F64_NAN;
    return lanes_met(is);
}

/* Returns the lanes of the group that do not have all of `flags` set. */
static uint32_t lanes_lacking(const struct warp *warp, unsigned flags)
{
    uint8_t lacks[WARP_LANES];
    EACH_LANE
    lacks[lane] = (warp->fflags[lane] & flags) != flags;
    return lanes_met(lacks) & warp->mask;
}

/* Adds the flags of a row to the lanes, then writes its results. Not inline, so that the instructions that
 * raise flags stay before the call. */
static __attribute__((noinline)) enum warp_event float_done(struct warp *warp, const struct warp_op *op,
                                                            uint64_t *to, const uint64_t out[WARP_LANES],
                                                            bool fused)
{
    unsigned raised = fp_flags();
    uint32_t lacking = raised ? lanes_lacking(warp, raised) : 0;
    uint32_t nan = fused ? lanes_nan(out) : 0;
    if (UNLIKELY(nan))
        lacking |= nan & lanes_lacking(warp, FP_NV);
    if (UNLIKELY(lacking)) {
        warp_fp_attribute(warp, op, lacking);
        (void)fp_begin(RM_RNE);
    }
    if (LIKELY(warp->mask == UINT32_MAX)) {
        memcpy(to, out, sizeof(uint64_t[WARP_LANES]));
    } else {
        EACH_SET(left, warp->mask)
        to[lane] = out[lane];
    }
    NEXT();
}
