/* Reads a nucd by the kernel's own driver (host/kernel/driver/operands.c). */
#include "host/linux/decode.h"

#include "host/kernel/driver/operands.h"
#include "host/kernel/memory/ranges.h"

_Static_assert((int)DECODE_WORDS == (int)OPERANDS_WORDS && (int)DECODE_SPANS == (int)OPERANDS_SEGMENTS &&
                   (int)DECODE_LINE == (int)OPERANDS_LINE,
               "the limits are those of nucd");

/* The module asks Linux instead (pages.c). */
const struct croft_range *ranges_find(uint64_t address)
{
    static const struct croft_range any;
    (void)address;
    return &any;
}

bool ranges_cover(uint64_t first, uint64_t end, uint32_t permissions)
{
    (void)first;
    (void)end;
    (void)permissions;
    return true;
}

enum decode_kind decode_kind(const struct decode_source *source)
{
    /* slt x0, rs1, rs2 */
    if ((source->bits & 0xfe007fffu) != 0x2033u)
        return DECODE_OTHER;
    uint64_t xn = source->x[source->bits >> 15 & 31];
    if (xn >> 32 == CROFT_NUCD_SIGNATURE)
        return DECODE_NUCD;
    if (xn >> 32 != CROFT_NUCD_MARK_SIGNATURE)
        return DECODE_OTHER;
    return xn & CROFT_NUCD_MARK_END ? DECODE_MARK_END : DECODE_MARK_BEGIN;
}

static void copy_spans(struct decode_span *to, const struct operands_range *from, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to[i] = (struct decode_span){from[i].first, from[i].end};
}

int decode_task(const struct decode_source *source, struct decode_task *task)
{
    struct operands operands;
    struct kernel_frame frame = {.pc = source->pc};
    for (unsigned i = 1; i < 32; i++)
        frame.x[i] = source->x[i];
    if (operands_read(&frame, source->bits, (uint8_t)source->capabilities, &operands) != OPERANDS_WELL_FORMED)
        return 0;
    operands.ordered = source->ordered != 0;
    task->count = operands_packet(&operands, &frame, source->frm, (uint16_t)source->tag, task->words);
    task->begin = operands.begin;
    task->end = operands.end;
    task->ins = operands.ins;
    task->outs = operands.outs;
    task->result = operands.result;
    copy_spans(task->in, operands.in, operands.ins);
    copy_spans(task->out, operands.out, operands.outs);
    return 1;
}
