#include "emu/mem/coherence.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/mem/coherence/lines.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

enum { MEMORY_HOLDER = 0, HOLDERS = 1 << 12 };

struct holder {
    const char *name;
    uint32_t line; /* bytes */
    bool write_through;
    const struct llc_slices *llc; /* last level to which it belongs, or NULL */
};

/* An observer of a cache or slice, and the holder for which it observes. It is the observer's context. */
struct watch {
    struct watch *next;
    struct cache_observer observer;
    struct coherence *checker;
    unsigned holder;
};

/* Two pcs between which a problem has been reported. */
struct pair {
    uint64_t access, writer;
    uint32_t next; /* next pair of the same hash, plus 1 */
    enum coherence_problem problem;
};

enum { PAIR_LISTS = 256 };

struct coherence {
    uint32_t granule;
    void (*report)(void *context, const struct coherence_finding *finding);
    void *context;
    struct coherence_lines lines;
    struct coherence_counters counters;
    unsigned holder_count;
    struct holder *holders;
    struct watch *watches;
    struct pair *pairs; /* counters.reports of them */
    uint32_t pair_room;
    uint32_t pair_lists[PAIR_LISTS]; /* index of the first pair, plus 1 */
};

static void *grown(void *array, size_t count, size_t size)
{
    void *result = alloc_resize(array, count * size);
    return result;
}

struct coherence *coherence_new(uint32_t granule,
                                void (*report)(void *context, const struct coherence_finding *finding),
                                void *context)
{
    struct coherence *checker = grown(NULL, 1, sizeof *checker);
    assert(granule >= 16 && (granule & (granule - 1)) == 0);
    *checker = (struct coherence){.granule = granule, .report = report, .context = context};
    coherence_lines_init(&checker->lines);
    unsigned memory = coherence_holder(checker, "memory", granule, true);
    assert(memory == MEMORY_HOLDER);
    (void)memory;
    return checker;
}

void coherence_free(struct coherence *checker)
{
    for (struct watch *watch = checker->watches, *next; watch; watch = next) {
        next = watch->next;
        free(watch);
    }
    coherence_lines_free(&checker->lines);
    free(checker->holders);
    free(checker->pairs);
    free(checker);
}

unsigned coherence_holder(struct coherence *checker, const char *name, uint32_t line, bool write_through)
{
    assert(line >= checker->granule && checker->holder_count < HOLDERS);
    size_t count = checker->holder_count + (size_t)1;
    checker->holders = grown(checker->holders, count, sizeof *checker->holders);
    checker->holders[checker->holder_count] = (struct holder){name, line, write_through, NULL};
    return checker->holder_count++;
}

/* Returns whether the problem is the first of its kind between the two pcs, and records it. */
static bool is_new(struct coherence *checker, const struct coherence_finding *finding)
{
    uint64_t access = finding->access.pc, writer = finding->writer.pc;
    uint64_t hash = (access * 31 + writer * 17) * MIX_FACTOR;
    uint32_t *list = &checker->pair_lists[hash >> 56];
    for (uint32_t i = *list; i; i = checker->pairs[i - 1].next) {
        const struct pair *pair = &checker->pairs[i - 1];
        if (pair->access == access && pair->writer == writer && pair->problem == finding->problem)
            return false;
    }
    if (checker->counters.reports == checker->pair_room) {
        checker->pair_room = checker->pair_room ? 2 * checker->pair_room : 16;
        checker->pairs = grown(checker->pairs, checker->pair_room, sizeof *checker->pairs);
    }
    checker->pairs[checker->counters.reports++] = (struct pair){access, writer, *list, finding->problem};
    *list = (uint32_t)checker->counters.reports;
    return true;
}

static struct coherence_side side_of(const struct coherence *checker, const struct coherence_version *version)
{
    return (struct coherence_side){checker->holders[version->holder].name, version->pc, version->time,
                                   version->core};
}

