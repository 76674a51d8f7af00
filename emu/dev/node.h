/* Writer for the nodes of a flattened device tree, used by devices. */
#ifndef EMU_DEV_NODE_H
#define EMU_DEV_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Interrupt numbers of a hart: bits of mip (privileged specification, section 3.1.9). */
enum { NODE_MSI = 3, NODE_MTI = 7, NODE_SEI = 9, NODE_MEI = 11 };

/* State of writing a device tree through libfdt's sequential-write functions. */
struct node_writer {
    void *blob;
    int status; /* libfdt's first error, or 0; after an error nothing more is written */
    uint32_t harts;
    bool routes; /* there is a PLIC, to which devices' interrupts go */
};

void node_begin(struct node_writer *writer, const char *name);
/* Begins a node named NAME@ADDRESS. */
void node_begin_at(struct node_writer *writer, const char *name, uint64_t address);
void node_end(struct node_writer *writer);

/* Write one property. */
void node_bytes(struct node_writer *writer, const char *name, const void *value, size_t size);
void node_flag(struct node_writer *writer, const char *name);
void node_text(struct node_writer *writer, const char *name, const char *value);
void node_cell(struct node_writer *writer, const char *name, uint32_t value);
void node_reg(struct node_writer *writer, uint64_t base, uint64_t size);
void node_cells(struct node_writer *writer, uint32_t address, uint32_t size);
/* Writes the node's interrupt number at the PLIC; writes nothing if there is no PLIC. */
void node_interrupt(struct node_writer *writer, uint64_t number);
/* As node_interrupt(), for `count` numbers from `first` on. */
void node_interrupts(struct node_writer *writer, uint64_t first, uint32_t count);
/* Writes interrupts-extended: two inputs, bits of mip, of each hart's interrupt controller. */
void node_hart_inputs(struct node_writer *writer, uint32_t first, uint32_t second);

/* Phandles of nodes that other nodes refer to. */
static inline uint32_t node_cpu_handle(uint32_t hart)
{
    return 1 + 2 * hart;
}

static inline uint32_t node_intc_handle(uint32_t hart)
{
    return 2 + 2 * hart;
}

static inline uint32_t node_plic_handle(const struct node_writer *writer)
{
    return 2 * writer->harts + 1;
}

static inline uint32_t node_finisher_handle(const struct node_writer *writer)
{
    return 2 * writer->harts + 2;
}

#endif
