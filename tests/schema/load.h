/* Descriptions given as text, for the tests of emu/schema. */
#ifndef TESTS_SCHEMA_LOAD_H
#define TESTS_SCHEMA_LOAD_H

#include <string.h>

#include "emu/machine/machine.h"
#include "tests/machine/folder.h"

/* Stores the text as folder/m.yaml and loads it with the options, of which the last is NULL. */
static inline bool try_load(const struct folder *folder, struct machine_config *config, const char *text,
                            const char *const *sets, struct error *err)
{
    char path[256];
    size_t count = 0;
    while (sets && sets[count])
        count++;
    folder_write(folder, "m.yaml", text, strlen(text));
    (void)snprintf(path, sizeof path, "%s/m.yaml", folder->path);
    err->text[0] = '\0';
    return machine_load(config, path, folder->shipped, sets, count, err);
}

static inline void must_load(const struct folder *folder, struct machine_config *config, const char *text,
                             const char *const *sets)
{
    struct error err;
    if (!try_load(folder, config, text, sets, &err))
        fail_msg("%s", err.text);
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* What machine_show() prints; free() it. */
static inline char *shown(const struct machine_config *config)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    machine_show(config, out);
    (void)fclose(out);
    return text;
}

/* The field of a part, as a description has it. */
static inline const char *value_of(const struct machine_config *config, const char *part, const char *field,
                                   char buffer[FIELD_VALUE])
{
    const struct instance *instance = tree_find(config->tree, part);
    int index = instance ? part_field_find(instance->kind, field) : -1;
    if (index < 0)
        return "(none)";
    field_format(&instance->kind->fields[index], instance->config, buffer);
    return buffer;
}

#define assert_value(config, part, field, wanted)                                                            \
    do {                                                                                                     \
        char assert_buffer[FIELD_VALUE];                                                                     \
        assert_string_equal(value_of(config, part, field, assert_buffer), wanted);                           \
    } while (0)

/* Checks the message behind the folder's path. */
static inline void assert_refused_as(const struct folder *folder, const char *text, const char *const *sets,
                                     const char *wanted)
{
    struct machine_config config;
    struct error err;
    size_t prefix = strlen(folder->path);
    assert_false(try_load(folder, &config, text, sets, &err));
    assert_string_equal(err.text + (strncmp(err.text, folder->path, prefix) == 0 ? prefix : 0), wanted);
}

#endif