static void found(struct coherence *checker, const struct coherence_finding *finding)
{
    checker->counters.problems[finding->problem]++;
    if (is_new(checker, finding) && checker->report)
        checker->report(checker->context, finding);
}

/* Returns whether memory or a copy has the newest version. */
static bool exists(const struct coherence *checker, const struct coherence_line *line)
{
    if (line->memory.number == line->newest.number)
        return true;
    const struct coherence_copy *copies = checker->lines.copies;
    for (uint32_t i = line->copies; i; i = copies[i].next)
        if (copies[i].present && copies[i].version.number == line->newest.number)
            return true;
    return false;
}

/* Reports a stale access. copy is the holder's, or NULL for an access to memory's version. */
static void stale(struct coherence *checker, const struct coherence_line *line,
                  const struct coherence_copy *copy, bool store, bool fetch,
                  const struct coherence_version *access)
{
    bool cleaned = line->memory.number == line->newest.number;
    /* A copy filled before the newest store is old even if its line has not been cleaned since. */
    bool older = copy && (cleaned || copy->filled < line->newest.time);
    found(checker,
          &(struct coherence_finding){.problem = store ? COHERENCE_STALE_STORE : COHERENCE_STALE_LOAD,
                                      .line = line->address,
                                      .access = side_of(checker, access),
                                      .writer = side_of(checker, &line->newest),
                                      .clean_writer = !cleaned,
                                      .invalidate_reader = older,
                                      .fetch = fetch,
                                      .dropped = !exists(checker, line),
                                      .found = access->time});
}

static void access_granule(struct coherence *checker, unsigned holder, uint64_t address, bool store,
                           struct cache_actor actor, uint64_t now)
{
    struct coherence_line *line = coherence_line_at(&checker->lines, address);
    struct coherence_copy *copy = coherence_copy_of(&checker->lines, line, holder);
    bool cached = copy && copy->present;
    const struct coherence_version *seen = cached ? &copy->version : &line->memory;
    struct coherence_version access = {line->newest.number, actor.pc, now, (uint16_t)actor.core,
                                       (uint16_t)holder};
    if (seen->number != line->newest.number && now >= line->newest.time)
        stale(checker, line, cached ? copy : NULL, store, actor.fetch, &access);
    if (!store)
        return;
    access.number++;
    line->newest = access;
    if (holder == MEMORY_HOLDER) {
        line->memory = access;
        return;
    }
    copy = coherence_copy_at(&checker->lines, line, holder);
    if (!cached)
        copy->base = line->memory.number;
    copy->present = true;
    copy->version = access;
}

static void write_granule(struct coherence *checker, unsigned holder, uint64_t address, uint64_t now)
{
    struct coherence_line *line = coherence_line_at(&checker->lines, address);
    struct coherence_copy *copy = coherence_copy_of(&checker->lines, line, holder);
    if (!copy || !copy->present)
        return;
    bool others = line->memory.number != copy->base && line->memory.number != copy->version.number;
    if (others && !checker->holders[holder].write_through)
        found(checker, &(struct coherence_finding){.problem = COHERENCE_LOST_UPDATE,
                                                   .line = address,
                                                   .access = side_of(checker, &copy->version),
                                                   .writer = side_of(checker, &line->memory),
                                                   .invalidate_reader = true,
                                                   .found = now});
    line->memory = copy->version;
    copy->base = copy->version.number;
}

/* Iterates over the granules of a holder's line. */
#define EACH_GRANULE(checker, holder, line, address)                                                         \
    for (uint64_t address = (line), end_ = (line) + (checker)->holders[holder].line; address < end_;         \
         address += (checker)->granule)

void coherence_access(struct coherence *checker, unsigned holder, uint64_t line, bool store,
                      struct cache_actor actor, uint64_t now)
{
    EACH_GRANULE(checker, holder, line, address)
    access_granule(checker, holder, address, store, actor, now);
}

