#include "tests/jit/twins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/hart/mmu.h"

static void open_machine(struct twin *m, uint32_t size, const struct device_ops *ops, twin_writer *write)
{
    struct error err;
    struct hart *hart = &m->f.hart;
    const struct bus_region region = {TWINS_DEVICE, MMU_PAGE,    BUS_ANY,
                                      .ops = ops,   .device = m, .name = "device"};
    fixture_init(&m->f, size);
    m->device = 0;
    bus_init(&m->bus, &m->f.memory);
    assert_true(bus_add(&m->bus, &region, &err));
    assert_true(hart_init_privileged(hart, &m->bus, 0, 1, &err));
    hart->priv.pmpcfg[0] = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    hart->priv.pmpaddr[0] = (UINT64_C(1) << 54) - 1;
    hart->privilege = PRIV_S;
    hart->pc = FIXTURE_BASE;
    write(m);
    mmu_flush(hart);
    priv_changed(hart);
}

void twins_open(struct twins *twins, uint32_t size, const struct device_ops *ops, twin_writer *write,
                enum jit_mode mode)
{
    open_machine(&twins->run, size, ops, write);
    open_machine(&twins->step, size, ops, write);
    twins->jit = jit_new(&twins->run.f.hart, mode, JIT_MEMORY_LEAST);
    twins->waits = 0;
    twins->size = size;
}

void twins_close(struct twins *twins)
{
    jit_free(twins->jit);
    fixture_free(&twins->run.f);
    fixture_free(&twins->step.f);
    bus_free(&twins->run.bus);
    bus_free(&twins->step.bus);
}

uint64_t twins_page(unsigned page)
{
    return FIXTURE_BASE + (uint64_t)page * MMU_PAGE;
}

void twins_row(struct twin *m, enum insn_id id, struct operands operands)
{
    fixture_row(&m->f, id, operands);
}

static void assert_same(const struct twins *twins)
{
    const struct hart *a = &twins->run.f.hart, *b = &twins->step.f.hart;
    uint64_t counts[2][CLASS_COUNT];
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->privilege, b->privilege);
    assert_int_equal(a->instret, b->instret);
    assert_int_equal(a->traps, b->traps);
    assert_memory_equal(a->x, b->x, 32 * sizeof a->x[0]);
    assert_memory_equal(&a->priv, &b->priv, sizeof a->priv);
    assert_int_equal(twins->run.device, twins->step.device);
    assert_memory_equal(twins->run.f.memory.bytes, twins->step.f.memory.bytes, twins->size);
    hart_count_classes(a, counts[0]);
    hart_count_classes(b, counts[1]);
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
}

void twins_runs(struct twins *twins, uint64_t limit)
{
    struct hart *a = &twins->run.f.hart, *b = &twins->step.f.hart;
    for (const uint64_t end = hart_progress(a) + limit; hart_progress(a) < end;) {
        enum hart_stop stop = hart_run(a, end - hart_progress(a)), stepped = HART_STOP_LIMIT;
        while (hart_progress(b) < hart_progress(a)) {
            struct step_report report;
            assert_int_equal(stepped, HART_STOP_LIMIT);
            stepped = hart_step(b, &report);
        }
        assert_int_equal(stop, stepped);
        assert_true(stop == HART_STOP_LIMIT || stop == HART_STOP_WFI);
        twins->waits += stop == HART_STOP_WFI;
    }
    assert_same(twins);
}

static void note_difference(void *context, const char *text)
{
    (void)context;
    fail_msg("%s", text);
}

void twins_listen(struct twins *twins)
{
    static const struct check_listener listener = {note_difference, NULL};
    jit_set_listener(twins->jit, &listener);
}
