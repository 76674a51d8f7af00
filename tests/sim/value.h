/* Reads values from a registry of statistics, for tests. */
#ifndef TESTS_SIM_VALUE_H
#define TESTS_SIM_VALUE_H

#include "emu/sim/report/stats.h"

/* Returns the value of a registered counter since the start or the last reset; the test fails if there is no counter of
 * that name. */
uint64_t stats_value(struct stats *stats, const char *name);

/* Returns the value of a ratio, to 6 decimals; fails as value_of() does. */
double stats_real(struct stats *stats, const char *name);

/* Returns the output of stats_write_json(). The caller frees it. */
char *stats_json(struct stats *stats);

#endif
