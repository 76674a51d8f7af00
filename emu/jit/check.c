#include "emu/jit/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/block.h"
#include "emu/hart/exec.h"
#include "emu/hart/fp.h"
#include "emu/hart/fp/flags.h"
#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"
#include "emu/hart/step.h"
#include "emu/jit/quick/micro.h"
#include "emu/sim/alloc.h"

/* RUN: instructions of a checked run, without those from the entry to the next check of the budget. STEPS: the most single steps for it. */
enum { RUN = 100, STEPS = RUN + COMPILED_MOST + BLOCK_INSNS };

/* The state before an instruction, and what it stored. */
struct moment {
    uint64_t x[32], f[32], pc, reservation;
    uint8_t fflags, raised; /* raised: of these, by the run since it wrote fflags */
    bool reserved;
    uint8_t size; /* of the store, or 0 */
    uint64_t address;
    uint8_t *bytes; /* on the host */
    uint8_t old[8], new[8];
};

struct check {
    struct hart *hart;
    const struct check_listener *listener;
    uint64_t entry; /* the region's entry */
    uint32_t steps;
    struct moment moments[STEPS + 1];
};

/* Returns where the bytes of an access by fast handlers are on the host, or NULL. */
static uint8_t *find_bytes(const struct hart *hart, uint64_t address, unsigned size, bool store)
{
    const uint64_t base = store ? hart->store_base : hart->load_base;
    if (!hart->tlb)
        return address - base <= (store ? hart->store_last : hart->load_last)
                   ? hart->load_bytes + (address - hart->load_base)
                   : NULL;
    const struct tlb_entry *entry = &(store ? hart->store_tlb : hart->load_tlb)[tlb_index(address)];
    const uint64_t offset = address & (MMU_PAGE - 1);
    return address - offset == entry->tag && offset + size <= MMU_PAGE
               ? (uint8_t *)(uintptr_t)(entry->addend + address)
               : NULL;
}

static void note(const struct hart *hart, struct moment *moment)
{
    memcpy(moment->x, hart->x, sizeof moment->x);
    memcpy(moment->f, hart->f, sizeof moment->f);
    moment->pc = hart->pc;
    moment->reservation = hart->reservation;
    moment->reserved = hart->reserved;
    moment->fflags = hart->fflags;
    moment->size = 0;
}

/* Returns whether a region may execute the instruction: it has no other effects than on registers and the window on memory.
 * Notes where it may store. */
static bool is_simple(const struct hart *hart, const struct insn *insn, struct moment *moment)
{
    const struct insn_info *info = &insn_table[insn->id];
    const bool stores =
        info->access == ACCESS_STORE || info->access == ACCESS_SC || info->access == ACCESS_AMO;
    if (micro_is_nothing(insn->id))
        return true;
    if (!hart->exec->rows[insn->id][0] || info->access == ACCESS_BLOCK || info->access == ACCESS_ZERO)
        return false;
    if (info->iclass == CLASS_CSR)
        return flags_accesses(insn);
    if (info->access == ACCESS_NONE)
        return true;
    const bool offset = info->access == ACCESS_STORE || info->access == ACCESS_LOAD;
    moment->address = hart->x[insn->rs1] + (offset ? (uint64_t)(int64_t)insn->imm : 0);
    moment->bytes = find_bytes(hart, moment->address, info->size, stores);
    if (!moment->bytes || !stores)
        return moment->bytes != NULL;
    moment->size = info->size;
    memcpy(moment->old, moment->bytes, moment->size);
    return true;
}

/* Executes an instruction. Adds the flags that it raises to *raised, of which there are none after a write of fflags. */
static bool step_one(struct hart *hart, const struct insn *insn, uint8_t *raised)
{
    struct effects effects;
    const uint8_t before = hart->fflags;
    if (flags_accesses(insn)) {
        *raised = flags_writes(insn) ? 0 : *raised;
        return step_execute(hart, insn, &effects);
    }
    hart->fflags = 0;
    const bool retires = step_execute(hart, insn, &effects);
    *raised |= hart->fflags;
    hart->fflags |= before;
    return retires;
}

/* Executes up to `count` instructions by steps, and takes that back. */
static void step_ahead(struct check *check, uint32_t count)
{
    struct hart *hart = check->hart;
    const struct hart saved = *hart;
    uint8_t raised = 0;
    for (check->steps = 0;; check->steps++) {
        struct moment *moment = &check->moments[check->steps];
        struct insn insn;
        note(hart, moment);
        moment->raised = raised;
        if (check->steps == count || !step_fetch(hart, hart->pc, &insn) || !is_simple(hart, &insn, moment) ||
            !step_one(hart, &insn, &raised))
            break;
        hart->x[0] = 0;
        if (moment->size)
            memcpy(moment->new, moment->bytes, moment->size);
    }
    for (uint32_t i = check->steps; i-- > 0;)
        if (check->moments[i].size)
            memcpy(check->moments[i].bytes, check->moments[i].old, check->moments[i].size);
    *hart = saved;
}

