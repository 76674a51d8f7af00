/* Custom instructions of machines without a clock, which have no parts: units of mechanisms whose instructions more than
 * advise. */
#ifndef EMU_MACHINE_UNTIMED_H
#define EMU_MACHINE_UNTIMED_H

#include "emu/hart/hart.h"
#include "emu/machine/machine.h"

struct untimed;

/* Gives the harts, which it must outlive, the units of the machine's mechanisms. Never NULL. */
struct untimed *untimed_new(const struct machine_config *machine, struct hart *harts, unsigned count);
void untimed_free(struct untimed *untimed); /* NULL is allowed */

#endif
