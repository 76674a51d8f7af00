/* Functions shared by the handlers of rows.h: sets of lanes, control flow, and CSRs. Compiled for each build variant. */

/* Returns a mask in which bit l is set if met[l] is all ones; other elements are 0, and the array is aligned for vectors. */
#if defined(__AVX512DQ__)
static ALWAYS_INLINE uint32_t lanes_met(const uint64_t met[WARP_LANES])
{
    uint32_t set = 0;
    for (unsigned i = 0; i < WARP_LANES; i += 8)
        set |= (uint32_t)_mm512_movepi64_mask(_mm512_load_si512(met + i)) << i;
    return set;
}
#elif defined(__AVX2__)
static ALWAYS_INLINE uint32_t lanes_met(const uint64_t met[WARP_LANES])
{
    uint32_t set = 0;
    for (unsigned i = 0; i < WARP_LANES; i += 4)
        set |=
            (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_load_si256((const __m256i *)(met + i))))
            << i;
    return set;
}
#else
static ALWAYS_INLINE uint32_t lanes_met(const uint64_t met[WARP_LANES])
{
    uint32_t set = 0;
    for (unsigned i = 0; i < WARP_LANES; i += 2)
        set |= (uint32_t)_mm_movemask_pd(_mm_castsi128_pd(_mm_load_si128((const __m128i *)(met + i)))) << i;
    return set;
}
#endif

/* Returns a mask in which bit l is set if met[l] is 1. */
static ALWAYS_INLINE uint32_t bytes_met(const uint8_t met[WARP_LANES])
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

static ALWAYS_INLINE bool csr_writes(const struct insn *insn)
{
    return insn->id == INSN_csrrw || insn->id == INSN_csrrwi || insn->rs1 != 0;
}

/* Reads the CSR of an instruction for all lanes if that is the same as one lane after the other. Returns whether it is. */
static ALWAYS_INLINE bool csr_at_once(const struct warp *warp, const struct insn *insn,
                                      uint64_t old[WARP_LANES])
{
    const unsigned number = (unsigned)insn->imm & 0xfff;
    if (number == CSR_sbarrier)
        memset(old, 0, sizeof(uint64_t[WARP_LANES]));
    else if (number >= CSR_sthread_x && number <= CSR_sdma && !csr_writes(insn))
        warp_csr_lanes(warp, number, old);
    else
        return false;
    return true;
}

/* Makes the group wait after a write of the barrier's CSR. */
static inline enum warp_event after_csr(struct warp *warp, const struct warp_op *op)
{
    const struct insn *insn = &op->insn;
    uint32_t mask = warp->mask;
    warp->pc = op->stream.pc + insn->length;
    if ((insn->imm & 0xfff) != CSR_sbarrier || !csr_writes(insn))
        return WARP_DONE;
    warp_park(warp, warp->pc);
    warp->waiting |= mask;
    return WARP_BARRIER;
}
