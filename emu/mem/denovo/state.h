/* The insides of a unit and of a registry. */
#ifndef EMU_MEM_DENOVO_STATE_H
#define EMU_MEM_DENOVO_STATE_H

#include "emu/mem/denovo.h"
#include "emu/mem/denovo/rules.h"

/* A registration that waits for this unit's own: who gets the word then. */
struct denovo_successor {
    uint16_t unit;
    uint8_t map;
    bool with_data;
};

/* What is open for a line and a map. Free if no mask has a word. */
struct denovo_mshr {
    uint64_t line;
    uint64_t want;    /* loads wait for an answer */
    uint64_t may;     /* words that were INVALID when the first read was sent, and not stored to since */
    uint64_t fill;    /* of these, what an answer may install */
    uint64_t pending; /* Reg in flight, REGISTERED in the holder */
    uint64_t waiting; /* Reg with data in flight */
    uint64_t moving;  /* Remap in flight */
    uint64_t lost;    /* of these, taken away since */
    uint64_t late;    /* Remap refused, FwdReg on its way */
    uint64_t atomic;  /* Atomics in flight */
    uint64_t queued;  /* FwdRegs that wait for the acknowledgement */
    uint64_t revoked; /* Revokes that do */
    uint32_t atomics; /* number of Atomics in flight */
    bool used;
    bool poisoned; /* the reads were open at an acquire */
    uint8_t map;
    struct denovo_successor successor[DENOVO_WORDS]; /* of queued words */
};

/* An entry of the write-back buffer. Free if no word is left. */
struct denovo_buffer {
    uint64_t line;
    uint64_t words;
    uint64_t taken; /* a FwdReg was answered; WBAck in flight */
    uint64_t stale; /* WBAck came and refused the word; FwdReg in flight */
    uint8_t map;
    uint32_t value[DENOVO_WORDS];
};

struct denovo_unit {
    struct denovo_unit_config config;
    const struct denovo_rules *rules;
    const struct denovo_holder_ops *ops;
    void *holder;
    struct denovo_post post;
    uint16_t open;      /* MSHRs in use */
    uint16_t buffers;   /* entries of the write-back buffer in use */
    uint32_t unsettled; /* registrations and atomics: words and operations in flight */
    bool refused;       /* room() is due when something has become free */
    bool freed;         /* something has */
};

/* The arrays lie behind the structure. */
static inline struct denovo_mshr *denovo_mshrs(const struct denovo_unit *unit)
{
    return (struct denovo_mshr *)(void *)((char *)(uintptr_t)unit + sizeof *unit);
}

static inline struct denovo_buffer *denovo_buffers(const struct denovo_unit *unit)
{
    return (struct denovo_buffer *)(void *)(denovo_mshrs(unit) + unit->config.mshrs);
}

/* The words of a mask by their state. */
struct denovo_scene {
    uint64_t in[DENOVO_WORD_STATES];
};

/* Sets *scene for words of a line, by the map. in_buffer: look at the write-back buffer, too, and first. */
void denovo_look(const struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask, bool in_buffer,
                 struct denovo_scene *scene);

/* Returns the MSHR of a line and a map, or NULL. */
struct denovo_mshr *denovo_mshr_find(const struct denovo_unit *unit, uint64_t line, unsigned map);

/* Returns it, or a new one; NULL: all are in use. */
struct denovo_mshr *denovo_mshr_open(struct denovo_unit *unit, uint64_t line, unsigned map);

/* Ends the reads, and the MSHR, if nothing waits for them. */
void denovo_mshr_tidy(struct denovo_unit *unit, struct denovo_mshr *mshr);

/* Takes words out of what any read of the line may install. */
void denovo_bar(struct denovo_unit *unit, uint64_t line, uint64_t mask);

/* Words of the line on which atomics are open, and words that are pending, waiting, moving or late by a map
 * other than this one. */
uint64_t denovo_atomics(const struct denovo_unit *unit, uint64_t line);
uint64_t denovo_pending_elsewhere(const struct denovo_unit *unit, uint64_t line, unsigned map);

/* Changes the record of words of one state: out of the state, into the next. Of holders' states, this has no
 * record. Words that go into the buffer, and out of it, are the caller's affair. */
void denovo_leave(struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t mask, enum denovo_word state,
                  enum denovo_word next);
void denovo_enter(struct denovo_unit *unit, struct denovo_mshr *mshr, uint64_t mask, enum denovo_word next);

/* A message from the unit about a line. */
static inline struct denovo_message denovo_letter(const struct denovo_unit *unit, enum denovo_kind kind,
                                                  uint64_t line, unsigned map, uint64_t mask)
{
    struct denovo_message message = {.kind = (uint8_t)kind,
                                     .map = (uint8_t)map,
                                     .from = unit->config.number,
                                     .to = DENOVO_REGISTRY,
                                     .requester = unit->config.number,
                                     .line = line,
                                     .mask = mask};
    return message;
}

static inline void denovo_send(const struct denovo_unit *unit, const struct denovo_message *message,
                               uint64_t now)
{
    unit->post.send(unit->post.context, message, now);
}

/* The lowest word of a mask, as a mask and as a number. */
static inline uint64_t denovo_lowest(uint64_t mask)
{
    return mask & (~mask + 1);
}

static inline unsigned denovo_index(uint64_t word)
{
    return (unsigned)__builtin_ctzll(word);
}

void denovo_copy_values(uint32_t *to, const uint32_t *from, uint64_t mask);

/* Forwards (forward.c). */
void denovo_forward_read(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now);
void denovo_forward_register(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now);
void denovo_revoke(struct denovo_unit *unit, const struct denovo_message *message, uint64_t now);

/* Copies words from the holder to the write-back buffer, leaves them in state `rest` there, and sends WB.
 * Returns false if the buffer is full. */
bool denovo_put_back(struct denovo_unit *unit, uint64_t line, unsigned map, uint64_t mask,
                     enum denovo_state rest, uint64_t now);

/* Frees words of an entry, which belong to its line. */
void denovo_unbuffer(struct denovo_unit *unit, struct denovo_buffer *buffer, uint64_t mask, uint64_t now);

/* A request that waits at the registry. */
struct denovo_held {
    struct denovo_message message;
    bool counted; /* in its line's record; else it waits for a place for its line */
    uint16_t next;
};

enum { DENOVO_NOBODY = 0xffff }; /* ends the lists of held requests */

struct denovo_registry {
    struct denovo_registry_config config;
    const struct denovo_rules *rules;
    const struct denovo_home_ops *ops;
    void *home;
    struct denovo_post post;
    uint16_t first, last, free; /* lists of held requests and of free entries */
    uint16_t held, placeless;   /* requests that wait, and of these for a place */
    bool refused;               /* room() is due when one of them ends */
};

static inline struct denovo_held *denovo_held(const struct denovo_registry *registry)
{
    return (struct denovo_held *)(void *)((char *)(uintptr_t)registry + sizeof *registry);
}

/* Keeps a copy of a request's words `mask`; line: its record, or NULL. There must be room. */
void denovo_hold(struct denovo_registry *registry, const struct denovo_message *message, uint64_t mask,
                 struct denovo_line *line);

/* Takes the first held request out if it waits for the line at this address, or, without_place, for a
 * place; else makes it the last one. Returns whether it was taken. */
bool denovo_unhold(struct denovo_registry *registry, uint64_t address, bool without_place,
                   struct denovo_message *message);

/* The requests that wait for the line wait for a place now. */
void denovo_displace(struct denovo_registry *registry, const struct denovo_line *line);

#endif
