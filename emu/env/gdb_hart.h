/* What a debugger sees and changes in harts, by the register numbers of gdb_target.h. */
#ifndef EMU_ENV_GDB_HART_H
#define EMU_ENV_GDB_HART_H

#include "emu/debug/gdb_target.h"
#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/sim/stats.h"

/* What the monitor commands of these names show; each may be NULL. */
struct gdb_facts {
    struct stats *stats;
    const struct machine_config *machine;
};

void gdb_facts_statistics(const struct gdb_facts *facts, FILE *out);
void gdb_facts_machine(const struct gdb_facts *facts, FILE *out);

/* False when there is no such register, or it cannot take the value. Writing x0 does nothing. */
bool gdb_hart_read(const struct hart *hart, unsigned number, uint64_t *value);
bool gdb_hart_write(struct hart *hart, unsigned number, uint64_t value);

/* For harts[count], which share one memory: through the translation of harts[index]. */
bool gdb_harts_memory_read(const struct hart *harts, unsigned index, uint64_t address, void *to,
                           size_t length);
bool gdb_harts_memory_write(struct hart *harts, unsigned count, unsigned index, uint64_t address,
                            const void *from, size_t length);

/* Inserts or removes a point in all harts; when one cannot insert it, in none. */
bool gdb_harts_breakpoint(struct hart *harts, unsigned count, bool insert, uint64_t address);
bool gdb_harts_watchpoint(struct hart *harts, unsigned count, bool insert, uint64_t address, uint64_t length,
                          unsigned kinds);

#endif
