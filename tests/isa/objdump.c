/* Compares decoder and disassembler with GNU objdump and GNU as; tests/isa/objdump.sh drives it.
 *
 *   objdump narrow              writes all 16-bit encodings
 *   objdump rows                writes every row with all combinations of extreme operands
 *   objdump random SEED COUNT   writes random 32-bit encodings, half of them with a row's fixed bits
 *   objdump text                writes the instructions of `rows` that GNU as knows, as assembler text
 *   objdump bits                writes the bits of the same instructions
 *   objdump check COUNT         reads objdump's output for COUNT instructions, and reports differences
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "isa/disasm.h"
#include "tests/isa/encode.h"
#include "tests/isa/random.h"

enum { TEXT = 96, MAX_REPORTS = 20 };

static void write_bits(uint32_t bits, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        (void)putchar((int)(bits >> 8 * i & 0xff));
}

static int write_narrow(void)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++)
        if ((bits & 3) != 3)
            write_bits(bits, 2);
    return 0;
}

/* Encodings that announce more than 32 bits (11111 in bits 4:0) would desynchronise objdump. */
static uint32_t random_word(struct random *random)
{
    for (;;) {
        uint64_t value = random_next(random);
        uint32_t word = (uint32_t)value | 3;
        if (value >> 63) {
            const struct insn_info *info = &insn_table[1 + random_below(random, INSN_COUNT - 1)];
            word = (word & ~info->mask) | info->match;
        }
        if ((word & 0x1f) != 0x1f)
            return word;
    }
}

static int write_random(uint64_t seed, uint64_t count)
{
    struct random random = {seed};
    for (uint64_t i = 0; i < count; i++)
        write_bits(random_word(&random), 4);
    return 0;
}

/* The action for each instruction of the walk over extreme operands. */
typedef void visitor(const struct decoder *decoder, enum insn_id id, const struct operands *operands);

/* The immediates worth trying: limits, zero, single bits and mixed patterns. */
static unsigned extreme_immediates(enum insn_id id, int32_t list[80])
{
    unsigned count = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        const int32_t tries[] = {(int32_t)(1u << bit), (int32_t)(0u - (1u << bit)),
                                 (int32_t)((1u << bit) - 1)};
        for (unsigned i = 0; i < 3; i++)
            if (encode_fits(id, tries[i]) && count < 76)
                list[count++] = tries[i];
    }
    const int32_t others[] = {0, 0x555, -0x556, 0x2aa};
    for (unsigned i = 0; i < 4; i++)
        if (encode_fits(id, others[i]))
            list[count++] = others[i];
    return count;
}

static void walk_row(const struct decoder *decoder, enum insn_id id, visitor *visit)
{
    static const uint8_t registers[] = {0, 1, 8, 15, 31}, modes[] = {0, 1, 2, 3, 4, 7};
    const struct format_info *format = &format_table[insn_table[id].format];
    int32_t immediates[80];
    unsigned n[6] = {format->rd ? 5 : 1,  format->rs1 ? 5 : 1, format->rs2 ? 5 : 1,
                     format->rs3 ? 5 : 1, format->rm ? 6 : 1,  extreme_immediates(id, immediates)};
    unsigned total = n[0] * n[1] * n[2] * n[3] * n[4] * n[5];
    for (unsigned i = 0; i < total; i++) {
        unsigned at = i, pick[6];
        for (unsigned k = 0; k < 6; at /= n[k], k++)
            pick[k] = at % n[k];
        const struct operands o = {registers[pick[0]], registers[pick[1]], registers[pick[2]],
                                   registers[pick[3]], modes[pick[4]],     immediates[pick[5]]};
        visit(decoder, id, &o);
    }
}

static int walk(visitor *visit)
{
    struct decoder *decoder = decoder_new();
    for (unsigned id = 1; id < INSN_COUNT; id++)
        walk_row(decoder, (enum insn_id)id, visit);
    decoder_free(decoder);
    return 0;
}

static void visit_all(const struct decoder *decoder, enum insn_id id, const struct operands *o)
{
    (void)decoder;
    write_bits(encode(id, o), 4);
}

/* Extensions that binutils 2.40 lacks. */
static bool is_newer(const struct insn *insn)
{
    return insn_table[insn->id].extension == EXTENSION_Zicond ||
           (insn->compressed && compressed_table[insn->compressed - 1].extension == EXTENSION_Zcb);
}

