#include "emu/core/energy.h"

static const uint8_t unit_of[CLASS_COUNT] = {
    [CLASS_ALU] = CORE_ALU,      [CLASS_MUL] = CORE_MUL,      [CLASS_DIV] = CORE_MUL,
    [CLASS_LOAD] = CORE_ALU,     [CLASS_STORE] = CORE_ALU,    [CLASS_BRANCH] = CORE_ALU,
    [CLASS_JUMP] = CORE_ALU,     [CLASS_AMO] = CORE_ALU,      [CLASS_FLOAD] = CORE_ALU,
    [CLASS_FSTORE] = CORE_ALU,   [CLASS_FADD] = CORE_FPU,     [CLASS_FMUL] = CORE_FPU,
    [CLASS_FMA] = CORE_FPU,      [CLASS_FDIV] = CORE_FPU,     [CLASS_FSQRT] = CORE_FPU,
    [CLASS_FCVT] = CORE_FPU,     [CLASS_FMISC] = CORE_FPU,    [CLASS_CSR] = CORE_ALU,
    [CLASS_FENCE] = CORE_UNITS,  [CLASS_SYSTEM] = CORE_UNITS, [CLASS_HINT] = CORE_UNITS,
    [CLASS_CUSTOM] = CORE_UNITS,
};

/* Counting walks all blocks, so it is done once for each state of the hart. */
static void count(struct core_energy *energy)
{
    uint64_t classes[CLASS_COUNT] = {0}, uses[CORE_UNITS + 1] = {0};
    hart_count_classes(energy->hart, classes);
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        uses[unit_of[i]] += classes[i];
    for (unsigned i = 0; i < CORE_UNITS; i++)
        energy->uses[i] = uses[i];
    energy->instret = energy->hart->instret;
}

static uint64_t read_uses(const void *context)
{
    const struct core_energy_unit *unit = context;
    if (unit->energy->instret != unit->energy->hart->instret)
        count(unit->energy);
    return unit->energy->uses[unit->unit];
}

void core_energy_init(struct core_energy *energy, const struct hart *hart, uint64_t alu, uint64_t mul,
                      uint64_t fpu)
{
    *energy = (struct core_energy){.hart = hart, .use = {alu, mul, fpu}, .instret = UINT64_MAX};
    for (unsigned i = 0; i < CORE_UNITS; i++)
        energy->units[i] = (struct core_energy_unit){energy, (enum core_unit)i};
}

void core_energy_add(struct core_energy *energy, struct energy_ledger *ledger, struct scope scope)
{
    static const struct {
        const char *name, *source;
    } rows[CORE_UNITS] = {
        {"alu",
         "Integer, memory and control instructions: McPAT, logic.cc, 45 nm, 1.0 V: 85 pJ; embedded 14 pJ"},
        {"mul",
         "Integer multiplications and divisions: McPAT, logic.cc, 45 nm, 1.0 V: 170 pJ; embedded 28 pJ"},
        {"fpu", "Floating-point arithmetic: McPAT, logic.cc, 45 nm, 1.0 V: 255 pJ; embedded 43 pJ"},
    };
    for (unsigned i = 0; i < CORE_UNITS; i++)
        if (energy->use[i])
            energy_add(ledger, scope,
                       &(struct energy_account){.name = rows[i].name,
                                                .read = read_uses,
                                                .context = &energy->units[i],
                                                .unit = energy->use[i],
                                                .kind = ENERGY_PER_EVENT,
                                                .source = rows[i].source});
}
