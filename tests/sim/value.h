/* What a test reads of a registry of statistics. */
#ifndef TESTS_SIM_VALUE_H
#define TESTS_SIM_VALUE_H

#include "emu/sim/stats.h"

/* The value of a registered counter since the start or the last reset; the test fails when there is none of that
 * name. */
uint64_t stats_value(struct stats *stats, const char *name);

/* Likewise a ratio, to 6 decimals. */
double stats_real(struct stats *stats, const char *name);

/* What stats_write_json() writes. The caller frees it. */
char *stats_json(struct stats *stats);

#endif