/* Returns whether GNU as can produce these bits: not for our own instructions, newer extensions, exact conversions with a
 * rounding mode, and fences with an empty set. */
static bool assembler_knows(const struct insn *insn)
{
    const struct insn_info *info = &insn_table[insn->id];
    bool exact = info->format == FORMAT_F2E || info->format == FORMAT_XFE;
    bool empty = insn->id == INSN_fence && (!(insn->imm >> 4) || !(insn->imm & 15));
    return insn->id != INSN_illegal && !is_newer(insn) && insn->id != INSN_nucd_order &&
           info->iclass != CLASS_HINT && info->iclass != CLASS_CUSTOM && !empty && !(exact && insn->rm != 0);
}

static void visit_bits(const struct decoder *decoder, enum insn_id id, const struct operands *o)
{
    struct insn insn = decode(decoder, encode(id, o));
    if (assembler_knows(&insn))
        write_bits(insn.bits, 4);
}

static void visit_text(const struct decoder *decoder, enum insn_id id, const struct operands *o)
{
    struct insn insn = decode(decoder, encode(id, o));
    if (!assembler_knows(&insn))
        return;
    char text[TEXT];
    disasm(&insn, 0, text, sizeof text);
    const char *last = strrchr(text, ',');
    bool relative = insn_table[insn.id].format == FORMAT_B || insn_table[insn.id].format == FORMAT_J;
    if (relative && last)
        printf("\t%.*s,.%+" PRId32 "\n", (int)(last - text), text, insn.imm);
    else
        printf("\t%s\n", text);
}

static int write_text(void)
{
    printf("\t.option norvc\n\t.option norelax\n");
    return walk(visit_text);
}

/* A line of objdump's output. */
struct line {
    uint64_t pc;
    uint32_t bits;
    unsigned length; /* in bytes */
    char text[TEXT];
};

/* Splits `ADDRESS:<tab>BITS <tab>TEXT`, and drops the comments that objdump appends. */
static bool parse_line(const char *raw, struct line *line)
{
    int at = 0;
    char digits[16];
    if (sscanf(raw, " %" SCNx64 ":\t%15[0-9a-f]%n", &line->pc, digits, &at) != 2)
        return false;
    line->length = (unsigned)strlen(digits) / 2;
    line->bits = (uint32_t)strtoul(digits, NULL, 16);
    const char *text = strchr(raw + at, '\t');
    if (!text)
        return false;
    (void)snprintf(line->text, sizeof line->text, "%s", text + 1);
    line->text[strcspn(line->text, "\n")] = '\0';
    static const char *const ends[] = {" <", " #", "\t#"};
    for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char *end = strstr(line->text, ends[i]);
        if (end)
            *end = '\0';
    }
    return true;
}

/* Numbers for custom use (privileged specification, section 2.1). */
static bool csr_is_custom(unsigned number)
{
    unsigned block = number >> 8;
    return block == 8 || (block >= 5 && (number >> 6 & 3) == 3);
}

/* objdump knows the names of CSRs that we lack, but prints our custom CSRs as numbers; then only the rest of the text
 * must agree. */
static bool csr_differs_only(const struct insn *insn, const char *ours, const char *theirs)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    char digits[8];
    (void)snprintf(digits, sizeof digits, ",0x%x,", number);
    if (insn_table[insn->id].iclass != CLASS_CSR ||
        (csr_name((unsigned)insn->imm) && !(csr_is_custom(number) && strstr(theirs, digits))))
        return false;
    const char *our_name = strchr(ours, ','), *their_name = strchr(theirs, ',');
    const char *our_rest = strrchr(ours, ','), *their_rest = strrchr(theirs, ',');
    return our_name && their_name && our_name - ours == their_name - theirs &&
           strncmp(ours, theirs, (size_t)(our_name - ours)) == 0 && strcmp(our_rest, their_rest) == 0;
}

/* Privileged instructions that objdump knows and our harts lack: isa/MANUAL.md names them. */
static bool is_absent_privileged(const char *text)
{
    static const char *const names[] = {
        "uret", "dret",      "mnret",       "sinval.vma",  "sfence.w.inval", "sfence.inval.ir",
        "hret", "sfence.vm", "hfence.vvma", "hfence.gvma", "hinval.vvma",    "hinval.gvma"};
    size_t length = strcspn(text, "\t ");
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && strncmp(text, names[i], length) == 0)
            return true;
    return false;
}

