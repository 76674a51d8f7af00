/* Where records of tasks come from, for the components that show them. */
#ifndef EMU_NUCD_OBSERVE_TASK_SOURCES_H
#define EMU_NUCD_OBSERVE_TASK_SOURCES_H

#include "emu/core/services.h"
#include "emu/nucd/engine/engines.h"
#include "emu/nucd/units/accelerators.h"

/* In mode `driver` there are no engines: then only accelerators tell of tasks. */
struct task_sources {
    const struct nucd_config *config;
    struct engines *engines;
    struct accelerators *accelerators;
    const struct core_services *machine;
};

#endif
