#include "host/kernel/driver/operands.h"

#include "host/kernel/memory/ranges.h"

enum { SP = 2, GP = 3, TP = 4 };

/* One 16-bit segment of Xd or Xt. */
struct segment {
    unsigned number; /* register number; 0: unused */
    bool memory;
    uint64_t bytes; /* length of the range */
};

static struct segment segment_of(uint64_t pair_half, uint64_t memory, unsigned i)
{
    static const uint8_t shifts[] = {CROFT_NUCD_GRANULE_SHIFTS};
    uint64_t bits = pair_half >> (16 * i) & 0xffff;
    return (struct segment){bits & 31, memory >> i & 1,
                            (bits >> 5 & CROFT_NUCD_MAX_GRANULES) << shifts[bits >> 14]};
}

static enum operands_cause check_region(struct operands *operands, uint64_t length)
{
    if (length == 0)
        return OPERANDS_NO_LENGTH;
    if (operands->end < operands->begin)
        return OPERANDS_REGION_WRAPS;
    return ranges_cover(operands->begin, operands->end, CROFT_RANGE_EXECUTE) ? OPERANDS_WELL_FORMED
                                                                             : OPERANDS_REGION_OUTSIDE;
}

/* Determines which registers are passed in and which one is returned. */
static enum operands_cause read_registers(const struct segment in[], const struct segment out[],
                                          struct operands *operands)
{
    bool stack = false;
    operands->handed = 1u << GP | 1u << TP;
    for (unsigned i = 0; i < OPERANDS_SEGMENTS; i++) {
        stack |= in[i].number == SP || out[i].number == SP;
        operands->handed |= 1u << in[i].number;
        if (out[i].memory)
            operands->handed |= 1u << out[i].number;
        if (out[i].number == 0 || out[i].memory)
            continue;
        if (operands->result)
            return OPERANDS_TWO_RESULTS;
        operands->result = (uint8_t)out[i].number;
    }
    operands->handed &= ~1u;
    return stack ? OPERANDS_STACK_POINTER : OPERANDS_WELL_FORMED;
}

static enum operands_cause read_range(const struct kernel_frame *frame, const struct segment *segment,
                                      struct operands_range list[], unsigned *count)
{
    if (segment->number == 0 || !segment->memory || segment->bytes == 0)
        return OPERANDS_WELL_FORMED;
    uint64_t first = frame->x[segment->number], last = first + segment->bytes - 1;
    if (last < first)
        return OPERANDS_RANGE_WRAPS;
    if (!ranges_find(first))
        return OPERANDS_RANGE_OUTSIDE;
    list[(*count)++] =
        (struct operands_range){first & ~(uint64_t)(OPERANDS_LINE - 1), (last | (OPERANDS_LINE - 1)) + 1};
    return OPERANDS_WELL_FORMED;
}

enum operands_cause operands_read(const struct kernel_frame *frame, uint32_t bits, uint8_t capabilities,
                                  struct operands *operands)
{
    unsigned xn = bits >> 15 & 31, xd = bits >> 20 & 31;
    uint64_t n = frame->x[xn], d = frame->x[xd],
             t = xd ? frame->x[xd | 1] : 0; /* x0 as a pair means two zeros */
    struct segment in[OPERANDS_SEGMENTS], out[OPERANDS_SEGMENTS];
    if (n >> 32 != CROFT_NUCD_SIGNATURE)
        return OPERANDS_SIGNATURE;
    if (xd % 2)
        return OPERANDS_ODD_PAIR;
    memset(operands, 0, sizeof *operands);
    operands->begin = frame->pc + 4;
    operands->end = operands->begin + 2 * (n & 0xffff);
    operands->capabilities = (uint8_t)(n >> 16);
    for (unsigned i = 0; i < OPERANDS_SEGMENTS; i++) {
        in[i] = segment_of(d, n >> 24 & 15, i);
        out[i] = segment_of(t, n >> 28 & 15, i);
    }
    enum operands_cause cause = check_region(operands, n & 0xffff);
    if (cause == OPERANDS_WELL_FORMED)
        cause = read_registers(in, out, operands);
    for (unsigned i = 0; i < OPERANDS_SEGMENTS && cause == OPERANDS_WELL_FORMED; i++) {
        cause = read_range(frame, &in[i], operands->in, &operands->ins);
        if (cause == OPERANDS_WELL_FORMED)
            cause = read_range(frame, &out[i], operands->out, &operands->outs);
    }
    if (cause == OPERANDS_WELL_FORMED && (operands->capabilities & ~capabilities))
        cause = OPERANDS_CAPABILITY;
    return cause;
}

unsigned operands_packet(const struct operands *operands, const struct kernel_frame *frame, unsigned frm,
                         uint16_t tag, uint64_t words[OPERANDS_WORDS])
{
    unsigned count = 3;
    words[0] = 1 | operands->handed | (uint64_t)operands->result << 32 | (uint64_t)frm << 37 |
               (uint64_t)operands->capabilities << 40 | (uint64_t)tag << 48;
    words[1] = operands->begin | operands->ordered;
    words[2] = operands->end;
    for (unsigned i = 1; i < 32; i++)
        if (operands->handed >> i & 1)
            words[count++] = frame->x[i];
    return count;
}

static bool meet(const struct operands_range *a, unsigned as, const struct operands_range *b, unsigned bs)
{
    for (unsigned i = 0; i < as; i++)
        for (unsigned k = 0; k < bs; k++)
            if (a[i].first < b[k].end && b[k].first < a[i].end)
                return true;
    return false;
}

bool operands_conflict(const struct operands *a, const struct operands *b)
{
    return meet(a->out, a->outs, b->in, b->ins) || meet(a->in, a->ins, b->out, b->outs) ||
           meet(a->out, a->outs, b->out, b->outs);
}
