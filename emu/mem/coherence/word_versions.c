#include "emu/mem/coherence/word_versions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/denovo.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

/* An access that others are compared with. */
struct mark {
    uint64_t pc, time, releases; /* of the agent before it */
    uint64_t number;             /* word_versions_clock() */
    uint16_t agent;
    bool stash, atomic, used;
};

/* A store, and which older ones happen before it: bit i is the store 1 + i before it. */
struct store {
    struct mark mark;
    uint8_t before;
    bool all; /* and so do those that are no longer kept */
};

enum { KEPT = 4 }; /* stores of a word */

struct word {
    uint32_t newest;
    struct store stores[KEPT]; /* the newest one first */
    struct mark load;          /* the last one */
};

struct line {
    uint64_t address;
    struct line *next;
    uint32_t memory[DENOVO_WORDS];
    struct word words[]; /* as many as a line has */
};

struct agent {
    const char *name;
    uint64_t releases, acquired; /* the latter by word_versions_clock() */
    uint64_t *seen;              /* by agent: its releases at this one's last acquire */
};

/* An atomic that has been sent. */
struct sent {
    uint32_t key;
    struct word_access access;
};

struct pair {
    uint64_t access, writer;
    enum word_problem problem;
};

enum { LINE_LISTS = 1 << 14, SENT = 1 << 12 };

struct word_versions {
    uint32_t line;
    void (*report)(void *context, const struct word_finding *finding);
    void *context;
    struct agent *agents; /* the first are those without a unit: devices, page walks */
    unsigned count;
    struct line *lists[LINE_LISTS];
    struct sent sent[SENT]; /* by hash of unit and tag */
    struct pair *pairs;
    size_t pair_count;
    uint64_t found[WORD_PROBLEMS], clock;
};

struct word_versions *word_versions_new(uint32_t line,
                                        void (*report)(void *context, const struct word_finding *finding),
                                        void *context)
{
    struct word_versions *versions = alloc(1, sizeof *versions);
    versions->line = line;
    versions->clock = 1;
    versions->report = report;
    versions->context = context;
    (void)word_versions_agent(versions, "a requester without a coherent cache");
    return versions;
}

void word_versions_free(struct word_versions *versions)
{
    if (!versions)
        return;
    for (unsigned i = 0; i < LINE_LISTS; i++)
        for (struct line *line = versions->lists[i], *next; line; line = next) {
            next = line->next;
            free(line);
        }
    for (unsigned i = 0; i < versions->count; i++)
        free(versions->agents[i].seen);
    free(versions->agents);
    free(versions->pairs);
    free(versions);
}

unsigned word_versions_agent(struct word_versions *versions, const char *name)
{
    const unsigned count = versions->count + 1;
    versions->agents = alloc_resize(versions->agents, count * sizeof *versions->agents);
    versions->agents[versions->count] = (struct agent){.name = name};
    for (unsigned i = 0; i < count; i++) {
        struct agent *agent = &versions->agents[i];
        agent->seen = alloc_resize(agent->seen, count * sizeof *agent->seen);
        memset(agent->seen, 0, count * sizeof *agent->seen); /* nobody has released yet */
    }
    return versions->count++;
}

static struct line *line_at(struct word_versions *versions, uint64_t address)
{
    struct line **list = &versions->lists[address / versions->line * MIX_FACTOR >> 50 & (LINE_LISTS - 1)];
    for (struct line *line = *list; line; line = line->next)
        if (line->address == address)
            return line;
    struct line *line = alloc(1, sizeof *line + versions->line / sizeof(uint32_t) * sizeof *line->words);
    line->address = address;
    line->next = *list;
    return *list = line;
}

static struct word *word_at(struct word_versions *versions, uint64_t address)
{
    const uint64_t line = address & ~(uint64_t)(versions->line - 1);
    return &line_at(versions, line)->words[(address - line) / sizeof(uint32_t)];
}

