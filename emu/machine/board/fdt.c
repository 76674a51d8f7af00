#include "emu/machine/board/fdt.h"

#include <errno.h>
#include <inttypes.h>
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/dev/timebase.h"
#include "emu/hart/access.h"
#include "emu/hart/priv.h"
#include "emu/schema/assembly.h"
#include "emu/sim/alloc.h"
#include "isa/decoder/set.h"

enum {
    ROOM_FIRST = 64 << 10,
    ROOM_LAST = 4 << 20,
};

/* The harts' extensions, as the devicetree binding riscv/extensions.yaml has them. */
static void extensions(struct node_writer *writer, uint64_t set)
{
    char text[ISA_STRING], name[INSN_NAME_SIZE];
    size_t used = 0;
    isa_string(set, text);
    node_text(writer, "riscv,isa", text);
    for (unsigned e = 0; e < EXTENSION_COUNT; e++)
        if (isa_has(set, (enum insn_extension)e) && isa_extension_text((enum insn_extension)e, name)) {
            memcpy(text + used, name,
                   strlen(name) + 1); /* shorter than the string, which has the base as well */
            used += strlen(name) + 1;
        }
    node_text(writer, "riscv,isa-base", "rv64i");
    node_bytes(writer, "riscv,isa-extensions", text, used);
    if (isa_has(set, EXTENSION_Zicbom))
        node_cell(writer, "riscv,cbom-block-size", CACHE_BLOCK);
    if (isa_has(set, EXTENSION_Zicbop))
        node_cell(writer, "riscv,cbop-block-size", CACHE_BLOCK);
    if (isa_has(set, EXTENSION_Zicboz))
        node_cell(writer, "riscv,cboz-block-size", CACHE_BLOCK);
}

static void cpu(struct node_writer *writer, uint32_t hart, uint64_t set)
{
    node_begin_at(writer, "cpu", hart);
    node_cell(writer, "phandle", node_cpu_handle(hart));
    node_text(writer, "device_type", "cpu");
    node_cell(writer, "reg", hart);
    node_text(writer, "status", "okay");
    node_text(writer, "compatible", "riscv");
    extensions(writer, set);
    node_text(writer, "mmu-type", "riscv,sv48");
    node_begin(writer, "interrupt-controller");
    node_cell(writer, "#interrupt-cells", 1);
    node_flag(writer, "interrupt-controller");
    node_text(writer, "compatible", "riscv,cpu-intc");
    node_cell(writer, "phandle", node_intc_handle(hart));
    node_end(writer);
    node_end(writer);
}

static void cpus(struct node_writer *writer, uint64_t set)
{
    node_begin(writer, "cpus");
    node_cells(writer, 1, 0);
    node_cell(writer, "timebase-frequency", TIMEBASE_HZ);
    for (uint32_t hart = 0; hart < writer->harts; hart++)
        cpu(writer, hart, set);
    node_begin(writer, "cpu-map");
    node_begin(writer, "cluster0");
    for (uint32_t hart = 0; hart < writer->harts; hart++) {
        char name[16];
        (void)snprintf(name, sizeof name, "core%" PRIu32, hart);
        node_begin(writer, name);
        node_cell(writer, "cpu", node_cpu_handle(hart));
        node_end(writer);
    }
    node_end(writer);
    node_end(writer);
    node_end(writer);
}

/* Returns the extension of a device's kind, or NULL if the part is absent or not a device. */
static const struct device_kind *device_of(const struct instance *part)
{
    return part->absent ? NULL : part->kind->extension;
}

/* The accelerators' harts are not in the tree: a kernel sees a device that takes tasks. */
static void task_units(struct node_writer *writer, const struct tasks_node *units)
{
    node_begin_at(writer, units->name, units->base);
    node_text(writer, "compatible", units->compatible);
    node_reg(writer, units->base, units->size);
    node_interrupts(writer, units->interrupt, units->units);
    node_cell(writer, "undercroft,units", units->units);
    node_cell(writer, "undercroft,queue-lines", units->queue_lines);
    node_cell(writer, "undercroft,capabilities", units->capabilities);
    node_end(writer);
}

static void soc(struct node_writer *writer, const struct instance *devices, const struct tasks_node *units)
{
    node_begin(writer, "soc");
    node_cells(writer, 2, 2);
    node_text(writer, "compatible", "simple-bus");
    node_flag(writer, "ranges");
    for (const struct instance *part = devices->first; part; part = part->next)
        if (device_of(part) && device_of(part)->describe)
            device_of(part)->describe(writer, part->config);
    if (units)
        task_units(writer, units);
    node_end(writer);
}

static void uses(struct node_writer *writer, const struct instance *devices)
{
    for (const struct instance *part = devices->first; part; part = part->next)
        if (device_of(part) && device_of(part)->describe_use)
            device_of(part)->describe_use(writer);
}

static void chosen(struct node_writer *writer, const struct machine_config *config, const char *bootargs)
{
    char path[64];
    node_begin(writer, "chosen");
    if (config->devices.uart) {
        (void)snprintf(path, sizeof path, "/soc/serial@%" PRIx64, config->devices.uart->base);
        node_text(writer, "stdout-path", path);
    }
    if (bootargs)
        node_text(writer, "bootargs", bootargs);
    node_end(writer);
}

