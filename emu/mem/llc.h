/* The last level: a shared, inclusive second-level cache whose tags are the directory of the first-level
 * caches. The rows of a protocol (protocol.h) say what a request does to their copies and to the directory.
 *
 * One transaction at a time for each line; further requests for it wait in order of arrival. Copies in
 * first-level caches are changed by cache_probe(); the time that takes is the cache's own to count. A
 * MEM_WRITE of a whole line by an attached cache brings a dirty line back (PROTOCOL_PUT_LINE); with
 * request->exclusive the sender keeps a copy to read (PROTOCOL_PUT_KEEP). Any other MEM_WRITE is a store that
 * is done here. A client that is not attached is served, and takes lines from others as it must, but is not
 * recorded. Reads and writes lie within one line.
 *
 * Latency from arrival to response, in clocks, from the first clock edge at or after the arrival:
 *   queue + hit_clocks + array                         the line is here
 *   queue + hit_clocks + array + probe_clocks          and the protocol's row probes
 *   queue + tag_clocks + memory + array + fill_clocks  the line comes from memory
 * where queue is 0 unless the line's bank accepted another request less than accept_clocks before; array is 0
 * unless the data array of the bank is busy; and memory is the time from the request to its answer, which
 * waits for the next clock edge. What waits for its line, an MSHR, a way or room in the write buffer looks
 * again when it is there, tag_clocks of the above being over. State changes when the tags have been looked
 * at, at queue + tag_clocks.
 *
 * A last level can be one of several slices. Blocks of slice_bytes take turns among the slices; each slice is
 * an instance of its own, with latencies of its own; what stands above (llc_slices.h, a crossbar) chooses. Within a slice
 * lines take turns among its banks, which share its queue, MSHRs and write buffer. A bank accepts requests by
 * itself (a range counts for the bank of its first line). A line that is read from or written to the bank's
 * data array keeps the array busy for bank_clocks; lines are served in the order of their times: for a hit or
 * a store when the tags have been looked at, for a line from memory at the clock edge after it has come, and
 * for a victim and for what a probe brings at once. Only the response waits for its own line's turn. With
 * bank_clocks of 0 the array is never busy.
 *
 * A range to clean or invalidate takes tag_clocks, then a clock for each line (llc_set_slice()), or for each of the
 * cache's own lines where those are fewer. An uncached request passes at once, whatever lines are here. A line on its way
 * to memory is read again only when memory has answered. Warming puts lines in and out without time; a line
 * whose set is wholly busy is then not recorded. Not modelled: prefetching, and the width of the way back to
 * the first-level caches.
 */
#ifndef EMU_MEM_LLC_H
#define EMU_MEM_LLC_H

#include "emu/mem/cache.h"
#include "emu/sim/energy.h"

struct llc_config {
#include "emu/sim/fields_struct.h"

#include "emu/mem/llc.def"
    uint32_t
        slice_bytes; /* of the blocks that take turns among slices: a power of two, at least a line; 0: a line */
    const struct protocol *protocol; /* by line, with a directory; that of the attached caches; NULL: MESI */
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
    LLC_COUNTER(bank_waits, "requests", "Requests that waited until their bank accepted them")               \
    LLC_COUNTER(array_waits, "requests", "Requests that waited for the data array of their bank")            \
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

/* Joins it to the port below, when llc_new() was given none. To be called before the first request. */
void llc_connect(struct llc *llc, const struct mem_port_ops *ops, void *port);

/* It is that one of config->slices, below that number, and gets only addresses of its own: blocks whose number modulo slices
 * is the slice's. It then looks at these lines only when a range is cleaned or invalidated. */
void llc_set_slice(struct llc *llc, uint32_t number);

/* It is the last level: requests get their homes from this map, which outlives it, when they leave. */
void llc_set_homes(struct llc *llc, struct home_map *homes);

/* Makes a first-level cache, whose lower port is this one, known as a holder of lines. Any number; they are
 * numbered from 0 in order of attachment. */
void llc_attach(struct llc *llc, struct cache *cache);

/* The same for a holder of any kind, known by its link: probe() does what cache_probe() does. */
struct llc_client {
    const struct mem_link *link;
    bool (*probe)(void *context, uint64_t line, enum protocol_event event, uint64_t now);
    void *context;
};
void llc_attach_client(struct llc *llc, const struct llc_client *client);

/* For those who watch what passes between it and memory (`cache` is NULL in the calls): fills when the line
 * has come, write-backs when the line leaves for the write buffer, evictions, probes. Warming tells them too. The
 * observer stays the caller's (emu/sim/observer.h). */
void llc_observe(struct llc *llc, struct cache_observer *observer);

/* Shows it on tracks of the sink (cache_track.h), as a group of its name. To be called once, before the first
 * request. */
void llc_track(struct llc *llc, struct track_sink *sink);

const char *llc_name(const struct llc *llc);
const struct llc_config *llc_configuration(const struct llc *llc);
const struct llc_counters *llc_counted(const struct llc *llc);

/* What the directory knows of a line, for tests and debuggers. */
struct llc_line {
    bool present, dirty, busy;
    int owner; /* number of the client, in order of attachment, that may have changed it; -1: none */
    const uint64_t
        *holders; /* bit: client, in words of 64; NULL: not present. Until the next event or attachment */
};
struct llc_line llc_line_state(const struct llc *llc, uint64_t physical);

/* Requests that it holds or waits for; 0: at rest. */
unsigned llc_pending(const struct llc *llc);

/* Registers "hits", "misses" and all else that is counted. */
void llc_publish(struct llc *llc, struct stats *stats, struct scope scope);

/* Opens the account "access": a line read from or written to the array. */
void llc_energy(struct llc *llc, struct energy_ledger *ledger, struct scope scope);

#endif
