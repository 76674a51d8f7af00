/* The coherent level: a shared, inclusive second-level cache whose tags are the directory of the first-level
 * caches (MESI).
 *
 * One transaction at a time for each line; further requests for it wait in order of arrival. A read grants
 * SHARED, or EXCLUSIVE when nobody else has the line; an exclusive read first takes the line from all others.
 * A fetch is never granted more than SHARED. Copies in first-level caches are changed by cache_probe(); the
 * time that takes is the hub's to count. Clean lines leave first-level caches silently, so that the directory
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
#ifndef EMU_MEM_HUB_H
#define EMU_MEM_HUB_H

#include "emu/mem/cache.h"
#include "emu/sim/energy.h"

enum { HUB_CLIENTS = 128 };

struct hub_config {
    uint64_t size;   /* bytes: ways * line * a power of two */
    uint32_t ways;   /* 1 to 32 */
    uint32_t line;   /* bytes, a power of two from 16 to 256; that of all first-level caches */
    uint32_t slices; /* it is one of so many, a power of two, each of which has every so-manieth line, so that
                               the line's number says that much less about its set; 0 is 1 */
    uint32_t hit_clocks;    /* from the arrival of a request to its response when the line is here */
    uint32_t tag_clocks;    /* from the arrival to the look at the tags, 1 to hit_clocks */
    uint32_t probe_clocks;  /* more, when another core's copy has to be asked for */
    uint32_t fill_clocks;   /* from memory's answer to the response */
    uint32_t mshrs;         /* lines that can be under way to memory, at least 1 */
    uint32_t queue;         /* requests that it holds, at least 1; more are refused */
    uint32_t write_buffer;  /* lines on their way to memory, at least 1 */
    uint32_t accept_clocks; /* between two requests that it accepts: 1 / bandwidth; at least 1 */
    enum tags_replacement replacement;
};

/* What is counted since the start: HUB_COUNTER(name, unit, meaning). */
#define HUB_COUNTERS(HUB_COUNTER)                                                                            \
    HUB_COUNTER(reads, "requests", "Reads, exclusive ones too")                                              \
    HUB_COUNTER(writes, "requests", "Lines brought back and stores through")                                 \
    HUB_COUNTER(hits, "requests", "Requests whose line was here")                                            \
    HUB_COUNTER(misses, "requests", "Requests whose line was not here")                                      \
    HUB_COUNTER(fills, "lines", "Lines that came from memory")                                               \
    HUB_COUNTER(write_backs, "lines", "Lines written to memory")                                             \
    HUB_COUNTER(evictions, "lines", "Lines replaced")                                                        \
    HUB_COUNTER(probes, "probes", "Copies in first-level caches asked for")                                  \
    HUB_COUNTER(dirty_probes, "probes", "Probes that found the newest version")                              \
    HUB_COUNTER(back_invalidations, "probes", "Copies taken because the line was replaced here")             \
    HUB_COUNTER(upgrades, "requests", "Exclusive reads by a holder of a copy")                               \
    HUB_COUNTER(lost_upgrades, "requests", "Upgrades whose copy had been taken meanwhile")                   \
    HUB_COUNTER(late_writes, "requests", "Write-backs of lines that had been taken meanwhile")               \
    HUB_COUNTER(line_waits, "requests", "Requests that waited for another one of their line")                \
    HUB_COUNTER(stalls, "requests", "Requests that waited for an MSHR, a way or the write buffer")           \
    HUB_COUNTER(refusals, "requests", "Requests refused because the queue was full")                         \
    HUB_COUNTER(uncached, "requests", "Requests passed through")                                             \
    HUB_COUNTER(maintenance, "requests", "Ranges cleaned or invalidated")                                    \
    HUB_COUNTER(maintained, "lines", "Lines of such ranges that were here")                                  \
    HUB_COUNTER(dropped, "lines", "Dirty lines forgotten by an invalidation")

struct hub_counters {
#define HUB_COUNTER(name, unit, meaning) uint64_t name;
    HUB_COUNTERS(HUB_COUNTER)
#undef HUB_COUNTER
};

struct hub;

extern const struct mem_port_ops hub_ops;

/* 1 MiB, 16 ways of 64 bytes, 12 clocks of which 4 for the tags, 6 a probe, 2 a fill, 16 MSHRs, LRU. */
void hub_config_default(struct hub_config *config);
bool hub_config_check(const struct hub_config *config, struct error *err);

/* Like cache_new(). */
struct hub *hub_new(const char *name, const struct hub_config *config, struct event_queue *queue,
                    const struct clock *clock, uint32_t component, uint16_t requester,
                    const struct mem_port_ops *lower_ops, void *lower);
void hub_free(struct hub *hub);

/* Makes a first-level cache, whose lower port is this hub, known as a holder of lines. At most HUB_CLIENTS.
 */
void hub_attach(struct hub *hub, struct cache *cache);

/* The same for a holder of any kind, known by its link: probe() does what cache_probe() does. */
struct hub_client {
    const struct mem_link *link;
    bool (*probe)(void *context, uint64_t line, enum cache_state remains, uint64_t now);
    void *context;
};
void hub_attach_client(struct hub *hub, const struct hub_client *client);

/* For those who watch what passes between hub and memory (`cache` is NULL in the calls): fills when the line
 * has come, write-backs when the line leaves for the write buffer, evictions. Warming tells them too. At most
 * 4; the struct is copied. */
void hub_observe(struct hub *hub, const struct cache_observer *observer);

const char *hub_name(const struct hub *hub);
const struct hub_config *hub_configuration(const struct hub *hub);
const struct hub_counters *hub_counted(const struct hub *hub);

/* What the directory knows of a line, for tests and debuggers. */
struct hub_line {
    bool present, dirty, busy;
    int owner; /* number of the client, in order of attachment, that may have changed it; -1: none */
    uint64_t holders[HUB_CLIENTS / 64]; /* bit: client */
};
struct hub_line hub_line_state(const struct hub *hub, uint64_t physical);

/* Requests that it holds or waits for; 0: at rest. */
unsigned hub_pending(const struct hub *hub);

/* Registers "PREFIX.hits", "PREFIX.misses" and all else that is counted. */
void hub_publish(struct hub *hub, struct stats *stats, const char *prefix);

/* Opens the account "PREFIX.access": a line read from or written to the array. */
void hub_energy(struct hub *hub, struct energy_ledger *ledger, const char *prefix);

#endif
