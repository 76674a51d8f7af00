/* DeNovo: coherence by word, without sharers, for programs without data races.
 *
 * A word of a first-level cache or of a stash is INVALID, VALID (readable, may be older than others' stores
 * since the last synchronization) or REGISTERED (the only newest copy). The last level, the registry, holds for
 * each word either its value or who has registered it. Readers are not recorded: software synchronizes, and
 * then a cache drops its VALID words. A store makes its word REGISTERED at once and asks the registry for the
 * registration, which must be acknowledged before software's next release.
 *
 * Two controllers stand here, without time of their own:
 *    unit      everything that a cache or a stash, its holder, has in flight: MSHRs, write-back buffer
 *    registry  what a slice of the last level, its home, does with each word of its lines
 * The words' states live with the holder (tags of a cache, storage of a stash) and the lines' records with the
 * home, so that caches keep their own arrays. Both are reached by callbacks. Messages go out by a callback and
 * come in by denovo_receive() and denovo_registry_receive(); they may overtake each other in any way (mail.h
 * has what a carrier must promise). `now` is in fs and is only passed on.
 *
 * Words are 32 bits. Masks are sets of words of a line, lowest bit first. Values travel with the words for
 * checkers that keep versions; a machine whose bytes are in physical memory leaves them zero.
 *
 * A unit never has two of {registration, write-back, remap} of a word in flight, whatever map the word has.
 * A stash must not hold the same word by two maps at the same time, except while denovo_remap() moves it.
 *
 * The rules are rows of tables (emu/mem/denovo/unit.def, registry.def) and named rules beside them (rule.def).
 * Terms and protocol: Choi et al., "DeNovo: Rethinking the memory hierarchy for disciplined parallelism", PACT
 * 2011; Sinclair, Alsop, Adve, "Efficient GPU synchronization without scopes", MICRO 2015; Komuravelli et al.,
 * "Stash: Have your scratchpad and cache it too", ISCA 2015, sections 4.3 and 4.4.
 *
 * What software does, and what holders and units do then (Sinclair et al., sections 1 to 3; the stash paper,
 * section 4.3). An acquire makes all VALID words of the holder INVALID and calls denovo_acquire(), after the
 * acquiring read and before any later load; a release waits for denovo_settled().
 *    a kernel starts             acquire in the cache of every multiprocessor that it uses
 *    a kernel ends               release in its caches and stashes; acquire in its stashes; words stay REGISTERED
 *    a host thread has waited    acquire in its cache
 *      for a kernel
 *    a thread starts, is joined  release in the creator's, or the ended thread's, cache, then acquire in the
 *                                started, or the joining, thread's
 *    a lock is taken, released   acquire; release
 *    a barrier                   release, then acquire
 *
 * Registrations of a line may wait for one another on their way and become one message (denovo_domain.h); for the protocol
 * they then arrive at the same time.
 *
 * Not modelled: regions and touched bits (all VALID words are dropped), write signatures, back-off of contended
 * registrations. */
#ifndef EMU_MEM_DENOVO_H
#define EMU_MEM_DENOVO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/mail.h"

enum {
    DENOVO_WORDS = 32,        /* the most words of a line: 128 bytes */
    DENOVO_MAPS = 64,         /* map indices of a stash */
    DENOVO_REGISTRY = 0xffff, /* as `to` or `from`: the slice of the last level that has the line */
    DENOVO_CLIENT = 0xfffe,   /* as `from`, in atomics: no unit, but the home itself, for those without one */
    DENOVO_HEADER_BYTES = 8,  /* a control message of GEMS (CONTROL_MSG_SIZE) */
};

enum denovo_state { DENOVO_INVALID, DENOVO_VALID, DENOVO_REGISTERED, DENOVO_STATES };

/* Messages: X(name, text, class, purpose). A write-back is a response: it answers a Revoke, and a registry that evicts
 * a line accepts it whatever else it refuses. */
