#include "emu/hart/defer.h"

#include "emu/hart/fp/rows.h"
#include "emu/hart/rows/jump.h"
#include "isa/decoder/meaning.h"

/* The row accessors: memory through the view, stores recorded, everything else refused. */
#define load_sized(address, n)                                                                               \
    __extension__({                                                                                          \
        uint64_t got_;                                                                                       \
        if (!view->load(view->context, address, n, &got_))                                                   \
            return false;                                                                                    \
        got_;                                                                                                \
    })
#define load8(address)  load_sized(address, 1)
#define load16(address) load_sized(address, 2)
#define load32(address) load_sized(address, 4)
#define load64(address) load_sized(address, 8)
#define store_sized(a, n, v)                                                                                 \
    (outcome->address = (uint64_t)(a), outcome->size = (n), outcome->data = (uint64_t)(v))
#define store8(address, value)  store_sized(address, 1, value)
#define store16(address, value) store_sized(address, 2, value)
#define store32(address, value) store_sized(address, 4, value)
#define store64(address, value) store_sized(address, 8, value)
#define refused(value)                                                                                       \
    __extension__({                                                                                          \
        (void)(value);                                                                                       \
        return false;                                                                                        \
        UINT64_C(0);                                                                                         \
    })
#define lr32(address)             refused(address)
#define lr64(address)             refused(address)
#define sc32(address, value)      refused(value)
#define sc64(address, value)      refused(value)
#define amo32(op, address, value) refused(value)
#define amo64(op, address, value) refused(value)
#define csr_swap(operand)         refused(operand)
#define csr_set(operand)          refused(operand)
#define csr_clear(operand)        refused(operand)
#define ecall()                   return false
#define ebreak()                  return false
#define custom(first, second)     refused(second)
#define fence()                   return false
#define fence_i()                 return false
#define nucd(xn, pair)            return false
#define nucd_order()              ((void)0)
#define tom_begin(id)             return false
#define marker(value, code)       return false
#define mret()                    return false
#define sret()                    return false
#define wfi()                     return false
#define sfence_vma()              return false
#define cbo_inval(where)          return false
#define cbo_clean(where)          return false
#define cbo_flush(where)          return false
#define cbo_zero(where)           return false
#define prefetch(where)           ((void)(where))

static bool evaluate_row(const struct insn *insn, const struct defer_input *input,
                         const struct defer_view *view, struct defer_outcome *outcome)
{
    const unsigned mode = input->mode;
    const uint64_t pc = input->pc, next_pc = pc + insn->length, zimm = insn->rs1;
    const uint64_t rs1 = input->operand[0], rs2 = input->operand[1];
    const uint64_t frs1 = rs1, frs2 = rs2, frs3 = input->operand[2];
    const int64_t imm = insn->imm;
    uint64_t rd = 0, frd = 0, next = next_pc;
    switch (insn->id) {
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    case INSN_##name: {                                                                                      \
        __VA_ARGS__;                                                                                         \
    } break;
#include "isa/rows.def"
    default: return false;
    }
    outcome->result = format_table[insn_table[insn->id].format].rd == ROLE_F ? frd : rd;
    outcome->next_pc = next;
    return true;
}

bool defer_evaluate(const struct insn *insn, const struct defer_input *input, const struct defer_view *view,
                    struct defer_outcome *outcome)
{
    *outcome = (struct defer_outcome){0};
    if (!insn_is_float(&insn_table[insn->id]))
        return evaluate_row(insn, input, view, outcome);
    uint32_t saved = fp_begin(input->mode);
    bool done = evaluate_row(insn, input, view, outcome);
    outcome->fflags = (uint8_t)fp_end(saved);
    return done;
}
