#include "emu/mem/protocol.h"

#include <string.h>

static const char *const event_names[] = {
#define X(name, text) text,
    PROTOCOL_EVENT_ROWS(X)
#undef X
};
static const char *const action_names[] = {
#define X(name, text) text,
    PROTOCOL_ACTION_ROWS(X)
#undef X
};
static const char *const request_names[] = {
#define X(name, text) text,
    PROTOCOL_REQUEST_ROWS(X)
#undef X
};
static const char *const standing_names[] = {
#define X(name, text) text,
    PROTOCOL_STANDING_ROWS(X)
#undef X
};
static const char *const reply_names[] = {
#define X(name, text) text,
    PROTOCOL_REPLY_ROWS(X)
#undef X
};

#define SIZE(array) (sizeof(array) / sizeof *(array))

/* A protocol under check. */
struct subject {
    const struct protocol *protocol;
    struct error *err;
    const struct protocol_state *states[PROTOCOL_STATES]; /* by number; NULL: no such state */
    const struct protocol_cache_row *cache[PROTOCOL_STATES][PROTOCOL_EVENTS];
    const struct protocol_directory_row *directory[PROTOCOL_REQUESTS][PROTOCOL_STANDINGS];
    bool used[PROTOCOL_EVENTS]; /* has cache rows */
};

static const char *state_name(const struct subject *s, unsigned state)
{
    return s->states[state] ? s->states[state]->name : "?";
}

static bool bad_states(const struct subject *s, const char *name, const char *what)
{
    return error_set(s->err, "protocol %s: state %s: %s", s->protocol->name, name, what);
}

static bool bad_cache(const struct subject *s, unsigned state, enum protocol_event event, const char *what)
{
    return error_set(s->err, "protocol %s: cache row (%s, %s): %s", s->protocol->name, state_name(s, state),
                     event_names[event], what);
}

static bool bad_directory(const struct subject *s, enum protocol_request request,
                          enum protocol_standing standing, const char *what)
{
    return error_set(s->err, "protocol %s: directory row (%s, %s): %s", s->protocol->name,
                     request_names[request], standing_names[standing], what);
}

static bool has(const struct subject *s, unsigned state, unsigned property)
{
    return s->states[state] && s->states[state]->properties & property;
}

static bool enter_states(struct subject *s)
{
    const struct protocol *protocol = s->protocol;
    for (size_t i = 0; i < protocol->state_count; i++) {
        const struct protocol_state *state = &protocol->states[i];
        if (state->number >= PROTOCOL_STATES)
            return bad_states(s, state->name, "its number is above 3");
        if (s->states[state->number])
            return bad_states(s, state->name, "another state has its number");
        s->states[state->number] = state;
        bool readable = state->properties & PROTOCOL_READABLE;
        if (state->number == PROTOCOL_ABSENT ? state->properties != 0 : !readable)
            return bad_states(s, state->name,
                              "state 0 must have no properties; all other states must be readable");
        if (state->properties & PROTOCOL_DIRTY &&
            (state->number != PROTOCOL_CHANGED || !(state->properties & PROTOCOL_WRITABLE)))
            return bad_states(s, state->name, "a dirty state must be writable and have number 3");
    }
    if (!s->states[PROTOCOL_ABSENT])
        return error_set(s->err, "protocol %s: no state has number 0", protocol->name);
    return true;
}

static bool enter_cache_rows(struct subject *s)
{
    for (size_t i = 0; i < s->protocol->cache_count; i++) {
        const struct protocol_cache_row *row = &s->protocol->cache[i];
        if (row->state >= PROTOCOL_STATES || !s->states[row->state] || row->next >= PROTOCOL_STATES ||
            !s->states[row->next] || row->event >= PROTOCOL_EVENTS || row->action >= SIZE(action_names))
            return error_set(s->err, "protocol %s: cache row %zu: a column is out of range",
                             s->protocol->name, i);
        if (s->cache[row->state][row->event])
            return bad_cache(s, row->state, row->event, "the row occurs twice");
        s->cache[row->state][row->event] = row;
        s->used[row->event] = true;
    }
    static const enum protocol_event always[] = {PROTOCOL_LOAD,  PROTOCOL_STORE, PROTOCOL_FILL_OWNED,
                                                 PROTOCOL_EVICT, PROTOCOL_CLEAN, PROTOCOL_INVALIDATE};
    for (size_t i = 0; i < SIZE(always); i++)
        s->used[always[i]] = true;
    for (unsigned state = 0; state < PROTOCOL_STATES; state++)
        for (enum protocol_event event = 0; event < PROTOCOL_EVENTS; event++)
            if (s->states[state] && s->used[event] && !s->cache[state][event])
                return bad_cache(s, state, event, "the row is missing");
    return true;
}

