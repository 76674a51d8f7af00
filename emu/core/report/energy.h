/* The energy of a core's instructions by class: each instruction uses one functional unit, and each use costs energy.
 *
 * Loads, stores, atomics, jumps and branches use the ALU, for addresses and comparisons; fences, system
 * instructions and hints use no unit. The counts come from the hart's blocks, so counting does not slow down
 * execution. Caches and TLBs have their own accounts. Not modelled: the energy of idle cores, reorder buffer
 * and squashed instructions. */
#ifndef EMU_CORE_REPORT_ENERGY_H
#define EMU_CORE_REPORT_ENERGY_H

#include "emu/hart/hart.h"
#include "emu/sim/report/energy.h"

enum core_functional_unit { CORE_ALU, CORE_MUL, CORE_FPU, CORE_FUNCTIONAL_UNITS };

/* The energy counters of one core; private. */
struct core_energy {
    const struct hart *hart;
    uint64_t use[CORE_FUNCTIONAL_UNITS]; /* fJ of one use */
    uint64_t instret;                    /* the hart's instret when `uses` were counted; UINT64_MAX: never */
    uint64_t uses[CORE_FUNCTIONAL_UNITS];
    struct core_energy_unit {
        struct core_energy *energy;
        enum core_functional_unit unit;
    } units[CORE_FUNCTIONAL_UNITS];
};

/* Initialises the counters with the energies of one use, in fJ. The struct must not move afterwards. */
void core_energy_init(struct core_energy *energy, const struct hart *hart, uint64_t alu, uint64_t mul,
                      uint64_t fpu);

/* Adds the accounts "alu", "mul" and "fpu", except those of units whose use costs nothing. */
void core_energy_add(struct core_energy *energy, struct energy_ledger *ledger, struct scope scope);

#endif
