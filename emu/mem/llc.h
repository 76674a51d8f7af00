/* The coherent level: a shared, inclusive second-level cache whose tags are the directory of the first-level
 * caches (MESI).
 *
 * One transaction at a time for each line; further requests for it wait in order of arrival. A read grants
 * SHARED, or EXCLUSIVE when nobody else has the line; an exclusive read first takes the line from all others.
 * A fetch is never granted more than SHARED. Copies in first-level caches are changed by cache_probe(); the
 * time that takes is the cache's own to count. Clean lines leave first-level caches silently, so that the directory
 * may name more holders than there are. A MEM_WRITE of a whole line by an attached cache brings a dirty line
 * back: with request->exclusive the sender keeps a SHARED copy; one that comes after the line was taken from
 * its sender is answered and changes nothing. Any other MEM_WRITE is a store that goes through: it takes the
 * line from all but its sender and is done here. A client that is not attached is served, and takes lines
 * from others as it must, but holds nothing as far as the directory knows. Reads and writes lie within one
 * line.
 *
 * Latency from arrival to response, in clocks, from the first clock edge at or after the arrival:
 *   queue + hit_clocks                             the line is here
 *   queue + hit_clocks + probe_clocks              and another cache's copy had to be asked for
 *   queue + tag_clocks + memory + fill_clocks      the line comes from memory
 * where queue is 0 unless another request was accepted less than accept_clocks before, and memory is the time
 * from the request to its answer, which waits for the next clock edge. What waits for its line, an MSHR, a
 * way or room in the write buffer looks again when it is there, tag_clocks of the above being over. State
 * changes when the tags have been looked at, at queue + tag_clocks.
 *
 * A range to clean or invalidate takes tag_clocks, then a clock for each line, or for each of the cache's own
 * lines where those are fewer. An uncached request passes at once, whatever lines are here. A line on its way
 * to memory is read again only when memory has answered. Warming puts lines in and out without time; a line
 * whose set is wholly busy is then not recorded. Not modelled: bank conflicts of the data array, prefetching,
 * and the width of the way back to the first-level caches.
 */
#ifndef EMU_MEM_LLC_H
#define EMU_MEM_LLC_H

#include "emu/mem/cache.h"
#include "emu/sim/energy.h"

enum { LLC_CLIENTS = 128 };

struct llc_config {
#include "emu/sim/fields_struct.h"

#include "emu/mem/llc.def"
};

extern const struct part_kind llc_kind;

/* What is counted since the start: LLC_COUNTER(name, unit, meaning). */
#define LLC_COUNTERS(LLC_COUNTER)                                                                            \
    LLC_COUNTER(reads, "requests", "Reads, exclusive ones too")                                              \
    LLC_COUNTER(writes, "requests", "Lines brought back and stores through")                                 \
    LLC_COUNTER(hits, "requests", "Requests whose line was here")                                            \
    LLC_COUNTER(misses, "requests", "Requests whose line was not here")                                      \
    LLC_COUNTER(fills, "lines", "Lines that came from memory")                                               \
    LLC_COUNTER(write_backs, "lines", "Lines written to memory")                                             \
    LLC_COUNTER(evictions, "lines", "Lines replaced")                                                        \
    LLC_COUNTER(probes, "probes", "Copies in first-level caches asked for")                                  \
    LLC_COUNTER(dirty_probes, "probes", "Probes that found the newest version")                              \
    LLC_COUNTER(back_invalidations, "probes", "Copies taken because the line was replaced here")             \
    LLC_COUNTER(upgrades, "requests", "Exclusive reads by a holder of a copy")                               \
    LLC_COUNTER(lost_upgrades, "requests", "Upgrades whose copy had been taken meanwhile")                   \
    LLC_COUNTER(late_writes, "requests", "Write-backs of lines that had been taken meanwhile")               \
    LLC_COUNTER(line_waits, "requests", "Requests that waited for another one of their line")                \
    LLC_COUNTER(stalls, "requests", "Requests that waited for an MSHR, a way or the write buffer")           \
    LLC_COUNTER(refusals, "requests", "Requests refused because the queue was full")                         \
    LLC_COUNTER(uncached, "requests", "Requests passed through")                                             \
    LLC_COUNTER(maintenance, "requests", "Ranges cleaned or invalidated")                                    \
    LLC_COUNTER(maintained, "lines", "Lines of such ranges that were here")                                  \
    LLC_COUNTER(dropped, "lines", "Dirty lines forgotten by an invalidation")

struct llc_counters {
#define LLC_COUNTER(name, unit, meaning) uint64_t name;
    LLC_COUNTERS(LLC_COUNTER)
#undef LLC_COUNTER
};

struct llc;

extern const struct mem_port_ops llc_ops;

/* Like cache_new(). */
struct llc *llc_new(const char *name, const struct llc_config *config, struct event_queue *queue,
                    const struct clock *clock, uint32_t component, uint16_t requester,
                    const struct mem_port_ops *lower_ops, void *lower);
void llc_free(struct llc *llc);

/* Makes a first-level cache, whose lower port is this one, known as a holder of lines. At most LLC_CLIENTS.
 */
void llc_attach(struct llc *llc, struct cache *cache);

/* The same for a holder of any kind, known by its link: probe() does what cache_probe() does. */
struct llc_client {
    const struct mem_link *link;
    bool (*probe)(void *context, uint64_t line, enum cache_state remains, uint64_t now);
    void *context;
};
void llc_attach_client(struct llc *llc, const struct llc_client *client);

/* For those who watch what passes between it and memory (`cache` is NULL in the calls): fills when the line
 * has come, write-backs when the line leaves for the write buffer, evictions. Warming tells them too. The
 * observer stays the caller's (emu/sim/observer.h). */
void llc_observe(struct llc *llc, struct cache_observer *observer);

const char *llc_name(const struct llc *llc);
const struct llc_config *llc_configuration(const struct llc *llc);
const struct llc_counters *llc_counted(const struct llc *llc);

/* What the directory knows of a line, for tests and debuggers. */
struct llc_line {
    bool present, dirty, busy;
    int owner; /* number of the client, in order of attachment, that may have changed it; -1: none */
    uint64_t holders[LLC_CLIENTS / 64]; /* bit: client */
};
struct llc_line llc_line_state(const struct llc *llc, uint64_t physical);

/* Requests that it holds or waits for; 0: at rest. */
unsigned llc_pending(const struct llc *llc);

/* Registers "hits", "misses" and all else that is counted. */
void llc_publish(struct llc *llc, struct stats *stats, struct scope scope);

/* Opens the account "access": a line read from or written to the array. */
void llc_energy(struct llc *llc, struct energy_ledger *ledger, struct scope scope);

#endif
