/* The observers, accessors, statistics and energy of the last level. */
#include <math.h>
#include <stddef.h>

#include "emu/mem/cache/track.h"
#include "emu/mem/llc/state.h"

void llc_observe(struct llc *llc, struct cache_observer *observer)
{
    observer_add(&llc->observers, &observer->link);
}

void llc_track(struct llc *llc, struct track_sink *sink)
{
    if (!track_takes(sink, TRACK_TIMELINE))
        return;
    llc->track = cache_track_level(sink, llc->name);
    llc_observe(llc, cache_track_observer(llc->track));
}

void llc_tell_fill(const struct llc *llc, uint64_t line, uint64_t asked, uint64_t now, unsigned level)
{
    OBSERVER_TELL(&llc->observers, struct cache_observer, fill, NULL, line, asked, now, level);
}

void llc_tell_write(const struct llc *llc, uint64_t line, uint64_t now)
{
    OBSERVER_TELL(&llc->observers, struct cache_observer, write_back, NULL, line, now);
}

void llc_tell_evict(const struct llc *llc, uint64_t line, uint64_t now)
{
    OBSERVER_TELL(&llc->observers, struct cache_observer, evict, NULL, line, now);
}

const struct llc_config *llc_configuration(const struct llc *llc)
{
    return &llc->config;
}

uint64_t llc_prefetches_pending(const struct llc *llc)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < tags_size(&llc->tags); i++)
        pending += llc->frames[i].prefetched || llc->frames[i].prefetching;
    return pending;
}

unsigned llc_pending(const struct llc *llc)
{
    unsigned pending = llc->held + llc->prefetches_used;
    for (uint32_t i = 0; i < llc->config.write_buffer; i++)
        pending += llc->writes[i].used;
    return pending;
}

const struct llc_counters *llc_counted(const struct llc *llc)
{
    return &llc->counters;
}

void llc_publish(struct llc *llc, struct stats *stats, struct scope scope)
{
    static const struct {
        const char *name, *unit, *meaning;
        size_t offset;
    } rows[] = {
#define LLC_COUNTER(name, unit, meaning) {#name, unit, meaning, offsetof(struct llc, counters.name)},
        LLC_COUNTERS(LLC_COUNTER)
#undef LLC_COUNTER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t *value = (const uint64_t *)(const void *)((const char *)llc + rows[i].offset);
        stats_counter(stats, scope, rows[i].name, value, rows[i].unit, rows[i].meaning);
    }
    if (llc->prefetches && llc->share.has)
        stats_counter(stats, scope, "prefetches_elsewhere", &llc->prefetches_elsewhere, "lines",
                      "Prefetches not issued because the line belongs to another slice or memory");
}

static uint64_t read_time(const void *context)
{
    return ((const struct llc *)context)->queue->now;
}

/* CACTI 7: a 64-byte read of 512 KiB, 8 ways, at 32 nm costs 172 pJ. Other sizes are scaled by the square
 * root of the capacity, because wires dominate and grow with the side of the array, and by the line's
 * width. */
void llc_energy(struct llc *llc, struct energy_ledger *ledger, struct scope scope)
{
    double side = sqrt((double)llc->config.size / (512 << 10)), width = llc->config.line / 64.0;
    energy_add(ledger, scope,
               &(struct energy_account){
                   .name = "access",
                   .count = &llc->transfers,
                   .unit = (uint64_t)(172000.0 * side * width),
                   .kind = ENERGY_PER_EVENT,
                   .group = "l2",
                   .source = "CACTI 7, itrs-hp, 32 nm, 512 KiB, 8 ways, 64 bytes: 172 pJ; scaled by "
                             "sqrt(capacity) and by width"});
    if (llc->config.leakage)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "static",
                                            .read = read_time,
                                            .context = llc,
                                            .unit = llc->config.leakage * (llc->config.size / 1024),
                                            .kind = ENERGY_OVER_TIME,
                                            .fields = "leakage size",
                                            .group = "static"});
}
