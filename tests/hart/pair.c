#include "tests/hart/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/mmu.h"
#include "emu/hart/probe.h"

enum { PTE_V = 1, PTE_R = 2, PTE_W = 4, PTE_X = 8, PTE_A = 64, PTE_D = 128 };
enum { PTE_LEAF = PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D, TABLE_BYTES = 4096, GIB_BITS = 30 };

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    struct pair_machine *machine = device;
    (void)offset, (void)size;
    return ++machine->device & 0xff;
}

static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct pair_machine *machine = device;
    (void)offset, (void)size;
    machine->device += value;
}

static const struct device_ops device_ops = {.read = device_read, .write = device_write};

static void machine_init(struct pair_machine *m, uint64_t size, bool privileged,
                         const struct decoder *decoder)
{
    struct error err;
    const struct bus_region region = {PAIR_DEVICE,        MMU_PAGE,    BUS_ANY,
                                      .ops = &device_ops, .device = m, .name = "counter"};
    bool ok = phys_init(&m->memory, PAIR_BASE, size, &err) && hart_init(&m->hart, &m->memory, decoder, &err);
    bus_init(&m->bus, &m->memory);
    ok = ok && bus_add(&m->bus, &region, &err);
    if (ok && privileged) {
        ok = hart_init_privileged(&m->hart, &m->bus, 0, 1, &err);
        m->hart.priv.mstatus |= MSTATUS_FS;
        m->hart.priv.mcounteren = m->hart.priv.scounteren = UINT32_MAX;
        m->hart.priv.medeleg = 0xb3ff; /* supervisor mode takes its own traps, and stays */
        m->hart.priv.pmpcfg[0] = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
        m->hart.priv.pmpaddr[0] = (UINT64_C(1) << 54) - 1;
    }
    if (!ok) {
        fprintf(stderr, "pair: %s\n", err.text);
        exit(1);
    }
    hart_protect(&m->hart,
                 PAIR_DATA - MMU_PAGE); /* memory with code that can be stored to would need a TLB */
    m->hart.pc = PAIR_BASE;
}

void pair_init(struct pair *pair, uint64_t size, bool privileged, const struct exec_table *exec)
{
    struct error err;
    *pair = (struct pair){.decoder = decoder_new(), .at = PAIR_BASE};
    machine_init(&pair->run, size, privileged, pair->decoder);
    machine_init(&pair->step, size, privileged, pair->decoder);
    if (exec)
        pair->run.hart.exec = exec;
    if (!stream_init(&pair->stream, &pair->run.hart, &err)) {
        fprintf(stderr, "pair: %s\n", err.text);
        exit(1);
    }
}

void pair_free(struct pair *pair)
{
    stream_free(&pair->stream);
    hart_free(&pair->run.hart);
    hart_free(&pair->step.hart);
    bus_free(&pair->run.bus);
    bus_free(&pair->step.bus);
    phys_free(&pair->run.memory);
    phys_free(&pair->step.memory);
    decoder_free(pair->decoder);
}

uint64_t pair_physical(const struct pair *pair, uint64_t address)
{
    uint64_t page = (address - PAIR_BASE) / MMU_PAGE;
    if (page >= pair->mapped)
        return address;
    return PAIR_BASE + (pair->mapped - 1 - page) * MMU_PAGE + address % MMU_PAGE;
}

static void put(struct pair *pair, uint64_t physical, const void *bytes, uint64_t length)
{
    uint8_t *run = phys_at(&pair->run.memory, physical, length);
    uint8_t *step = phys_at(&pair->step.memory, physical, length);
    assert_true(run && step);
    memcpy(run, bytes, length);
    memcpy(step, bytes, length);
}

static void put_entry(struct pair *pair, uint64_t table, uint64_t index, uint64_t target, unsigned bits)
{
    uint64_t pte = target >> 12 << 10 | bits;
    put(pair, table + 8 * index, &pte, sizeof pte);
}

/* A root, a middle table for each of the two gigabytes, then the last tables: the device's, memory's. */
void pair_translate(struct pair *pair, uint64_t pages)
{
    uint64_t root = PAIR_BASE + pages * MMU_PAGE, low = root + TABLE_BYTES, high = low + TABLE_BYTES;
    uint64_t device = high + TABLE_BYTES, memory = device + TABLE_BYTES;
    pair->mapped = pages;
    put_entry(pair, root, PAIR_DEVICE >> GIB_BITS, low, PTE_V);
    put_entry(pair, root, PAIR_BASE >> GIB_BITS, high, PTE_V);
    put_entry(pair, low, PAIR_DEVICE >> 21 & 511, device, PTE_V);
    put_entry(pair, device, PAIR_DEVICE >> 12 & 511, PAIR_DEVICE, PTE_LEAF);
    for (uint64_t i = 0; i < pages; i++) {
        put_entry(pair, high, i / 512, memory + i / 512 * TABLE_BYTES, PTE_V);
        put_entry(pair, memory, i, pair_physical(pair, PAIR_BASE + i * MMU_PAGE), PTE_LEAF);
    }
    struct hart *harts[] = {&pair->run.hart, &pair->step.hart};
    for (unsigned i = 0; i < 2; i++) {
        harts[i]->privilege = PRIV_S;
        harts[i]->priv.satp = (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | root >> 12;
        mmu_flush(harts[i]);
        priv_changed(harts[i]);
    }
}

void pair_write(struct pair *pair, uint64_t address, const void *bytes, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++)
        put(pair, pair_physical(pair, address + i), (const uint8_t *)bytes + i, 1);
    hart_flush_code(&pair->run.hart);
    hart_flush_code(&pair->step.hart);
}

