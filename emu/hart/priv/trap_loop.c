#include "emu/hart/priv/trap_loop.h"

#include <string.h>

#include "emu/hart/hart.h"
#include "emu/hart/step.h"
#include "emu/sim/mix.h"
#include "isa/csr.h"

/* STEPS_MAX: a longer trip is no loop that anyone would take for one. */
enum { STEPS_MAX = 100000, SP = 2 };

/* Adds a word to a digest. */
static uint64_t add_word(uint64_t digest, uint64_t word)
{
    return mix((digest ^ word) + MIX_FACTOR);
}

static uint64_t mix_words(uint64_t digest, const void *words, size_t size)
{
    for (size_t i = 0; i + sizeof digest <= size; i += sizeof digest) {
        uint64_t word;
        memcpy(&word, (const char *)words + i, sizeof word);
        digest = add_word(digest, word);
    }
    return digest;
}

/* The digest of registers and CSRs except counters, which count on. */
static uint64_t mix_state(uint64_t digest, const struct hart *hart)
{
    struct priv priv = hart->priv;
    if (hart->loop.at_stack)
        priv.mtval = priv.stval = priv.mscratch = priv.sscratch = 0;
    for (unsigned i = 1; i < 32; i++)
        digest = add_word(digest, i == SP && hart->loop.at_stack ? 0 : hart->x[i]);
    digest = mix_words(digest, hart->f, sizeof hart->f);
    digest = mix_words(digest, &priv, sizeof priv);
    return add_word(digest, (uint64_t)hart->frm << 8 | hart->fflags);
}

void trap_loop_init(struct hart *hart, uint64_t limit, bool peers)
{
    hart->loop = (struct trap_loop){.limit = limit, .peers = peers};
    trap_loop_forget(&hart->loop);
}

static void begin_trip(struct trap_loop *loop)
{
    loop->steps = loop->stores = 0;
    loop->back = false;
    loop->trip = 1;
}

static void give_up(struct trap_loop *loop)
{
    loop->checking = false;
    loop->next = loop->count < UINT64_MAX / 2 ? 2 * loop->count : UINT64_MAX;
}

/* Returns whether an interrupt could be taken now if something made it pending. Without other harts, nothing does so for
 * software interrupts. */
static bool is_interruptible(const struct hart *hart)
{
    const struct priv *p = &hart->priv;
    const uint64_t possible = hart->loop.peers ? IRQ_ALL : IRQ_ALL & ~(IRQ_BIT(IRQ_MSI) | IRQ_BIT(IRQ_SSI));
    bool machine = hart->privilege < PRIV_M || (p->mstatus & MSTATUS_MIE);
    bool supervisor = hart->privilege < PRIV_S || (hart->privilege == PRIV_S && (p->mstatus & MSTATUS_SIE));
    uint64_t taken = (machine ? ~p->mideleg : 0) | (supervisor ? p->mideleg : 0);
    return p->mie & taken & possible;
}

static bool uses_page_tables(const struct hart *hart)
{
    bool lower = hart->privilege != PRIV_M || priv_data_mode(hart) != PRIV_M;
    return lower && hart->priv.satp >> SATP_MODE_SHIFT != SATP_BARE;
}

/* Returns whether something other than the hart could end the loop now. */
static bool is_open(const struct hart *hart)
{
    return is_interruptible(hart) || (hart->loop.peers && uses_page_tables(hart));
}

/* Returns whether hart->trap is that of an access to memory at sp. */
static bool is_at_stack(struct hart *hart)
{
    const struct trap trap = hart->trap;
    struct insn insn;
    bool access = trap.cause == TRAP_LOAD_ACCESS || trap.cause == TRAP_STORE_ACCESS ||
                  trap.cause == TRAP_LOAD_PAGE || trap.cause == TRAP_STORE_PAGE;
    bool found = access && step_fetch(hart, hart->pc, &insn) && insn.rs1 == SP;
    hart->trap = trap;
    return found;
}

static bool is_same(struct hart *hart, const struct trap_loop_trap *a, const struct trap_loop_trap *b)
{
    return a->pc == b->pc && a->cause == b->cause && a->privilege == b->privilege &&
           (a->value == b->value || is_at_stack(hart));
}

