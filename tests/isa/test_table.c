/* The instruction table: rows do not collide, and every row is found from its own bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "isa/disasm.h"
#include "tests/isa/encode.h"
#include "tests/isa/random.h"

/* Rows that lie inside another row on purpose. */
static const struct {
    enum insn_id inner, outer;
} nested[] = {
    {INSN_nucd, INSN_slt},        {INSN_tom_begin, INSN_slti}, {INSN_marker, INSN_sltiu},
    {INSN_nucd_order, INSN_sltu}, {INSN_pause, INSN_fence},    {INSN_prefetch_i, INSN_ori},
    {INSN_prefetch_r, INSN_ori},  {INSN_prefetch_w, INSN_ori},
};

static bool is_nested(unsigned a, unsigned b)
{
    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++)
        if ((nested[i].inner == a && nested[i].outer == b) || (nested[i].inner == b && nested[i].outer == a))
            return true;
    return false;
}

static void rows_overlap_only_where_listed(void **state)
{
    (void)state;
    unsigned found = 0;
    for (unsigned a = 1; a < INSN_COUNT; a++) {
        for (unsigned b = a + 1; b < INSN_COUNT; b++) {
            uint32_t common = insn_table[a].mask & insn_table[b].mask;
            bool overlap = ((insn_table[a].match ^ insn_table[b].match) & common) == 0;
            if (overlap && !is_nested(a, b))
                fail_msg("%s and %s overlap", insn_table[a].name, insn_table[b].name);
            found += overlap;
        }
    }
    assert_int_equal(found, sizeof nested / sizeof nested[0]);
    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++) {
        const struct insn_info *inner = &insn_table[nested[i].inner], *outer = &insn_table[nested[i].outer];
        assert_int_equal(inner->match & outer->mask, outer->match);
        assert_int_equal(inner->mask & outer->mask, outer->mask);
    }
}

static void match_lies_in_mask(void **state)
{
    (void)state;
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        assert_int_equal(insn_table[i].match & ~insn_table[i].mask, 0);
        assert_int_equal(insn_table[i].match & 3, 3);
        assert_int_equal(insn_table[i].mask & 0x7f, 0x7f);
    }
    for (unsigned i = 0; i < COMPRESSED_COUNT; i++) {
        assert_int_equal(compressed_table[i].match & ~compressed_table[i].mask, 0);
        assert_int_equal(compressed_table[i].mask & 0xe003, 0xe003);
        assert_int_not_equal(compressed_table[i].match & 3, 3);
    }
}

/* No bit is both fixed by the row and part of an operand, and every free bit belongs to an operand, except
 * where the specification leaves fields to be ignored. */
static void operands_fill_the_free_bits(void **state)
{
    (void)state;
    const struct operands ones = {31, 31, 31, 31, 7, -1}, none = {0};
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        uint32_t fields = encode((enum insn_id)i, &ones) & ~encode((enum insn_id)i, &none);
        if (insn_table[i].mask & fields)
            fail_msg("%s: bits 0x%08x are fixed and operands", insn_table[i].name,
                     insn_table[i].mask & fields);
        if (i != INSN_fence && i != INSN_fence_i && (insn_table[i].mask | fields) != UINT32_MAX)
            fail_msg("%s: bits 0x%08x mean nothing", insn_table[i].name, ~(insn_table[i].mask | fields));
    }
}

static void each_row_decodes_to_itself(void **state)
{
    (void)state;
    struct decoder *decoder = decoder_new();
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        struct insn insn = decode(decoder, insn_table[i].match);
        uint16_t expected = (uint16_t)i;
        for (size_t n = 0; n < sizeof nested / sizeof nested[0]; n++)
            if (i == nested[n].outer && insn_table[nested[n].inner].match == insn_table[i].match)
                expected = (uint16_t)nested[n].inner;
        if (insn.id != expected)
            fail_msg("%s decodes as %s", insn_table[i].name, insn_table[insn.id].name);
        assert_int_equal(insn.length, 4);
        assert_int_equal(insn.compressed, 0);
        assert_int_equal(insn.bits, insn_table[i].match);
    }
    for (unsigned i = 0; i < COMPRESSED_COUNT; i++) {
        /* Setting all free bits gives every row operands that meet its condition, except c.lui, which needs another
         * register. */
        uint32_t bits = compressed_table[i].match | (0xffffu & ~(uint32_t)compressed_table[i].mask);
        struct insn insn = decode(decoder, bits);
        if (insn.compressed != i + 1)
            fail_msg("%s decodes as another row (0x%04x)", compressed_table[i].name, bits);
        assert_int_equal(insn.id, compressed_table[i].expansion);
        assert_int_equal(insn.length, 2);
    }
    decoder_free(decoder);
}