#define DENOVO_KINDS(X)                                                                                      \
    X(READ, "Read", REQUEST, READ)                /* the words, for reading */                               \
    X(REGISTER, "Reg", REQUEST, WRITE)            /* registers words; with_data: their values, too */        \
    X(REMAP, "Remap", REQUEST, WRITE)             /* the registrant's words have another map */              \
    X(ATOMIC, "Atomic", REQUEST, OTHER)           /* an operation at the registry */                         \
    X(FORWARD_READ, "FwdRead", FORWARD, READ)     /* answer the requester's Read */                          \
    X(FORWARD_REGISTER, "FwdReg", FORWARD, WRITE) /* the requester is the registrant now: acknowledge it */  \
    X(REVOKE, "Revoke", FORWARD, WRITE_BACK)      /* write the words back */                                 \
    X(READ_ANSWER, "ReadRsp", RESPONSE, READ)     /* mask: words that were asked for; extra: other words */  \
    X(READ_REFUSED, "NackRead", RESPONSE, READ)   /* the words are not here: ask the registry again */       \
    X(REGISTERED, "RegAck", RESPONSE, WRITE)      /* registered, by the registry or the former registrant */ \
    X(REMAPPED, "RemapAck", RESPONSE, WRITE)  /* mask: new map recorded; stale: sender is not registrant */  \
    X(WRITE_BACK, "WB", RESPONSE, WRITE_BACK) /* the words leave the registrant */                           \
    X(WRITTEN_BACK, "WBAck", RESPONSE, WRITE_BACK) /* mask: accepted; stale: sender is not registrant */     \
    X(REVOKE_REFUSED, "NackRevoke", RESPONSE, WRITE_BACK) /* the write-back buffer is full: revoke again */  \
    X(ATOMIC_DONE, "AtomicRsp", RESPONSE, OTHER)

enum denovo_kind {
#define X(name, text, class, purpose) DENOVO_MSG_##name,
    DENOVO_KINDS(X)
#undef X
        DENOVO_KIND_COUNT
};

struct denovo_message {
    uint8_t kind; /* enum denovo_kind */
    /* Reg, FwdReg: the requester wants the values; RegAck: has them; Atomic: it stores nothing. */
    bool with_data;
    uint8_t map;        /* of the requester's words, in requests, forwards and answers; caches: 0 */
    uint8_t owner_map;  /* forwards: of the addressed owner's words, as it last told the registry */
    uint16_t from, to;  /* units, or DENOVO_REGISTRY */
    uint16_t requester; /* unit that the last answer goes to */
    uint32_t
        tag; /* Atomic and its answer: the sender's; a registry's ReadRsp and RegAck: the line's (denovo_line) */
    uint64_t line; /* physical address of the line */
    uint64_t mask; /* the words that the message is about */
    uint64_t
        extra; /* Read, FwdRead: words that the requester would keep, too; ReadRsp: those that came along */
    uint64_t stale;               /* WBAck, RemapAck */
    uint32_t value[DENOVO_WORDS]; /* of words in mask and extra, where the message carries data */
};

/* The text of a kind, for traces and messages. */
extern const char *const denovo_kind_names[DENOVO_KIND_COUNT];

enum mail_class denovo_class(const struct denovo_message *message);
enum mail_purpose denovo_purpose(const struct denovo_message *message);

/* Bytes on the wire: a header, and four bytes for each word that the message carries; an atomic, 8 bytes of
 * operand, and its answer four a word. */
uint32_t denovo_bytes(const struct denovo_message *message);

/* Sends a copy of the message. Must not call a controller. */
#define DENOVO_ANY UINT64_MAX
struct denovo_post {
    void (*send)(void *context, const struct denovo_message *message, uint64_t now);
    void *context;
    /* Sends what waits to be combined with later messages of the line, or of any line (DENOVO_ANY). NULL: nothing waits. */
    void (*flush)(void *context, uint64_t line);
};

/* The rules as data. NULL where a configuration has them: the protocol. Tests change copies. */
struct denovo_rules;

/* ---- The unit: a first-level cache's or a stash's side ---- */

/* What the holder does for its unit. The unit calls in any of its functions, and its state is consistent
 * then: arrived(), acknowledged(), written_back() and room() may call the unit again. */
