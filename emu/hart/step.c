#include "emu/hart/step.h"

#include <string.h>

#include "emu/hart/access.h"
#include "emu/hart/custom.h"
#include "emu/hart/fp/rows.h"
#include "emu/hart/mmu.h"
#include "emu/hart/priv/csr.h"
#include "emu/hart/rows/jump.h"
#include "isa/csr.h"
#include "isa/decoder/meaning.h"

static bool raise_trap(struct hart *hart, enum trap_cause cause, uint64_t value)
{
    hart->trap = (struct trap){cause, value};
    return false;
}

bool step_fetch(struct hart *hart, uint64_t pc, struct insn *insn)
{
    uint16_t low, high = 0;
    if (!access_fetch(hart, pc, &low))
        return false;
    if ((low & 3) == 3 && !access_fetch(hart, pc + 2, &high))
        return false;
    *insn = decode(hart->decoder, low | (uint32_t)high << 16);
    return true;
}

/* Returns whether a trigger fires before an access: it comes before all faults of the access (privileged specification,
 * table of exception priorities). kinds: set of enum trigger_kind. */
static bool is_triggered(struct hart *hart, uint64_t address, unsigned size, unsigned kinds)
{
    return (hart->triggers.armed & kinds) && trigger_on_access(hart, address, size, kinds);
}

/* Accesses to memory may have any alignment; atomics must be aligned. */
static bool load(struct hart *hart, uint64_t address, unsigned size, uint64_t *value, struct effects *effects)
{
    if (is_triggered(hart, address, size, TRIGGER_LOAD) ||
        !access_load(hart, address, size, value, &effects->physical))
        return false;
    effects->loaded = true;
    effects->address = address;
    effects->size = (uint8_t)size;
    return true;
}

static bool store(struct hart *hart, uint64_t address, unsigned size, uint64_t value, struct effects *effects)
{
    if (is_triggered(hart, address, size, TRIGGER_STORE) ||
        !access_store(hart, address, size, value, &effects->physical))
        return false;
    effects->stored = true;
    effects->address = address;
    effects->size = (uint8_t)size;
    effects->data = size == 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
    return true;
}

static bool load_reserved(struct hart *hart, uint64_t address, unsigned size, uint64_t *value,
                          struct effects *effects)
{
    if (is_triggered(hart, address, size, TRIGGER_LOAD))
        return false;
    if (address % size != 0)
        return raise_trap(hart, TRAP_LOAD_MISALIGNED, address);
    if (!load(hart, address, size, value, effects))
        return false;
    hart->reserved = true;
    hart->reservation = address;
    return true;
}

/* *failed becomes the value of rd: 0 if the store was done. An SC that fails is no store to a trigger. */
static bool store_conditional(struct hart *hart, uint64_t address, unsigned size, uint64_t value,
                              uint64_t *failed, struct effects *effects)
{
    *failed = !(hart->reserved && hart->reservation == address);
    if (!*failed && is_triggered(hart, address, size, TRIGGER_STORE))
        return false;
    if (address % size != 0)
        return raise_trap(hart, TRAP_STORE_MISALIGNED, address);
    if (!access_can_store(hart, address, size))
        return false;
    hart->reserved = false;
    return *failed || store(hart, address, size, value, effects);
}

/* The checks and the load of an AMO: the location must be writable before anything happens, and a fault of the load is
 * a store fault. */
static bool amo_load(struct hart *hart, uint64_t address, unsigned size, uint64_t *value,
                     struct effects *effects)
{
    if (is_triggered(hart, address, size, TRIGGER_LOAD | TRIGGER_STORE))
        return false;
    if (address % size != 0)
        return raise_trap(hart, TRAP_STORE_MISALIGNED, address);
    if (!access_can_store(hart, address, size))
        return false;
    if (load(hart, address, size, value, effects))
        return true;
    hart->trap.cause = hart->trap.cause == TRAP_LOAD_PAGE ? TRAP_STORE_PAGE : TRAP_STORE_ACCESS;
    return false;
}

/* Records a write of a CSR as writes of the CSRs that hold its bits. */
static void note_csr(const struct hart *hart, unsigned number, struct effects *effects)
{
    unsigned holders[2];
    unsigned count = csr_holders(number, holders);
    for (unsigned i = 0; i < count && effects->csr_count < EFFECTS_CSRS; i++) {
        struct csr_note *note = &effects->csrs[effects->csr_count++];
        note->number = (uint16_t)holders[i];
        (void)csr_peek(hart, holders[i], &note->value);
        /* csr_write() has subtracted this instruction, which has not retired yet, from the counter. */
        note->value += holders[i] == CSR_minstret || (holders[i] == CSR_mcycle && !hart->timed);
    }
}

