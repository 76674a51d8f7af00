#include "emu/nucd/cause.h"

#include <assert.h>
#include <inttypes.h>

#include "emu/sim/mix.h"

#define NUCD_CAUSE_NAME(symbol, name, text) [NUCD_CAUSE_##symbol] = (name),
#define NUCD_CAUSE_TEXT(symbol, name, text) [NUCD_CAUSE_##symbol] = (text),

static const char *const cause_names[NUCD_CAUSE_COUNT] = {NUCD_CAUSES(NUCD_CAUSE_NAME)};
static const char *const cause_texts[NUCD_CAUSE_COUNT] = {NUCD_CAUSES(NUCD_CAUSE_TEXT)};

const char *nucd_cause_text(enum nucd_cause cause)
{
    assert(cause < NUCD_CAUSE_COUNT);
    return cause_texts[cause];
}

enum place { PLACE_KNOWN, PLACE_NEW, PLACE_NO_ROOM };

/* Adds the pc to the set. */
static enum place place_add(struct nucd_causes *causes, uint64_t pc)
{
    uint64_t key = pc + 1;
    unsigned at = (unsigned)(key * MIX_FACTOR >> 48) % (2 * NUCD_CAUSE_PLACES);
    for (; causes->places[at] != 0; at = (at + 1) % (2 * NUCD_CAUSE_PLACES))
        if (causes->places[at] == key)
            return PLACE_KNOWN;
    if (causes->place_count == NUCD_CAUSE_PLACES)
        return PLACE_NO_ROOM;
    causes->places[at] = key;
    causes->place_count++;
    return PLACE_NEW;
}

bool nucd_causes_note(struct nucd_causes *causes, enum nucd_cause cause, uint64_t pc, struct error *warning)
{
    assert(cause < NUCD_CAUSE_COUNT);
    causes->count[cause]++;
    enum place place = cause == NUCD_CAUSE_SIGNATURE ? PLACE_KNOWN : place_add(causes, pc);
    if (place == PLACE_KNOWN || (place == PLACE_NO_ROOM && causes->full))
        return false;
    if (place == PLACE_NO_ROOM) {
        causes->full = true;
        error_set(warning,
                  "nucds at more than %d addresses are ignored; further ones are counted only (malformed.*)",
                  NUCD_CAUSE_PLACES);
        return true;
    }
    error_set(warning, "nucd at pc 0x%" PRIx64 " is ignored, and the %s runs its region: %s", pc,
              causes->runner ? causes->runner : "host", cause_texts[cause]);
    return true;
}

void nucd_causes_publish(struct nucd_causes *causes, struct stats *stats, struct scope scope)
{
    const struct scope malformed = scope_enter(&scope, "malformed");
    for (unsigned cause = 0; cause < NUCD_CAUSE_COUNT; cause++)
        stats_counter(stats, malformed, cause_names[cause], &causes->count[cause], "instructions",
                      cause_texts[cause]);
}
