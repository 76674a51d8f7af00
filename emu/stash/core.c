/* Time: what a multiprocessor asks of its stash, and maps that the hardware has to wait for. */
#include <assert.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/stash/map_track.h"
#include "emu/stash/part.h"

static struct stash_space *space_of(struct stash_core *core, const struct simt_block *block)
{
    unsigned i = 0;
    while (core->spaces[i].block != block)
        i++;
    return &core->spaces[i];
}

static bool fits(const void *local, uint64_t bytes)
{
    const struct stash_core *core = local;
    return stash_fits(core->stash, bytes);
}

static void begin(void *local, const struct simt_block *block, const struct warp_place *place)
{
    struct stash_core *core = local;
    struct stash_space *space = space_of(core, NULL);
    if (core->port)
        stash_port_start(core->port);
    core->versions = core->unit ? cache_versions(core->l1, &core->agent) : NULL;
    if (core->versions)
        stash_unit_check(core->unit, core->versions, core->agent);
    space->core = core;
    stash_space_begin(space, block, place);
    space->number = (uint8_t)stash_begin_block(core->stash, space->size, &space->first);
    core->blocks++;
}

static void end(void *local, const struct simt_block *block)
{
    struct stash_core *core = local;
    struct stash_space *space = space_of(core, block);
    assert(!space->waiting && "warps wait for their maps before they end");
    stash_end_block(core->stash, space->number);
    histogram_add(&core->hits_of, space->hits);
    histogram_add(&core->misses_of, space->misses);
    const struct stash_block_counters *counted = stash_block_counted(core->stash, space->number);
    histogram_add(&core->fetched_of, counted->fetched);
    histogram_add(&core->unused_of, counted->unused);
    histogram_add(&core->kept_of, counted->kept);
    stash_space_end(space);
}

static void flush(void *local, uint64_t now)
{
    struct stash_core *core = local;
    stash_self_invalidate(core->stash, now);
}

/* Words that a lane accesses: those of its bytes. */
static void add_words(struct stash_warp_access *access, uint64_t offset, unsigned size)
{
    struct stash_access *words = &access->access;
    const uint32_t first = access->space->first + (uint32_t)offset, last = first + size - 1;
    for (uint32_t word = first / STASH_WORD; word <= last / STASH_WORD; word++) {
        words->words[words->count].selector = (uint8_t)(offset >> CROFT_STASH_SELECTOR_BIT);
        words->words[words->count++].word = word;
    }
}

static void take(void *local, uint32_t number, const struct simt_local_access *taken)
{
    struct stash_core *core = local;
    struct stash_warp_access *access = &core->accesses[number];
    access->space = space_of(core, taken->block);
    access->looked = false;
    access->next = 0;
    access->pc = taken->pc;
    access->access.block = access->space->number;
    access->access.store = taken->store;
    access->distinct = taken->words;
    access->access.count = 0;
    for (uint32_t left = taken->mask; left; left &= left - 1)
        add_words(access, taken->offset[__builtin_ctz(left)], taken->size);
}

/* Returns whether a miss has the word of memory. */
static bool is_of(const struct stash_miss *miss, uint64_t line, uint64_t bit)
{
    return miss->line == line && (miss->mask & bit);
}

/* Returns whether the checker is told of a word of memory: with `only`, if this miss has it; without, if no miss has it. */
static bool is_noted(const struct stash_core *core, const struct stash_access *words,
                     const struct stash_miss *only, uint64_t address)
{
    const uint64_t line = address & ~(uint64_t)(cache_configuration(core->l1)->line - 1),
                   bit = UINT64_C(1) << (address - line) / STASH_WORD;
    if (only)
        return is_of(only, line, bit);
    for (unsigned i = 0; i < words->miss_count; i++)
        if (is_of(&words->misses_of[i], line, bit))
            return false;
    return true;
}

/* Tells the checker of words of coherent maps. */
static void note_words(const struct stash_core *core, const struct stash_warp_access *access,
                       const struct stash_miss *only, uint64_t time)
{
    const struct stash_access *words = &access->access;
    struct word_access noted = {.agent = core->agent, .stash = true, .pc = access->pc, .time = time};
    for (unsigned i = 0; i < words->count; i++) {
        const unsigned map = words->words[i].selector - 1u, word = words->words[i].word;
        if (!words->words[i].selector || !stash_map_coherent(core->stash, words->block, map) ||
            !stash_physical(core->stash, words->block, map, word, &noted.address) ||
            !is_noted(core, words, only, noted.address))
            continue;
        uint32_t *version = stash_version(core->stash, word);
        if (words->store)
            *version = word_versions_store(core->versions, &noted);
        else
            word_versions_load(core->versions, &noted, *version);
    }
}

