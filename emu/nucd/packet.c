#include "emu/nucd/packet.h"

#include <assert.h>
#include <string.h>

enum { SP = 2, GP = 3, TP = 4 };

/* A 16-bit segment of Xd or Xt. `memory` is its bit of M. */
struct segment {
    unsigned reg;
    uint64_t bytes; /* size of the range */
    bool memory;
};

static struct segment segment_of(uint64_t operand, unsigned memory, unsigned i)
{
    static const uint8_t shifts[] = {CROFT_NUCD_GRANULE_SHIFTS};
    unsigned bits = (unsigned)(operand >> 16 * i & 0xffff);
    return (struct segment){
        .reg = bits & 31,
        .bytes = (uint64_t)(bits >> 5 & CROFT_NUCD_MAX_GRANULES) << shifts[bits >> 14],
        .memory = memory >> i & 1,
    };
}

static unsigned memory_in(uint64_t xn)
{
    return (unsigned)(xn >> 24 & 15);
}

static unsigned memory_out(uint64_t xn)
{
    return (unsigned)(xn >> 28 & 15);
}

uint32_t nucd_packet_sources(uint64_t xn, uint64_t xd, uint64_t xt)
{
    uint32_t mask = 1u << GP | 1u << TP;
    for (unsigned i = 0; i < NUCD_SEGMENTS; i++) {
        struct segment in = segment_of(xd, memory_in(xn), i), out = segment_of(xt, memory_out(xn), i);
        mask |= 1u << in.reg;
        if (out.memory)
            mask |= 1u << out.reg;
    }
    return mask & ~1u;
}

/* Adds the range of a segment that is in use. An empty range adds nothing. */
static enum nucd_cause range_add(struct nucd_ranges *ranges, const struct segment *segment,
                                 const struct nucd_operands *operands, const struct nucd_limits *limits)
{
    if (!segment->memory || segment->bytes == 0)
        return NUCD_WELL_FORMED;
    uint64_t first = operands->read(operands->context, segment->reg), last = first + segment->bytes - 1;
    if (last < first)
        return NUCD_CAUSE_RANGE_WRAP;
    if (limits->memory && !limits->memory(limits->context, first))
        return NUCD_CAUSE_RANGE;
    ranges->range[ranges->count++] = (struct nucd_range){
        .first = first & ~(uint64_t)(NUCD_LINE - 1),
        .last = last | (NUCD_LINE - 1),
    };
    return NUCD_WELL_FORMED;
}

static enum nucd_cause ranges_read(const struct nucd_operands *operands, const struct nucd_limits *limits,
                                   const uint64_t x[3], struct nucd_task *task)
{
    for (unsigned i = 0; i < NUCD_SEGMENTS; i++) {
        struct segment in = segment_of(x[1], memory_in(x[0]), i), out = segment_of(x[2], memory_out(x[0]), i);
        enum nucd_cause cause = NUCD_WELL_FORMED;
        if (in.reg != 0)
            cause = range_add(&task->memory.in, &in, operands, limits);
        if (cause == NUCD_WELL_FORMED && out.reg != 0)
            cause = range_add(&task->memory.out, &out, operands, limits);
        if (cause != NUCD_WELL_FORMED)
            return cause;
    }
    return NUCD_WELL_FORMED;
}

/* Finds the result's register, and checks that no segment names sp. */
static enum nucd_cause registers_check(const uint64_t x[3], struct nucd_task *task)
{
    bool stack = false;
    for (unsigned i = 0; i < NUCD_SEGMENTS; i++) {
        struct segment in = segment_of(x[1], memory_in(x[0]), i), out = segment_of(x[2], memory_out(x[0]), i);
        stack |= in.reg == SP || out.reg == SP;
        if (out.reg == 0 || out.memory)
            continue;
        if (task->result != 0)
            return NUCD_CAUSE_RESULTS;
        task->result = (uint8_t)out.reg;
    }
    return stack ? NUCD_CAUSE_STACK : NUCD_WELL_FORMED;
}

