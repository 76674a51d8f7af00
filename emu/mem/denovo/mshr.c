/* What a unit has in flight, by line and word. */
#include <assert.h>
#include <string.h>

#include "emu/mem/denovo/state.h"

void denovo_copy_values(uint32_t *to, const uint32_t *from, uint64_t mask)
{
    for (; mask; mask &= mask - 1)
        to[denovo_index(mask)] = from[denovo_index(mask)];
}

struct denovo_mshr *denovo_mshr_find(const struct denovo_unit *unit, uint64_t line, unsigned map)
{
    struct denovo_mshr *mshrs = denovo_mshrs(unit);
    for (unsigned i = 0; unit->open && i < unit->config.mshrs; i++)
        if (mshrs[i].used && mshrs[i].line == line && mshrs[i].map == map)
            return &mshrs[i];
    return NULL;
}

struct denovo_mshr *denovo_mshr_open(struct denovo_unit *unit, uint64_t line, unsigned map)
{
    struct denovo_mshr *mshr = denovo_mshr_find(unit, line, map);
    if (mshr || unit->open == unit->config.mshrs)
        return mshr;
    for (mshr = denovo_mshrs(unit); mshr->used; mshr++) {
    }
    unit->open++;
    *mshr = (struct denovo_mshr){.line = line, .used = true, .map = (uint8_t)map};
    return mshr;
}

void denovo_mshr_tidy(struct denovo_unit *unit, struct denovo_mshr *mshr)
{
    if (!mshr->want) {
        unit->freed |= mshr->poisoned;
        mshr->poisoned = false;
        mshr->may = mshr->fill = 0;
    }
    uint64_t open = mshr->want | mshr->pending | mshr->waiting | mshr->moving | mshr->late | mshr->atomic |
                    mshr->queued | mshr->revoked;
    if (open || !mshr->used)
        return;
    mshr->used = false;
    unit->open--;
    unit->freed = true;
}

void denovo_bar(struct denovo_unit *unit, uint64_t line, uint64_t mask)
{
    struct denovo_mshr *mshrs = denovo_mshrs(unit);
    for (unsigned i = 0; unit->open && i < unit->config.mshrs; i++)
        if (mshrs[i].used && mshrs[i].line == line) {
            mshrs[i].may &= ~mask;
            mshrs[i].fill &= ~mask;
        }
}

static uint64_t bound(const struct denovo_mshr *mshr)
{
    return mshr->pending | mshr->waiting | mshr->moving | mshr->late;
}

uint64_t denovo_atomics(const struct denovo_unit *unit, uint64_t line)
{
    const struct denovo_mshr *mshrs = denovo_mshrs(unit);
    uint64_t words = 0;
    for (unsigned i = 0; unit->open && i < unit->config.mshrs; i++)
        if (mshrs[i].used && mshrs[i].line == line)
            words |= mshrs[i].atomic;
    return words;
}

uint64_t denovo_pending_elsewhere(const struct denovo_unit *unit, uint64_t line, unsigned map)
{
    const struct denovo_mshr *mshrs = denovo_mshrs(unit);
    uint64_t words = 0;
    for (unsigned i = 0; unit->open && i < unit->config.mshrs; i++)
        if (mshrs[i].used && mshrs[i].line == line && mshrs[i].map != map)
            words |= bound(&mshrs[i]);
    return words;
}

uint64_t denovo_pending(const struct denovo_unit *unit, uint64_t line)
{
    return denovo_pending_elsewhere(unit, line, DENOVO_MAPS) | denovo_atomics(unit, line);
}

uint64_t denovo_buffered(const struct denovo_unit *unit, uint64_t line)
{
    const struct denovo_buffer *buffers = denovo_buffers(unit);
    uint64_t words = 0;
    for (unsigned i = 0; unit->buffers && i < unit->config.write_backs; i++)
        if (buffers[i].words && buffers[i].line == line)
            words |= buffers[i].words;
    return words;
}

static uint64_t sort(struct denovo_scene *scene, uint64_t mask, uint64_t words, enum denovo_word state)
{
    scene->in[state] |= mask & words;
    return mask & ~words;
}

void denovo_look(const struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask, bool in_buffer,
                 struct denovo_scene *scene)
{
    const struct denovo_buffer *buffers = denovo_buffers(unit);
    const struct denovo_mshr *mshr = denovo_mshr_find(unit, line, map);
    memset(scene, 0, sizeof *scene);
    for (unsigned i = 0; in_buffer && unit->buffers && i < unit->config.write_backs; i++)
        if (buffers[i].words && buffers[i].line == line) {
            mask = sort(scene, mask, buffers[i].taken, DENOVO_WORD_TAKEN);
            mask = sort(scene, mask, buffers[i].stale, DENOVO_WORD_STALE);
            mask = sort(scene, mask, buffers[i].words, DENOVO_WORD_BUFFERED);
        }
    if (mshr) {
        mask = sort(scene, mask, mshr->waiting, DENOVO_WORD_WAITING);
        mask = sort(scene, mask, mshr->pending, DENOVO_WORD_PENDING);
        mask = sort(scene, mask, mshr->lost, DENOVO_WORD_LOST);
        mask = sort(scene, mask, mshr->moving, DENOVO_WORD_MOVING);
        mask = sort(scene, mask, mshr->late, DENOVO_WORD_LATE);
    }
    if (mask)
        mask = sort(scene, mask, unit->ops->words(unit->holder, line, map, DENOVO_REGISTERED),
                    DENOVO_WORD_REGISTERED);
    if (mask)
        mask = sort(scene, mask, unit->ops->words(unit->holder, line, map, DENOVO_VALID), DENOVO_WORD_VALID);
    scene->in[DENOVO_WORD_INVALID] = mask;
}

void denovo_leave(struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t mask, enum denovo_word state,
                  enum denovo_word next)
{
    uint32_t count = (uint32_t)__builtin_popcountll(mask);
    switch (state) {
    case DENOVO_WORD_PENDING:
        mshr->pending &= ~mask;
        unit->unsettled -= count;
        break;
    case DENOVO_WORD_WAITING:
        mshr->waiting &= ~mask;
        unit->unsettled -= count;
        break;
    case DENOVO_WORD_MOVING:
        if (next == DENOVO_WORD_LOST || next == DENOVO_WORD_BUFFERED)
            mshr->lost |= mask;
        else
            mshr->moving &= ~mask;
        break;
    case DENOVO_WORD_LOST:
        mshr->lost &= ~mask;
        mshr->moving &= ~mask;
        break;
    case DENOVO_WORD_LATE: mshr->late &= ~mask; break;
    default: break;
    }
    unit->freed = true;
}

void denovo_enter(struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t mask, enum denovo_word next)
{
    uint32_t count = (uint32_t)__builtin_popcountll(mask);
    switch (next) {
    case DENOVO_WORD_PENDING:
        mshr->pending |= mask;
        unit->unsettled += count;
        break;
    case DENOVO_WORD_WAITING:
        mshr->waiting |= mask;
        unit->unsettled += count;
        break;
    case DENOVO_WORD_MOVING: mshr->moving |= mask; break;
    case DENOVO_WORD_LATE: mshr->late |= mask; break;
    default: break;
    }
}
