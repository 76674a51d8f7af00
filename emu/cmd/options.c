#include "emu/cmd/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/cmd/paths.h"
#include "emu/sim/text/nearest.h"

enum { NAMES_MAX = 64, HELP_COLUMN = 28 };

/* The position in a command's argument list. */
struct options {
    const struct option_set *set;
    int argc, next;
    char **argv;
    bool arguments_only; /* after "--", or after the first argument if stop_at_argument */
};

/* Results of options_next() besides the index of a row and OPTION_ARGUMENT. */
enum {
    OPTION_END = -2,   /* no entries are left */
    OPTION_HELP = -3,  /* the text of --help has been printed */
    OPTION_ERROR = -4, /* a message has been printed */
};

int options_usage_error(const struct option_set *set, const char *format, ...)
{
    fprintf(stderr, "%s: ", set->command);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "; try '%s --help'\n", set->command);
    return 2;
}

static void print_row(const struct option_row *row)
{
    char left[128];
    char letter[8] = "    ";
    if (row->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const char *space = row->argument ? " " : "";
    int used = snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, space,
                        row->argument ? row->argument : "");
    if (used < HELP_COLUMN)
        printf("%-*s%s\n", HELP_COLUMN, left, row->help);
    else
        printf("%s\n%*s%s\n", left, HELP_COLUMN, "", row->help);
}

void options_help(const struct option_set *set)
{
    printf("usage: %s %s\n%s\n\noptions:\n", set->command, set->synopsis, set->summary);
    for (size_t i = 0; i < set->count; i++)
        print_row(&set->rows[i]);
    print_row(&(struct option_row){"help", 'h', NULL, "print this text"});
    if (set->notes) {
        printf("\n");
        paths_print(set->notes);
    }
    printf("\nexample: ");
    paths_print(set->example);
    printf("\n");
}

/* Reports an unknown option; name includes its dashes. */
static int unknown_option(const struct option_set *set, const char *name, size_t length)
{
    const char *names[NAMES_MAX];
    char spelt[128];
    size_t count = 0;
    for (size_t i = 0; i < set->count && count < NAMES_MAX - 1; i++)
        names[count++] = set->rows[i].name;
    names[count++] = "help";
    int shown = length > 100 ? 100 : (int)length;
    (void)snprintf(spelt, sizeof spelt, "%.*s", shown, name);
    const char *near = NULL;
    if (strncmp(spelt, "--", 2) == 0)
        near = nearest_name(spelt + 2, names, count);
    bool sets = false; /* --set is known, and a key was written like an option */
    for (size_t i = 0; i < set->count && strncmp(spelt, "--", 2) == 0 && strchr(spelt, '.'); i++)
        sets = sets || strcmp(set->rows[i].name, "set") == 0;
    if (near)
        fprintf(stderr, "%s: unknown option '%s'; did you mean '--%s'?\n", set->command, spelt, near);
    else if (sets)
        fprintf(stderr, "%s: unknown option '%s'; keys of machines are changed by --set %s=VALUE\n",
                set->command, spelt, spelt + 2);
    else
        fprintf(stderr, "%s: unknown option '%s'; '%s --help' lists the options\n", set->command, spelt,
                set->command);
    return OPTION_ERROR;
}

/* Finishes an option of row `index`, whose value is `attached` or, if that is NULL, the next word. */
static int take_value(struct options *o, size_t index, const char *attached, const char **value)
{
    const struct option_row *row = &o->set->rows[index];
    *value = attached;
    if (!row->argument) {
        if (!attached)
            return (int)index;
        fprintf(stderr, "%s: option '--%s' takes no value, but '%s' was given\n", o->set->command, row->name,
                attached);
        return OPTION_ERROR;
    }
    if (!attached && o->next < o->argc)
        *value = o->argv[o->next++];
    if (*value)
        return (int)index;
    fprintf(stderr, "%s: option '--%s' needs a value: --%s %s\n", o->set->command, row->name, row->name,
            row->argument);
    return OPTION_ERROR;
}

static int parse_long(struct options *o, const char *word, const char **value)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (length == 4 && !equals && strncmp(name, "help", 4) == 0) {
        options_help(o->set);
        return OPTION_HELP;
    }
    for (size_t i = 0; i < o->set->count; i++) {
        const char *known = o->set->rows[i].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return take_value(o, i, equals ? equals + 1 : NULL, value);
    }
    if (length == 4 && strncmp(name, "help", 4) == 0) {
        fprintf(stderr, "%s: option '--help' takes no value\n", o->set->command);
        return OPTION_ERROR;
    }
    return unknown_option(o->set, word, length + 2);
}

static int parse_letter(struct options *o, const char *word, const char **value)
{
    if (strcmp(word, "-h") == 0) {
        options_help(o->set);
        return OPTION_HELP;
    }
    for (size_t i = 0; i < o->set->count; i++) {
        if (o->set->rows[i].letter == word[1])
            return take_value(o, i, word[2] ? word + 2 : NULL, value);
    }
    return unknown_option(o->set, word, strlen(word));
}

/* Returns the index of the next option's row, or one of the results above. Sets *value to the option's value
 * or to the argument; NULL: an option without value. */
static int options_next(struct options *o, const char **value)
{
    *value = NULL;
    if (o->next >= o->argc)
        return OPTION_END;
    const char *word = o->argv[o->next++];
    if (!o->arguments_only && strcmp(word, "--") == 0) {
        o->arguments_only = true;
        return options_next(o, value);
    }
    if (!o->arguments_only && strncmp(word, "--", 2) == 0)
        return parse_long(o, word, value);
    if (!o->arguments_only && word[0] == '-' && word[1] != '\0')
        return parse_letter(o, word, value);
    o->arguments_only = o->arguments_only || o->set->stop_at_argument;
    *value = word;
    return OPTION_ARGUMENT;
}

int options_parse(const struct option_set *set, int argc, char **argv,
                  int (*take)(void *context, int option, const char *value), void *context)
{
    const char *value;
    struct options options = {.set = set, .argc = argc, .next = 1, .argv = argv};
    for (int option; (option = options_next(&options, &value)) != OPTION_END;) {
        if (option == OPTION_HELP)
            return 0;
        if (option == OPTION_ERROR)
            return 2;
        int status = take(context, option, value);
        if (status != OPTIONS_TAKEN)
            return status;
    }
    return OPTIONS_TAKEN;
}
