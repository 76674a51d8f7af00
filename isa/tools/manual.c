/* Prints isa/MANUAL.md with its table of instructions made anew from the rows: manual FILE. */
#include <stdio.h>
#include <string.h>

#include "isa/insn.h"

static const char begin_mark[] = "<!-- instructions: begin -->";
static const char end_mark[] = "<!-- instructions: end -->";

static const char *const extension_text[EXTENSION_COUNT] = {
#define EXTENSION(name, text) text,
#include "isa/extension.def"
};

/* The fields of an encoding from bit 31 down: 0 and 1 are fixed, a dot belongs to an operand. */
static void print_bits(const struct insn_info *info)
{
    for (int bit = 31; bit >= 0; bit--) {
        (void)putchar(!(info->mask >> bit & 1) ? '.' : info->match >> bit & 1 ? '1' : '0');
        if (bit == 25 || bit == 20 || bit == 15 || bit == 12 || bit == 7)
            (void)putchar(' ');
    }
}

static void print_narrow_bits(const struct compressed_info *info)
{
    for (int bit = 15; bit >= 0; bit--) {
        (void)putchar(!(info->mask >> bit & 1) ? '.' : info->match >> bit & 1 ? '1' : '0');
        if (bit == 13 || bit == 12 || bit == 7 || bit == 2)
            (void)putchar(' ');
    }
}

/* A template of isa/format.def as an assembler's manual writes it. */
static void print_operands(const char *operands, const struct format_info *format)
{
    for (; *operands; operands++) {
        switch (*operands) {
        case 'd': printf("%s", format->rd == ROLE_F ? "frd" : "rd"); break;
        case 's': printf("%s", format->rs1 == ROLE_F ? "frs1" : "rs1"); break;
        case 't': printf("%s", format->rs2 == ROLE_F ? "frs2" : "rs2"); break;
        case 'r': printf("frs3"); break;
        case 'i':
        case 'u': printf("imm"); break;
        case 'h': printf("shamt"); break;
        case 'p': printf("target"); break;
        case 'c': printf("csr"); break;
        case 'z': printf("uimm"); break;
        case 'm': printf("rm"); break;
        case 'P': printf("pred"); break;
        case 'Q': printf("succ"); break;
        case ',': printf(", "); break;
        default: (void)putchar(*operands); break;
        }
    }
}

static void print_wide(enum insn_extension extension)
{
    printf("| instruction | operands | class | 31-25, 24-20, 19-15, 14-12, 11-7, 6-0 | match | mask |\n");
    printf("|---|---|---|---|---|---|\n");
    for (unsigned i = 1; i < INSN_COUNT; i++) {
        const struct insn_info *info = &insn_table[i];
        char name[INSN_NAME_SIZE];
        if (info->extension != extension)
            continue;
        insn_spell(info->name, name);
        printf("| `%s` | ", name);
        print_operands(format_table[info->format].operands, &format_table[info->format]);
        printf(" | %s | `", insn_class_name[info->iclass]);
        print_bits(info);
        printf("` | %08x | %08x |\n", info->match, info->mask);
    }
}

static void print_narrow(void)
{
    printf("| instruction | operands | expands to | 15-13, 12, 11-7, 6-2, 1-0 | match | mask |\n");
    printf("|---|---|---|---|---|---|\n");
    for (unsigned i = 0; i < COMPRESSED_COUNT; i++) {
        const struct compressed_info *info = &compressed_table[i];
        char name[INSN_NAME_SIZE];
        insn_spell(info->name, name);
        printf("| `%s` | ", name);
        print_operands(info->operands, &format_table[insn_table[info->expansion].format]);
        insn_spell(insn_table[info->expansion].name, name);
        printf(" | `%s` | `", name);
        print_narrow_bits(info);
        printf("` | %04x | %04x |\n", info->match, info->mask);
    }
}

static void print_table(void)
{
    for (unsigned e = 0; e < EXTENSION_COUNT; e++) {
        printf("\n### %s: %s\n\n", insn_extension_name[e], extension_text[e]);
        if (e == EXTENSION_C)
            print_narrow();
        else
            print_wide((enum insn_extension)e);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
    char line[4096];
    int inside = 0, tables = 0;
    if (!file) {
        fprintf(stderr, "manual: cannot read the manual; usage: manual FILE\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        inside = inside && strncmp(line, end_mark, sizeof end_mark - 1) != 0;
        if (!inside)
            (void)fputs(line, stdout);
        if (strncmp(line, begin_mark, sizeof begin_mark - 1) == 0) {
            inside = 1;
            tables++;
            print_table();
        }
    }
    (void)fclose(file);
    if (inside || tables != 1) {
        fprintf(stderr, "manual: %s needs the marks '%s' and '%s' once each\n", argv[1], begin_mark,
                end_mark);
        return 1;
    }
    return 0;
}
