/* Collects a description's files and the --set options into one list of settings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/schema/document.h"
#include "emu/schema/machine_list.h"
#include "emu/schema/tree/state.h"
#include "emu/schema/tree/templates.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

/* The files of one machine, from the requested one to the one that extends nothing. */
struct chain {
    struct node *documents[TREE_CHAIN];
    dev_t devices[TREE_CHAIN];
    ino_t inodes[TREE_CHAIN];
};

enum {
    TEMPLATES_DEEP = 8,   /* nesting depth of templates in templates */
    SETTINGS_MAX = 65536, /* settings of one machine; bounds what nested templates multiply */
};

static bool ends_in_yaml(const char *name)
{
    size_t length = strlen(name);
    return length >= 5 && strcmp(name + length - 5, ".yaml") == 0;
}

static bool is_path(const char *name)
{
    return strchr(name, '/') || ends_in_yaml(name);
}

/* Returns the path of machine `name`, as written in file `from` (NULL: on the command line). The caller frees
 * it. */
static char *find_path(const char *name, const char *from, const char *shipped_dir)
{
    char *path = NULL;
    int length;
    if (!is_path(name) && shipped_dir) {
        length = asprintf(&path, "%s/%s.yaml", shipped_dir, name);
    } else {
        const char *slash = from && *name != '/' ? strrchr(from, '/') : NULL;
        length = asprintf(&path, "%.*s%s", slash ? (int)(slash - from + 1) : 0, slash ? from : "", name);
    }
    return alloc_checked(length < 0 ? NULL : path);
}

