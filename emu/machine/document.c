#include "emu/machine/document.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The struct that libcyaml loads: the sections and keys of struct machine_config, each key as a text or NULL.
 */
#define SECTION(tag, name, explanation) struct {
#define SECTION_END(name)                                                                                    \
    }                                                                                                        \
    name;
#define KEY(section, field, ...)             char *field;
#define CHOICE_KEY(section, field, ...)      char *field;
#define TOP_KEY(field, ...)                  char *field;
#define AUTO_KEY(section, field, ...)        char *field;
#define AUTO_CHOICE_KEY(section, field, ...) char *field;
#define AUTO_TOP_KEY(field, ...)             char *field;
struct document_texts {
    char *extends;
#include "emu/machine/keys/all.def"
};

/* By key: where its text is. */
#define KEY(section, field, ...)             offsetof(struct document_texts, section.field),
#define CHOICE_KEY(section, field, ...)      offsetof(struct document_texts, section.field),
#define TOP_KEY(field, ...)                  offsetof(struct document_texts, field),
#define AUTO_KEY(section, field, ...)        offsetof(struct document_texts, section.field),
#define AUTO_CHOICE_KEY(section, field, ...) offsetof(struct document_texts, section.field),
#define AUTO_TOP_KEY(field, ...)             offsetof(struct document_texts, field),
static const size_t text_offsets[MACHINE_KEYS] = {
#include "emu/machine/keys/all.def"
};

/* The schema that tells libcyaml so. Every offset counts from the start of struct document_texts; the
 * sections themselves therefore have offset 0. */
/* clang-format off */
#define TEXT(field_name, where)                                                                              \
    {.key = (field_name), .data_offset = (uint32_t)(where),                                                  \
     .value = {.type = CYAML_STRING, .flags = CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER,                      \
               .data_size = sizeof(char), .string = {.min = 0, .max = CYAML_UNLIMITED}}},
#define SECTION(tag, name, explanation)                                                                      \
    {.key = #name, .data_offset = 0,                                                                         \
     .value = {.type = CYAML_MAPPING, .flags = CYAML_FLAG_OPTIONAL,                                          \
               .data_size = sizeof(struct document_texts),                                                   \
               .mapping = {.fields = (const cyaml_schema_field_t[]) {
#define SECTION_END(name) CYAML_FIELD_END }}}},
#define KEY(section, field, ...)        TEXT(#field, offsetof(struct document_texts, section.field))
#define CHOICE_KEY(section, field, ...) TEXT(#field, offsetof(struct document_texts, section.field))
#define TOP_KEY(field, ...)             TEXT(#field, offsetof(struct document_texts, field))
#define AUTO_KEY(section, field, ...)        TEXT(#field, offsetof(struct document_texts, section.field))
#define AUTO_CHOICE_KEY(section, field, ...) TEXT(#field, offsetof(struct document_texts, section.field))
#define AUTO_TOP_KEY(field, ...)             TEXT(#field, offsetof(struct document_texts, field))
static const cyaml_schema_field_t fields[] = {
    TEXT("extends", offsetof(struct document_texts, extends))
#include "emu/machine/keys/all.def"
    CYAML_FIELD_END
};
/* clang-format on */

static const cyaml_schema_value_t schema = {
    .type = CYAML_MAPPING,
    .flags = CYAML_FLAG_POINTER,
    .data_size = sizeof(struct document_texts),
    .mapping = {.fields = fields},
};

/* Keeps the first line of what libcyaml logs: it says what is wrong, the rest where it was noticed. */
static void log_first(cyaml_log_t level, void *context, const char *format, va_list args)
{
    struct error *err = context;
    (void)level;
    if (*err->text)
        return;
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    err->text[strcspn(err->text, "\n")] = '\0';
}

static cyaml_config_t configuration(struct error *log)
{
    return (cyaml_config_t){
        .log_fn = log_first, .log_ctx = log, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};
}

/* Reads the whole file into a new buffer. */
static unsigned char *read_all(int file, const char *path, size_t *length, struct error *err)
{
    unsigned char *text = malloc(DOCUMENT_BYTES + 1);
    ssize_t got = 1;
    for (*length = 0; text && got > 0 && *length <= DOCUMENT_BYTES; *length += got > 0 ? (size_t)got : 0)
        got = read(file, text + *length, DOCUMENT_BYTES + 1 - *length);
    if (text && got >= 0 && *length <= DOCUMENT_BYTES)
        return text;
    if (!text || got < 0)
        error_set(err, "%s: cannot be read: %s", path, strerror(text ? errno : ENOMEM));
    else
        error_set(err, "%s: larger than 1 MiB, which no machine description is", path);
    free(text);
    return NULL;
}

static bool load_texts(struct document *document, const char *path, const unsigned char *text, size_t length,
                       struct error *err)
{
    struct error log = {.text = ""};
    cyaml_config_t config = configuration(&log);
    cyaml_data_t *data = NULL;
    cyaml_err_t status = cyaml_load_data(text, length, &config, &schema, &data, NULL);
    if (status != CYAML_OK)
        return error_set(err, "%s: %s (%s)", path, cyaml_strerror(status), log.text);
    document->texts = data;
    return true;
}

bool document_read(struct document *document, int file, const char *path, struct error *err)
{
    size_t length;
    *document = (struct document){0};
    unsigned char *text = read_all(file, path, &length, err);
    bool read = text && outline_read(&document->outline, path, text, length, err) &&
                load_texts(document, path, text, length, err);
    free(text);
    return read;
}

void document_free(struct document *document)
{
    struct error log = {.text = ""};
    cyaml_config_t config = configuration(&log);
    (void)cyaml_free(&config, &schema, document->texts, 0);
    document->texts = NULL;
}

const char *document_text(const struct document *document, int key)
{
    if (!document->texts)
        return NULL;
    return *(char *const *)((const char *)document->texts + text_offsets[key]);
}

const char *document_extends(const struct document *document)
{
    return document->texts ? document->texts->extends : NULL;
}
