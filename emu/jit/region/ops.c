#include "emu/jit/region/ops.h"

#include "emu/hart/exec.h"
#include "emu/hart/exec/compiled.h"
#include "emu/hart/hart.h"

op_handler *ops_handler(const struct hart *hart, const union op *op)
{
    return op->run == hart->exec->compiled ? op[-1].head.compiled->run : op->run;
}

bool ops_is_stepped(const struct hart *hart, const struct block_insn *at)
{
    const struct exec_table *exec = hart->exec;
    if (at->insn->length == 0 || !exec->rows[at->insn->id][OP_REGISTERS])
        return true;
    if (insn_table[at->insn->id].format == FORMAT_J && at->insn->rd == 0)
        return false; /* it has no op of its own */
    op_handler *run = ops_handler(hart, at->op);
    return run == exec->step || run == exec->slow || run == exec->stop;
}

bool ops_truncates(const struct hart *hart, const struct insn *insn)
{
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    return format->rm && insn->rm == RM_RTZ && hart->exec->truncating[insn->id];
}

bool ops_accesses(const struct insn *insn, bool store)
{
    enum insn_format format = insn_table[insn->id].format;
    return store ? format == FORMAT_STORE || format == FORMAT_FSTORE
                 : format == FORMAT_LOAD || format == FORMAT_FLOAD;
}

struct ops_range ops_coming(const struct hart *hart, const struct region_block *block, uint32_t i, unsigned r,
                            bool store)
{
    struct ops_range range = {INT64_MAX, INT64_MIN};
    for (; i < block->limit; i++) {
        const struct insn *insn = block_view_insn(hart->blocks, &block->view, i).insn;
        if (ops_accesses(insn, store) && insn->rs1 == r) {
            range.least = insn->imm < range.least ? insn->imm : range.least;
            range.most = insn->imm > range.most ? insn->imm : range.most;
        }
        if (format_table[insn_table[insn->id].format].rd == ROLE_X && insn->rd == r)
            break;
    }
    return range;
}

const union op *ops_after(const struct block_insn *at)
{
    switch (insn_table[at->insn->id].format) {
    case FORMAT_B:
    case FORMAT_UPC: return at->op + 2;
    case FORMAT_J: return at->op + (at->insn->rd ? 2 : 0);
    case FORMAT_JALR: return at->op + 3;
    default: return at->op + 1;
    }
}
