/* Command-line options from a table: parsing, --help, and messages that suggest the nearest known option. */
#ifndef EMU_CMD_OPTIONS_H
#define EMU_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One option. take() of options_parse() gets its index in the table. */
struct option_row {
    const char *name;     /* long name without dashes */
    char letter;          /* one-letter form, or 0 */
    const char *argument; /* name of the value in --help ("FILE"); NULL: no value */
    const char *help;     /* one line for --help */
};

/* The words with which the value of an option can begin, if `argument` does not spell them. */
struct option_words {
    const char *option;       /* long name; NULL: the end of the table */
    const char *const *words; /* NULL-terminated */
};

/* A command's interface. --help and -h need no row. Manual pages and completion (emu/cmd/help/) are made from it, too:
 * there, lower-case words of `argument` and of the synopsis stand for themselves, FILE, PATH and the like for a file, DIR
 * for a folder; the value of an option `machine`, and MACHINE, is a machine's name or file, that of `set` a setting. */
struct option_set {
    const char *command;   /* "croft run" */
    const char *synopsis;  /* rest of the usage line: "[options] PROGRAM [ARGS...]" */
    const char *summary;   /* one line: what the command does */
    const char *example;   /* one command line; "$DOC" as in paths_print() */
    const char *notes;     /* further lines of --help, each ending in a newline; or NULL; "$DOC" likewise */
    bool stop_at_argument; /* the first argument ends the options: all that follow are arguments */
    size_t count;          /* number of rows */
    const struct option_row *rows;
    const struct option_words *words; /* or NULL */
};

/* Passed to take() of options_parse() instead of a row's index. */
enum { OPTION_ARGUMENT = -1 }; /* the value is an argument, not an option */

/* Returned by options_parse() and take() instead of an exit status. */
enum { OPTIONS_TAKEN = -1 };

/* Calls take() for each option, with the index of its row and its value (NULL if it has none), and for each
 * argument, in the order of argv[1..argc-1]; argv[0] is the command's own name. Accepts --name VALUE,
 * --name=VALUE, -m VALUE, -mVALUE and --. take() returns OPTIONS_TAKEN, or, after a message, the exit status
 * with which parsing ends. Returns OPTIONS_TAKEN at the end of the arguments; else the exit status: take()'s,
 * 0 after printing the text of --help, or 2 after a message about an option. */
int options_parse(const struct option_set *set, int argc, char **argv,
                  int (*take)(void *context, int option, const char *value), void *context);

/* Prints usage, options and the example to standard output. */
void options_help(const struct option_set *set);

/* Prints "COMMAND: message" and a pointer to --help to standard error. Returns 2, the status of usage
 * errors. */
int options_usage_error(const struct option_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
