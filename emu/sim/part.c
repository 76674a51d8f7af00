#include "emu/sim/part.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

static bool is_number(const struct part_field *field)
{
    return field->type < (enum field_type)QUANTITY_KINDS;
}

static bool is_power_step(const struct part_field *field)
{
    return strcmp(field->step, "power of two") == 0;
}

/* Parses a number that the field table itself holds. */
static uint64_t row_number(const struct part_field *field, const char *text)
{
    struct error err;
    uint64_t value = 0;
    bool parsed = quantity_parse((enum quantity)field->type, text, &value, &err);
    assert(parsed);
    (void)parsed;
    return value;
}

uint64_t field_number(const struct part_field *field, const void *config)
{
    const char *at = (const char *)config + field->offset;
    uint32_t word;
    uint16_t half;
    uint64_t value;
    assert(field->type != FIELD_TEXT);
    switch (field->size) {
    case 1: return *(const uint8_t *)at;
    case 2: memcpy(&half, at, sizeof half); return half;
    case 4: memcpy(&word, at, sizeof word); return word; /* also an enumeration */
    default: memcpy(&value, at, sizeof value); return value;
    }
}

void field_put(const struct part_field *field, void *config, uint64_t value)
{
    char *at = (char *)config + field->offset;
    uint32_t word = (uint32_t)value;
    uint16_t half = (uint16_t)value;
    assert(field->type != FIELD_TEXT);
    switch (field->size) {
    case 1: *(uint8_t *)at = (uint8_t)value; break;
    case 2: memcpy(at, &half, sizeof half); break;
    case 4: memcpy(at, &word, sizeof word); break;
    default: memcpy(at, &value, sizeof value); break;
    }
}

static bool in_range(const struct part_field *field, uint64_t value)
{
    if (value < row_number(field, field->min) || value > row_number(field, field->max))
        return false;
    if (is_power_step(field))
        return (value & (value - 1)) == 0;
    return value % row_number(field, field->step) == 0;
}

static bool refuse(const struct part_field *field, const char *text, struct error *err)
{
    char allowed[512];
    field_allowed(field, allowed, sizeof allowed);
    return error_set(err, "%s: %s is not allowed; allowed: %s", field->name, text_quote(text).text, allowed);
}

static bool set_number(const struct part_field *field, void *config, const char *text, struct error *err)
{
    uint64_t value;
    if (!quantity_parse((enum quantity)field->type, text, &value, err))
        return error_prefix(err, "%s", field->name);
    if (!in_range(field, value))
        return refuse(field, text, err);
    field_put(field, config, value);
    return true;
}

static bool set_choice(const struct part_field *field, void *config, const char *text, struct error *err)
{
    unsigned count = 0;
    for (; field->choices[count]; count++) {
        if (strcmp(field->choices[count], text) != 0)
            continue;
        field_put(field, config, count);
        return true;
    }
    (void)refuse(field, text, err);
    const char *nearest = nearest_name(text, field->choices, count);
    if (nearest)
        (void)snprintf(err->text + strlen(err->text), sizeof err->text - strlen(err->text),
                       "; did you mean '%s'?", nearest);
    return false;
}

bool field_set(const struct part_field *field, void *config, const char *text, struct error *err)
{
    if (!*text && field->type != FIELD_TEXT) {
        char allowed[512];
        field_allowed(field, allowed, sizeof allowed);
        return error_set(err, "%s: has no value; allowed: %s", field->name, allowed);
    }
    switch (field->type) {
    case FIELD_CHOICE: return set_choice(field, config, text, err);
    case FIELD_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return refuse(field, text, err);
        field_put(field, config, strcmp(text, "true") == 0);
        return true;
    case FIELD_TEXT:
        if (strlen(text) >= field->size || !text_printable(text))
            return refuse(field, text, err);
        strcpy((char *)config + field->offset, text);
        return true;
    default: return set_number(field, config, text, err);
    }
}

/* Writes `text` in double quotes, in YAML's notation. */
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

