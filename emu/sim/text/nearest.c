#include "emu/sim/text/nearest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_MAX_LENGTH = 127,
    BEGINNING = 3, /* characters that are enough to mean all names that begin so */
};

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the edit distance of a and b, each at most NAME_MAX_LENGTH long, keeping three rows of the usual matrix. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint8_t storage[3][NAME_MAX_LENGTH + 1];
    uint8_t *before = storage[0], *above = storage[1], *row = storage[2];

    for (size_t j = 0; j <= b_length; j++)
        above[j] = (uint8_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
            size_t best = min(replace, min(above[j], row[j - 1]) + 1u);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min(best, before[j - 2] + 1u);
            row[j] = (uint8_t)best;
        }
        uint8_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_length];
}

const char *nearest_name(const char *wrong, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    size_t length = strlen(wrong);
    bool nearest_begins = false;

    if (length > NAME_MAX_LENGTH)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other > NAME_MAX_LENGTH)
            continue;
        size_t longer = length > other ? length : other;
        size_t edits = distance(wrong, length, names[i], other);
        bool begins = length > 0 && strncmp(wrong, names[i], length) == 0;
        const bool far = edits > (longer + 2) / 3 && !(begins && length >= BEGINNING);
        if (far || begins < nearest_begins || (begins == nearest_begins && edits >= nearest_distance))
            continue;
        nearest = names[i];
        nearest_distance = edits;
        nearest_begins = begins;
    }
    return nearest;
}

struct nearest_hint nearest_hint(const char *wrong, const char *const *names, size_t count)
{
    struct nearest_hint hint = {.text = ""};
    const char *name = nearest_name(wrong, names, count);
    if (name)
        (void)snprintf(hint.text, sizeof hint.text, "; did you mean '%s'?", name);
    return hint;
}

struct nearest_allowed nearest_allowed(const char *wrong, const char *const *names, size_t count)
{
    struct nearest_allowed allowed;
    struct nearest_hint hint = nearest_hint(wrong, names, count);
    size_t used = (size_t)snprintf(allowed.text, sizeof allowed.text, "%s%s", hint.text,
                                   *hint.text ? " Allowed: " : "; allowed: ");
    for (size_t i = 0; i < count && used < sizeof allowed.text; i++)
        used += (size_t)snprintf(allowed.text + used, sizeof allowed.text - used, "%s%s", i > 0 ? ", " : "",
                                 names[i]);
    return allowed;
}
