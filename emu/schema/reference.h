/* References of ports in descriptions: the text that names the partners of a port.
 *
 * A reference is a list of paths, separated by spaces. A path starts at the parent of the part that owns the
 * port ("crossbar" is a sibling of that part), one level higher for each leading "../", or at the root if it
 * begins with "/". Its components are names of parts; one of several copies is name.3 or name[3], all of them
 * name.* or name[*]. Brackets may hold an expression of whole numbers, + - * / %, parentheses and the letters
 * i, j and k: i is the copy number of the innermost numbered part among the port's part and its ancestors, j
 * that of the next one outwards, k that of the one after. The last component may name a port:
 * crossbar.in[2]. */
#ifndef EMU_SCHEMA_REFERENCE_H
#define EMU_SCHEMA_REFERENCE_H

#include "emu/schema/tree.h"

struct reference {
    struct instance *part;
    int port; /* index of the port in its kind; -1: the reference names no port */
    int slot; /* slot of a port with many partners; -1: the next free one */
};

struct references {
    struct reference *items;
    size_t count;
};

/* Finds all that the text names, in the order of the text and then of the tree. `from` is the part that owns
 * the port. False with err set when a path is malformed or names nothing. Free found->items, also after a
 * failure. */
bool reference_find(struct instance *from, const char *text, struct references *found, struct error *err);

#endif
