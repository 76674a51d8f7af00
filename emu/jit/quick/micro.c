#include "emu/jit/quick/micro.h"

#include "emu/hart/hart.h"

static const struct micro micros[] = {
#define MICRO(operation, bits, extra, constants, a, b, c) {operation, bits, extra, constants, {a, b, c}},
#include "emu/jit/quick/micro.inc"
#undef MICRO
    {.operation = MICRO_RET},
};

#define FUNCTION(function) uint64_t function(void);
#include "emu/jit/quick/micro.inc"
#undef FUNCTION

static const struct micro_row rows[INSN_COUNT][2] = {
#define ROW(insn, rtz, first, count, function) [INSN_##insn][rtz] = {&micros[first], count, function},
#include "emu/jit/quick/micro.inc"
};

struct micro_row micro_row(enum insn_id id, bool rtz)
{
    return rows[id][rtz];
}

bool micro_is_nothing(enum insn_id id)
{
    const struct micro_row row = micro_row(id, false);
    return row.count && row.micros->operation == MICRO_NOTHING;
}
