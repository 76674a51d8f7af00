/* The registry: requests, write-backs, eviction and memory. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/denovo/state.h"
#include "emu/sim/alloc.h"

size_t denovo_registry_size(const struct denovo_registry *registry)
{
    return sizeof *registry + registry->config.held * sizeof(struct denovo_held);
}

struct denovo_registry *denovo_registry_new(const struct denovo_registry_config *config,
                                            const struct denovo_home_ops *ops, void *home,
                                            struct denovo_post post)
{
    assert(config->held > 0 && config->words > 0 && config->words <= DENOVO_WORDS);
    struct denovo_registry sized = {.config = *config};
    struct denovo_registry *registry = alloc(1, denovo_registry_size(&sized));
    registry->config = *config;
    registry->rules = config->rules ? config->rules : &denovo_protocol;
    registry->ops = ops;
    registry->home = home;
    registry->post = post;
    for (uint16_t i = 0; i < config->held; i++)
        denovo_held(registry)[i].next = i + 1 < config->held ? (uint16_t)(i + 1) : DENOVO_NOBODY;
    return registry;
}

void denovo_registry_free(struct denovo_registry *registry)
{
    free(registry);
}

bool denovo_registry_idle(const struct denovo_registry *registry)
{
    return registry->held == 0;
}

/* The words of a message by their standing. */
struct view {
    uint64_t in[DENOVO_STANDING_COUNT];
};

/* held: whether HELD is a standing for this event, or only OWN and OTHER are. */
static void look(const struct denovo_line *line, uint64_t mask, uint16_t from, bool held, struct view *view)
{
    memset(view, 0, sizeof *view);
    if (!line) {
        view->in[DENOVO_IS_ABSENT] = mask;
        return;
    }
    if (held) {
        uint64_t words = line->evicting ? mask : mask & line->revoked;
        view->in[DENOVO_IS_HELD] = words;
        mask &= ~words;
    }
    view->in[DENOVO_IS_MISSING] = mask & line->missing;
    view->in[DENOVO_IS_VALID] = mask & ~line->missing & ~line->registered;
    for (mask &= line->registered; mask; mask &= mask - 1) {
        bool own = line->owner[denovo_index(mask)].unit == from;
        view->in[own ? DENOVO_IS_OWN : DENOVO_IS_OTHER] |= denovo_lowest(mask);
    }
}

/* The words of a view by the action of an event. */
struct plan {
    uint64_t let[DENOVO_REGISTRY_ACTION_COUNT];
};

static void choose(const struct denovo_registry *registry, const struct view *view,
                   enum denovo_registry_event event, struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    for (unsigned standing = 0; standing < DENOVO_STANDING_COUNT; standing++) {
        unsigned action = registry->rules->registry[standing][event].action;
        assert(action != DENOVO_LET_NEVER || !view->in[standing]);
        plan->let[action] |= view->in[standing];
    }
}

/* Moves words to the next standing. The message's sender becomes the registrant of those that are OWN
 * then. */
static void move(const struct denovo_registry *registry, struct denovo_line *line, const struct view *view,
                 enum denovo_registry_event event, const struct denovo_message *message)
{
    for (unsigned standing = 0; standing < DENOVO_STANDING_COUNT; standing++) {
        struct denovo_row row = registry->rules->registry[standing][event];
        uint64_t words = view->in[standing];
        if (row.next == DENOVO_IS_VALID) {
            line->registered &= ~words;
            line->missing &= ~words;
            line->revoked &= ~words;
        } else if (row.next == DENOVO_IS_HELD && row.action == DENOVO_LET_REVOKE) {
            line->revoked |= words;
        } else if (row.next == DENOVO_IS_OWN && row.action != DENOVO_LET_REVOKE && event != DENOVO_AT_READ) {
            line->registered |= words;
            line->missing &= ~words;
            assert(message || !words); /* only messages register words */
            for (; words; words &= words - 1)
                line->owner[denovo_index(words)] = (struct denovo_owner){message->requester, message->map};
        }
    }
}

