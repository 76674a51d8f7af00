#include "emu/nucd/window/state.h"

#include "emu/hart/access.h"
#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"
#include "emu/hart/probe.h"
#include "emu/hart/stream/op.h"
#include "emu/nucd/packet.h"

uint64_t window_operand(const struct window *w, unsigned reg, uint64_t *value)
{
    *value = 0;
    if (reg == STREAM_NONE)
        return WINDOW_NONE;
    uint64_t number = w->writer[reg];
    if (number < w->head) {
        *value = reg < 32 ? w->hart->x[reg] : w->hart->f[reg - 32];
        return WINDOW_NONE;
    }
    const struct window_entry *writer = window_seen(w, number);
    *value = writer->result;
    return writer->evaluated ? WINDOW_NONE : number;
}

uint64_t window_read(const void *context, unsigned reg)
{
    uint64_t value;
    uint64_t producer = window_operand(context, reg ? reg : STREAM_NONE, &value);
    assert(producer == WINDOW_NONE);
    return value;
}

bool window_knows(const struct window *w, unsigned reg, uint64_t *value)
{
    return window_operand(w, reg, value) == WINDOW_NONE;
}

/* Returns the physical address of a parcel that has just been fetched. */
static uint64_t parcel_physical(struct hart *hart, uint64_t pc)
{
    uint64_t physical, page = pc & ~(uint64_t)(MMU_PAGE - 1);
    if (hart->fetch_page == page)
        return hart->memory->base + (uint64_t)(hart->fetch_bytes - hart->memory->bytes) + (pc - page);
    bool found = mmu_check(hart, pc, 2, MMU_FETCH, (enum privilege)hart->privilege, &physical);
    assert(found);
    return physical;
}

/* Reads the instruction's bits at pc. The upper half is 0 for a compressed instruction. */
static bool fetch_bits(struct hart *hart, uint64_t pc, uint32_t *bits)
{
    uint16_t low, high = 0;
    if (!access_fetch(hart, pc, &low))
        return false;
    if ((low & 3) == 3 && !access_fetch(hart, pc + 2, &high))
        return false;
    *bits = low | (uint32_t)high << 16;
    return true;
}

static void describe(struct window *w, struct window_entry *entry, uint64_t pc, uint32_t bits)
{
    struct window_decoded *decoded = &w->decoded[(pc >> 1) % WINDOW_DECODED];
    if (decoded->op.pc != pc || decoded->insn.bits != bits || decoded->insn.length == 0) {
        decoded->insn = decode(w->hart->decoder, bits);
        stream_op_describe(&decoded->op, pc, &decoded->insn);
    }
    entry->insn = decoded->insn;
    entry->op = decoded->op;
    entry->op.insn = &entry->insn;
    entry->next_pc = pc + entry->op.length;
}

/* Initializes an entry about which nothing is known. */
static void clear(const struct window *w, struct window_entry *entry)
{
    entry->number = w->tail;
    entry->age = w->tasks->next_age;
    for (unsigned i = 0; i < DEFER_OPERANDS; i++)
        entry->producer[i] = WINDOW_NONE;
    entry->held_for = WINDOW_NONE;
    entry->deferred = entry->evaluated = entry->address_known = entry->is_task = false;
    entry->result = 0;
    entry->fflags = 0;
}

/* Fetches an instruction. Returns false when it cannot be executed ahead. */
static bool fetch(struct window *w, struct window_entry *entry, uint64_t pc)
{
    struct hart *hart = w->hart;
    struct trap trap = hart->trap;
    uint32_t bits;
    if (hart->triggers.armed || (hart->breakpoint_count && hart_has_breakpoint(hart, pc)))
        return false;
    if (!fetch_bits(hart, pc, &bits)) {
        hart->trap = trap;
        return false;
    }
    clear(w, entry);
    describe(w, entry, pc, bits);
    for (unsigned i = 0; 2 * i < entry->op.length; i++)
        entry->code[i] = parcel_physical(hart, pc + 2 * i);
    return true;
}

/* Returns whether a stream would execute the instruction in a batch, judged by its row and the hart's
 * modes. */
static bool is_plain(const struct hart *hart, const struct window_entry *entry)
{
    const struct insn_info *info = &insn_table[entry->op.id];
    if (entry->op.flags & STREAM_SERIAL)
        return false;
    if (insn_needs_fp(info))
        return (hart->priv.mstatus & MSTATUS_FS) &&
               (!format_table[info->format].rm || entry->input.mode <= RM_RMM);
    return true;
}

static struct window_step stopped(enum window_stop stop, uint64_t number)
{
    return (struct window_step){stop, number};
}

static struct window_step serial(const struct window *w)
{
    return stopped(WINDOW_SERIAL, w->head == w->tail ? WINDOW_NONE : w->tail - 1);
}

/* Returns the producer of the first register in the set whose value is deferred, or WINDOW_NONE. */
static uint64_t deferred_of(const struct window *w, uint64_t set)
{
    for (; set != 0; set &= set - 1) {
        uint64_t value, producer = window_operand(w, (unsigned)__builtin_ctzll(set), &value);
        if (producer != WINDOW_NONE)
            return producer;
    }
    return WINDOW_NONE;
}

