#include "emu/hart/csr.h"

#include "emu/hart/hart.h"

enum {
#define CSR(name, number, text) CSR_##name = number,
#include "isa/csr.def"
};

/* The field of fcsr above the five flags. */
enum { FCSR_FLAGS = 0x1f, FCSR_FRM_SHIFT = 5, FRM_MASK = 7 };

/* Whether the number alone forbids writing (bits 11:10). */
static bool read_only(unsigned number)
{
    return number >> 10 == 3;
}

bool csr_read(const struct hart *hart, unsigned number, uint64_t *value)
{
    switch (number) {
    case CSR_fflags: *value = hart->fflags; return true;
    case CSR_frm: *value = hart->frm; return true;
    case CSR_fcsr: *value = (uint64_t)hart->frm << FCSR_FRM_SHIFT | hart->fflags; return true;
    case CSR_cycle:
    case CSR_time:
    case CSR_instret: *value = hart->instret; return true;
    default: return false;
    }
}

bool csr_write(struct hart *hart, unsigned number, uint64_t value)
{
    if (read_only(number))
        return false;
    switch (number) {
    case CSR_fflags: hart->fflags = value & FCSR_FLAGS; return true;
    case CSR_frm: hart->frm = value & FRM_MASK; return true;
    case CSR_fcsr:
        hart->fflags = value & FCSR_FLAGS;
        hart->frm = value >> FCSR_FRM_SHIFT & FRM_MASK;
        return true;
    default: return false;
    }
}
