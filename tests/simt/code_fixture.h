/* Memory for warps, and an instruction encoder, for tests that execute real instructions. */
#ifndef TESTS_SIMT_CODE_FIXTURE_H
#define TESTS_SIMT_CODE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/simt/warp.h"
#include "tests/isa/encode.h"

#define CODE_BASE UINT64_C(0x80000000)

struct code_fixture {
    struct phys phys;
    struct decoder *decoder;
    struct warp_memory memory;
    uint64_t at; /* address of the next instruction */
};

/* Creates `size` bytes of memory from CODE_BASE on. Sets memory and decoder of the setup. */
static inline void code_fixture_init(struct code_fixture *f, uint64_t size, struct warp_memory_setup setup)
{
    struct error err;
    f->decoder = decoder_new();
    assert_true(phys_init(&f->phys, CODE_BASE, size, &err));
    setup.memory = &f->phys;
    setup.decoder = f->decoder;
    assert_true(warp_memory_init(&f->memory, &setup, &err));
    f->at = CODE_BASE;
}

static inline void code_fixture_free(struct code_fixture *f)
{
    warp_memory_free(&f->memory);
    phys_free(&f->phys);
    decoder_free(f->decoder);
}

/* Writes an instruction at f->at and advances it. */
static inline void code_fixture_row(struct code_fixture *f, enum insn_id id, struct operands operands)
{
    uint32_t bits = encode(id, &operands);
    memcpy(phys_at(&f->phys, f->at, 4), &bits, 4);
    f->at += 4;
}

static inline uint64_t code_fixture_word(const struct code_fixture *f, uint64_t address)
{
    uint64_t value;
    memcpy(&value, phys_at(&f->phys, address, 8), 8);
    return value;
}

#endif