void coherence_fill(struct coherence *checker, unsigned holder, uint64_t line, uint64_t now)
{
    EACH_GRANULE(checker, holder, line, address)
    {
        struct coherence_line *known = coherence_line_at(&checker->lines, address);
        struct coherence_copy *copy = coherence_copy_at(&checker->lines, known, holder);
        copy->present = true;
        copy->version = known->memory;
        copy->base = known->memory.number;
        copy->filled = now;
    }
}

void coherence_write_back(struct coherence *checker, unsigned holder, uint64_t line, uint64_t now)
{
    EACH_GRANULE(checker, holder, line, address)
    write_granule(checker, holder, address, now);
}

void coherence_evict(struct coherence *checker, unsigned holder, uint64_t line)
{
    EACH_GRANULE(checker, holder, line, address)
    {
        struct coherence_line *known = coherence_line_at(&checker->lines, address);
        struct coherence_copy *copy = coherence_copy_of(&checker->lines, known, holder);
        if (copy)
            copy->present = false;
    }
}

void coherence_uncached(struct coherence *checker, uint64_t address, uint64_t size, bool store,
                        struct cache_actor actor, uint64_t now)
{
    uint64_t mask = ~(uint64_t)(checker->granule - 1), last = (address + size - 1) & mask;
    for (uint64_t line = address & mask; line <= last; line += checker->granule)
        access_granule(checker, MEMORY_HOLDER, line, store, actor, now);
}

static void on_access(void *context, const struct cache *cache, uint64_t line, bool store,
                      const struct cache_actor *actor, uint64_t now)
{
    const struct watch *watch = context;
    (void)cache;
    coherence_access(watch->checker, watch->holder, line, store, *actor, now);
}

static void on_fill(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                    unsigned level)
{
    const struct watch *watch = context;
    (void)cache;
    (void)asked;
    (void)level;
    coherence_fill(watch->checker, watch->holder, line, now);
}

static void on_write_back(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    const struct watch *watch = context;
    (void)cache;
    coherence_write_back(watch->checker, watch->holder, line, now);
}

static void on_evict(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    const struct watch *watch = context;
    (void)cache;
    (void)now;
    coherence_evict(watch->checker, watch->holder, line);
}

static struct watch *watch_new(struct coherence *checker, unsigned holder)
{
    struct watch *watch = grown(NULL, 1, sizeof *watch);
    *watch = (struct watch){.next = checker->watches, .checker = checker, .holder = holder};
    watch->observer.context = watch;
    checker->watches = watch;
    return watch;
}

void coherence_watch_llc(struct coherence *checker, struct llc_slices *llc)
{
    unsigned holder = coherence_holder(checker, llc_slices_name(llc),
                                       llc_configuration(llc_slices_at(llc, 0))->line, false);
    checker->holders[holder].llc = llc;
    for (uint32_t i = 0; i < llc_slices_count(llc); i++) {
        struct watch *watch = watch_new(checker, holder);
        watch->observer.fill = on_fill;
        watch->observer.write_back = on_write_back;
        watch->observer.evict = on_evict;
        llc_observe(llc_slices_at(llc, i), &watch->observer);
    }
}

void coherence_watch_cache(struct coherence *checker, struct cache *cache, const struct llc_slices *llc)
{
    const struct cache_config *config = cache_configuration(cache);
    unsigned holder = 0;
    if (llc) {
        while (holder < checker->holder_count && checker->holders[holder].llc != llc)
            holder++;
        assert(holder < checker->holder_count);
    } else {
        holder = coherence_holder(checker, cache_name(cache), config->line, config->write_through);
    }
    struct watch *watch = watch_new(checker, holder);
    watch->observer.access = on_access;
    if (!llc) {
        watch->observer.fill = on_fill;
        watch->observer.write_back = on_write_back;
        watch->observer.evict = on_evict;
    }
    cache_observe(cache, &watch->observer);
}

const struct coherence_counters *coherence_counted(const struct coherence *checker)
{
    return &checker->counters;
}
