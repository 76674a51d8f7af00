/* Two equal machines of one privileged hart, of which one runs compiled code and the other one steps. */
#ifndef TESTS_JIT_TWINS_H
#define TESTS_JIT_TWINS_H

#include "emu/jit/jit.h"
#include "emu/mem/phys/bus.h"
#include "tests/hart/fixture.h"

enum { TWINS_DEVICE = 0x10000000 }; /* address of the device */

struct twin {
    struct fixture f;
    struct bus bus;
    uint64_t device; /* what the device knows */
};

struct twins {
    struct twin run, step;
    struct jit *jit;
    uint64_t waits; /* wfi at which runs have stopped */
    uint32_t size;  /* of memory, in bytes */
};

/* Writes a machine's programs and tables, and sets up its hart, which is in supervisor mode; PMP entry 0 allows all. */
typedef void twin_writer(struct twin *m);

/* ops: of a page of device registers, whose device is the twins_machine. */
void twins_open(struct twins *twins, uint32_t size, const struct device_ops *ops, twin_writer *write,
                enum jit_mode mode);
void twins_close(struct twins *twins);

/* Address of a page of memory. */
uint64_t twins_page(unsigned page);

/* Appends an instruction at m->f.at. */
void twins_row(struct twin *m, enum insn_id id, struct operands operands);

/* Runs and steps `limit` instructions, over all wfi, at which both stop, and asserts that both machines are the same. */
void twins_runs(struct twins *twins, uint64_t limit);

/* Fails with the first difference that --jit=check finds. */
void twins_listen(struct twins *twins);

#endif
