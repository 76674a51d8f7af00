/* The text of assembler that GCC has written: which lines are instructions, where labels are, source lines. */
#ifndef EMU_CMD_ASSEMBLY_H
#define EMU_CMD_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"

enum assembly_kind {
    ASSEMBLY_OTHER, /* a directive, a comment, nothing */
    ASSEMBLY_INSN,
    ASSEMBLY_FOREIGN, /* an instruction or directive of an assembler statement */
    ASSEMBLY_LABEL,
};

struct assembly_line {
    const char *text; /* without the end of line */
    enum assembly_kind kind;
    int file, line;   /* of the last .loc directive before it; 0: none */
    bool is_volatile; /* GCC's RTL (-dP) says that it accesses a volatile object */
    uint64_t
        arguments; /* of a call: 0, or bit 0 and the registers that GCC's RTL says it reads (-dP); as in isa/flow.h */
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

/* Writes the text to a file, with a label "croft.line.UNIT.N" before each line N that is an instruction (from 0 on). */
bool assembly_write_numbered(const struct assembly *assembly, size_t unit, const char *path,
                             struct error *err);

/* Stores operand `number` of a line, from 0 on, or "" if it has none. Returns operand. */
const char *assembly_operand(const char *line, unsigned number, char operand[ASSEMBLY_OPERAND]);

const char *assembly_last_operand(const char *line, char operand[ASSEMBLY_OPERAND]);

/* Returns whether the label is at this line. */
bool assembly_is_label(const struct assembly_line *line, const char *label);

/* Writes the source line as "file:line", or "-". */
void assembly_place(const struct assembly *assembly, size_t line, char *text, size_t size);

/* Writes a line; behind each name in it comes what suffix_of() returns for it. */
void assembly_write(const char *text, const char *(*suffix_of)(void *context, const char *name),
                    void *context, FILE *out);

#endif
