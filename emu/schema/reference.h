/* References of ports in descriptions: the text that names the partners of a port.
 *
 * A reference is a list of paths, separated by spaces. A path starts at the parent of the part that owns the
 * port ("crossbar" is a sibling of that part), one level higher for each leading "../", or at the root if it
 * begins with "/". Its components are names of parts; `*` stands for any name, with or without copies. One of
 * several copies is name.3 or name[3], all of them name.* or name[*]; a part without copies has no number.
 * Brackets may hold an expression of whole numbers up to 1000000000, + - * / %, parentheses and the letters i,
 * j and k: i is the copy number of the innermost numbered part among the port's part and its ancestors, j that
 * of the next one outwards, k that of the one after. The last component may name a port: crossbar.in[2].
 *
 * `auto` instead of a reference restores a port's default partners. */
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

/* Returns the alternatives for the default partner of a part's port, from its role or its kind: "crossbar
 * dram". "": the part above connects the port; NULL: there is no default. Unless source is NULL, *source
 * becomes the origin of the default, or "". */
const char *reference_partners(const struct instance *part, const struct part_port *port,
                               const char **source);

/* Finds the default partners of a port that asks: the first alternative that exists next to the part, then
 * next to its parent, and so on. Stores the reference that names them to text, for example "../crossbar".
 * False when none exists. Free found->items. */
bool reference_default(struct instance *part, const struct part_port *port, struct references *found,
                       char text[TREE_NAME]);

#endif
