/* A coherence protocol as a table.
 *
 * A protocol keeps a state for each unit: a line, or a 32-bit word of a line (its grain). Two sets of rows
 * say what happens to one unit:
 *
 *   cache       (state, event) -> next state, action                in a first-level cache
 *   directory   (request, standing) -> probe, reply, next standing  at the last level
 *
 * A standing is what the directory has recorded of the unit, seen from the client that makes the request:
 * which clients may have a copy to read (sharers), or which one may have changed it (the owner), and whether
 * the client itself is among them. Only probes change what is recorded of other clients. PROBE_TAKE goes to
 * all of them and removes them from the record. PROBE_SHARE goes to the owner and makes it a sharer. Both
 * also take the newest version out of a write-back that is on its way. PROBE_READ goes to the owner and
 * leaves record and write-backs as they are. A client that is not attached is served by the same rows and not
 * recorded.
 *
 * The directory walks a row twice: when the request reaches the tags, for the probes; and when the response
 * leaves, for the reply and the next standing. At the second walk the standing is that after the probes.
 *
 * Caches walk the table on misses, upgrades, first stores, fills, probes, evictions, maintenance and warming.
 * The inline hit tests of cache.h compare state numbers instead. protocol_check() guarantees what they rely
 * on: a load hits in every state but 0 and leaves it as it is; a store leaves state PROTOCOL_CHANGED, and no
 * other, as it is.
 *
 * The table has no times. A directory row that probes costs probe_clocks more than one that does not (llc.h).
 *
 * Shipped protocols are in emu/mem/protocols. Terms follow Nagarajan, Sorin, Hill, Wood, "A Primer on Memory
 * Consistency and Cache Coherence", 2nd edition, 2020, chapters 6 to 8.
 */
#ifndef EMU_MEM_PROTOCOL_H
#define EMU_MEM_PROTOCOL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"

enum protocol_grain { PROTOCOL_LINE, PROTOCOL_WORD };

enum {
    PROTOCOL_STATES = 4,  /* numbers 0 to 3: two bits of an entry of the tags */
    PROTOCOL_ABSENT = 0,  /* the number of the state without a copy */
    PROTOCOL_CHANGED = 3, /* the number of the state that stores leave as it is */
};

/* Properties of states. */
enum {
    PROTOCOL_READABLE = 1, /* loads hit */
    PROTOCOL_WRITABLE = 2, /* stores ask nothing of the level below first */
    PROTOCOL_DIRTY = 4,    /* the copy is newer than the last level's */
};

/* What happens to a copy: X(name, text). */
#define PROTOCOL_EVENT_ROWS(X)                                                                               \
    X(LOAD, "load")               /* the core reads */                                                       \
    X(STORE, "store")             /* the core writes */                                                      \
    X(FILL, "fill")               /* the unit has come, to be read */                                        \
    X(FILL_OWNED, "fill_owned")   /* the unit, or permission, has come; nobody else has a copy */            \
    X(PROBE_READ, "probe_read")   /* the directory asks for the newest version */                            \
    X(PROBE_SHARE, "probe_share") /* likewise, and the copy must not be written from now on */               \
    X(PROBE_TAKE, "probe_take")   /* likewise, and the copy must go */                                       \
    X(EVICT, "evict")             /* the copy makes room for another, or is cleaned and invalidated */       \
    X(CLEAN, "clean")             /* the newest version is to be in memory; the copy may stay */             \
    X(INVALIDATE, "invalidate")   /* the copy goes, and so does what was written to it */                    \
    X(ACQUIRE, "acquire") /* software has synchronized: what others may have written must be read anew */

enum protocol_event {
#define X(name, text) PROTOCOL_##name,
    PROTOCOL_EVENT_ROWS(X)
#undef X
        PROTOCOL_EVENTS,
    PROTOCOL_NO_PROBE = PROTOCOL_EVENTS, /* of a directory row */
};

