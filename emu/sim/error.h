/* Errors: one line of text that a user can act on, returned to the caller. */
#ifndef EMU_SIM_ERROR_H
#define EMU_SIM_ERROR_H

#include <stdbool.h>

/* A function that can fail because of its input takes a `struct error *` as its last parameter, calls error_set() and
 * returns false (or NULL). The caller owns the struct. Only the command prints the text. */
struct error {
    char text[1024];
};

/* Writes the message (what happened, where, what is allowed; no trailing newline), cut to the size of `text`. Returns
 * false, for `return error_set(err, ...)`. */
bool error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts the formatted context and ": " before the text in err. Returns false. */
bool error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
