#include "tests/hart/oracle/generate.h"

#include <stddef.h>
#include <string.h>

#include "tests/hart/oracle/known.h"
#include "tests/hart/oracle/values.h"
#include "tests/isa/encode.h"

enum {
    MAX_ITEMS = 48,
    C_NOP = 1,
    ROOM_FOR_ITEM = 60, /* size limit of an item in bytes, also of the end */
    RA = 1,
    SP = 2,
    GP = 3,
    TP = 4,
    WINDOW_OFFSET = offsetof(struct state, window),
};

/* A forward branch or jump whose target is chosen when the block is complete. */
struct fixup {
    uint16_t offset, item;
    uint8_t narrow; /* the compressed forms */
    enum insn_id id;
    struct operands operands;
};

struct block {
    struct random *random;
    const struct decoder *decoder;
    const struct suite *suite;
    uint8_t *code;
    uint64_t pc; /* of the first byte */
    unsigned used, items, fixups, own;
    uint16_t item_at[MAX_ITEMS + 1];
    struct fixup fixup[MAX_ITEMS];
    /* Registers that only the generator writes: pointers into the window, and the loop counter. */
    uint8_t any, by8, by4, counter;
    int any_offset, by8_offset, by4_offset;
    uint32_t reserved; /* bit per register */
};

static void emit(struct block *b, uint32_t bits, unsigned length)
{
    memcpy(b->code + b->used, &bits, length);
    b->used += length;
}

static void emit_row(struct block *b, enum insn_id id, struct operands o)
{
    emit(b, encode(id, &o), 4);
}

static uint8_t any_register(struct block *b)
{
    return (uint8_t)random_below(b->random, 32);
}

static uint8_t free_register(struct block *b)
{
    for (;;) {
        uint8_t r = any_register(b);
        if (!(b->reserved >> r & 1))
            return r;
    }
}

/* Not x0, and not ra, which calls use. */
static uint8_t scratch_register(struct block *b)
{
    for (;;) {
        uint8_t r = free_register(b);
        if (r > RA)
            return r;
    }
}

static bool belongs(uint64_t extensions, unsigned extension)
{
    return extensions >> extension & 1;
}

/* Chooses a pointer, and the immediate that moves it to a random place of the window. */
static void pick_address(struct block *b, struct operands *o)
{
    int target = (int)random_below(b->random, BATCH_WINDOW - 7);
    switch (random_below(b->random, 4)) {
    case 0: *o = (struct operands){.rs1 = b->any, .imm = target - b->any_offset}; break;
    case 1: *o = (struct operands){.rs1 = b->by8, .imm = target - b->by8_offset}; break;
    case 2: *o = (struct operands){.rs1 = b->by4, .imm = target - b->by4_offset}; break;
    default: *o = (struct operands){.rs1 = TP, .imm = target + (int)WINDOW_OFFSET}; break;
    }
}

static int32_t pick_immediate(struct block *b, enum insn_id id)
{
    uint32_t any = (uint32_t)random_next(b->random);
    switch (format_table[insn_table[id].format].immediate) {
    case IMMEDIATE_I: return random_chance(b->random, 30) ? (int32_t)(any % 5) - 2 : (int32_t)any >> 20;
    case IMMEDIATE_U: return (int32_t)(any & 0xfffff000);
    case IMMEDIATE_SH5: return (int32_t)(any & 31);
    case IMMEDIATE_SH6: return (int32_t)(any & 63);
    case IMMEDIATE_FENCE: return (int32_t)(any & 255);
    case IMMEDIATE_AQRL: return (int32_t)(any & 3);
    case IMMEDIATE_BLOCK: return ((int32_t)any >> 20) & ~31;
    default: return 0;
    }
}

