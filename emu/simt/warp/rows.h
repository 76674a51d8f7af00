/* The handlers of warps, one per row, generated from the rows of the instruction table as loops over the
 * lanes. Each build variant includes this file once and defines WARP_TABLE, the name of its table.
 *
 * If the group consists of all lanes that have not ended, integer rows are computed for all 32 lanes without
 * a mask, because no one reads the ended lanes. Floating-point rows are computed by the host's vectors in the
 * default rounding mode. Their flags are read once for all lanes; they are determined per lane only if a flag
 * is new to some lane (fp.c). */
#include <string.h>

#include "emu/hart/dispatch.h"
#include "emu/hart/fp.h"
#include "emu/hart/rows/roles.h"
#include "emu/simt/warp/state.h"
#include "isa/csr.h"
#include "isa/decoder/meaning.h"

/* The iterations are independent, even if a destination register is also a source. */
#ifdef __clang__
/* Rows that call functions or divide have no vector form; their loops stay scalar. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EACH_LANE INDEPENDENT for (unsigned lane = 0; lane < WARP_LANES; lane++)
#define EACH_SET(left, mask)                                                                                 \
    for (uint32_t left = (mask), lane; left && (lane = (uint32_t)__builtin_ctz(left), true); left &= left - 1)

/* The sources of all lanes. */
#define SOURCES(format)                                                                                      \
    const uint64_t *const x1 = warp->x[op->insn.rs1], *const x2 = warp->x[op->insn.rs2];                     \
    const uint64_t *const f1 = warp->f[op->insn.rs1], *const f2 = warp->f[op->insn.rs2];                     \
    const uint64_t *const f3 = warp->f[op->insn.rs3];                                                        \
    const uint64_t pc = op->stream.pc, next_pc = pc + op->insn.length, zimm = op->insn.rs1;                  \
    const int64_t imm = op->insn.imm;                                                                        \
    (void)x1, (void)x2, (void)f1, (void)f2, (void)f3, (void)pc, (void)next_pc, (void)zimm, (void)imm
#define ROW(format, ...)                                                                                     \
    const uint64_t rs1 = HAS_ROLE(format, rs1, X) ? x1[lane] : 0;                                            \
    const uint64_t rs2 = HAS_ROLE(format, rs2, X) ? x2[lane] : 0;                                            \
    const uint64_t frs1 = HAS_ROLE(format, rs1, F) ? f1[lane] : 0;                                           \
    const uint64_t frs2 = HAS_ROLE(format, rs2, F) ? f2[lane] : 0;                                           \
    const uint64_t frs3 = HAS_ROLE(format, rs3, F) ? f3[lane] : 0;                                           \
    uint64_t rd = 0, frd = 0;                                                                                \
    (void)rs1, (void)rs2, (void)frs1, (void)frs2, (void)frs3, (void)rd, (void)frd;                           \
    {                                                                                                        \
        __VA_ARGS__;                                                                                         \
    }
#define RESULT(format)      (HAS_ROLE(format, rd, F) ? frd : rd)
#define DESTINATION(format) (HAS_ROLE(format, rd, F) ? warp->f[op->rd] : warp->x[op->rd])
#define NEXT()                                                                                               \
    do {                                                                                                     \
        warp->pc = op->stream.pc + op->insn.length;                                                          \
        return WARP_DONE;                                                                                    \
    } while (0)