static uint8_t pick_register(struct random *random)
{
    return (uint8_t)random_below(random, 32);
}

enum { PAUSE = 0x10 /* the sets of the fence that is pause */ };

static int32_t pick_immediate(struct random *random, enum insn_id id)
{
    for (;;) {
        int32_t imm = (int32_t)(uint32_t)random_next(random) >> random_below(random, 32);
        if (format_table[insn_table[id].format].immediate == IMMEDIATE_NONE)
            return 0;
        if (encode_fits(id, imm) && !(id == INSN_fence && imm == PAUSE))
            return imm;
    }
}

static void check_operands(const struct decoder *decoder, enum insn_id id, const struct operands *o)
{
    const struct format_info *format = &format_table[insn_table[id].format];
    struct insn insn = decode(decoder, encode(id, o));
    assert_int_equal(insn.id, id);
    assert_int_equal(insn.rd, format->rd ? o->rd : 0);
    assert_int_equal(insn.rs1, format->rs1 ? o->rs1 : 0);
    assert_int_equal(insn.rs2, format->rs2 ? o->rs2 : 0);
    assert_int_equal(insn.rs3, format->rs3 ? o->rs3 : 0);
    assert_int_equal(insn.rm, format->rm ? o->rm : 0);
    assert_int_equal(insn.imm, o->imm);
}

static void operands_come_back(void **state)
{
    (void)state;
    struct decoder *decoder = decoder_new();
    struct random random = {1};
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        for (unsigned n = 0; n < 2000; n++) {
            /* rd 1-31 keeps base rows distinct from the HINTs inside them. */
            struct operands o = {(uint8_t)(1 + random_below(&random, 31)),
                                 pick_register(&random),
                                 pick_register(&random),
                                 pick_register(&random),
                                 (uint8_t)random_below(&random, 5),
                                 pick_immediate(&random, (enum insn_id)id)};
            if (n % 8 == 0)
                o.rm = RM_DYN;
            check_operands(decoder, (enum insn_id)id, &o);
        }
    }
    decoder_free(decoder);
}

static void reserved_rounding_modes_are_illegal(void **state)
{
    (void)state;
    struct decoder *decoder = decoder_new();
    for (unsigned id = 1; id < INSN_COUNT; id++) {
        if (!format_table[insn_table[id].format].rm)
            continue;
        for (uint8_t rm = 5; rm <= 6; rm++) {
            const struct operands o = {1, 2, 3, 4, rm, 0};
            assert_int_equal(decode(decoder, encode((enum insn_id)id, &o)).id, INSN_illegal);
        }
    }
    decoder_free(decoder);
}

static void longer_instructions_are_illegal(void **state)
{
    (void)state;
    struct decoder *decoder = decoder_new();
    struct random random = {2};
    for (unsigned n = 0; n < 100000; n++) {
        struct insn insn = decode(decoder, (uint32_t)random_next(&random) | 0x1f);
        assert_int_equal(insn.id, INSN_illegal);
        assert_int_equal(insn.length, 4);
    }
    assert_int_equal(decode(decoder, 0).id, INSN_illegal);
    assert_int_equal(decode(decoder, 0).length, 2);
    assert_int_equal(decode(decoder, UINT32_MAX).id, INSN_illegal);
    decoder_free(decoder);
}

