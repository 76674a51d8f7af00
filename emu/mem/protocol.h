/* A coherence protocol as a table.
 *
 * A protocol keeps a state for each unit: a line, or a 32-bit word of a line (its grain). Two sets of rows
 * define what happens to a unit:
 *
 *    cache       (state, event) -> next state, action                in a first-level cache
 *    directory   (request, standing) -> probe, reply, next standing  at the last level
 *
 * A standing is the directory's record of the unit from the point of view of the requesting client: which
 * clients may have a readable copy (sharers) or which one may have changed it (the owner), and whether the
 * client itself is among them. Only probes change the record of other clients. PROBE_TAKE goes to all of them
 * and removes them from the record. PROBE_SHARE goes to the owner and makes it a sharer. Both also take the
 * newest version from a write-back that is under way. PROBE_READ goes to the owner and leaves the record and
 * write-backs unchanged. A client that is not attached is served by the same rows but not recorded.
 *
 * The directory applies a row in two steps: the probes when the request has looked up the tags; the reply and
 * the next standing when the response is sent. The second step uses the row of the standing after the probes.
 *
 * Caches use the table for misses, upgrades, first stores, fills, probes, evictions, maintenance and warming.
 * The inline hit tests of cache.h compare state numbers instead. protocol_check() ensures what these tests
 * need: a load hits in every state except 0 and leaves the state unchanged; a store leaves only state
 * PROTOCOL_CHANGED unchanged.
 *
 * The table contains no times. A directory row with a probe costs probe_clocks more than one without (llc.h).
 *
 * Built-in protocols: emu/mem/protocol/mesi.def and others. Terms: Nagarajan, Sorin, Hill, Wood, "A Primer
 * on Memory Consistency and Cache Coherence", 2nd edition, 2020, chapters 6 to 8. */
#ifndef EMU_MEM_PROTOCOL_H
#define EMU_MEM_PROTOCOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"

enum protocol_grain { PROTOCOL_LINE, PROTOCOL_WORD };

enum {
    PROTOCOL_STATES = 4,  /* numbers 0 to 3, stored in two bits of a tags entry */
    PROTOCOL_ABSENT = 0,  /* number of the state without a copy */
    PROTOCOL_CHANGED = 3, /* number of the state that stores leave unchanged */
};

/* Properties of states. */
enum {
    PROTOCOL_READABLE = 1, /* loads hit */
    PROTOCOL_WRITABLE = 2, /* stores need no permission from the level below */
    PROTOCOL_DIRTY = 4,    /* the copy is newer than that of the last level */
};

/* The events of a copy: X(name, text). */
#define PROTOCOL_EVENT_ROWS(X)                                                                               \
    X(LOAD, "load")               /* the core reads */                                                       \
    X(STORE, "store")             /* the core writes */                                                      \
    X(FILL, "fill")               /* the unit arrives, for reading */                                        \
    X(FILL_OWNED, "fill_owned")   /* the unit or permission arrives; no other cache has a copy */            \
    X(PROBE_READ, "probe_read")   /* the directory wants the newest version */                               \
    X(PROBE_SHARE, "probe_share") /* as probe_read; the copy must no longer be written */                    \
    X(PROBE_TAKE, "probe_take")   /* as probe_read; the copy must be removed */                              \
    X(EVICT, "evict")             /* the copy is replaced, or cleaned and invalidated */                     \
    X(CLEAN, "clean")             /* memory must get the newest version; the copy may stay */                \
    X(INVALIDATE, "invalidate")   /* the copy is removed, and its stores are lost */                         \
    X(ACQUIRE, "acquire")         /* software has synchronized: others' stores must be read anew */

enum protocol_event {
#define X(name, text) PROTOCOL_##name,
    PROTOCOL_EVENT_ROWS(X)
#undef X
        PROTOCOL_EVENTS,
    PROTOCOL_NO_PROBE = PROTOCOL_EVENTS, /* in a directory row */
};

/* The cache's action on an event: X(name, text). */
#define PROTOCOL_ACTION_ROWS(X)                                                                              \
    X(NOTHING, "nothing")                                                                                    \
    X(HIT, "hit")               /* the access is done in the cache */                                        \
    X(THROUGH, "through")       /* as hit, and the store is also sent down */                                \
    X(MISS, "miss")             /* requests the unit from below */                                           \
    X(UPGRADE, "upgrade")       /* requests permission to write, without data */                             \
    X(WRITE_BACK, "write_back") /* the newest version is sent down */                                        \
    X(ANSWER, "answer")         /* the newest version is sent to the probing directory */                    \
    X(DROP, "drop")             /* the newest version is lost */                                             \
    X(NEVER, "never")           /* the event does not happen in this state */

enum protocol_action {
#define X(name, text) PROTOCOL_DO_##name,
    PROTOCOL_ACTION_ROWS(X)
#undef X
};

/* The requests to the directory: X(name, text). The last two are made by the last level itself, which is a
 * client without a copy. */
