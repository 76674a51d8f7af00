#include "emu/schema/renames.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/schema/document.h"

/* Parts whose presence an obsolete key controlled: older files may describe such a part although the machine
 * lacks it. */
static const struct {
    const char *part, *key;
    bool stays; /* the key is still valid; its value 0 means that there is no such part */
} renames[] = {
    {"crossbar", "present", false},     {"nucd", "present", false},
    {"devices.rom", "present", false},  {"devices.finisher", "present", false},
    {"devices.rtc", "present", false},  {"devices.clint", "present", false},
    {"devices.plic", "present", false}, {"devices.uart", "present", false},
    {"accel", "count", true},
};

enum { RENAMES = sizeof renames / sizeof *renames, NAME = 512 };

/* Obsolete part names. The old name is free for groups. */
static const struct {
    const char *old, *name, *key; /* the part's only key */
} moves[] = {
    {"stack", "user_stack", "size"},
};

enum { MOVES = sizeof moves / sizeof *moves };

/* Returns what follows the part's old name: "" or ".KEY". NULL if the name is not an old name. */
static const char *moved_key(size_t move, const char *name)
{
    size_t length = strlen(moves[move].old);
    if (strncmp(name, moves[move].old, length) != 0)
        return NULL;
    name += length;
    return !*name || (*name == '.' && strcmp(name + 1, moves[move].key) == 0) ? name : NULL;
}

bool renames_moved(const char *name, struct error *err)
{
    for (size_t i = 0; i < MOVES; i++) {
        const char *key = moved_key(i, name);
        if (!key)
            continue;
        (void)error_set(
            err,
            "%s is obsolete; write %s%s (croft show --migrate FILE rewrites a file); a group of that "
            "name needs a `kind` or a `template`",
            name, moves[i].name, key);
        return true;
    }
    return false;
}

bool renames_explain(const char *name, struct error *err)
{
    for (size_t i = 0; i < RENAMES; i++) {
        size_t length = strlen(renames[i].part);
        if (renames[i].stays || strncmp(renames[i].part, name, length) != 0 || name[length] != '.' ||
            strcmp(name + length + 1, renames[i].key) != 0)
            continue;
        (void)error_set(err,
                        "%s is obsolete; write `%s: {}` to add the part, `%s: none` to remove it (croft show "
                        "--migrate FILE rewrites a file)",
                        name, renames[i].part, renames[i].part);
        return true;
    }
    return false;
}

/* State of rewriting one file. */
struct migration {
    FILE *out;
    bool old;     /* the file has an obsolete key: describing a part does not add it */
    bool extends; /* the file extends another, which may add the parts that this file only describes */
};

/* Returns true if YAML reads the text as a plain scalar. */
static bool is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(text), rest = strspn(text, letters);
    if (rest == 0 || text[length - 1] == ' ')
        return false;
    for (const char *c = text; *c; c++)
        if (!strchr(letters, *c) && !strchr(" ._/+-,()", *c))
            return false;
    return true;
}

static void put_text(FILE *out, const char *text)
{
    if (is_plain(text)) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < ' ' || *c == 0x7f)
            (void)fprintf(out, "\\x%02x", *c);
        else
            (void)fprintf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    }
    (void)fputc('"', out);
}

static void put_mapping(const struct migration *m, const struct node *mapping, const char *path, int indent,
                        const char *prefix, const char *without);

static int find_rename(const char *path)
{
    for (int i = 0; i < RENAMES; i++)
        if (strcmp(renames[i].part, path) == 0)
            return i;
    return -1;
}

static void put_name(const struct migration *m, int indent, const char *prefix, const char *name)
{
    char whole[NAME];
    (void)snprintf(whole, sizeof whole, "%s%s", prefix, name);
    (void)fprintf(m->out, "%*s", indent, "");
    put_text(m->out, whole);
    (void)fputc(':', m->out);
}

static void put_section(const struct migration *m, const struct node *section, const char *path, int indent,
                        const char *prefix, const char *without)
{
    put_name(m, indent, prefix, section->name);
    bool empty = !section->first || (without && section->first == section->last);
    (void)fputs(empty ? " {}\n" : "\n", m->out);
    put_mapping(m, section, path, indent + 2, "", without);
}

