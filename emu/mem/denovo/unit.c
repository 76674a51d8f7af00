/* The unit: operations for its holder, and messages that it receives. */
#include <assert.h>
#include <stdlib.h>

#include "emu/mem/denovo/state.h"
#include "emu/sim/alloc.h"

struct denovo_unit *denovo_unit_new(const struct denovo_unit_config *config,
                                    const struct denovo_holder_ops *ops, void *holder,
                                    struct denovo_post post)
{
    assert(config->mshrs > 0 && config->write_backs > 0 && config->words > 0 &&
           config->words <= DENOVO_WORDS);
    struct denovo_unit sized = {.config = *config};
    struct denovo_unit *unit = alloc(1, denovo_unit_size(&sized));
    unit->config = *config;
    unit->rules = config->rules ? config->rules : &denovo_protocol;
    unit->ops = ops;
    unit->holder = holder;
    unit->post = post;
    return unit;
}

void denovo_unit_free(struct denovo_unit *unit)
{
    free(unit);
}

size_t denovo_unit_size(const struct denovo_unit *unit)
{
    return sizeof *unit + unit->config.mshrs * sizeof(struct denovo_mshr) +
           unit->config.write_backs * sizeof(struct denovo_buffer);
}

bool denovo_settled(const struct denovo_unit *unit)
{
    return unit->unsettled == 0;
}

bool denovo_idle(const struct denovo_unit *unit)
{
    return unit->open == 0 && unit->buffers == 0;
}

bool denovo_writing(const struct denovo_unit *unit)
{
    return unit->buffers > 0;
}

void denovo_hasten(const struct denovo_unit *unit, uint64_t line)
{
    if (unit->post.flush)
        unit->post.flush(unit->post.context, line);
}

static bool rule(const struct denovo_unit *unit, enum denovo_rule number)
{
    return unit->rules->rule[number];
}

static enum denovo_outcome refuse(struct denovo_unit *unit, uint64_t line)
{
    unit->refused = true;
    unit->freed = false;
    denovo_hasten(unit, unit->open == unit->config.mshrs ? DENOVO_ANY : line);
    return DENOVO_REFUSED;
}

/* Tells the holder that something is free, after a step that may have freed something. */
static void end_step(struct denovo_unit *unit, uint64_t now)
{
    if (!unit->refused || !unit->freed)
        return;
    unit->refused = unit->freed = false;
    unit->ops->room(unit->holder, now);
}

/* Sorts the words of an access by what the rows say: returns those with the action; *waits gets whether
 * some must wait. */
static uint64_t choose(const struct denovo_unit *unit, const struct denovo_scene *scene,
                       enum denovo_event event, enum denovo_action action, bool *waits)
{
    uint64_t chosen = 0;
    for (unsigned state = 0; state < DENOVO_WORD_STATES; state++) {
        struct denovo_row row = unit->rules->unit[state][event];
        if (!scene->in[state])
            continue;
        assert(row.action != DENOVO_DO_NEVER);
        *waits |= row.action == DENOVO_DO_WAIT;
        chosen |= row.action == action ? scene->in[state] : 0;
    }
    return chosen;
}

/* Adds words to what the line's reads may install. The words of an open read are only those that have not
 * been anything but INVALID since it was sent: its answer may be old. */
static void allow(const struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t fill)
{
    if (!mshr->want) {
        mshr->may = unit->ops->words(unit->holder, mshr->line, mshr->map, DENOVO_INVALID);
        if (rule(unit, DENOVO_RULE_FILL_FREE))
            mshr->may &= ~(denovo_pending(unit, mshr->line) | denovo_buffered(unit, mshr->line));
        mshr->fill = 0;
    }
    mshr->fill |= fill & mshr->may;
}

enum denovo_outcome denovo_read(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t need,
                                uint64_t fill, uint64_t now)
{
    struct denovo_scene scene;
    bool waits = rule(unit, DENOVO_RULE_ATOMIC_ALONE) && denovo_atomics(unit, line) & need;
    denovo_look(unit, line, map, need, true, &scene);
    uint64_t miss = choose(unit, &scene, DENOVO_ON_LOAD, DENOVO_DO_MISS, &waits);
    struct denovo_mshr *mshr = waits ? NULL : denovo_mshr_open(unit, line, map);
    if (!mshr)
        return refuse(unit, line);
    allow(unit, mshr, fill);
    struct denovo_message message = denovo_letter(unit, DENOVO_MSG_READ, line, map, miss);
    if (rule(unit, DENOVO_RULE_ONE_READ))
        message.mask &= ~mshr->want;
    message.extra = mshr->fill & ~message.mask;
    mshr->want |= miss;
    if (message.mask)
        denovo_send(unit, &message, now);
    return DENOVO_WAITS;
}

