/* Answers to requests that the registry forwards, and write-backs. */
#include <assert.h>
#include <string.h>

#include "emu/mem/denovo/state.h"

static struct denovo_buffer *buffer_of(const struct denovo_unit *unit, uint64_t line, uint64_t word)
{
    struct denovo_buffer *buffer = denovo_buffers(unit);
    while (buffer->line != line || !(buffer->words & word))
        buffer++;
    return buffer;
}

void denovo_unbuffer(struct denovo_unit *unit, struct denovo_buffer *buffer, uint64_t mask, uint64_t now)
{
    buffer->words &= ~mask;
    buffer->taken &= ~mask;
    buffer->stale &= ~mask;
    if (!buffer->words)
        unit->buffers--;
    unit->freed = true;
    if (unit->ops->written_back)
        unit->ops->written_back(unit->holder, buffer->line, buffer->map, mask, now);
}

bool denovo_put_back(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                     enum denovo_state rest, uint64_t now)
{
    struct denovo_buffer *buffer = denovo_buffers(unit);
    struct denovo_message message = denovo_letter(unit, DENOVO_MSG_WRITE_BACK, line, map, mask);
    if (unit->buffers == unit->config.write_backs)
        return false;
    while (buffer->words)
        buffer++;
    unit->buffers++;
    memset(buffer, 0, sizeof *buffer);
    buffer->line = line;
    buffer->words = mask;
    buffer->map = (uint8_t)map;
    if (unit->ops->values)
        unit->ops->values(unit->holder, line, map, mask, buffer->value);
    denovo_copy_values(message.value, buffer->value, mask);
    unit->ops->set(unit->holder, line, map, mask, rest, now);
    denovo_send(unit, &message, now);
    return true;
}

static bool in_buffer(enum denovo_word state)
{
    return state == DENOVO_WORD_BUFFERED || state == DENOVO_WORD_TAKEN || state == DENOVO_WORD_STALE;
}

/* Sets the values of words in one state, from the one entry of the buffer that has them or from the
 * holder, and takes from mask the words that another entry has. */
static uint64_t source(const struct denovo_unit *unit, uint64_t line, unsigned map, enum denovo_word state,
                       uint64_t mask, uint32_t *value)
{
    if (in_buffer(state)) {
        const struct denovo_buffer *buffer = buffer_of(unit, line, denovo_lowest(mask));
        mask &= buffer->words;
        denovo_copy_values(value, buffer->value, mask);
    } else if (unit->ops->values) {
        unit->ops->values(unit->holder, line, map, mask, value);
    }
    return mask;
}

/* Other words of the line that the holder may add to an answer: registered ones, which nobody else has
 * newer. A word with data on its way is not registered in the holder. */
static uint64_t extra(const struct denovo_unit *unit, const struct denovo_message *message, unsigned map)
{
    uint64_t words = unit->ops->words(unit->holder, message->line, map, DENOVO_REGISTERED);
    if (!unit->rules->rule[DENOVO_RULE_ONLY_REGISTERED])
        words |= unit->ops->words(unit->holder, message->line, map, DENOVO_VALID);
    return words & message->extra & ~message->mask;
}

static void give_read(struct denovo_unit *unit, const struct denovo_message *message, unsigned map,
                      enum denovo_word state, uint64_t mask, uint64_t now)
{
    while (mask) {
        struct denovo_message answer =
            denovo_letter(unit, DENOVO_MSG_READ_ANSWER, message->line, message->map, mask);
        answer.to = answer.requester = message->requester;
        answer.mask = source(unit, message->line, map, state, mask, answer.value);
        if (!in_buffer(state)) {
            answer.extra = extra(unit, message, map);
            if (unit->ops->values && answer.extra)
                unit->ops->values(unit->holder, message->line, map, answer.extra, answer.value);
        }
        denovo_send(unit, &answer, now);
        mask &= ~answer.mask;
    }
}

/* Calls step() for the message's words by the map by which the unit has them: those that are pending or
 * moving by another map than the registry knows, then the rest. */
static void by_map(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now,
                   void (*step)(struct denovo_unit *, const struct denovo_message *, unsigned map,
                                uint64_t mask, uint64_t now))
{
    const struct denovo_mshr *mshrs = denovo_mshrs(unit);
    uint64_t rest = message->mask;
    for (unsigned i = 0; unit->open && unit->rules->rule[DENOVO_RULE_FIND_MOVED] && i < unit->config.mshrs;
         i++) {
        const struct denovo_mshr *mshr = &mshrs[i];
        if (!mshr->used || mshr->line != message->line || mshr->map == message->owner_map)
            continue;
        uint64_t here = rest & (mshr->pending | mshr->waiting | mshr->moving | mshr->late);
        rest &= ~here;
        if (here)
            step(unit, message, mshr->map, here, now);
    }
    if (rest)
        step(unit, message, message->owner_map, rest, now);
}