static void send(const struct denovo_registry *registry, const struct denovo_message *message, uint64_t now)
{
    registry->post.send(registry->post.context, message, now);
}

static struct denovo_message letter(enum denovo_kind kind, uint64_t line, uint64_t mask, uint16_t to,
                                    unsigned map)
{
    struct denovo_message message = {.kind = (uint8_t)kind,
                                     .map = (uint8_t)map,
                                     .from = DENOVO_REGISTRY,
                                     .to = to,
                                     .requester = to,
                                     .line = line,
                                     .mask = mask};
    return message;
}

/* Sends a message like this one to each registrant of the words in mask. */
static void forward(const struct denovo_registry *registry, const struct denovo_line *line, uint64_t mask,
                    struct denovo_message message, uint64_t now)
{
    while (mask) {
        struct denovo_owner owner = line->owner[denovo_index(mask)];
        message.mask = 0;
        for (uint64_t rest = mask; rest; rest &= rest - 1) {
            const struct denovo_owner *other = &line->owner[denovo_index(rest)];
            if (other->unit == owner.unit && other->map == owner.map)
                message.mask |= denovo_lowest(rest);
        }
        message.to = owner.unit;
        message.owner_map = owner.map;
        mask &= ~message.mask;
        send(registry, &message, now);
    }
}

static void revoke(const struct denovo_registry *registry, const struct denovo_line *line, uint64_t mask,
                   uint64_t now)
{
    forward(registry, line, mask, letter(DENOVO_MSG_REVOKE, line->address, 0, DENOVO_REGISTRY, 0), now);
}

static void touch(const struct denovo_registry *registry, struct denovo_line *line, bool store, uint64_t now)
{
    if (registry->ops->touch)
        registry->ops->touch(registry->home, line, store, now);
}

static void read(struct denovo_registry *registry, struct denovo_line *line,
                 const struct denovo_message *message, const struct plan *plan, uint64_t now)
{
    uint64_t here = ~line->registered & ~line->missing;
    if (plan->let[DENOVO_LET_ANSWER]) {
        struct denovo_message answer = letter(DENOVO_MSG_READ_ANSWER, line->address,
                                              plan->let[DENOVO_LET_ANSWER], message->requester, message->map);
        answer.extra = here & message->extra & ~message->mask;
        answer.tag = line->tag;
        denovo_copy_values(answer.value, line->value, answer.mask | answer.extra);
        touch(registry, line, false, now);
        send(registry, &answer, now);
    }
    struct denovo_message passed = *message;
    passed.kind = DENOVO_MSG_FORWARD_READ;
    passed.from = DENOVO_REGISTRY;
    forward(registry, line, plan->let[DENOVO_LET_FORWARD], passed, now);
}

/* Called before the words change their registrant. */
static void enroll(struct denovo_registry *registry, struct denovo_line *line,
                   const struct denovo_message *message, const struct plan *plan, uint64_t now)
{
    if (plan->let[DENOVO_LET_ANSWER]) {
        struct denovo_message answer = letter(DENOVO_MSG_REGISTERED, line->address,
                                              plan->let[DENOVO_LET_ANSWER], message->requester, message->map);
        answer.with_data = message->with_data;
        answer.tag = line->tag;
        denovo_copy_values(answer.value, line->value, answer.mask);
        touch(registry, line, true, now);
        send(registry, &answer, now);
    }
    struct denovo_message passed = *message;
    passed.kind = DENOVO_MSG_FORWARD_REGISTER;
    passed.from = DENOVO_REGISTRY;
    forward(registry, line, plan->let[DENOVO_LET_FORWARD], passed, now);
}

static void remap(const struct denovo_registry *registry, const struct denovo_message *message,
                  const struct plan *plan, uint64_t now)
{
    struct denovo_message answer = letter(DENOVO_MSG_REMAPPED, message->line, plan->let[DENOVO_LET_ANSWER],
                                          message->requester, message->map);
    answer.stale = plan->let[DENOVO_LET_REFUSE];
    if (answer.mask | answer.stale)
        send(registry, &answer, now);
}

