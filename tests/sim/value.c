#include "tests/sim/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Returns the text after the name in the print; free() it. */
static const char *find(struct stats *stats, const char *name, char **text)
{
    size_t size, length = strlen(name);
    FILE *out = open_memstream(text, &size);
    assert_non_null(out);
    (void)stats_print(stats, NULL, out);
    (void)fclose(out);
    const char *line = *text;
    while (line && !(strncmp(line, name, length) == 0 && line[length] == ' ')) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line)
        fail_msg("no statistic is called %s", name);
    return line + length;
}

uint64_t stats_value(struct stats *stats, const char *name)
{
    char *text;
    uint64_t value = strtoull(find(stats, name, &text), NULL, 10);
    free(text);
    return value;
}

double stats_real(struct stats *stats, const char *name)
{
    char *text;
    double value = strtod(find(stats, name, &text), NULL);
    free(text);
    return value;
}

char *stats_json(struct stats *stats)
{
    char *text = NULL;
    size_t size;
    struct error err;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(stats_write_json(stats, out, &err));
    (void)fclose(out);
    return text;
}