static void read_step(struct denovo_unit *unit, const struct denovo_message *message, unsigned map,
                      uint64_t mask, uint64_t now)
{
    struct denovo_scene scene;
    uint64_t refused = 0;
    denovo_look(unit, message->line, map, mask, true, &scene);
    for (unsigned state = 0; state < DENOVO_WORD_STATES; state++) {
        struct denovo_row row = unit->rules->unit[state][DENOVO_ON_FORWARD_READ];
        if (!scene.in[state])
            continue;
        assert(row.action != DENOVO_DO_NEVER);
        if (row.action == DENOVO_DO_GIVE)
            give_read(unit, message, map, state, scene.in[state], now);
        else if (row.action == DENOVO_DO_REFUSE)
            refused |= scene.in[state];
    }
    if (refused) {
        struct denovo_message answer =
            denovo_letter(unit, DENOVO_MSG_READ_REFUSED, message->line, message->map, refused);
        answer.to = answer.requester = message->requester;
        denovo_send(unit, &answer, now);
    }
}

void denovo_forward_read(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    by_map(unit, message, now, read_step);
}

/* The words go to another registrant. */
static void give_registration(struct denovo_unit *unit, const struct denovo_message *message, unsigned map,
                              enum denovo_word state, uint64_t mask, uint64_t now)
{
    const struct denovo_row row = unit->rules->unit[state][DENOVO_ON_FORWARD_REGISTER];
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, map);
    struct denovo_message answer =
        denovo_letter(unit, DENOVO_MSG_REGISTERED, message->line, message->map, mask);
    answer.to = answer.requester = message->requester;
    answer.with_data = message->with_data;
    answer.mask = source(unit, message->line, map, state, mask, answer.value);
    if (in_buffer(state)) {
        struct denovo_buffer *buffer = buffer_of(unit, message->line, denovo_lowest(answer.mask));
        uint64_t kept =
            answer.mask & unit->ops->words(unit->holder, message->line, buffer->map, DENOVO_VALID);
        if (kept)
            unit->ops->set(unit->holder, message->line, buffer->map, kept, DENOVO_INVALID, now);
        if (row.next == DENOVO_WORD_TAKEN)
            buffer->taken |= answer.mask;
        else if (row.next == DENOVO_WORD_INVALID)
            denovo_unbuffer(unit, buffer, answer.mask, now);
    } else if (row.next != state) {
        unit->ops->set(unit->holder, message->line, map, answer.mask, DENOVO_INVALID, now);
        denovo_leave(unit, mshr, answer.mask, state, row.next);
    }
    denovo_send(unit, &answer, now);
    if (mask & ~answer.mask)
        give_registration(unit, message, map, state, mask & ~answer.mask, now);
}

static void queue(struct denovo_mshr *mshr, const struct denovo_message *message, uint64_t mask)
{
    mshr->queued |= mask;
    for (; mask; mask &= mask - 1)
        mshr->successor[denovo_index(mask)] =
            (struct denovo_successor){message->requester, message->map, message->with_data};
}

static void register_step(struct denovo_unit *unit, const struct denovo_message *message, unsigned map,
                          uint64_t mask, uint64_t now)
{
    struct denovo_scene scene;
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, map);
    denovo_look(unit, message->line, map, mask, true, &scene);
    for (unsigned state = 0; state < DENOVO_WORD_STATES; state++) {
        struct denovo_row row = unit->rules->unit[state][DENOVO_ON_FORWARD_REGISTER];
        if (!scene.in[state])
            continue;
        assert(row.action != DENOVO_DO_NEVER);
        if (row.action == DENOVO_DO_GIVE)
            give_registration(unit, message, map, state, scene.in[state], now);
        else if (row.action == DENOVO_DO_QUEUE)
            queue(mshr, message, scene.in[state]);
    }
    if (mshr)
        denovo_mshr_tidy(unit, mshr);
}

void denovo_forward_register(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    by_map(unit, message, now, register_step);
}

static void refuse_revoke(const struct denovo_unit *unit, uint64_t line, uint64_t mask, uint64_t now)
{
    struct denovo_message answer = denovo_letter(unit, DENOVO_MSG_REVOKE_REFUSED, line, 0, mask);
    denovo_send(unit, &answer, now);
}

static void revoke_step(struct denovo_unit *unit, const struct denovo_message *message, unsigned map,
                        uint64_t mask, uint64_t now)
{
    struct denovo_scene scene;
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, map);
    denovo_look(unit, message->line, map, mask, true, &scene);
    for (unsigned state = 0; state < DENOVO_WORD_STATES; state++) {
        struct denovo_row row = unit->rules->unit[state][DENOVO_ON_REVOKE];
        uint64_t words = scene.in[state];
        if (!words)
            continue;
        assert(row.action != DENOVO_DO_NEVER);
        if (row.action == DENOVO_DO_QUEUE)
            mshr->revoked |= words;
        else if (row.action == DENOVO_DO_WRITE_BACK &&
                 denovo_put_back(unit, message->line, map, words, DENOVO_VALID, now))
            denovo_leave(unit, mshr, words, state, row.next);
        else if (row.action == DENOVO_DO_WRITE_BACK && unit->rules->rule[DENOVO_RULE_AGAIN])
            refuse_revoke(unit, message->line, words, now);
    }
    if (mshr)
        denovo_mshr_tidy(unit, mshr);
}

void denovo_revoke(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    by_map(unit, message, now, revoke_step);
}