/* Accesses to fcsr, frm and fflags that never leave a reserved rounding mode. */
static void emit_csr(struct block *b)
{
    static const struct {
        enum insn_id id;
        uint16_t number;
        uint8_t limit; /* of the 5-bit field; 0: any register */
    } forms[] = {
        {INSN_csrrwi, 0x001, 32}, {INSN_csrrsi, 0x001, 32}, {INSN_csrrci, 0x001, 32},
        {INSN_csrrw, 0x001, 0},   {INSN_csrrs, 0x001, 0},   {INSN_csrrc, 0x001, 0},
        {INSN_csrrwi, 0x002, 5},  {INSN_csrrwi, 0x002, 5},  {INSN_csrrsi, 0x002, 1},
        {INSN_csrrci, 0x002, 32}, {INSN_csrrc, 0x002, 0},   {INSN_csrrwi, 0x003, 32},
        {INSN_csrrsi, 0x003, 32}, {INSN_csrrci, 0x003, 32}, {INSN_csrrs, 0x003, 1},
        {INSN_csrrwi, 0x001, 1},  {INSN_csrrwi, 0x001, 1},  {INSN_csrrwi, 0x001, 1},
    };
    unsigned i = random_below(b->random, sizeof forms / sizeof forms[0]);
    uint8_t source = forms[i].limit ? (uint8_t)random_below(b->random, forms[i].limit) : any_register(b);
    emit_row(b, forms[i].id,
             (struct operands){.rd = free_register(b), .rs1 = source, .imm = forms[i].number});
}

static uint8_t pick_rounding(struct block *b)
{
    return random_chance(b->random, 50) ? RM_DYN : (uint8_t)random_below(b->random, 5);
}

/* Emits an instruction that continues with the next one. */
static void emit_plain(struct block *b, enum insn_id id)
{
    const struct insn_info *info = &insn_table[id];
    const struct format_info *format = &format_table[info->format];
    struct operands o = {0};
    if (info->iclass == CLASS_LOAD || info->iclass == CLASS_STORE || info->iclass == CLASS_FLOAD ||
        info->iclass == CLASS_FSTORE) {
        pick_address(b, &o);
    } else {
        o.rs1 = any_register(b);
        o.imm = pick_immediate(b, id);
    }
    o.rs2 = any_register(b);
    o.rs3 = any_register(b);
    o.rm = pick_rounding(b);
    o.rd = format->rd == ROLE_X ? free_register(b) : any_register(b);
    if (id == INSN_ctzw) {
        /* qemu-riscv64 7.2 examines the upper word if the lower one is zero. */
        o.rs1 = scratch_register(b);
        emit_row(b, INSN_bseti, (struct operands){.rd = o.rs1, .rs1 = any_register(b), .imm = o.rs2});
    }
    emit_row(b, id, o);
}

/* Emits a Zicond instruction after those that set KNOWN_MASK for it. */
static void emit_conditional(struct block *b, enum insn_id id)
{
    const uint8_t tested = free_register(b), mask = KNOWN_MASK;
    if (id == INSN_czero_eqz)
        emit_row(b, INSN_sltiu, (struct operands){.rd = mask, .rs1 = tested, .imm = 1});
    else
        emit_row(b, INSN_sltu, (struct operands){.rd = mask, .rs2 = tested});
    emit_row(b, INSN_addi, (struct operands){.rd = mask, .rs1 = mask, .imm = -1});
    emit_row(b, id, (struct operands){.rd = free_register(b), .rs1 = any_register(b), .rs2 = tested});
}

/* Emits an AMO; or LR and SC with up to two instructions between them, where SC may also lack its reservation or come
 * twice. */
