#include "emu/schema/renames.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/schema/document.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum rule {
    PRESENCE, /* the key said whether the part exists; an older file may describe a part that does not. Now a
                 mapping of the part adds it, and `none` removes it. */
    COUNT,    /* the key is valid; if an older file lacks it, its machine lacks the part */
    PART,     /* the part has another name; the old name is free for groups */
};

/* All obsolete keys. The new key of PRESENCE is the part. */
static const struct rename {
    const char *old, *name;
    enum rule rule;
} renames[] = {
    {"crossbar.present", "crossbar", PRESENCE},
    {"nucd.present", "nucd", PRESENCE},
    {"devices.rom.present", "devices.rom", PRESENCE},
    {"devices.finisher.present", "devices.finisher", PRESENCE},
    {"devices.rtc.present", "devices.rtc", PRESENCE},
    {"devices.clint.present", "devices.clint", PRESENCE},
    {"devices.plic.present", "devices.plic", PRESENCE},
    {"devices.uart.present", "devices.uart", PRESENCE},
    {"accel.count", "accel.count", COUNT},
    {"stack.size", "user_stack.size", PART},
};

enum { RENAMES = sizeof renames / sizeof *renames, PART_NAME = 64 };

static const char *last_name(const char *key)
{
    return strrchr(key, '.') + 1;
}

/* Writes the part of a key: its name without the last component. */
static void part_of(const char *key, char part[PART_NAME])
{
    const char *dot = strrchr(key, '.');
    (void)snprintf(part, PART_NAME, "%.*s", (int)(dot - key), key);
}

bool renames_moved(const char *name, struct error *err)
{
    for (size_t i = 0; i < RENAMES; i++) {
        char old[PART_NAME], part[PART_NAME];
        part_of(renames[i].old, old);
        part_of(renames[i].name, part);
        bool whole = strcmp(name, old) == 0;
        if (renames[i].rule != PART || (!whole && strcmp(name, renames[i].old) != 0))
            continue;
        return !error_set(err,
                          "%s is obsolete; write %s (croft show --migrate FILE rewrites a file); a group of "
                          "that name needs a `kind` or a `template`",
                          name, whole ? part : renames[i].name);
    }
    return false;
}

const char *renames_presence(const char *name)
{
    for (size_t i = 0; i < RENAMES; i++)
        if (renames[i].rule == PRESENCE && strcmp(name, renames[i].old) == 0)
            return renames[i].name;
    return NULL;
}

bool renames_explain(const char *name, struct error *err)
{
    const char *part = renames_presence(name);
    return part &&
           !error_set(err,
                      "%s is obsolete; write `%s: {}` to add the part, `%s: none` to remove it (croft "
                      "show --migrate FILE rewrites a file)",
                      name, part, part);
}

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

static void put_comment(FILE *out, const struct node *node, int indent)
{
    const char *line = node->comment;
    while (line) {
        int length = (int)strcspn(line, "\n");
        (void)fprintf(out, "%*s%.*s\n", indent, "", length, line);
        line = line[length] ? line + length + 1 : NULL;
    }
}

static void put_mapping(FILE *out, const struct node *mapping, int indent)
{
    for (const struct node *node = mapping->first; node; node = node->next) {
        put_comment(out, node, indent);
        (void)fprintf(out, "%*s", indent, "");
        put_text(out, node->name);
        (void)fputs(node->text && !*node->text ? ":" : !node->text && node->first ? ":" : ": ", out);
        if (!node->text && !node->first)
            (void)fputs("{}", out);
        else if (node->text && *node->text)
            put_text(out, node->text);
        (void)fputc('\n', out);
        put_mapping(out, node, indent + 2);
    }
}

/* Everything that a file says about one part. */
struct mention {
    struct node *mapping; /* of which `node` is a member */
    struct node *node;    /* the part's mapping, or a dotted key of the part */
    char *name;           /* the node's dotted name */
};

struct mentions {
    struct mention *items; /* in file order */
    size_t count;
};