/* Returns whether the event can have the action. */
static bool is_allowed(enum protocol_event event, enum protocol_action action)
{
    static const unsigned allowed[PROTOCOL_EVENTS] = {
        [PROTOCOL_LOAD] = 1u << PROTOCOL_DO_HIT | 1u << PROTOCOL_DO_MISS,
        [PROTOCOL_STORE] = 1u << PROTOCOL_DO_HIT | 1u << PROTOCOL_DO_THROUGH | 1u << PROTOCOL_DO_MISS |
                           1u << PROTOCOL_DO_UPGRADE,
        [PROTOCOL_FILL] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_NEVER,
        [PROTOCOL_FILL_OWNED] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_NEVER,
        [PROTOCOL_PROBE_READ] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_ANSWER,
        [PROTOCOL_PROBE_SHARE] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_ANSWER,
        [PROTOCOL_PROBE_TAKE] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_ANSWER,
        [PROTOCOL_EVICT] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_WRITE_BACK,
        [PROTOCOL_CLEAN] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_WRITE_BACK,
        [PROTOCOL_INVALIDATE] = 1u << PROTOCOL_DO_NOTHING | 1u << PROTOCOL_DO_DROP,
        [PROTOCOL_ACQUIRE] = 1u << PROTOCOL_DO_NOTHING,
    };
    return allowed[event] >> action & 1;
}

/* Checks the row of a load or store: whether it hits, and its next state. */
static bool check_access(const struct subject *s, const struct protocol_cache_row *row)
{
    bool here = row->action == PROTOCOL_DO_HIT || row->action == PROTOCOL_DO_THROUGH;
    unsigned property = row->event == PROTOCOL_LOAD ? PROTOCOL_READABLE : PROTOCOL_WRITABLE;
    if (here != has(s, row->state, property))
        return bad_cache(s, row->state, row->event,
                         "it must hit exactly if the state is readable (load) or writable (store)");
    if (row->action == PROTOCOL_DO_UPGRADE && row->state == PROTOCOL_ABSENT &&
        s->protocol->grain == PROTOCOL_LINE)
        return bad_cache(s, row->state, row->event, "without a copy, the line must be requested with data");
    if (row->next != row->state && (row->event == PROTOCOL_LOAD || row->action != PROTOCOL_DO_HIT))
        return bad_cache(s, row->state, row->event, "it must not change the state");
    if (row->event == PROTOCOL_STORE && row->action == PROTOCOL_DO_HIT &&
        !(row->next == PROTOCOL_CHANGED && has(s, row->next, PROTOCOL_DIRTY)))
        return bad_cache(s, row->state, row->event, "the next state must be dirty");
    if (row->event == PROTOCOL_STORE && row->action == PROTOCOL_DO_THROUGH && row->next == PROTOCOL_CHANGED)
        return bad_cache(s, row->state, row->event, "a store in state 3 must not be written through");
    return true;
}

/* Checks the next state of the row of another event. */
static bool check_next(const struct subject *s, const struct protocol_cache_row *row)
{
    bool must_go = row->event == PROTOCOL_PROBE_TAKE || row->event == PROTOCOL_EVICT ||
                   row->event == PROTOCOL_INVALIDATE;
    bool fills = row->event == PROTOCOL_FILL || row->event == PROTOCOL_FILL_OWNED;
    if (must_go && row->next != PROTOCOL_ABSENT)
        return bad_cache(s, row->state, row->event, "the next state must be state 0");
    if (!fills && row->state == PROTOCOL_ABSENT && row->next != PROTOCOL_ABSENT)
        return bad_cache(s, row->state, row->event, "only a fill may bring a copy");
    if (row->event == PROTOCOL_PROBE_SHARE && has(s, row->next, PROTOCOL_WRITABLE))
        return bad_cache(s, row->state, row->event, "the next state must not be writable");
    if (fills && !has(s, row->next, PROTOCOL_READABLE))
        return bad_cache(s, row->state, row->event, "the next state must be readable");
    if (row->event == PROTOCOL_FILL_OWNED && !has(s, row->next, PROTOCOL_WRITABLE))
        return bad_cache(s, row->state, row->event, "the next state must be writable");
    return true;
}

