/* The names of the shipped machines, sorted. */
#ifndef EMU_SCHEMA_MACHINE_LIST_H
#define EMU_SCHEMA_MACHINE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/sim/error.h"

struct machine_list {
    char **names;
    size_t count;
};

/* Lists the machines of the folder. False with err set if it cannot be read. Free with machine_list_free(), also then. */
bool machine_list(struct machine_list *list, const char *shipped_dir, struct error *err);
void machine_list_free(struct machine_list *list);

#endif