static void emit_atomic(struct block *b, enum insn_id id)
{
    bool wide = insn_table[id].match >> 12 & 1;
    uint8_t at = !wide && random_chance(b->random, 50) ? b->by4 : b->by8;
    struct operands o = {free_register(b), at, any_register(b), 0, 0, (int32_t)random_below(b->random, 4)};
    bool pair = id == INSN_lr_w || id == INSN_lr_d || id == INSN_sc_w || id == INSN_sc_d;
    if (!pair) {
        emit_row(b, id, o);
        return;
    }
    emit_row(b, wide ? INSN_lr_d : INSN_lr_w, o);
    for (unsigned i = random_below(b->random, 3); i > 0; i--)
        emit_plain(b, random_chance(b->random, 50) ? INSN_addi : INSN_xor);
    for (unsigned i = random_chance(b->random, 20) ? 2 : 1; i > 0; i--) {
        o.rd = free_register(b);
        o.rs2 = any_register(b);
        if (!wide && random_chance(b->random, 20))
            o.rs1 = b->by8 ^ b->by4 ^ at;
        emit_row(b, wide ? INSN_sc_d : INSN_sc_w, o);
        o.rs1 = at;
    }
}

static void add_fixup(struct block *b, enum insn_id id, bool narrow, struct operands o)
{
    b->fixup[b->fixups++] = (struct fixup){(uint16_t)b->used, (uint16_t)b->items, narrow, id, o};
    emit(b, 0, narrow ? 2 : 4);
}

/* Emits a forward jump through a register over `skip` bytes of instructions that are never reached. */
static void emit_indirect(struct block *b, bool narrow)
{
    uint8_t t = scratch_register(b);
    unsigned skip = 2 * random_below(b->random, 5);
    int32_t low = (int32_t)random_below(b->random, 2048) - 1024;
    emit_row(b, INSN_auipc, (struct operands){.rd = t});
    emit_row(b, INSN_addi,
             (struct operands){.rd = t, .rs1 = t, .imm = (narrow ? 10 : 12) + (int32_t)skip - low});
    if (narrow) {
        /* c.jr and c.jalr have no offset. */
        b->used -= 4;
        emit_row(b, INSN_addi, (struct operands){.rd = t, .rs1 = t, .imm = 10 + (int32_t)skip});
        emit(b, (random_chance(b->random, 50) ? 0x8002u : 0x9002u) | (uint32_t)t << 7, 2);
    } else {
        /* Bit 0 of the sum is ignored. */
        int32_t odd = (low & 1) == 0 && random_chance(b->random, 25);
        uint8_t rd = random_chance(b->random, 30) ? t : free_register(b);
        emit_row(b, INSN_jalr, (struct operands){.rd = rd, .rs1 = t, .imm = low + odd});
    }
    for (; skip > 0; skip -= 2)
        emit(b, 0, 2);
}

/* Emits a jump back to an earlier item, taken until the counter runs out. */
static void emit_loop(struct block *b)
{
    int32_t target = b->item_at[random_below(b->random, b->items + 1)];
    emit_row(b, INSN_addi, (struct operands){.rd = b->counter, .rs1 = b->counter, .imm = -1});
    if (random_chance(b->random, 60)) {
        emit_row(b, INSN_blt,
                 (struct operands){.rs1 = 0, .rs2 = b->counter, .imm = target - (int32_t)b->used});
    } else {
        emit_row(b, INSN_bge, (struct operands){.rs1 = 0, .rs2 = b->counter, .imm = 8});
        emit_row(b, INSN_jal, (struct operands){.rd = free_register(b), .imm = target - (int32_t)b->used});
    }
}

/* Emits a call of a function located before it, which sometimes returns past the next instruction. */
static void emit_call(struct block *b)
{
    unsigned size = 4 * (1 + random_below(b->random, 3)), late = random_chance(b->random, 25) ? 4 : 0;
    emit_row(b, INSN_jal, (struct operands){.rd = 0, .imm = (int32_t)(4 + size + late + 4)});
    for (unsigned i = 0; i < size; i += 4) {
        b->reserved |= 1u << RA;
        emit_plain(b, random_chance(b->random, 50) ? INSN_add : INSN_xori);
        b->reserved &= ~(1u << RA);
    }
    if (late)
        emit_row(b, INSN_addi, (struct operands){.rd = RA, .rs1 = RA, .imm = 4});
    emit_row(b, INSN_jalr, (struct operands){.rd = 0, .rs1 = RA, .imm = 0});
    emit_row(b, INSN_jal, (struct operands){.rd = RA, .imm = -(int32_t)(size + late + 4)});
    if (late)
        emit_plain(b, INSN_addi);
}