struct denovo_holder_ops {
    /* Words of the line that the holder has in the state; INVALID are also those of lines that it does not
     * have. map: of a stash, by which the words were asked for or registered; a stash checks that the map is
     * valid, covers the line's words, and is the chunks' own. */
    uint64_t (*words)(void *holder, uint64_t line, unsigned map, enum denovo_state state);
    /* Changes the state of words, which the unit has found by words() or the holder has named itself. A cache
     * that has no room for the line of words that a read brings (to VALID) may ignore that, or write back a
     * victim within the call. It must have the line when it registers words. */
    void (*set)(void *holder, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                uint64_t now);
    /* Words that denovo_read() was asked for have come, installed (VALID by set()) or not. Loads wait for
     * them no longer. value: of words in mask. */
    void (*arrived)(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                    uint64_t now);
    /* Words are registered. value: NULL, or of words registered with data, which are REGISTERED now: the
     * holder does the operation that it wanted them for within the call, before others can take them. */
    void (*acknowledged)(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value,
                         uint64_t now);
    /* An atomic is done. value: what the words were before. */
    void (*operated)(void *holder, const struct denovo_message *answer, uint64_t now);
    /* May be NULL: the write-back of words has been answered, accepted or not, and nothing of it is left.
     * A stash keeps the words' map until then. */
    void (*written_back)(void *holder, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
    /* Something was refused, and may succeed now. */
    void (*room)(void *holder, uint64_t now);
    /* May be NULL, for holders without versions. values(): those of words that leave the holder. keep():
     * those of words that are installed, before set() makes them VALID or REGISTERED. */
    void (*values)(void *holder, uint64_t line, unsigned map, uint64_t mask, uint32_t *value);
    void (*keep)(void *holder, uint64_t line, unsigned map, uint64_t mask, const uint32_t *value);
};

struct denovo_unit_config {
    uint16_t number;      /* of the unit: below DENOVO_REGISTRY, one for each cache and stash */
    uint16_t mshrs;       /* one for each line and map with something open: at least 1 */
    uint16_t write_backs; /* entries of the write-back buffer, each of part of a line: at least 1 */
    uint8_t words;        /* of a line: 1 to DENOVO_WORDS */
    const struct denovo_rules *rules;
};

struct denovo_unit;

/* Makes a unit with nothing in flight. Never NULL; aborts if the host has no memory. ops, holder and what
 * post names must outlive it. Free with denovo_unit_free(). */
struct denovo_unit *denovo_unit_new(const struct denovo_unit_config *config,
                                    const struct denovo_holder_ops *ops, void *holder,
                                    struct denovo_post post);
void denovo_unit_free(struct denovo_unit *unit);

/* A unit lies in one piece of memory without pointers into itself: what a search of all states copies. */
size_t denovo_unit_size(const struct denovo_unit *unit);

enum denovo_outcome {
    DENOVO_DONE,    /* nothing to wait for */
    DENOVO_WAITS,   /* arrived(), acknowledged() or operated() will be called */
    DENOVO_REFUSED, /* nothing was done; room() will be called */
};

/* Asks for words. need: words that loads wait for; they are INVALID in the holder. fill: words that an
 * answer may make VALID, each INVALID in the holder: those of need, unless the holder does not want to
 * keep them, and others of the line (a stash: mapped by map) that it wants if they come along. arrived()
 * follows. Refused if no MSHR is free, or an atomic or a registration with data is open on one of the
 * words. */
enum denovo_outcome denovo_read(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t need,
                                uint64_t fill, uint64_t now);

/* Registers words for stores; the holder has the line, and the words are not REGISTERED in it. Makes them
 * REGISTERED at once; the holder writes them when this returns. acknowledged() follows. Refused if no MSHR
 * is free or one of the words is in the write-back buffer or has an atomic, remap or registration with
 * data open. */
enum denovo_outcome denovo_register(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                    uint64_t now);

/* Registers words whose values are wanted, too, as synchronization variables are (DeNovoSync). They stay
 * as they are until acknowledged(), where the operation is done. DENOVO_DONE: they are REGISTERED and
 * acknowledged already, and the caller does the operation at once; so call it for one variable. Refused like
 * denovo_register(), and while another registration of the words is open. */
enum denovo_outcome denovo_register_data(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                         uint64_t now);

/* Writes back words that are REGISTERED and not pending: they leave the holder for the write-back buffer
 * and become INVALID. Refused if the buffer is full or a word is pending. */
enum denovo_outcome denovo_write_back(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                      uint64_t now);

/* Tells the registry that REGISTERED words have map `map` now, where the stash already holds them, and
 * nothing else that the map covered before. acknowledged() is not called; the words are pending until the registry knows. Refused if no MSHR is free
 * or a word is pending. A registration instead would let another unit's registration that is already
 * ordered take the words, and then lose its store. */
enum denovo_outcome denovo_remap(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                 uint64_t now);

/* Does an operation at the registry, on one word or two. The holder's copies of the words become INVALID
 * now; registered ones are written back. operated() follows; until then, no other access of the unit to
 * the words is accepted, except operations. Refused if no MSHR is free, the write-back buffer is full, or
 * one of the words is pending. */
enum denovo_outcome denovo_atomic(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                                  uint32_t tag, uint64_t now);

/* Words that must not be evicted or moved: registrations, remaps and atomics that are open, by any map. */
uint64_t denovo_pending(const struct denovo_unit *unit, uint64_t line);

/* Words that the write-back buffer has, by any map, be they newest or not. */
uint64_t denovo_buffered(const struct denovo_unit *unit, uint64_t line);

/* Returns whether the write-back buffer has any words. */
bool denovo_writing(const struct denovo_unit *unit);

/* Software has synchronized (acquire): reads that are open install nothing. The holder makes its VALID words
 * INVALID itself, in the same step. */
void denovo_acquire(struct denovo_unit *unit, uint64_t now);

/* Returns whether all registrations are acknowledged and all atomics done: a release may complete. If not,
 * acknowledged() or operated() will be called. */
bool denovo_settled(const struct denovo_unit *unit);

/* Somebody waits for what is open of a line, or for all (DENOVO_ANY): registrations that wait for others of the line leave now. */
void denovo_hasten(const struct denovo_unit *unit, uint64_t line);

/* Returns whether nothing at all is in flight. */
bool denovo_idle(const struct denovo_unit *unit);

/* Takes a forward or a response. Never refused. */
void denovo_receive(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now);

/* ---- The registry: a slice of the last level ---- */

struct denovo_owner {
    uint16_t unit;
    uint8_t map;
};

/* The record of a line that the last level has. The home sets address, and clears the rest, when it makes the
 * line; it may read everything. */
struct denovo_line {
    uint64_t address;
    uint64_t registered; /* words whose owner is recorded; the others have their value here */
    uint64_t missing;    /* words that have neither: memory has not answered */
    uint64_t revoked;    /* registered words on their way back */
    bool dirty;          /* newer than memory */
    bool fetching;       /* memory has been asked */
    bool evicting;       /* will leave when no word is registered */
    uint16_t held;       /* requests that wait for the line */
    uint8_t tag;         /* the home's: answers carry it */
    struct denovo_owner owner[DENOVO_WORDS]; /* of registered words */
    uint32_t value[DENOVO_WORDS];            /* of words that are here */
};

/* Returns whether nothing but the home knows of the line: the home may write it to memory and forget it. */
static inline bool denovo_line_idle(const struct denovo_line *line)
{
    return !line->registered && !line->fetching && !line->evicting && !line->held;
}

/* What the last level does for its registry, within which it must not call it, except where said. */
struct denovo_home_ops {
    /* The record of a line; NULL: the line is not here. Records do not move while the line is here. */
    struct denovo_line *(*find)(void *home, uint64_t line);
    /* Makes a record, with all bits clear; it may drop a line that denovo_line_idle() for it. NULL: no
     * place is free; the home chooses a victim and calls denovo_evict(), not within this call, and the
     * request is held until an eviction is complete or denovo_registry_retry() is called. */
    struct denovo_line *(*make)(void *home, uint64_t line, uint64_t now);
    /* Asks memory for the line, after all writes of it; denovo_fetched() follows. */
    void (*fetch)(void *home, struct denovo_line *line, uint64_t now);
    /* The eviction that denovo_evict() has begun is complete. The home writes the line to memory if it is
     * dirty, and forgets the record. */
    void (*evicted)(void *home, struct denovo_line *line, uint64_t now);
    /* The registry reads or writes words of a line: for recency, statistics and energy. May be NULL. */
    void (*touch)(void *home, struct denovo_line *line, bool store, uint64_t now);
    /* Does an atomic: changes the values of line->value, if it keeps values. May be NULL. */
    void (*operate)(void *home, struct denovo_line *line, const struct denovo_message *atomic, uint64_t now);
    /* A request was refused, and may be accepted now. */
    void (*room)(void *home, uint64_t now);
};

struct denovo_registry_config {
    uint16_t held; /* requests that can wait: at least 1 */
    uint8_t words;
    const struct denovo_rules *rules;
};

struct denovo_registry;

/* Like denovo_unit_new(). */
struct denovo_registry *denovo_registry_new(const struct denovo_registry_config *config,
                                            const struct denovo_home_ops *ops, void *home,
                                            struct denovo_post post);
void denovo_registry_free(struct denovo_registry *registry);
size_t denovo_registry_size(const struct denovo_registry *registry);

/* Takes a request or a response. Returns false, without having done anything, if a request would have to
 * wait and there is no room; room() will be called. Never refuses a response. */
bool denovo_registry_receive(struct denovo_registry *registry, const struct denovo_message *message,
                             uint64_t now);

/* Memory has answered fetch(). value: of all words; NULL: no values are kept. */
void denovo_fetched(struct denovo_registry *registry, struct denovo_line *line, const uint32_t *value,
                    uint64_t now);

/* Evicts a line: revokes its registered words, then calls evicted(), within this call if there are none.
 * Returns false, and does nothing, if the line is busy: fetching, evicting, or with requests that wait for
 * it. */
bool denovo_evict(struct denovo_registry *registry, struct denovo_line *line, uint64_t now);

/* Tries the requests again that wait for a place. */
void denovo_registry_retry(struct denovo_registry *registry, uint64_t now);

/* Returns whether no request is held. */
bool denovo_registry_idle(const struct denovo_registry *registry);

#endif
