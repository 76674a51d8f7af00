/* The root of the descriptions of models that are driven alone. */
#ifndef EMU_MACHINE_ALONE_ROOT_H
#define EMU_MACHINE_ALONE_ROOT_H

#include <stddef.h>

#include "emu/schema/tree.h"

struct alone_root {
    char description[256];
};

/* The one field of an alone_root; meaning: its explanation. */
#define ALONE_ROOT_FIELD(meaning)                                                                            \
    {                                                                                                        \
        .name = "description", .type = FIELD_TEXT, .offset = offsetof(struct alone_root, description),       \
        .size = sizeof(((struct alone_root *)0)->description), .initial = {"", ""}, .explanation = meaning,  \
        .source = {"", ""},                                                                                  \
    }

/* struct tree_options.timed: all of them have a clock. */
static inline bool alone_is_timed(const struct tree *tree)
{
    (void)tree;
    return true;
}

#endif
