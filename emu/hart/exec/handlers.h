/* The fast handlers, one or more for each row, generated from the rows. Included once by each variant (exec.h), which
 * defines EXEC_TABLE, the name of its table. The variant also chooses a window on memory (window.h, window_tlb.h) and how
 * control leaves the handlers (leave_plain.h, leave_traced.h).
 *
 * A handler implements the common case. Otherwise (an access outside the window, a static rounding mode, an unaligned
 * atomic) it passes the instruction to `slow`, which executes it with step.h, so that every trap, flag and corner case
 * is handled in one place. */
#include <string.h>

#include "emu/hart/block.h"
#include "emu/hart/dispatch.h"
#include "emu/hart/exec.h"
#include "emu/hart/exec/op.h"
#include "emu/hart/fp.h"
#include "emu/hart/fp/flags.h"
#include "emu/hart/hart.h"
#include "emu/hart/rows/roles.h"
#include "emu/hart/step.h"
#include "isa/decoder/meaning.h"

/* The row accessors; `return false` passes the instruction to `slow`. */
#define ALIGNED(address, bytes)                                                                              \
    do {                                                                                                     \
        if (UNLIKELY((address) % (bytes)))                                                                   \
            return false;                                                                                    \
    } while (0)
#include "emu/hart/rows/accessors.h"
/* The handler applies the outcome of a branch or jump; the translator knows direct targets. */
#define branch(condition) (*out = (condition))
#define jump(target)      (*out = (target))
#define jump_direct()     ((void)0)

#include "emu/hart/fp/host_rows.h"
#define f64_fma host_f64_fma
#define f32_fma host_f32_fma
#include "emu/hart/rows/stepped.h"
/* The translator leaves those to `step` of which flags_accesses() is false. rs2 of the op is whether it writes. */
#undef csr_swap
#undef csr_set
#undef csr_clear
#define csr_swap(operand)  flags_access(hart, (unsigned)imm & 0xfff, FLAGS_SWAP, operand, op->rs2)
#define csr_set(operand)   flags_access(hart, (unsigned)imm & 0xfff, FLAGS_SET, operand, op->rs2)
#define csr_clear(operand) flags_access(hart, (unsigned)imm & 0xfff, FLAGS_CLEAR, operand, op->rs2)
#define nucd(xn, pair)     hart_note_nucd(hart, xn)
#define prefetch(address)  PREFETCH(address)

