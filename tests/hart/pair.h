/* A streamed hart and one that is stepped, on equal machines: what the stream lists is compared with what
 * each step reports. */
#ifndef TESTS_HART_PAIR_H
#define TESTS_HART_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/op.h"
#include "emu/hart/stream.h"
#include "emu/mem/bus.h"
#include "tests/isa/encode.h"

#define PAIR_BASE   UINT64_C(0x80000000)
#define PAIR_DEVICE UINT64_C(0x10000000)

struct pair_machine {
    struct phys memory;
    struct bus bus;
    struct hart hart;
    uint64_t device; /* the sum of what was written to the device, and one for each read */
    uint64_t hooked; /* calls of the hook */
};

struct pair {
    struct pair_machine run, step;
    struct stream stream;
    struct decoder *decoder;
    uint64_t at;         /* where pair_row() puts the next instruction: a virtual address */
    uint64_t mapped;     /* pages from PAIR_BASE on that pair_translate() has mapped */
    uint64_t listed;     /* instructions that batches have held */
    uint64_t stops;      /* batches that ended with STREAM_STOP */
    enum hart_stop stop; /* of the last step */
    unsigned interrupt;  /* taken by the last step */
};

/* Both harts start at PAIR_BASE, in machine mode if privileged, floating point Dirty. exec: the streamed
 * hart's handlers, or NULL for the host's best. Ends the test program when the host has no memory. */
void pair_init(struct pair *pair, uint64_t size, bool privileged, const struct exec_table *exec);
void pair_free(struct pair *pair);

/* Puts both harts into supervisor mode under Sv39, with `pages` pages from PAIR_BASE on mapped to physical
 * pages in reverse order and the device where it is. The tables lie behind them. */
void pair_translate(struct pair *pair, uint64_t pages);

/* The physical address that pair_translate() gives a virtual one. */
uint64_t pair_physical(const struct pair *pair, uint64_t address);

void pair_write(struct pair *pair, uint64_t address, const void *bytes, uint64_t length);
void pair_row(struct pair *pair, enum insn_id id, struct operands operands);

/* Sets a register, or pc, of both harts. */
void pair_set(struct pair *pair, unsigned reg, uint64_t value);
void pair_go(struct pair *pair, uint64_t pc);

/* One stream_run() of at most limit instructions, then, where it says so, one stream_step(), each compared
 * with hart_step(); also the state that they leave. Returns how the batch ended. */
enum stream_end pair_advance(struct pair *pair, uint64_t limit);

/* The same until the harts are at end, or an instruction has trapped, or fuel instructions have retired, with
 * the limits by turns. */
void pair_run(struct pair *pair, uint64_t end, const uint64_t *limits, unsigned limit_count, uint64_t fuel);

/* Fails unless memories, devices and counts by class are equal. */
void pair_compare(const struct pair *pair);

#endif
