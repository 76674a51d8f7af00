#include "emu/schema/reference.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

enum {
    ANY = -1,
    EXPRESSION_DEEP = 16,
    NAMED_MOST = 65536, /* most parts that one reference names */
    NUMBER_MOST =
        1000000000, /* of numbers in brackets: their products fit in 64 bits, their slots in an int */
};

/* Parser state of an expression in brackets (recursive descent). */
struct expression {
    const char *at;
    const struct instance *from;
    unsigned depth;
    const char *wrong; /* the reason why it has no value; NULL: none so far */
};

static int64_t sum(struct expression *e);

static int64_t refuse(struct expression *e, const char *why)
{
    if (!e->wrong)
        e->wrong = why;
    return 0;
}

static int64_t within_limits(struct expression *e, int64_t value)
{
    if (value < -NUMBER_MOST || value > NUMBER_MOST)
        return refuse(e, "numbers are at most 1000000000");
    return value;
}

/* Returns the copy number of the n-th numbered part outwards from the port's part (0: the innermost). */
static int64_t copy_number(struct expression *e, unsigned n)
{
    for (const struct instance *part = e->from; part; part = part->parent)
        if (part->index >= 0 && n-- == 0)
            return part->index;
    return refuse(e, "i, j and k are the numbers of the copies that the port is in, and there are fewer");
}

static int64_t operand(struct expression *e)
{
    int64_t value = 0;
    if (*e->at == '(' && e->depth < EXPRESSION_DEEP) {
        e->at++;
        e->depth++;
        value = sum(e);
        e->depth--;
        if (*e->at != ')')
            return refuse(e, "a parenthesis is not closed");
        e->at++;
    } else if (*e->at >= 'i' && *e->at <= 'k') {
        value = copy_number(e, (unsigned)(*e->at++ - 'i'));
    } else if (isdigit((unsigned char)*e->at)) {
        for (; isdigit((unsigned char)*e->at) && !e->wrong; e->at++)
            value = within_limits(e, 10 * value + (*e->at - '0'));
    } else {
        return refuse(e, "brackets hold a number, such as [2], [i/4] or [*]");
    }
    return value;
}

static int64_t product(struct expression *e)
{
    int64_t value = operand(e);
    while (!e->wrong && *e->at && strchr("*/%", *e->at)) {
        char symbol = *e->at++;
        int64_t other = operand(e);
        if (symbol != '*' && other == 0)
            return refuse(e, "it divides by 0");
        value = within_limits(e, symbol == '*'   ? value * other
                                 : symbol == '/' ? value / other
                                                 : value % other);
    }
    return value;
}

static int64_t sum(struct expression *e)
{
    int64_t value = product(e);
    while (!e->wrong && (*e->at == '+' || *e->at == '-')) {
        bool minus = *e->at++ == '-';
        int64_t other = product(e);
        value = within_limits(e, minus ? value - other : value + other);
    }
    return value;
}

/* One name of a path with its number: "crossbar", "stack.3", "stack[i/2]". */
struct component {
    const char *name;
    size_t length;
    bool numbered;
    int64_t number; /* the copy's number, or ANY */
};

/* State of the search for the parts that one path names. */
struct search {
    struct instance *from;
    const char *path;
    struct references *found;
    struct error *err;
    const struct instance *end; /* where the last branch found no such name, or NULL */
    struct component missed;    /* that name */
    char why[TREE_NAME + 32];   /* why the last branch of the search ended; "": it found no such name */
};

static bool wrong_path(const struct search *search, const char *why)
{
    return error_set(search->err, "%s is not a reference: %s", text_quote(search->path).text, why);
}

static bool read_brackets(const struct search *search, const char **at, struct component *component)
{
    struct expression e = {.at = *at + 1, .from = search->from};
    component->numbered = true;
    if (e.at[0] == '*' && e.at[1] == ']') {
        component->number = ANY;
        *at = e.at + 2;
        return true;
    }
    component->number = sum(&e);
    *at = e.at + 1;
    if (!e.wrong && *e.at != ']')
        (void)refuse(&e, "brackets hold a number, such as [2], [i/4] or [*]");
    if (!e.wrong && component->number < 0)
        (void)refuse(&e, "copies and slots are numbered from 0; a number in brackets is negative");
    return !e.wrong || wrong_path(search, e.wrong);
}

/* Reads a name and its brackets. The number of "stack.3" is left to read_number(). */
static bool read_component(const struct search *search, const char **at, struct component *component)
{
    *component = (struct component){.name = *at, .length = strcspn(*at, ".["), .number = ANY};
    *at += component->length;
    if (**at == '[' && component->length > 0 && !read_brackets(search, at, component))
        return false;
    return (component->length > 0 && (**at == '\0' || **at == '.')) ||
           wrong_path(search, "write names of parts with numbers in brackets, for example stack[i].crossbar");
}