/* What the cache does about it: X(name, text). */
#define PROTOCOL_ACTION_ROWS(X)                                                                              \
    X(NOTHING, "nothing")                                                                                    \
    X(HIT, "hit")               /* the access is done here */                                                \
    X(THROUGH, "through")       /* likewise, and the store goes down as well */                              \
    X(MISS, "miss")             /* asks below for the unit */                                                \
    X(UPGRADE, "upgrade")       /* asks below for permission to write; no data need come */                  \
    X(WRITE_BACK, "write_back") /* the newest version goes down */                                           \
    X(ANSWER, "answer")         /* the newest version goes to the directory, which has probed */             \
    X(DROP, "drop")             /* the newest version is forgotten */                                        \
    X(NEVER, "never")           /* the event does not happen in this state */

enum protocol_action {
#define X(name, text) PROTOCOL_DO_##name,
    PROTOCOL_ACTION_ROWS(X)
#undef X
};

/* What the directory is asked for: X(name, text). The last two it asks of itself, as a client without a
 * copy. */
#define PROTOCOL_REQUEST_ROWS(X)                                                                             \
    X(GET_READ, "get_read")         /* the unit, to be read */                                               \
    X(GET_FETCH, "get_fetch")       /* the unit, to be read and never written: instructions */               \
    X(GET_OWNED, "get_owned")       /* the unit, or permission, to be written */                             \
    X(PUT_STORE, "put_store")       /* a store that is done here */                                          \
    X(PUT_LINE, "put_line")         /* the owner's newest version comes back, and its copy is gone */        \
    X(PUT_KEEP, "put_keep")         /* likewise, and the sender keeps a copy to read */                      \
    X(RECALL, "recall")             /* the line leaves the last level: all copies must go */                 \
    X(RECALL_CLEAN, "recall_clean") /* memory is to have the newest version; copies may stay */

enum protocol_request {
#define X(name, text) PROTOCOL_##name,
    PROTOCOL_REQUEST_ROWS(X)
#undef X
        PROTOCOL_REQUESTS
};

/* Which clients are recorded, seen from the one that asks: X(name, text). */
#define PROTOCOL_STANDING_ROWS(X)                                                                            \
    X(NOBODY, "nobody")               /* nobody: the newest version is at the last level or in memory */     \
    X(SHARED_SELF, "shared_self")     /* the client, and nobody else, as a sharer */                         \
    X(SHARED_BOTH, "shared_both")     /* the client and others, as sharers */                                \
    X(SHARED_OTHERS, "shared_others") /* others, as sharers */                                               \
    X(OWNED_SELF, "owned_self")       /* the client, as the owner */                                         \
    X(OWNED_OTHER, "owned_other")     /* another client, as the owner */

enum protocol_standing {
#define X(name, text) PROTOCOL_##name,
    PROTOCOL_STANDING_ROWS(X)
#undef X
        PROTOCOL_STANDINGS
};

/* What the client is told: X(name, text). */
#define PROTOCOL_REPLY_ROWS(X)                                                                               \
    X(READ, "read")   /* it may read: FILL */                                                                \
    X(OWNED, "owned") /* it may write: FILL_OWNED */                                                         \
    X(DONE, "done")   /* what it sent has been taken, or what was recalled is here */                        \
    X(STALE, "stale") /* what it sent is older than what is here, and changes nothing */                     \
    X(NEVER, "never") /* the request does not come in this standing */

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

/* A protocol. Caches that nobody keeps coherent have no directory rows. An event without any row never
 * happens. */
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

/* Returns whether the tables are sound; else the message names protocol, row and fault. They are sound if
 * - each pair of state and event has one row, except events without any row;
 * - each pair of request and standing that can occur has one row, and no other pair has one;
 * - every state and standing can be reached;
 * - a dirty copy loses its data by INVALIDATE alone, and loads and stores hit where the properties say so;
 * - state numbers are as the inline hit tests need them;
 * - the directory probes an owner before another client reads or writes, and forgets no client unprobed;
 * - probes and replies of directory rows have cache rows.
 * Coherence as a whole is not checked here: tests/mem/test_protocol_model.c searches all states for that. */
bool protocol_check(const struct protocol *protocol, struct error *err);

/* The rows by index, to be walked. Pairs without a row have PROTOCOL_DO_NEVER or PROTOCOL_REPLY_NEVER. */
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

/* Fills *rules from a protocol that has passed the check. */
void protocol_compile(const struct protocol *protocol, struct protocol_rules *rules);

/* Of a pair that occurs. */
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
