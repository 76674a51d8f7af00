/* The atomic unit of a slice: when operations begin. First-level caches take no part in an atomic, and the
 * multiprocessor has already executed it, because function and time are separate. */
#include <assert.h>

#include "emu/mem/llc/state.h"

/* Returns the time, `now` or later, from which the words have left the unit. */
static uint64_t words_free(const struct llc *llc, uint64_t line, uint64_t words, uint64_t now)
{
    const struct llc_atomic_unit *unit = &llc->unit;
    for (uint64_t i = unit->begun; i > 0 && i + LLC_RECENT > unit->begun; i--) {
        const struct llc_operation *operation = &unit->recent[(i - 1) % LLC_RECENT];
        const uint64_t end = llc_after(llc, operation->start, llc->config.atomic_clocks);
        if (end <= now)
            break; /* older ones have ended before */
        if (operation->line == line && (operation->words & words))
            return end;
    }
    return now;
}

uint64_t llc_operation(struct llc *llc, uint64_t line, uint64_t words, uint64_t now)
{
    struct llc_atomic_unit *unit = &llc->unit;
    const uint32_t width = llc->config.atomic_words, count = (uint32_t)__builtin_popcountll(words);
    const uint64_t start = words_free(llc, line, words, now < unit->free ? unit->free : now);
    llc->counters.atomic_waits += start > now;
    unit->recent[unit->begun++ % LLC_RECENT] = (struct llc_operation){line, words, start};
    unit->free = llc_after(llc, start, (count + width - 1) / width);
    return start;
}

/* Schedules the response `clocks` after the operation, which reads and writes the line in the data array. */
static void operate(struct llc_entry *entry, uint32_t clocks, uint64_t now)
{
    struct llc *llc = entry->llc;
    const uint64_t read = llc_transfer_waited(llc, entry->line, now);
    (void)llc_transfer(llc, entry->line, now);
    llc->frames[entry->frame].atomics++;
    const uint64_t start = llc_operation(llc, entry->line, llc_words_of(entry), read);
    event_schedule(llc->queue, &entry->event, llc_after(llc, start, clocks));
}

void llc_atomic(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct llc_config *config = &llc->config;
    entry->request->level = MEM_LEVEL_L2;
    llc_first_use(llc, index);
    tags_touch(&llc->tags, index);
    llc_frame_changed(llc, index);
    llc->frames[index].busy = true;
    entry->frame = index;
    const bool probed = llc_probe(llc, index, entry->client, PROTOCOL_PUT_STORE, now) > 0;
    operate(entry, config->hit_clocks - config->tag_clocks + (probed ? config->probe_clocks : 0), now);
}

void llc_atomic_filled(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    assert(entry->frame != TAGS_NONE && !llc->frames[entry->frame].atomics);
    operate(entry, llc->config.fill_clocks, now);
}
