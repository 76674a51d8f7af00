#include "emu/stash/place.h"

#include "emu/simt/cluster.h"

const struct stash_place *stash_place_of(const struct assembly *assembly, bool launchers)
{
    struct stash_place *place = assembly->ops->keep(assembly, sizeof *place);
    void **all;
    const uint32_t count = assembly_objects(assembly, &simt_kind, &all);
    place->clusters = all;
    for (uint32_t i = 0; i < count; i++)
        if (!launchers || simt_cluster_config(all[i])->launches)
            place->clusters[place->cluster_count++] = all[i];
    return place;
}