/* do_NAME: the row's meaning. *acc becomes the value of rd; *out whether a branch is taken, or a jump's target. Returns
 * false, with nothing changed, if `slow` has to execute it. rm is constant in every use. */
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    static ALWAYS_INLINE bool do_##name(struct hart *hart, const union op *op, enum op_source source,        \
                                        unsigned rm, uint64_t *acc, uint64_t *out)                           \
    {                                                                                                        \
        const uint64_t rs1 = !HAS_ROLE(format, rs1, X) ? 0 : source == OP_ACC_RS1 ? *acc : hart->x[op->rs1]; \
        const uint64_t rs2 = !HAS_ROLE(format, rs2, X) ? 0 : source == OP_ACC_RS2 ? *acc : hart->x[op->rs2]; \
        const uint64_t frs1 = HAS_ROLE(format, rs1, F) ? hart->f[op->rs1] : 0;                               \
        const uint64_t frs2 = HAS_ROLE(format, rs2, F) ? hart->f[op->rs2] : 0;                               \
        const uint64_t frs3 = HAS_ROLE(format, rs3, F) ? hart->f[op->rs3] : 0;                               \
        const uint64_t pc = op[1].link.value, next_pc = pc, zimm = op->rs1;                                  \
        const int64_t imm = op->imm;                                                                         \
        uint64_t rd = 0, frd = 0;                                                                            \
        (void)rs1, (void)rs2, (void)frs1, (void)frs2, (void)frs3, (void)pc, (void)next_pc, (void)zimm,       \
            (void)imm;                                                                                       \
        (void)rm, (void)out, (void)rd, (void)frd;                                                            \
        {                                                                                                    \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        if (HAS_ROLE(format, rd, X))                                                                         \
            hart->x[op->rd] = *acc = rd;                                                                     \
        else if (HAS_ROLE(format, rd, F))                                                                    \
            hart->f[op->rd] = frd;                                                                           \
        return true;                                                                                         \
    }
#include "isa/rows.def"

static const union op *op_go(PARAMETERS)
{
    GO_EXIT(op);
}

/* A return to the expected target, for which the block continues. The slot after it holds the link value, the next one
 * the expected target. */
static const union op *op_returns(PARAMETERS)
{
    uint64_t target = hart->x[op->rs1];
    if (LIKELY(target == op[2].head.pc))
        DISPATCH(op + 3);
    union op *link = (union op *)(uintptr_t)(op + 1);
    budget -= op->rs2;
    link->link.count++;
    NOTE_LEFT(op->rs2);
    GO_INDIRECT(target & ~UINT64_C(1));
}

/* The kinds of handler. PLAIN continues with the next slot. */
#define PLAIN(name, suffix, source, rm)                                                                      \
    static const union op *op_##name##suffix(PARAMETERS)                                                     \
    {                                                                                                        \
        uint64_t out;                                                                                        \
        if (UNLIKELY(!do_##name(hart, op, source, rm, &acc, &out)))                                          \
            TAIL_RETURN op_slow(hart, op, acc, budget);                                                      \
        DISPATCH(op + 1);                                                                                    \
    }
/* AUIPC, and a JAL that the translator follows, which only writes its link value: a value slot follows. */
#define VALUED(name, suffix, source, rm)                                                                     \
    static const union op *op_##name##suffix(PARAMETERS)                                                     \
    {                                                                                                        \
        uint64_t out;                                                                                        \
        (void)do_##name(hart, op, source, rm, &acc, &out);                                                   \
        DISPATCH(op + 2);                                                                                    \
    }
#define BRANCHING(name, suffix, source, rm)                                                                  \
    static const union op *op_##name##suffix(PARAMETERS)                                                     \
    {                                                                                                        \
        uint64_t taken;                                                                                      \
        (void)do_##name(hart, op, source, rm, &acc, &taken);                                                 \
        if (taken)                                                                                           \
            GO_EXIT(op);                                                                                     \
        DISPATCH(op + 2);                                                                                    \
    }
/* JALR: rs2 of the op holds the number of instructions retired at its exit. */
#define INDIRECT(name, suffix, source, rm)                                                                   \
    static const union op *op_##name##suffix(PARAMETERS)                                                     \
    {                                                                                                        \
        uint64_t target;                                                                                     \
        union op *link = (union op *)(uintptr_t)(op + 1);                                                    \
        (void)do_##name(hart, op, source, rm, &acc, &target);                                                \
        budget -= op->rs2;                                                                                   \
        link->link.count++;                                                                                  \
        NOTE_LEFT(op->rs2);                                                                                  \
        GO_INDIRECT(target);                                                                                 \
    }

/* The number of integer sources that a handler may take from acc: none, rs1, or either. T: with a variant for RTZ. */
#define DEFINE_0(kind, name) kind(name, , OP_REGISTERS, RM_DYN)
#define DEFINE_1(kind, name) DEFINE_0(kind, name) kind(name, _a, OP_ACC_RS1, RM_DYN)
#define DEFINE_2(kind, name) DEFINE_1(kind, name) kind(name, _b, OP_ACC_RS2, RM_DYN)
#define DEFINE_T(kind, name) DEFINE_0(kind, name) kind(name, _t, OP_REGISTERS, RM_RTZ)
#define ROW_0(name)          .rows[INSN_##name] = {op_##name, op_##name, op_##name},
#define ROW_1(name)          .rows[INSN_##name] = {op_##name, op_##name##_a, op_##name},
#define ROW_2(name)          .rows[INSN_##name] = {op_##name, op_##name##_a, op_##name##_b},
#define ROW_T(name)          ROW_0(name).truncating[INSN_##name] = op_##name##_t,

/* SHAPE_format(use, name): passes the format's kind of handler and number of sources to `use` (USE_DEFINE or USE_ROW). */
#define SHAPE_R(use, name)      use(PLAIN, 2, name)
#define SHAPE_R1(use, name)     use(PLAIN, 1, name)
#define SHAPE_I(use, name)      use(PLAIN, 1, name)
#define SHAPE_SH6(use, name)    use(PLAIN, 1, name)
#define SHAPE_SH5(use, name)    use(PLAIN, 1, name)
#define SHAPE_LOAD(use, name)   use(PLAIN, 1, name)
#define SHAPE_STORE(use, name)  use(PLAIN, 2, name)
#define SHAPE_B(use, name)      use(BRANCHING, 2, name)
#define SHAPE_U(use, name)      use(PLAIN, 0, name)
#define SHAPE_UPC(use, name)    use(VALUED, 0, name)
#define SHAPE_J(use, name)      use(VALUED, 0, name)
#define SHAPE_JALR(use, name)   use(INDIRECT, 1, name)
#define SHAPE_AMO(use, name)    use(PLAIN, 0, name)
#define SHAPE_LR(use, name)     use(PLAIN, 0, name)
#define SHAPE_FLOAD(use, name)  use(PLAIN, 1, name)
#define SHAPE_FSTORE(use, name) use(PLAIN, 1, name)
#define SHAPE_F3(use, name)     use(PLAIN, 0, name)
#define SHAPE_F3M(use, name)    use(PLAIN, 0, name)
#define SHAPE_F4M(use, name)    use(PLAIN, 0, name)
#define SHAPE_F2(use, name)     use(PLAIN, 0, name)
#define SHAPE_F2M(use, name)    use(PLAIN, 0, name)
#define SHAPE_F2E(use, name)    use(PLAIN, 0, name)
#define SHAPE_FCMP(use, name)   use(PLAIN, 0, name)
#define SHAPE_FX(use, name)     use(PLAIN, 0, name)
#define SHAPE_FXM(use, name)    use(PLAIN, T, name)
#define SHAPE_XF(use, name)     use(PLAIN, 1, name)
#define SHAPE_XFM(use, name)    use(PLAIN, 0, name)
#define SHAPE_XFE(use, name)    use(PLAIN, 1, name)
/* These formats occur only in classes that are left to `step`. */
#define SHAPE_NONE(use, name)
#define SHAPE_CBO(use, name)
#define SHAPE_PREFETCH(use, name) use(PLAIN, 1, name)
#define SHAPE_FENCE(use, name)    use(PLAIN, 0, name)
#define SHAPE_CSR(use, name)      use(PLAIN, 0, name)
#define SHAPE_CSRI(use, name)     use(PLAIN, 0, name)
#define SHAPE_HINT2(use, name)
#define SHAPE_HINT1I(use, name)
#define SHAPE_S1(use, name)
#define SHAPE_D1(use, name)
#define SHAPE_HINTI(use, name)
/* Custom opcodes share formats with other rows, but have no handlers. */
#define IN_CLASS_CUSTOM(format, use, name)
#define IN_CLASS_ALU(format, use, name) SHAPE_##format(use, name)
#define IN_CLASS_MUL                    IN_CLASS_ALU
#define IN_CLASS_DIV                    IN_CLASS_ALU
#define IN_CLASS_LOAD                   IN_CLASS_ALU
#define IN_CLASS_STORE                  IN_CLASS_ALU
#define IN_CLASS_BRANCH                 IN_CLASS_ALU
#define IN_CLASS_JUMP                   IN_CLASS_ALU
#define IN_CLASS_AMO                    IN_CLASS_SERIAL
#define IN_CLASS_FLOAD                  IN_CLASS_ALU
#define IN_CLASS_FSTORE                 IN_CLASS_ALU
#define IN_CLASS_FADD                   IN_CLASS_ALU
#define IN_CLASS_FMUL                   IN_CLASS_ALU
#define IN_CLASS_FMA                    IN_CLASS_ALU
#define IN_CLASS_FDIV                   IN_CLASS_ALU
#define IN_CLASS_FSQRT                  IN_CLASS_ALU
#define IN_CLASS_FCVT                   IN_CLASS_ALU
#define IN_CLASS_FMISC                  IN_CLASS_ALU
#define IN_CLASS_CSR                    IN_CLASS_SERIAL
#define IN_CLASS_FENCE                  IN_CLASS_SERIAL
#define IN_CLASS_SYSTEM                 IN_CLASS_ALU
#define IN_CLASS_HINT                   IN_CLASS_ALU

#define USE_DEFINE(kind, count, name) DEFINE_##count(kind, name)
#define USE_ROW(kind, count, name)    ROW_##count(name)

#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    IN_CLASS_##class(format, USE_DEFINE, name)
#include "isa/rows.def"

/* Two instructions in one handler: the second one's op, in the next slot, is executed without a dispatch. */
#define SOURCE_R OP_REGISTERS
#define SOURCE_A OP_ACC_RS1
#define SOURCE_B OP_ACC_RS2
#define FUSE(first, source1, second, source2)                                                                \
    static const union op *op_##first##source1##_##second##source2(PARAMETERS)                               \
    {                                                                                                        \
        uint64_t out;                                                                                        \
        if (UNLIKELY(!do_##first(hart, op, SOURCE_##source1, RM_DYN, &acc, &out)))                           \
            TAIL_RETURN op_slow(hart, op, acc, budget);                                                      \
        if (UNLIKELY(!do_##second(hart, op + 1, SOURCE_##source2, RM_DYN, &acc, &out)))                      \
            TAIL_RETURN op_slow(hart, op + 1, acc, budget);                                                  \
        DISPATCH(op + 2);                                                                                    \
    }
#define FUSE_BRANCH(first, source1, second, source2)                                                         \
    static const union op *op_##first##source1##_##second##source2(PARAMETERS)                               \
    {                                                                                                        \
        uint64_t out;                                                                                        \
        if (UNLIKELY(!do_##first(hart, op, SOURCE_##source1, RM_DYN, &acc, &out)))                           \
            TAIL_RETURN op_slow(hart, op, acc, budget);                                                      \
        (void)do_##second(hart, op + 1, SOURCE_##source2, RM_DYN, &acc, &out);                               \
        if (out)                                                                                             \
            GO_EXIT(op + 1);                                                                                 \
        DISPATCH(op + 3);                                                                                    \
    }
#include "emu/hart/exec/fuse.def"

static const struct exec_fusion fusions[] = {
#define FUSE(first, source1, second, source2)                                                                \
    {INSN_##first, INSN_##second, SOURCE_##source1, SOURCE_##source2,                                        \
     op_##first##source1##_##second##source2},
#define FUSE_BRANCH FUSE
#include "emu/hart/exec/fuse.def"
};

const struct exec_table EXEC_TABLE = {
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    IN_CLASS_##class(format, USE_ROW, name)
#include "isa/rows.def"
    .slow = op_slow,
    .step = op_step,
    .stop = op_stop,
    .go = op_go,
    .link = op_link,
    .far = op_far,
    .dropped = op_dropped,
    .returns = op_returns,
    .compiled = OP_COMPILED,
    .fusions = fusions,
    .fusion_count = sizeof fusions / sizeof *fusions,
};