/* Checks that the newest version is moved if the copy that has it does not stay dirty. */
static bool check_data(const struct subject *s, const struct protocol_cache_row *row)
{
    bool dirty = has(s, row->state, PROTOCOL_DIRTY), stays = has(s, row->next, PROTOCOL_DIRTY);
    bool moves = row->action == PROTOCOL_DO_WRITE_BACK || row->action == PROTOCOL_DO_ANSWER ||
                 row->action == PROTOCOL_DO_DROP;
    bool probe = row->event == PROTOCOL_PROBE_READ || row->event == PROTOCOL_PROBE_SHARE ||
                 row->event == PROTOCOL_PROBE_TAKE;
    if (moves && !dirty)
        return bad_cache(s, row->state, row->event, "only a dirty copy has a newer version");
    if (dirty && !stays && !moves)
        return bad_cache(s, row->state, row->event, "the newest version is lost");
    if (dirty && probe && row->action != PROTOCOL_DO_ANSWER)
        return bad_cache(s, row->state, row->event, "a dirty copy must answer");
    if (dirty && row->event == PROTOCOL_CLEAN && stays)
        return bad_cache(s, row->state, row->event, "the copy must become clean");
    if (!dirty && stays && row->event != PROTOCOL_STORE && row->event != PROTOCOL_FILL_OWNED)
        return bad_cache(s, row->state, row->event, "only a store may make a copy dirty");
    return true;
}

static bool check_cache_rows(const struct subject *s)
{
    for (size_t i = 0; i < s->protocol->cache_count; i++) {
        const struct protocol_cache_row *row = &s->protocol->cache[i];
        if (!is_allowed(row->event, row->action))
            return error_set(s->err, "protocol %s: cache row (%s, %s): %s is not an action of this event",
                             s->protocol->name, state_name(s, row->state), event_names[row->event],
                             action_names[row->action]);
        if (row->action == PROTOCOL_DO_NEVER) {
            if (row->next != row->state)
                return bad_cache(s, row->state, row->event, "a row with `never` must not change the state");
            continue;
        }
        bool access = row->event == PROTOCOL_LOAD || row->event == PROTOCOL_STORE;
        if (!(access ? check_access(s, row) : check_next(s, row)) || !check_data(s, row))
            return false;
    }
    return true;
}

static bool check_reachable_states(const struct subject *s)
{
    unsigned reached = 1u << PROTOCOL_ABSENT, before = 0;
    while (reached != before) {
        before = reached;
        for (size_t i = 0; i < s->protocol->cache_count; i++) {
            const struct protocol_cache_row *row = &s->protocol->cache[i];
            if (reached >> row->state & 1)
                reached |= 1u << row->next;
        }
    }
    for (unsigned state = 0; state < PROTOCOL_STATES; state++)
        if (s->states[state] && !(reached >> state & 1))
            return bad_states(s, s->states[state]->name, "no row leads to it");
    return true;
}

/* The record of the other clients in a standing. */
enum others { NO_OTHERS, OTHERS_SHARE, OTHER_OWNS };

static enum others others_of(enum protocol_standing standing)
{
    static const enum others of[PROTOCOL_STANDINGS] = {
        [PROTOCOL_NOBODY] = NO_OTHERS,         [PROTOCOL_SHARED_SELF] = NO_OTHERS,
        [PROTOCOL_SHARED_BOTH] = OTHERS_SHARE, [PROTOCOL_SHARED_OTHERS] = OTHERS_SHARE,
        [PROTOCOL_OWNED_SELF] = NO_OTHERS,     [PROTOCOL_OWNED_OTHER] = OTHER_OWNS,
    };
    return of[standing];
}

static enum others after_probe(enum others others, enum protocol_event probe)
{
    if (probe == PROTOCOL_PROBE_TAKE)
        return NO_OTHERS;
    return probe == PROTOCOL_PROBE_SHARE && others == OTHER_OWNS ? OTHERS_SHARE : others;
}

static bool is_recall(enum protocol_request request)
{
    return request == PROTOCOL_RECALL || request == PROTOCOL_RECALL_CLEAN;
}

