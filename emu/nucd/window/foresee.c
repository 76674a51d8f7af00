#include "emu/nucd/window/foresee.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/access.h"
#include "emu/hart/defer.h"
#include "emu/hart/hart.h"
#include "emu/hart/stream/op.h"
#include "emu/nucd/region.h"
#include "emu/nucd/window/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

enum { REGISTERS = 64, SP = 2, FIRST_LINES = 1024 };

/* The region's stack is a window of addresses that no program uses; it grows downwards from its end. */
#define STACK_END  (UINT64_C(1) << 62)
#define STACK_SIZE (UINT64_C(64) << 10)

/* A line that the region has accessed. The masks have a bit for each byte. stored: bytes that the region has
 * stored; known: of these, bytes whose values are known. */
struct seen_line {
    uint64_t line;
    uint64_t stored, known;
    bool used, read, written;
    uint8_t bytes[NUCD_LINE];
};

struct oracle {
    struct window *window;
    struct hart *hart;
    const struct nucd_depend *tasks;
    const struct nucd_task *task;
    uint64_t reg[REGISTERS], pc;
    uint64_t known; /* set of registers */
    struct nucd_region region;
    struct insn insn;
    struct stream_op op;
    struct seen_line *lines; /* open addressing, by a hash of the line */
    unsigned count, room;    /* room: a power of two */
    bool unclear;            /* the load under way has unknown bytes */
};

static struct seen_line *slot_of(const struct oracle *o, uint64_t line)
{
    unsigned at = (unsigned)(line / NUCD_LINE * MIX_FACTOR >> 40) & (o->room - 1);
    while (o->lines[at].used && o->lines[at].line != line)
        at = (at + 1) & (o->room - 1);
    return &o->lines[at];
}

static void grow(struct oracle *o)
{
    struct seen_line *old = o->lines;
    unsigned room = o->room;
    o->room = room ? 2 * room : FIRST_LINES;
    o->lines = alloc(o->room, sizeof *o->lines);
    for (unsigned i = 0; i < room; i++)
        if (old[i].used)
            *slot_of(o, old[i].line) = old[i];
    free(old);
}

/* Returns the line with the address. The result is valid until the next call. */
static struct seen_line *line_at(struct oracle *o, uint64_t address)
{
    const uint64_t line = address & ~(uint64_t)(NUCD_LINE - 1);
    if (2 * (o->count + 1) > o->room)
        grow(o);
    struct seen_line *seen = slot_of(o, line);
    if (!seen->used) {
        *seen = (struct seen_line){.line = line, .used = true};
        o->count++;
    }
    return seen;
}

static bool is_stack(uint64_t address)
{
    return address - (STACK_END - STACK_SIZE) < STACK_SIZE;
}

/* Reads bytes as they are before the region: from older stores and from memory. Returns false if the access
 * could not be done. Sets o->unclear if the value is not known. */
static bool read_below(struct oracle *o, uint64_t address, unsigned size, uint64_t *value)
{
    uint64_t physical;
    *value = 0;
    if (is_stack(address)) {
        o->unclear = true;
        return true;
    }
    if (!window_locate(o->window, address, size, false, &physical))
        return false;
    if (nucd_depend_load(o->tasks, address, address + size - 1, o->tasks->next_age) != NUCD_NO_TASK ||
        !window_peek(o->window, physical, size, value))
        o->unclear = true;
    return true;
}

static bool load(void *context, uint64_t address, unsigned size, uint64_t *value)
{
    struct oracle *o = context;
    o->unclear = false;
    if (!read_below(o, address, size, value))
        return false;
    bool below = o->unclear, missing = false;
    o->unclear = false;
    for (unsigned i = 0; i < size; i++) {
        struct seen_line *seen = line_at(o, address + i);
        unsigned byte = (unsigned)((address + i) % NUCD_LINE);
        seen->read = true;
        if (!(seen->stored >> byte & 1)) {
            missing = true;
            continue;
        }
        o->unclear |= !(seen->known >> byte & 1);
        *value = (*value & ~(UINT64_C(0xff) << 8 * i)) | (uint64_t)seen->bytes[byte] << 8 * i;
    }
    o->unclear |= missing && below;
    return true;
}

static bool store(struct oracle *o, const struct defer_outcome *outcome, bool known)
{
    uint64_t physical;
    if (!is_stack(outcome->address) &&
        !window_locate(o->window, outcome->address, outcome->size, true, &physical))
        return false;
    for (unsigned i = 0; i < outcome->size; i++) {
        struct seen_line *seen = line_at(o, outcome->address + i);
        unsigned byte = (unsigned)((outcome->address + i) % NUCD_LINE);
        uint64_t bit = UINT64_C(1) << byte;
        seen->written = true;
        seen->stored |= bit;
        seen->known = known ? seen->known | bit : seen->known & ~bit;
        seen->bytes[byte] = (uint8_t)(outcome->data >> 8 * i);
    }
    return true;
}

