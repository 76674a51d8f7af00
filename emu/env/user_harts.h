/* The harts of a user program: its own, and those of the accelerators that take its tasks. */
#ifndef EMU_ENV_USER_HARTS_H
#define EMU_ENV_USER_HARTS_H

#include "emu/machine/machine.h"
#include "emu/machine/system.h"
#include "emu/nucd/nucd.h"

struct user_harts {
    struct system system;
    struct phys program; /* what the program sees of memory */
    struct nucd *nucd;   /* NULL: no accelerator takes tasks */
};

/* Makes them in memory; firmware (ELF) is the accelerators', or NULL: these have no harts then. What is passed must outlive
 * them. False with err set when the firmware cannot be loaded. Release with user_harts_free(). */
bool user_harts_init(struct user_harts *user, const struct machine_config *machine, const char *firmware,
                     struct phys *memory, const struct decoder *decoder, struct error *err);
void user_harts_free(struct user_harts *user);

#endif
