#include "emu/schema/dotted.h"

#include <string.h>

size_t name_length(const char *name)
{
    return strcspn(name, ".");
}

bool name_is_index(const char *name)
{
    size_t length = name_length(name);
    return length > 0 && (strspn(name, "0123456789") == length || (length == 1 && *name == '*'));
}

const char *name_behind(const char *name)
{
    name += name_length(name);
    return *name == '.' ? name + 1 : name;
}

bool name_begins(const char *name, const char *word)
{
    size_t length = name_length(name);
    return strlen(word) == length && strncmp(name, word, length) == 0;
}
