/* A hart with a little memory for unit tests, and functions that assemble instructions. */
#ifndef TESTS_HART_FIXTURE_H
#define TESTS_HART_FIXTURE_H

#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/hart/step.h"
#include "tests/isa/encode.h"

#define FIXTURE_BASE UINT64_C(0x80000000)
#define FIXTURE_DATA UINT64_C(0x80008000)

struct fixture {
    struct hart hart;
    struct phys memory;
    struct decoder *decoder;
    uint64_t at; /* address of the next instruction */
};

/* How to execute: hart_run() with base or AVX2 handlers, or hart_step(). */
enum fixture_way { FIXTURE_RUN, FIXTURE_RUN_V3, FIXTURE_STEP, FIXTURE_WAYS };

/* Makes a hart at FIXTURE_BASE with `size` bytes of memory; ends the test program on failure. */
void fixture_init(struct fixture *f, uint64_t size);
void fixture_free(struct fixture *f);

/* Clears registers but not counts, sets pc and the assembler to FIXTURE_BASE, and drops predecoded code. */
void fixture_restart(struct fixture *f);

/* Assemble an instruction at f->at and advance f->at. */
void fixture_word(struct fixture *f, uint32_t bits);
void fixture_narrow(struct fixture *f, uint16_t bits);
void fixture_row(struct fixture *f, enum insn_id id, struct operands operands);
void fixture_jump(struct fixture *f, uint8_t rd, uint64_t target);

/* Assembles a function that sets a1 to (a1 + 3)^2, and a jump over it. Returns its address. */
uint64_t fixture_function(struct fixture *f);

uint64_t fixture_read(const struct fixture *f, uint64_t address, unsigned size);
void fixture_write(struct fixture *f, uint64_t address, unsigned size, uint64_t value);

/* Executes up to `limit` instructions. Uses FIXTURE_RUN if this host lacks the handlers of `way`. */
enum hart_stop fixture_run(struct fixture *f, enum fixture_way way, uint64_t limit);

/* The sum of the instruction counts by class. */
uint64_t fixture_class_sum(const struct fixture *f);

#endif
