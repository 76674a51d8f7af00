/* The functions by which environments of programs reach NUCD's accelerators. */
#ifndef EMU_NUCD_ENVIRONMENT_ENVIRONMENT_H
#define EMU_NUCD_ENVIRONMENT_ENVIRONMENT_H

#include "emu/core/tasks.h"

extern const struct tasks_kind nucd_tasks;

#endif
