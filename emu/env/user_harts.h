/* The harts of a user program: its own, one for each host, and those of the accelerators that take its tasks. */
#ifndef EMU_ENV_USER_HARTS_H
#define EMU_ENV_USER_HARTS_H

#include "emu/core/tasks.h"
#include "emu/machine/machine.h"
#include "emu/machine/system.h"

struct user_harts {
    struct system system;
    struct phys program; /* the part of memory that the program sees */
    struct tasks *tasks; /* NULL: no accelerator takes tasks */
};

/* Returns the number of hosts on which a program without the kernel can have threads: all of a timed machine; but 1 where
 * accelerators take tasks, because those are of one host unless the kernel tells hosts apart. */
unsigned user_harts_hosts(const struct machine_config *machine);

/* Makes the harts over memory. firmware (an ELF file) runs on the accelerators; NULL: they have no harts. All
 * arguments must outlive the result. Returns false and sets err if the firmware cannot be loaded. Release
 * with user_harts_free(). */
bool user_harts_init(struct user_harts *user, const struct machine_config *machine, const char *firmware,
                     struct phys *memory, const struct decoder *decoder, struct error *err);
void user_harts_free(struct user_harts *user);

#endif
