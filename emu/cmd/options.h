/* Command-line options from a table: parsing, --help, and messages that name the nearest known option. */
#ifndef EMU_CMD_OPTIONS_H
#define EMU_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One option. Its index in the table is what options_next() returns. */
struct option_row {
    const char *name;     /* long name without the dashes */
    char letter;          /* one-letter form, or 0 */
    const char *argument; /* name of the value for --help ("FILE"), or NULL for an option without one */
    const char *help;     /* one line for --help */
};

/* A command's whole interface; usually a `static const` of the command's file. --help and -h need no row. */
struct option_set {
    const char *command;   /* "croft run" */
    const char *synopsis;  /* what follows the command in the usage line: "[options] PROGRAM [ARGS...]" */
    const char *summary;   /* one line that says what the command does */
    const char *example;   /* one command line */
    const char *notes;     /* further lines for --help, each ending in a newline; or NULL */
    bool stop_at_argument; /* the first argument ends the options; it and all that follow are arguments */
    size_t count;          /* number of rows */
    const struct option_row *rows;
};

/* Where a command is in its argument list. */
struct options {
    const struct option_set *set;
    int argc, next;
    char **argv;
    bool arguments_only; /* "--" has been seen, or the first argument where the set stops at it */
};

/* Results of options_next() other than the index of a row. */
enum {
    OPTION_END = -1,      /* nothing is left */
    OPTION_ARGUMENT = -2, /* *value is an argument that is no option */
    OPTION_HELP = -3,     /* --help was given and has been printed: leave with status 0 */
    OPTION_ERROR = -4,    /* a message has been printed: leave with status 2 */
};

/* Starts parsing argv[1..argc-1]; argv[0] is the command's own name. argv must outlive the struct. */
struct options options_start(const struct option_set *set, int argc, char **argv);

/* Returns the index of the next option's row, or one of the results above. *value becomes the option's value,
 * the argument, or NULL for an option without value. Understands --name VALUE, --name=VALUE, -m VALUE,
 * -mVALUE and --. */
int options_next(struct options *options, const char **value);

/* Prints usage, options and the example to standard output. */
void options_help(const struct option_set *set);

/* Prints "COMMAND: message" and a pointer to --help on standard error; returns 2, the status for usage
 * errors. */
int options_usage_error(const struct option_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
