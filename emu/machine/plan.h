/* A machine looked at as a whole, without being made. */
#ifndef EMU_MACHINE_PLAN_H
#define EMU_MACHINE_PLAN_H

#include "emu/machine/machine.h"

/* Whether a loaded machine could be made: ports, homes and ways to memory are planned as builder_plan() does for a run.
 * True for machines without a clock, of which none are made. False with err set, to file and line where the description
 * has them. */
bool plan_check(const struct machine_config *machine, struct error *err);

#endif