/* Whether words must not be touched because of what is open on them in other places than this line and
 * map. */
static bool engaged(const struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask)
{
    uint64_t words = 0;
    if (rule(unit, DENOVO_RULE_ATOMIC_ALONE))
        words |= denovo_atomics(unit, line);
    if (rule(unit, DENOVO_RULE_ONE_MAP))
        words |= denovo_pending_elsewhere(unit, line, map);
    return words & mask;
}

/* Registers words, with an event's rows. */
static enum denovo_outcome enroll(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                  enum denovo_event event, uint64_t now)
{
    struct denovo_scene scene;
    bool waits = engaged(unit, line, map, mask);
    denovo_look(unit, line, map, mask, true, &scene);
    uint64_t words = choose(unit, &scene, event, DENOVO_DO_REGISTER, &waits);
    struct denovo_mshr *mshr = waits || !words ? NULL : denovo_mshr_open(unit, line, map);
    if (waits || (words && !mshr))
        return refuse(unit, line);
    for (unsigned state = 0; words && state < DENOVO_WORD_STATES; state++)
        if (scene.in[state] & words)
            denovo_enter(unit, mshr, scene.in[state] & words, unit->rules->unit[state][event].next);
    if (!words)
        return DENOVO_DONE;
    if (rule(unit, DENOVO_RULE_FILL_STORED))
        denovo_bar(unit, line, words);
    if (event == DENOVO_ON_STORE)
        unit->ops->set(unit->holder, line, map, words, DENOVO_REGISTERED, now);
    struct denovo_message message = denovo_letter(unit, DENOVO_MSG_REGISTER, line, map, words);
    message.with_data = event == DENOVO_ON_SYNC;
    denovo_send(unit, &message, now);
    return DENOVO_WAITS;
}

enum denovo_outcome denovo_register(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                    uint64_t now)
{
    return enroll(unit, line, map, mask, DENOVO_ON_STORE, now);
}

enum denovo_outcome denovo_register_data(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                         uint64_t now)
{
    return enroll(unit, line, map, mask, DENOVO_ON_SYNC, now);
}

enum denovo_outcome denovo_write_back(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                      uint64_t now)
{
    struct denovo_scene scene;
    bool waits = engaged(unit, line, map, mask);
    denovo_look(unit, line, map, mask, true, &scene);
    uint64_t words = choose(unit, &scene, DENOVO_ON_EVICT, DENOVO_DO_WRITE_BACK, &waits);
    if (waits)
        return refuse(unit, line);
    if (!words)
        return DENOVO_DONE;
    return denovo_put_back(unit, line, map, words, DENOVO_INVALID, now) ? DENOVO_WAITS : refuse(unit, line);
}

enum denovo_outcome denovo_remap(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                 uint64_t now)
{
    struct denovo_scene scene;
    bool waits = engaged(unit, line, map, mask);
    denovo_look(unit, line, map, mask, true, &scene);
    uint64_t words = choose(unit, &scene, DENOVO_ON_REMAP, DENOVO_DO_SEND, &waits);
    struct denovo_mshr *mshr = waits || !words ? NULL : denovo_mshr_open(unit, line, map);
    if (waits || (words && !mshr))
        return refuse(unit, line);
    if (!words)
        return DENOVO_DONE;
    denovo_enter(unit, mshr, words, DENOVO_WORD_MOVING);
    struct denovo_message message = denovo_letter(unit, DENOVO_MSG_REMAP, line, map, words);
    denovo_send(unit, &message, now);
    return DENOVO_WAITS;
}

/* Takes the holder's copies of words that are operated on at the registry, also those that a Revoke has
 * left. Returns false if the registered ones find the write-back buffer full. */
static bool give_up(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask, uint64_t registered,
                    uint64_t now)
{
    uint64_t valid = mask & unit->ops->words(unit->holder, line, map, DENOVO_VALID);
    if (registered && !denovo_put_back(unit, line, map, registered, DENOVO_INVALID, now))
        return false;
    if (valid && unit->rules->unit[DENOVO_WORD_VALID][DENOVO_ON_ATOMIC].next == DENOVO_WORD_INVALID)
        unit->ops->set(unit->holder, line, map, valid, DENOVO_INVALID, now);
    if (rule(unit, DENOVO_RULE_FILL_OPERATED))
        denovo_bar(unit, line, mask);
    return true;
}

