#include "emu/machine/plan.h"

#include "emu/machine/builder.h"

bool plan_check(const struct machine_config *machine, struct error *err)
{
    struct builder builder;
    if (!machine_timed(machine))
        return true;
    bool planned = builder_plan(&builder, machine, NULL, err);
    builder_free(&builder);
    return planned;
}
