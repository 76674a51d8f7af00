/* The causes of cycles. */
#ifndef EMU_CORE_REPORT_CPI_H
#define EMU_CORE_REPORT_CPI_H

/* The cause of a cycle: CPI(name, meaning). The counts add up exactly to the cycles that a core was awake. */
enum cpi_cause {
#define CPI(name, meaning) CPI_##name,
#include "emu/core/report/cpi.def"
    CPI_CAUSES
};

/* Returns the name of a cause: "frontend". */
const char *core_cause_name(enum cpi_cause cause);

/* Returns what is counted, for statistics. */
const char *core_cause_meaning(enum cpi_cause cause);

#endif
