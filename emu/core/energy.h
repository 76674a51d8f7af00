/* The energy of a core's instructions by class: each uses one functional unit, whose use costs energy.
 *
 * Loads, stores, atomics, jumps and branches use the ALU, for their addresses and comparisons; fences, system instructions
 * and hints use nothing. The counts are those of the hart's blocks, so that executing costs nothing more. Caches and TLBs
 * have accounts of their own. Left out: what an idle core takes, the reorder buffer and what was executed in vain.
 */
#ifndef EMU_CORE_ENERGY_H
#define EMU_CORE_ENERGY_H

#include "emu/hart/hart.h"
#include "emu/sim/energy.h"

enum core_unit { CORE_ALU, CORE_MUL, CORE_FPU, CORE_UNITS };

/* Of one core; private. */
struct core_energy {
    const struct hart *hart;
    uint64_t use[CORE_UNITS]; /* fJ of one */
    uint64_t instret;         /* of the hart when `uses` were counted; UINT64_MAX: never */
    uint64_t uses[CORE_UNITS];
    struct core_energy_unit {
        struct core_energy *energy;
        enum core_unit unit;
    } units[CORE_UNITS];
};

/* Nothing is counted yet. The struct must stay where it is. */
void core_energy_init(struct core_energy *energy, const struct hart *hart, uint64_t alu, uint64_t mul,
                      uint64_t fpu);

/* Opens the accounts "alu", "mul" and "fpu" of those units whose use costs something. */
void core_energy_add(struct core_energy *energy, struct energy_ledger *ledger, struct scope scope);

#endif
