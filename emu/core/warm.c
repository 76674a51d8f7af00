#include "emu/core/warm.h"

#include "emu/core/tlb.h"

#define NOWHERE UINT64_MAX

static void fetch_at(struct core *core, struct code_map *code, uint64_t at, struct cache_actor actor)
{
    uint64_t physical;
    if (core->parts.tlb)
        tlb_warm(core->parts.tlb, at, TLB_FETCH);
    if (code_physical(code, at, &physical))
        cache_warm_by(core->parts.l1i, physical, false, actor);
}

static uint64_t code_mask(const struct core *core)
{
    return ~(uint64_t)(cache_configuration(core->parts.l1i)->line - 1);
}

/* Fetches the lines of an instruction, except `line`. mask clears the bits of an address within its line. Returns the line in
 * which the instruction ends. */
static inline uint64_t fetch(struct core *core, struct code_map *code, uint64_t mask, uint64_t pc,
                             unsigned length, uint64_t line)
{
    uint64_t end = pc + length - 1;
    struct cache_actor actor = {.pc = pc, .core = core->parts.number};
    if ((pc & mask) != line)
        fetch_at(core, code, pc, actor);
    if ((end & mask) != (pc & mask))
        fetch_at(core, code, end, actor);
    return end & mask;
}

void warm_fetch(struct core *core, struct code_map *code, uint64_t pc, unsigned length)
{
    (void)fetch(core, code, code_mask(core), pc, length, NOWHERE);
}

/* Warms with the part of an access after its first line. Physical addresses are contiguous up to the end of the
 * page. */
static void access_rest(struct core *core, const struct stream_entry *entry, uint64_t first, bool store)
{
    struct cache_actor actor = {.pc = entry->op->pc, .core = core->parts.number};
    uint64_t address = entry->address + first, physical = entry->physical + first;
    if ((address & (MMU_PAGE - 1)) == 0) {
        (void)mmu_peek(core->parts.hart, address, &physical);
        if (core->parts.tlb)
            tlb_warm(core->parts.tlb, address, TLB_DATA);
    }
    cache_warm_by(core->parts.l1d, physical, store, actor);
}

static void access(struct core *core, const struct stream_entry *entry, uint64_t line)
{
    struct cache_actor actor = {.pc = entry->op->pc, .core = core->parts.number};
    bool store = (entry->op->flags & STREAM_STORE) != 0;
    uint64_t room = line - (entry->physical & (line - 1));
    if (core->parts.tlb)
        tlb_warm(core->parts.tlb, entry->address, TLB_DATA);
    cache_warm_by(core->parts.l1d, entry->physical, store, actor);
    if (entry->op->size > room)
        access_rest(core, entry, room, store);
}

void warm_batch(struct core *core, struct code_map *code, struct predictor *predictor, uint32_t first)
{
    const struct stream *stream = &core->stream;
    const struct predict_counts counts = predictor->count;
    const uint64_t mask = code_mask(core), data_line = cache_configuration(core->parts.l1d)->line;
    uint64_t code_line = NOWHERE;
    for (uint32_t i = first; i < stream->count; i++) {
        const struct stream_entry *entry = &stream->entries[i];
        const struct stream_op *op = entry->op;
        code_line = fetch(core, code, mask, op->pc, op->length, code_line);
        if (op->flags & (STREAM_LOAD | STREAM_STORE))
            access(core, entry, data_line);
        else if (op->flags & (STREAM_BRANCH | STREAM_JUMP))
            (void)predict(predictor, op, entry[1].op->pc);
    }
    predictor->count = counts;
}

void warm_serial(struct core *core, const struct serial *serial)
{
    struct cache *l1d = core->parts.l1d;
    struct cache_actor actor = {.pc = serial->report.pc, .core = core->parts.number};
    uint64_t line = cache_configuration(l1d)->line, end = serial->physical + serial->size;
    if (serial->wait == SERIAL_LATENCY)
        return;
    if (core->parts.tlb)
        tlb_warm(core->parts.tlb, core->stream.step_entry.address, TLB_DATA);
    if (serial->wait == SERIAL_MAINTAIN)
        cache_warm_maintain(l1d, serial->op, serial->physical, serial->size);
    for (uint64_t at = serial->physical; serial->wait == SERIAL_CACHE && at < end; at = (at | (line - 1)) + 1)
        cache_warm_by(l1d, at, serial->use == CACHE_STORE, actor);
}
