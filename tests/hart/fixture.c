#include "tests/hart/fixture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/exec.h"

void fixture_init(struct fixture *f, uint64_t size)
{
    struct error err;
    memset(f, 0, sizeof *f);
    f->decoder = decoder_new();
    if (!phys_init(&f->memory, FIXTURE_BASE, size, &err) ||
        !hart_init(&f->hart, &f->memory, f->decoder, &err)) {
        fprintf(stderr, "fixture: %s\n", err.text);
        exit(1);
    }
    fixture_restart(f);
}

void fixture_free(struct fixture *f)
{
    hart_free(&f->hart);
    phys_free(&f->memory);
    decoder_free(f->decoder);
}

void fixture_restart(struct fixture *f)
{
    hart_flush_code(&f->hart);
    memset(f->hart.x, 0, sizeof f->hart.x);
    memset(f->hart.f, 0, sizeof f->hart.f);
    f->hart.fflags = 0;
    f->hart.frm = 0;
    f->hart.reserved = false;
    f->hart.pc = FIXTURE_BASE;
    f->at = FIXTURE_BASE;
}

static void put(struct fixture *f, uint32_t bits, unsigned length)
{
    fixture_write(f, f->at, length, bits);
    f->at += length;
}

void fixture_word(struct fixture *f, uint32_t bits)
{
    put(f, bits, 4);
}

void fixture_narrow(struct fixture *f, uint16_t bits)
{
    put(f, bits, 2);
}

void fixture_row(struct fixture *f, enum insn_id id, struct operands operands)
{
    put(f, encode(id, &operands), 4);
}

void fixture_jump(struct fixture *f, uint8_t rd, uint64_t target)
{
    fixture_row(f, INSN_jal, OP(.rd = rd, .imm = (int32_t)(target - f->at)));
}

uint64_t fixture_function(struct fixture *f)
{
    enum { A1 = 11, RET = 0x8082 };
    const uint64_t begin = f->at, function = begin + 8;
    fixture_jump(f, 0, begin + 32);
    f->at = function;
    fixture_row(f, INSN_addi, OP(.rd = A1, .rs1 = A1, .imm = 3));
    fixture_row(f, INSN_mul, OP(.rd = A1, .rs1 = A1, .rs2 = A1));
    fixture_narrow(f, RET);
    f->at = begin + 32;
    return function;
}

uint64_t fixture_read(const struct fixture *f, uint64_t address, unsigned size)
{
    uint64_t value = 0;
    const uint8_t *bytes = phys_at(&f->memory, address, size);
    assert(bytes && size <= 8);
    memcpy(&value, bytes, size);
    return value;
}

void fixture_write(struct fixture *f, uint64_t address, unsigned size, uint64_t value)
{
    uint8_t *bytes = phys_at(&f->memory, address, size);
    assert(bytes && size <= 8);
    memcpy(bytes, &value, size);
}

static enum hart_stop step(struct hart *hart, uint64_t limit)
{
    enum hart_stop stop = HART_STOP_LIMIT;
    for (; limit > 0 && stop == HART_STOP_LIMIT; limit--) {
        struct step_report report;
        stop = hart_step(hart, &report);
    }
    return stop;
}

enum hart_stop fixture_run(struct fixture *f, enum fixture_way way, uint64_t limit)
{
    if (way == FIXTURE_STEP)
        return step(&f->hart, limit);
    const struct exec_table *exec = way == FIXTURE_RUN_V3 ? exec_choose(false) : &exec_base;
    if (f->hart.tlb)
        exec = exec_paged(exec); /* the hart has run code in memory that it can store to */
    if (exec != f->hart.exec) {
        f->hart.exec = exec;
        hart_flush_code(&f->hart);
    }
    return hart_run(&f->hart, limit);
}

uint64_t fixture_class_sum(const struct fixture *f)
{
    uint64_t counts[CLASS_COUNT], sum = 0;
    hart_count_classes(&f->hart, counts);
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        sum += counts[i];
    return sum;
}
