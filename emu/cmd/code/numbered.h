/* Finds the line of assembler that an instruction comes from, by the labels of assembly_write_numbered(). */
#ifndef EMU_CMD_CODE_NUMBERED_H
#define EMU_CMD_CODE_NUMBERED_H

#include "emu/cmd/code/program.h"

struct numbered_place {
    uint64_t pc;
    size_t unit, line;
};

struct numbered {
    struct numbered_place *places; /* ascending by pc */
    size_t count, room;
};

/* Release it with numbered_free(). */
struct numbered numbered_of(struct program *program);
void numbered_free(struct numbered *numbered);

/* Returns the last place at or below pc, or NULL if there is none. */
const struct numbered_place *numbered_place(const struct numbered *numbered, uint64_t pc);

#endif