static void emit_control(struct block *b, enum insn_id id)
{
    struct operands o = {.rd = free_register(b), .rs1 = any_register(b), .rs2 = any_register(b)};
    unsigned choice = random_below(b->random, 10);
    if (choice < 2)
        emit_loop(b);
    else if (choice < 3)
        emit_call(b);
    else if (id == INSN_jalr)
        emit_indirect(b, false);
    else
        add_fixup(b, id, false, o);
}

static int pointer_offset(const struct block *b, unsigned reg)
{
    return reg == b->any   ? b->any_offset
           : reg == b->by8 ? b->by8_offset
           : reg == b->by4 ? b->by4_offset
                           : -BATCH_WINDOW * 8;
}

/* Returns whether a compressed instruction with this expansion may be anywhere in a block. */
static bool is_harmless(const struct block *b, const struct insn *insn)
{
    const struct insn_info *info = &insn_table[insn->id];
    if (insn->id == INSN_ebreak || info->iclass == CLASS_BRANCH || info->iclass == CLASS_JUMP)
        return false;
    if (format_table[info->format].rd == ROLE_X && (b->reserved >> insn->rd & 1))
        return false;
    if (info->iclass != CLASS_LOAD && info->iclass != CLASS_STORE && info->iclass != CLASS_FLOAD &&
        info->iclass != CLASS_FSTORE)
        return true;
    int offset = pointer_offset(b, insn->rs1) + insn->imm;
    return offset >= 0 && offset <= BATCH_WINDOW - 8;
}

static void emit_compressed_control(struct block *b, unsigned row)
{
    const struct operands o = {.rs1 = (uint8_t)(8 + random_below(b->random, 8))};
    if (row == COMPRESSED_c_j)
        add_fixup(b, INSN_jal, true, o);
    else if (row == COMPRESSED_c_beqz)
        add_fixup(b, INSN_beq, true, o);
    else if (row == COMPRESSED_c_bnez)
        add_fixup(b, INSN_bne, true, o);
    else
        emit_indirect(b, true);
}

static void emit_compressed(struct block *b)
{
    for (;;) {
        unsigned row = random_below(b->random, COMPRESSED_COUNT);
        const struct compressed_info *info = &compressed_table[row];
        unsigned class = insn_table[info->expansion].iclass;
        if (!belongs(b->suite->own, info->extension))
            continue;
        if (class == CLASS_BRANCH || class == CLASS_JUMP) {
            emit_compressed_control(b, row);
            return;
        }
        for (unsigned tries = 0; tries < 60; tries++) {
            uint32_t bits =
                info->match | (0xffffu & ~(uint32_t)info->mask & (uint32_t)random_next(b->random));
            struct insn insn = decode(b->decoder, bits);
            if (insn.id != INSN_illegal && is_harmless(b, &insn)) {
                emit(b, bits, 2);
                if (info->extension == EXTENSION_Zcb)
                    emit(b, C_NOP, 2); /* known_batch() needs its room */
                return;
            }
        }
    }
}

/* QEMU 5.0 compares whole registers in the 32-bit minimum and maximum AMOs, does not box the result of
 * fcvt.s.d nor check the operand of fcvt.d.s, lets fmin and fmax give NaN for a signalling operand, and does not
 * raise the invalid flag for infinity times zero plus a quiet NaN. */
