#include "emu/core/report/energy.h"

/* Maps enum insn_unit to enum core_functional_unit. The ALU computes the addresses of memory instructions. */
static const uint8_t unit_of[] = {
    [UNIT_NONE] = CORE_FUNCTIONAL_UNITS,
    [UNIT_INTEGER] = CORE_ALU,
    [UNIT_MULTIPLY] = CORE_MUL,
    [UNIT_MEMORY] = CORE_ALU,
    [UNIT_FLOAT] = CORE_FPU,
};

/* Counting walks all blocks, so count only if the hart has executed since the last count. */
static void count(struct core_energy *energy)
{
    uint64_t classes[CLASS_COUNT] = {0}, uses[CORE_FUNCTIONAL_UNITS + 1] = {0};
    hart_count_classes(energy->hart, classes);
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        uses[unit_of[class_table[i].unit]] += classes[i];
    for (unsigned i = 0; i < CORE_FUNCTIONAL_UNITS; i++)
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
    for (unsigned i = 0; i < CORE_FUNCTIONAL_UNITS; i++)
        energy->units[i] = (struct core_energy_unit){energy, (enum core_functional_unit)i};
}

void core_energy_add(struct core_energy *energy, struct energy_ledger *ledger, struct scope scope)
{
    static const struct {
        const char *name, *field;
    } rows[CORE_FUNCTIONAL_UNITS] = {{"alu", "energy_alu"}, {"mul", "energy_mul"}, {"fpu", "energy_fpu"}};
    for (unsigned i = 0; i < CORE_FUNCTIONAL_UNITS; i++)
        if (energy->use[i])
            energy_add(ledger, scope,
                       &(struct energy_account){.name = rows[i].name,
                                                .read = read_uses,
                                                .context = &energy->units[i],
                                                .unit = energy->use[i],
                                                .kind = ENERGY_PER_EVENT,
                                                .fields = rows[i].field,
                                                .group = "cores"});
}
