#include "emu/dev/node.h"

#include <inttypes.h>
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

void node_begin(struct node_writer *writer, const char *name)
{
    if (!writer->status)
        writer->status = fdt_begin_node(writer->blob, name);
}

void node_begin_at(struct node_writer *writer, const char *name, uint64_t address)
{
    char full[64];
    (void)snprintf(full, sizeof full, "%s@%" PRIx64, name, address);
    node_begin(writer, full);
}

void node_end(struct node_writer *writer)
{
    if (!writer->status)
        writer->status = fdt_end_node(writer->blob);
}

void node_bytes(struct node_writer *writer, const char *name, const void *value, size_t size)
{
    if (!writer->status)
        writer->status = fdt_property(writer->blob, name, value, (int)size);
}

void node_flag(struct node_writer *writer, const char *name)
{
    node_bytes(writer, name, "", 0);
}

void node_text(struct node_writer *writer, const char *name, const char *value)
{
    node_bytes(writer, name, value, strlen(value) + 1);
}

void node_cell(struct node_writer *writer, const char *name, uint32_t value)
{
    if (!writer->status)
        writer->status = fdt_property_u32(writer->blob, name, value);
}

void node_reg(struct node_writer *writer, uint64_t base, uint64_t size)
{
    fdt64_t value[2] = {cpu_to_fdt64(base), cpu_to_fdt64(size)};
    node_bytes(writer, "reg", value, sizeof value);
}

void node_cells(struct node_writer *writer, uint32_t address, uint32_t size)
{
    node_cell(writer, "#address-cells", address);
    node_cell(writer, "#size-cells", size);
}

void node_interrupt(struct node_writer *writer, uint64_t number)
{
    node_interrupts(writer, number, 1);
}

void node_interrupts(struct node_writer *writer, uint64_t first, uint32_t count)
{
    if (!writer->routes)
        return;
    fdt32_t *value = alloc(count, sizeof *value);
    for (uint32_t i = 0; i < count; i++)
        value[i] = cpu_to_fdt32((uint32_t)first + i);
    node_bytes(writer, "interrupts", value, count * sizeof *value);
    free(value);
    node_cell(writer, "interrupt-parent", node_plic_handle(writer));
}

void node_hart_inputs(struct node_writer *writer, uint32_t first, uint32_t second)
{
    fdt32_t *value = alloc(4 * (size_t)writer->harts, sizeof *value);
    for (uint32_t hart = 0; hart < writer->harts; hart++) {
        fdt32_t *at = &value[4 * hart];
        at[0] = at[2] = cpu_to_fdt32(node_intc_handle(hart));
        at[1] = cpu_to_fdt32(first);
        at[3] = cpu_to_fdt32(second);
    }
    node_bytes(writer, "interrupts-extended", value, 4 * sizeof *value * writer->harts);
    free(value);
}
