/* A streamed hart and a stepped hart on equal machines: compares the stream's entries with the reports of the steps. */
#ifndef TESTS_HART_PAIR_H
#define TESTS_HART_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/exec.h"
#include "emu/hart/stream.h"
#include "emu/mem/phys/bus.h"
#include "tests/isa/encode.h"

#define PAIR_BASE   UINT64_C(0x80000000)
#define PAIR_DATA   (PAIR_BASE + 0x8000) /* unprivileged harts can store from the page before on */
#define PAIR_DEVICE UINT64_C(0x10000000)

struct pair_machine {
    struct phys memory;
    struct bus bus;
    struct hart hart;
    uint64_t device; /* sum of the values written to the device, plus one for each read */
    uint64_t hooked; /* calls of the hook */
};

struct pair {
    struct pair_machine run, step;
    struct stream stream;
    struct decoder *decoder;
    uint64_t at;         /* virtual address of the next instruction that pair_row() emits */
    uint64_t mapped;     /* pages from PAIR_BASE on mapped by pair_translate() */
    uint64_t listed;     /* instructions in batches */
    uint64_t stops;      /* batches that ended with STREAM_STOP */
    enum hart_stop stop; /* of the last step */
    unsigned interrupt;  /* taken by the last step */
};

/* Both harts start at PAIR_BASE, in machine mode if privileged, floating point Dirty. exec: the streamed
 * hart's handlers, or NULL for the host's best. Ends the test program when the host has no memory. */
void pair_init(struct pair *pair, uint64_t size, bool privileged, const struct exec_table *exec);
void pair_free(struct pair *pair);

/* Puts both harts into supervisor mode under Sv39: `pages` pages from PAIR_BASE on map to physical pages in reverse
 * order, and the device to itself. The tables lie after the pages. */
void pair_translate(struct pair *pair, uint64_t pages);

/* Returns the physical address to which pair_translate() maps a virtual one. */
uint64_t pair_physical(const struct pair *pair, uint64_t address);

void pair_write(struct pair *pair, uint64_t address, const void *bytes, uint64_t length);
void pair_row(struct pair *pair, enum insn_id id, struct operands operands);

/* Sets a register, or pc, of both harts. */
void pair_set(struct pair *pair, unsigned reg, uint64_t value);
void pair_go(struct pair *pair, uint64_t pc);

/* Calls stream_run() for at most limit instructions and, if that asks for it, stream_step(), and compares each with
 * hart_step(), including the resulting state. Returns how the batch ended. */
enum stream_end pair_advance(struct pair *pair, uint64_t limit);

/* Repeats pair_batch() with the limits in turn until the harts are at end, an instruction has trapped, or fuel
 * instructions have retired. */
void pair_run(struct pair *pair, uint64_t end, const uint64_t *limits, unsigned limit_count, uint64_t fuel);

/* Fails unless memories, devices and counts by class are equal. */
void pair_compare(const struct pair *pair);

#endif
