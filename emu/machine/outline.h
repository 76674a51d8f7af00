/* The outline of a description's YAML text: which keys it sets, on which lines; and whether it is well
 * formed. */
#ifndef EMU_MACHINE_OUTLINE_H
#define EMU_MACHINE_OUTLINE_H

#include "emu/machine/machine.h"

struct outline {
    unsigned lines[MACHINE_KEYS]; /* by key: the line that sets it, or 0 */
    unsigned extends_line;        /* of `extends`, or 0 */
};

/* Reads the outline of text[length], which may be anything. Succeeds only if it is one YAML document, a
 * mapping of known sections and keys, none twice, with one plain value for each key. Messages begin with path
 * and line. */
bool outline_read(struct outline *outline, const char *path, const unsigned char *text, size_t length,
                  struct error *err);

#endif