#define PROTOCOL_REQUEST_ROWS(X)                                                                             \
    X(GET_READ, "get_read")         /* the unit, for reading */                                              \
    X(GET_FETCH, "get_fetch")       /* the unit, for instruction fetches: never written */                   \
    X(GET_OWNED, "get_owned")       /* the unit, or permission, for writing */                               \
    X(PUT_STORE, "put_store")       /* a store to be done at the last level */                               \
    X(PUT_LINE, "put_line")         /* the owner's newest version; it keeps no copy */                       \
    X(PUT_KEEP, "put_keep")         /* the owner's newest version; it keeps a readable copy */               \
    X(RECALL, "recall")             /* the last level evicts the line: all copies must be removed */         \
    X(RECALL_CLEAN, "recall_clean") /* memory must get the newest version; copies may stay */

enum protocol_request {
#define X(name, text) PROTOCOL_##name,
    PROTOCOL_REQUEST_ROWS(X)
#undef X
        PROTOCOL_REQUESTS
};

/* The recorded clients, from the point of view of the requesting one: X(name, text). */
#define PROTOCOL_STANDING_ROWS(X)                                                                            \
    X(NOBODY, "nobody")               /* no client: the last level or memory has the newest version */       \
    X(SHARED_SELF, "shared_self")     /* only the client, as a sharer */                                     \
    X(SHARED_BOTH, "shared_both")     /* the client and others, as sharers */                                \
    X(SHARED_OTHERS, "shared_others") /* other clients, as sharers */                                        \
    X(OWNED_SELF, "owned_self")       /* the client, as the owner */                                         \
    X(OWNED_OTHER, "owned_other")     /* another client, as the owner */

enum protocol_standing {
#define X(name, text) PROTOCOL_##name,
    PROTOCOL_STANDING_ROWS(X)
#undef X
        PROTOCOL_STANDINGS
};

/* The reply to the client: X(name, text). */
#define PROTOCOL_REPLY_ROWS(X)                                                                               \
    X(READ, "read")   /* the client may read: FILL */                                                        \
    X(OWNED, "owned") /* the client may write: FILL_OWNED */                                                 \
    X(DONE, "done")   /* the sent version was accepted, or the recall is complete */                         \
    X(STALE, "stale") /* the sent version is old, and changes nothing */                                     \
    X(NEVER, "never") /* the request does not occur in this standing */

enum protocol_reply {
#define X(name, text) PROTOCOL_REPLY_##name,
    PROTOCOL_REPLY_ROWS(X)
#undef X
};

struct protocol_state {
    const char *name;
    unsigned number; /* below PROTOCOL_STATES */
    unsigned properties;
};

struct protocol_cache_row {
    unsigned state; /* number */
    enum protocol_event event;
    unsigned next;
    enum protocol_action action;
};

struct protocol_directory_row {
    enum protocol_request request;
    enum protocol_standing standing;
    enum protocol_event probe; /* PROTOCOL_PROBE_... or PROTOCOL_NO_PROBE */
    enum protocol_reply reply;
    enum protocol_standing next;
};

/* A protocol. Without directory rows, it is for caches without hardware coherence. An event without rows
 * never happens. */
struct protocol {
    const char *name;
    enum protocol_grain grain;
    size_t state_count, cache_count, directory_count;
    const struct protocol_state *states;
    const struct protocol_cache_row *cache;
    const struct protocol_directory_row *directory;
};

extern const struct protocol protocol_mesi;
/* For caches without coherence: write-back and write-through. */
extern const struct protocol protocol_write_back, protocol_write_through;

/* Checks the tables. On failure, the message names protocol, row and fault. The tables are sound if
 * - each pair of state and event has one row, except events without any row;
 * - each pair of request and standing that can occur has one row, and no other pair has one;
 * - every state and standing can be reached;
 * - only INVALIDATE loses a dirty copy's data, and loads and stores hit in the states with the properties;
 * - state numbers are as the inline hit tests need them;
 * - the directory probes an owner before another client reads or writes, and removes no client unprobed;
 * - the probes and replies of directory rows have cache rows.
 * This does not check coherence as a whole: tests/mem/protocol/test_model.c searches all states for that. */
bool protocol_check(const struct protocol *protocol, struct error *err);

/* The rows by index, for fast access. Pairs without a row have PROTOCOL_DO_NEVER or PROTOCOL_REPLY_NEVER. */
struct protocol_step {
    uint8_t next, action;
};
struct protocol_turn {
    uint8_t probe, reply, next;
};
struct protocol_rules {
    uint8_t properties[PROTOCOL_STATES];
    struct protocol_step cache[PROTOCOL_STATES][PROTOCOL_EVENTS];
    struct protocol_turn directory[PROTOCOL_REQUESTS][PROTOCOL_STANDINGS];
};

/* Sets *rules from a protocol that has passed protocol_check(). */
void protocol_compile(const struct protocol *protocol, struct protocol_rules *rules);

/* Return the step or turn of a pair that has a row. */
static inline struct protocol_step protocol_step(const struct protocol_rules *rules, unsigned state,
                                                 enum protocol_event event)
{
    struct protocol_step step = rules->cache[state][event];
    assert(step.action != PROTOCOL_DO_NEVER);
    return step;
}

static inline struct protocol_turn protocol_turn(const struct protocol_rules *rules,
                                                 enum protocol_request request,
                                                 enum protocol_standing standing)
{
    struct protocol_turn turn = rules->directory[request][standing];
    assert(turn.reply != PROTOCOL_REPLY_NEVER);
    return turn;
}

#endif
