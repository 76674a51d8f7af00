/* Programs of a few instructions at BASE. */
#ifndef TESTS_ANALYSIS_FEW_WORDS_H
#define TESTS_ANALYSIS_FEW_WORDS_H

#include <assert.h>

#include "tests/isa/encode.h"

#define BASE UINT64_C(0x80000000)

struct line {
    enum insn_id id;
    struct operands operands;
};

struct code {
    uint32_t words[64];
    size_t count;
};

static inline void row(struct code *code, enum insn_id id, struct operands operands)
{
    assert(code->count < sizeof code->words / sizeof *code->words);
    code->words[code->count++] = encode(id, &operands);
}

static inline struct code code_of(const struct line *lines, size_t count)
{
    struct code code = {.count = 0};
    for (size_t i = 0; i < count; i++)
        row(&code, lines[i].id, lines[i].operands);
    return code;
}

/* The fetch of struct reach_code. */
static inline bool fetch(void *context, uint64_t pc, uint32_t *bits)
{
    const struct code *code = context;
    if (pc < BASE || (pc - BASE) / 4 >= code->count)
        return false;
    *bits = code->words[(pc - BASE) / 4];
    return true;
}

#endif
