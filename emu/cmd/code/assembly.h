/* The assembler text that GCC writes, by lines: instructions, labels, and the source line of each. */
#ifndef EMU_CMD_CODE_ASSEMBLY_H
#define EMU_CMD_CODE_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"

enum assembly_kind {
    ASSEMBLY_OTHER, /* a directive, a comment, an empty line */
    ASSEMBLY_INSN,
    ASSEMBLY_FOREIGN, /* an instruction or directive of an assembler statement */
    ASSEMBLY_LABEL,
};

struct assembly_line {
    const char *text; /* without the end of line */
    enum assembly_kind kind;
    int file, line;   /* of the last .loc directive before it; 0: none */
    bool is_volatile; /* GCC's RTL (-dP) says that it accesses a volatile object */
    /* Bit 0 and the registers that a call reads, from GCC's RTL (-dP), numbered as in isa/decoder/flow.h; 0: unknown. */
    uint64_t arguments;
};

struct assembly {
    char *bytes;
    struct assembly_line *lines;
    size_t count;
    char **files; /* names by number; NULL: no such file */
    size_t file_count;
};

enum { ASSEMBLY_OPERAND = 256 };

/* Reads a file. In any case, release it with assembly_free(). */
bool assembly_read(struct assembly *assembly, const char *path, struct error *err);
void assembly_free(struct assembly *assembly);

/* Writes the text to a file, with a label "croft.line.UNIT.N" before each instruction; N is its line, from 0. */
bool assembly_write_numbered(const struct assembly *assembly, size_t unit, const char *path,
                             struct error *err);

/* Stores operand `number` of a line, from 0 on, or "" if it has none. Returns operand. */
const char *assembly_operand(const char *line, unsigned number, char operand[ASSEMBLY_OPERAND]);

const char *assembly_last_operand(const char *line, char operand[ASSEMBLY_OPERAND]);

/* Returns whether the label is at this line. */
bool assembly_is_label(const struct assembly_line *line, const char *label);

/* Writes the source line of assembler line `line` as "file:line"; "-" if it is unknown. */
void assembly_place(const struct assembly *assembly, size_t line, char *text, size_t size);

/* Writes a line of text and a newline. Appends to each name in the line what suffix_of() returns for the name. */
void assembly_write(const char *text, const char *(*suffix_of)(void *context, const char *name),
                    void *context, FILE *out);

#endif
