#include "emu/schema/reference.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/text.h"

enum { ANY = -1, PATH_MOST = TREE_NAME };

/* Parser state of an expression in brackets (recursive descent). */
struct expression {
    const char *at;
    const struct instance *from;
    unsigned depth;
    bool wrong;
};

enum { EXPRESSION_DEEP = 16 };

static long sum(struct expression *e);

/* Returns the copy number of the n-th numbered part outwards from the port's part (0: the innermost). */
static long copy_number(struct expression *e, unsigned n)
{
    for (const struct instance *part = e->from; part; part = part->parent)
        if (part->index >= 0 && n-- == 0)
            return part->index;
    e->wrong = true;
    return 0;
}

static long operand(struct expression *e)
{
    long value = 0;
    if (*e->at == '(' && e->depth < EXPRESSION_DEEP) {
        e->at++;
        e->depth++;
        value = sum(e);
        e->depth--;
        e->wrong = e->wrong || *e->at != ')';
        e->at += *e->at == ')';
    } else if (*e->at >= 'i' && *e->at <= 'k') {
        value = copy_number(e, (unsigned)(*e->at++ - 'i'));
    } else if (isdigit((unsigned char)*e->at)) {
        for (; isdigit((unsigned char)*e->at) && value < 1000000; e->at++)
            value = 10 * value + (*e->at - '0');
    } else {
        e->wrong = true;
    }
    return value;
}

static long product(struct expression *e)
{
    long value = operand(e);
    while (!e->wrong && *e->at && strchr("*/%", *e->at)) {
        char symbol = *e->at++;
        long other = operand(e);
        e->wrong = e->wrong || (symbol != '*' && other == 0) || labs(value) > 1000000;
        if (e->wrong)
            break;
        value = symbol == '*' ? value * other : symbol == '/' ? value / other : value % other;
    }
    return value;
}

static long sum(struct expression *e)
{
    long value = product(e);
    while (!e->wrong && (*e->at == '+' || *e->at == '-')) {
        bool minus = *e->at++ == '-';
        long other = product(e);
        value += minus ? -other : other;
    }
    return value;
}

/* One component of a path: "crossbar", "stack.3", "stack[i/2]". */
struct component {
    char name[64];
    bool numbered;
    long number; /* the copy's number, or ANY */
};

static bool wrong_path(const char *text, const char *why, struct error *err)
{
    return error_set(err, "%s is not a reference: %s", text_quote(text).text, why);
}

static bool read_brackets(const char **at, const struct instance *from, struct component *component)
{
    struct expression e = {.at = *at + 1, .from = from};
    component->numbered = true;
    if (e.at[0] == '*' && e.at[1] == ']') {
        component->number = ANY;
        *at = e.at + 2;
        return true;
    }
    component->number = sum(&e);
    *at = e.at + 1;
    return !e.wrong && *e.at == ']' && component->number >= 0;
}

static bool read_component(const char **at, const struct instance *from, struct component *component)
{
    size_t length = strcspn(*at, ".[");
    *component = (struct component){.number = ANY};
    if (length == 0 || length >= sizeof component->name)
        return false;
    memcpy(component->name, *at, length);
    *at += length;
    if (**at == '[')
        return read_brackets(at, from, component) && (**at == '\0' || **at == '.');
    if (**at == '.' && name_is_index(*at + 1)) {
        component->numbered = true;
        component->number = (*at)[1] == '*' ? ANY : (long)strtoul(*at + 1, NULL, 10);
        *at += 1 + name_length(*at + 1);
    }
    return true;
}

static void add(struct references *found, struct instance *part, int port, int slot)
{
    found->items = realloc(found->items, (found->count + 1) * sizeof *found->items);
    if (!found->items)
        abort();
    found->items[found->count++] = (struct reference){part, port, slot};
}

static int port_named(const struct part_kind *kind, const char *name)
{
    for (int i = 0; kind->ports && kind->ports[i].name; i++)
        if (strcmp(kind->ports[i].name, name) == 0)
            return i;
    return -1;
}

static bool walk(struct instance *at, const char *rest, struct instance *from, const char *whole,
                 struct references *found, struct error *err)
{
    struct component component;
    if (*rest == '\0') {
        add(found, at, -1, -1);
        return true;
    }
    if (!read_component(&rest, from, &component))
        return wrong_path(
            whole, "write names of parts with numbers in brackets, for example stack[i].crossbar", err);
    rest += *rest == '.';
    for (struct instance *below = at->first; below; below = below->next) {
        bool meant = component.number == ANY || component.number == below->index;
        if (below->absent || strcmp(below->name, component.name) != 0 || (below->index >= 0 && !meant))
            continue;
        if (below->index >= 0 && below->copies > 1 && !component.numbered) {
            (void)error_set(err, "%s: there are %u of %s; write %s[NUMBER], or %s[*] for all",
                            text_quote(whole).text, below->copies, below->path, component.name,
                            component.name);
            return false;
        }
        if (!walk(below, rest, from, whole, found, err))
            return false;
    }
    int port = port_named(at->kind, component.name);
    if (port >= 0 && *rest == '\0')
        add(found, at, port, component.numbered ? (int)component.number : -1);
    return true;
}

static bool find_one(struct instance *from, const char *path, struct references *found, struct error *err)
{
    struct instance *at = from->parent ? from->parent : from;
    const char *rest = path;
    size_t before = found->count;
    if (*rest == '/') {
        while (at->parent)
            at = at->parent;
        rest++;
    }
    for (; strncmp(rest, "../", 3) == 0; rest += 3) {
        if (!at->parent)
            return wrong_path(path, "it leads out of the machine", err);
        at = at->parent;
    }
    if (!*rest)
        return wrong_path(path, "it names no part", err);
    if (!walk(at, rest, from, path, found, err))
        return false;
    return found->count > before ||
           error_set(err, "%s: no such part%s%s", text_quote(path).text, *at->path ? " in " : "", at->path);
}

bool reference_find(struct instance *from, const char *text, struct references *found, struct error *err)
{
    char path[PATH_MOST];
    *found = (struct references){NULL, 0};
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (length >= sizeof path)
            return error_set(err, "the reference is too long");
        memcpy(path, text, length);
        path[length] = '\0';
        if (!find_one(from, path, found, err))
            return false;
        text += length;
    }
    return found->count > 0 || error_set(err, "the reference is empty");
}
