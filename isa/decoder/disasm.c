#include "isa/disasm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const register_name[32] = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

const char *const fp_register_name[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1",  "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4",  "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

static const struct {
    uint16_t number;
    const char *name;
} csr_table[] = {
#define CSR(name, value, text) {value, #name},
#include "isa/csr.def"
};

const char *csr_name(unsigned number)
{
    for (size_t i = 0; i < sizeof csr_table / sizeof csr_table[0]; i++)
        if (csr_table[i].number == number)
            return csr_table[i].name;
    return NULL;
}

/* An output line; text beyond its size is cut. */
struct line {
    char *text;
    size_t size, used;
};

static void line_add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line_add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->used, line->size - line->used, format, args);
    va_end(args);
    if (n > 0)
        line->used += (size_t)n;
    if (line->used >= line->size)
        line->used = line->size - 1;
}

static void add_register(struct line *line, enum insn_role role, unsigned number)
{
    line_add(line, "%s", (role == ROLE_F ? fp_register_name : register_name)[number]);
}

static void add_fence_set(struct line *line, unsigned set)
{
    static const char names[] = "iorw";
    if (set == 0)
        line_add(line, "unknown");
    for (unsigned i = 0; i < 4; i++)
        if (set & (8u >> i))
            line_add(line, "%c", names[i]);
}

static void add_csr(struct line *line, unsigned number)
{
    const char *name = csr_name(number);
    if (name)
        line_add(line, "%s", name);
    else
        line_add(line, "0x%x", number);
}

static void add_operand(struct line *line, char kind, const struct insn *insn, uint64_t pc)
{
    const struct format_info *format = &format_table[insn_table[insn->id].format];
    switch (kind) {
    case 'd': add_register(line, format->rd, insn->rd); break;
    case 's': add_register(line, format->rs1, insn->rs1); break;
    case 't': add_register(line, format->rs2, insn->rs2); break;
    case 'r': add_register(line, format->rs3, insn->rs3); break;
    case 'i': line_add(line, "%" PRId32, insn->imm); break;
    case 'h': line_add(line, "0x%" PRIx32, (uint32_t)insn->imm); break;
    case 'u': line_add(line, "0x%" PRIx32, (uint32_t)insn->imm >> 12); break;
    case 'p': line_add(line, "0x%" PRIx64, pc + (uint64_t)(int64_t)insn->imm); break;
    case 'c': add_csr(line, (unsigned)insn->imm); break;
    case 'z': line_add(line, "%u", insn->rs1); break;
    case 'P': add_fence_set(line, (unsigned)insn->imm >> 4 & 15); break;
    case 'Q': add_fence_set(line, (unsigned)insn->imm & 15); break;
    default: line_add(line, "%c", kind); break;
    }
}

static void add_operands(struct line *line, const char *operands, const struct insn *insn, uint64_t pc)
{
    static const char *const rounding[8] = {"rne", "rtz", "rdn", "rup", "rmm", "unknown", "unknown", "dyn"};
    if (*operands)
        line_add(line, "\t");
    for (; *operands; operands++) {
        /* A dynamic rounding mode is not printed. */
        if (operands[0] == ',' && operands[1] == 'm') {
            if (insn->rm != RM_DYN)
                line_add(line, ",%s", rounding[insn->rm]);
            operands++;
        } else {
            add_operand(line, *operands, insn, pc);
        }
    }
}

/* fence.tso is the fence with fm = 8 and both sets rw. */
static int is_fence_tso(const struct insn *insn)
{
    return insn->id == INSN_fence && insn->bits >> 20 == 0x833;
}

void disasm(const struct insn *insn, uint64_t pc, char *text, size_t size)
{
    struct line line = {text, size, 0};
    if (insn->id == INSN_illegal) {
        line_add(&line, insn->length == 2 ? ".2byte\t0x%" PRIx32 : ".4byte\t0x%" PRIx32, insn->bits);
        return;
    }
    if (is_fence_tso(insn)) {
        line_add(&line, "fence.tso");
        return;
    }
    char name[INSN_NAME_SIZE];
    const struct insn_info *info = &insn_table[insn->id];
    const char *operands = format_table[info->format].operands;
    if (insn->compressed) {
        const struct compressed_info *narrow = &compressed_table[insn->compressed - 1];
        insn_spell(narrow->name, name);
        operands = narrow->operands;
    } else {
        insn_spell(info->name, name);
    }
    line_add(&line, "%s", name);
    if (format_table[info->format].immediate == IMMEDIATE_AQRL) {
        static const char *const order[4] = {"", ".rl", ".aq", ".aqrl"};
        line_add(&line, "%s", order[insn->imm & 3]);
    }
    add_operands(&line, operands, insn, pc);
}