/* Memory of a mechanism: the kernel leaves it alone, and a driver finds it. */
static void reserved(struct node_writer *writer, const struct machine_config *config)
{
    const uint32_t handle = node_finisher_handle(writer) + 1;
    const struct instance *part = assembly_reserver(config->tree, NULL);
    struct assembly_pieces pieces;
    uint64_t first, end;
    if (!part || !part->kind->hooks->describes ||
        !part->kind->hooks->describes(config->tree, part->config, &pieces))
        return;
    assembly_reserved(part, config->memory->base, &first, &end);
    node_begin(writer, "reserved-memory");
    node_cells(writer, 2, 2);
    node_flag(writer, "ranges");
    node_begin_at(writer, part->kind->name, first);
    node_cell(writer, "phandle", handle);
    node_reg(writer, first, end - first);
    node_flag(writer, "no-map");
    node_end(writer);
    node_end(writer);
    node_begin(writer, part->kind->name);
    node_text(writer, "compatible", pieces.compatible);
    node_cell(writer, "memory-region", handle);
    node_cell(writer, "undercroft,units", pieces.units);
    node_cell(writer, "undercroft,together", pieces.together);
    node_cell(writer, "undercroft,piece", (uint32_t)pieces.piece);
    node_end(writer);
}

static void root(struct node_writer *writer, const struct machine_config *config,
                 const struct tasks_node *units, const char *bootargs)
{
    node_begin(writer, "");
    node_cells(writer, 2, 2);
    node_text(writer, "compatible", "riscv-virtio");
    node_text(writer, "model", "undercroft");
    chosen(writer, config, bootargs);
    node_begin_at(writer, "memory", config->memory->base);
    node_text(writer, "device_type", "memory");
    node_reg(writer, config->memory->base, config->memory->size);
    node_end(writer);
    reserved(writer, config);
    cpus(writer, config->isa);
    soc(writer, tree_find(config->tree, "devices"), units);
    uses(writer, tree_find(config->tree, "devices"));
    node_end(writer);
}

/* Builds the tree in blob[room]. Returns libfdt's status. */
static int build(const struct machine_config *config, const struct tasks_node *units, const char *bootargs,
                 void *blob, int room)
{
    struct node_writer writer = {.blob = blob, .harts = config->harts, .routes = config->devices.plic};
    writer.status = fdt_create(blob, room);
    if (!writer.status)
        writer.status = fdt_finish_reservemap(blob);
    root(&writer, config, units, bootargs);
    return writer.status ? writer.status : fdt_finish(blob);
}

void *machine_fdt(const struct machine_config *config, const struct tasks_node *units, const char *bootargs,
                  size_t *size, struct error *err)
{
    int status = -FDT_ERR_NOSPACE;
    for (int room = ROOM_FIRST; status == -FDT_ERR_NOSPACE && room <= ROOM_LAST; room *= 2) {
        void *blob = alloc(1, (size_t)room);
        status = build(config, units, bootargs, blob, room);
        *size = fdt_totalsize(blob);
        if (status == 0)
            return blob;
        free(blob);
    }
    (void)error_set(err, "cannot build the device tree: %s%s", fdt_strerror(status),
                    status == -FDT_ERR_NOSPACE ? "; shorten the kernel's command line" : "");
    return NULL;
}

/* Makes the changes in a blob with room for them. Returns libfdt's status. */
static int choose(void *blob, const struct fdt_chosen *chosen)
{
    int node = fdt_path_offset(blob, "/chosen");
    if (node == -FDT_ERR_NOTFOUND)
        node = fdt_add_subnode(blob, 0, "chosen");
    if (node < 0)
        return node;
    const char *arguments = chosen->arguments;
    int status = arguments ? fdt_setprop(blob, node, "bootargs", arguments, (int)strlen(arguments) + 1) : 0;
    if (status == 0 && chosen->initrd_end > chosen->initrd_first) {
        status = fdt_setprop_u64(blob, node, "linux,initrd-start", chosen->initrd_first);
        if (status == 0)
            status = fdt_setprop_u64(blob, node, "linux,initrd-end", chosen->initrd_end);
    }
    return status;
}

void *fdt_choose(void *blob, size_t *size, const struct fdt_chosen *chosen, struct error *err)
{
    enum { PROPERTIES = 1024 /* bytes: enough for a node and three properties without the text */ };
    size_t room = *size + PROPERTIES + (chosen->arguments ? strlen(chosen->arguments) : 0);
    void *wide = alloc(1, room);
    int status = fdt_open_into(blob, wide, (int)room);
    if (status == 0)
        status = choose(wide, chosen);
    if (status == 0)
        status = fdt_pack(wide);
    if (status != 0) {
        free(wide);
        (void)error_set(err, "cannot change the device tree: %s", fdt_strerror(status));
        return NULL;
    }
    *size = fdt_totalsize(wide);
    free(blob);
    return wide;
}

void *fdt_read(const char *path, size_t *size, struct error *err)
{
    uint8_t *blob = alloc(1, ROOM_LAST + 1);
    FILE *file = fopen(path, "rbe");
    *size = file ? fread(blob, 1, ROOM_LAST + 1, file) : 0;
    const char *reason = !file || ferror(file) ? strerror(errno)
                         : *size > ROOM_LAST   ? "larger than 4 MiB"
                         : fdt_check_full(blob, *size) != 0
                             ? "not a flattened device tree (the output of dtc -O dtb)"
                             : NULL;
    if (file)
        (void)fclose(file);
    if (!reason) {
        *size = fdt_totalsize(blob);
        return blob;
    }
    (void)error_set(err, "%s: %s", path, reason);
    free(blob);
    return NULL;
}
