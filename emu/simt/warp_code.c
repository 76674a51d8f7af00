#include "emu/simt/warp_code.h"

#include <stdlib.h>

#include "emu/hart/stream_op.h"
#include "emu/sim/alloc.h"
#include "emu/simt/warp_debug.h"
#include "emu/simt/warp_meet.h"
#include "emu/simt/warp_state.h"

enum { BUCKETS = 64, SP = 2 };

struct code_page {
    uint64_t address;
    struct code_page *next; /* in the same bucket */
    uint64_t number;        /* of its page of memory (code_pages.h) plus 1; 0: nothing was decoded */
    struct warp_op ops[WARP_CODE_OPS];
};

struct warp_code {
    const struct warp_table *table;
    struct warp_meets meets;
    struct code_page *buckets[BUCKETS];
};

static const struct warp_table *choose_table(void)
{
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    return v3 ? &warp_rows_v3 : &warp_rows_base;
}

struct warp_code *warp_code_new(struct error *err)
{
    struct warp_code *code = calloc(1, sizeof *code);
    if (!code) {
        (void)error_set(err, "no memory for the code of warps");
        return NULL;
    }
    code->table = choose_table();
    return code;
}

void warp_code_flush(struct warp_code *code)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct code_page *page = code->buckets[i], *next; page; page = next) {
            next = page->next;
            free(page);
        }
        code->buckets[i] = NULL;
    }
    warp_meets_free(&code->meets);
}

void warp_code_free(struct warp_code *code)
{
    if (code)
        warp_code_flush(code);
    free(code);
}

void warp_code_use(struct warp_code *code, const struct warp_table *table)
{
    code->table = table;
}

/* An instruction that the store changes may begin 2 bytes before the store, perhaps on the page before. */
bool warp_code_forget(struct warp_code *code, uint64_t number, unsigned first, unsigned last)
{
    bool left = false;
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct code_page *page = code->buckets[i]; page; page = page->next) {
            if (first < 2)
                page->ops[WARP_CODE_OPS - 1].run = NULL;
            if (page->number != number + 1)
                continue;
            left = true;
            for (unsigned op = (first < 2 ? 0 : first - 2) / 2; op <= last / 2; op++)
                page->ops[op].run = NULL;
        }
    }
    if (left)
        warp_meets_free(&code->meets);
    return left;
}

/* Notes that the page of ops that contains pc is decoded from bytes in memory. */
static void mark(struct warp_memory *memory, uint64_t pc, const uint8_t *bytes)
{
    const struct phys *all = memory->setup.memory;
    uint64_t page = pc & ~(uint64_t)(WARP_PAGE - 1);
    if (!all->code)
        return;
    uint64_t number = phys_page(all, all->base + (uint64_t)(bytes - all->bytes));
    for (struct code_page *p = memory->code->buckets[page / WARP_PAGE % BUCKETS]; p; p = p->next)
        if (p->address == page)
            p->number = number + 1;
    code_pages_mark(all->code, number, (unsigned)(pc - page) + 2);
}

struct warp_meets *warp_code_meets(struct warp_code *code)
{
    return &code->meets;
}

struct warp_op *warp_code_page(struct warp_memory *memory, uint64_t address)
{
    struct code_page **bucket = &memory->code->buckets[address / WARP_PAGE % BUCKETS];
    for (struct code_page *page = *bucket; page; page = page->next) {
        if (page->address == address)
            return page->ops;
    }
    struct code_page *page = alloc(1, sizeof *page);
    page->address = address;
    page->next = *bucket;
    *bucket = page;
    return page->ops;
}

bool warp_code_fetch(struct warp_memory *memory, uint64_t pc, uint32_t *bits)
{
    static const struct warp_scratchpad none = {0};
    uint64_t room;
    const uint8_t *low = warp_memory_reach(memory, &none, pc, WARP_FETCH, &room);
    if (!low)
        return false;
    mark(memory, pc, low);
    *bits = low[0] | (uint32_t)low[1] << 8;
    if ((*bits & 3) != 3)
        return true;
    const uint8_t *high = warp_memory_reach(memory, &none, pc + 2, WARP_FETCH, &room);
    if (!high)
        return false;
    mark(memory, pc + 2, high);
    *bits |= (uint32_t)high[0] << 16 | (uint32_t)high[1] << 24;
    return true;
}

static bool has_offset(const struct insn *insn)
{
    enum insn_class class = (enum insn_class)insn_table[insn->id].iclass;
    return class == CLASS_LOAD || class == CLASS_STORE || class == CLASS_FLOAD || class == CLASS_FSTORE;
}

void warp_code_decode(struct warp_memory *memory, struct warp_op *op, uint64_t pc)
{
    uint32_t bits;
    *op = (struct warp_op){.run = warp_fetch_fault, .stream.pc = pc};
    if (!warp_code_fetch(memory, pc, &bits))
        return;
    op->insn = decode(memory->setup.decoder, bits);
    stream_op_describe(&op->stream, pc, &op->insn);
    bool integer = format_table[insn_table[op->insn.id].format].rd == ROLE_X;
    op->rd = integer && op->insn.rd == 0 ? HART_SINK : op->insn.rd;
    op->run = memory->code->table->rows[op->insn.id];
    if (!op->run)
        op->run = warp_illegal;
    else if (op->insn.rs1 == SP && op->stream.flags & (STREAM_LOAD | STREAM_STORE) && has_offset(&op->insn))
        op->run = warp_on_stack;
    if (memory->debug && warp_debug_has(memory->debug, pc))
        op->run = warp_break;
}

void warp_code_again(struct warp_code *code, uint64_t address)
{
    uint64_t page = address & ~(uint64_t)(WARP_PAGE - 1);
    for (struct code_page *p = code->buckets[page / WARP_PAGE % BUCKETS]; p; p = p->next)
        if (p->address == page)
            p->ops[address % WARP_PAGE / 2].run = NULL;
}

warp_handler *warp_code_row(const struct warp_memory *memory, const struct warp_op *op)
{
    return memory->code->table->rows[op->insn.id];
}