static bool is_wrong_in_unicorn(enum insn_id id)
{
    switch ((int)id) {
    case INSN_amomin_w:
    case INSN_amomax_w:
    case INSN_amominu_w:
    case INSN_amomaxu_w:
    case INSN_fcvt_s_d:
    case INSN_fcvt_d_s:
    case INSN_fmin_d:
    case INSN_fmax_d:
    case INSN_fmadd_d:
    case INSN_fmsub_d:
    case INSN_fnmadd_d:
    case INSN_fnmsub_d: return true;
    default: return false;
    }
}

static enum insn_id pick_row(struct block *b, uint64_t extensions)
{
    for (;;) {
        enum insn_id id = (enum insn_id)(1 + random_below(b->random, INSN_COUNT - 1));
        unsigned class = insn_table[id].iclass;
        if (b->suite->for_unicorn && is_wrong_in_unicorn(id))
            continue;
        if (belongs(extensions, insn_table[id].extension) && class != CLASS_SYSTEM && class != CLASS_CUSTOM)
            return id;
    }
}

static void emit_item(struct block *b)
{
    bool own = random_chance(b->random, b->suite->own_percent);
    uint64_t narrow = UINT64_C(1) << EXTENSION_C | UINT64_C(1) << EXTENSION_Zcb;
    uint64_t wide = b->suite->own & ~narrow;
    if (own && (b->suite->own & narrow) && (!wide || random_chance(b->random, 40))) {
        emit_compressed(b);
        return;
    }
    enum insn_id id = pick_row(b, own ? wide : b->suite->support);
    switch (insn_table[id].iclass) {
    case CLASS_BRANCH:
    case CLASS_JUMP: emit_control(b, id); break;
    case CLASS_AMO: emit_atomic(b, id); break;
    case CLASS_CSR: emit_csr(b); break;
    default:
        if (insn_table[id].extension == EXTENSION_Zicond)
            emit_conditional(b, id);
        else
            emit_plain(b, id);
        break;
    }
}

/* Immediates of c.j, and of c.beqz and c.bnez (unprivileged specification, formats CJ and CB). */
static uint32_t cj_bits(uint32_t v)
{
    return (v >> 11 & 1) << 12 | (v >> 4 & 1) << 11 | (v >> 8 & 3) << 9 | (v >> 10 & 1) << 8 |
           (v >> 6 & 1) << 7 | (v >> 7 & 1) << 6 | (v >> 1 & 7) << 3 | (v >> 5 & 1) << 2;
}

static uint32_t cb_bits(uint32_t v)
{
    return (v >> 8 & 1) << 12 | (v >> 3 & 3) << 10 | (v >> 6 & 3) << 5 | (v >> 1 & 3) << 3 |
           (v >> 5 & 1) << 2;
}

static uint32_t narrow_jump(const struct fixup *fixup, uint32_t distance)
{
    if (fixup->id == INSN_jal)
        return 0xa001 | cj_bits(distance);
    return (fixup->id == INSN_beq ? 0xc001u : 0xe001u) | (uint32_t)(fixup->operands.rs1 - 8) << 7 |
           cb_bits(distance);
}

/* Makes each forward jump lead to some later item; compressed branches reach 254 bytes. */
static void resolve(struct block *b)
{
    for (unsigned i = 0; i < b->fixups; i++) {
        struct fixup *fixup = &b->fixup[i];
        unsigned item = fixup->item + 1 + random_below(b->random, b->items - fixup->item);
        while (fixup->narrow && b->item_at[item] - fixup->offset > 254)
            item--;
        fixup->operands.imm = b->item_at[item] - fixup->offset;
        uint32_t bits = fixup->narrow ? narrow_jump(fixup, (uint32_t)fixup->operands.imm)
                                      : encode(fixup->id, &fixup->operands);
        memcpy(b->code + fixup->offset, &bits, fixup->narrow ? 2 : 4);
    }
}

static uint8_t reserve(struct block *b, unsigned first, unsigned count)
{
    for (;;) {
        unsigned r = first + random_below(b->random, count);
        if (r <= RA || r == GP || r == TP || (b->reserved >> r & 1))
            continue;
        b->reserved |= 1u << r;
        return (uint8_t)r;
    }
}