static bool fetch(struct oracle *o)
{
    struct trap trap = o->hart->trap;
    bool fetched = step_fetch(o->hart, o->pc, &o->insn);
    o->hart->trap = trap;
    if (fetched)
        stream_op_describe(&o->op, o->pc, &o->insn);
    return fetched;
}

static bool is_known(const struct oracle *o, unsigned reg)
{
    return reg == STREAM_NONE || o->known >> reg & 1;
}

static void set_result(struct oracle *o, uint64_t value, bool known)
{
    if (o->op.rd == STREAM_NONE)
        return;
    o->reg[o->op.rd] = value;
    o->known = known ? o->known | UINT64_C(1) << o->op.rd : o->known & ~(UINT64_C(1) << o->op.rd);
}

static void move_on(struct oracle *o, uint64_t next_pc)
{
    nucd_region_follow(&o->region, &o->op, 0); /* execute() gives up at a load of sp */
    o->pc = next_pc;
}

/* Returns whether the instruction is a HINT that changes nothing, or a fence. */
static bool is_idle(const struct oracle *o)
{
    return o->op.id == INSN_nucd || o->op.id == INSN_tom_begin || o->op.id == INSN_fence ||
           o->op.id == INSN_pause;
}

/* Executes an instruction. Returns false to give up. */
static bool execute(struct oracle *o)
{
    const unsigned regs[DEFER_OPERANDS] = {o->op.rs1, o->op.rs2, o->op.rs3};
    struct defer_input input = {.pc = o->pc, .mode = o->insn.rm == RM_DYN ? o->task->frm : o->insn.rm};
    const struct defer_view view = {load, o};
    struct defer_outcome outcome;
    bool known = true;
    for (unsigned i = 0; i < DEFER_OPERANDS; i++) {
        known &= is_known(o, regs[i]);
        input.operand[i] = regs[i] == STREAM_NONE ? 0 : o->reg[regs[i]];
    }
    if (!known && o->op.flags & (STREAM_BRANCH | STREAM_INDIRECT))
        return false;
    if (o->op.rd == SP && o->op.flags & STREAM_LOAD)
        return false;
    if (o->op.flags & (STREAM_LOAD | STREAM_STORE) && !is_known(o, o->op.rs1))
        return false;
    o->unclear = false;
    if (!defer_evaluate(&o->insn, &input, &view, &outcome))
        return false;
    if (outcome.size > 0 && !store(o, &outcome, known))
        return false;
    set_result(o, outcome.result, known && !o->unclear);
    move_on(o, outcome.next_pc);
    return true;
}

static void start(struct oracle *o)
{
    const struct nucd_live_ins *live = &o->task->live_ins;
    unsigned at = 0;
    o->pc = o->task->begin;
    o->region = (struct nucd_region){.end = o->task->end};
    for (unsigned reg = 0; reg < 32; reg++)
        if (live->mask >> reg & 1)
            o->reg[reg] = live->value[at++];
    o->reg[SP] = STACK_END;
    o->known = live->mask | 1 | 1 << SP;
}

static bool run(struct oracle *o)
{
    start(o);
    for (unsigned i = 0; i < FORESEE_MOST; i++) {
        if (nucd_region_ends(&o->region, o->pc))
            return true;
        if (!fetch(o) || o->op.id == INSN_nucd_order)
            return false;
        if (is_idle(o))
            move_on(o, o->pc + o->op.length);
        else if (o->op.flags & STREAM_SERIAL || !execute(o))
            return false;
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    const struct seen_line *one = a, *two = b;
    return one->line < two->line ? -1 : one->line > two->line;
}

static struct nucd_access_set *collect(struct oracle *o)
{
    struct nucd_access_set *set = alloc(1, sizeof *set);
    unsigned count = 0;
    for (unsigned i = 0; i < o->room; i++)
        if (o->lines[i].used && !is_stack(o->lines[i].line))
            o->lines[count++] = o->lines[i];
    if (count > 0)
        qsort(o->lines, count, sizeof *o->lines, compare);
    for (unsigned i = 0; i < count; i++) {
        if (o->lines[i].read)
            nucd_lines_append(&set->in, o->lines[i].line);
        if (o->lines[i].written)
            nucd_lines_append(&set->out, o->lines[i].line);
    }
    return set;
}

struct nucd_access_set *foresee(struct window *window, struct hart *hart, const struct nucd_depend *tasks,
                                const struct nucd_task *task)
{
    struct oracle o = {.window = window, .hart = hart, .tasks = tasks, .task = task};
    struct nucd_access_set *set = run(&o) ? collect(&o) : NULL;
    free(o.lines);
    return set;
}
