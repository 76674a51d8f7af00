#include "emu/cmd/code/exposed.h"

#include <string.h>

enum { WINDOW = 2048 }; /* what 12 bits add to or take from an AUIPC's result */

static void expose(struct cfg *cfg, uint64_t first, uint64_t last)
{
    for (int at = cfg_from(cfg, first); at < cfg->count && cfg->insns[at].step.pc <= last; at++)
        if (cfg->function_at[at] != CFG_NONE)
            cfg->functions[cfg->function_at[at]].exposed = true;
}

/* Exposes what an instruction outside of the graph jumps to, and what an AUIPC may be half the address of. */
static void look_at(struct program *p, const struct decoder *decoder, struct cfg *cfg, uint64_t pc)
{
    uint32_t bits;
    if (!program_fetch(p, pc, &bits))
        return;
    const struct insn insn = decode(decoder, bits);
    const int at = cfg_at(cfg, pc);
    uint64_t target = pc + (uint64_t)(int64_t)insn.imm;
    if (insn.id == INSN_jal && at == CFG_NONE)
        expose(cfg, target, target);
    if (insn.id != INSN_auipc)
        return;
    const struct insn next =
        program_fetch(p, pc + 4, &bits) ? decode(decoder, bits) : (struct insn){.id = INSN_illegal};
    if ((next.id == INSN_jalr || next.id == INSN_addi) && next.rs1 == insn.rd) {
        target += (uint64_t)(int64_t)next.imm;
        if (next.id == INSN_addi || at == CFG_NONE)
            expose(cfg, target, target);
    } else if (next.rs1 != insn.rd || insn_table[next.id].access == ACCESS_NONE) {
        expose(cfg, target - WINDOW, target + WINDOW - 1);
    }
}

static bool leaves_graph(const struct cfg *cfg)
{
    for (int i = 0; i < cfg->block_count; i++)
        if (cfg->blocks[i].marks & (CFG_CALLS_UNKNOWN | CFG_JUMPS_UNKNOWN))
            return true;
    return false;
}

void program_mark_exposed(struct program *p, const struct decoder *decoder, struct cfg *cfg)
{
    GElf_Phdr segment;
    for (size_t i = 0; leaves_graph(cfg) && i < p->segments; i++) {
        if (!gelf_getphdr(p->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            segment.p_offset > p->size || segment.p_filesz > p->size - segment.p_offset)
            continue;
        for (uint64_t at = 0; at + 8 <= segment.p_filesz; at += 4) {
            uint64_t word;
            memcpy(&word, p->bytes + segment.p_offset + at, sizeof word);
            expose(cfg, word, word);
        }
        for (uint64_t at = 0; segment.p_flags & PF_X && at + 2 <= segment.p_filesz; at += 2)
            look_at(p, decoder, cfg, segment.p_vaddr + at);
    }
}
