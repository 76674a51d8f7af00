/* Nodes of a flattened device tree, as devices write theirs. */
#ifndef EMU_DEV_NODE_H
#define EMU_DEV_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of a hart's interrupts: bits of mip (privileged specification, section 3.1.9). */
enum { NODE_MSI = 3, NODE_MTI = 7, NODE_SEI = 9, NODE_MEI = 11 };

/* What is written, by libfdt's functions in order. */
struct node_writer {
    void *blob;
    int status; /* of libfdt: 0, or its first error, after which nothing is done any more */
    uint32_t harts;
    bool routes; /* there is a PLIC, which interrupts go to */
};

void node_begin(struct node_writer *writer, const char *name);
/* A node whose name ends in its address. */
void node_begin_at(struct node_writer *writer, const char *name, uint64_t address);
void node_end(struct node_writer *writer);

/* Properties. */
void node_bytes(struct node_writer *writer, const char *name, const void *value, size_t size);
void node_flag(struct node_writer *writer, const char *name);
void node_text(struct node_writer *writer, const char *name, const char *value);
void node_cell(struct node_writer *writer, const char *name, uint32_t value);
void node_reg(struct node_writer *writer, uint64_t base, uint64_t size);
void node_cells(struct node_writer *writer, uint32_t address, uint32_t size);
/* The node's interrupt at the PLIC; nothing without one. */
void node_interrupt(struct node_writer *writer, uint64_t number);
/* interrupts-extended: two inputs of each hart's interrupt controller, which are bits of mip. */
void node_hart_inputs(struct node_writer *writer, uint32_t first, uint32_t second);

/* Handles of nodes that others name. */
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