/* Waits until Xn, Xd, Xt and the registers that they name have values, because a packet needs values. */
static struct window_step dispatch_nucd(struct window *w, const struct window_entry *entry)
{
    unsigned xn = entry->insn.rs1, xd = entry->insn.rs2;
    bool pair = xd != 0 && xd % 2 == 0;
    uint64_t named = UINT64_C(1) << xn | (pair ? UINT64_C(3) << xd : 0);
    uint64_t producer = deferred_of(w, named & ~UINT64_C(1));
    if (producer == WINDOW_NONE && pair)
        producer = deferred_of(
            w, nucd_packet_sources(window_read(w, xn), window_read(w, xd), window_read(w, xd + 1)));
    return producer == WINDOW_NONE ? stopped(WINDOW_NUCD, w->tail) : stopped(WINDOW_OPERAND, producer);
}

static void capture(struct window *w, struct window_entry *entry)
{
    const unsigned regs[DEFER_OPERANDS] = {entry->op.rs1, entry->op.rs2, entry->op.rs3};
    for (unsigned i = 0; i < DEFER_OPERANDS; i++)
        entry->producer[i] = window_operand(w, regs[i], &entry->input.operand[i]);
}

static uint64_t first_unknown_store(const struct window *w)
{
    uint64_t i = w->store_head;
    while (window_seen(w, window_store(w, i))->address_known)
        i++;
    return window_store(w, i);
}

/* Returns why the entry, whose operands are captured, cannot be evaluated yet; WINDOW_DISPATCHED if it can
 * be. */
static struct window_step obstacle(const struct window *w, const struct window_entry *entry)
{
    unsigned flags = entry->op.flags;
    if ((flags & STREAM_STORE) && w->store_tail - w->store_head == w->stores_limit)
        return stopped(WINDOW_STORES, window_store(w, w->store_head));
    if ((flags & STREAM_LOAD) && w->unknown)
        return stopped(WINDOW_ADDRESS, first_unknown_store(w));
    for (unsigned i = 0; i < DEFER_OPERANDS && flags & (STREAM_BRANCH | STREAM_INDIRECT); i++)
        if (entry->producer[i] != WINDOW_NONE)
            return stopped(WINDOW_OPERAND, entry->producer[i]);
    return stopped(WINDOW_DISPATCHED, entry->number);
}

static void push(struct window *w, struct window_entry *entry)
{
    entry->deferred = !entry->evaluated;
    if (entry->op.rd != STREAM_NONE)
        w->writer[entry->op.rd] = entry->number;
    if (entry->op.flags & STREAM_STORE) {
        w->stores[w->store_tail++ & w->mask] = entry->number;
        w->unknown += !entry->address_known;
    }
    w->tail++;
}

/* Returns the store or task that writes the entry's code, or WINDOW_NONE. */
static uint64_t code_writer(const struct window *w, const struct window_entry *entry, uint64_t pc)
{
    int slot = nucd_depend_load(w->tasks, pc, pc + entry->op.length - 1, entry->age);
    return slot != NUCD_NO_TASK ? w->task_number[slot] : window_find_code(w, entry);
}

/* Returns the youngest task that is not complete, or WINDOW_NONE. */
static uint64_t youngest_task(const struct window *w)
{
    uint64_t youngest = WINDOW_NONE;
    for (uint64_t left = w->tasks->used; left; left &= left - 1) {
        uint64_t number = w->task_number[__builtin_ctzll(left)];
        youngest = number > youngest ? number : youngest;
    }
    return youngest;
}

struct window_step window_step(struct window *w)
{
    struct window_entry *entry = window_at(w, w->tail);
    uint64_t pc = window_pc(w);
    if (w->tail - w->head == w->size)
        return stopped(WINDOW_FULL, w->head);
    if (!fetch(w, entry, pc))
        return serial(w);
    uint64_t writer = code_writer(w, entry, pc);
    if (writer != WINDOW_NONE)
        return stopped(WINDOW_CODE, writer);
    if (entry->op.id == INSN_nucd)
        return dispatch_nucd(w, entry);
    if (entry->op.id == INSN_nucd_order && w->tasks->used)
        return stopped(WINDOW_ORDER, youngest_task(w));
    entry->input.pc = pc;
    entry->input.mode = entry->insn.rm == RM_DYN ? w->hart->frm : entry->insn.rm;
    if (!is_plain(w->hart, entry))
        return serial(w);
    capture(w, entry);
    struct window_step step = obstacle(w, entry);
    if (step.stop != WINDOW_DISPATCHED)
        return step;
    if (window_evaluate(w, entry) == WINDOW_REFUSED)
        return serial(w);
    push(w, entry);
    return step;
}

/* Returns the entry after the youngest one, which WINDOW_NUCD has filled in. */
static struct window_entry *nucd_entry(struct window *w)
{
    struct window_entry *entry = window_at(w, w->tail);
    assert(entry->number == w->tail && entry->op.id == INSN_nucd);
    return entry;
}

uint64_t window_task(struct window *w, const struct nucd_task *task, int slot)
{
    struct window_entry *entry = nucd_entry(w);
    entry->is_task = true;
    entry->op.flags &= (uint8_t)~STREAM_SERIAL;
    entry->slot = (uint8_t)(slot == NUCD_NO_TASK ? 0 : slot);
    entry->next_pc = task->end;
    entry->op.rd = task->result ? task->result : STREAM_NONE;
    if (slot != NUCD_NO_TASK)
        w->task_number[slot] = entry->number;
    push(w, entry);
    return entry->number;
}

uint64_t window_hint(struct window *w)
{
    struct window_entry *entry = nucd_entry(w);
    entry->evaluated = true;
    entry->op.flags &= (uint8_t)~STREAM_SERIAL;
    push(w, entry);
    return entry->number;
}
