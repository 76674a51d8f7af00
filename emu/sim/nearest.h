/* The known name that is nearest to a misspelt one. */
#ifndef EMU_SIM_NEAREST_H
#define EMU_SIM_NEAREST_H

#include <stddef.h>

/* The element of names[count] with the smallest edit distance to `wrong`, or NULL when none is near enough to
 * be meant: the distance must be at most a third of the longer name's length, rounded up. Ties go to the
 * earlier name. An edit inserts, deletes or replaces a character or swaps two neighbours, none touched twice
 * (Damerau-Levenshtein in its "optimal string alignment" form). Names of more than 127 characters are near
 * nothing. */
const char *nearest_name(const char *wrong, const char *const *names, size_t count);

/* The end of a message about the misspelt name: "; did you mean 'NAME'?", or "" when none is near enough. */
struct nearest_hint {
    char text[160];
};

struct nearest_hint nearest_hint(const char *wrong, const char *const *names, size_t count);

#endif