/* Returns what follows the part's name in a dotted name: "" or ".KEY". NULL: it is not a name of the part. */
static const char *behind_part(const char *name, const char *part)
{
    size_t length = strlen(part);
    bool same = strncmp(name, part, length) == 0 && (name[length] == '\0' || name[length] == '.');
    return same ? name + length : NULL;
}

static void find_mentions(struct node *mapping, const char *prefix, const char *part, struct mentions *found)
{
    for (struct node *node = mapping->first; node; node = node->next) {
        char *name = alloc_format("%s%s%s", prefix, *prefix ? "." : "", node->name);
        if (behind_part(name, part)) {
            found->items = alloc_resize(found->items, (found->count + 1) * sizeof *found->items);
            found->items[found->count++] = (struct mention){mapping, node, name};
            continue;
        }
        if (!node->text && behind_part(part, name))
            find_mentions(node, name, part, found);
        free(name);
    }
}

static struct mentions mentions_of(struct node *document, const char *part)
{
    struct mentions found = {NULL, 0};
    find_mentions(document, "", part, &found);
    return found;
}

static void free_mentions(struct mentions *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->items[i].name);
    free(found->items);
}

static void set_name(struct node *node, char *name)
{
    free(node->name);
    node->name = name;
}

static void unlink_node(struct node *mapping, struct node *node)
{
    struct node **link = &mapping->first;
    mapping->last = NULL;
    while (*link)
        if (*link == node) {
            *link = node->next;
        } else {
            mapping->last = *link;
            link = &(*link)->next;
        }
    mapping->members--;
    node->next = NULL;
}

/* Writes the comments of a node that is left out and of all below it, and a comment for each value: its key,
 * the value and the reason. `name` is the node's dotted name; reason NULL: only the comments. */
static void note_loss(FILE *notes, const struct node *node, const char *name, const char *reason)
{
    put_comment(notes, node, 0);
    if (node->text && reason)
        (void)fprintf(notes, "# %s: %s is left out: %s.\n", text_quote(name).text,
                      text_quote(node->text).text, reason);
    for (const struct node *below = node->first; below; below = below->next) {
        char *inner = alloc_format("%s.%s", name, below->name);
        note_loss(notes, below, inner, reason);
        free(inner);
    }
}

static FILE *open_notes(char **text, size_t *size)
{
    FILE *notes = open_memstream(text, size);
    if (!notes)
        alloc_failed();
    return notes;
}

/* Gives the notes to a node as its comment and frees them. */
static void close_notes(FILE *notes, char **text, size_t *size, struct node *node)
{
    if (fclose(notes) != 0)
        alloc_failed();
    free(node->comment);
    node->comment = NULL;
    if (*size > 0) {
        (*text)[*size - 1] = '\0';
        node_comment(node, *text);
    }
    free(*text);
}

/* Turns the node into `PART: TEXT`, or into `PART: {}` if text is NULL. The name is relative to its mapping. */
static void replace(const struct mention *mention, const char *part, const char *text)
{
    struct node *node = mention->node;
    for (struct node *below = node->first, *next; below; below = next) {
        next = below->next;
        node_free(below);
    }
    free(node->text);
    node->text = text ? alloc_text(text) : NULL;
    node->first = node->last = NULL;
    node->members = 0;
    set_name(node, alloc_text(part + strlen(mention->name) - strlen(node->name)));
}

/* Removes the member of a mapping that the key names, and writes its comments. */
static void drop_member(struct node *mapping, const char *key, FILE *notes)
{
    struct node *member = mapping->first;
    while (member && strcmp(member->name, last_name(key)) != 0)
        member = member->next;
    if (!member || !member->text)
        return;
    put_comment(notes, member, 0);
    unlink_node(mapping, member);
    node_free(member);
}

/* Replaces all that the file says about the part by `PART: none`, and notes each lost value in a comment.
 * Does not note the loss of `key`, because `none` says the same. */