void pair_row(struct pair *pair, enum insn_id id, struct operands operands)
{
    uint32_t bits = encode(id, &operands);
    for (unsigned i = 0; i < sizeof bits; i++)
        put(pair, pair_physical(pair, pair->at + i), (const uint8_t *)&bits + i, 1);
    pair->at += sizeof bits;
}

void pair_set(struct pair *pair, unsigned reg, uint64_t value)
{
    pair->run.hart.x[reg] = pair->step.hart.x[reg] = value;
}

void pair_go(struct pair *pair, uint64_t pc)
{
    pair->run.hart.pc = pair->step.hart.pc = pc;
}

static void compare_entry(const struct pair *pair, const struct stream_entry *entry,
                          const struct step_report *report)
{
    const struct stream_op *op = entry->op;
    const struct effects *effects = &report->effects;
    assert_true(report->retired);
    assert_int_equal(op->pc, report->pc);
    assert_int_equal(op->id, report->insn.id);
    assert_int_equal(op->insn->bits, report->insn.bits);
    assert_int_equal(op->length, report->insn.length);
    assert_int_equal(op->iclass, insn_table[report->insn.id].iclass);
    if (!(op->flags & STREAM_SERIAL)) {
        assert_int_equal(effects->loaded, !!(op->flags & STREAM_LOAD));
        assert_int_equal(effects->stored, !!(op->flags & STREAM_STORE));
    }
    if (!effects->loaded && !effects->stored)
        return;
    assert_int_equal(op->size, effects->size);
    assert_int_equal(entry->address, effects->address);
    assert_int_equal(entry->physical, effects->physical);
    assert_int_equal(entry->physical, pair_physical(pair, entry->address));
}

static void compare_state(const struct hart *a, const struct hart *b)
{
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->instret, b->instret);
    assert_int_equal(a->traps, b->traps);
    assert_int_equal(a->privilege, b->privilege);
    assert_int_equal(a->fflags, b->fflags);
    assert_int_equal(a->frm, b->frm);
    assert_memory_equal(a->x, b->x, 32 * sizeof a->x[0]);
    assert_memory_equal(a->f, b->f, sizeof a->f);
    assert_memory_equal(&a->priv, &b->priv, sizeof a->priv);
}

static void compare_batch(struct pair *pair, uint64_t limit, enum stream_end end)
{
    const struct stream *stream = &pair->stream;
    assert_true(stream->count <= limit && stream->count <= STREAM_BATCH);
    assert_true(end != STREAM_MORE || limit == 0 || stream->count > 0);
    for (uint32_t i = 0; i < stream->count; i++) {
        struct step_report report;
        (void)hart_step(&pair->step.hart, &report);
        compare_entry(pair, &stream->entries[i], &report);
        assert_false(stream->entries[i].op->flags & STREAM_SERIAL);
        uint64_t next = i + 1 < stream->count ? stream->entries[i + 1].op->pc : stream->next_pc;
        assert_int_equal(pair->step.hart.pc, next);
    }
    pair->listed += stream->count;
}

static void compare_step(struct pair *pair)
{
    struct step_report run, step;
    pair->stop = stream_step(&pair->stream, &run);
    assert_int_equal(pair->stop, hart_step(&pair->step.hart, &step));
    assert_int_equal(run.retired, step.retired);
    assert_int_equal(run.trapped, step.trapped);
    assert_int_equal(run.interrupt, step.interrupt);
    pair->interrupt = run.interrupt;
    if (run.retired) {
        assert_true(pair->stream.stepped.flags & STREAM_SERIAL);
        compare_entry(pair, &pair->stream.step_entry, &step);
    }
}

enum stream_end pair_advance(struct pair *pair, uint64_t limit)
{
    enum stream_end end = stream_run(&pair->stream, limit);
    compare_batch(pair, limit, end);
    compare_state(&pair->run.hart, &pair->step.hart);
    if (end == STREAM_STOP) {
        assert_true(hart_has_breakpoint(&pair->run.hart, pair->run.hart.pc));
        pair->stops++;
    }
    if (end != STREAM_MORE) {
        compare_step(pair);
        compare_state(&pair->run.hart, &pair->step.hart);
    }
    return end;
}

void pair_run(struct pair *pair, uint64_t end, const uint64_t *limits, unsigned limit_count, uint64_t fuel)
{
    const struct hart *hart = &pair->run.hart;
    uint64_t last = hart->instret + fuel, traps = hart->traps;
    pair->stop = HART_STOP_LIMIT;
    for (unsigned i = 0;
         hart->pc != end && hart->instret < last && hart->traps == traps && pair->stop != HART_STOP_TRAP; i++)
        (void)pair_advance(pair, limits[i % limit_count]);
}

void pair_compare(const struct pair *pair)
{
    uint64_t run[CLASS_COUNT], step[CLASS_COUNT];
    hart_count_classes(&pair->run.hart, run);
    hart_count_classes(&pair->step.hart, step);
    assert_memory_equal(run, step, sizeof run);
    assert_int_equal(pair->run.device, pair->step.device);
    assert_int_equal(pair->run.hooked, pair->step.hooked);
    assert_memory_equal(pair->run.memory.bytes, pair->step.memory.bytes, pair->run.memory.size);
}