enum denovo_outcome denovo_atomic(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                  uint32_t tag, uint64_t now)
{
    struct denovo_scene scene;
    bool waits = denovo_pending_elsewhere(unit, line, map) & mask;
    denovo_look(unit, line, map, mask, true, &scene);
    uint64_t words = choose(unit, &scene, DENOVO_ON_ATOMIC, DENOVO_DO_SEND, &waits);
    uint64_t registered = choose(unit, &scene, DENOVO_ON_ATOMIC, DENOVO_DO_WRITE_BACK, &waits);
    struct denovo_mshr *mshr = waits ? NULL : denovo_mshr_open(unit, line, map);
    if (!mshr || !give_up(unit, line, map, mask, registered, now)) {
        if (mshr)
            denovo_mshr_tidy(unit, mshr);
        return refuse(unit, line);
    }
    mshr->atomic |= words | registered;
    mshr->atomics++;
    unit->unsettled++;
    struct denovo_message message = denovo_letter(unit, DENOVO_MSG_ATOMIC, line, map, words | registered);
    message.tag = tag;
    denovo_send(unit, &message, now);
    return DENOVO_WAITS;
}

void denovo_acquire(struct denovo_unit *unit, uint64_t now)
{
    (void)now;
    struct denovo_mshr *mshrs = denovo_mshrs(unit);
    for (unsigned i = 0; unit->open && i < unit->config.mshrs; i++)
        if (mshrs[i].used && mshrs[i].want && rule(unit, DENOVO_RULE_POISON))
            mshrs[i].poisoned = true;
}

/* Messages that the unit receives. */

/* Applies an event to words that are in one of the MSHR's states. Returns the words whose action is
 * INSTALL. */
static uint64_t apply(struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t mask,
                      enum denovo_event event, bool in_buffer)
{
    struct denovo_scene scene;
    uint64_t install = 0;
    denovo_look(unit, mshr->line, mshr->map, mask, in_buffer, &scene);
    for (unsigned state = 0; state < DENOVO_WORD_STATES; state++) {
        struct denovo_row row = unit->rules->unit[state][event];
        uint64_t words = scene.in[state];
        /* An answer to a read finds words in any state, and changes only those that have a row. */
        if (!words || event == DENOVO_ON_ANSWER) {
            install |= row.action == DENOVO_DO_INSTALL ? words : 0;
            continue;
        }
        assert(row.action != DENOVO_DO_NEVER);
        install |= row.action == DENOVO_DO_INSTALL ? words : 0;
        if (row.next != state) {
            denovo_leave(unit, mshr, words, state, row.next);
            denovo_enter(unit, mshr, words, row.next);
        }
    }
    return install;
}

static void keep(struct denovo_unit *unit, const struct denovo_message *message, uint64_t words,
                 enum denovo_state state, uint64_t now)
{
    if (words && unit->ops->keep)
        unit->ops->keep(unit->holder, message->line, message->map, words, message->value);
    if (words)
        unit->ops->set(unit->holder, message->line, message->map, words, state, now);
}

static void read_answered(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, message->map);
    assert(mshr && (message->mask & ~mshr->want) == 0);
    uint64_t install = mshr->poisoned ? 0 : mshr->fill & (message->mask | message->extra);
    install = apply(unit, mshr, install, DENOVO_ON_ANSWER, true);
    mshr->want &= ~message->mask;
    denovo_mshr_tidy(unit, mshr);
    keep(unit, message, install, DENOVO_VALID, now);
    unit->ops->arrived(unit->holder, message->line, message->map, message->mask, message->value, now);
}

static void read_refused(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, message->map);
    assert(mshr && (message->mask & ~mshr->want) == 0);
    struct denovo_message again =
        denovo_letter(unit, DENOVO_MSG_READ, message->line, message->map, message->mask);
    again.extra = mshr->fill & ~again.mask;
    if (rule(unit, DENOVO_RULE_RETRY))
        denovo_send(unit, &again, now);
}

/* Gives words to those that have registered them while this unit's registration was open. */
static void serve_queue(struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t mask, uint64_t now)
{
    while (mask) {
        struct denovo_successor next = mshr->successor[denovo_index(mask)];
        struct denovo_message forward =
            denovo_letter(unit, DENOVO_MSG_FORWARD_REGISTER, mshr->line, next.map, 0);
        for (uint64_t rest = mask; rest; rest &= rest - 1) {
            struct denovo_successor other = mshr->successor[denovo_index(rest)];
            if (other.unit == next.unit && other.map == next.map && other.with_data == next.with_data)
                forward.mask |= denovo_lowest(rest);
        }
        forward.requester = next.unit;
        forward.owner_map = mshr->map;
        forward.with_data = next.with_data;
        mask &= ~forward.mask;
        denovo_forward_register(unit, &forward, now);
    }
}