static bool is_put(enum protocol_request request)
{
    return request == PROTOCOL_PUT_LINE || request == PROTOCOL_PUT_KEEP;
}

static bool concerns_self(enum protocol_standing standing)
{
    return standing == PROTOCOL_SHARED_SELF || standing == PROTOCOL_SHARED_BOTH ||
           standing == PROTOCOL_OWNED_SELF;
}

static bool enter_directory_rows(struct subject *s)
{
    for (size_t i = 0; i < s->protocol->directory_count; i++) {
        const struct protocol_directory_row *row = &s->protocol->directory[i];
        if (row->request >= PROTOCOL_REQUESTS || row->standing >= PROTOCOL_STANDINGS ||
            row->next >= PROTOCOL_STANDINGS || row->probe > PROTOCOL_NO_PROBE ||
            row->reply >= SIZE(reply_names))
            return error_set(s->err, "protocol %s: directory row %zu: a column is out of range",
                             s->protocol->name, i);
        if (s->directory[row->request][row->standing])
            return bad_directory(s, row->request, row->standing, "the row occurs twice");
        s->directory[row->request][row->standing] = row;
    }
    return true;
}

/* Returns the set of standings, from any client's point of view, of a unit with this record. */
static unsigned seen_by_anybody(enum others others, bool self, bool owner)
{
    unsigned shared = 1u << PROTOCOL_SHARED_SELF | 1u << PROTOCOL_SHARED_BOTH | 1u << PROTOCOL_SHARED_OTHERS;
    if (others == OTHER_OWNS || owner)
        return 1u << PROTOCOL_OWNED_SELF | 1u << PROTOCOL_OWNED_OTHER;
    return others == OTHERS_SHARE || self ? shared : 1u << PROTOCOL_NOBODY;
}

static unsigned reachable_standings(const struct subject *s)
{
    unsigned reached = 1u << PROTOCOL_NOBODY, before = 0;
    while (reached != before) {
        before = reached;
        for (size_t i = 0; i < s->protocol->directory_count; i++) {
            const struct protocol_directory_row *row = &s->protocol->directory[i];
            if (!(reached >> row->standing & 1))
                continue;
            reached |= seen_by_anybody(after_probe(others_of(row->standing), row->probe),
                                       concerns_self(row->standing), row->standing == PROTOCOL_OWNED_SELF);
            reached |= seen_by_anybody(others_of(row->next), concerns_self(row->next),
                                       row->next == PROTOCOL_OWNED_SELF);
        }
    }
    return reached;
}

static bool check_directory_total(const struct subject *s)
{
    unsigned reached = reachable_standings(s);
    for (enum protocol_request request = 0; request < PROTOCOL_REQUESTS; request++)
        for (enum protocol_standing standing = 0; standing < PROTOCOL_STANDINGS; standing++) {
            bool wanted = reached >> standing & 1 && !(is_recall(request) && concerns_self(standing));
            if (wanted && !s->directory[request][standing])
                return bad_directory(s, request, standing, "the row is missing");
            if (!wanted && s->directory[request][standing])
                return bad_directory(s, request, standing, "the standing cannot occur");
        }
    return true;
}

/* Checks which clients a row probes, and the record of others that it leaves. */
static bool check_probe(const struct subject *s, const struct protocol_directory_row *row)
{
    enum others others = others_of(row->standing);
    bool asks_owner = row->probe == PROTOCOL_PROBE_READ || row->probe == PROTOCOL_PROBE_SHARE;
    if (!asks_owner && row->probe != PROTOCOL_PROBE_TAKE && row->probe != PROTOCOL_NO_PROBE)
        return bad_directory(s, row->request, row->standing, "its probe is not a probe event");
    if (row->probe != PROTOCOL_NO_PROBE && !s->used[row->probe])
        return bad_directory(s, row->request, row->standing, "no cache row answers its probe");
    if (others == NO_OTHERS ? row->probe != PROTOCOL_NO_PROBE : asks_owner && others != OTHER_OWNS)
        return bad_directory(s, row->request, row->standing, "there is no client to probe");
    if (others == OTHER_OWNS && row->probe == PROTOCOL_NO_PROBE && !is_put(row->request))
        return bad_directory(s, row->request, row->standing, "the owner must be probed");
    if (after_probe(others, row->probe) != others_of(row->next))
        return bad_directory(s, row->request, row->standing,
                             "only probes may change the record of other clients");
    return true;
}