/* Reads the number behind a dot: of copies, or of the slot of a port. */
static bool read_number(const struct search *search, const char **at, struct component *component)
{
    if (component->numbered || **at != '.' || !name_is_index(*at + 1))
        return true;
    struct expression e = {.at = *at + 1};
    component->numbered = true;
    component->number = *e.at == '*' ? ANY : operand(&e);
    *at += 1 + name_length(*at + 1);
    return !e.wrong || wrong_path(search, e.wrong);
}

static bool is_any_name(const struct component *component)
{
    return component->length == 1 && *component->name == '*';
}

static bool is_named(const struct component *component, const char *name)
{
    return strlen(name) == component->length && strncmp(name, component->name, component->length) == 0;
}

static void add(struct references *found, struct instance *part, int port, int slot)
{
    if ((found->count & (found->count - 1)) == 0)
        found->items =
            alloc_resize(found->items, (found->count ? 2 * found->count : 1) * sizeof *found->items);
    found->items[found->count++] = (struct reference){part, port, slot};
}

static bool walk(struct search *search, struct instance *at, const char *rest);

/* Follows the path into a part, or its copies, of the component's name. *missed becomes the part if it has no
 * copy of the component's number; *reached counts the others. */
static bool enter(struct search *search, struct instance *const *copies, struct component component,
                  const char *rest, unsigned *reached, const struct instance **missed)
{
    const struct instance *part = *copies;
    if (part->index >= 0 && !read_number(search, &rest, &component))
        return false;
    bool digits = *rest == '.' && name_is_index(rest + 1) && rest[1] != '*';
    if (part->index < 0 ? digits || component.number != ANY : component.number >= (int64_t)part->copies) {
        *missed = part;
        return true;
    }
    if (part->copies > 1 && !component.numbered && !is_any_name(&component))
        return error_set(search->err, "%s: there are %u of %s; write %s[NUMBER], or %s[*] for all",
                         text_quote(search->path).text, part->copies, part->name, part->name, part->name);
    ++*reached;
    if (component.number != ANY)
        return walk(search, copies[component.number], rest + (*rest == '.'));
    for (uint32_t i = 0; i < part->copies; i++)
        if (!walk(search, copies[i], rest + (*rest == '.')))
            return false;
    return true;
}

static void explain_missed(struct search *search, const struct instance *part)
{
    if (part->index < 0)
        (void)snprintf(search->why, sizeof search->why, "; %.64s has no copies, write it without a number",
                       part->name);
    else
        (void)snprintf(search->why, sizeof search->why, "; copies of %.64s are numbered from 0 to %u",
                       part->name, part->copies - 1);
}

static int port_named(const struct part_kind *kind, const struct component *component)
{
    for (int i = 0; kind->ports && kind->ports[i].name; i++)
        if (is_named(component, kind->ports[i].name))
            return i;
    return -1;
}

/* Returns the name below a part, of a part or port, that is nearest to the wrong name; NULL: none is near. */
static const char *nearest_below(const struct instance *at, const char *wrong)
{
    size_t count = 0;
    for (struct instance **below = at->below; *below; below += (*below)->copies > 1 ? (*below)->copies : 1)
        count++;
    for (const struct part_port *port = at->kind->ports; port && port->name; port++)
        count++;
    const char **names = alloc(count + 1, sizeof *names);
    count = 0;
    for (struct instance **below = at->below; *below; below += (*below)->copies > 1 ? (*below)->copies : 1)
        if (!(*below)->absent)
            names[count++] = (*below)->name;
    for (const struct part_port *port = at->kind->ports; port && port->name; port++)
        names[count++] = port->name;
    const char *nearest = nearest_name(wrong, names, count);
    free(names);
    return nearest;
}

/* Suggests another name for the one that the search has not found: the name below search->end that is nearest
 * to it. If the name begins the path, also searches below the ancestors of that part, and prefers the same
 * name there. */
static void suggest(struct search *search)
{
    const struct instance *at = search->end;
    const struct component *component = &search->missed;
    char wrong[TREE_NAME], outwards[3 * TREE_NAME] = "", suggested[TREE_NAME] = "";
    const char *before = search->path;
    size_t length = (size_t)(component->name - before);
    bool begins = *before != '/' && strspn(before, "./") == length;
    (void)snprintf(wrong, sizeof wrong, "%.*s", (int)component->length, component->name);
    for (; at && strcmp(suggested, wrong) != 0; at = begins ? at->parent : NULL) {
        const char *name = nearest_below(at, wrong);
        if (name && (!*suggested || strcmp(name, wrong) == 0)) {
            (void)snprintf(suggested, sizeof suggested, "%s", name);
            char meant[2 * TREE_NAME];
            (void)snprintf(meant, sizeof meant, "%.40s%.*s%s%.80s", outwards, (int)length, before, name,
                           component->name + component->length);
            (void)snprintf(search->why, sizeof search->why, "; did you mean %s?", text_quote(meant).text);
        }
        if (strlen(outwards) + 4 < sizeof outwards)
            strcat(outwards, "../");
    }
}

