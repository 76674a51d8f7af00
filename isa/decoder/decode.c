#include "isa/decode.h"

#include <stdbool.h>
#include <stdlib.h>

#include "isa/decoder/set.h"

/* The decoder buckets rows by bits 14:12 and 6:2 (32-bit) or 15:13 and 1:0 (compressed). */
enum {
    WIDE_BUCKETS = 256,
    NARROW_BUCKETS = 32,
    BUCKET_ROWS = 64,
};

struct bucket {
    uint16_t count;
    uint16_t rows[BUCKET_ROWS];
};

struct decoder {
    uint64_t extensions;
    struct bucket wide[WIDE_BUCKETS];
    struct bucket narrow[NARROW_BUCKETS];
};

static unsigned wide_bucket(uint32_t bits)
{
    return (bits >> 2 & 31) << 3 | (bits >> 12 & 7);
}

static unsigned narrow_bucket(uint32_t bits)
{
    return (bits & 3) << 3 | (bits >> 13 & 7);
}

/* Keeps rows with more fixed bits first, so that a HINT row is found before the base row that contains it. */
static void bucket_insert(struct bucket *bucket, unsigned row)
{
    unsigned at = bucket->count++;
    int weight = __builtin_popcount(insn_table[row].mask);
    while (at > 0 && __builtin_popcount(insn_table[bucket->rows[at - 1]].mask) < weight) {
        bucket->rows[at] = bucket->rows[at - 1];
        at--;
    }
    bucket->rows[at] = (uint16_t)row;
}

struct decoder *decoder_new(void)
{
    return decoder_new_for(isa_all());
}

uint64_t decoder_extensions(const struct decoder *decoder)
{
    return decoder->extensions;
}

struct decoder *decoder_new_for(uint64_t extensions)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        abort();
    decoder->extensions = extensions;
    for (unsigned row = 1; row < INSN_COUNT; row++) {
        const struct insn_info *info = &insn_table[row];
        const unsigned fixed = wide_bucket(info->mask), open = ~fixed & (WIDE_BUCKETS - 1);
        unsigned rest = 0;
        if (!isa_has_row(extensions, info))
            continue;
        do { /* all buckets whose numbers differ in open bits only */
            bucket_insert(&decoder->wide[(wide_bucket(info->match) & fixed) | rest], row);
            rest = (rest - open) & open;
        } while (rest);
    }
    for (unsigned row = 0; row < COMPRESSED_COUNT; row++) {
        const struct compressed_info *info = &compressed_table[row];
        struct bucket *bucket = &decoder->narrow[narrow_bucket(info->match)];
        if (!isa_has(extensions, (enum insn_extension)info->extension) ||
            !isa_has_row(extensions, &insn_table[info->expansion]))
            continue;
        bucket->rows[bucket->count++] = (uint16_t)row;
    }
    return decoder;
}

void decoder_free(struct decoder *decoder)
{
    free(decoder);
}

/* Returns bits hi..lo of `bits`, shifted to begin at bit `at`. */
static uint32_t field(uint32_t bits, unsigned hi, unsigned lo, unsigned at)
{
    return (bits >> lo & ((1u << (hi - lo + 1)) - 1)) << at;
}

static int32_t sign_extend(uint32_t value, unsigned width)
{
    unsigned shift = 32 - width;
    return (int32_t)(value << shift) >> shift;
}

static int32_t wide_immediate(enum insn_immediate immediate, uint32_t bits)
{
    switch (immediate) {
    case IMMEDIATE_NONE: return 0;
    case IMMEDIATE_I: return sign_extend(field(bits, 31, 20, 0), 12);
    case IMMEDIATE_S: return sign_extend(field(bits, 31, 25, 5) | field(bits, 11, 7, 0), 12);
    case IMMEDIATE_B:
        return sign_extend(field(bits, 31, 31, 12) | field(bits, 7, 7, 11) | field(bits, 30, 25, 5) |
                               field(bits, 11, 8, 1),
                           13);
    case IMMEDIATE_U: return (int32_t)(bits & 0xfffff000);
    case IMMEDIATE_J:
        return sign_extend(field(bits, 31, 31, 20) | field(bits, 19, 12, 12) | field(bits, 20, 20, 11) |
                               field(bits, 30, 21, 1),
                           21);
    case IMMEDIATE_SH5: return (int32_t)field(bits, 24, 20, 0);
    case IMMEDIATE_SH6: return (int32_t)field(bits, 25, 20, 0);
    case IMMEDIATE_CSR: return (int32_t)field(bits, 31, 20, 0);
    case IMMEDIATE_FENCE: return (int32_t)field(bits, 27, 20, 0);
    case IMMEDIATE_BLOCK: return sign_extend(field(bits, 31, 25, 5), 12);
    case IMMEDIATE_AQRL: return (int32_t)field(bits, 26, 25, 0);
    }
    return 0;
}

static struct insn decode_wide(const struct decoder *decoder, uint32_t bits)
{
    struct insn insn = {.bits = bits, .length = 4};
    const struct bucket *bucket = &decoder->wide[wide_bucket(bits)];
    for (unsigned i = 0; i < bucket->count; i++) {
        const struct insn_info *info = &insn_table[bucket->rows[i]];
        if ((bits & info->mask) != info->match)
            continue;
        const struct format_info *format = &format_table[info->format];
        uint8_t rm = (uint8_t)field(bits, 14, 12, 0);
        if (format->rm && (rm == 5 || rm == 6))
            return insn;
        insn.id = bucket->rows[i];
        insn.imm = wide_immediate(format->immediate, bits);
        insn.rd = format->rd ? (uint8_t)field(bits, 11, 7, 0) : 0;
        insn.rs1 = format->rs1 ? (uint8_t)field(bits, 19, 15, 0) : 0;
        insn.rs2 = format->rs2 ? (uint8_t)field(bits, 24, 20, 0) : 0;
        insn.rs3 = format->rs3 ? (uint8_t)field(bits, 31, 27, 0) : 0;
        insn.rm = format->rm ? rm : 0;
        return insn;
    }
    return insn;
}

