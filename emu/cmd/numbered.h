/* Which line of assembler an instruction comes from: from the labels of assembly_write_numbered(). */
#ifndef EMU_CMD_NUMBERED_H
#define EMU_CMD_NUMBERED_H

#include "emu/cmd/program.h"

struct numbered_place {
    uint64_t pc;
    size_t unit, line;
};

struct numbered {
    struct numbered_place *places; /* by pc */
    size_t count, room;
};

/* Release it with numbered_free(). */
struct numbered numbered_of(struct program *program);
void numbered_free(struct numbered *numbered);

/* Returns the place of the instruction at pc, or NULL if it comes from none. */
const struct numbered_place *numbered_place(const struct numbered *numbered, uint64_t pc);

#endif