/* Writes RESULT to the group's lanes of `to`. */
#define FOR_GROUP(format, to, ...)                                                                           \
    do {                                                                                                     \
        if (!warp->partial) {                                                                                \
            EACH_LANE                                                                                        \
            {                                                                                                \
                ROW(format, __VA_ARGS__)                                                                     \
                (to)[lane] = RESULT(format);                                                                 \
            }                                                                                                \
        } else {                                                                                             \
            const uint64_t *const select = warp->select;                                                     \
            EACH_LANE                                                                                        \
            {                                                                                                \
                ROW(format, __VA_ARGS__)                                                                     \
                (to)[lane] = (RESULT(format) & select[lane]) | ((to)[lane] & ~select[lane]);                 \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

#include "emu/hart/fp/host_rows.h"
#include "emu/simt/warp/lanes.h"

#include "emu/simt/warp/lane_floats.h"
#include "emu/simt/warp/lane_memory.h"
#include "emu/simt/warp/places.h"

#define f64_fma lanes_f64_fma
#define f32_fma lanes_f32_fma
#include "emu/simt/warp/halves.h"

/* Memory rows are expanded twice: to compute addresses and stored values, and to compute results from loaded
 * values. */
#define LOAD_ADDRESS(a)     (warp->address[lane] = (a), UINT64_C(0))
#define STORE_ADDRESS(a, v) ((void)(warp->address[lane] = (a), warp->data[lane] = (v)))
#define LOADED(bits, a)     ((void)(a), (uint64_t)(uint##bits##_t)warp->data[lane])

#define nucd_order() ((void)0) /* tasks of threads are not ordered */
#define DEFINE_COMPUTE(name, format, ...)                                                                    \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        uint64_t *const to = DESTINATION(format);                                                            \
        if (has_halves_##name) {                                                                             \
            _Alignas(64) uint64_t words[WARP_LANES];                                                         \
            halves_##name(op, x1, x2, x2, words);                                                            \
            FOR_GROUP(format, to, rd = word_of(words[lane]));                                                \
        } else {                                                                                             \
            FOR_GROUP(format, to, __VA_ARGS__);                                                              \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

#define branch(condition) (met[lane] = -(uint64_t)(condition))
#define DEFINE_BRANCH(name, format, ...)                                                                     \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        _Alignas(64) uint64_t met[WARP_LANES];                                                               \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            ROW(format, __VA_ARGS__)                                                                         \
        }                                                                                                    \
        return go_either(warp, op, lanes_met(met));                                                          \
    }

#define jump(target)  (targets[lane] = (target))
#define jump_direct() ((void)0)
#define DEFINE_JUMP(name, format, ...)                                                                       \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        uint64_t targets[WARP_LANES];                                                                        \
        uint64_t *const to = DESTINATION(format);                                                            \
        memset(targets, 0, sizeof targets);                                                                  \
        FOR_GROUP(format, to, __VA_ARGS__);                                                                  \
        return HAS_ROLE(format, rs1, X) ? go_indirect(warp, op, targets)                                     \
                                        : go_to(warp, op, pc + (uint64_t)imm);                               \
    }

#define DEFINE_LOAD(name, format, ...)                                                                       \
    static void address_##name(struct warp *warp, const struct warp_op *op)                                  \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        EACH_LANE                                                                                            \
        {                                                                                                    \
            ROW(format, __VA_ARGS__)                                                                         \
        }                                                                                                    \
    }
