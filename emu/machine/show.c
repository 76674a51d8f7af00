#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/key.h"
#include "emu/machine/parts.h"

/* The rows of the table in order, sections and keys alike. */
enum item_type { ITEM_SECTION, ITEM_END, ITEM_KEY };

struct item {
    enum item_type type;
    const char *name; /* the last part of the dotted name */
    const char *explanation;
};

#define SECTION(tag, name, explanation)      {ITEM_SECTION, #name, explanation},
#define SECTION_END(name)                    {ITEM_END, #name, ""},
#define KEY(section, field, ...)             {ITEM_KEY, #field, ""},
#define CHOICE_KEY(section, field, ...)      {ITEM_KEY, #field, ""},
#define TOP_KEY(field, ...)                  {ITEM_KEY, #field, ""},
#define AUTO_KEY(section, field, ...)        {ITEM_KEY, #field, ""},
#define AUTO_CHOICE_KEY(section, field, ...) {ITEM_KEY, #field, ""},
#define AUTO_TOP_KEY(field, ...)             {ITEM_KEY, #field, ""},
static const struct item items[] = {
#include "emu/machine/keys/all.def"
};

static void source_text(const struct machine_config *config, int key, char buffer[MACHINE_SOURCE])
{
    const struct machine_source *source = &config->sources[key];
    if (source->automatic) {
        parts_note(config, key, buffer, MACHINE_SOURCE);
        return;
    }
    if (source->origin != MACHINE_FILE) {
        strcpy(buffer, source->origin == MACHINE_SET ? "--set" : "default");
        return;
    }
    const struct machine_file *file = &config->files[source->file];
    const char *slash = file->shipped ? strrchr(file->path, '/') : NULL;
    (void)snprintf(buffer, MACHINE_SOURCE, "%.400s:%u", slash ? slash + 1 : file->path, source->line);
    for (char *c = buffer; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?'; /* so that it stays within one line of a comment or message */
}

void machine_source(const struct machine_config *config, const char *name, char buffer[MACHINE_SOURCE])
{
    int key = key_find(name);
    assert(key >= 0);
    source_text(config, key, buffer);
}

static bool uses(const struct machine_config *config, const struct key *key)
{
    bool host = strncmp(key->name, "host.", 5) == 0;
    bool ooo = host ? config->host.core == MACHINE_CORE_OOO : config->accel.core == MACHINE_ACCEL_CORE_OOO;
    switch (key->use) {
    case USE_ALWAYS: return true;
    case USE_TIMED: return machine_timed(config);
    case USE_INORDER: return machine_timed(config) && !ooo;
    default: return machine_timed(config) && ooo;
    }
}

static const char *not_used_by(const struct key *key)
{
    bool ooo = key->use == USE_OOO; /* the kind that would use it */
    if (strncmp(key->name, "host.", 5) == 0)
        return ooo ? "host.core inorder" : "host.core ooo";
    return ooo ? "accel.core inorder" : "accel.core ooo";
}

static void show_key(const struct machine_config *config, int index, const char *name, int indent, FILE *out)
{
    const struct key *key = &machine_keys[index];
    char value[KEY_VALUE], allowed[512], source[MACHINE_SOURCE];
    key_format(key, config, value);
    key_allowed(key, allowed, sizeof allowed);
    source_text(config, index, source);
    (void)fprintf(out, "%*s# %s\n", indent, "", key->explanation);
    (void)fprintf(out, "%*s# Allowed: %s.", indent, "", allowed);
    if (*key->initial && !key->automatic)
        (void)fprintf(out, " Default: %s.", key->initial);
    if (machine_timed(config) && !uses(config, key))
        (void)fprintf(out, " Not used by %s.", not_used_by(key));
    (void)fprintf(out, "\n%*s%s: %s  # %s\n", indent, "", name, value, source);
}

void machine_show(const struct machine_config *config, FILE *out)
{
    (void)fputs("# A machine description, resolved: each key with its value and where that came from.\n"
                "# `croft run --machine FILE` takes this text as it is.\n",
                out);
    int indent = 0, key = 0;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        const struct item *item = &items[i];
        if (item->type == ITEM_END) {
            indent -= 2;
            continue;
        }
        if (indent == 0)
            (void)fputc('\n', out);
        if (item->type == ITEM_SECTION) {
            (void)fprintf(out, "%*s# %s\n%*s%s:\n", indent, "", item->explanation, indent, "", item->name);
            indent += 2;
        } else {
            show_key(config, key++, item->name, indent, out);
        }
    }
}

/* Whether somebody has given the key a value that it would not have by itself. `plain` is the machine with
 * all its automatic keys left to themselves. */
static bool differs_from_default(const struct machine_config *config, const struct machine_config *plain,
                                 const struct key *key)
{
    char value[KEY_VALUE], other[KEY_VALUE];
    key_format(key, config, value);
    if (!key->automatic)
        return strcmp(value, key->initial) != 0;
    key_format(key, plain, other);
    return strcmp(value, other) != 0;
}

size_t machine_unused_keys(const struct machine_config *config, const char *names[MACHINE_KEYS])
{
    size_t count = 0;
    struct machine_config *plain = malloc(sizeof *plain);
    if (!plain)
        abort();
    *plain = *config;
    for (int i = 0; i < MACHINE_KEYS; i++)
        plain->sources[i].automatic = machine_keys[i].automatic;
    parts_resolve(plain);
    for (int i = 0; i < MACHINE_KEYS; i++)
        if (!config->sources[i].automatic && !uses(config, &machine_keys[i]) &&
            differs_from_default(config, plain, &machine_keys[i]))
            names[count++] = machine_keys[i].name;
    free(plain);
    return count;
}
