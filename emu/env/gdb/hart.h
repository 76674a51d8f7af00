/* Access of a debugger to harts, by the register numbers of gdb_target.h. */
#ifndef EMU_ENV_GDB_HART_H
#define EMU_ENV_GDB_HART_H

#include "emu/debug/gdb_target.h"
#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/sim/report/stats.h"

/* Output of the monitor commands `statistics` and `machine`; each may be NULL. */
struct gdb_facts {
    struct stats *stats;
    const struct machine_config *machine;
};

void gdb_facts_statistics(const struct gdb_facts *facts, const char *pattern, FILE *out);
void gdb_facts_machine(const struct gdb_facts *facts, FILE *out);

/* Return false if there is no such register or it cannot take the value. Writing x0 does nothing. */
bool gdb_hart_read(const struct hart *hart, unsigned number, uint64_t *value);
bool gdb_hart_write(struct hart *hart, unsigned number, uint64_t value);

/* Access memory through the translation of harts[index]; all `count` harts share one memory. Return false if
 * some of the bytes are not mapped. */
bool gdb_harts_memory_read(const struct hart *harts, unsigned index, uint64_t address, void *to,
                           size_t length);
bool gdb_harts_memory_write(struct hart *harts, unsigned count, unsigned index, uint64_t address,
                            const void *from, size_t length);

/* Insert or remove a point in all harts. If one hart cannot insert it, it is inserted in none, and the result
 * is false. */
bool gdb_harts_breakpoint(struct hart *harts, unsigned count, bool insert, uint64_t address);
bool gdb_harts_watchpoint(struct hart *harts, unsigned count, bool insert, uint64_t address, uint64_t length,
                          unsigned kinds);

#endif
