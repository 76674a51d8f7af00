#include "emu/debug/gdb/description.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "isa/csr.h"
#include "isa/disasm.h"

enum { RA = 1, SP = 2, GP = 3, TP = 4, FP = 8, REGIONS_MOST = 256 };

static const struct {
    const char *name;
    unsigned number;
} csrs[] = {
#define CSR(name, number, ...) {#name, number},
#include "isa/csr.def"
};

static const char *x_type(unsigned number)
{
    switch (number) {
    case RA: return "code_ptr";
    case SP:
    case GP:
    case TP:
    case FP: return "data_ptr";
    default: return "int";
    }
}

static void write_register(FILE *out, const char *name, const char *type, unsigned number)
{
    fprintf(out, "    <reg name=\"%s\" bitsize=\"64\" type=\"%s\" regnum=\"%u\"/>\n", name, type, number);
}

/* Writes a register that gdb must not save and restore around inferior calls, because writing it can have
 * side effects. */
static void write_special(FILE *out, const char *name, unsigned number)
{
    fprintf(out, "    <reg name=\"%s\" bitsize=\"64\" type=\"int\" regnum=\"%u\" save-restore=\"no\"/>\n",
            name, number);
}

static void write_csrs(FILE *out, unsigned first, unsigned last)
{
    for (size_t i = 0; i < sizeof csrs / sizeof csrs[0]; i++) {
        if (csrs[i].number >= first && csrs[i].number <= last)
            write_special(out, csrs[i].name, GDB_REGISTER_CSR + csrs[i].number);
    }
}

char *gdb_description_new(size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        alloc_failed();
    fputs(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
        /* no operating system: for Linux, gdb's default, it would step by breakpoints, which misses traps */
        "  <architecture>riscv:rv64</architecture>\n  <osabi>none</osabi>\n  <feature "
        "name=\"org.gnu.gdb.riscv.cpu\">\n",
        out);
    for (unsigned i = 0; i < 32; i++)
        write_register(out, register_name[i], x_type(i), GDB_REGISTER_X + i);
    write_register(out, "pc", "code_ptr", GDB_REGISTER_PC);
    fputs("  </feature>\n  <feature name=\"org.gnu.gdb.riscv.fpu\">\n", out);
    for (unsigned i = 0; i < 32; i++)
        write_register(out, fp_register_name[i], "ieee_double", GDB_REGISTER_F + i);
    write_csrs(out, 0, CSR_fcsr);
    fputs("  </feature>\n  <feature name=\"org.gnu.gdb.riscv.csr\">\n", out);
    /* Skip the CSRs of multiprocessor threads: no hart has them. */
    write_csrs(out, CSR_fcsr + 1, CSR_sbarrier - 1);
    write_csrs(out, CSR_sbarrier + 1, CSR_sthread_x - 1);
    write_csrs(out, CSR_sdma + 1, 0xfff);
    fputs("  </feature>\n  <feature name=\"org.gnu.gdb.riscv.virtual\">\n", out);
    write_special(out, "priv", GDB_REGISTER_PRIV);
    fputs("  </feature>\n</target>\n", out);
    if (fclose(out) != 0)
        alloc_failed();
    return text;
}

/* Writes a region. size 0: it reaches to the end of the address space. */
static void write_region(FILE *out, const char *type, uint64_t first, uint64_t size)
{
    fprintf(out, "  <memory type=\"%s\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64 "\"/>\n", type, first,
            size ? size : UINT64_MAX - first + 1);
}

char *gdb_memory_map_new(const struct gdb_target *target, size_t *length)
{
    struct gdb_region regions[REGIONS_MOST];
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        alloc_failed();
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory Map "
          "V1.0//EN\" "
          "\"http://sourceware.org/gdb/gdb-memory-map.dtd\">\n<memory-map>\n",
          out);
    uint64_t end = 0;
    unsigned count = target->ops->regions(target->target, regions, REGIONS_MOST);
    for (unsigned i = 0; i < count; i++) {
        const struct gdb_region *region = &regions[i];
        if (region->first > end)
            write_region(out, "ram", end, region->first - end);
        write_region(out, region->rom ? "rom" : "ram", region->first, region->size);
        end = region->first + region->size;
    }
    if (end || count == 0)
        write_region(out, "ram", end, 0);
    fputs("</memory-map>\n", out);
    if (fclose(out) != 0)
        alloc_failed();
    return text;
}
