/* Marker HINTs (isa/include/croft/roi.h) as regions and dumps of the statistics. */
#ifndef EMU_ENV_MARKER_H
#define EMU_ENV_MARKER_H

#include "emu/hart/hart.h"
#include "emu/sim/stats.h"

struct marker_regions {
    struct stats *stats; /* NULL: nobody counts */
    const char *command; /* for warnings: "croft run" */
    unsigned names_made; /* regions that had no usable name so far */
};

/* Does what hart->marker, which has just retired, asks for. A name that is not 1 to 63 printable characters
 * of readable memory is replaced by region0, region1, ..., with a warning. Unknown codes do nothing, as
 * HINTs. */
void marker_serve(struct marker_regions *regions, const struct hart *hart);

#endif
