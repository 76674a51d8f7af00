#include "emu/env/gdb/hart.h"

#include "emu/hart/probe.h"

_Static_assert((unsigned)GDB_WATCH_READ == (unsigned)HART_WATCH_READ, "the sets of accesses agree");
_Static_assert((unsigned)GDB_WATCH_WRITE == (unsigned)HART_WATCH_WRITE, "the sets of accesses agree");

void gdb_facts_statistics(const struct gdb_facts *facts, const char *pattern, FILE *out)
{
    if (!facts->stats)
        fputs("no statistics are available\n", out);
    else if (stats_print(facts->stats, pattern, out) == 0 && pattern)
        fprintf(out, "no statistic's name matches '%s'; * stands for any characters\n", pattern);
}

void gdb_facts_machine(const struct gdb_facts *facts, FILE *out)
{
    if (facts->machine)
        machine_show(facts->machine, out);
    else
        fputs("no machine description is available\n", out);
}

bool gdb_hart_read(const struct hart *hart, unsigned number, uint64_t *value)
{
    if (number < GDB_REGISTER_PC)
        *value = hart->x[number];
    else if (number == GDB_REGISTER_PC)
        *value = hart->pc;
    else if (number < GDB_REGISTER_CSR)
        *value = hart->f[number - GDB_REGISTER_F];
    else if (number < GDB_REGISTER_PRIV)
        return hart_csr_peek(hart, number - GDB_REGISTER_CSR, value);
    else if (number == GDB_REGISTER_PRIV)
        *value = hart->privilege;
    else
        return false;
    return true;
}

static bool write_pc(struct hart *hart, uint64_t value)
{
    if (value % 2 != 0)
        return false;
    hart->pc = value;
    return true;
}

static bool write_privilege(struct hart *hart, uint64_t value)
{
    if (!hart->privileged)
        return value == hart->privilege;
    if (value != PRIV_U && value != PRIV_S && value != PRIV_M)
        return false;
    hart->privilege = (uint8_t)value;
    priv_changed(hart);
    return true;
}

bool gdb_hart_write(struct hart *hart, unsigned number, uint64_t value)
{
    if (number == GDB_REGISTER_X)
        return true;
    if (number < GDB_REGISTER_PC)
        hart->x[number] = value;
    else if (number == GDB_REGISTER_PC)
        return write_pc(hart, value);
    else if (number < GDB_REGISTER_CSR)
        hart->f[number - GDB_REGISTER_F] = value;
    else if (number < GDB_REGISTER_PRIV)
        return hart_csr_poke(hart, number - GDB_REGISTER_CSR, value);
    else
        return number == GDB_REGISTER_PRIV && write_privilege(hart, value);
    return true;
}

bool gdb_harts_memory_read(const struct hart *harts, unsigned index, uint64_t address, void *to,
                           size_t length)
{
    return hart_memory_read(&harts[index], address, to, length);
}

bool gdb_harts_memory_write(struct hart *harts, unsigned count, unsigned index, uint64_t address,
                            const void *from, size_t length)
{
    bool written = hart_memory_write(&harts[index], address, from, length);
    /* Even a partial write may have changed code that other harts have predecoded. */
    for (unsigned i = 0; i < count; i++)
        hart_flush_code(&harts[i]);
    return written;
}

bool gdb_harts_breakpoint(struct hart *harts, unsigned count, bool insert, uint64_t address)
{
    bool done = true;
    for (unsigned i = 0; i < count; i++)
        done &= insert ? hart_breakpoint_add(&harts[i], address) : hart_breakpoint_remove(&harts[i], address);
    for (unsigned i = 0; i < count && insert && !done; i++)
        (void)hart_breakpoint_remove(&harts[i], address);
    return done;
}

bool gdb_harts_watchpoint(struct hart *harts, unsigned count, bool insert, uint64_t address, uint64_t length,
                          unsigned kinds)
{
    unsigned added = 0;
    bool done = true;
    for (unsigned i = 0; i < count && !insert; i++)
        done &= hart_watchpoint_remove(&harts[i], address, length, kinds);
    while (insert && added < count && hart_watchpoint_add(&harts[added], address, length, kinds))
        added++;
    if (!insert || added == count)
        return done;
    while (added > 0)
        (void)hart_watchpoint_remove(&harts[--added], address, length, kinds);
    return false;
}
