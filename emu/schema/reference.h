/* References of ports in descriptions: which parts a text names.
 *
 * A reference is a list of paths, with spaces between. A path begins at the part that holds the one whose port it is
 * ("crossbar" is beside it), at that one's holder for each "../" in front, or at the root behind "/". Its components are
 * names of parts; one of several copies is name.3 or name[3], all of them name.* or name[*]. In brackets an expression may
 * stand: whole numbers, + - * / % and parentheses, and the letters i, the number of the innermost part with copies that holds
 * the port or is it, j, that of the next one outside, and k. The last component may name a port: crossbar.in[2]. */
#ifndef EMU_SCHEMA_REFERENCE_H
#define EMU_SCHEMA_REFERENCE_H

#include "emu/schema/tree.h"

struct reference {
    struct instance *part;
    int port; /* of its kind; -1: the reference names none */
    int slot; /* of a port with many partners; -1: the next that is free */
};

struct references {
    struct reference *items;
    size_t count;
};

/* All that the text names, in its order and the tree's; `from` is the part whose port it is. False with err set when a path
 * is wrong or names nothing. Free items, also after a failure. */
bool reference_find(struct instance *from, const char *text, struct references *found, struct error *err);

#endif
