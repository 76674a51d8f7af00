#include "emu/machine/key.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "emu/machine/text.h"
#include "emu/sim/nearest.h"

#define CHOICE_NAME(constant, name) name,
#define CHOICES(tag, list)          static const char *const choices_##tag[] = {list(CHOICE_NAME) NULL};
#include "emu/machine/keys/all.def"
#undef CHOICE_NAME

#define KEY(section, field, kind, initial, min, max, step, use, explanation)                                 \
    {#section "." #field,                                                                                    \
     offsetof(struct machine_config, section.field),                                                         \
     KEY_##kind,                                                                                             \
     USE_##use,                                                                                              \
     initial,                                                                                                \
     min,                                                                                                    \
     max,                                                                                                    \
     step,                                                                                                   \
     false,                                                                                                  \
     NULL,                                                                                                   \
     explanation},
#define AUTO_KEY(section, field, kind, min, max, step, use, explanation)                                     \
    {#section "." #field,                                                                                    \
     offsetof(struct machine_config, section.field),                                                         \
     KEY_##kind,                                                                                             \
     USE_##use,                                                                                              \
     "auto",                                                                                                 \
     min,                                                                                                    \
     max,                                                                                                    \
     step,                                                                                                   \
     true,                                                                                                   \
     NULL,                                                                                                   \
     explanation},
#define AUTO_CHOICE_KEY(section, field, tag, use, explanation)                                               \
    {#section "." #field,                                                                                    \
     offsetof(struct machine_config, section.field),                                                         \
     KEY_CHOICE,                                                                                             \
     USE_##use,                                                                                              \
     "auto",                                                                                                 \
     "",                                                                                                     \
     "",                                                                                                     \
     "",                                                                                                     \
     true,                                                                                                   \
     choices_##tag,                                                                                          \
     explanation},
#define AUTO_TOP_KEY(field, kind, min, max, step, use, explanation)                                          \
    {#field,     offsetof(struct machine_config, field),                                                     \
     KEY_##kind, USE_##use,                                                                                  \
     "auto",     min,                                                                                        \
     max,        step,                                                                                       \
     true,       NULL,                                                                                       \
     explanation},
#define CHOICE_KEY(section, field, tag, initial, use, explanation)                                           \
    {#section "." #field,                                                                                    \
     offsetof(struct machine_config, section.field),                                                         \
     KEY_CHOICE,                                                                                             \
     USE_##use,                                                                                              \
     initial,                                                                                                \
     "",                                                                                                     \
     "",                                                                                                     \
     "",                                                                                                     \
     false,                                                                                                  \
     choices_##tag,                                                                                          \
     explanation},
#define TOP_KEY(field, kind, initial, min, max, step, use, explanation)                                      \
    {#field,     offsetof(struct machine_config, field),                                                     \
     KEY_##kind, USE_##use,                                                                                  \
     initial,    min,                                                                                        \
     max,        step,                                                                                       \
     false,      NULL,                                                                                       \
     explanation},
const struct key machine_keys[MACHINE_KEYS] = {
#include "emu/machine/keys/all.def"
};

int key_find(const char *name)
{
    for (int i = 0; i < MACHINE_KEYS; i++)
        if (strcmp(machine_keys[i].name, name) == 0)
            return i;
    return -1;
}

int key_section(const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < MACHINE_KEYS; i++)
        if (strncmp(machine_keys[i].name, name, length) == 0 && machine_keys[i].name[length] == '.')
            return i;
    return -1;
}

static bool is_number(const struct key *key)
{
    return key->kind < (enum key_kind)UNIT_KINDS;
}

/* A number of the table itself. */
static uint64_t row_number(const struct key *key, const char *text)
{
    struct error err;
    uint64_t value = 0;
    bool parsed = unit_parse((enum unit_kind)key->kind, text, &value, &err);
    assert(parsed);
    (void)parsed;
    return value;
}

static bool refuse(const struct key *key, const char *text, struct error *err)
{
    char allowed[512];
    key_allowed(key, allowed, sizeof allowed);
    return error_set(err, "%s: %s is not allowed; allowed: %s", key->name, text_quote(text).text, allowed);
}

