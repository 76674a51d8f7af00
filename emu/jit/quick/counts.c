/* Counts of exits. A count in memory is carried from turn to turn of a loop, which a host may take five cycles for: more than a small loop
 * needs. What is counted most is therefore counted in floating-point registers that hold no guest register, as far as there are, and
 * added to the counts in memory where the region is left, and around calls. */
#include <stddef.h>

#include "emu/hart/hart.h"
#include "emu/jit/quick/state.h"

enum { HOT_OF = 16, LEAST_XMM = 6, LAST_XMM = 15, VPXOR = 0xef, VPCMPEQD = 0x76, VPSUBQ = 0xfb };

static bool is_home(const struct quick *q, unsigned xmm)
{
    for (unsigned f = 0; f < 32; f++)
        if (q->float_home[f] == xmm)
            return true;
    return false;
}

/* Enters an exit among those that are counted most. */
static void enter(struct counters *counters, const union op *slot)
{
    unsigned at = counters->count < COUNTERS_MOST ? counters->count++ : COUNTERS_MOST;
    for (; at > 0 && counters->slots[at - 1]->exit.count < slot->exit.count; at--)
        if (at < COUNTERS_MOST)
            counters->slots[at] = counters->slots[at - 1];
    if (at < COUNTERS_MOST)
        counters->slots[at] = slot;
}

void quick_choose_counters(struct quick *q)
{
    struct counters *counters = &q->counters;
    uint64_t all = 0;
    for (uint32_t b = 0; b < q->region->count; b++)
        for (uint32_t e = 0; e < q->region->blocks[b].view.exits; e++) {
            const struct region_block *block = &q->region->blocks[b];
            const struct block_exit exit = block_view_exit(q->hart->blocks, &block->view, e);
            all += exit.slot->exit.count;
            if (exit.retired <= block->limit)
                enter(counters, exit.slot);
        }
    unsigned hot = 0, xmm = LEAST_XMM;
    while (hot < counters->count && counters->slots[hot]->exit.count > all / HOT_OF)
        hot++;
    while (xmm <= LAST_XMM && is_home(q, xmm))
        xmm++;
    counters->ones = (uint8_t)xmm;
    counters->count = 0;
    while (counters->count < hot && ++xmm <= LAST_XMM)
        if (!is_home(q, xmm))
            counters->xmm[counters->count++] = (uint8_t)xmm;
}

static void emit_vector(struct quick *q, unsigned opcode, unsigned to, unsigned first, unsigned second)
{
    x86_vex(&q->code, 1, 1, opcode, false, to, first, in_register(second));
}

static void note_slot(struct quick *q, const union op *slot)
{
    struct open_jump *jump = quick_jump(q, q->code.size - 4);
    jump->kind = TO_SLOT;
    jump->op = slot;
}

void quick_begin_counts(struct quick *q)
{
    const struct counters *counters = &q->counters;
    for (unsigned i = 0; i < counters->count; i++)
        emit_vector(q, VPXOR, counters->xmm[i], counters->xmm[i], counters->xmm[i]);
    if (counters->count)
        emit_vector(q, VPCMPEQD, counters->ones, counters->ones, counters->ones);
}

void quick_end_counts(struct quick *q)
{
    static const uint8_t add_rcx[] = {0x48, 0x01, 0x0d, 0, 0, 0, 0};
    const struct counters *counters = &q->counters;
    for (unsigned i = 0; i < counters->count; i++) {
        x86_op(&q->code, 0x66, 0x0f7e, true, counters->xmm[i], in_register(RCX));
        x86_bytes(&q->code, add_rcx, sizeof add_rcx);
        note_slot(q, counters->slots[i]);
    }
}

void quick_count(struct quick *q, const union op *slot)
{
    static const uint8_t increment[] = {0x48, 0xff, 0x05, 0, 0, 0, 0};
    const struct counters *counters = &q->counters;
    for (unsigned i = 0; i < counters->count; i++)
        if (counters->slots[i] == slot) { /* minus -1 */
            emit_vector(q, VPSUBQ, counters->xmm[i], counters->xmm[i], counters->ones);
            return;
        }
    x86_bytes(&q->code, increment, sizeof increment);
    note_slot(q, slot);
}
