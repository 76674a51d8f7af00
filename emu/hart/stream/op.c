#include "emu/hart/stream/op.h"

#include "emu/hart/access.h"
#include "isa/decoder/flow.h"

/* Cache-block operations have neither flag. */
static uint8_t access_flags(enum insn_access access)
{
    switch (access) {
    case ACCESS_LOAD:
    case ACCESS_LR: return STREAM_LOAD;
    case ACCESS_STORE:
    case ACCESS_SC: return STREAM_STORE;
    case ACCESS_AMO: return STREAM_LOAD | STREAM_STORE;
    case ACCESS_NONE:
    case ACCESS_BLOCK:
    case ACCESS_ZERO: break;
    }
    return 0;
}

static uint16_t class_flags(const struct insn *insn)
{
    if (class_table[insn_table[insn->id].iclass].alone)
        return STREAM_SERIAL;
    return (uint16_t)(flow_of(insn) << STREAM_FLOW);
}

void stream_op_describe(struct stream_op *op, uint64_t pc, const struct insn *insn)
{
    const struct insn_info *info = &insn_table[insn->id];
    const struct insn_registers registers = insn_registers(insn);
    *op = (struct stream_op){
        .pc = pc,
        .insn = insn,
        .id = insn->id,
        .iclass = info->iclass,
        .flags = class_flags(insn) | access_flags((enum insn_access)info->access),
        .length = insn->length,
        .rd = registers.rd,
        .rs1 = registers.rs1,
        .rs2 = registers.rs2,
        .rs3 = registers.rs3,
        .imm = insn->imm,
    };
    if (op->flags & (STREAM_LOAD | STREAM_STORE))
        op->size = info->size;
    if (info->format == FORMAT_PREFETCH) {
        op->flags |= STREAM_PREFETCH;
        op->size = CACHE_BLOCK;
    }
}
