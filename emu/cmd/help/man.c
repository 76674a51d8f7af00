#include "emu/cmd/help/man.h"

#include <stdio.h>
#include <string.h>

#include "emu/cmd/paths.h"
#include "emu/cmd/version.h"

/* Prints a character of text, escaped. */
static void letter(char c, bool first)
{
    switch (c) {
    case '\\': fputs("\\e", stdout); break;
    case '-': fputs("\\-", stdout); break;
    case '\'': fputs("\\(aq", stdout); break;
    case '`': fputs("\\(ga", stdout); break;
    case '^': fputs("\\(ha", stdout); break;
    case '~': fputs("\\(ti", stdout); break;
    case '.': fputs(first ? "\\&." : ".", stdout); break;
    default: putchar(c);
    }
}

/* Prints text; what stands between backquotes becomes bold. */
static void text(const char *text)
{
    char expanded[PATHS_TEXT];
    bool bold = false, first = true;
    paths_expand(text, expanded, sizeof expanded);
    for (const char *c = expanded; *c; c++) {
        if (*c != '`')
            letter(*c, first);
        else
            fputs((bold = !bold) ? "\\fB" : "\\fR", stdout);
        first = *c == '\n';
    }
}

/* Prints text as it is, in bold. */
static void literal(const char *text)
{
    fputs("\\fB", stdout);
    for (; *text; text++)
        letter(*text, false);
    fputs("\\fR", stdout);
}

static void head(const char *name, const char *summary)
{
    printf(".TH \"");
    for (const char *c = name; *c; c++) {
        const char upper = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        letter(upper, false);
    }
    printf("\" 1 \"\" \"croft " CROFT_VERSION
           "\" \"User Commands\"\n.ad l\n.SH NAME\n"); /* paths are too long for justified lines */
    text(name);
    printf(" \\- ");
    text(summary);
    printf("\n.SH SYNOPSIS\n");
}

/* Prints the value of an option or the rest of a synopsis: words in capitals are placeholders. */
static void arguments(const char *words)
{
    while (*words) {
        const size_t length = strcspn(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const size_t capitals = strspn(words + length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        for (size_t i = 0; i < length; i++)
            letter(words[i], false);
        if (capitals > 1 || (capitals == 1 && (length == 0 || words[length - 1] == ' ')))
            printf("\\fI%.*s\\fR", (int)capitals, words + length);
        else
            printf("%.*s", (int)capitals, words + length);
        words += length + capitals;
    }
}

static void option(const struct option_row *row)
{
    char name[80];
    printf(".TP\n");
    if (row->letter) {
        literal((char[]){'-', row->letter, '\0'});
        printf(", ");
    }
    (void)snprintf(name, sizeof name, "--%s", row->name);
    literal(name);
    if (row->argument) {
        putchar(' ');
        arguments(row->argument);
    }
    putchar('\n');
    text(row->help);
    printf(".\n");
}

void man_command(const struct command *command)
{
    const struct option_set *set = command->interface;
    char name[80];
    (void)snprintf(name, sizeof name, "croft-%s", command->name);
    head(name, command->help);
    literal(set->command);
    if (*set->synopsis)
        putchar(' ');
    arguments(set->synopsis);
    printf("\n.SH DESCRIPTION\n");
    text(set->summary);
    if (set->notes) {
        printf("\n.PP\n");
        text(set->notes);
    } else {
        putchar('\n');
    }
    printf(".SH OPTIONS\n");
    for (size_t i = 0; i < set->count; i++)
        option(&set->rows[i]);
    option(&(struct option_row){"help", 'h', NULL, "print a short form of this text"});
    printf(".SH EXAMPLE\n.EX\n");
    text(set->example);
    printf("\n.EE\n.SH SEE ALSO\n.BR croft (1)\n");
}

static void statuses(void)
{
    static const struct {
        const char *status, *meaning;
    } rows[] = {
        {"0", "success; the status of `croft run` is otherwise that of the program"},
        {"1", "a failure of croft: a file that cannot be read or written, too little memory"},
        {"2", "an error in the command line, or in a description that it names"},
        {"3", "a check (`--check`) has found something"},
        {"124", "a limit (`--max-insns`, `--max-time`, `--max-memory`) has ended the program"},
        {"128 + n", "signal n has ended the program"},
    };
    printf(".SH EXIT STATUS\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf(".TP\n");
        literal(rows[i].status);
        putchar('\n');
        text(rows[i].meaning);
        printf(".\n");
    }
}

void man_croft(const struct command *commands, size_t count)
{
    head("croft", "emulate RISC-V machines that compute near their memory");
    literal("croft");
    printf(" \\fICOMMAND\\fR [\\fIARGS\\fR...]\n.SH DESCRIPTION\n");
    text("Runs cross-compiled host programs and the firmware of a memory's logic layer together, on a memory "
         "system timed down\nto the DRAM command and the network flit. Each command has a page of its own, "
         "and `--help`.\n");
    printf(".SH COMMANDS\n");
    for (size_t i = 0; i < count; i++) {
        printf(".TP\n");
        literal(commands[i].name);
        putchar('\n');
        text(commands[i].help);
        printf(".\n");
    }
    printf(".TP\n");
    literal("help");
    putchar('\n');
    text("print the commands, or the options of one: `croft help run`; with `--man`, as a manual page.\n");
    statuses();
    printf(".SH FILES\n");
    text("$DOC/README.md is the way in, $DOC/isa/MANUAL.md the manual of the instruction set; $DOC/examples "
         "has programs,\nmachines, networks and experiments.\n");
    printf(".SH EXAMPLE\n.EX\n");
    text("croft cc -O2 $DOC/examples/hello.c -o hello && croft run hello");
    printf("\n.EE\n.SH SEE ALSO\n");
    for (size_t i = 0; i < count; i++) {
        printf(".BR croft\\-");
        text(commands[i].name);
        printf(" (1)%s\n", i + 1 < count ? "," : "");
    }
}