static void remove_part(const struct mentions *found, const char *part, const char *key)
{
    char *text, *reason = alloc_format("the machine had no %s", part);
    size_t size;
    FILE *notes = open_notes(&text, &size);
    for (size_t i = 0; i < found->count; i++) {
        const struct mention *mention = &found->items[i];
        if (strcmp(mention->name, part) == 0)
            drop_member(mention->node, key, notes);
        note_loss(notes, mention->node, mention->name, strcmp(mention->name, key) == 0 ? NULL : reason);
        if (i == 0)
            continue;
        unlink_node(mention->mapping, mention->node);
        node_free(mention->node);
    }
    replace(&found->items[0], part, "none");
    close_notes(notes, &text, &size, found->items[0].node);
    free(reason);
}

/* Removes the obsolete key, because the part's mapping says the same. If there is no mapping, replaces the
 * dotted key by an empty one. */
static void add_part(const struct mentions *found, const char *part, const char *key)
{
    struct node *stays = NULL;
    char *text;
    size_t size;
    FILE *notes = open_notes(&text, &size);
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->items[i].name, part) == 0 && !found->items[i].node->text)
            stays = found->items[i].node;
    if (stays)
        put_comment(notes, stays, 0);
    for (size_t i = 0; i < found->count; i++) {
        const struct mention *mention = &found->items[i];
        bool dotted = mention->node->text && strcmp(mention->name, key) == 0;
        if (strcmp(mention->name, part) == 0)
            drop_member(mention->node, key, notes);
        if (dotted)
            put_comment(notes, mention->node, 0);
        if (dotted && !stays) {
            stays = mention->node;
            replace(mention, part, NULL);
        } else if (dotted) {
            unlink_node(mention->mapping, mention->node);
            node_free(mention->node);
        }
    }
    assert(stays); /* the mapping or the dotted key that value_of() has found */
    close_notes(notes, &text, &size, stays);
}

/* Replaces the part's mapping by dotted keys, which do not add the part. */
static void spread_part(const struct mention *mention)
{
    struct node *node = mention->node, *before = NULL;
    for (struct node *at = mention->mapping->first; at != node; at = at->next)
        before = at;
    struct node *after = node->next, *first = node->first;
    for (struct node *below = first; below; below = below->next)
        set_name(below, alloc_format("%s.%s", node->name, below->name));
    *(before ? &before->next : &mention->mapping->first) = first ? first : after;
    if (first)
        node->last->next = after;
    if (!after)
        mention->mapping->last = first ? node->last : before;
    mention->mapping->members += node->members - 1;
    char *comment = node->comment;
    node->comment = NULL;
    struct node *to = first ? first : after ? after : mention->mapping;
    if (comment && to->comment) {
        char *both = alloc_format("%s\n%s", comment, to->comment);
        free(comment);
        free(to->comment);
        comment = both;
    }
    to->comment = comment ? comment : to->comment;
    node->first = node->last = NULL;
    node_free(node);
}

/* Returns the value of the key that comes last, or NULL. */
static const char *value_of(const struct mentions *found, const char *part, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct node *node = found->items[i].node, *member = NULL;
        if (strcmp(found->items[i].name, part) == 0)
            member = node_find(node, last_name(key));
        else if (strcmp(found->items[i].name, key) == 0)
            member = node;
        if (member && member->text)
            value = member->text;
    }
    return value;
}

/* Returns true if a value is set for the part itself: `none` or `default`, as current files have. */
static bool has_value(const struct mentions *found, const char *part)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->items[i].node->text && strcmp(found->items[i].name, part) == 0)
            return true;
    return false;
}