/* Compares the trip that ends now with the one before. Returns true if it is a loop. */
static bool compare_trips(struct hart *hart)
{
    struct trap_loop *loop = &hart->loop;
    uint64_t trip = mix_state(loop->trip, hart);
    bool whole =
        hart->instret - loop->last.instret == loop->steps; /* no instruction was executed elsewhere */
    if (!whole || is_open(hart) || (loop->previous && loop->previous != trip)) {
        give_up(loop);
        return false;
    }
    if (loop->previous == trip)
        return true;
    loop->previous = trip;
    begin_trip(loop);
    return false;
}

static void start_check(struct hart *hart)
{
    struct trap_loop *loop = &hart->loop;
    loop->checking = true;
    loop->at_stack = is_at_stack(hart);
    loop->previous = 0;
    begin_trip(loop);
}

bool trap_loop_note(struct hart *hart)
{
    struct trap_loop *loop = &hart->loop;
    const struct trap_loop_trap seen = {hart->pc, hart->trap.value, hart->trap.cause, hart->instret,
                                        hart->privilege};
    loop->found = false;
    if (loop->limit == 0)
        return false;
    if (loop->count == 0 || !is_same(hart, &seen, &loop->last)) {
        loop->before = loop->last;
        loop->last = seen;
        loop->count = 1;
        loop->next = loop->limit;
        loop->checking = false;
        return false;
    }
    loop->count++;
    if (loop->checking)
        loop->found = compare_trips(hart);
    else if (loop->count >= loop->next)
        start_check(hart);
    loop->last.instret = seen.instret;
    if (loop->found)
        loop->checking = false;
    return loop->found;
}

/* Returns whether the instruction reads what changes by itself: counters, time, and pending interrupts. */
static bool reads_time(const struct insn *insn)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    return insn_table[insn->id].iclass == CLASS_CSR &&
           ((number >= CSR_mcycle && number <= CSR_mhpmcounter31) ||
            (number >= CSR_cycle && number <= CSR_hpmcounter31) || number == CSR_mip || number == CSR_sip);
}

/* Returns whether all bytes of the access are in memory that is no mailbox of the host (tohost). */
static bool is_memory(const struct hart *hart, const struct effects *effects)
{
    uint64_t at = effects->physical;
    bool mailbox = hart->hook && at < hart->hook_address + 8 && hart->hook_address < at + effects->size;
    return !mailbox && phys_at(hart->memory, at, effects->size);
}

/* Returns whether the trip itself has stored what it loads here. */
static bool is_own(const struct trap_loop *loop, const struct effects *effects)
{
    for (unsigned i = 0; i < loop->stores; i++)
        if (loop->stored[i] == effects->address / 8)
            return true;
    return false;
}

static void note_store(struct trap_loop *loop, const struct effects *effects)
{
    if (loop->stores < TRAP_LOOP_STORES)
        loop->stored[loop->stores++] = effects->address / 8;
    loop->trip = add_word(add_word(add_word(loop->trip, effects->physical), effects->data), effects->size);
}

/* Returns whether the instruction, which has retired, may lead out of the loop. */
static bool is_progress(const struct hart *hart, const struct step_report *report)
{
    const struct effects *effects = &report->effects;
    const struct trap_loop *loop = &hart->loop;
    bool access = effects->loaded || effects->stored || effects->block != BLOCK_NONE;
    return loop->back || loop->steps > STEPS_MAX || effects->wfi || effects->marker ||
           insn_table[report->insn.id].iclass == CLASS_CUSTOM || reads_time(&report->insn) ||
           (access && !is_memory(hart, effects)) ||
           (loop->peers && effects->loaded && !is_own(loop, effects)) || is_open(hart);
}

void trap_loop_step(struct hart *hart, const struct step_report *report)
{
    struct trap_loop *loop = &hart->loop;
    loop->steps++;
    if (is_progress(hart, report)) {
        give_up(loop);
        return;
    }
    loop->trip = add_word(add_word(loop->trip, report->pc), report->insn.bits);
    if (report->effects.stored || report->effects.block != BLOCK_NONE)
        note_store(loop, &report->effects);
    loop->back =
        report->effects.returned && hart->pc == loop->last.pc && hart->privilege == loop->last.privilege;
}