static bool set_number(const struct key *key, uint64_t *field, const char *text, struct error *err)
{
    uint64_t value;
    if (!unit_parse((enum unit_kind)key->kind, text, &value, err))
        return error_prefix(err, "%s", key->name);
    if (value < row_number(key, key->min) || value > row_number(key, key->max) ||
        value % row_number(key, key->step) != 0)
        return refuse(key, text, err);
    *field = value;
    return true;
}

static bool set_bool(const struct key *key, bool *field, const char *text, struct error *err)
{
    bool value = strcmp(text, "true") == 0;
    if (!value && strcmp(text, "false") != 0)
        return refuse(key, text, err);
    *field = value;
    return true;
}

static bool set_choice(const struct key *key, void *field, const char *text, struct error *err)
{
    unsigned count = 0; /* an enumeration of ours has the representation of unsigned, as its constants show */
    for (; key->choices[count]; count++) {
        if (strcmp(key->choices[count], text) != 0)
            continue;
        memcpy(field, &count, sizeof count);
        return true;
    }
    (void)refuse(key, text, err);
    const char *nearest = nearest_name(text, key->choices, count);
    if (nearest)
        (void)snprintf(err->text + strlen(err->text), sizeof err->text - strlen(err->text),
                       "; did you mean '%s'?", nearest);
    return false;
}

static bool set_text(const struct key *key, char *field, const char *text, struct error *err)
{
    if (strlen(text) >= MACHINE_TEXT || !text_printable(text))
        return refuse(key, text, err);
    strcpy(field, text);
    return true;
}

bool key_set(const struct key *key, struct machine_config *config, const char *text, struct error *err)
{
    void *field = (char *)config + key->offset;
    bool *automatic = &config->sources[key - machine_keys].automatic;
    *automatic = key->automatic && strcmp(text, "auto") == 0;
    if (*automatic)
        return true;
    if (!*text && key->kind != KEY_TEXT) {
        char allowed[512];
        key_allowed(key, allowed, sizeof allowed);
        return error_set(err, "%s: has no value; allowed: %s", key->name, allowed);
    }
    switch (key->kind) {
    case KEY_BOOL: return set_bool(key, field, text, err);
    case KEY_CHOICE: return set_choice(key, field, text, err);
    case KEY_TEXT: return set_text(key, field, text, err);
    default: return set_number(key, field, text, err);
    }
}

_Static_assert(sizeof(unsigned) == sizeof(enum machine_core), "enumerations are as wide as unsigned");

uint64_t key_number(const struct key *key, const struct machine_config *config)
{
    const void *field = (const char *)config + key->offset;
    unsigned choice;
    assert(key->kind != KEY_TEXT);
    if (key->kind == KEY_BOOL)
        return *(const bool *)field;
    if (key->kind != KEY_CHOICE)
        return *(const uint64_t *)field;
    memcpy(&choice, field, sizeof choice);
    return choice;
}

void key_put_number(const struct key *key, struct machine_config *config, uint64_t value)
{
    void *field = (char *)config + key->offset;
    unsigned choice = (unsigned)value;
    assert(key->kind != KEY_TEXT);
    if (key->kind == KEY_BOOL)
        *(bool *)field = value != 0;
    else if (key->kind == KEY_CHOICE)
        memcpy(field, &choice, sizeof choice);
    else
        *(uint64_t *)field = value;
}

/* `text` in double quotes, as YAML has them. */
static void format_text(const char *text, char *to)
{
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *to++ = '\\';
        *to++ = *text;
    }
    strcpy(to, "\"");
}

void key_format(const struct key *key, const struct machine_config *config, char buffer[KEY_VALUE])
{
    const void *field = (const char *)config + key->offset;
    switch (key->kind) {
    case KEY_BOOL: strcpy(buffer, *(const bool *)field ? "true" : "false"); break;
    case KEY_TEXT: format_text(field, buffer); break;
    case KEY_CHOICE: strcpy(buffer, key->choices[key_number(key, config)]); break;
    default: unit_format((enum unit_kind)key->kind, *(const uint64_t *)field, buffer); break;
    }
}

