/* Compiles C sources through assembler text, for the options of `croft cc` that change the compiler's output. */
#ifndef EMU_CMD_CC_UNITS_H
#define EMU_CMD_CC_UNITS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "emu/sim/error.h"

/* A C source among the arguments. */
struct cc_unit {
    const char *source;
    size_t argument;          /* its place among the arguments */
    char text[PATH_MAX];      /* GCC's assembler */
    char numbered[PATH_MAX];  /* the same with labels (emu/cmd/code/assembly.h) */
    char object[PATH_MAX];    /* the numbered assembler, linked alone */
    char rewritten[PATH_MAX]; /* what is compiled in place of the source; its name is the source's with .s */
};

/* A command line for GCC. `fixed` comes before the user's arguments. */
struct cc_units {
    char *const *fixed, *const *arguments;
    size_t fixed_count, argument_count;
    char folder[PATH_MAX]; /* of temporary files */
    struct cc_unit *units;
    size_t count;
    bool debug, assembles, only_preprocesses,
        links;          /* -g; -S; -E, -M or -fsyntax-only; links: none of -c, -S, -E ... */
    const char *output; /* -o */
    bool lto;
};

/* Finds the sources and makes the folder. In any case, release it with cc_units_close(), which removes the files. */
bool cc_units_open(struct cc_units *units, char *const *fixed, size_t fixed_count, char *const *arguments,
                   size_t argument_count, struct error *err);
void cc_units_close(struct cc_units *units);

/* Runs a command. Returns its exit status, or -1 with err set if it cannot be run. */
int cc_run_command(char *const *words, struct error *err);

/* Compile a unit to assembler, with further options (a list that ends in NULL); link its numbered assembler alone. Return the
 * exit status, or -1 with err set. */
int cc_unit_compile(const struct cc_units *units, const struct cc_unit *unit, char *const *options,
                    struct error *err);
int cc_unit_link(const struct cc_units *units, const struct cc_unit *unit, struct error *err);

/* Runs the user's command line with files in place of the sources: rewritten, or numbered. `output`, if not NULL, replaces
 * that of the user. Returns the exit status. */
int cc_units_finish(const struct cc_units *units, bool numbered, const char *output, struct error *err);

#endif
