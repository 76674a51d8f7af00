/* The rules of the controllers as data: rows by state and event, and switches of the rules that are no rows. */
#ifndef EMU_MEM_DENOVO_RULES_H
#define EMU_MEM_DENOVO_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* A word's state at a unit: X(name). The first three are the holder's (enum denovo_state). */
#define DENOVO_UNIT_STATES(X)                                                                                \
    X(INVALID)                                                                                               \
    X(VALID) X(REGISTERED) X(PENDING) X(WAITING) X(MOVING) X(LOST) X(LATE) X(BUFFERED) X(TAKEN) X(STALE)

#define DENOVO_UNIT_EVENTS(X)                                                                                \
    X(LOAD)                                                                                                  \
    X(STORE)                                                                                                 \
    X(SYNC)                                                                                                  \
    X(ATOMIC)                                                                                                \
    X(REMAP)                                                                                                 \
    X(EVICT)                                                                                                 \
    X(ANSWER)                                                                                                \
    X(ACKNOWLEDGED)                                                                                          \
    X(ACCEPTED) X(NOT_ACCEPTED) X(REMAPPED) X(NOT_REMAPPED) X(FORWARD_READ) X(FORWARD_REGISTER) X(REVOKE)

#define DENOVO_UNIT_ACTIONS(X)                                                                               \
    X(NEVER) /* no row */                                                                                    \
    X(NOTHING)                                                                                               \
    X(HIT)        /* done here */                                                                            \
    X(MISS)       /* Read */                                                                                 \
    X(WAIT)       /* the holder tries again later */                                                         \
    X(REGISTER)   /* Reg */                                                                                  \
    X(SEND)       /* the message of the event */                                                             \
    X(WRITE_BACK) /* copy to the write-back buffer, WB */                                                    \
    X(INSTALL)    /* the message's values become the holder's */                                             \
    X(GIVE)       /* answer the requester */                                                                 \
    X(REFUSE)     /* NackRead */                                                                             \
    X(QUEUE)      /* until the acknowledgement */

/* A word's standing at the registry. */
#define DENOVO_STANDINGS(X) X(ABSENT) X(MISSING) X(VALID) X(OWN) X(OTHER) X(HELD)

#define DENOVO_REGISTRY_EVENTS(X)                                                                            \
    X(READ) X(REGISTER) X(SYNC) X(REMAP) X(ATOMIC) X(WRITE_BACK) X(EVICT) X(FETCHED)

#define DENOVO_REGISTRY_ACTIONS(X)                                                                           \
    X(NEVER) /* no row */                                                                                    \
    X(NOTHING)                                                                                               \
    X(FETCH)   /* make a line, ask memory, and look again */                                                 \
    X(HOLD)    /* until the word is free */                                                                  \
    X(ANSWER)  /* positively */                                                                              \
    X(REFUSE)  /* as stale */                                                                                \
    X(FORWARD) /* to the registrant */                                                                       \
    X(REVOKE)  /* from the registrant, and hold the request */                                               \
    X(FILL)    /* memory's value */

#define X(name) DENOVO_WORD_##name,
enum denovo_word { DENOVO_UNIT_STATES(X) DENOVO_WORD_STATES };
#undef X
#define X(name) DENOVO_ON_##name,
enum denovo_event { DENOVO_UNIT_EVENTS(X) DENOVO_EVENTS };
#undef X
#define X(name) DENOVO_DO_##name,
enum denovo_action { DENOVO_UNIT_ACTIONS(X) DENOVO_ACTIONS };
#undef X
#define X(name) DENOVO_IS_##name,
enum denovo_standing { DENOVO_STANDINGS(X) DENOVO_STANDING_COUNT };
#undef X
#define X(name) DENOVO_AT_##name,
enum denovo_registry_event { DENOVO_REGISTRY_EVENTS(X) DENOVO_REGISTRY_EVENT_COUNT };
#undef X
#define X(name) DENOVO_LET_##name,
enum denovo_registry_action { DENOVO_REGISTRY_ACTIONS(X) DENOVO_REGISTRY_ACTION_COUNT };
#undef X
enum denovo_rule {
#define RULE(name, text) DENOVO_RULE_##name,
#include "emu/mem/denovo/rule.def"
#undef RULE
    DENOVO_RULES
};

struct denovo_row {
    uint8_t next, action;
};

struct denovo_rules {
    struct denovo_row unit[DENOVO_WORD_STATES][DENOVO_EVENTS];
    struct denovo_row registry[DENOVO_STANDING_COUNT][DENOVO_REGISTRY_EVENT_COUNT];
    bool rule[DENOVO_RULES];
};

/* The protocol. */
extern const struct denovo_rules denovo_protocol;

#endif
