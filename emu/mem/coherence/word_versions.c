#include "emu/mem/coherence/word_versions.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/mem/denovo.h"
#include "emu/sim/alloc.h"

/* An access that others are compared with. */
struct mark {
    uint64_t pc, time, releases; /* of the agent before it */
    uint64_t number;             /* in the order of stores */
    uint16_t agent;
    bool stash, atomic, used;
};

struct word {
    uint32_t newest;
    struct mark store, load; /* the newest store; the last load */
};

struct line {
    uint64_t address;
    struct line *next;
    uint32_t memory[DENOVO_WORDS];
    struct word words[DENOVO_WORDS];
};

struct agent {
    const char *name;
    uint64_t releases;
    uint64_t *seen; /* by agent: its releases at this one's last acquire */
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
    uint64_t found[WORD_PROBLEMS], stores;
};

struct word_versions *word_versions_new(uint32_t line,
                                        void (*report)(void *context, const struct word_finding *finding),
                                        void *context)
{
    struct word_versions *versions = alloc(1, sizeof *versions);
    versions->line = line;
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
    struct line **list =
        &versions->lists[address / versions->line * UINT64_C(0x9e3779b97f4a7c15) >> 50 & (LINE_LISTS - 1)];
    for (struct line *line = *list; line; line = line->next)
        if (line->address == address)
            return line;
    struct line *line = alloc(1, sizeof *line);
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

uint32_t word_versions_store(struct word_versions *versions, const struct word_access *access)
{
    struct word *word = word_at(versions, access->address);
    const struct mark *other = splits(versions, &word->store, access) ? &word->store : &word->load;
    if (splits(versions, other, access))
        find(versions, WORD_SPLIT, access, other, true);
    word->store = mark_of(versions, access);
    word->store.number = ++versions->stores;
    return ++word->newest;
}

uint64_t word_versions_clock(const struct word_versions *versions)
{
    return versions->stores;
}

void word_versions_load(struct word_versions *versions, const struct word_access *access, uint32_t version)
{
    struct word *word = word_at(versions, access->address);
    const struct mark *store = &word->store;
    if (splits(versions, store, access))
        find(versions, WORD_SPLIT, access, store, false);
    else if (version != word->newest && (!access->issued || store->number <= access->issued))
        find(versions,
             store->agent == access->agent ||
                     versions->agents[access->agent].seen[store->agent] > store->releases
                 ? WORD_STALE
                 : WORD_RACE,
             access, store, false);
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
        word->store.atomic = true;
    }
}

void word_versions_release(struct word_versions *versions, unsigned agent)
{
    versions->agents[agent].releases++;
}

void word_versions_acquire(struct word_versions *versions, unsigned agent)
{
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
        [WORD_STALE] = {"stale_words", "Loads of an old version although the newest store happens before"},
        [WORD_RACE] = {"races", "Loads of an old version that race with the newest store"},
        [WORD_SPLIT] =
            {"split_words",
             "Accesses to words that the cache and the stash of a multiprocessor share, one of them a store"},
    };
    for (unsigned i = 0; i < WORD_PROBLEMS; i++)
        stats_counter(stats, scope, names[i][0], &versions->found[i], "findings", names[i][1]);
}
