/* The configuration of a stash. */
#ifndef EMU_STASH_STASH_H
#define EMU_STASH_STASH_H

#include <stdbool.h>
#include <stdint.h>

enum stash_answer { STASH_ANSWER_WORD, STASH_ANSWER_MAPPED, STASH_ANSWER_LINE };
extern const char *const stash_answer_names[]; /* indexed by value; ends with NULL */

struct stash_config {
#include "emu/sim/fields_struct.h"

#include "emu/stash/stash.def"
};

#endif