/* Major opcodes (unprivileged specification, table "RISC-V base opcode map"). */
enum {
    OPCODE_LOAD = 0x03,
    OPCODE_LOAD_FP = 0x07,
    OPCODE_CUSTOM_0 = 0x0b,
    OPCODE_MISC_MEM = 0x0f,
    OPCODE_OP_IMM = 0x13,
    OPCODE_OP_IMM_32 = 0x1b,
    OPCODE_STORE = 0x23,
    OPCODE_STORE_FP = 0x27,
    OPCODE_CUSTOM_1 = 0x2b,
    OPCODE_AMO = 0x2f,
    OPCODE_OP = 0x33,
    OPCODE_OP_32 = 0x3b,
    OPCODE_MADD = 0x43,
    OPCODE_NMADD = 0x4f,
    OPCODE_OP_FP = 0x53,
    OPCODE_CUSTOM_2 = 0x5b,
    OPCODE_SYSTEM = 0x73,
    OPCODE_CUSTOM_3 = 0x7b,
};

static unsigned opcode_of(const struct insn_info *info)
{
    return info->match & 0x7f;
}

/* By major opcode and funct5 of atomics; funct3 2 of MISC-MEM are the cache-block operations, of which immediate 4 is
 * cbo.zero. */
static enum insn_access access_of_encoding(const struct insn_info *info)
{
    switch (opcode_of(info)) {
    case OPCODE_LOAD:
    case OPCODE_LOAD_FP: return ACCESS_LOAD;
    case OPCODE_STORE:
    case OPCODE_STORE_FP: return ACCESS_STORE;
    case OPCODE_AMO:
        return info->match >> 27 == 2 ? ACCESS_LR : info->match >> 27 == 3 ? ACCESS_SC : ACCESS_AMO;
    case OPCODE_MISC_MEM:
        return (info->match >> 12 & 7) != 2 ? ACCESS_NONE
               : info->match >> 20 == 4     ? ACCESS_ZERO
                                            : ACCESS_BLOCK;
    default: return ACCESS_NONE;
    }
}

/* Loads, stores and atomics have the size's logarithm in the low bits of funct3. */
static void accesses_agree_with_the_encoding(void **state)
{
    (void)state;
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        const struct insn_info *info = &insn_table[i];
        enum insn_access access = access_of_encoding(info);
        unsigned size = access == ACCESS_NONE                             ? 0
                        : access == ACCESS_BLOCK || access == ACCESS_ZERO ? 64
                                                                          : 1u << (info->match >> 12 & 3);
        if (info->access != access || info->size != size)
            fail_msg("%s: access %u of %u bytes, by its encoding %u of %u", info->name, info->access,
                     info->size, access, size);
    }
}

/* Computations whose destination is always x0 are hints; those in ori, which prefetch, issue like others, and so does an order
 * point, which has no operand. */
static bool is_hint(const struct insn_info *info)
{
    unsigned opcode = opcode_of(info);
    return info->format != FORMAT_NONE && (opcode == OPCODE_OP || opcode == OPCODE_OP_IMM) &&
           (info->mask & 0xf80) == 0xf80 && (info->match & 0xf80) == 0 &&
           !(opcode == OPCODE_OP_IMM && (info->match >> 12 & 7) == 6);
}

static enum insn_unit unit_of_encoding(const struct insn_info *info)
{
    unsigned opcode = opcode_of(info);
    switch (opcode) {
    case OPCODE_LOAD:
    case OPCODE_LOAD_FP:
    case OPCODE_STORE:
    case OPCODE_STORE_FP:
    case OPCODE_AMO: return UNIT_MEMORY;
    case OPCODE_OP:
    case OPCODE_OP_32:
        if (is_hint(info))
            return UNIT_NONE;
        /* funct7 of M; funct7 5 and funct3 1 to 3 are carry-less multiplications */
        return info->match >> 25 == 1 || (info->match >> 25 == 5 && (info->match >> 12 & 7) < 4)
                   ? UNIT_MULTIPLY
                   : UNIT_INTEGER;
    case OPCODE_SYSTEM: return info->match >> 12 & 7 ? UNIT_INTEGER : UNIT_NONE;
    case OPCODE_MISC_MEM:
    case OPCODE_CUSTOM_0:
    case OPCODE_CUSTOM_1:
    case OPCODE_CUSTOM_2:
    case OPCODE_CUSTOM_3: return UNIT_NONE;
    default:
        if (opcode == OPCODE_OP_FP || (opcode >= OPCODE_MADD && opcode <= OPCODE_NMADD))
            return UNIT_FLOAT;
        return is_hint(info) ? UNIT_NONE : UNIT_INTEGER;
    }
}

