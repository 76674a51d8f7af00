/* The state of the search of model.h, and what its files offer each other: search.c, on top; actions.c and check.c; around.c, what
 * stands around the controllers; states.c, the set of states; codec.c, a state as a string of bits. */
#ifndef TESTS_MEM_DENOVO_MODEL_STATE_H
#define TESTS_MEM_DENOVO_MODEL_STATE_H

#include <stdint.h>

#include "emu/mem/denovo/state.h"
#include "tests/mem/denovo/model.h"

enum { LINE = 0x40, MAPS = 3, MESSAGES = 16, STATE_WORDS = 24 };

/* A cache has map 0; a stash has two places for the words, with maps 1 and 2. */
struct holder {
    uint8_t state[MAPS][MODEL_WORDS];
    uint32_t value[MAPS][MODEL_WORDS];
    unsigned map; /* by which threads use it */
    struct model *model;
    unsigned number;
};

/* An access that others must know of before they may race with it: of a thread, since the word's last
 * store. */
struct access {
    bool exists;
    unsigned known; /* threads that it happens before; none while it is under way */
};

struct word {
    unsigned version, known; /* threads that the last store happens before */
    struct access reads[MODEL_THREADS], atomics[MODEL_THREADS];
};

enum busy { IDLE, LOADING, INCREMENTING };

struct thread {
    unsigned busy, word;
};

/* How a state is reached first. */
struct origin {
    uint32_t parent;
    uint16_t action;
};

struct model {
    const struct model_config *config;
    struct model_result *result;
    size_t number;   /* of the state whose actions are tried */
    unsigned action; /* that is tried */
    bool touched;    /* the state of the moment is not that one any more */
    int out;         /* where the result goes if an assertion fails */
    /* the state of the moment */
    struct holder holders[MODEL_UNITS];
    struct denovo_unit *units[MODEL_UNITS];
    struct denovo_registry *registry;
    struct denovo_line line;
    bool present;
    uint32_t memory[MODEL_WORDS];
    struct word words[MODEL_WORDS];
    struct thread threads[MODEL_THREADS];
    struct denovo_message messages[MESSAGES];
    unsigned message_count, stores, remaps;
    /* all states, as strings of `length` bytes in `text`; `slots` is a hash table of their numbers plus 1 */
    uint64_t *text;
    size_t *begins;
    struct origin *origins;
    size_t count, capacity, used, room, slot_count;
    uint32_t *slots;
    /* pairs of states: a delivery leads from one to the other */
    uint32_t (*steps)[2];
    size_t step_count, step_room;
};

/* Numbers of actions: deliveries first. */
enum {
    DELIVER = 0,
    MEMORY = DELIVER + MESSAGES,
    LAST_EVICT,
    REMAP,
    EVICT,
    LOAD = EVICT + MODEL_UNITS * MODEL_WORDS,
    STORE = LOAD + MODEL_THREADS * MODEL_WORDS,
    OPERATE = STORE + MODEL_THREADS * MODEL_WORDS,
    INCREMENT = OPERATE + MODEL_THREADS * MODEL_WORDS,
    SYNCHRONIZE = INCREMENT + MODEL_THREADS * MODEL_WORDS,
    ACTIONS = SYNCHRONIZE + MODEL_THREADS * MODEL_THREADS,
};

/* codec.c */

struct codec {
    uint64_t words[STATE_WORDS];
    unsigned bit;
    bool reading;
};

/* Writes the state of the moment, or reads it. */
void model_code(struct codec *codec, struct model *model);
/* Makes a state that was found the one of the moment. */
void model_restore(struct model *model, size_t number);

/* states.c */

/* Makes room for `needed` elements. */
void *model_grow(void *old, size_t *room, size_t needed, size_t size);
/* Returns the number of the state of the moment, which it adds if it is new. */
size_t model_add(struct model *model, size_t parent, unsigned action);

/* around.c: what the units' holders, the home and the carrier do. */

/* Notes what is wrong, unless something is noted already. */
__attribute__((format(printf, 2, 3))) void model_fault(struct model *model, const char *format, ...);

extern const struct denovo_holder_ops model_holder_ops;
extern const struct denovo_home_ops model_home_ops;
void model_post(void *context, const struct denovo_message *message, uint64_t now);
uint64_t model_all_words(const struct model *model);
uint64_t model_holder_words(void *context, uint64_t line, unsigned map, enum denovo_state state);
void model_holder_set(void *context, uint64_t line, unsigned map, uint64_t mask, enum denovo_state state,
                      uint64_t now);
/* A thread has loaded a value of a word. */
void model_loaded(struct model *model, unsigned thread, unsigned number, uint32_t value);
/* A thread increments a word that its unit has registered. */
void model_increment(struct model *model, unsigned thread, unsigned number, unsigned map);
/* Returns whether nothing is in flight. */
bool model_at_rest(const struct model *model);
/* Returns whether an access was not refused. It must not be if nothing is in flight, which could end the wait. */
bool model_accepted(struct model *model, enum denovo_outcome outcome);

/* actions.c: tries an action. Returns false if it is impossible; the state of the moment may have changed. */
bool model_act(struct model *model, unsigned action);

/* check.c: notes what does not hold in the state of the moment. */
void model_check(struct model *model);

#endif