static void choose_registers(struct block *b)
{
    bool compressed = belongs(b->suite->own, EXTENSION_C) || belongs(b->suite->own, EXTENSION_Zcb);
    b->reserved = 1u << TP;
    if (belongs(b->suite->own, EXTENSION_Zicond))
        b->reserved |= 1u << KNOWN_MASK;
    b->by8 = reserve(b, compressed ? SP : RA, compressed ? 1 : 31);
    b->any = reserve(b, compressed ? 8 : RA, compressed ? 8 : 31);
    b->by4 = reserve(b, RA, 31);
    b->counter = reserve(b, RA, 31);
    b->any_offset = (int)random_below(b->random, BATCH_WINDOW / 2);
    b->by8_offset = (int)random_below(b->random, BATCH_WINDOW / 16) * 8;
    b->by4_offset = (int)random_below(b->random, BATCH_WINDOW / 16) * 8 + 4;
}

static uint64_t fp_register(struct block *b)
{
    if (belongs(b->suite->own, EXTENSION_Zfh) && random_chance(b->random, 60))
        return value_half_register(b->random);
    return value_fp_register(b->random, b->suite->float_percent);
}

static void fill_state(struct block *b, struct state *state, uint64_t at)
{
    uint64_t window = at + WINDOW_OFFSET;
    for (unsigned i = 0; i < 32; i++) {
        state->x[i] = value_integer(b->random);
        state->f[i] = fp_register(b);
    }
    for (unsigned i = 0; i < BATCH_WINDOW; i += 8) {
        uint64_t value = i % 16 ? value_integer(b->random) : fp_register(b);
        memcpy(state->window + i, &value, sizeof value);
    }
    state->x[0] = 0;
    state->x[GP] = b->pc;
    state->x[TP] = at;
    state->x[b->any] = window + (uint64_t)b->any_offset;
    state->x[b->by8] = window + (uint64_t)b->by8_offset;
    state->x[b->by4] = window + (uint64_t)b->by4_offset;
    state->x[b->counter] = random_below(b->random, 6);
    state->fcsr =
        random_below(b->random, 5) << 5 | (random_chance(b->random, 50) ? random_below(b->random, 32) : 0);
    state->filler = 0;
}

/* Counts the instructions under test in the code. */
static unsigned count_own(const struct block *b)
{
    unsigned own = 0;
    for (unsigned at = 0; at < b->used;) {
        uint32_t bits;
        memcpy(&bits, b->code + at, sizeof bits);
        struct insn insn = decode(b->decoder, bits);
        unsigned extension =
            insn.compressed ? compressed_table[insn.compressed - 1].extension : insn_table[insn.id].extension;
        own += insn.id != INSN_illegal && belongs(b->suite->own, extension);
        at += insn.length;
    }
    return own;
}

unsigned generate_block(struct random *random, const struct decoder *decoder, const struct suite *suite,
                        struct batch *batch, uint64_t index)
{
    struct block b = {.random = random,
                      .decoder = decoder,
                      .suite = suite,
                      .code = batch->code[index],
                      .pc = batch_code_at(index)};
    memset(b.code, 0, BATCH_CODE_BYTES);
    choose_registers(&b);
    unsigned wanted = 1 + random_below(random, MAX_ITEMS);
    while (b.items < wanted && b.used + ROOM_FOR_ITEM < BATCH_CODE_BYTES) {
        b.item_at[b.items] = (uint16_t)b.used;
        emit_item(&b);
        b.items++;
    }
    b.item_at[b.items] = (uint16_t)b.used;
    resolve(&b);
    emit_row(&b, INSN_jal, (struct operands){.imm = (int32_t)(BATCH_END - (b.pc + b.used))});
    fill_state(&b, &batch->states[index], batch_state_at(index));
    return count_own(&b);
}