static bool call_unit(struct hart *hart, const struct insn *insn, uint64_t first, uint64_t second,
                      uint64_t *result)
{
    struct custom_call call = {.insn = insn,
                               .pc = hart->pc,
                               .operand = {first, second},
                               .cycle = hart->timed ? hart->timed_cycles : 0,
                               .time = custom_time(hart->waiter, hart->timed_cycles),
                               .waiter = hart->waiter,
                               .hart = hart};
    if (!custom_execute(custom_find(hart->custom, insn), &call))
        return raise_trap(hart, call.trap.cause, call.trap.value);
    *result = call.result;
    return true;
}

enum csr_operation { CSR_SWAP, CSR_SET, CSR_CLEAR };

/* CSRRW with rd = x0 does not read; CSRRS and CSRRC with a source field of 0 do not write. */
static bool csr_access(struct hart *hart, const struct insn *insn, enum csr_operation operation,
                       uint64_t operand, uint64_t *old, struct effects *effects)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    bool reads = operation != CSR_SWAP || insn->rd != 0;
    bool writes = operation == CSR_SWAP || insn->rs1 != 0;
    *old = 0;
    if (reads && !csr_read(hart, number, old))
        return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
    if (!writes)
        return true;
    uint64_t base = csr_to_modify(hart, number, *old);
    uint64_t value = operation == CSR_SWAP  ? operand
                     : operation == CSR_SET ? base | operand
                                            : base & ~operand;
    bool was_dirty = (hart->priv.mstatus & MSTATUS_FS) == MSTATUS_FS;
    if (!csr_write(hart, number, value))
        return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
    note_csr(hart, number, effects);
    if (number <= CSR_fcsr && !was_dirty)
        note_csr(hart, CSR_mstatus, effects);
    return true;
}

/* The row accessors: any may trap, and *effects records what happens. */
#define TRY(type, call)                                                                                      \
    __extension__({                                                                                          \
        type got_;                                                                                           \
        if (!call)                                                                                           \
            return false;                                                                                    \
        got_;                                                                                                \
    })
#define load8(address)  TRY(uint64_t, load(hart, address, 1, &got_, effects))
#define load16(address) TRY(uint64_t, load(hart, address, 2, &got_, effects))
#define load32(address) TRY(uint64_t, load(hart, address, 4, &got_, effects))
#define load64(address) TRY(uint64_t, load(hart, address, 8, &got_, effects))
#define store_sized(a, n, v)                                                                                 \
    do {                                                                                                     \
        if (!store(hart, a, n, v, effects))                                                                  \
            return false;                                                                                    \
    } while (0)
#define store8(address, value)  store_sized(address, 1, value)
#define store16(address, value) store_sized(address, 2, value)
#define store32(address, value) store_sized(address, 4, value)
#define store64(address, value) store_sized(address, 8, value)
#define lr32(address)           TRY(uint64_t, load_reserved(hart, address, 4, &got_, effects))
#define lr64(address)           TRY(uint64_t, load_reserved(hart, address, 8, &got_, effects))
#define sc32(address, value)    TRY(uint64_t, store_conditional(hart, address, 4, value, &got_, effects))
#define sc64(address, value)    TRY(uint64_t, store_conditional(hart, address, 8, value, &got_, effects))
#define amo_sized(op, n, bytes, address, value)                                                              \
    __extension__({                                                                                          \
        uint64_t old_;                                                                                       \
        if (!amo_load(hart, address, bytes, &old_, effects) ||                                               \
            !store(hart, address, bytes, atomic_##op##n((uint##n##_t)old_, (uint##n##_t)(value)), effects))  \
            return false;                                                                                    \
        old_;                                                                                                \
    })
#define amo32(op, address, value) amo_sized(op, 32, 4, address, value)
#define amo64(op, address, value) amo_sized(op, 64, 8, address, value)
#define csr_swap(operand)         TRY(uint64_t, csr_access(hart, insn, CSR_SWAP, operand, &got_, effects))
#define csr_set(operand)          TRY(uint64_t, csr_access(hart, insn, CSR_SET, operand, &got_, effects))
#define csr_clear(operand)        TRY(uint64_t, csr_access(hart, insn, CSR_CLEAR, operand, &got_, effects))
#define ecall()                   return raise_trap(hart, TRAP_ECALL_USER + hart->privilege, 0)
#define ebreak()                  return raise_trap(hart, TRAP_BREAKPOINT, pc)
#define custom(first, second)     TRY(uint64_t, call_unit(hart, insn, first, second, &got_))
#define fence()                   ((void)0) /* harts take turns, each in program order */
#define fence_i()                 (effects->fence_i = true, fence_code(hart))
#define nucd(xn, pair)                                                                                       \
    do {                                                                                                     \
        if (offload_traps(hart, xn))                                                                         \
            return call_driver(hart, insn, xn);                                                              \
        hart_note_nucd(hart, xn);                                                                            \
    } while (0) /* otherwise the region runs inline */
#define nucd_order()                                                                                         \
    do {                                                                                                     \
        if (hart->offload.ordered && hart->privilege == PRIV_U)                                              \
            return raise_trap(hart, TRAP_NUCD_ORDER, 0);                                                     \
    } while (0)
#define tom_begin(id) ((void)0)
#define marker(value_, code_)                                                                                \
    (hart->marker = (struct marker){(uint32_t)(code_)&0xfff, value_}, effects->marker = true)

#define mret() return_from(priv_mret)
#define sret() return_from(priv_sret)
#define return_from(how)                                                                                     \
    do {                                                                                                     \
        if (!how(hart, &next))                                                                               \
            return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);                                   \
        effects->returned = true;                                                                            \
    } while (0)
#define legal_if(condition)                                                                                  \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);                                   \
    } while (0)