/* Writes a part whose presence one of its keys controls. */
static void put_part(const struct migration *m, const struct node *part, const char *path, int indent,
                     const char *prefix, int rename)
{
    const struct node *key = node_find(part, renames[rename].key);
    bool absent = key && key->text && strcmp(key->text, "false") == 0;
    if (key && renames[rename].stays) {
        put_section(m, part, path, indent, prefix, NULL);
    } else if (absent) {
        put_name(m, indent, prefix, part->name);
        (void)fputs(" none\n", m->out);
    } else if (key) {
        put_section(m, part, path, indent, prefix, renames[rename].key);
    } else if (m->extends) { /* dotted names do not add the part */
        char dotted[NAME];
        (void)snprintf(dotted, sizeof dotted, "%s%s.", prefix, part->name);
        put_mapping(m, part, path, indent, dotted, NULL);
    } else {
        (void)fprintf(m->out, "%*s# %s was described, but the machine had none.\n", indent, "", path);
        put_name(m, indent, prefix, part->name);
        (void)fputs(" none\n", m->out);
    }
}

static void put_mapping(const struct migration *m, const struct node *mapping, const char *path, int indent,
                        const char *prefix, const char *without)
{
    for (const struct node *node = mapping->first; node; node = node->next) {
        char below[NAME];
        (void)snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", node->name);
        int rename = node->text || !m->old ? -1 : find_rename(below);
        if (without && strcmp(node->name, without) == 0)
            continue;
        if (rename >= 0) {
            put_part(m, node, below, indent, prefix, rename);
        } else if (!node->text) {
            put_section(m, node, below, indent, prefix, NULL);
        } else {
            put_name(m, indent, prefix, node->name);
            (void)fputs(*node->text ? " " : "", m->out);
            if (*node->text)
                put_text(m->out, node->text);
            (void)fputc('\n', m->out);
        }
    }
}

/* Returns true if this top-level node is a part under its old name. A group with that name has other keys. */
static bool is_moved(const struct node *document, const struct node *node, size_t move)
{
    const char *key = moved_key(move, node->name);
    if (!key || !*key == !!node->text)
        return false;
    const struct node *section = node_find(document, moves[move].old);
    for (const struct node *below = section ? section->first : NULL; below; below = below->next)
        if (strcmp(below->name, moves[move].key) != 0)
            return false;
    return true;
}

/* Gives renamed parts their new names. */
static void move_parts(struct node *document)
{
    for (struct node *node = document->first; node; node = node->next)
        for (size_t i = 0; i < MOVES; i++) {
            if (!is_moved(document, node, i))
                continue;
            char *name;
            if (asprintf(&name, "%s%s", moves[i].name, moved_key(i, node->name)) < 0)
                abort();
            free(node->name);
            node->name = name;
            break;
        }
}

static bool is_old(const struct node *mapping, const char *path)
{
    struct error ignored;
    for (const struct node *node = mapping->first; node; node = node->next) {
        char below[NAME];
        (void)snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", node->name);
        if (node->text ? renames_explain(below, &ignored) : is_old(node, below))
            return true;
    }
    return false;
}

bool renames_migrate(const char *path, FILE *out, struct error *err)
{
    struct stat stat;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &stat) != 0) {
        (void)error_set(err, "%s: cannot be opened: %s", path, strerror(errno));
        if (file >= 0)
            (void)close(file);
        return false;
    }
    struct node *document = NULL;
    if (S_ISREG(stat.st_mode))
        document = document_read(file, path, err);
    else
        (void)error_set(err, "%s: not a regular file; a machine description is a YAML file", path);
    (void)close(file);
    if (!document)
        return false;
    move_parts(document);
    const struct migration m = {
        .out = out, .old = is_old(document, ""), .extends = node_find(document, "extends") != NULL};
    if (!document->first)
        (void)fputs("{}\n", out);
    put_mapping(&m, document, "", 0, "", NULL);
    node_free(document);
    return true;
}
