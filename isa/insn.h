/* What an instruction is: its identity, class, extension and decoded operands. The names come from the .def
 * files. */
#ifndef ISA_INSN_H
#define ISA_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* enum insn_id, compressed_id, insn_class, insn_format, insn_extension: one value for each row of the .def files. Made by
 * the build (isa/tools/insn_id.h). */
#include "isa/insn_id.h"

/* How the immediate lies in the bits, and what an operand field is (isa/format.def). */
enum insn_immediate {
    IMMEDIATE_NONE,
    IMMEDIATE_I,
    IMMEDIATE_S,
    IMMEDIATE_B,
    IMMEDIATE_U,
    IMMEDIATE_J,
    IMMEDIATE_SH5,
    IMMEDIATE_SH6,
    IMMEDIATE_CSR,
    IMMEDIATE_FENCE,
    IMMEDIATE_AQRL,
};
enum insn_role { ROLE_N, ROLE_X, ROLE_F, ROLE_Z };

/* The columns `precision` and `access` of isa/rows.def. */
enum insn_precision { PRECISION_N, PRECISION_W, PRECISION_X, PRECISION_S, PRECISION_D };
enum insn_access {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_LR,
    ACCESS_SC,
    ACCESS_AMO,
    ACCESS_BLOCK,
    ACCESS_ZERO,
};

/* The column `unit` of isa/class.def. */
enum insn_unit { UNIT_NONE, UNIT_INTEGER, UNIT_MULTIPLY, UNIT_MEMORY, UNIT_FLOAT };

/* Rounding modes, as in frm and the rm field; 5 and 6 are reserved. */
enum rounding_mode { RM_RNE, RM_RTZ, RM_RDN, RM_RUP, RM_RMM, RM_DYN = 7 };

/* A decoded instruction. Fields that its format does not have are 0. */
struct insn {
    uint32_t bits;      /* as fetched; the upper half is 0 for a compressed instruction */
    int32_t imm;        /* as its format says, sign-extended; for U the full value with 12 low zero bits */
    uint16_t id;        /* enum insn_id, of the expansion if compressed */
    uint8_t compressed; /* enum compressed_id plus 1, or 0 */
    uint8_t length;     /* in bytes: 2 or 4 */
    uint8_t rd, rs1, rs2, rs3, rm;
};

/* The row's fixed facts. */
struct insn_info {
    const char *name; /* the row's name; insn_spell() turns it into the assembler's */
    uint32_t match, mask;
    uint8_t format;    /* enum insn_format */
    uint8_t extension; /* enum insn_extension */
    uint8_t iclass;    /* enum insn_class */
    uint8_t precision; /* enum insn_precision */
    uint8_t access;    /* enum insn_access */
    uint8_t size;      /* of the access in bytes, or 0 */
};

struct compressed_info {
    const char *name;
    uint16_t match, mask;
    uint16_t expansion;   /* enum insn_id */
    const char *operands; /* print template */
};

struct format_info {
    uint8_t immediate;         /* enum insn_immediate */
    uint8_t rd, rs1, rs2, rs3; /* enum insn_role */
    uint8_t rm;                /* 1: bits 14:12 are a rounding mode */
    const char *operands;      /* print template */
};

/* Of a class of work. */
struct class_info {
    uint8_t unit; /* enum insn_unit */
    bool alone;   /* executed one by one */
};

extern const struct insn_info insn_table[INSN_COUNT];
extern const struct compressed_info compressed_table[COMPRESSED_COUNT];
extern const struct format_info format_table[FORMAT_COUNT];
extern const struct class_info class_table[CLASS_COUNT];

/* Whether the row computes with floating-point values, and so within the guest's floating-point environment; loads and
 * stores of such values do not. */
static inline bool insn_is_float(const struct insn_info *info)
{
    return info->access == ACCESS_NONE && info->precision >= PRECISION_S;
}

extern const char *const insn_class_name[CLASS_COUNT];
extern const char *const insn_class_text[CLASS_COUNT];
extern const char *const insn_extension_name[EXTENSION_COUNT];

/* Enough for every mnemonic and its terminating zero. */
enum { INSN_NAME_SIZE = 24 };

/* The assembler's spelling of a row name: `fadd_d` becomes "fadd.d", `wrt__res_axram` "wrt_res.axram". */
void insn_spell(const char *row_name, char text[INSN_NAME_SIZE]);

#endif