/* Atomics, CSRs, fences, traps, hints and custom instructions are executed one by one. */
static void units_agree_with_the_encoding(void **state)
{
    (void)state;
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        const struct insn_info *info = &insn_table[i];
        const struct class_info *class = &class_table[info->iclass];
        enum insn_unit unit = unit_of_encoding(info);
        bool alone = unit == UNIT_NONE || opcode_of(info) == OPCODE_SYSTEM || opcode_of(info) == OPCODE_AMO;
        if (class->unit != unit || class->alone != alone)
            fail_msg("%s: unit %u, alone %d, by its encoding %u, %d", info->name, class->unit, class->alone,
                     unit, alone);
    }
}

/* The format field in bits 26:25; a conversion between the two formats names the source in rs2. */
static enum insn_precision float_precision(const struct insn_info *info)
{
    bool between = opcode_of(info) == OPCODE_OP_FP && info->match >> 27 == 0x08;
    unsigned to = info->match >> 25 & 3, from = between ? info->match >> 20 & 3 : to;
    return to == 1 || from == 1 ? PRECISION_D : to == 0 || from == 0 ? PRECISION_S : PRECISION_H;
}

static enum insn_precision precision_of_encoding(const struct insn_info *info)
{
    /* Rows in OP-32 and OP-IMM-32 that read a narrow operand and work on 64 bits: add.uw, sh1add.uw to sh3add.uw, slli.uw,
     * zext.h. */
    static const uint32_t wide[] = {0x0800003b, 0x2000203b, 0x2000403b, 0x2000603b, 0x0800101b};
    unsigned opcode = opcode_of(info);
    if (opcode == OPCODE_OP_32 || opcode == OPCODE_OP_IMM_32) {
        for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
            if ((info->match & 0xfe00707f) == wide[i] || (info->match & 0xfff0707f) == 0x0800403b)
                return PRECISION_X;
        return PRECISION_W;
    }
    if (opcode == OPCODE_LOAD_FP || opcode == OPCODE_STORE_FP)
        return (enum insn_precision)(PRECISION_H + (info->match >> 12 & 7) - 1);
    if (opcode == OPCODE_AMO)
        return (info->match >> 12 & 7) == 3 ? PRECISION_X : PRECISION_W;
    if (opcode == OPCODE_OP_FP || (opcode >= OPCODE_MADD && opcode <= OPCODE_NMADD))
        return float_precision(info);
    return (info->iclass == CLASS_ALU && info->format != FORMAT_NONE) || info->iclass == CLASS_MUL ||
                   info->iclass == CLASS_DIV || info->iclass == CLASS_BRANCH
               ? PRECISION_X
               : PRECISION_N;
}

static void precisions_agree_with_the_encoding(void **state)
{
    (void)state;
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        const struct insn_info *info = &insn_table[i];
        if (info->precision != precision_of_encoding(info))
            fail_msg("%s: precision %u, by its encoding %u", info->name, info->precision,
                     precision_of_encoding(info));
        assert_int_equal(insn_is_float(info), info->iclass >= CLASS_FADD && info->iclass <= CLASS_FMISC);
    }
}

static void names_are_unique(void **state)
{
    (void)state;
    for (unsigned a = 1; a < INSN_COUNT; a++)
        for (unsigned b = a + 1; b < INSN_COUNT; b++)
            assert_string_not_equal(insn_table[a].name, insn_table[b].name);
    char text[INSN_NAME_SIZE];
    insn_spell("amoswap_w", text);
    assert_string_equal(text, "amoswap.w");
    insn_spell("wrt__res_axram", text);
    assert_string_equal(text, "wrt_res.axram");
}

