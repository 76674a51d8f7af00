/* Serves marker HINTs (isa/include/croft/roi.h): regions and dumps of the statistics. */
#ifndef EMU_ENV_MARKER_H
#define EMU_ENV_MARKER_H

#include "emu/hart/hart.h"
#include "emu/sim/report/stats.h"

struct marker_regions {
    struct stats *stats; /* NULL: markers do nothing */
    const char *command; /* prefix of warnings: "croft run" */
    unsigned names_made; /* number of regions without a usable name so far */
};

/* Executes hart->marker, which has just retired. A name that is not 1 to 63 printable characters of readable
 * memory is replaced by region0, region1, ..., with a warning. Unknown codes do nothing, as they are
 * HINTs. */
void marker_serve(struct marker_regions *regions, const struct hart *hart);

#endif