uint32_t *word_versions_memory(struct word_versions *versions, uint64_t line)
{
    return line_at(versions, line)->memory;
}

static bool is_new(struct word_versions *versions, const struct word_finding *finding)
{
    for (size_t i = 0; i < versions->pair_count; i++) {
        const struct pair *pair = &versions->pairs[i];
        if (pair->access == finding->access.pc && pair->writer == finding->writer.pc &&
            pair->problem == finding->problem)
            return false;
    }
    versions->pairs = alloc_resize(versions->pairs, (versions->pair_count + 1) * sizeof *versions->pairs);
    versions->pairs[versions->pair_count++] =
        (struct pair){finding->access.pc, finding->writer.pc, finding->problem};
    return true;
}

static void find(struct word_versions *versions, enum word_problem problem, const struct word_access *access,
                 const struct mark *other, bool store)
{
    const struct word_finding finding = {
        .problem = problem,
        .address = access->address & ~UINT64_C(3),
        .store = store,
        .access = {versions->agents[access->agent].name, access->stash, false, access->pc, access->time},
        .writer = {versions->agents[other->agent].name, other->stash, other->atomic, other->pc, other->time}};
    versions->found[problem]++;
    if (is_new(versions, &finding) && versions->report)
        versions->report(versions->context, &finding);
}

static struct mark mark_of(const struct word_versions *versions, const struct word_access *access)
{
    return (struct mark){.pc = access->pc,
                         .time = access->time,
                         .releases = versions->agents[access->agent].releases,
                         .agent = (uint16_t)access->agent,
                         .stash = access->stash,
                         .used = true};
}

/* Returns whether an earlier access was by the agent's other place, without a release since. */
static bool splits(const struct word_versions *versions, const struct mark *mark,
                   const struct word_access *access)
{
    return mark->used && !mark->atomic && mark->agent == access->agent && mark->stash != access->stash &&
           mark->releases == versions->agents[access->agent].releases;
}

/* Returns whether a store happens before what the agent does now. */
static bool precedes(const struct word_versions *versions, const struct mark *store, unsigned agent)
{
    return store->agent == agent || versions->agents[agent].seen[store->agent] > store->releases;
}

static unsigned kept(const struct word *word)
{
    return word->newest < KEPT ? word->newest : KEPT;
}

/* Makes a store the newest one. */
static void keep(const struct word_versions *versions, struct word *word, const struct mark *mark)
{
    const unsigned count = kept(word);
    struct store store = {.mark = *mark, .all = word->newest <= KEPT};
    for (unsigned i = 0; i < count; i++)
        if (precedes(versions, &word->stores[i].mark, mark->agent)) {
            store.before |= (uint8_t)(1 << i);
            store.all |= word->stores[i].all;
        }
    if (count == KEPT) { /* the oldest one is no longer kept */
        store.all &= store.before >> (KEPT - 1) & 1;
        for (unsigned i = 0; i < KEPT - 1; i++)
            word->stores[i].all &= word->stores[i].before >> (KEPT - 2 - i) & 1;
    }
    memmove(word->stores + 1, word->stores, (KEPT - 1) * sizeof *word->stores);
    word->stores[0] = store;
}

uint32_t word_versions_store(struct word_versions *versions, const struct word_access *access)
{
    struct word *word = word_at(versions, access->address);
    const struct mark *newest = &word->stores[0].mark,
                      *other = splits(versions, newest, access) ? newest : &word->load;
    if (splits(versions, other, access))
        find(versions, WORD_SPLIT, access, other, true);
    struct mark mark = mark_of(versions, access);
    mark.number = ++versions->clock;
    keep(versions, word, &mark);
    return ++word->newest;
}

uint64_t word_versions_clock(const struct word_versions *versions)
{
    return versions->clock;
}

/* Returns whether store i, newer than the version, stands between it and a load of the agent. The bytes that a program has at
 * first are before all stores. */
