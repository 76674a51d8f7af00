#include "emu/core/serial.h"

#include "emu/core/tlb.h"
#include "isa/csr.h"
#include "linker/map.h"

/* Default tick in fs: 1 / CROFT_TIMEBASE. */
#define SERIAL_TICK (UINT64_C(1000000000000000) / CROFT_TIMEBASE)

bool serial_needs_stores(struct core *core, unsigned *length)
{
    struct insn insn;
    *length = 0;
    if (!step_fetch(core->parts.hart, core->parts.hart->pc, &insn))
        return true;
    *length = insn.length;
    switch ((enum insn_class)insn_table[insn.id].iclass) {
    case CLASS_CSR:
    case CLASS_HINT: return false;
    default: return true;
    }
}

bool serial_is_maintenance(struct core *core)
{
    struct insn insn;
    return step_fetch(core->parts.hart, core->parts.hart->pc, &insn) &&
           insn_table[insn.id].access == ACCESS_BLOCK;
}

uint64_t serial_awaits(const struct core *core)
{
    enum { FENCE_PO = 1 << 6 };
    struct insn insn;
    const struct core_posted *posted = &core->posted;
    if (!posted->last || !step_fetch(core->parts.hart, core->parts.hart->pc, &insn))
        return 0;
    switch ((enum insn_access)insn_table[insn.id].access) {
    case ACCESS_STORE: return posted->answers[posted->next];
    case ACCESS_LOAD:
    case ACCESS_LR:
    case ACCESS_SC:
    case ACCESS_AMO: return posted->last;
    default: return insn.id == INSN_fence && (insn.imm & FENCE_PO) ? posted->last : 0;
    }
}

uint64_t serial_device(struct core *core, const struct serial *serial, uint64_t cycle)
{
    struct core_posted *posted = &core->posted;
    uint64_t clocks = serial->clocks ? serial->clocks : 1;
    if (!serial->posted)
        return clocks;
    posted->last = posted->last > cycle + clocks ? posted->last : cycle + clocks;
    posted->answers[posted->next] = posted->last;
    posted->next = (posted->next + 1) % core->parts.posted_stores;
    return 1;
}

void serial_clock(struct core *core, uint64_t now)
{
    uint64_t tick = core->parts.tick ? core->parts.tick : SERIAL_TICK;
    hart_set_clock(core->parts.hart, now / core->parts.clock.period, now / tick);
}

/* Returns whether a CSR that controls address translation was written. */
static bool wrote_translation(const struct effects *effects)
{
    for (unsigned i = 0; i < effects->csr_count; i++) {
        unsigned number = effects->csrs[i].number;
        if (number == CSR_satp || number == CSR_mrange || number == CSR_mlocal)
            return true;
    }
    return false;
}

/* Applies an instruction that may have changed translations to the TLB. Returns whether it has. */
static bool fence_translations(struct core *core, const struct step_report *report)
{
    const struct insn *insn = &report->insn;
    const uint64_t *x = core->parts.hart->x;
    bool fence = insn->id == INSN_sfence_vma;
    if (!fence && !wrote_translation(&report->effects))
        return false;
    if (core->parts.tlb && fence)
        tlb_fence(core->parts.tlb, insn->rs1, x[insn->rs1], insn->rs2, x[insn->rs2]);
    else if (core->parts.tlb)
        tlb_flush(core->parts.tlb);
    return true;
}

static void find_block_wait(struct serial *serial)
{
    serial->wait = SERIAL_MAINTAIN;
    switch ((enum block_operation)serial->report.effects.block) {
    case BLOCK_INVAL: serial->op = MEM_INVALIDATE; break;
    case BLOCK_CLEAN: serial->op = MEM_CLEAN; break;
    case BLOCK_FLUSH: serial->op = MEM_CLEAN_INVALIDATE; break;
    case BLOCK_ZERO:
        serial->wait = SERIAL_CACHE;
        serial->use = CACHE_STORE;
        break;
    case BLOCK_NONE: serial->wait = SERIAL_LATENCY; break;
    }
}

static void find_wait(const struct core *core, struct serial *serial)
{
    const struct effects *effects = &serial->report.effects;
    serial->physical = effects->physical;
    serial->size = effects->size;
    find_block_wait(serial);
    if (core->unit.waits)
        serial->wait = SERIAL_CUSTOM;
    if (!effects->loaded && !effects->stored)
        return;
    /* Atomics, including LR, acquire the line for writing. */
    bool atomic = insn_table[serial->report.insn.id].iclass == CLASS_AMO;
    bool memory = phys_at(core->parts.hart->memory, effects->physical, 1) != NULL;
    serial->wait = memory ? SERIAL_CACHE : SERIAL_DEVICE;
    const struct core_near *near = &core->parts.near;
    bool is_near = effects->physical - near->base < near->size;
    serial->clocks = is_near ? near->clocks : core->parts.mmio_clocks;
    serial->posted = !memory && insn_table[serial->report.insn.id].access == ACCESS_STORE &&
                     core->parts.posted_stores && !(is_near && near->beside);
    serial->use = effects->stored || atomic ? CACHE_STORE : CACHE_LOAD;
}

/* Returns whether the instruction orders later loads behind it. The core makes none before the instruction is complete. */
static bool acquires(const struct insn *insn)
{
    enum { AQ = 2 };
    return insn->id == INSN_fence || (insn_table[insn->id].iclass == CLASS_AMO && (insn->imm & AQ));
}

void serial_step(struct core *core, uint64_t now, struct serial *serial)
{
    struct hart *hart = core->parts.hart;
    uint8_t privilege = hart->privilege;
    *serial = (struct serial){.wait = SERIAL_LATENCY};
    serial_clock(core, now);
    hart->waiter = core->warming ? NULL : &core->unit;
    serial->stop = stream_step(&core->stream, &serial->report);
    hart->waiter = NULL;
    const struct step_report *report = &serial->report;
    serial->refetch = !report->retired || hart->privilege != privilege;
    if (!report->retired)
        return;
    const struct effects *effects = &report->effects;
    if (acquires(&report->insn))
        cache_acquire(core->parts.l1d);
    bool paging = fence_translations(core, report);
    serial->refetch |= effects->fence_i || effects->returned || paging;
    if (report->insn.id == INSN_fence_i) {
        cache_invalidate_all(core->parts.l1i);
        if (core->parts.server.code_changed)
            core->parts.server.code_changed(core->parts.server.context, core);
    }
    find_wait(core, serial);
}
