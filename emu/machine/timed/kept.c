/* Memory that is freed with a timed machine. */
#include <stdlib.h>

#include "emu/machine/timed/state.h"
#include "emu/sim/alloc.h"

void *timed_keep(struct timed *timed, size_t bytes)
{
    struct timed_kept *kept = alloc(1, sizeof *kept + bytes);
    kept->next = timed->kept;
    timed->kept = kept;
    return kept->bytes;
}

void timed_free_kept(struct timed *timed)
{
    while (timed->kept) {
        struct timed_kept *next = timed->kept->next;
        free(timed->kept);
        timed->kept = next;
    }
}