/* Sends as many misses of an access as can be translated in a clock. */
static unsigned send_misses(struct stash_core *core, struct stash_warp_access *access, uint64_t time)
{
    const struct stash_config *config = &core->part->config;
    const uint64_t sent = time + clock_time(&core->clock, config->translation_clocks);
    unsigned done = 0;
    bool waits;
    for (uint32_t i = 0; i < config->translations && access->next < access->access.miss_count; i++) {
        const struct stash_miss *miss = &access->access.misses_of[access->next];
        if (core->versions && !access->access.store)
            stash_unit_loads(core->unit, miss->line, miss->entry, access->pc);
        if (stash_send(core->stash, &access->access, access->next, time, sent, &access->waiter, &waits) !=
            STASH_DONE)
            return done + SIMT_LOCAL_REFUSED;
        if (core->versions && access->access.store)
            note_words(core, access, miss, time);
        access->next++;
        done += waits ? SIMT_LOCAL_WAIT : 0;
    }
    return done + (access->next < access->access.miss_count ? SIMT_LOCAL_MORE : 0);
}

/* Counts what the storage delivers or takes: a bank's word once. */
static void count_words(struct stash_core *core, const struct stash_warp_access *access)
{
    uint64_t misses = 0;
    for (unsigned i = 0; i < access->access.miss_count; i++)
        misses += (unsigned)__builtin_popcountll(access->access.misses_of[i].mask);
    core->miss_words += misses;
    core->hit_words += access->distinct - misses;
}

static unsigned step(void *local, uint32_t number, uint64_t time)
{
    struct stash_core *core = local;
    struct stash_warp_access *access = &core->accesses[number];
    if (!access->looked) {
        if (access->space->waiting || stash_look(core->stash, &access->access, time) != STASH_DONE)
            return SIMT_LOCAL_REFUSED;
        access->looked = true;
        core->hits += access->access.hits;
        core->misses += access->access.misses;
        count_words(core, access);
        access->space->hits += access->access.hits;
        access->space->misses += access->access.misses;
        if (core->versions)
            note_words(core, access, NULL, time);
    }
    return send_misses(core, access, time);
}

static void arrived(struct stash_waiter *waiter, uint64_t now)
{
    struct stash_warp_access *access = (struct stash_warp_access *)waiter;
    struct stash_core *core = access->core;
    simt_local_answered(core->simt, (uint32_t)(access - core->accesses), now);
}

/* Asks for the first words of the map that the block has added last. */
static void prefetch(struct stash_core *core, unsigned block, uint64_t now)
{
    const struct stash_config *config = &core->part->config;
    if (config->prefetch)
        stash_prefetch(core->stash, block, stash_maps(core->stash, block) - 1,
                       now + clock_time(&core->clock, config->translation_clocks),
                       clock_time(&core->clock, 1));
}

/* Tries an operation. Returns whether it is done. */
static bool operate(struct stash_core *core, const struct stash_operation *operation, uint64_t now)
{
    const unsigned block = operation->space->number;
    const enum stash_outcome outcome =
        operation->change < 0
            ? stash_add(core->stash, block, &operation->tile, now)
            : stash_change(core->stash, block, (unsigned)operation->change, &operation->tile, now);
    if (outcome == STASH_DONE && operation->change < 0)
        prefetch(core, block, now);
    /* STASH_ERROR waits, too: new maps of other blocks have the pages, and give them back. */
    return outcome == STASH_DONE;
}

static bool is_settled(const struct stash_core *core)
{
    return !core->unit || denovo_settled(stash_unit_of(core->unit));
}

/* A release asks. */
static bool settled(void *local)
{
    const struct stash_core *core = local;
    if (is_settled(core))
        return true;
    denovo_hasten(stash_unit_of(core->unit), DENOVO_ANY);
    return false;
}

