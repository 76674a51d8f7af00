#include "isa/insn.h"

const struct insn_info insn_table[INSN_COUNT] = {
    [INSN_illegal] = {"illegal", 0, 0xffffffff, FORMAT_NONE, EXTENSION_I, CLASS_SYSTEM, PRECISION_N,
                      ACCESS_NONE, 0},
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    [INSN_##name] = {#name,                                                                                  \
                     match,                                                                                  \
                     mask,                                                                                   \
                     FORMAT_##format,                                                                        \
                     EXTENSION_##extension,                                                                  \
                     CLASS_##class,                                                                          \
                     PRECISION_##precision,                                                                  \
                     ACCESS_##access,                                                                        \
                     size},
#include "isa/rows.def"
};

const struct compressed_info compressed_table[COMPRESSED_COUNT] = {
#define COMPRESSED(name, match, mask, extension, valid, expansion, rd, rs1, rs2, immediate, operands)        \
    {#name, match, mask, INSN_##expansion, EXTENSION_##extension, operands},
#include "isa/compressed.def"
};

const struct format_info format_table[FORMAT_COUNT] = {
#define FORMAT(name, immediate, rd, rs1, rs2, rs3, rm, operands)                                             \
    {IMMEDIATE_##immediate, ROLE_##rd, ROLE_##rs1, ROLE_##rs2, ROLE_##rs3, rm, operands},
#include "isa/format.def"
};

const char *const insn_class_name[CLASS_COUNT] = {
#define CLASS(name, unit, alone, text) #name,
#include "isa/class.def"
};

const char *const insn_class_text[CLASS_COUNT] = {
#define CLASS(name, unit, alone, text) text,
#include "isa/class.def"
};

const struct class_info class_table[CLASS_COUNT] = {
#define CLASS(name, unit, alone, text) {UNIT_##unit, alone},
#include "isa/class.def"
};

const char *const insn_extension_name[EXTENSION_COUNT] = {
#define EXTENSION(name, text) #name,
#include "isa/extension.def"
};

void insn_spell(const char *row_name, char text[INSN_NAME_SIZE])
{
    unsigned used = 0;
    for (const char *from = row_name; *from && used + 1 < INSN_NAME_SIZE; from++) {
        if (*from != '_') {
            text[used++] = *from;
        } else if (from[1] == '_') {
            text[used++] = '_';
            from++;
        } else {
            text[used++] = '.';
        }
    }
    text[used] = '\0';
}
