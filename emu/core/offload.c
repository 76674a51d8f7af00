#include "emu/core/offload.h"

#include "emu/core/core.h"

void core_offload_complete(struct core *core, uint64_t number, uint64_t now)
{
    core->ops->offload->complete(core, number, now);
}

void core_offload_squash(struct core *core, uint64_t number, uint64_t now)
{
    core->ops->offload->squash(core, number, now);
}

void core_offload_go_on(struct core *core, uint64_t now)
{
    core->ops->offload->go_on(core, now);
}

void core_offload_interrupted(struct core *core, uint64_t now)
{
    core->ops->offload->interrupted(core, now);
}

void core_offload_arrived(struct core *core, uint64_t number, uint64_t now)
{
    core->ops->offload->arrived(core, number, now);
}

bool core_offload_storing(struct core *core, uint64_t first, uint64_t last)
{
    return core->ops->offload->storing(core, first, last);
}