#define wfi()                                                                                                \
    do {                                                                                                     \
        legal_if(wfi_legal(hart));                                                                           \
        effects->wfi = true;                                                                                 \
    } while (0)
#define sfence_vma()                                                                                         \
    do {                                                                                                     \
        legal_if(hart->privilege == PRIV_M ||                                                                \
                 (hart->privilege == PRIV_S && !(hart->priv.mstatus & MSTATUS_TVM)));                        \
        fence_translations(hart, insn);                                                                      \
    } while (0)
#define cbo_inval(where) cbo(BLOCK_INVAL, ENVCFG_CBIE, access_block_check, where)
#define cbo_clean(where) cbo(BLOCK_CLEAN, ENVCFG_CBCFE, access_block_check, where)
#define cbo_flush(where) cbo(BLOCK_FLUSH, ENVCFG_CBCFE, access_block_check, where)
#define cbo_zero(where)  cbo(BLOCK_ZERO, ENVCFG_CBZE, access_block_zero, where)
#define prefetch(where)  note_prefetch(hart, where, effects)
#define cbo(operation, allowed, how, where)                                                                  \
    do {                                                                                                     \
        legal_if(envcfg(hart) & (allowed));                                                                  \
        if (block_triggered(hart, where) || !how(hart, where, &effects->physical))                           \
            return false;                                                                                    \
        note_block(operation, where, effects);                                                               \
    } while (0)

/* If stores to code are noted, they drop the blocks of that code, and nothing is left to do. */
static void fence_code(struct hart *hart)
{
    if (!hart->memory->code)
        hart_flush_code(hart);
}

/* The operands of SFENCE.VMA: rs1 = x0 means all addresses, rs2 = x0 all address spaces. */
static void fence_translations(struct hart *hart, const struct insn *insn)
{
    mmu_fence(hart, &(struct mmu_fence){.one_page = insn->rs1 != 0,
                                        .address = hart->x[insn->rs1],
                                        .one_space = insn->rs2 != 0,
                                        .asid = hart->x[insn->rs2] & SATP_ASID});
}

static bool offload_traps(const struct hart *hart, uint64_t xn)
{
    return hart->offload.traps && hart->privilege == PRIV_U &&
           (xn >> 32 == HART_NUCD || xn >> 32 == HART_NUCD_MARK);
}

static bool call_driver(struct hart *hart, const struct insn *insn, uint64_t xn)
{
    if (hart->offload.called && xn >> 32 == HART_NUCD)
        hart->offload.called(hart->offload.call_context, hart, insn);
    return raise_trap(hart, TRAP_NUCD_CALL, insn->bits);
}

/* WFI is illegal in user mode, and in supervisor mode if TW is set (section 3.3.3). */
static bool wfi_legal(const struct hart *hart)
{
    if (hart->privilege == PRIV_M)
        return true;
    return hart->privilege == PRIV_S && !(hart->priv.mstatus & MSTATUS_TW);
}

/* Returns the envcfg bits that allow cache-block operations in the hart's mode (CMO specification, chapter 4): menvcfg
 * applies below machine mode, in user mode senvcfg as well. */
static uint64_t envcfg(const struct hart *hart)
{
    if (hart->privilege == PRIV_M)
        return UINT64_MAX;
    return hart->privilege == PRIV_S ? hart->priv.menvcfg : hart->priv.menvcfg & hart->priv.senvcfg;
}

