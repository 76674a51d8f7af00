/* Custom instructions on machines without a clock. Such machines make no parts, but instructions that are
 * more than hints need units that execute them. */
#ifndef EMU_MACHINE_UNTIMED_H
#define EMU_MACHINE_UNTIMED_H

#include "emu/hart/hart.h"
#include "emu/machine/machine.h"

struct untimed;

/* Makes the units and gives them to harts[count]. Never returns NULL. The result must outlive the harts. */
struct untimed *untimed_new(const struct machine_config *machine, struct hart *harts, unsigned count);
void untimed_free(struct untimed *untimed); /* NULL is allowed */

#endif
