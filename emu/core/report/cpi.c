#include "emu/core/report/cpi.h"

const char *core_cause_name(enum cpi_cause cause)
{
    static const char *const names[CPI_CAUSES] = {
#define CPI(name, meaning) #name,
#include "emu/core/report/cpi.def"
    };
    return names[cause];
}

const char *core_cause_meaning(enum cpi_cause cause)
{
    static const char *const meanings[CPI_CAUSES] = {
#define CPI(name, meaning) meaning,
#include "emu/core/report/cpi.def"
    };
    return meanings[cause];
}