static bool check_reply(const struct subject *s, const struct protocol_directory_row *row)
{
    enum protocol_event fill = row->reply == PROTOCOL_REPLY_READ ? PROTOCOL_FILL : PROTOCOL_FILL_OWNED;
    bool gets = row->request <= PROTOCOL_GET_OWNED;
    bool fills = row->reply == PROTOCOL_REPLY_READ || row->reply == PROTOCOL_REPLY_OWNED;
    bool stale = is_put(row->request) && row->standing != PROTOCOL_OWNED_SELF;
    if (gets != fills || (!gets && (row->reply == PROTOCOL_REPLY_STALE) != stale) ||
        (row->request == PROTOCOL_GET_OWNED && row->reply != PROTOCOL_REPLY_OWNED))
        return error_set(s->err, "protocol %s: directory row (%s, %s): %s is not a reply to this request",
                         s->protocol->name, request_names[row->request], standing_names[row->standing],
                         reply_names[row->reply]);
    if (fills && !s->used[fill])
        return bad_directory(s, row->request, row->standing, "no cache row accepts its reply");
    if ((row->reply == PROTOCOL_REPLY_OWNED) > (row->next == PROTOCOL_OWNED_SELF))
        return bad_directory(s, row->request, row->standing, "a client that may write must become the owner");
    if (row->reply == PROTOCOL_REPLY_STALE && row->next != row->standing)
        return bad_directory(s, row->request, row->standing, "a stale request must not change the record");
    if (is_put(row->request) && row->reply == PROTOCOL_REPLY_DONE && row->next == PROTOCOL_OWNED_SELF)
        return bad_directory(s, row->request, row->standing,
                             "a client that has written back must not be the owner");
    if (is_recall(row->request) && concerns_self(row->next))
        return bad_directory(s, row->request, row->standing, "the directory itself must not get a copy");
    if (row->request == PROTOCOL_RECALL && row->next != PROTOCOL_NOBODY)
        return bad_directory(s, row->request, row->standing, "a copy remains");
    return true;
}

bool protocol_check(const struct protocol *protocol, struct error *err)
{
    struct subject s = {.protocol = protocol, .err = err};
    if (!enter_states(&s) || !enter_cache_rows(&s) || !check_cache_rows(&s) || !check_reachable_states(&s))
        return false;
    if (!protocol->directory_count)
        return true;
    if (!enter_directory_rows(&s) || !check_directory_total(&s))
        return false;
    for (size_t i = 0; i < protocol->directory_count; i++) {
        const struct protocol_directory_row *row = &protocol->directory[i];
        if (row->reply == PROTOCOL_REPLY_NEVER) {
            if (row->probe != PROTOCOL_NO_PROBE || row->next != row->standing)
                return bad_directory(&s, row->request, row->standing,
                                     "a row with `never` must not change the state");
        } else if (!check_probe(&s, row) || !check_reply(&s, row)) {
            return false;
        }
    }
    return true;
}

void protocol_compile(const struct protocol *protocol, struct protocol_rules *rules)
{
    memset(rules, 0, sizeof *rules);
    for (unsigned state = 0; state < PROTOCOL_STATES; state++)
        for (unsigned event = 0; event < PROTOCOL_EVENTS; event++)
            rules->cache[state][event].action = PROTOCOL_DO_NEVER;
    for (unsigned request = 0; request < PROTOCOL_REQUESTS; request++)
        for (unsigned standing = 0; standing < PROTOCOL_STANDINGS; standing++)
            rules->directory[request][standing].reply = PROTOCOL_REPLY_NEVER;
    for (size_t i = 0; i < protocol->state_count; i++)
        rules->properties[protocol->states[i].number] = (uint8_t)protocol->states[i].properties;
    for (size_t i = 0; i < protocol->cache_count; i++) {
        const struct protocol_cache_row *row = &protocol->cache[i];
        rules->cache[row->state][row->event] =
            (struct protocol_step){(uint8_t)row->next, (uint8_t)row->action};
    }
    for (size_t i = 0; i < protocol->directory_count; i++) {
        const struct protocol_directory_row *row = &protocol->directory[i];
        rules->directory[row->request][row->standing] =
            (struct protocol_turn){(uint8_t)row->probe, (uint8_t)row->reply, (uint8_t)row->next};
    }
}