static bool block_triggered(struct hart *hart, uint64_t address)
{
    return is_triggered(hart, address & ~(uint64_t)(CACHE_BLOCK - 1), CACHE_BLOCK, TRIGGER_STORE);
}

static void note_block(enum block_operation operation, uint64_t address, struct effects *effects)
{
    effects->block = (uint8_t)operation;
    effects->address = address & ~(uint64_t)(CACHE_BLOCK - 1);
    effects->size = CACHE_BLOCK;
}

/* Only cores with a clock have caches to prefetch into. */
static void note_prefetch(struct hart *hart, uint64_t address, struct effects *effects)
{
    if (!hart->trace)
        return;
    effects->address = address;
    if (!access_prefetch(hart, address, &effects->physical))
        effects->physical = EFFECTS_NOWHERE;
}

/* Evaluates the row of *insn; *result becomes the destination's value, *next_out the next pc. */
static bool execute_row(struct hart *hart, const struct insn *insn, unsigned mode, struct effects *effects,
                        uint64_t *result, uint64_t *next_out)
{
    const uint64_t pc = hart->pc, next_pc = pc + insn->length, zimm = insn->rs1;
    const uint64_t rs1 = hart->x[insn->rs1], rs2 = hart->x[insn->rs2];
    const uint64_t frs1 = hart->f[insn->rs1], frs2 = hart->f[insn->rs2], frs3 = hart->f[insn->rs3];
    const int64_t imm = insn->imm;
    uint64_t rd = 0, frd = 0, next = next_pc;
    switch (insn->id) {
#define INSN(name, format, match, mask, extension, class, precision, access, size, ...)                      \
    case INSN_##name: {                                                                                      \
        __VA_ARGS__;                                                                                         \
    } break;
#include "isa/rows.def"
    default: return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
    }
    *result = format_table[insn_table[insn->id].format].rd == ROLE_F ? frd : rd;
    *next_out = next;
    return true;
}

/* As execute_row(), in the guest's floating-point environment. */
static bool execute_fp(struct hart *hart, const struct insn *insn, struct effects *effects, uint64_t *result,
                       uint64_t *next)
{
    unsigned mode = insn->rm == RM_DYN ? hart->frm : insn->rm;
    if (format_table[insn_table[insn->id].format].rm && mode > RM_RMM)
        return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
    uint32_t saved = fp_begin(mode);
    bool ok = execute_row(hart, insn, mode, effects, result, next);
    unsigned flags = fp_end(saved);
    if (ok) {
        hart->fflags |= (uint8_t)flags;
        if (flags) {
            effects->fp_written = true;
            note_csr(hart, CSR_fflags, effects);
        }
    }
    return ok;
}

/* Records that floating-point state was written (privileged specification, section 3.1.6.6). */
static void make_fp_dirty(struct hart *hart, struct effects *effects)
{
    if ((hart->priv.mstatus & MSTATUS_FS) == MSTATUS_FS)
        return;
    hart->priv.mstatus |= MSTATUS_FS;
    note_csr(hart, CSR_mstatus, effects);
    priv_changed(hart);
}

bool step_execute(struct hart *hart, const struct insn *insn, struct effects *effects)
{
    const struct insn_info *info = &insn_table[insn->id];
    uint64_t result = 0, next = 0;
    *effects = (struct effects){0};
    if (insn_needs_fp(info) && !(hart->priv.mstatus & MSTATUS_FS))
        return raise_trap(hart, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
    if (insn_is_float(info) ? !execute_fp(hart, insn, effects, &result, &next)
                            : !execute_row(hart, insn, RM_RNE, effects, &result, &next))
        return false;
    switch (format_table[info->format].rd) {
    case ROLE_X: hart->x[insn->rd ? insn->rd : HART_SINK] = result; break;
    case ROLE_F: hart->f[insn->rd] = result; break;
    default: break;
    }
    if (format_table[info->format].rd == ROLE_F || effects->fp_written)
        make_fp_dirty(hart, effects);
    hart->pc = next;
    if (effects->returned) {
        note_csr(hart, CSR_mstatus, effects);
        priv_changed(hart);
    }
    return true;
}

enum step_result step_general(struct hart *hart, uint64_t pc, const struct insn *insn)
{
    struct insn fetched;
    struct effects effects;
    hart->pc = pc;
    if (step_is_triggered(hart))
        return STEP_TRAP;
    if (insn->length == 0) {
        if (!step_fetch(hart, pc, &fetched))
            return STEP_TRAP;
        insn = &fetched;
    }
    if (!step_execute(hart, insn, &effects))
        return STEP_TRAP;
    if (effects.marker)
        return STEP_MARKER;
    return effects.wfi ? STEP_WFI : STEP_DONE;
}