/* Rewrites what the file says about the part of one row. `old`: the file has an obsolete key. */
static void rewrite_part(struct node *document, const struct rename *rename, bool old)
{
    char part[PART_NAME];
    part_of(rename->old, part);
    struct mentions found = mentions_of(document, part);
    const char *value = value_of(&found, part, rename->old);
    old = old && !has_value(&found, part);
    if (value && rename->rule == PRESENCE && strcmp(value, "false") == 0)
        remove_part(&found, part, rename->old);
    else if (value && rename->rule == PRESENCE)
        add_part(&found, part, rename->old);
    else if (!value && old && found.count > 0 && !node_find(document, "extends"))
        remove_part(&found, part, rename->old);
    else if (!value && old)
        for (size_t i = 0; i < found.count; i++)
            if (!found.items[i].node->text && strcmp(found.items[i].name, part) == 0)
                spread_part(&found.items[i]);
    free_mentions(&found);
}

static bool is_old(struct node *document)
{
    bool old = false;
    for (size_t i = 0; i < RENAMES && !old; i++) {
        char part[PART_NAME];
        part_of(renames[i].old, part);
        struct mentions found = mentions_of(document, part);
        old = renames[i].rule == PRESENCE && value_of(&found, part, renames[i].old);
        free_mentions(&found);
    }
    return old;
}

/* Returns true if the file sets nothing of the part but its one key; otherwise the name is that of a
 * group. */
static bool is_moved(const struct mentions *found, const char *part, const char *key)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct node *node = found->items[i].node;
        bool whole = strcmp(found->items[i].name, part) == 0 && !node->text;
        if (!whole && (strcmp(found->items[i].name, key) != 0 || !node->text))
            return false;
        for (const struct node *below = node->first; below; below = below->next)
            if (strcmp(below->name, last_name(key)) != 0)
                return false;
    }
    return true;
}

/* Gives a renamed part, which is at the top level, its new name. */
static void move_part(struct node *document, const struct rename *rename)
{
    char part[PART_NAME], name[PART_NAME];
    part_of(rename->old, part);
    part_of(rename->name, name);
    struct mentions found = mentions_of(document, part);
    if (is_moved(&found, part, rename->old))
        for (size_t i = 0; i < found.count; i++)
            set_name(found.items[i].node, alloc_format("%s%s", name, behind_part(found.items[i].name, part)));
    free_mentions(&found);
}

/* Makes one node of two with the same name. Returns the one that stays. Of two values, or a value and a
 * mapping, the later stays. */
static struct node *merge_two(struct node *mapping, struct node *earlier, struct node *later,
                              const char *name)
{
    if (earlier->text || later->text) {
        char *text, *reason = alloc_format("line %u sets it again", later->line);
        size_t size;
        FILE *notes = open_notes(&text, &size);
        note_loss(notes, earlier, name, reason);
        put_comment(notes, later, 0);
        close_notes(notes, &text, &size, later);
        unlink_node(mapping, earlier);
        node_free(earlier);
        free(reason);
        return later;
    }
    unlink_node(mapping, later);
    node_comment(earlier, later->comment);
    *(earlier->last ? &earlier->last->next : &earlier->first) = later->first;
    earlier->last = later->last ? later->last : earlier->last;
    earlier->members += later->members;
    later->first = later->last = NULL;
    node_free(later);
    return earlier;
}

/* Merges nodes with the same name, which the new names may have produced. */
static void merge(struct node *mapping, const char *prefix)
{
    for (struct node *node = mapping->first, *next; node; node = next) {
        char *name = alloc_format("%s%s%s", prefix, *prefix ? "." : "", node->name);
        struct node *twin = node->next;
        next = node->next;
        while (twin && strcmp(twin->name, node->name) != 0)
            twin = twin->next;
        if (twin)
            next = merge_two(mapping, node, twin, name) == node ? node : next;
        else
            merge(node, name);
        free(name);
    }
}

static void rewrite(struct node *document)
{
    bool old = is_old(document);
    for (size_t i = 0; i < RENAMES; i++)
        if (renames[i].rule == PART)
            move_part(document, &renames[i]);
        else
            rewrite_part(document, &renames[i], old);
    merge(document, "");
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
    rewrite(document);
    if (!document->first)
        (void)fputs("{}\n", out);
    put_mapping(out, document, 0);
    put_comment(out, document, 0);
    node_free(document);
    return true;
}
