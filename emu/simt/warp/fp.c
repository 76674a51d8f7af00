/* Floating-point rows one lane at a time: for rounding modes other than that of the host's vectors, and to
 * attribute flags to lanes. */
#include "emu/hart/fp/rows.h"
#include "emu/simt/warp/state.h"
#include "isa/decoder/meaning.h"

/* Only rows of the classes FADD to FMISC are expanded. */

#define IN_FADD(...)  __VA_ARGS__
#define IN_FMUL(...)  __VA_ARGS__
#define IN_FMA(...)   __VA_ARGS__
#define IN_FDIV(...)  __VA_ARGS__
#define IN_FSQRT(...) __VA_ARGS__
#define IN_FCVT(...)  __VA_ARGS__
#define IN_FMISC(...) __VA_ARGS__
#define IN_ALU(...)
#define IN_MUL(...)
#define IN_DIV(...)
#define IN_LOAD(...)
#define IN_STORE(...)
#define IN_BRANCH(...)
#define IN_JUMP(...)
#define IN_AMO(...)
#define IN_FLOAD(...)
#define IN_FSTORE(...)
#define IN_CSR(...)
#define IN_FENCE(...)
#define IN_SYSTEM(...)
#define IN_HINT(...)
#define IN_CUSTOM(...)

/* Evaluates the row for one lane in rounding mode `mode`. Returns the value of rd, and stores the flags. */
static uint64_t evaluate(const struct warp *warp, const struct insn *insn, unsigned lane, unsigned mode,
                         uint8_t *flags)
{
    const uint64_t rs1 = warp->x[insn->rs1][lane];
    const uint64_t frs1 = warp->f[insn->rs1][lane], frs2 = warp->f[insn->rs2][lane];
    const uint64_t frs3 = warp->f[insn->rs3][lane];
    uint64_t rd = 0, frd = 0;
    uint32_t saved = fp_begin(mode);
    switch (insn->id) {
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    IN_##class(case INSN_##name : { __VA_ARGS__; } break;)
#include "isa/rows.def"
    default: break;
    }
    *flags = (uint8_t)fp_end(saved);
    return format_table[insn_table[insn->id].format].rd == ROLE_F ? frd : rd;
}

static unsigned mode_of(const struct warp *warp, const struct insn *insn, unsigned lane)
{
    return insn->rm == RM_DYN ? warp->frm[lane] : insn->rm;
}

enum warp_event warp_fp_each(struct warp *warp, const struct warp_op *op)
{
    const struct insn *insn = &op->insn;
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    uint64_t *to = format->rd == ROLE_F ? warp->f[op->rd] : warp->x[op->rd];
    for (uint32_t left = warp->mask; left && format->rm; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (mode_of(warp, insn, lane) > RM_RMM)
            return warp_raise(warp, lane, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
    }
    for (uint32_t left = warp->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t flags;
        to[lane] = evaluate(warp, insn, lane, mode_of(warp, insn, lane), &flags);
        warp->fflags[lane] |= flags;
    }
    warp->pc += insn->length;
    return WARP_DONE;
}

void warp_fp_attribute(struct warp *warp, const struct warp_op *op, uint32_t lacking)
{
    for (uint32_t left = lacking; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t flags;
        (void)evaluate(warp, &op->insn, lane, mode_of(warp, &op->insn, lane), &flags);
        warp->fflags[lane] |= flags;
    }
}
