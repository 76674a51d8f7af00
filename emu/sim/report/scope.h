/* Scopes: places in the tree of names, such as "accel.3.l1d". A scope and a name within it name statistics, energy
 * accounts and tracks of traces, so a part need not know its parents. */
#ifndef EMU_SIM_REPORT_SCOPE_H
#define EMU_SIM_REPORT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Passed by value. It points to its parent scope, which must outlive it: make scopes in the block that publishes, and
 * do not keep them. All zeros: the root, which adds nothing to a name. */
struct scope {
    const struct scope *parent; /* NULL: the root */
    const char *name;           /* may contain dots */
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

/* "PARENT.index": one of several parts that together are the parent. */
static inline struct scope scope_number(const struct scope *parent, uint32_t index)
{
    return (struct scope){.parent = parent, .index = index, .indexed = true};
}

/* Returns the dotted name of `name` in the scope, or of the scope itself if name is NULL. The caller frees it; out of
 * memory aborts. */
char *scope_path(struct scope scope, const char *name);

#endif
