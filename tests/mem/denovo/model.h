/* A search of all states that DeNovo's controllers (emu/mem/denovo.h) can reach with a few units, words and
 * threads, whose messages overtake each other. It runs the controllers themselves: their state is copied into a
 * string of bits and back.
 *
 * Programs are all those without data races: a thread loads, stores or operates on a word whenever what it would
 * race with happens before, and may synchronize with any other thread. Each word has a version, which counts its
 * stores; it travels as the word's value. The search checks
 * - in every state: a load gets the newest version; at most one unit has a word REGISTERED and acknowledged; the
 *   registrant named by the registry has the word, in its holder, in its write-back buffer or on its way to it;
 *   no pair of state and event without a row is met;
 * - if nothing is in flight: no controller waits for anything; the registry names a unit exactly if that unit,
 *   and only it, has the word REGISTERED, by the map that the registry names; the newest version is at the
 *   word's place;
 * - from every state: deliveries of messages alone lead to a state with nothing in flight.
 * With races, versions are not checked. */
#ifndef TESTS_MEM_DENOVO_MODEL_H
#define TESTS_MEM_DENOVO_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/mem/denovo/rules.h"

enum { MODEL_UNITS = 3, MODEL_THREADS = 3, MODEL_WORDS = 2 };

struct model_config {
    const char *name;
    unsigned units, words, threads;
    unsigned unit_of[MODEL_THREADS];
    unsigned stores; /* at most, of all words together; atomics count as well */
    bool stash;      /* the last unit is a stash */
    unsigned remaps; /* times that the stash moves its words to the other map */
    bool evict;      /* the last level evicts the line */
    bool plain;      /* loads and stores */
    bool atomics;    /* at the last level */
    bool increments; /* in a cache, by registration with data */
    bool races;
    unsigned write_backs; /* entries of a unit's buffer */
    unsigned held;        /* requests that wait at the registry */
};

struct model_result {
    size_t states;
    size_t deepest;  /* messages in flight */
    bool complete;   /* all states were searched */
    char fault[160]; /* the first, or "" */
    char path[4096]; /* how it is reached */
};

/* Searches at most `limit` states. */
void model_search(const struct model_config *config, const struct denovo_rules *rules, size_t limit,
                  struct model_result *result);

/* As model_search(), in a process of its own, which failing assertions end; these become the fault. */
void model_search_apart(const struct model_config *config, const struct denovo_rules *rules, size_t limit,
                        struct model_result *result);

#endif
