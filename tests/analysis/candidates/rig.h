/* Searches for candidates in code that a test writes, by the models of the paper. */
#ifndef TESTS_ANALYSIS_CANDIDATES_RIG_H
#define TESTS_ANALYSIS_CANDIDATES_RIG_H

#include "emu/analysis/candidates.h"
#include "tests/analysis/random_program.h"

enum { T3 = 28, FA3 = 13 };

/* 32 threads of addresses of 4 bytes, lines of 128, one a warp, of which half miss; ours: addresses of 8 bytes. */
#define MODEL(ratio, known)                                                                                  \
    {                                                                                                        \
        .lanes = 32, .line_ratio = (ratio), .coalesced = 1, .load_misses = 0.5, .known_only = (known)        \
    }
static const struct candidate_model paper = MODEL(32, false), ours = MODEL(16, false), wary = MODEL(32, true);

static inline struct candidates find(struct rig *rig, const struct candidate_model *model, size_t most)
{
    uint64_t entry = CODE_BASE;
    struct cfg cfg =
        cfg_build(rig->code.decoder, &(struct reach_code){fetch, rig}, &entry, 1, &candidate_options);
    struct candidates found = candidates_of(&cfg, model, most);
    cfg_free(&cfg);
    return found;
}

/* for (; p != end; p++, q++) *q = *p * f + g: the inputs are p (a1), q (a2), end (a3), f and g. Returns the address of the
 * first instruction. */
static inline uint64_t write_loop(struct rig *rig, enum insn_id branch)
{
    rig->code.at = CODE_BASE;
    row(rig, INSN_addi, OP(.rd = A0));
    uint64_t loop = rig->code.at;
    row(rig, INSN_flw, OP(.rd = FA3, .rs1 = 11));
    row(rig, INSN_fmadd_s, OP(.rd = FA3, .rs1 = FA3, .rs2 = FA3 + 1, .rs3 = FA3 + 2));
    row(rig, INSN_fsw, OP(.rs1 = 12, .rs2 = FA3));
    row(rig, INSN_addi, OP(.rd = 11, .rs1 = 11, .imm = 4));
    row(rig, INSN_addi, OP(.rd = 12, .rs1 = 12, .imm = 4));
    row(rig, branch, OP(.rs1 = 11, .rs2 = 13, .imm = (int32_t)(loop - rig->code.at)));
    row(rig, INSN_addi, OP(.rd = 11));
    row(rig, INSN_jalr, OP(.rs1 = RA));
    return loop;
}

/* Stores a register to consecutive words from another one's address on. */
static inline void write_words(struct rig *rig, uint8_t address, uint8_t value, int count)
{
    for (int i = 0; i < count; i++)
        row(rig, INSN_sw, OP(.rs1 = address, .rs2 = value, .imm = 4 * i));
}

/* A fence, which is in no block, and the function's end. */
static inline void write_end(struct rig *rig)
{
    row(rig, INSN_fence, OP(.rd = 0));
    row(rig, INSN_jalr, OP(.rs1 = RA));
}

#endif