/* The immediates of isa/compressed.def, by the names that its rows use. */
#define CIMM_NONE  0
#define CIMM_CI    sign_extend(field(bits, 12, 12, 5) | field(bits, 6, 2, 0), 6)
#define CIMM_SHAMT (int32_t)(field(bits, 12, 12, 5) | field(bits, 6, 2, 0))
#define CIMM_LUI   sign_extend(field(bits, 12, 12, 17) | field(bits, 6, 2, 12), 18)
#define CIMM_LW    (int32_t)(field(bits, 5, 5, 6) | field(bits, 12, 10, 3) | field(bits, 6, 6, 2))
#define CIMM_LD    (int32_t)(field(bits, 6, 5, 6) | field(bits, 12, 10, 3))
#define CIMM_LWSP  (int32_t)(field(bits, 3, 2, 6) | field(bits, 12, 12, 5) | field(bits, 6, 4, 2))
#define CIMM_LDSP  (int32_t)(field(bits, 4, 2, 6) | field(bits, 12, 12, 5) | field(bits, 6, 5, 3))
#define CIMM_SWSP  (int32_t)(field(bits, 8, 7, 6) | field(bits, 12, 9, 2))
#define CIMM_SDSP  (int32_t)(field(bits, 9, 7, 6) | field(bits, 12, 10, 3))
#define CIMM_LBU   (int32_t)(field(bits, 6, 6, 0) | field(bits, 5, 5, 1))
#define CIMM_LHU   (int32_t) field(bits, 5, 5, 1)
#define CIMM_BYTE  0xff
#define CIMM_ONES  (-1)
#define CIMM_ADDI4SPN                                                                                        \
    (int32_t)(field(bits, 10, 7, 6) | field(bits, 12, 11, 4) | field(bits, 5, 5, 3) | field(bits, 6, 6, 2))
#define CIMM_ADDI16SP                                                                                        \
    sign_extend(field(bits, 12, 12, 9) | field(bits, 4, 3, 7) | field(bits, 5, 5, 6) |                       \
                    field(bits, 2, 2, 5) | field(bits, 6, 6, 4),                                             \
                10)
#define CIMM_CB                                                                                              \
    sign_extend(field(bits, 12, 12, 8) | field(bits, 6, 5, 6) | field(bits, 2, 2, 5) |                       \
                    field(bits, 11, 10, 3) | field(bits, 4, 3, 1),                                           \
                9)
#define CIMM_CJ                                                                                              \
    sign_extend(field(bits, 12, 12, 11) | field(bits, 8, 8, 10) | field(bits, 10, 9, 8) |                    \
                    field(bits, 6, 6, 7) | field(bits, 7, 7, 6) | field(bits, 2, 2, 5) |                     \
                    field(bits, 11, 11, 4) | field(bits, 5, 3, 1),                                           \
                12)

struct operands {
    uint32_t rd, rs1, rs2;
    int32_t imm;
};

/* Reads the operands of compressed row `row`. Returns false if they do not meet the row's condition. */
static bool compressed_operands(unsigned row, uint32_t bits, struct operands *out)
{
    const uint32_t RD = field(bits, 11, 7, 0), RS2 = field(bits, 6, 2, 0);
    const uint32_t RDP = 8 + field(bits, 4, 2, 0), RSP = 8 + field(bits, 9, 7, 0);
    uint32_t rd = 0, rs1 = 0, rs2 = 0;
    int32_t imm = 0;
    bool valid = false;
    switch (row) {
#define COMPRESSED(name, match, mask, extension, condition, expansion, rd_, rs1_, rs2_, immediate, operands) \
    case COMPRESSED_##name:                                                                                  \
        rd = rd_;                                                                                            \
        rs1 = rs1_;                                                                                          \
        rs2 = rs2_;                                                                                          \
        imm = CIMM_##immediate;                                                                              \
        valid = (condition);                                                                                 \
        break;
#include "isa/compressed.def"
    default: break;
    }
    *out = (struct operands){rd, rs1, rs2, imm};
    return valid;
}

static struct insn decode_narrow(const struct decoder *decoder, uint32_t bits)
{
    struct insn insn = {.bits = bits, .length = 2};
    const struct bucket *bucket = &decoder->narrow[narrow_bucket(bits)];
    for (unsigned i = 0; i < bucket->count; i++) {
        unsigned row = bucket->rows[i];
        const struct compressed_info *info = &compressed_table[row];
        struct operands operands;
        if ((bits & info->mask) != info->match || !compressed_operands(row, bits, &operands))
            continue;
        insn.id = info->expansion;
        insn.compressed = (uint8_t)(row + 1);
        insn.rd = (uint8_t)operands.rd;
        insn.rs1 = (uint8_t)operands.rs1;
        insn.rs2 = (uint8_t)operands.rs2;
        insn.imm = operands.imm;
        return insn;
    }
    return insn;
}

struct insn decode(const struct decoder *decoder, uint32_t bits)
{
    return (bits & 3) == 3 ? decode_wide(decoder, bits) : decode_narrow(decoder, bits & 0xffff);
}
