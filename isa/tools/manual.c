/* manual FILE: prints FILE (isa/MANUAL.md) with its tables of instructions and CSRs regenerated from the rows. */
#include <stdio.h>
#include <string.h>

#include "isa/decoder/set.h"
#include "isa/insn.h"

static void print_instructions(void);
static void print_csrs(void);
static void print_extensions(void);
static void print_stash_errors(void);

/* The tables, each between its two marks in the manual. */
static const struct {
    const char *begin, *end;
    void (*print)(void);
} tables[] = {
    {"<!-- extensions: begin -->", "<!-- extensions: end -->", print_extensions},
    {"<!-- csrs: begin -->", "<!-- csrs: end -->", print_csrs},
    {"<!-- stash errors: begin -->", "<!-- stash errors: end -->", print_stash_errors},
    {"<!-- instructions: begin -->", "<!-- instructions: end -->", print_instructions},
};

enum { TABLES = sizeof tables / sizeof tables[0] };

static const struct {
    const char *name, *text;
    unsigned number;
} csrs[] = {
#define CSR(name, number, text) {#name, text, number},
#include "isa/csr.def"
};

enum { CSRS = sizeof csrs / sizeof csrs[0] };

static const char *const extension_text[EXTENSION_COUNT] = {
#define EXTENSION(name, text) text,
#include "isa/extension.def"
};

/* Prints the encoding from bit 31 down: 0 and 1 are fixed bits, a dot is an operand's bit. */
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

/* Prints an operand template of isa/format.def in the notation of the manual. */
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

static void print_narrow(enum insn_extension extension)
{
    printf("| instruction | operands | expands to | 15-13, 12, 11-7, 6-2, 1-0 | match | mask |\n");
    printf("|---|---|---|---|---|---|\n");
    for (unsigned i = 0; i < COMPRESSED_COUNT; i++) {
        const struct compressed_info *info = &compressed_table[i];
        char name[INSN_NAME_SIZE];
        if (info->extension != extension)
            continue;
        insn_spell(info->name, name);
        printf("| `%s` | ", name);
        print_operands(info->operands, &format_table[insn_table[info->expansion].format]);
        insn_spell(insn_table[info->expansion].name, name);
        printf(" | `%s` | `", name);
        print_narrow_bits(info);
        printf("` | %04x | %04x |\n", info->match, info->mask);
    }
}

static int has_rows(enum insn_extension extension)
{
    for (unsigned i = 1; i < INSN_COUNT; i++)
        if (insn_table[i].extension == extension)
            return 1;
    return extension == EXTENSION_C || extension == EXTENSION_Zcb;
}

static void print_extensions(void)
{
    char name[INSN_NAME_SIZE];
    printf("\n| in ISA strings | meaning |\n|---|---|\n");
    for (unsigned e = 0; e < EXTENSION_COUNT; e++)
        if (isa_extension_text((enum insn_extension)e, name))
            printf("| `%s` | %s |\n", name, extension_text[e]);
#define FEATURE(name, text) printf("| `%s` | always: %s |\n", name, text);
#include "isa/decoder/feature.def"
#define PROFILE(name, extensions) printf("| `%s` | profile: `%s` |\n", name, extensions);
#include "isa/decoder/profile.def"
    printf("\n");
}

static void print_instructions(void)
{
    for (unsigned e = 0; e < EXTENSION_COUNT; e++) {
        if (!has_rows((enum insn_extension)e))
            continue;
        printf("\n### %s: %s\n\n", insn_extension_name[e], extension_text[e]);
        if (e == EXTENSION_C || e == EXTENSION_Zcb)
            print_narrow((enum insn_extension)e);
        else
            print_wide((enum insn_extension)e);
    }
    printf("\n");
}

/* Returns whether CSR number i continues the run of numbered CSRs that CSR i - 1 belongs to. */
static int continues(unsigned i)
{
    size_t before = strcspn(csrs[i - 1].name, "0123456789"), now = strcspn(csrs[i].name, "0123456789");
    return csrs[i].number == csrs[i - 1].number + 1 && csrs[i].name[now] != '\0' && before == now &&
           strncmp(csrs[i].name, csrs[i - 1].name, now) == 0;
}

/* Prints a CSR's description; for a run, without the number of its first CSR. */
static void print_contents(const char *text, const char *name, int run)
{
    const char *number = name + strcspn(name, "0123456789");
    size_t length = strlen(text), digits = strlen(number);
    if (run && length > digits && strcmp(text + length - digits, number) == 0)
        length -= digits + 1;
    printf("%.*s", (int)length, text);
}

/* Prints one line for each CSR, or for each run of numbered CSRs. */
static void print_csrs(void)
{
    static const char *const modes[] = {"U", "S", "", "M"};
    printf("\n| CSR | number | lowest mode | access | contents |\n|---|---|---|---|---|\n");
    for (unsigned i = 0, last; i < CSRS; i = last + 1) {
        for (last = i; last + 1 < CSRS && continues(last + 1);)
            last++;
        printf("| `%s`", csrs[i].name);
        if (last > i)
            printf(" to `%s`", csrs[last].name);
        printf(" | 0x%03x", csrs[i].number);
        if (last > i)
            printf(" to 0x%03x", csrs[last].number);
        printf(" | %s | %s | ", modes[csrs[i].number >> 8 & 3],
               csrs[i].number >> 10 == 3 ? "read" : "read, write");
        print_contents(csrs[i].text, csrs[i].name, last > i);
        printf(" |\n");
    }
    printf("\n");
}

static void print_stash_errors(void)
{
    printf("\n| number | value: | rule |\n|---|---|---|\n");
#define CROFT_STASH_ERROR(number, name, subject, format, rule)                                               \
    printf("| %d | %s | %s |\n", number, subject, rule);
#include "isa/include/croft/stash_error.def"
    printf("\n");
}

static int starts_with(const char *line, const char *mark)
{
    return strncmp(line, mark, strlen(mark)) == 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
    char line[4096];
    unsigned inside = TABLES, seen[TABLES] = {0}, good = 1;
    if (!file) {
        fprintf(stderr, "manual: cannot read the manual; usage: manual FILE\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        if (inside < TABLES && starts_with(line, tables[inside].end))
            inside = TABLES;
        if (inside < TABLES)
            continue;
        (void)fputs(line, stdout);
        for (unsigned t = 0; t < TABLES; t++) {
            if (!starts_with(line, tables[t].begin))
                continue;
            inside = t;
            seen[t]++;
            tables[t].print();
        }
    }
    (void)fclose(file);
    for (unsigned t = 0; t < TABLES; t++) {
        if (seen[t] == 1 && inside != t)
            continue;
        fprintf(stderr, "manual: %s needs the marks '%s' and '%s' once each\n", argv[1], tables[t].begin,
                tables[t].end);
        good = 0;
    }
    return good ? 0 : 1;
}