__attribute__((format(printf, 3, 4))) static void report(const struct check *check, uint32_t retired,
                                                         const char *format, ...)
{
    char what[160], text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const uint32_t last = retired < check->steps ? retired : check->steps;
    (void)snprintf(text, sizeof text,
                   "compiled code differs: the region entered at pc 0x%" PRIx64 ", after %" PRIu32
                   " instructions, before pc 0x%" PRIx64 ": %s",
                   check->entry, retired, check->moments[last].pc, what);
    check->listener->differs(check->listener->context, text);
}

/* Returns whether byte `at` of store i is overwritten by a later one of the `retired` instructions. */
static bool is_overwritten(const struct check *check, uint32_t i, uint32_t retired, uint64_t at)
{
    for (uint32_t k = i + 1; k < retired; k++)
        if (at - check->moments[k].address < check->moments[k].size)
            return true;
    return false;
}

static bool compare_memory(const struct check *check, uint32_t retired)
{
    for (uint32_t i = 0; i < retired; i++) {
        const struct moment *moment = &check->moments[i];
        const uint8_t *found = moment->bytes;
        for (uint32_t b = 0; b < moment->size; b++)
            if (found[b] != moment->new[b] && !is_overwritten(check, i, retired, moment->address + b)) {
                report(check, retired,
                       "the store at pc 0x%" PRIx64 " left 0x%02x at 0x%" PRIx64 " for 0x%02x", moment->pc,
                       found[b], moment->address + b, moment->new[b]);
                return false;
            }
    }
    return true;
}

/* Compares the hart after the region with the steps' state after as many instructions. */
static void compare(const struct check *check, uint32_t retired, uint64_t pc, unsigned raised)
{
    const struct hart *hart = check->hart;
    const struct moment *expected = &check->moments[retired];
    if (retired > check->steps) {
        report(check, retired, "the interpreter ends after %" PRIu32, check->steps);
        return;
    }
    if (pc != expected->pc)
        report(check, retired, "it leaves for pc 0x%" PRIx64, pc);
    for (unsigned r = 1; r < 32; r++)
        if (hart->x[r] != expected->x[r])
            report(check, retired, "x%u is 0x%" PRIx64 " for 0x%" PRIx64, r, hart->x[r], expected->x[r]);
    for (unsigned r = 0; r < 32; r++)
        if (hart->f[r] != expected->f[r])
            report(check, retired, "f%u is 0x%" PRIx64 " for 0x%" PRIx64, r, hart->f[r], expected->f[r]);
    if (raised != expected->raised)
        report(check, retired, "it raises fflags 0x%x for 0x%x", raised, expected->raised);
    if ((hart->fflags | raised) != expected->fflags)
        report(check, retired, "fflags is 0x%x for 0x%x", hart->fflags | raised, expected->fflags);
    if (hart->reserved != expected->reserved ||
        (hart->reserved && hart->reservation != expected->reservation))
        report(check, retired, "the reservation is another one");
    (void)compare_memory(check, retired);
}

/* Returns where the interpreter goes on after the exit, and adds the instructions of the block that is not left. */
static uint64_t exit_pc(const struct hart *hart, const struct compiled_exit *exit, int64_t *retired)
{
    if (exit->kind == COMPILED_INDIRECT)
        return hart->pc;
    if (exit->kind == COMPILED_LEAVE)
        return exit->op->exit.to[-1].head.pc;
    if (exit->kind == COMPILED_ENTER) /* the first op may be behind a jump, which has none */
        return exit->op[-1].head.pc;
    struct block_site site = block_find(hart->blocks, exit->op);
    *retired += site.retired;
    return site.pc;
}

uint32_t check_run(struct hart *hart, const struct compiled_entry *entry, int64_t budget,
                   const struct check_listener *listener)
{
    const struct compiled_region *region = entry->region;
    const int64_t least = RUN + (int64_t)entry->need, part = budget < least ? budget : least;
    struct check *check = alloc(1, sizeof *check);
    check->hart = hart;
    check->listener = listener;
    check->entry = hart->pc = entry->pc;
    hart->fflags |= (uint8_t)fp_flags();
    (void)fp_begin(hart->frm);
    step_ahead(check, (uint32_t)part + BLOCK_INSNS);
    const uint32_t exit = region->code(hart, part, entry->number, region->slots, region->memory);
    const unsigned raised = fp_flags();
    int64_t retired = part - hart->budget;
    hart->budget += budget - part;
    const uint64_t pc = exit_pc(hart, &region->exits[exit], &retired);
    compare(check, (uint32_t)retired, pc, raised);
    free(check);
    return exit;
}
