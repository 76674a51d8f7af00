/* What the level below tells the stash and asks of it: answers, forwards, acknowledgements (section 4.3). Physical addresses
 * reach words by the RTLB and the entry that the registry has named. */
#include <assert.h>
#include <stddef.h>

#include "emu/stash/hardware/state.h"

uint32_t stash_place(const struct stash *stash, uint64_t physical, unsigned map)
{
    const struct stash_entry *entry = &stash->entries[map];
    uint64_t va;
    uint32_t s;
    if (map >= stash->config.entries || !entry->valid)
        return NO_WORD;
    for (unsigned n = 0; stash_reverse(stash, physical, n, &va); n++)
        if (stash_mapping_local(&entry->mapping, va, &s))
            return s / STASH_WORD;
    return NO_WORD;
}

/* Returns the word of an active map that holds the address as Valid, or NO_WORD. */
static uint32_t find_valid(const struct stash *stash, uint64_t physical, unsigned map)
{
    const uint32_t word = stash_place(stash, physical, map);
    return word != NO_WORD && stash_is_active(&stash->entries[map]) && stash->code[word] == STASH_CODE_VALID
               ? word
               : NO_WORD;
}

uint64_t stash_words(const struct stash *stash, uint64_t line, unsigned map, enum stash_state state)
{
    uint64_t words = 0;
    for (uint64_t at = line; at < line + stash->line_bytes; at += STASH_WORD) {
        const bool registered = stash_find(stash, at, map) != NO_WORD,
                   valid = !registered && find_valid(stash, at, map) != NO_WORD;
        const enum stash_state is = registered ? STASH_REGISTERED : valid ? STASH_VALID : STASH_INVALID;
        words |= is == state ? stash_bit_of(stash, at) : 0;
    }
    return words;
}

void stash_install(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    const struct stash_entry *entry = &stash->entries[map];
    (void)now;
    if (!stash_is_active(entry))
        return;
    for (; mask; mask &= mask - 1) {
        const uint32_t word = stash_place(stash, line + STASH_WORD * (uint64_t)__builtin_ctzll(mask), map);
        if (word != NO_WORD && stash->code[word] == STASH_CODE_INVALID &&
            stash_belongs(stash, word / CHUNK_WORDS, map))
            stash_install_word(stash, word, 1 + entry->slot);
    }
}

void stash_set(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, enum stash_state state,
               uint64_t now)
{
    (void)now;
    if (state == STASH_REGISTERED) /* the stash has done it, or does it when enroll() returns */
        return;
    for (; mask; mask &= mask - 1) {
        const uint64_t physical = line + STASH_WORD * (uint64_t)__builtin_ctzll(mask);
        uint32_t word = stash_find(stash, physical, map);
        if (word != NO_WORD) {
            const struct stash_entry *holder = &stash->entries[stash->index[word / CHUNK_WORDS]];
            stash->entries[map].writing += state == STASH_VALID; /* a Revoke is answered by a write-back */
            const bool stays = state == STASH_VALID && stash_is_active(holder);
            stash->counters[1 + holder->slot].taken += state == STASH_INVALID && !stash->cleaning;
            stash_leave(stash, word, stays ? STASH_CODE_VALID : STASH_CODE_INVALID);
        } else if (state == STASH_INVALID && (word = find_valid(stash, physical, map)) != NO_WORD) {
            stash_drop_word(stash, word);
        }
    }
}

static void retry(const struct stash *stash, uint64_t now)
{
    if (stash->user.retry)
        stash->user.retry(stash->user.context, now);
}

void stash_arrived(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    struct stash_wait *done = NULL, **link = &stash->waits;
    bool stale = false;
    while (*link) {
        struct stash_wait *wait = *link;
        if (wait->line == line && wait->map == map)
            wait->mask &= ~mask;
        if (wait->mask) {
            link = &wait->next;
            continue;
        }
        *link = wait->next;
        wait->next = done;
        done = wait;
    }
    while (done) { /* `done` has the latest first in the list of waits, so the oldest is called first */
        struct stash_wait *wait = done;
        done = wait->next;
        wait->next = stash->free_waits;
        stash->free_waits = wait;
        stale |= wait->stale;
        if (wait->waiter)
            wait->waiter->done(wait->waiter, now);
    }
    if (stale)
        retry(stash, now);
}

void stash_acknowledged(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    (void)line, (void)map, (void)mask;
    retry(stash, now);
}

void stash_written(struct stash *stash, uint64_t line, unsigned map, uint64_t mask, uint64_t now)
{
    (void)line;
    assert(stash->entries[map].writing >= (unsigned)__builtin_popcountll(mask));
    stash->entries[map].writing -= (unsigned)__builtin_popcountll(mask);
    retry(stash, now);
}

void stash_room(struct stash *stash, uint64_t now)
{
    retry(stash, now);
}
