/* Finds the known name that is nearest to a misspelt one. */
#ifndef EMU_SIM_TEXT_NEAREST_H
#define EMU_SIM_TEXT_NEAREST_H

#include <stddef.h>

/* Returns the element of names[count] with the smallest edit distance to `wrong`, the earlier one of equals, or NULL if
 * none is within a third of the longer name's length, rounded up. Names that begin with `wrong` come first: tRCD
 * means tRCDRD rather than tRC, because an end is forgotten more often than a letter is added; where `wrong` has at least three
 * characters, they may be of any length: ddr4 means ddr4_3200 rather than gddr5. An edit inserts, deletes or replaces a character or
 * swaps two neighbours, none touched twice (Damerau-Levenshtein distance, "optimal string alignment"). Names of more
 * than 127 characters match nothing. */
const char *nearest_name(const char *wrong, const char *const *names, size_t count);

/* The end of a message about a misspelt name: "; did you mean 'NAME'?", or "" if no name is near enough. */
struct nearest_hint {
    char text[160];
};

struct nearest_hint nearest_hint(const char *wrong, const char *const *names, size_t count);

/* Likewise where all names are told: "; did you mean 'NAME'? Allowed: NAME, NAME" or "; allowed: NAME, NAME". */
struct nearest_allowed {
    char text[1024];
};

struct nearest_allowed nearest_allowed(const char *wrong, const char *const *names, size_t count);

#endif