static void operate(struct denovo_registry *registry, struct denovo_line *line,
                    const struct denovo_message *message, uint64_t now)
{
    struct denovo_message answer =
        letter(DENOVO_MSG_ATOMIC_DONE, line->address, message->mask, message->requester, message->map);
    answer.tag = message->tag;
    denovo_copy_values(answer.value, line->value, message->mask);
    line->dirty |= !message->with_data;
    touch(registry, line, !message->with_data, now);
    if (registry->ops->operate)
        registry->ops->operate(registry->home, line, message, now);
    send(registry, &answer, now);
}

static enum denovo_registry_event event_of(const struct denovo_message *message)
{
    switch (message->kind) {
    case DENOVO_MSG_READ: return DENOVO_AT_READ;
    case DENOVO_MSG_REGISTER: return message->with_data ? DENOVO_AT_SYNC : DENOVO_AT_REGISTER;
    case DENOVO_MSG_REMAP: return DENOVO_AT_REMAP;
    default: assert(message->kind == DENOVO_MSG_ATOMIC); return DENOVO_AT_ATOMIC;
    }
}

/* An atomic is done when the registry has all its words; until then, none of it is done. */
static uint64_t begin_atomic(struct denovo_registry *registry, struct denovo_line *line,
                             const struct denovo_message *message, const struct plan *plan, uint64_t now)
{
    revoke(registry, line, plan->let[DENOVO_LET_REVOKE], now);
    if (plan->let[DENOVO_LET_ANSWER] != message->mask)
        return message->mask;
    operate(registry, line, message, now);
    return 0;
}

/* Does what the rows say to a request for a line that is here. Returns the words that wait. */
static uint64_t act(struct denovo_registry *registry, struct denovo_line *line,
                    const struct denovo_message *message, const struct view *view, const struct plan *plan,
                    uint64_t now)
{
    enum denovo_registry_event event = event_of(message);
    uint64_t waits = plan->let[DENOVO_LET_HOLD];
    switch (event) {
    case DENOVO_AT_READ: read(registry, line, message, plan, now); break;
    case DENOVO_AT_REGISTER:
    case DENOVO_AT_SYNC: enroll(registry, line, message, plan, now); break;
    case DENOVO_AT_REMAP: remap(registry, message, plan, now); break;
    default: waits = begin_atomic(registry, line, message, plan, now); break;
    }
    move(registry, line, view, event, message);
    return waits;
}

/* Makes the record of a line for a request. NULL: there is no place. */
static struct denovo_line *make(struct denovo_registry *registry, const struct denovo_message *message,
                                uint64_t now)
{
    struct denovo_line *line = registry->ops->make(registry->home, message->line, now);
    if (line)
        line->missing = ~UINT64_C(0) >> (64 - registry->config.words);
    return line;
}

static bool request(struct denovo_registry *registry, const struct denovo_message *message, uint64_t now)
{
    struct denovo_line *line = registry->ops->find(registry->home, message->line);
    enum denovo_registry_event event = event_of(message);
    bool full = registry->held == registry->config.held;
    struct view view;
    struct plan plan;
    look(line, message->mask, message->requester, true, &view);
    choose(registry, &view, event, &plan);
    if (full && plan.let[DENOVO_LET_HOLD] | plan.let[DENOVO_LET_REVOKE] | plan.let[DENOVO_LET_FETCH]) {
        registry->refused = true;
        return false;
    }
    if (plan.let[DENOVO_LET_FETCH]) {
        line = make(registry, message, now);
        if (!line) {
            denovo_hold(registry, message, message->mask, NULL);
            return true;
        }
        look(line, message->mask, message->requester, true, &view);
        choose(registry, &view, event, &plan);
    }
    if (!line) {
        remap(registry, message, &plan, now);
        return true;
    }
    uint64_t waits = act(registry, line, message, &view, &plan, now);
    if (waits)
        denovo_hold(registry, message, waits, line);
    if (line->missing && !line->fetching) {
        line->fetching = true;
        registry->ops->fetch(registry->home, line, now);
    }
    return true;
}