static bool hides(const struct word_versions *versions, const struct word *word, unsigned i, uint32_t version,
                  unsigned agent)
{
    const struct store *store = &word->stores[i];
    const uint32_t age = word->newest - version;
    return precedes(versions, &store->mark, agent) &&
           (version == 0 || (age < KEPT ? store->before >> (age - 1 - i) & 1 : store->all));
}

/* Compares a version with the stores that were there when the load was sent. */
static void compare(struct word_versions *versions, const struct word *word, const struct word_access *access,
                    uint32_t version)
{
    const uint32_t age = word->newest - version;
    const unsigned count = age < kept(word) ? age : kept(word);
    const bool crossed = access->issued && versions->agents[access->agent].acquired > access->issued;
    unsigned first = 0;
    while (first < count && access->issued && word->stores[first].mark.number > access->issued)
        first++;
    if (first == count)
        return;
    for (unsigned i = first; i < count && !crossed; i++)
        if (hides(versions, word, i, version, access->agent)) {
            find(versions, WORD_STALE, access, &word->stores[i].mark, false);
            return;
        }
    find(versions, WORD_RACE, access, &word->stores[first].mark, false);
}

void word_versions_load(struct word_versions *versions, const struct word_access *access, uint32_t version)
{
    struct word *word = word_at(versions, access->address);
    if (splits(versions, &word->stores[0].mark, access))
        find(versions, WORD_SPLIT, access, &word->stores[0].mark, false);
    else
        compare(versions, word, access, version);
    word->load = mark_of(versions, access);
}

static struct sent *sent_of(struct word_versions *versions, uint16_t unit, uint32_t tag)
{
    const uint32_t key = (uint32_t)unit << 12 | (tag & 0xfff);
    struct sent *sent = &versions->sent[key * UINT32_C(2654435761) >> 20];
    if (sent->key != key)
        *sent = (struct sent){.key = key};
    return sent;
}

void word_versions_send(struct word_versions *versions, uint16_t unit, uint32_t tag,
                        const struct word_access *access)
{
    sent_of(versions, unit, tag)->access = *access;
}

void word_versions_operate(struct word_versions *versions, uint16_t unit, uint32_t tag, uint64_t line,
                           uint64_t mask, uint32_t *values, uint64_t now)
{
    struct word_access access = {.agent = 0};
    if (unit != DENOVO_CLIENT)
        access = sent_of(versions, unit, tag)->access;
    access.time = now;
    for (; mask; mask &= mask - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(mask);
        struct word *word = &line_at(versions, line)->words[i];
        access.address = line + i * sizeof(uint32_t);
        if (unit != DENOVO_CLIENT)
            word_versions_load(versions, &access, values[i]);
        values[i] = word_versions_store(versions, &access);
        word->stores[0].mark.atomic = true;
    }
}

void word_versions_release(struct word_versions *versions, unsigned agent)
{
    versions->agents[agent].releases++;
}

void word_versions_acquire(struct word_versions *versions, unsigned agent)
{
    versions->agents[agent].acquired = ++versions->clock;
    for (unsigned i = 0; i < versions->count; i++)
        versions->agents[agent].seen[i] = versions->agents[i].releases;
}

uint64_t word_versions_found(const struct word_versions *versions, enum word_problem problem)
{
    return versions->found[problem];
}

void word_versions_publish(const struct word_versions *versions, struct stats *stats, struct scope scope)
{
    static const char *const names[][2] = {
        [WORD_STALE] = {"stale_words", "Loads of a version although a later store happens before"},
        [WORD_RACE] = {"races", "Loads of a version that race with a later store"},
        [WORD_SPLIT] =
            {"split_words",
             "Accesses to words that the cache and the stash of a multiprocessor share, one of them a store"},
    };
    for (unsigned i = 0; i < WORD_PROBLEMS; i++)
        stats_counter(stats, scope, names[i][0], &versions->found[i], "findings", names[i][1]);
}
