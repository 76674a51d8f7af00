#include "emu/schema/blame.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/text.h"

enum { SETTINGS_MOST = 1000 }; /* more are not searched: each takes a load of the description, about 2 ms */

/* Returns whether the message names the key, not only a longer one. */
static bool names_key(const char *message, const char *key)
{
    static const char part[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.*";
    size_t length = strlen(key);
    for (const char *at = message; length && (at = strstr(at, key)) != NULL; at += length)
        if ((at == message || !strchr(part, at[-1])) && (!at[length] || !strchr(part, at[length])))
            return true;
    return false;
}

/* Returns the last setting without which the description loads. If there is none, several are wrong, unless the description fails
 * without any: then returns the last one without which the message is another. SIZE_MAX: no single setting is the reason. */
static size_t find_reason(const char *const *sets, size_t count, blame_load *load, void *context,
                          const struct error *err)
{
    const char **rest = alloc(count + 1, sizeof *rest);
    size_t reason = SIZE_MAX, fixing = SIZE_MAX;
    for (size_t i = count; i-- > 0 && fixing == SIZE_MAX;) {
        struct error other;
        memcpy(rest, sets, i * sizeof *rest);
        memcpy(rest + i, sets + i + 1, (count - i - 1) * sizeof *rest);
        if (load(context, rest, count - 1, &other))
            fixing = i;
        else if (reason == SIZE_MAX && strcmp(other.text, err->text) != 0)
            reason = i;
    }
    free(rest);
    if (fixing != SIZE_MAX || reason == SIZE_MAX)
        return fixing;
    struct error own;
    return load(context, sets, 0, &own) ? reason : SIZE_MAX;
}

bool blame_setting(const char *const *sets, size_t count, blame_load *load, void *context, struct error *err)
{
    static const char option[] = "--set", unnamed[] = "--set: ";
    size_t reason =
        count > 0 && count <= SETTINGS_MOST ? find_reason(sets, count, load, context, err) : SIZE_MAX;
    if (reason == SIZE_MAX)
        return false;
    char *key = alloc_text(sets[reason]);
    key[strcspn(key, "=")] = '\0';
    bool named = strncmp(err->text, option, sizeof option - 1) == 0 && names_key(err->text, key);
    free(key);
    if (named)
        return false;
    if (strncmp(err->text, unnamed, sizeof unnamed - 1) == 0)
        memmove(err->text, err->text + sizeof unnamed - 1, strlen(err->text + sizeof unnamed - 1) + 1);
    return error_prefix(err, "%s %s", option, text_quote(sets[reason]).text);
}