static enum nucd_cause region_check(const struct nucd_limits *limits, uint64_t xn, struct nucd_task *task)
{
    uint64_t bytes = 2 * (xn & 0xffff);
    task->end = task->begin + bytes;
    if (bytes == 0)
        return NUCD_CAUSE_LENGTH;
    if (task->end < task->begin)
        return NUCD_CAUSE_WRAP;
    if (limits->code && !limits->code(limits->context, task->begin, task->end))
        return NUCD_CAUSE_CODE;
    return NUCD_WELL_FORMED;
}

static bool capabilities_exist(const struct nucd_limits *limits, uint8_t capabilities)
{
    for (unsigned accelerator = 0; accelerator < limits->accelerators; accelerator++)
        if ((limits->capabilities[accelerator] & capabilities) == capabilities)
            return true;
    return false;
}

static void live_ins_read(const struct nucd_operands *operands, uint32_t mask, struct nucd_live_ins *live_ins)
{
    unsigned count = 0;
    live_ins->mask = mask;
    for (; mask != 0; mask &= mask - 1)
        live_ins->value[count++] = operands->read(operands->context, (unsigned)__builtin_ctz(mask));
}

enum nucd_cause nucd_packet_task(const struct nucd_operands *operands, const struct nucd_limits *limits,
                                 struct nucd_task *task)
{
    uint64_t xn = operands->read(operands->context, operands->xn);
    if (xn >> 32 != NUCD_SIGNATURE)
        return NUCD_CAUSE_SIGNATURE;
    if (operands->xd % 2 != 0)
        return NUCD_CAUSE_PAIR;
    /* The pair x0 reads as two zeros, as in Zdinx; x1 does not belong to it. */
    bool pair = operands->xd != 0;
    const uint64_t x[3] = {xn, pair ? operands->read(operands->context, operands->xd) : 0,
                           pair ? operands->read(operands->context, operands->xd + 1u) : 0};
    *task = (struct nucd_task){.pc = operands->pc,
                               .begin = operands->pc + 4,
                               .capabilities = (uint8_t)(xn >> 16),
                               .frm = operands->frm};
    enum nucd_cause cause = region_check(limits, xn, task);
    if (cause == NUCD_WELL_FORMED)
        cause = registers_check(x, task);
    if (cause == NUCD_WELL_FORMED)
        cause = ranges_read(operands, limits, x, task);
    if (cause == NUCD_WELL_FORMED && !capabilities_exist(limits, task->capabilities))
        cause = NUCD_CAUSE_CAPABILITY;
    if (cause == NUCD_WELL_FORMED)
        live_ins_read(operands, nucd_packet_sources(x[0], x[1], x[2]), &task->live_ins);
    return cause;
}

unsigned nucd_packet_write(const struct nucd_task *task, uint16_t tag, uint64_t *words)
{
    unsigned count = nucd_packet_words(task);
    assert(count <= NUCD_PACKET_WORDS);
    words[0] = 1 | (uint64_t)task->live_ins.mask | (uint64_t)(task->result & 31) << 32 |
               (uint64_t)(task->frm & 7) << 37 | (uint64_t)task->capabilities << 40 | (uint64_t)tag << 48;
    words[1] = task->begin | task->ordered;
    words[2] = task->end;
    memcpy(words + NUCD_PACKET_FIXED, task->live_ins.value,
           (count - NUCD_PACKET_FIXED) * sizeof *task->live_ins.value);
    return count;
}

unsigned nucd_packet_length(uint64_t word)
{
    unsigned registers = (unsigned)__builtin_popcount((uint32_t)word & ~1u);
    return word & 1 && registers <= NUCD_LIVE_INS ? NUCD_PACKET_FIXED + registers : 0;
}

void nucd_packet_read(const uint64_t *words, struct nucd_packet *packet)
{
    unsigned count = nucd_packet_length(words[0]);
    assert(count > 0);
    *packet = (struct nucd_packet){
        .begin = words[1] & ~UINT64_C(1),
        .ordered = words[1] & 1,
        .end = words[2],
        .live_ins.mask = (uint32_t)words[0] & ~1u,
        .tag = (uint16_t)(words[0] >> 48),
        .capabilities = (uint8_t)(words[0] >> 40),
        .result = words[0] >> 32 & 31,
        .frm = words[0] >> 37 & 7,
    };
    memcpy(packet->live_ins.value, words + NUCD_PACKET_FIXED,
           (count - NUCD_PACKET_FIXED) * sizeof *packet->live_ins.value);
}
