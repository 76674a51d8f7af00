/* Rows of 32 bits (words, single precision) as loops over the 64 halves of the lanes' registers. So the host's vectors hold the
 * lower halves where they were loaded, and nothing is moved between their elements. What becomes of the upper halves is not used;
 * those of boxed numbers are quiet NaNs, which raise no flags. Included by rows.h. */
enum { WARP_HALVES = 2 * WARP_LANES };
typedef uint32_t half __attribute__((may_alias)); /* of a register */

#define HALF(source) ((const half *)(source))[part]

/* Returns the word whose bits are the low half of v, as a register holds it. */
static ALWAYS_INLINE uint64_t word_of(uint64_t v)
{
    return ((v & UINT32_MAX) ^ SIGN32) - SIGN32;
}

/* Returns whether the sources hold boxed numbers in all lanes. */
static ALWAYS_INLINE bool all_boxed(const uint64_t *f1, const uint64_t *f2, const uint64_t *f3)
{
    uint64_t all = UINT64_MAX;
    EACH_LANE
    all &= f1[lane] & f2[lane] & f3[lane];
    return all >> 32 == UINT32_MAX;
}

/* halves_NAME() computes a row into the lower halves of out; the sources that its format lacks are any. has_halves_NAME tells
 * whether there is such a function. */
#define DEFINE_HALVES(name, format, ...)                                                                     \
    enum { has_halves_##name = true };                                                                       \
    static ALWAYS_INLINE void halves_##name(const struct warp_op *op, const uint64_t *s1,                    \
                                            const uint64_t *s2, const uint64_t *s3,                          \
                                            uint64_t out[WARP_LANES])                                        \
    {                                                                                                        \
        const int64_t imm = op->insn.imm;                                                                    \
        half *const to = (half *)out;                                                                        \
        (void)imm, (void)s1, (void)s2, (void)s3;                                                             \
        INDEPENDENT for (unsigned part = 0; part < WARP_HALVES; part++)                                      \
        {                                                                                                    \
            const uint32_t rs1 = HALF(s1), rs2 = HALF(s2), frs1 = rs1, frs2 = rs2, frs3 = HALF(s3);          \
            uint32_t rd = 0, frd = 0;                                                                        \
            (void)rs1, (void)rs2, (void)frs1, (void)frs2, (void)frs3, (void)rd, (void)frd;                   \
            {                                                                                                \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
            to[part] = RESULT(format);                                                                       \
        }                                                                                                    \
    }
#define DEFINE_NO_HALVES(name, ...)                                                                          \
    enum { has_halves_##name = false };                                                                      \
    static inline void halves_##name(const struct warp_op *op, const uint64_t *s1, const uint64_t *s2,       \
                                     const uint64_t *s3, uint64_t out[WARP_LANES])                           \
    {                                                                                                        \
        (void)op, (void)s1, (void)s2, (void)s3, (void)out;                                                   \
    }

#define HALVES_N(class, ...) DEFINE_NO_HALVES(__VA_ARGS__)
#define HALVES_X             HALVES_N
#define HALVES_H             HALVES_N
#define HALVES_D             HALVES_N
#define HALVES_W(class, ...) WORDS_##class(__VA_ARGS__)
#define HALVES_S(class, ...) SINGLES_##class(__VA_ARGS__)
#define WORDS_ALU            DEFINE_HALVES
#define WORDS_MUL            DEFINE_HALVES
#define WORDS_DIV            DEFINE_NO_HALVES
#define WORDS_AMO            DEFINE_NO_HALVES
#define SINGLES_FADD         DEFINE_HALVES
#define SINGLES_FMUL         DEFINE_HALVES
#define SINGLES_FDIV         DEFINE_HALVES
#ifdef __FMA__
#define SINGLES_FMA DEFINE_HALVES
#else
#define SINGLES_FMA DEFINE_NO_HALVES
#endif
#define SINGLES_FSQRT  DEFINE_NO_HALVES
#define SINGLES_FCVT   DEFINE_NO_HALVES
#define SINGLES_FMISC  DEFINE_NO_HALVES
#define SINGLES_FLOAD  DEFINE_NO_HALVES
#define SINGLES_FSTORE DEFINE_NO_HALVES

#define sext32(v) (v)
#define box(v)    (v)
#define unbox(v)  (v)
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    HALVES_##precision(class, name, format, __VA_ARGS__)
#include "isa/rows.def"
#undef sext32
#undef box
#undef unbox