/* Appends to the text in buffer[size]; what does not fit is cut. */
static void append(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *buffer, size_t size, const char *format, ...)
{
    size_t used = strlen(buffer);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer + used, size - used, format, args);
    va_end(args);
}

static void allow_number(const struct key *key, char *buffer, size_t size)
{
    if (strcmp(key->min, key->max) == 0) {
        append(buffer, size, "only %s", key->min);
        return;
    }
    append(buffer, size, "%s to %s", key->min, key->max);
    if (row_number(key, key->step) != 1)
        append(buffer, size, ", a multiple of %s", key->step);
}

void key_allowed(const struct key *key, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (is_number(key))
        allow_number(key, buffer, size);
    else if (key->kind == KEY_BOOL)
        append(buffer, size, "true or false");
    else if (key->kind == KEY_TEXT)
        append(buffer, size, "one line of UTF-8 text of at most %d bytes", MACHINE_TEXT - 1);
    else
        for (size_t i = 0; key->choices[i]; i++)
            append(buffer, size, "%s%s", i ? ", " : "", key->choices[i]);
    if (key->automatic)
        append(buffer, size, "; or auto");
}

/* Appends the names directly within the section, "" being the top. */
static void append_members(char *buffer, size_t size, const char *section)
{
    size_t skip = *section ? strlen(section) + 1 : 0;
    const char *last = "";
    size_t last_length = 0;
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const char *name = machine_keys[i].name;
        if (skip && (strncmp(name, section, skip - 1) != 0 || name[skip - 1] != '.'))
            continue;
        size_t length = strcspn(name + skip, ".");
        if (length == last_length && strncmp(last, name + skip, length) == 0)
            continue;
        append(buffer, size, "%s%.*s", last_length ? ", " : "", (int)length, name + skip);
        last = name + skip;
        last_length = length;
    }
}

/* The first key of any section whose last name is `member`, or NULL. */
static const char *key_elsewhere(const char *member)
{
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const char *known = strrchr(machine_keys[i].name, '.');
        if (known && strcmp(known + 1, member) == 0)
            return machine_keys[i].name;
    }
    return NULL;
}

/* What is meant by the unknown name: the same last name in another section, or what is spelt nearly so. */
static const char *key_meant(const char *name, bool section_known)
{
    static const char *const others[] = {
#define SECTION(tag, section, explanation) #section,
#include "emu/machine/keys/all.def"
        "extends",
    };
    enum { OTHERS = sizeof others / sizeof others[0] };
    const char *names[MACHINE_KEYS + OTHERS];
    for (int i = 0; i < MACHINE_KEYS; i++)
        names[i] = machine_keys[i].name;
    memcpy(names + MACHINE_KEYS, others, sizeof others);

    const char *dot = strrchr(name, '.');
    const char *elsewhere = key_elsewhere(dot ? dot + 1 : name);
    const char *nearest = nearest_name(name, names, MACHINE_KEYS + OTHERS);
    bool misspelt_section = dot && !section_known;
    return (nearest && misspelt_section) || !elsewhere ? nearest : elsewhere;
}

bool key_unknown(const char *name, struct error *err)
{
    struct quoted quoted = text_quote(name);
    char members[512] = "";
    if (key_section(name) >= 0) {
        append_members(members, sizeof members, name);
        return error_set(err, "%s is a section, not a value; its keys: %s", quoted.text, members);
    }

    char section[64] = "";
    const char *dot = strrchr(name, '.');
    if (dot && (size_t)(dot - name) < sizeof section)
        memcpy(section, name, (size_t)(dot - name));
    if (key_section(section) < 0)
        section[0] = '\0'; /* unknown: list what is at the top */
    append_members(members, sizeof members, section);
    const char *meant = key_meant(name, *section);
    return error_set(err, "unknown key %s%s%s%s%s%s: %s", quoted.text, meant ? "; did you mean '" : "",
                     meant ? meant : "", meant ? "'? Known " : "; known ", *section ? "in " : "at the top",
                     section, members);
}
