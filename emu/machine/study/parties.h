/* The partitions (emu/machine/plan/cut.h) of a machine whose parts have been made: their names and weights. */
#ifndef EMU_MACHINE_STUDY_PARTIES_H
#define EMU_MACHINE_STUDY_PARTIES_H

#include "emu/machine/builder.h"
#include "emu/machine/plan/cut.h"

struct parties {
    uint32_t count;
    const char **names; /* path of the first part, or a network */
    uint64_t *weights;  /* components (multiprocessors, controllers ...) and routers */
};

/* Numbers the partitions of the cut anew: in the order in which their first parts were made, then those of routers alone. */
void parties_make(struct parties *parties, struct cut *cut, const struct builder *builder);
void parties_free(struct parties *parties);

#endif