static void registered(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, message->map);
    assert(mshr && (message->mask & ~(mshr->pending | mshr->waiting)) == 0);
    uint64_t install = apply(unit, mshr, message->mask, DENOVO_ON_ACKNOWLEDGED, true);
    uint64_t queued = rule(unit, DENOVO_RULE_SERVE_QUEUE) ? mshr->queued & message->mask : 0;
    uint64_t revoked = rule(unit, DENOVO_RULE_SERVE_REVOKE) ? mshr->revoked & message->mask : 0;
    mshr->queued &= ~message->mask;
    mshr->revoked &= ~message->mask;
    keep(unit, message, install, DENOVO_REGISTERED, now);
    unit->ops->acknowledged(unit->holder, message->line, message->map, message->mask,
                            message->with_data ? message->value : NULL, now);
    serve_queue(unit, mshr, queued, now);
    if (revoked) {
        struct denovo_message revoke =
            denovo_letter(unit, DENOVO_MSG_REVOKE, message->line, message->map, revoked);
        revoke.owner_map = message->map;
        denovo_revoke(unit, &revoke, now);
    }
    denovo_mshr_tidy(unit, mshr);
}

/* WBAck of words in one entry of the buffer. */
static void buffer_answered(struct denovo_unit *unit, struct denovo_buffer *buffer, uint64_t mask,
                            enum denovo_event event, uint64_t now)
{
    const uint64_t in[3] = {mask & buffer->words & ~buffer->taken & ~buffer->stale, mask & buffer->taken,
                            mask & buffer->stale};
    uint64_t freed = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct denovo_row row = unit->rules->unit[DENOVO_WORD_BUFFERED + i][event];
        if (!in[i])
            continue;
        assert(row.next != DENOVO_WORD_INVALID || row.action != DENOVO_DO_NEVER);
        if (row.next == DENOVO_WORD_STALE)
            buffer->stale |= in[i];
        else if (row.next == DENOVO_WORD_INVALID)
            freed |= in[i];
    }
    if (freed)
        denovo_unbuffer(unit, buffer, freed, now);
}

static void written_back(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    struct denovo_buffer *buffers = denovo_buffers(unit);
    for (unsigned i = 0; i < unit->config.write_backs; i++) {
        if (!buffers[i].words || buffers[i].line != message->line)
            continue;
        uint64_t accepted = message->mask & buffers[i].words, stale = message->stale & buffers[i].words;
        buffer_answered(unit, &buffers[i], accepted, DENOVO_ON_ACCEPTED, now);
        buffer_answered(unit, &buffers[i], stale, DENOVO_ON_NOT_ACCEPTED, now);
    }
}

static void remapped(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, message->map);
    (void)now;
    assert(mshr && ((message->mask | message->stale) & ~mshr->moving) == 0);
    apply(unit, mshr, message->mask, DENOVO_ON_REMAPPED, false);
    apply(unit, mshr, message->stale, DENOVO_ON_NOT_REMAPPED, false);
    denovo_mshr_tidy(unit, mshr);
}

static void operated(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    struct denovo_mshr *mshr = denovo_mshr_find(unit, message->line, message->map);
    assert(mshr && mshr->atomics > 0);
    unit->unsettled--;
    if (--mshr->atomics == 0)
        mshr->atomic = 0;
    unit->freed = true;
    denovo_mshr_tidy(unit, mshr);
    unit->ops->operated(unit->holder, message, now);
}

void denovo_receive(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now)
{
    switch (message->kind) {
    case DENOVO_MSG_FORWARD_READ: denovo_forward_read(unit, message, now); break;
    case DENOVO_MSG_FORWARD_REGISTER: denovo_forward_register(unit, message, now); break;
    case DENOVO_MSG_REVOKE: denovo_revoke(unit, message, now); break;
    case DENOVO_MSG_READ_ANSWER: read_answered(unit, message, now); break;
    case DENOVO_MSG_READ_REFUSED: read_refused(unit, message, now); break;
    case DENOVO_MSG_REGISTERED: registered(unit, message, now); break;
    case DENOVO_MSG_WRITTEN_BACK: written_back(unit, message, now); break;
    case DENOVO_MSG_REMAPPED: remapped(unit, message, now); break;
    case DENOVO_MSG_ATOMIC_DONE: operated(unit, message, now); break;
    default: assert(!"a message that units do not get"); break;
    }
    end_step(unit, now);
}