/* Tries all requests again that wait for a line, or for a place. */
static void retry(struct denovo_registry *registry, uint64_t address, bool without_place, uint64_t now)
{
    struct denovo_message message;
    for (unsigned left = registry->held; left; left--)
        if (denovo_unhold(registry, address, without_place, &message)) {
            bool accepted = request(registry, &message, now);
            assert(accepted);
            (void)accepted;
        }
}

void denovo_registry_retry(struct denovo_registry *registry, uint64_t now)
{
    if (registry->placeless)
        retry(registry, 0, true, now);
    if (registry->refused && registry->held < registry->config.held) {
        registry->refused = false;
        registry->ops->room(registry->home, now);
    }
}

/* A line's words have come: goes on with what waits for them. */
static void go_on(struct denovo_registry *registry, struct denovo_line *line, uint64_t now)
{
    if (line->evicting && !line->registered) {
        denovo_displace(registry, line);
        registry->ops->evicted(registry->home, line, now);
    } else if (line->held) {
        retry(registry, line->address, false, now);
    }
    denovo_registry_retry(registry, now);
}

static void write_back(struct denovo_registry *registry, const struct denovo_message *message, uint64_t now)
{
    struct denovo_line *line = registry->ops->find(registry->home, message->line);
    struct denovo_message answer =
        letter(DENOVO_MSG_WRITTEN_BACK, message->line, 0, message->from, message->map);
    struct view view;
    struct plan plan;
    look(line, message->mask, message->from, false, &view);
    choose(registry, &view, DENOVO_AT_WRITE_BACK, &plan);
    answer.mask = plan.let[DENOVO_LET_ANSWER];
    answer.stale = message->mask & ~answer.mask;
    send(registry, &answer, now);
    if (!answer.mask)
        return;
    denovo_copy_values(line->value, message->value, answer.mask);
    move(registry, line, &view, DENOVO_AT_WRITE_BACK, message);
    line->dirty = true;
    touch(registry, line, true, now);
    go_on(registry, line, now);
}

/* The registrant had no room for a write-back. Words that it has written back since are not revoked any
 * more. If they are again, from another unit, that one gets the Revoke twice and ignores it. */
static void revoke_again(const struct denovo_registry *registry, const struct denovo_message *message,
                         uint64_t now)
{
    const struct denovo_line *line = registry->ops->find(registry->home, message->line);
    if (line)
        revoke(registry, line, message->mask & line->revoked, now);
}

bool denovo_registry_receive(struct denovo_registry *registry, const struct denovo_message *message,
                             uint64_t now)
{
    switch (message->kind) {
    case DENOVO_MSG_WRITE_BACK: write_back(registry, message, now); return true;
    case DENOVO_MSG_REVOKE_REFUSED: revoke_again(registry, message, now); return true;
    default: return request(registry, message, now);
    }
}

void denovo_fetched(struct denovo_registry *registry, struct denovo_line *line, const uint32_t *value,
                    uint64_t now)
{
    struct view view;
    struct plan plan;
    look(line, ~UINT64_C(0) >> (64 - registry->config.words), DENOVO_REGISTRY, false, &view);
    choose(registry, &view, DENOVO_AT_FETCHED, &plan);
    if (value)
        denovo_copy_values(line->value, value, plan.let[DENOVO_LET_FILL]);
    move(registry, line, &view, DENOVO_AT_FETCHED, NULL);
    line->fetching = false;
    touch(registry, line, true, now);
    go_on(registry, line, now);
}

bool denovo_evict(struct denovo_registry *registry, struct denovo_line *line, uint64_t now)
{
    struct view view;
    struct plan plan;
    if (line->fetching || line->evicting || line->held)
        return false;
    look(line, ~UINT64_C(0) >> (64 - registry->config.words), DENOVO_REGISTRY, false, &view);
    choose(registry, &view, DENOVO_AT_EVICT, &plan);
    line->evicting = true;
    revoke(registry, line, plan.let[DENOVO_LET_REVOKE], now);
    move(registry, line, &view, DENOVO_AT_EVICT, NULL);
    if (!line->registered)
        go_on(registry, line, now);
    return true;
}
