#include "emu/env/marker.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/hart/probe.h"
#include "emu/sim/text/say.h"
#include "isa/include/croft/roi.h"

enum { REGION_NAME = 64 };

/* Reads a name from guest memory. Returns false if it is not a usable name. */
static bool read_name(const struct hart *hart, uint64_t address, char name[REGION_NAME])
{
    for (unsigned i = 0; i < REGION_NAME; i++) {
        if (!hart_memory_read(hart, address + i, &name[i], 1))
            return false;
        if (name[i] == '\0')
            return i > 0;
        if (name[i] < ' ' || name[i] > '~')
            return false;
    }
    return false;
}

static void region_name(struct marker_regions *regions, const struct hart *hart, char name[REGION_NAME])
{
    uint64_t address = hart->marker.value;
    if (address == 0) {
        strcpy(name, "roi");
        return;
    }
    if (read_name(hart, address, name))
        return;
    (void)snprintf(name, REGION_NAME, "region%u", regions->names_made++);
    fprintf(say_stream(),
            "%s: warning: the marker before 0x%" PRIx64 " has no usable name at 0x%" PRIx64
            " (1 to %d printable characters): '%s' is used\n",
            regions->command, hart->pc, address, REGION_NAME - 1, name);
}

void marker_serve(struct marker_regions *regions, const struct hart *hart)
{
    struct stats *stats = regions->stats;
    char name[REGION_NAME];
    if (!stats)
        return;
    switch (hart->marker.code) {
    case CROFT_MARKER_ROI_BEGIN:
        region_name(regions, hart, name);
        stats_region_begin(stats, name);
        break;
    case CROFT_MARKER_ROI_END:
        region_name(regions, hart, name);
        stats_region_end(stats, name);
        break;
    case CROFT_MARKER_STATS_RESET: stats_reset(stats); break;
    case CROFT_MARKER_STATS_DUMP: stats_dump(stats); break;
    default: break; /* trace marks do not change statistics */
    }
}