/* Adds what the rest of the path names below a part. */
static bool walk(struct search *search, struct instance *at, const char *rest)
{
    struct component component;
    const struct instance *missed = NULL;
    unsigned reached = 0;
    if (*rest == '\0') {
        add(search->found, at, -1, -1);
        return true;
    }
    if (!read_component(search, &rest, &component))
        return false;
    for (struct instance **below = at->below; *below; below += (*below)->copies > 1 ? (*below)->copies : 1)
        if (!(*below)->absent && (is_any_name(&component) || is_named(&component, (*below)->name)) &&
            !enter(search, below, component, rest, &reached, &missed))
            return false;
    int port = port_named(at->kind, &component);
    if (port >= 0) {
        if (!read_number(search, &rest, &component))
            return false;
        if (*rest == '\0')
            add(search->found, at, port, (int)component.number);
    }
    if (reached == 0 && missed && !is_any_name(&component))
        explain_missed(search, missed);
    if (reached == 0 && port < 0 && !missed && !is_any_name(&component)) {
        search->end = at;
        search->missed = component;
    }
    return true;
}

static bool find_one(struct instance *from, const char *path, struct references *found, bool hints,
                     struct error *err)
{
    struct instance *at = from->parent ? from->parent : from;
    struct search search = {.from = from, .path = path, .found = found, .err = err};
    const char *rest = path;
    size_t before = found->count;
    if (*rest == '/') {
        while (at->parent)
            at = at->parent;
        rest++;
    }
    for (; strncmp(rest, "../", 3) == 0; rest += 3) {
        if (!at->parent)
            return wrong_path(&search, "it leads out of the machine");
        at = at->parent;
    }
    if (!*rest)
        return wrong_path(&search, "it names no part");
    if (!walk(&search, at, rest))
        return false;
    if (found->count > before)
        return true;
    if (hints && !*search.why && search.end)
        suggest(&search);
    return error_set(err, "%s: no such part%s%s%s", text_quote(path).text, *at->path ? " in " : "", at->path,
                     search.why);
}

/* As reference_find(). Without `hints`, messages suggest no names. */
static bool find(struct instance *from, const char *text, struct references *found, bool hints,
                 struct error *err)
{
    char path[TREE_NAME];
    *found = (struct references){NULL, 0};
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (length >= sizeof path)
            return error_set(err, "the reference is too long");
        memcpy(path, text, length);
        path[length] = '\0';
        if (!find_one(from, path, found, hints, err))
            return false;
        if (found->count > NAMED_MOST)
            return error_set(err, "the reference names more than %d parts", NAMED_MOST);
        text += length;
    }
    return found->count > 0 || error_set(err, "the reference is empty");
}

bool reference_find(struct instance *from, const char *text, struct references *found, struct error *err)
{
    return find(from, text, found, true, err);
}

const char *reference_partners(const struct instance *part, const struct part_port *port, const char **source)
{
    const char *ignored;
    source = source ? source : &ignored;
    const struct part_default *d = part->role ? part->role->defaults : NULL;
    for (; d && d->field; d++)
        if (strcmp(d->field, port->name) == 0) {
            *source = d->source;
            return d->value;
        }
    *source = "";
    return port->partners;
}

bool reference_default(struct instance *part, const struct part_port *port, struct references *found,
                       char text[TREE_NAME])
{
    struct error ignored;
    const char *partners = port->direction == PART_ASKS ? reference_partners(part, port, NULL) : NULL;
    unsigned outwards = 0;
    *found = (struct references){NULL, 0};
    for (struct instance *beside = part; partners && beside->parent; beside = beside->parent, outwards++) {
        for (const char *name = partners + strspn(partners, " "); *name; name += strspn(name, " ")) {
            size_t length = strcspn(name, " ");
            (void)snprintf(text, TREE_NAME, "%.*s", (int)length, name);
            if (find(beside, text, found, false, &ignored)) {
                text[0] = '\0';
                for (unsigned i = 0; i < outwards; i++)
                    (void)snprintf(text + 3 * i, TREE_NAME - 3 * i, "../");
                (void)snprintf(text + strlen(text), TREE_NAME - strlen(text), "%.*s", (int)length, name);
                return true;
            }
            free(found->items);
            *found = (struct references){NULL, 0};
            name += length;
        }
    }
    return false;
}
