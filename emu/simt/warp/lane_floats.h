/* The flags and results of floating-point rows. Compiled for each build variant: included by rows.h. */

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

/* Returns the lanes of the group that do not have all of `flags` set. */
static uint32_t lanes_lacking(const struct warp *warp, unsigned flags)
{
    uint8_t lacks[WARP_LANES];
    EACH_LANE
    lacks[lane] = (warp->fflags[lane] & flags) != flags;
    return bytes_met(lacks) & warp->mask;
}

static uint32_t lanes_nan(const uint64_t values[WARP_LANES])
{
    _Alignas(64) uint64_t is[WARP_LANES];
    EACH_LANE
    is[lane] = -(uint64_t)(values[lane] == box(F32_NAN) || values[lane] == F64_NAN);
    return lanes_met(is);
}

/* Returns `from`, but with the value of the first of `lanes` in the lanes that are not among them. */
static ALWAYS_INLINE const uint64_t *filled(const uint64_t from[WARP_LANES], uint32_t lanes,
                                            uint64_t to[WARP_LANES])
{
    if (lanes == UINT32_MAX)
        return from;
    const uint64_t first = from[__builtin_ctz(lanes)];
    EACH_LANE
    to[lane] = lanes >> lane & 1 ? from[lane] : first;
    return to;
}

/* A floating-point row, computed again to find what flags lanes raise. */
struct warp_float {
    /* computes it for some lanes, whose flags it raises (rows.h) */
    uint64_t (*compute)(const struct warp *warp, const struct warp_op *op, uint32_t lanes,
                        uint64_t out[WARP_LANES]);
    bool fused;
    bool rounded; /* the result is exact if it is the same rounded down and up */
};

/* Computes the row for `lanes` in a rounding mode. Returns the flags that they raise. */
static unsigned float_again(const struct warp *warp, const struct warp_op *op, const struct warp_float *row,
                            uint32_t lanes, unsigned mode, uint64_t out[WARP_LANES])
{
    (void)fp_begin(mode);
    (void)row->compute(warp, op, lanes, out);
    return fp_flags();
}

/* Returns the lanes among `lanes` whose results are not exact. Zeros of both signs are equal. */
static uint32_t float_inexact(const struct warp *warp, const struct warp_op *op, const struct warp_float *row,
                              uint32_t lanes)
{
    const bool single = insn_table[op->insn.id].precision == PRECISION_S;
    const uint64_t magnitude = single ? ~SIGN32 : ~SIGN64, all = single ? UINT32_MAX : UINT64_MAX;
    _Alignas(64) uint64_t down[WARP_LANES], up[WARP_LANES];
    (void)float_again(warp, op, row, lanes, RM_RDN, down);
    (void)float_again(warp, op, row, lanes, RM_RUP, up);
    EACH_LANE
    up[lane] = -(uint64_t)(((up[lane] ^ down[lane]) & all) && ((up[lane] | down[lane]) & magnitude));
    return lanes_met(up) & lanes;
}

/* Adds the flags that the row raises to `lanes`, which lack some of `raised`. Leaves no flags and any rounding mode in the host. */
static __attribute__((noinline)) void float_attribute(struct warp *warp, const struct warp_op *op,
                                                      const struct warp_float *row, uint32_t lanes,
                                                      unsigned raised)
{
    enum { FEW = 2 }; /* lanes for which it is quicker one by one */
    _Alignas(64) uint64_t out[WARP_LANES];
    if (!lanes)
        return;
    uint32_t single = __builtin_popcount(lanes) <= FEW ? lanes : 0;
    if (!single && (!row->rounded || lanes_lacking(warp, raised & ~(unsigned)FP_NX))) {
        raised = float_again(warp, op, row, lanes, RM_RNE, out);
        lanes &= lanes_lacking(warp, raised);
        single = row->rounded ? lanes_lacking(warp, raised & ~(unsigned)FP_NX) & lanes : lanes;
    }
    warp_fp_attribute(warp, op, single);
    lanes &= ~single;
    if (!lanes)
        return;
    EACH_SET(left, float_inexact(warp, op, row, lanes))
    warp->fflags[lane] |= FP_NX;
}

/* Adds the flags of a row to the lanes, then writes its results, with the bits of `upper` set. Not inline, so that the instructions that
 * raise flags stay before the call. */
static __attribute__((noinline)) enum warp_event float_done(struct warp *warp, const struct warp_op *op,
                                                            uint64_t to[WARP_LANES], uint64_t out[WARP_LANES],
                                                            uint64_t upper, const struct warp_float *row)
{
    unsigned raised = fp_flags();
    uint32_t lacking = raised ? lanes_lacking(warp, raised) : 0;
    EACH_LANE
    out[lane] |= upper;
    uint32_t nan = row->fused ? lanes_nan(out) : 0;
    if (UNLIKELY(nan))
        nan &= lanes_lacking(warp, FP_NV);
    if (UNLIKELY(lacking | nan)) {
        warp_fp_attribute(warp, op, nan);
        float_attribute(warp, op, row, lacking & ~nan, raised);
        (void)fp_begin(RM_RNE);
    }
    if (LIKELY(warp->mask == UINT32_MAX)) {
        memcpy(to, out, sizeof(uint64_t[WARP_LANES]));
    } else {
        EACH_LANE
        to[lane] = (out[lane] & warp->select[lane]) | (to[lane] & ~warp->select[lane]);
    }
    NEXT();
}
