/* An error on its way up: one line of text that a user can act on. */
#ifndef EMU_SIM_ERROR_H
#define EMU_SIM_ERROR_H

#include <stdbool.h>

/* Functions that can fail because of input take a `struct error *` as their last parameter and return false
 * (or NULL) after error_set(). The caller owns the struct; nobody prints but the command that gives up. */
struct error {
    char text[1024];
};

/* Writes the message (what happened, where, what is allowed; no trailing newline) and returns false, so that
 * `return error_set(err, ...)` reads well. Longer texts are cut. */
bool error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts `context: ` before the text that err already holds and returns false. */
bool error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
