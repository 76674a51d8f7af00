#include "emu/cmd/candidates/profile.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "emu/simt/trace/access_trace.h"

enum { THREADS = 32 };

/* What the requests of an instruction were. */
struct site {
    uint64_t pc, requests, threads, misses;
};

/* The tags of a multiprocessor's cache: by set, the line used last first. */
struct tags {
    uint64_t *lines; /* number of the line + 1; 0: none */
};

struct profile {
    struct profile_cache cache;
    uint64_t sets;
    struct tags *tags; /* by multiprocessor */
    size_t tag_count;
    struct site *sites; /* by pc, when all are read */
    size_t count, room;
    size_t *index; /* by hash of pc: number of the site + 1; 0: none */
    size_t index_size;
    uint64_t requests;
};

static size_t slot_of(const struct profile *p, uint64_t pc)
{
    size_t at = (size_t)((pc >> 1) * MIX_FACTOR >> 20) & (p->index_size - 1);
    while (p->index[at] && p->sites[p->index[at] - 1].pc != pc)
        at = (at + 1) & (p->index_size - 1);
    return at;
}

static void grow(struct profile *p)
{
    p->room = p->room ? 2 * p->room : 64;
    p->sites = alloc_resize(p->sites, p->room * sizeof *p->sites);
    free(p->index);
    p->index_size = 4 * p->room;
    p->index = alloc(p->index_size, sizeof *p->index);
    for (size_t i = 0; i < p->count; i++)
        p->index[slot_of(p, p->sites[i].pc)] = i + 1;
}

static struct site *site_of(struct profile *p, uint64_t pc)
{
    if (p->count == p->room)
        grow(p);
    const size_t at = slot_of(p, pc);
    if (!p->index[at]) {
        p->sites[p->count] = (struct site){.pc = pc};
        p->index[at] = ++p->count;
    }
    return &p->sites[p->index[at] - 1];
}

static struct tags *tags_of(struct profile *p, uint32_t multiprocessor)
{
    if (multiprocessor >= p->tag_count) {
        p->tags = alloc_resize(p->tags, (multiprocessor + 1) * sizeof *p->tags);
        memset(p->tags + p->tag_count, 0, (multiprocessor + 1 - p->tag_count) * sizeof *p->tags);
        p->tag_count = multiprocessor + 1;
    }
    struct tags *tags = &p->tags[multiprocessor];
    if (!tags->lines)
        tags->lines = alloc((size_t)p->sets * p->cache.ways, sizeof *tags->lines);
    return tags;
}

/* Uses a line, and brings it in if `allocates`. Returns whether it was there. */
static bool use(struct profile *p, uint32_t multiprocessor, uint64_t line, bool allocates)
{
    uint64_t *set = tags_of(p, multiprocessor)->lines + line % p->sets * p->cache.ways;
    uint32_t way = 0;
    while (way < p->cache.ways && set[way] != line + 1)
        way++;
    const bool there = way < p->cache.ways;
    if (!there && !allocates)
        return false;
    way = there ? way : p->cache.ways - 1;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line + 1;
    return there;
}

static void empty(struct profile *p)
{
    for (size_t i = 0; i < p->tag_count; i++)
        if (p->tags[i].lines)
            memset(p->tags[i].lines, 0, (size_t)p->sets * p->cache.ways * sizeof *p->tags[i].lines);
}

static void take(struct profile *p, const struct access_record *record)
{
    if (record->kind == ACCESS_IS_LAUNCH) {
        empty(p);
        return;
    }
    if (record->kind == ACCESS_IS_ATOMIC)
        return;
    const bool load = record->kind == ACCESS_IS_LOAD;
    const bool there = use(p, record->multiprocessor, record->address / p->cache.line, load);
    if (record->stack)
        return;
    struct site *site = site_of(p, record->pc);
    site->requests++;
    site->threads += record->threads;
    site->misses += !there;
    p->requests++;
}

struct profile *profile_read(const char *path, const struct profile_cache *cache, struct error *err)
{
    struct access_record record;
    struct access_reader *reader = access_reader_open(path, err);
    if (!reader)
        return NULL;
    struct profile *p = alloc(1, sizeof *p);
    p->cache = *cache;
    p->sets = cache->size / cache->line / cache->ways;
    while (access_reader_next(reader, &record, err))
        take(p, &record);
    access_reader_close(reader);
    if (!*err->text && p->requests)
        return p;
    if (!*err->text)
        (void)error_set(err, "%s: the trace has no requests of threads", path);
    profile_free(p);
    return NULL;
}

void profile_free(struct profile *p)
{
    for (size_t i = 0; p && i < p->tag_count; i++)
        free(p->tags[i].lines);
    if (p) {
        free(p->tags);
        free(p->sites);
        free(p->index);
    }
    free(p);
}

bool profile_rates(const void *profile, uint64_t pc, double *lines, double *misses)
{
    const struct profile *p = profile;
    const size_t at = slot_of(p, pc);
    if (!p->index[at])
        return false;
    const struct site *site = &p->sites[p->index[at] - 1];
    *lines = (double)site->requests * THREADS / (double)(site->threads ? site->threads : 1);
    *misses = (double)site->misses / (double)site->requests;
    return true;
}

uint64_t profile_requests(const struct profile *profile)
{
    return profile->requests;
}
