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

/* What `take` of options_parse() sees instead of a row's index. */
enum { OPTION_ARGUMENT = -1 }; /* value is an argument that is no option */

/* What options_parse() and its `take` return, unless it is an exit status. */
enum { OPTIONS_TAKEN = -1 };

/* Calls take() for each option, with the index of its row and its value (NULL if it has none), and for each argument, in
 * the order of argv[1..argc-1]; argv[0] is the command's own name. Understands --name VALUE, --name=VALUE, -m VALUE,
 * -mVALUE and --. take() returns OPTIONS_TAKEN, or the exit status with which the command ends here, after a message.
 * Returns OPTIONS_TAKEN when all was taken; else the exit status: take()'s, 0 after --help, whose text is then printed,
 * 2 after a message about an option. */
int options_parse(const struct option_set *set, int argc, char **argv,
                  int (*take)(void *context, int option, const char *value), void *context);

/* Prints usage, options and the example to standard output. */
void options_help(const struct option_set *set);

/* Prints "COMMAND: message" and a pointer to --help on standard error; returns 2, the status for usage
 * errors. */
int options_usage_error(const struct option_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
