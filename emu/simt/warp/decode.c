/* Decodes instructions for warps: chooses the handler of each. */
#include "emu/hart/stream/op.h"
#include "emu/simt/warp/state.h"
#include "emu/simt/warp_debug.h"

enum { SP = 2 };

bool warp_code_can(const struct warp_table *table)
{
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return table == &warp_rows_v4 ? v4 : table == &warp_rows_v3 ? v3 : true;
}

static const struct warp_table *best_table(void)
{
    return warp_code_can(&warp_rows_v4)   ? &warp_rows_v4
           : warp_code_can(&warp_rows_v3) ? &warp_rows_v3
                                          : &warp_rows_base;
}

void warp_choose_table(struct warp_code *code)
{
    if (!warp_code_table(code))
        warp_code_use(code, best_table());
}

static bool has_offset(const struct insn *insn)
{
    enum insn_class class = (enum insn_class)insn_table[insn->id].iclass;
    return class == CLASS_LOAD || class == CLASS_STORE || class == CLASS_FLOAD || class == CLASS_FSTORE;
}

void warp_decode(struct warp_memory *memory, struct warp_op *op, uint64_t pc)
{
    uint32_t bits;
    *op = (struct warp_op){.run = warp_fetch_fault, .stream.pc = pc};
    if (!warp_memory_fetch(memory, pc, &bits))
        return;
    op->insn = decode(memory->setup.decoder, bits);
    stream_op_describe(&op->stream, pc, &op->insn);
    bool integer = format_table[insn_table[op->insn.id].format].rd == ROLE_X;
    op->rd = integer && op->insn.rd == 0 ? HART_SINK : op->insn.rd;
    op->run = warp_code_table(memory->code)->rows[op->insn.id];
    if (!op->run)
        op->run = warp_illegal;
    else if (op->insn.rs1 == SP && op->stream.flags & (STREAM_LOAD | STREAM_STORE) && has_offset(&op->insn))
        op->run = warp_code_table(memory->code)->on_stack;
    if (memory->debug && warp_debug_has(memory->debug, pc))
        op->run = warp_break;
}