/* The differences that isa/MANUAL.md documents, one condition each. */
static bool is_documented(const struct insn *insn, const struct line *line)
{
    const struct insn_info *info = &insn_table[insn->id];
    bool unknown = strncmp(line->text, insn->compressed ? ".2byte" : ".4byte", 6) == 0,
         exact = info->format == FORMAT_F2E || info->format == FORMAT_XFE;
    unsigned mode = insn->bits >> 12 & 7;
    if (insn->id == INSN_nucd_order)
        return strcmp(line->text, "sltu\tzero,zero,zero") == 0;
    if (info->iclass == CLASS_HINT) {
        static const enum insn_id bases[] = {INSN_slt, INSN_slti, INSN_sltiu};
        struct insn base = *insn;
        char text[TEXT];
        base.id = bases[insn->id == INSN_nucd ? 0 : insn->id == INSN_tom_begin ? 1 : 2];
        disasm(&base, line->pc, text, sizeof text);
        return strcmp(text, line->text) == 0;
    }
    if (info->iclass == CLASS_CUSTOM || is_newer(insn) || (exact && insn->rm != 0))
        return unknown;
    if (insn->id == INSN_fence || insn->id == INSN_fence_i)
        return unknown && (insn->bits & (insn->id == INSN_fence ? 0xf00f8f80 : 0xffff8f80)) != 0;
    if (insn->id == INSN_illegal && (insn->bits & 0x0000707f) == 0x00000073)
        return is_absent_privileged(line->text);
    if (insn->id == INSN_illegal && (mode == 5 || mode == 6) && insn->length == 4)
        return strstr(line->text, ",unknown") != NULL;
    if (insn->compressed && insn->imm == 0 &&
        (insn->id == INSN_slli || insn->id == INSN_srli || insn->id == INSN_srai)) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, "c.%s64\t%s", info->name, register_name[insn->rd]);
        return strcmp(text, line->text) == 0;
    }
    return (insn->bits == 0 && strcmp(line->text, "c.unimp") == 0) ||
           (insn->bits == 0x6101 && strcmp(line->text, "c.addi16sp\tsp,0") == 0);
}

static bool agrees(const struct insn *insn, const struct line *line)
{
    char ours[TEXT];
    disasm(insn, line->pc, ours, sizeof ours);
    return strcmp(ours, line->text) == 0 || csr_differs_only(insn, ours, line->text) ||
           is_documented(insn, line);
}

static int check(uint64_t count)
{
    struct decoder *decoder = decoder_new();
    char raw[512];
    uint64_t seen = 0, different = 0;
    while (fgets(raw, sizeof raw, stdin)) {
        struct line line;
        if (!parse_line(raw, &line))
            continue;
        struct insn insn = decode(decoder, line.bits);
        seen++;
        if (agrees(&insn, &line) && insn.length == line.length)
            continue;
        char ours[TEXT];
        disasm(&insn, line.pc, ours, sizeof ours);
        if (different++ < MAX_REPORTS || getenv("ALL"))
            printf("0x%0*" PRIx32 ": objdump has '%s', croft '%s'\n", (int)(2 * line.length), line.bits,
                   line.text, ours);
    }
    decoder_free(decoder);
    if (seen != count)
        printf("objdump printed %" PRIu64 " instructions of %" PRIu64 "\n", seen, count);
    else
        printf("%" PRIu64 " instructions, %" PRIu64 " differ\n", seen, different);
    return seen == count && different == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "narrow") == 0)
        return write_narrow();
    if (strcmp(command, "rows") == 0)
        return walk(visit_all);
    if (strcmp(command, "random") == 0 && argc == 4)
        return write_random(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
    if (strcmp(command, "text") == 0)
        return write_text();
    if (strcmp(command, "bits") == 0)
        return walk(visit_bits);
    if (strcmp(command, "check") == 0 && argc == 3)
        return check(strtoull(argv[2], NULL, 0));
    fprintf(stderr, "usage: objdump narrow|rows|random SEED COUNT|text|bits|check COUNT\n");
    return 2;
}
