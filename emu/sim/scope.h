/* Where in the tree of names something stands: "accel.3.l1d". Statistics, energy accounts and tracks of traces are
 * named by a scope and a name within it, so that no part has to know what stands above it. */
#ifndef EMU_SIM_SCOPE_H
#define EMU_SIM_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Passed by value. It refers to the scope around it, which therefore has to live as long as it does: a scope is made in the
 * block that publishes, and kept by nobody. All zero: the root, which adds nothing to a name. */
struct scope {
    const struct scope *parent; /* NULL: the root */
    const char *name;           /* may be dotted itself */
    uint32_t index;
    bool indexed;
};

static inline struct scope scope_root(void)
{
    return (struct scope){0};
}

/* "PARENT.name"; parent NULL is the root. */
static inline struct scope scope_enter(const struct scope *parent, const char *name)
{
    return (struct scope){.parent = parent, .name = name};
}

/* "PARENT.name.index" */
static inline struct scope scope_at(const struct scope *parent, const char *name, uint32_t index)
{
    return (struct scope){.parent = parent, .name = name, .index = index, .indexed = true};
}

/* "PARENT.index": one of several of which the parent is the whole. */
static inline struct scope scope_number(const struct scope *parent, uint32_t index)
{
    return (struct scope){.parent = parent, .index = index, .indexed = true};
}

/* The dotted name of `name` in the scope, or of the scope itself where name is NULL, of whatever length. The caller frees
 * it; out of memory aborts. */
char *scope_path(struct scope scope, const char *name);

#endif