#define load8   LOAD_ADDRESS
#define load16  LOAD_ADDRESS
#define load32  LOAD_ADDRESS
#define load64  LOAD_ADDRESS
#define store8  STORE_ADDRESS
#define store16 STORE_ADDRESS
#define store32 STORE_ADDRESS
#define store64 STORE_ADDRESS
#define DEFINE_STORE(name, format, ...)                                                                      \
    DEFINE_LOAD(name, format, __VA_ARGS__)                                                                   \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        address_##name(warp, op);                                                                            \
        if (!store_group(warp, insn_size_##name))                                                            \
            return WARP_TRAP;                                                                                \
        NEXT();                                                                                              \
    }

/* Atomics: all lanes are checked before the first one accesses memory. */
#define amo32(operation, a, v) AMO(operation, 32, a, v)
#define amo64(operation, a, v) AMO(operation, 64, a, v)
#define AMO(operation, bits, a, v)                                                                           \
    __extension__({                                                                                          \
        uint##bits##_t old_ = 0;                                                                             \
        warp->address[lane] = (a);                                                                           \
        if (doing) {                                                                                         \
            uint8_t *at_ = locate(warp, lane, bits / 8, true);                                               \
            memcpy(&old_, at_, sizeof old_);                                                                 \
            uint##bits##_t new_ = atomic_##operation##bits(old_, (uint##bits##_t)(v));                       \
            memcpy(at_, &new_, sizeof new_);                                                                 \
            if (UNLIKELY(warp->memory->peers->reserved))                                                     \
                warp_disturb(warp, lane, warp->address[lane]);                                               \
        }                                                                                                    \
        old_;                                                                                                \
    })
#define lr32(a) LOAD_RESERVED(32, a)
#define lr64(a) LOAD_RESERVED(64, a)
#define LOAD_RESERVED(bits, a)                                                                               \
    __extension__({                                                                                          \
        uint##bits##_t old_ = 0;                                                                             \
        warp->address[lane] = (a);                                                                           \
        if (doing) {                                                                                         \
            memcpy(&old_, locate(warp, lane, bits / 8, false), sizeof old_);                                 \
            warp_reserve(warp, lane, warp->address[lane]);                                                   \
        }                                                                                                    \
        old_;                                                                                                \
    })
#define sc32(a, v) STORE_CONDITIONAL(32, a, v)
#define sc64(a, v) STORE_CONDITIONAL(64, a, v)
#define STORE_CONDITIONAL(bits, a, v)                                                                        \
    __extension__({                                                                                          \
        bool held_ = false;                                                                                  \
        warp->address[lane] = (a);                                                                           \
        if (doing && (held_ = warp_claim(warp, lane, warp->address[lane]))) {                                \
            uint##bits##_t new_ = (uint##bits##_t)(v);                                                       \
            memcpy(locate(warp, lane, bits / 8, true), &new_, sizeof new_);                                  \
            warp_disturb(warp, lane, warp->address[lane]);                                                   \
        }                                                                                                    \
        !held_;                                                                                              \
    })
#define DEFINE_ATOMIC(name, format, ...)                                                                     \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        uint64_t *const to = DESTINATION(format);                                                            \
        for (unsigned doing = 0; doing < 2; doing++) {                                                       \
            if (doing && !atomic_group(warp, op))                                                            \
                return WARP_TRAP;                                                                            \
            EACH_SET(left, warp->mask)                                                                       \
            {                                                                                                \
                ROW(format, __VA_ARGS__)                                                                     \
                if (doing)                                                                                   \
                    to[lane] = RESULT(format);                                                               \
            }                                                                                                \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

#define csr_swap(operand)  CSR_ACCESS(WARP_CSR_SWAP, operand)
#define csr_set(operand)   CSR_ACCESS(WARP_CSR_SET, operand)
#define csr_clear(operand) CSR_ACCESS(WARP_CSR_CLEAR, operand)
#define CSR_ACCESS(operation, operand)                                                                       \
    __extension__({                                                                                          \
        uint64_t old_;                                                                                       \
        if (!warp_csr(warp, &op->insn, lane, operation, operand, &old_))                                     \
            return warp_raise(warp, lane, TRAP_ILLEGAL_INSTRUCTION, op->insn.bits);                          \
        old_;                                                                                                \
    })
#define DEFINE_CSR(name, format, ...)                                                                        \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        uint64_t *const to = DESTINATION(format);                                                            \
        _Alignas(64) uint64_t old[WARP_LANES];                                                               \
        if (csr_at_once(warp, &op->insn, old)) {                                                             \
            FOR_GROUP(format, to, rd = old[lane]);                                                           \
            return after_csr(warp, op);                                                                      \
        }                                                                                                    \
        EACH_SET(left, warp->mask)                                                                           \
        {                                                                                                    \
            ROW(format, __VA_ARGS__)                                                                         \
            to[lane] = rd;                                                                                   \
        }                                                                                                    \
        return after_csr(warp, op);                                                                          \
    }

/* Custom instructions: the row is expanded twice: to compute operands, and to compute results from the unit's
 * answers. */
#define custom(first, second)                                                                                \
    (answered ? lanes.result[lane]                                                                           \
              : (lanes.operand[0][lane] = (first), lanes.operand[1][lane] = (second), UINT64_C(0)))
#define DEFINE_CUSTOM(name, format, ...)                                                                     \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        uint64_t *const to = DESTINATION(format);                                                            \
        struct custom_lanes lanes;                                                                           \
        for (unsigned answered = 0; answered < 2; answered++) {                                              \
            if (answered && !warp_custom(warp, op, &lanes))                                                  \
                return WARP_TRAP;                                                                            \
            EACH_SET(left, warp->mask)                                                                       \
            {                                                                                                \
                ROW(format, __VA_ARGS__)                                                                     \
                if (answered)                                                                                \
                    to[lane] = RESULT(format);                                                               \
            }                                                                                                \
        }                                                                                                    \
        NEXT();                                                                                              \
    }