static void retry(void *context, uint64_t now)
{
    struct stash_core *core = context;
    if (core->unit && is_settled(core))
        simt_local_settled(core->simt, now);
    struct stash_operation **link = &core->operations;
    while (*link) {
        struct stash_operation *operation = *link;
        if (!operate(core, operation, now)) {
            link = &operation->next;
            continue;
        }
        *link = operation->next;
        operation->space->waiting--;
        for (uint32_t i = 0; i < operation->waiter_count; i++)
            custom_done(operation->waiters[i], now);
        free(operation->waiters);
        free(operation);
    }
    core->operations_end = link;
    simt_local_retry(core->simt, now);
}

static void add_waiter(struct stash_operation *operation, struct custom_waiter *waiter)
{
    if (!waiter)
        return;
    operation->waiters =
        alloc_resize(operation->waiters, (operation->waiter_count + 1) * sizeof(struct custom_waiter *));
    operation->waiters[operation->waiter_count++] = custom_halt(waiter);
}

void stash_core_operate(struct stash_core *core, struct stash_space *space, int change,
                        const struct stash_tile *tile, struct custom_waiter *waiter, uint64_t now)
{
    const struct stash_operation first = {.space = space, .change = change, .tile = *tile};
    if (!space->waiting && operate(core, &first, now))
        return;
    struct stash_operation *operation = alloc(1, sizeof *operation);
    *operation = first;
    *core->operations_end = operation;
    core->operations_end = &operation->next;
    space->waiting++;
    add_waiter(operation, waiter);
}

void stash_core_wait(struct stash_core *core, const struct stash_space *space, struct custom_waiter *waiter)
{
    for (struct stash_operation *operation = core->operations; operation; operation = operation->next)
        if (operation->space == space) {
            add_waiter(operation, waiter);
            return;
        }
}

/* Pages are known once a block of the launch has executed an AddMap. */
static bool translate(void *context, uint64_t page, uint64_t *physical)
{
    static const struct warp_scratchpad none = {0};
    const struct stash_core *core = context;
    if (!warp_memory_can(core->memory, &none, page, 1, WARP_LOAD))
        return false;
    (void)warp_memory_place(core->memory, page, WARP_LOAD, physical);
    return true;
}

/* Makes the level below: a unit of the domain of the first-level cache, or requests to the port below that cache. */
static void connect_below(struct stash_core *core, const struct simt_beside *beside, uint32_t component)
{
    const struct stash_config *config = &core->part->config;
    struct denovo_place place;
    struct denovo_domain *domain = cache_domain(beside->l1, &place);
    if (domain) {
        core->unit = stash_unit_join(config, core->stash, domain, &place,
                                     clock_time(&core->clock, config->translation_clocks));
        return;
    }
    core->port =
        stash_port_new(config, &(struct stash_port_parts){.queue = core->part->queue,
                                                          .component = component,
                                                          .requester = beside->number,
                                                          .link = simt_lower(beside->simt),
                                                          .stash = core->stash,
                                                          .line = cache_configuration(beside->l1)->line});
    stash_connect(core->stash, &stash_port_ops, core->port);
}

void stash_core_init(struct stash_core *core, struct stash_part *part, const struct simt_beside *beside,
                     uint32_t bytes, uint32_t component)
{
    static const struct simt_local_ops ops = {fits, begin, end, flush, take, step, settled};
    const uint32_t line = cache_configuration(beside->l1)->line;
    core->part = part;
    core->simt = beside->simt;
    core->l1 = beside->l1;
    core->clock = beside->clock;
    core->operations_end = &core->operations;
    core->hits_of = core->misses_of = core->fetched_of = core->unused_of = core->kept_of =
        histogram_log2(4, 8);
    core->stash = stash_new(&part->config, bytes, line, &(struct stash_user){translate, retry, core});
    connect_below(core, beside, component);
    core->accesses = alloc(SIMT_ACCESSES, sizeof *core->accesses);
    for (uint32_t i = 0; i < SIMT_ACCESSES; i++) {
        core->accesses[i].core = core;
        core->accesses[i].waiter.done = arrived;
    }
    simt_set_local(beside->simt, &ops, core);
}

void stash_core_free(struct stash_core *core)
{
    while (core->operations) {
        struct stash_operation *operation = core->operations;
        core->operations = operation->next;
        free(operation->waiters);
        free(operation);
    }
    for (unsigned i = 0; i < STASH_BLOCKS; i++)
        stash_space_end(&core->spaces[i]);
    map_track_free(core->track);
    stash_port_free(core->port);
    stash_unit_free(core->unit);
    stash_free(core->stash);
    free(core->accesses);
}