/* Differences from GNU objdump: isa/MANUAL.md, "Differences from GNU objdump". */
static void own_spellings(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        const char *text;
    } cases[] = {
        {0x01df2033, "nucd\tt5,t4"},
        {0x01cf2033, "nucd\tt5,t3"},
        {0x01df20b3, "slt\tra,t5,t4"},
        {0x02a02013, "tom.begin\t42"},
        {0xfff02013, "tom.begin\t-1"},
        {0x02a0a013, "slti\tzero,ra,42"},
        {0x00153013, "marker\ta0,1"},
        {0x00303013, "marker\tzero,3"},
        {0x00153093, "sltiu\tra,a0,1"},
        {0x00b5000b, "config.axram\ta0,a1"},
        {0x00b5100b, "initiate.axram\ta0,a1"},
        {0x00b5200b, "wrt_res.axram\ta0,a1"},
        {0x0005062b, "stash.addmap\ta2,a0,zero"},
        {0x00b5162b, "stash.chgmap\ta2,a0,a1"},
        {0x0005202b, "dma.load\ta0"},
        {0x0005302b, "dma.store\ta0"},
        {0x0000000b, "config.axram\tzero,zero"},
        {0x0000008b, ".4byte\t0x8b"},
        {0x0eb5d533, "czero.eqz\ta0,a1,a1"},
        {0x0eb5f533, "czero.nez\ta0,a1,a1"},
        {0x81c8, "c.lbu\ta0,1(a1)"},
        {0x81a8, "c.lbu\ta0,2(a1)"},
        {0x85a8, "c.lhu\ta0,2(a1)"},
        {0x85c8, "c.lh\ta0,0(a1)"},
        {0x89a8, "c.sb\ta0,2(a1)"},
        {0x8da8, "c.sh\ta0,2(a1)"},
        {0x9d4d, "c.mul\ta0,a1"},
        {0x9d61, "c.zext.b\ta0"},
        {0x9d65, "c.sext.b\ta0"},
        {0x9d69, "c.zext.h\ta0"},
        {0x9d6d, "c.sext.h\ta0"},
        {0x9d71, "c.zext.w\ta0"},
        {0x9d75, "c.not\ta0"},
        {0x00000000, ".2byte\t0x0"},
        {0xffffffff, ".4byte\t0xffffffff"},
        {0x8330000f, "fence.tso"},
        {0x30002573, "csrrs\ta0,mstatus,zero"},
        {0x5c002573, "csrrs\ta0,nucdcause,zero"},
        {0x5c402573, "csrrs\ta0,0x5c4,zero"},
        {0x00302573, "csrrs\ta0,fcsr,zero"},
    };
    struct decoder *decoder = decoder_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[80];
        struct insn insn = decode(decoder, cases[i].bits);
        disasm(&insn, 0x80000000, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    decoder_free(decoder);
}

static void text_is_cut_to_its_room(void **state)
{
    (void)state;
    struct decoder *decoder = decoder_new();
    struct insn insn = decode(decoder, 0x00b50533);
    for (size_t size = 1; size < 20; size++) {
        char text[24], whole[24];
        memset(text, 'x', sizeof text);
        disasm(&insn, 0, whole, sizeof whole);
        disasm(&insn, 0, text, size);
        assert_true(strlen(text) < size);
        assert_memory_equal(text, whole, strlen(text));
        assert_int_equal(text[size], 'x');
    }
    decoder_free(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_overlap_only_where_listed),
        cmocka_unit_test(match_lies_in_mask),
        cmocka_unit_test(operands_fill_the_free_bits),
        cmocka_unit_test(each_row_decodes_to_itself),
        cmocka_unit_test(operands_come_back),
        cmocka_unit_test(reserved_rounding_modes_are_illegal),
        cmocka_unit_test(longer_instructions_are_illegal),
        cmocka_unit_test(accesses_agree_with_the_encoding),
        cmocka_unit_test(precisions_agree_with_the_encoding),
        cmocka_unit_test(units_agree_with_the_encoding),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(own_spellings),
        cmocka_unit_test(text_is_cut_to_its_room),
    };
    return cmocka_run_group_tests_name("isa table", tests, NULL, NULL);
}
