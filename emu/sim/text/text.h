/* Texts from users and programs: which may be kept, and how messages quote them. */
#ifndef EMU_SIM_TEXT_TEXT_H
#define EMU_SIM_TEXT_TEXT_H

#include <stdbool.h>

enum { TEXT_QUOTED = 72 }; /* size of a quoted text */

struct quoted {
    char text[TEXT_QUOTED];
};

/* Puts `text` in single quotes for a one-line message. Bytes that are not printable ASCII become '?'; a long text is
 * cut and ends in "...". Use as text_quote(x).text. */
struct quoted text_quote(const char *text);

/* Returns whether `text` is UTF-8 without control characters and line separators, so that it survives YAML, JSON and a
 * terminal. */
bool text_printable(const char *text);

/* The value of a macro as a string literal. */
#define TEXT_VALUE(macro)    TEXT_SPELLED(macro)
#define TEXT_SPELLED(tokens) #tokens

#endif