static bool unknown_machine(const char *name, const char *shipped_dir, struct error *err)
{
    struct machine_list list;
    struct error ignored;
    if (!machine_list(&list, shipped_dir, &ignored) || list.count == 0) {
        machine_list_free(&list);
        return error_set(err, "unknown machine %s: no machines are installed in %s", text_quote(name).text,
                         shipped_dir);
    }
    const char *nearest = nearest_name(name, (const char *const *)list.names, list.count);
    char names[512] = "";
    for (size_t i = 0; i < list.count; i++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", list.names[i]);
    }
    (void)error_set(err, "unknown machine %s%s%s%s: %s (a path contains a '/' or ends in .yaml)",
                    text_quote(name).text, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'? Shipped machines" : "; shipped machines", names);
    machine_list_free(&list);
    return false;
}

/* Reports a name in a description of a kind of which none are shipped. The file `path` has that name. Returns false. */
static bool no_path(const char *name, const char *path, struct error *err)
{
    char hint[TREE_NAME + 32] = "", *file = NULL;
    if (asprintf(&file, "%s.yaml", path) < 0)
        alloc_failed();
    if (access(file, F_OK) == 0)
        (void)snprintf(hint, sizeof hint, "; did you mean '%.200s.yaml'?", name);
    free(file);
    return error_set(err, "%s is no path of a description, which contains a '/' or ends in .yaml%s",
                     text_quote(name).text, hint);
}

/* Records the file as element `index` of the chain. False with err set if the chain already contains it. */
static bool is_new(const struct tree *tree, struct chain *chain, unsigned index, const struct stat *stat,
                   struct error *err)
{
    chain->devices[index] = stat->st_dev;
    chain->inodes[index] = stat->st_ino;
    for (unsigned i = 0; i < index; i++)
        if (chain->devices[i] == stat->st_dev && chain->inodes[i] == stat->st_ino)
            return error_set(err, "%s extends itself%s", tree->files[index].path,
                             index - i > 1 ? " through other files" : "");
    return true;
}

/* Reports a file that cannot be opened, and the shipped machine of that name, if there is one. */
static void cannot_open(const struct tree *tree, const char *name, const char *path, struct error *err)
{
    const int reason = errno;
    char *shipped = NULL;
    const bool named = reason == ENOENT && !strchr(name, '/') && tree->options.shipped_dir;
    if (named && asprintf(&shipped, "%s/%s", tree->options.shipped_dir, name) < 0)
        alloc_failed();
    if (shipped && access(shipped, F_OK) == 0)
        (void)error_set(err, "%s: cannot be opened: %s; the shipped machine is '%.*s'", path,
                        strerror(reason), (int)(strlen(name) - strlen(".yaml")), name);
    else
        (void)error_set(err, "%s: cannot be opened: %s", path, strerror(reason));
    free(shipped);
}

/* Returns a file without a name that holds the description of struct tree_options.text, or -1 with err set. */
static int open_text(const struct tree *tree, struct error *err)
{
    const char *text = tree->options.text;
    const size_t length = strlen(text);
    const int file = memfd_create("description", MFD_CLOEXEC);
    size_t written = 0;
    while (file >= 0 && written < length) {
        const ssize_t more = write(file, text + written, length - written);
        if (more <= 0)
            break;
        written += (size_t)more;
    }
    if (file >= 0 && written == length && lseek(file, 0, SEEK_SET) == 0)
        return file;
    (void)error_set(err, "%s: cannot be held: %s", tree->options.machine, strerror(errno));
    if (file >= 0)
        (void)close(file);
    return -1;
}

/* Opens tree->files[index] and checks that the chain does not contain it yet. Returns a file descriptor, or
 * -1 with err set. */
static int open_file(struct tree *tree, struct chain *chain, unsigned index, const char *name,
                     struct error *err)
{
    const char *path = tree->files[index].path;
    if (!is_path(name) && !tree->files[index].shipped) {
        (void)no_path(name, path, err);
        return -1;
    }
    /* O_NONBLOCK: opening a FIFO must not block; FIFOs, folders and devices are refused below. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ENOENT && tree->files[index].shipped) {
        (void)unknown_machine(name, tree->options.shipped_dir, err);
        return -1;
    }
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0)
        cannot_open(tree, name, path, err);
    else if (!S_ISREG(stat.st_mode))
        (void)error_set(err, "%s: not a regular file; a machine description is a YAML file", path);
    else if (is_new(tree, chain, index, &stat, err))
        return file;
    if (file >= 0)
        (void)close(file);
    return -1;
}

/* Prefixes the message with file and line of the `extends` that names chain element `index`, if there is one.
 * Returns false. */
static bool at_extends(const struct tree *tree, const struct chain *chain, unsigned index, struct error *err)
{
    if (index == 0)
        return false;
    return error_prefix(err, "%s:%u: extends", tree->files[index - 1].path,
                        node_find(chain->documents[index - 1], "extends")->line);
}

/* Reads the file of machine `name` as the next element of the chain. */
static bool chain_add(struct tree *tree, struct chain *chain, const char *name, struct error *err)
{
    unsigned index = tree->file_count;
    if (index == TREE_CHAIN) {
        (void)error_set(err, "a machine may consist of at most %d files", TREE_CHAIN);
        return at_extends(tree, chain, index, err);
    }
    if (!*name) {
        (void)error_set(err, "the name of the machine is empty; write a shipped machine's name or a path");
        return at_extends(tree, chain, index, err);
    }
    if (index && !text_printable(name)) {
        (void)error_set(err, "the name of the machine, %s, has characters that are not printable",
                        text_quote(name).text);
        return at_extends(tree, chain, index, err);
    }
    const char *from = index ? tree->files[index - 1].path : NULL;
    const bool held = index == 0 && tree->options.text;
    tree->files[index] =
        (struct tree_file){.path = held ? alloc_text(name) : find_path(name, from, tree->options.shipped_dir),
                           .shipped = !held && tree->options.shipped_dir && !is_path(name)};
    tree->file_count++;

    int file = held ? open_text(tree, err) : open_file(tree, chain, index, name, err);
    if (file < 0)
        return at_extends(tree, chain, index, err);
    chain->documents[index] = document_read(file, tree->files[index].path, err);
    (void)close(file);
    return chain->documents[index] != NULL;
}

static bool add_setting(struct tree *tree, const char *pattern, const char *value, unsigned file,
                        unsigned line)
{
    if ((tree->setting_count & (tree->setting_count - 1)) == 0) {
        size_t room = tree->setting_count ? 2 * tree->setting_count : 1;
        tree->settings = alloc_resize(tree->settings, room * sizeof *tree->settings);
    }
    struct setting *setting = &tree->settings[tree->setting_count++];
    *setting = (struct setting){.pattern = strdup(pattern),
                                .value = value ? strdup(value) : NULL,
                                .file = file,
                                .line = line,
                                .first = tree->setting_count - 1};
    if (!setting->pattern || (value && !setting->value))
        alloc_failed();
    return true;
}

/* Context of flatten(). */
struct flattening {
    struct tree *tree;
    const struct chain *chain;
    unsigned file;  /* contains the mapping; SETTING_OPTION: --set */
    unsigned user;  /* file that uses the template; the search for templates begins here */
    unsigned *uses; /* number of uses of templates */
    struct error *err;
};

static struct node *find_member(const struct node *mapping, const char *name)
{
    struct node *node = mapping ? mapping->first : NULL;
    while (node && strcmp(node->name, name) != 0)
        node = node->next;
    return node;
}

/* Finds a template's mapping in the file that uses it or in one that it extends, and the number of that file.
 * NULL when there is none. */
static struct node *find_template(const struct flattening *f, const char *name, unsigned *file)
{
    for (*file = f->user; *file < f->tree->file_count; ++*file) {
        struct node *templates = find_member(f->chain->documents[*file], "templates");
        struct node *found = templates && !templates->text ? find_member(templates, name) : NULL;
        if (found && !found->text)
            return found;
    }
    return NULL;
}

/* Prefixes the message with "FILE:LINE" of the node, or "--set". Returns false. */
static bool at_node(const struct flattening *f, const struct node *node)
{
    if (f->file == SETTING_OPTION)
        return error_prefix(f->err, "--set");
    return error_prefix(f->err, "%s:%u", f->tree->files[f->file].path, node->line);
}

/* Writes the dotted name of a member of the mapping with the name `prefix`. */
static bool join_name(const struct flattening *f, const char *prefix, const struct node *node,
                      char name[TREE_NAME])
{
    int length = snprintf(name, TREE_NAME, "%s%s%s", prefix, *prefix ? "." : "", node->name);
    if (length >= 0 && length < TREE_NAME)
        return true;
    (void)error_set(f->err, "the name %s is too long", text_quote(name).text);
    return at_node(f, node);
}

/* Returns the length of the part's name if the dotted name is a part's key `template`; 0: it is not. */
static size_t template_owner(const char *name)
{
    static const char key[] = ".template";
    size_t length = strlen(name), tail = sizeof key - 1;
    return length > tail && strcmp(name + length - tail, key) == 0 ? length - tail : 0;
}

static bool flatten(const struct flattening *f, const struct node *mapping, const char *prefix,
                    unsigned deep);

/* Adds the settings of the template that the node names to the part `prefix`. */
static bool use_template(const struct flattening *f, const struct node *node, const char *prefix,
                         unsigned deep)
{
    struct flattening within = *f;
    struct node *found = node->text ? find_template(f, node->text, &within.file) : NULL;
    if (found && deep < TEMPLATES_DEEP && *f->uses < SETTINGS_MAX) {
        ++*f->uses;
        found->used = true;
        return flatten(&within, found, prefix, deep + 1);
    }
    if (found && deep < TEMPLATES_DEEP)
        (void)error_set(f->err, "template: a machine may use templates at most %d times", SETTINGS_MAX);
    else
        (void)error_set(
            f->err, found ? "template: %s: templates are nested too deeply" : "template: unknown template %s",
            text_quote(node->text ? node->text : "").text);
    return at_node(f, node);
}

static bool is_of_file(const char *prefix, const struct node *node)
{
    return !*prefix && (strcmp(node->name, "extends") == 0 || strcmp(node->name, "templates") == 0);
}

static unsigned count_dots(const char *name)
{
    unsigned dots = 0;
    for (; *name; name++)
        dots += *name == '.';
    return dots;
}

/* Adds the settings of the templates that are used by parts with `dots` dots in their name. Sets *deeper if
 * parts with more dots use templates. */
static bool add_templates(const struct flattening *f, const struct node *mapping, const char *prefix,
                          unsigned deep, unsigned dots, bool *deeper)
{
    for (const struct node *node = mapping->first; node; node = node->next) {
        char name[TREE_NAME];
        if (is_of_file(prefix, node))
            continue;
        if (!join_name(f, prefix, node, name))
            return false;
        size_t owner = template_owner(name);
        if (owner) {
            name[owner] = '\0';
            *deeper = *deeper || count_dots(name) > dots;
            if (count_dots(name) == dots && !use_template(f, node, name, deep))
                return false;
        } else if (!node->text && !add_templates(f, node, name, deep, dots, deeper)) {
            return false;
        }
    }
    return true;
}

static bool add_members(const struct flattening *f, const struct node *mapping, const char *prefix)
{
    for (const struct node *node = mapping->first; node; node = node->next) {
        char name[TREE_NAME];
        if (is_of_file(prefix, node))
            continue;
        if (!join_name(f, prefix, node, name))
            return false;
        if (template_owner(name))
            continue;
        if (f->tree->setting_count >= SETTINGS_MAX) {
            (void)error_set(f->err, "a machine may have at most %d settings", SETTINGS_MAX);
            return at_node(f, node);
        }
        bool own = strcmp(name, "name") == 0 || strcmp(name, "description") == 0;
        if (own && f->file > 0)
            continue; /* name and description belong to one file and are not inherited */
        (void)add_setting(f->tree, name, node->text, f->file, node->line);
        if (!node->text && !add_members(f, node, name))
            return false;
    }
    return true;
}

/* Converts the members of a mapping into settings whose names begin with prefix. Templates come first, those
 * of outer parts before those of parts within them, so that the mapping's own keys win wherever they stand. */
static bool flatten(const struct flattening *f, const struct node *mapping, const char *prefix, unsigned deep)
{
    bool deeper = true;
    for (unsigned dots = count_dots(prefix); deeper; dots++) {
        deeper = false;
        if (!add_templates(f, mapping, prefix, deep, dots, &deeper))
            return false;
    }
    return add_members(f, mapping, prefix);
}

/* Adds a setting for each of the names in "NAME|NAME". */
static bool add_alternatives(const struct flattening *f, const char *set, char *names, const char *value)
{
    unsigned first = f->tree->setting_count;
    for (char *name = names, *next; name; name = next) {
        next = strchr(name, '|');
        if (next)
            *next++ = '\0';
        if (!*name && (next || name > names))
            return error_set(f->err, "--set %s: a name before or behind '|' is missing",
                             text_quote(set).text);
        (void)add_setting(f->tree, name, value, SETTING_OPTION, 0);
        f->tree->settings[f->tree->setting_count - 1].first = first;
    }
    return true;
}

static bool add_option(const struct flattening *f, const char *set)
{
    char name[TREE_NAME];
    const char *equals = strchr(set, '=');
    if (!equals)
        return error_set(f->err, "--set %s: write NAME=VALUE, such as --set memory.size=2GiB",
                         text_quote(set).text);
    (void)snprintf(name, sizeof name, "%.*s", equals - set < TREE_NAME ? (int)(equals - set) : TREE_NAME,
                   set);
    if (strcmp(name, "extends") == 0)
        return error_set(f->err, "--set: extends belongs in a machine file; choose a machine with --machine");
    size_t owner = template_owner(name);
    if (!owner)
        return add_alternatives(f, set, name, equals + 1);
    char *value = alloc_text(equals + 1);
    name[owner] = '\0';
    bool used = use_template(f, &(struct node){.text = value}, name, 0);
    free(value);
    return used;
}

/* Sets *next to the machine that the document extends, or to NULL. False with err set if `extends` is not a
 * value. */
static bool next_of(const struct tree *tree, const struct node *document, const char **next,
                    struct error *err)
{
    const struct node *extends = node_find(document, "extends");
    *next = extends ? extends->text : NULL;
    if (!extends || extends->text)
        return true;
    (void)error_set(err, "extends takes one value, not a mapping");
    return error_prefix(err, "%s:%u", tree->files[tree->file_count - 1].path, extends->line);
}

/* Checks that `templates` holds only mappings. */
static bool check_templates(const struct flattening *f, const struct node *document)
{
    const struct node *templates = node_find(document, "templates"), *bad = NULL;
    if (templates && templates->text)
        bad = templates;
    for (const struct node *node = templates ? templates->first : NULL; node && !bad; node = node->next)
        if (node->text)
            bad = node;
    if (!bad)
        return true;
    (void)error_set(f->err, "%s is a section, not a value: %s", text_quote(bad->name).text,
                    bad == templates ? "it holds templates by name" : "a template is a mapping of keys");
    return at_node(f, bad);
}

static bool read_files(struct tree *tree, struct chain *chain, unsigned *uses, struct error *err)
{
    for (const char *next = tree->options.machine; next;)
        if (!chain_add(tree, chain, next, err) ||
            !next_of(tree, chain->documents[tree->file_count - 1], &next, err))
            return false;
    for (unsigned file = tree->file_count; file-- > 0;) {
        const struct flattening f = {
            .tree = tree, .chain = chain, .file = file, .user = file, .uses = uses, .err = err};
        if (!check_templates(&f, chain->documents[file]) || !flatten(&f, chain->documents[file], "", 0))
            return false;
    }
    return true;
}

static void free_settings(struct tree *tree)
{
    for (unsigned i = 0; i < tree->setting_count; i++) {
        free(tree->settings[i].pattern);
        free(tree->settings[i].value);
    }
    free(tree->settings);
    tree->settings = NULL;
    tree->setting_count = 0;
}

/* Checks those templates of a file that no part uses. */
static bool check_unused(const struct flattening *options, unsigned file)
{
    struct tree tree = *options->tree;
    struct flattening f = *options;
    const struct node *templates = find_member(f.chain->documents[file], "templates");
    unsigned total = 0;
    bool fine = true;
    f.tree = &tree;
    f.file = f.user = file;
    for (struct node *node = templates ? templates->first : NULL; node && fine; node = node->next) {
        if (node->used)
            continue;
        tree.settings = NULL;
        tree.setting_count = 0;
        fine = flatten(&f, node, TEMPLATE_PART, 0) && template_check(&tree, node->name, f.err);
        total += tree.setting_count;
        free_settings(&tree);
        if (!fine || total <= SETTINGS_MAX)
            continue;
        (void)error_set(f.err, "templates that no part uses may have at most %d settings", SETTINGS_MAX);
        fine = at_node(&f, node);
    }
    return fine;
}

bool settings_read(struct tree *tree, struct error *err)
{
    struct chain chain = {0};
    unsigned uses = 0;
    const struct flattening options = {
        .tree = tree, .chain = &chain, .file = SETTING_OPTION, .uses = &uses, .err = err};
    bool read = read_files(tree, &chain, &uses, err);
    for (size_t i = 0; read && i < tree->options.set_count; i++)
        read = add_option(&options, tree->options.sets[i]);
    for (unsigned i = 0; read && i < tree->file_count; i++)
        read = check_unused(&options, i);
    for (unsigned i = 0; i < tree->file_count; i++)
        node_free(chain.documents[i]);
    return read;
}