#ifdef __FMA__
#define IS_VECTOR_FMA 1
#else
#define IS_VECTOR_FMA 0
#endif
/* Whether the loop over all lanes is made of the host's vectors, so that a part of the lanes takes no less. */
#define IS_VECTOR(class, precision)                                                                          \
    (precision >= PRECISION_S && (class == CLASS_FADD || class == CLASS_FMUL || class == CLASS_FDIV ||       \
                                  (IS_VECTOR_FMA && class == CLASS_FMA)))
/* Whether rounding as the host does decides alone whether a result is exact. */
#define IS_ROUNDED(class, precision, rd) (precision >= PRECISION_S && rd == ROLE_F && class != CLASS_FMISC)
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    enum {                                                                                                   \
        insn_size_##name = size,                                                                             \
        insn_fused_##name = (int)CLASS_##class == (int)CLASS_FMA,                                            \
        insn_vector_##name = IS_VECTOR((int)CLASS_##class, (int)PRECISION_##precision),                      \
        insn_rounded_##name =                                                                                \
            IS_ROUNDED((int)CLASS_##class, (int)PRECISION_##precision, (int)FORMAT_##format##_rd),           \
    };
#include "isa/rows.def"

/* A row's results are computed before they are written, because flags are attributed to lanes by computing the row again, with
 * its sources. compute_NAME() stores the results of some lanes, in the lower halves at least, and raises the flags of these
 * lanes alone: the others have the operands of one of these. Returns the bits to set in the results. */
#define FLOAT_SOURCES(format, lanes)                                                                         \
    _Alignas(64) uint64_t fill[3][WARP_LANES];                                                               \
    const uint64_t *const f1 = filled(warp->f[op->insn.rs1], lanes, fill[0]);                                \
    const uint64_t *const f2 =                                                                               \
        HAS_ROLE(format, rs2, F) ? filled(warp->f[op->insn.rs2], lanes, fill[1]) : f1;                       \
    const uint64_t *const f3 = HAS_ROLE(format, rs3, F) ? filled(warp->f[op->insn.rs3], lanes, fill[2]) : f1
#define FLOAT_ALL(name, format, ...)                                                                         \
    if (has_halves_##name && LIKELY(all_boxed(f1, f2, f3))) {                                                \
        halves_##name(op, f1, f2, f3, out);                                                                  \
        return box(0);                                                                                       \
    }                                                                                                        \
    EACH_LANE                                                                                                \
    {                                                                                                        \
        ROW(format, __VA_ARGS__)                                                                             \
        out[lane] = RESULT(format);                                                                          \
    }                                                                                                        \
    return 0
#define DEFINE_FLOAT(name, format, ...)                                                                      \
    static ALWAYS_INLINE uint64_t compute_##name(const struct warp *warp, const struct warp_op *op,          \
                                                 uint32_t lanes, uint64_t out[WARP_LANES])                   \
    {                                                                                                        \
        const uint64_t *const x1 = warp->x[op->insn.rs1], *const x2 = warp->x[op->insn.rs2];                 \
        const unsigned rm = RM_RTZ;                                                                          \
        (void)x1, (void)x2, (void)rm;                                                                        \
        FLOAT_SOURCES(format, insn_vector_##name ? lanes : UINT32_MAX);                                      \
        if (lanes == UINT32_MAX || insn_vector_##name) {                                                     \
            FLOAT_ALL(name, format, __VA_ARGS__);                                                            \
        }                                                                                                    \
        EACH_SET(left, lanes)                                                                                \
        {                                                                                                    \
            ROW(format, __VA_ARGS__)                                                                         \
            out[lane] = RESULT(format);                                                                      \
        }                                                                                                    \
        return 0;                                                                                            \
    }                                                                                                        \
    static __attribute__((noinline)) uint64_t some_##name(const struct warp *warp, const struct warp_op *op, \
                                                          uint32_t lanes, uint64_t out[WARP_LANES])          \
    {                                                                                                        \
        return compute_##name(warp, op, lanes, out);                                                         \
    }                                                                                                        \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        _Alignas(64) uint64_t out[WARP_LANES];                                                               \
        if (FORMAT_##format##_rm && !HAS_ROLE(format, rd, X) && UNLIKELY(!rounds_to_even(warp, op)))         \
            return warp_fp_each(warp, op);                                                                   \
        if (FORMAT_##format##_rm && HAS_ROLE(format, rd, X) && op->insn.rm != RM_RTZ)                        \
            return warp_fp_each(warp, op);                                                                   \
        const uint64_t upper = LIKELY(warp->mask == UINT32_MAX) ? compute_##name(warp, op, UINT32_MAX, out)  \
                                                                : some_##name(warp, op, warp->mask, out);    \
        static const struct warp_float again = {some_##name, insn_fused_##name, insn_rounded_##name};        \
        return float_done(warp, op, DESTINATION(format), out, upper, &again);                                \
    }

/* At an ECALL, the lanes stay at its address, and the lowest is served. */
#define DEFINE_SYSTEM(name, format, ...)                                                                     \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        __VA_ARGS__;                                                                                         \
        return warp_illegal(warp, op);                                                                       \
    }
#define ecall()                                                                                              \
    do {                                                                                                     \
        warp->trap_lane = (uint8_t)__builtin_ctz(warp->mask);                                                \
        warp_park(warp, op->stream.pc);                                                                      \
        return WARP_CALL;                                                                                    \
    } while (0)
#define ebreak()          return warp_raise(warp, (unsigned)__builtin_ctz(warp->mask), TRAP_BREAKPOINT, op->stream.pc)
#define mret()            ((void)0)
#define sret()            ((void)0)
#define wfi()             ((void)0)
#define prefetch(address) ((void)(address))

static enum warp_event row_hint(struct warp *warp, const struct warp_op *op)
{
    uint32_t taken = warp->waiter ? warp_take(warp, op) : 0;
    if (!taken)
        NEXT();
    warp_park(warp, op->stream.pc + op->insn.length);
    warp->away |= taken;
    return WARP_DONE;
}

/* A fence that is the hint `pause` (Zihintpause) lets the other lanes go first. */
static enum warp_event row_fence(struct warp *warp, const struct warp_op *op)
{
    if (op->insn.bits == UINT32_C(0x0100000f))
        warp_yield(warp);
    NEXT();
}

/* The definition made from the rows of each class. */
#define MAKE_ALU    DEFINE_COMPUTE
#define MAKE_MUL    DEFINE_COMPUTE
#define MAKE_DIV    DEFINE_COMPUTE
#define MAKE_BRANCH DEFINE_BRANCH
#define MAKE_JUMP   DEFINE_JUMP
#define MAKE_LOAD   DEFINE_LOAD
#define MAKE_FLOAD  DEFINE_LOAD
#define MAKE_STORE  DEFINE_STORE
#define MAKE_FSTORE DEFINE_STORE
#define MAKE_AMO    DEFINE_ATOMIC
#define MAKE_FADD   DEFINE_FLOAT
#define MAKE_FMUL   DEFINE_FLOAT
#define MAKE_FMA    DEFINE_FLOAT
#define MAKE_FDIV   DEFINE_FLOAT
#define MAKE_FSQRT  DEFINE_FLOAT
#define MAKE_FCVT   DEFINE_FLOAT
#define MAKE_FMISC  DEFINE_FLOAT
#define MAKE_CSR    DEFINE_CSR
#define MAKE_SYSTEM DEFINE_SYSTEM
#define MAKE_FENCE(...)
#define MAKE_HINT(...)
#define MAKE_CUSTOM DEFINE_CUSTOM

#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    MAKE_##class(name, format, __VA_ARGS__)
#include "isa/rows.def"

#undef load8
#undef load16
#undef load32
#undef load64
#define load8(a)  LOADED(8, a)
#define load16(a) LOADED(16, a)
#define load32(a) LOADED(32, a)
#define load64(a) LOADED(64, a)
#define DEFINE_LOADED(name, format, ...)                                                                     \
    static enum warp_event row_##name(struct warp *warp, const struct warp_op *op)                           \
    {                                                                                                        \
        SOURCES(format);                                                                                     \
        uint64_t *const to = DESTINATION(format);                                                            \
        address_##name(warp, op);                                                                            \
        if (!load_group(warp, insn_size_##name))                                                             \
            return WARP_TRAP;                                                                                \
        FOR_GROUP(format, to, __VA_ARGS__);                                                                  \
        NEXT();                                                                                              \
    }
#define MAKE_NONE(...)
#define FINISH_LOAD   DEFINE_LOADED
#define FINISH_FLOAD  DEFINE_LOADED
#define FINISH_ALU    MAKE_NONE
#define FINISH_MUL    MAKE_NONE
#define FINISH_DIV    MAKE_NONE
#define FINISH_BRANCH MAKE_NONE
#define FINISH_JUMP   MAKE_NONE
#define FINISH_STORE  MAKE_NONE
#define FINISH_FSTORE MAKE_NONE
#define FINISH_AMO    MAKE_NONE
#define FINISH_FADD   MAKE_NONE
#define FINISH_FMUL   MAKE_NONE
#define FINISH_FMA    MAKE_NONE
#define FINISH_FDIV   MAKE_NONE
#define FINISH_FSQRT  MAKE_NONE
#define FINISH_FCVT   MAKE_NONE
#define FINISH_FMISC  MAKE_NONE
#define FINISH_CSR    MAKE_NONE
#define FINISH_SYSTEM MAKE_NONE
#define FINISH_FENCE  MAKE_NONE
#define FINISH_HINT   MAKE_NONE
#define FINISH_CUSTOM MAKE_NONE
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    FINISH_##class(name, format, __VA_ARGS__)
#include "isa/rows.def"

/* Fences do nothing, and HINTs only offer lanes to their unit. Cache-block operations and SFENCE.VMA,
 * which have the class of fences, are illegal. */
#define ROW_ALU(name, format)   row_##name
#define ROW_MUL                 ROW_ALU
#define ROW_DIV                 ROW_ALU
#define ROW_BRANCH              ROW_ALU
#define ROW_JUMP                ROW_ALU
#define ROW_LOAD                ROW_ALU
#define ROW_FLOAD               ROW_ALU
#define ROW_STORE               ROW_ALU
#define ROW_FSTORE              ROW_ALU
#define ROW_AMO                 ROW_ALU
#define ROW_FADD                ROW_ALU
#define ROW_FMUL                ROW_ALU
#define ROW_FMA                 ROW_ALU
#define ROW_FDIV                ROW_ALU
#define ROW_FSQRT               ROW_ALU
#define ROW_FCVT                ROW_ALU
#define ROW_FMISC               ROW_ALU
#define ROW_CSR                 ROW_ALU
#define ROW_SYSTEM              ROW_ALU
#define ROW_HINT(name, format)  row_hint
#define ROW_CUSTOM              ROW_ALU
#define ROW_FENCE(name, format) FENCE_##format
#define FENCE_FENCE             row_fence
#define FENCE_NONE              row_fence
#define FENCE_CBO               warp_illegal
#define FENCE_HINT2             warp_illegal

/* Loads and stores relative to sp: the row, unless a lane accesses the stack of another lane. */
static enum warp_event on_stack(struct warp *warp, const struct warp_op *op)
{
    enum { SP = 2 };
    const uint64_t first = warp_stack_of(warp, 0) - (uint64_t)(int64_t)op->insn.imm;
    const unsigned shift = warp->memory->setup.stack_shift;
    uint64_t outside = 0;
    EACH_LANE
    outside |= (warp->x[SP][lane] - first - ((uint64_t)lane << shift)) >> shift;
    if (UNLIKELY(outside) && !warp_stack_check(warp, op))
        return WARP_TRAP;
    return WARP_TABLE.rows[op->insn.id](warp, op);
}

const struct warp_table WARP_TABLE = {.on_stack = on_stack,
                                      .at = places_at,
                                      .beyond = places_beyond,
                                      .select = places_select,
                                      .park = places_park,
                                      .rows = {
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    [INSN_##name] = ROW_##class(name, format),
#include "isa/rows.def"
                                      }};
