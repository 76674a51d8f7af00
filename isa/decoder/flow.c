#include "isa/decoder/flow.h"

/* Link registers, which distinguish calls and returns (unprivileged specification, table 2.1). */
static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

static unsigned jump_flow(const struct insn *insn)
{
    unsigned flow = FLOW_JUMP;
    if (is_link(insn->rd))
        flow |= FLOW_CALL;
    if (insn_table[insn->id].format == FORMAT_JALR) {
        flow |= FLOW_INDIRECT;
        if (is_link(insn->rs1) && !is_link(insn->rd))
            flow |= FLOW_RETURN;
    }
    return flow;
}

unsigned flow_of(const struct insn *insn)
{
    switch ((enum insn_class)insn_table[insn->id].iclass) {
    case CLASS_BRANCH: return FLOW_BRANCH;
    case CLASS_JUMP: return jump_flow(insn);
    default: return 0;
    }
}

static uint8_t number_of(enum insn_role role, unsigned reg)
{
    if (role == ROLE_F)
        return (uint8_t)(32 + reg);
    return role == ROLE_X && reg != 0 ? (uint8_t)reg : REGISTER_NONE;
}

struct insn_registers insn_registers(const struct insn *insn)
{
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    if (insn->id == INSN_illegal)
        return (struct insn_registers){REGISTER_NONE, REGISTER_NONE, REGISTER_NONE, REGISTER_NONE};
    return (struct insn_registers){
        .rd = number_of((enum insn_role)format->rd, insn->rd),
        .rs1 = number_of((enum insn_role)format->rs1, insn->rs1),
        .rs2 = number_of((enum insn_role)format->rs2, insn->rs2),
        .rs3 = number_of((enum insn_role)format->rs3, insn->rs3),
    };
}