void field_format(const struct part_field *field, const void *config, char buffer[FIELD_VALUE])
{
    switch (field->type) {
    case FIELD_BOOL: strcpy(buffer, field_number(field, config) ? "true" : "false"); break;
    case FIELD_TEXT: format_text((const char *)config + field->offset, buffer); break;
    case FIELD_CHOICE: strcpy(buffer, field->choices[field_number(field, config)]); break;
    default: quantity_format((enum quantity)field->type, field_number(field, config), buffer); break;
    }
}

/* Appends to the text in buffer[size]; cuts what does not fit. */
static void append(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *buffer, size_t size, const char *format, ...)
{
    size_t used = strlen(buffer);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(buffer + used, size - used, format, args);
    va_end(args);
}

static void allow_number(const struct part_field *field, char *buffer, size_t size)
{
    if (strcmp(field->min, field->max) == 0) {
        append(buffer, size, "only %s", field->min);
        return;
    }
    append(buffer, size, "%s to %s", field->min, field->max);
    if (is_power_step(field))
        append(buffer, size, ", a power of two");
    else if (row_number(field, field->step) != 1)
        append(buffer, size, ", a multiple of %s", field->step);
}

void field_allowed(const struct part_field *field, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (is_number(field))
        allow_number(field, buffer, size);
    else if (field->type == FIELD_BOOL)
        append(buffer, size, "true or false");
    else if (field->type == FIELD_TEXT)
        append(buffer, size, "one line of UTF-8 text of at most %u bytes", field->size - 1);
    else
        for (size_t i = 0; field->choices[i]; i++)
            append(buffer, size, "%s%s", i ? ", " : "", field->choices[i]);
}

int part_field_find(const struct part_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

unsigned part_variant(const struct part_kind *kind, const void *config)
{
    return kind->variant ? kind->variant(config) : 0;
}

bool part_field_used(const struct part_kind *kind, const struct part_field *field, const void *config)
{
    return !field->variants || (field->variants >> part_variant(kind, config) & 1);
}

void part_take(const struct part_kind *kind, unsigned variant, void *config, const void *from,
               const bool given[])
{
    for (size_t i = 0; i < kind->field_count; i++) {
        const struct part_field *field = &kind->fields[i];
        if (!given[i] && !field->initial[variant])
            memcpy((char *)config + field->offset, (const char *)from + field->offset, field->size);
    }
}

void part_defaults(const struct part_kind *kind, unsigned variant, void *config)
{
    enum { FIELDS = 256 };
    static const bool none[FIELDS];
    assert(kind->field_count <= FIELDS);
    memset(config, 0, kind->config_size);
    for (size_t i = 0; i < kind->field_count; i++) {
        struct error err;
        const char *initial = kind->fields[i].initial[variant];
        bool set = !initial || field_set(&kind->fields[i], config, initial, &err);
        assert(set);
        (void)set;
    }
    if (kind->choose)
        kind->choose(config, variant);
    if (kind->derive)
        kind->derive(config, none);
}

static bool is_choice(const struct part_field *field, uint64_t value)
{
    uint64_t count = 0;
    while (field->choices[count])
        count++;
    return value < count;
}

static bool check_field(const struct part_field *field, const void *config, struct error *err)
{
    char value[FIELD_VALUE];
    if (field->type == FIELD_CHOICE)
        return is_choice(field, field_number(field, config)) ||
               error_set(err, "%s: there is no choice number %" PRIu64, field->name,
                         field_number(field, config));
    if (!is_number(field) || in_range(field, field_number(field, config)))
        return true;
    field_format(field, config, value);
    return refuse(field, value, err);
}

bool part_check(const struct part_kind *kind, const void *config, struct error *err)
{
    for (size_t i = 0; i < kind->field_count; i++)
        if (part_field_used(kind, &kind->fields[i], config) && !check_field(&kind->fields[i], config, err))
            return false;
    return !kind->check || kind->check(config, err);
}
