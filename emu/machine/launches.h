/* Connects a program's launches to the multiprocessors of a timed machine. */
#ifndef EMU_MACHINE_LAUNCHES_H
#define EMU_MACHINE_LAUNCHES_H

#include "emu/simt/grid/timed_launch.h"

struct timed;

/* Sets launches->machine. `timed` must have multiprocessors and outlive the last launch. */
void launches_join(struct timed_launch *launches, struct timed *timed);

#endif
