/* The operand roles of isa/format.def as constants, such as FORMAT_R_rd == ROLE_X, for code that expands rows. */
#ifndef EMU_HART_ROWS_ROLES_H
#define EMU_HART_ROWS_ROLES_H

#include "isa/insn.h"

#define FORMAT(name, immediate, rd_, rs1_, rs2_, rs3_, rm_, operands)                                        \
    enum {                                                                                                   \
        FORMAT_##name##_rd = ROLE_##rd_,                                                                     \
        FORMAT_##name##_rs1 = ROLE_##rs1_,                                                                   \
        FORMAT_##name##_rs2 = ROLE_##rs2_,                                                                   \
        FORMAT_##name##_rs3 = ROLE_##rs3_,                                                                   \
        FORMAT_##name##_rm = rm_,                                                                            \
    };
#include "isa/format.def"

/* Whether an operand field (rd, rs1, rs2, rs3) of a format has a role (X, F): a constant. */
#define HAS_ROLE(format, field, role) ((int)FORMAT_##format##_##field == (int)ROLE_##role)

#endif
