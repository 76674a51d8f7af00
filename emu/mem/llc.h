/* The last-level cache, or last level: a shared, inclusive second-level cache whose tags contain the
 * directory of the first-level caches. The rows of a protocol (protocol.h) define what a request does to
 * their copies and to the directory.
 *
 * A line has one transaction at a time; further requests for it wait in order of arrival. Copies in
 * first-level caches are changed by cache_probe(), which takes no time here. A MEM_WRITE of a whole line by
 * an attached cache returns a dirty line (PROTOCOL_PUT_LINE); with request->exclusive, the sender keeps a
 * readable copy (PROTOCOL_PUT_KEEP). Any other MEM_WRITE is a store to the line in this cache. A client that
 * is not attached is served, and its requests probe holders, but it is not recorded as a holder. A read or
 * write lies within one line.
 *
 * Latency from arrival to response, in clocks, from the first clock edge at or after the arrival:
 *    queue + hit_clocks + array                         the line is in this cache
 *    queue + hit_clocks + array + probe_clocks          and the protocol's row probes
 *    queue + tag_clocks + memory + array + fill_clocks  the line comes from memory
 * queue is 0 unless the line's bank accepted another request less than accept_clocks before. array is 0
 * unless the data array of the bank is busy. memory is the time from the request to the first clock edge at
 * or after its response. A request that waits for its line, an MSHR, a way or room in the write buffer looks
 * up the tags again when that is free, and its latency counts from there without tag_clocks. State changes
 * when the tags have been looked up, at queue + tag_clocks.
 *
 * A last level may consist of several slices. Blocks of slice_bytes are distributed round-robin over the
 * slices. Each slice is a separate instance with its own latencies; the part above it (llc_slices.h, a
 * crossbar) selects the slice. Within a slice, lines are distributed round-robin over the banks, which share
 * the slice's queue, MSHRs and write buffer. Each bank accepts requests independently (a range is accepted by
 * the bank of its first line). Reading or writing a line in the bank's data array keeps the array busy for
 * bank_clocks. Lines use the array in the order of their times: a hit or store when the tags have been looked
 * up, a line from memory at the clock edge after its arrival, a victim or a probed line at once. Only the
 * response waits for its own line's turn. With bank_clocks of 0, the array is never busy.
 *
 * Store policies (write_policy, write_allocate). With write_back, a store makes its line dirty; memory gets
 * the line when it is evicted or cleaned. With write_through, the stored words go to memory at once, and a
 * cached line is updated and stays clean. With write_evict, the stored words go to memory at once, and a
 * cached line leaves the cache when the tags have been looked up. A store that misses brings its line in if
 * write_allocate is true and the policy is not write_evict: it reads memory unless it stores the whole line.
 * Else only its words go to memory (write-no-allocate), with write_back too.
 *
 * A store whose words go to memory at once takes an entry of the write buffer, or joins a write of its line
 * that memory has not accepted yet. Words are 32 bits. It is answered after hit_clocks, when this cache has
 * taken its words; memory's answer frees the entry. A line that is not in the cache is read again only after
 * that, and stores that miss do not pass a request that waits for it.
 *
 * Atomics. A slice has an atomic unit, a pipeline that begins operations in the order in which they have
 * looked up the tags. An operation of n words takes its first stage for ceil(n / atomic_words) clocks, and
 * begins atomic_clocks or more after the one before it on any of its words. Its response comes as late after
 * its beginning as that of a hit after the tags' lookup or, for the request that has brought the line in, as
 * that of a miss after the line's arrival. A line that has atomics in the unit admits further ones, unless
 * another request waits for it; other requests wait until all have been answered. An atomic reads its line if
 * it misses, even with write_allocate: false; its words are stored by the policy, and with write_evict the
 * line leaves after the last of the atomics that are under way. An atomic uses the data array twice.
 *
 * Lines of thread stacks (struct mem_request). Stores to them are write-back and allocate, whatever the
 * policy. A write of part of such a line that is not in the cache does not read it: the cache then holds the
 * written words only. A read of other words and an atomic read the line from memory, and the line is written
 * to memory with a mask of its words. A line that such stores have made dirty stays with write_evict, too.
 *
 * Partitions (interleave). The part above selects the slice by the memory channel of the line. The bits that
 * select it are not known here, so the set is the low bits of the line's number, XORed with the folded bits
 * above them.
 *
 * Nodes (interleave). Blocks are distributed as by line, and the network in front has an output for each slice, at a node of its
 * own. First-level caches that reach the slices through the network are holders, too: a line that one of them reads or writes back
 * stays busy until the response has arrived there (llc_received()), so that no probe overtakes it. Neither probes nor that notice take
 * time.
 *
 * DeNovo (coherence: denovo). The slice is the home of a registry (denovo.h); there is no directory by line, and policies, probes and
 * prefetches are not used. A message takes its bank and looks up the tags like a request; what the registry sends leaves when a hit
 * would be answered, or fill_clocks after memory's response. A memory request of a client that is no unit is an operation at the
 * registry, as an atomic is. A line with registered words leaves when all have come back; it keeps a place of the write buffer
 * meanwhile. Ranges are cleaned and invalidated alike: their lines leave, and nothing is lost.
 *
 * Cleaning or invalidating a range takes tag_clocks, plus a clock for each line of the range in the slice
 * (llc_set_slice()), or for each line of the cache if there are fewer. An uncached request is forwarded at
 * once, whatever the cache holds. A line on its way to memory is read again only after memory has answered.
 * Warming inserts and removes lines without time; a line whose set is entirely busy is then not recorded, and
 * the prefetcher learns nothing.
 *
 * The prefetcher (prefetch.h) sees the reads of data and instructions, also prefetches of first-level
 * caches, as they look up the tags; each slice's prefetcher sees the slice's lines, and prefetches only these
 * (struct llc_share); so does the cache of one of several memories. A prefetch leaves at
 * once for memory. It gives way: it is dropped if the reserved MSHRs are the only free ones, if reads of
 * memory or other requests wait for room, or if the victim's way or write buffer is not free. A prefetch
 * of a first-level cache that misses here is dropped in the same cases, and answered without a line; its
 * cache asks again if an access has come to need the line. A request for a line that is being prefetched
 * waits for it.
 *
 * Not modelled: the time for which prefetches occupy the tags, and the bandwidth of responses to the
 * first-level caches. */
#ifndef EMU_MEM_LLC_H
#define EMU_MEM_LLC_H

#include "emu/mem/cache.h"
#include "emu/sim/report/energy.h"

/* What keeps the first-level caches coherent (llc.def). */
enum llc_coherence { LLC_MESI, LLC_DENOVO };
extern const char *const llc_coherence_names[]; /* by value, then NULL */

/* What a store does to its line (llc.def). */
enum llc_policy { LLC_WRITE_BACK, LLC_WRITE_THROUGH, LLC_WRITE_EVICT };
extern const char *const llc_policy_names[]; /* by value, then NULL */

/* How lines are distributed over slices (llc.def). */
enum llc_interleave { LLC_BY_LINE, LLC_BY_PARTITION, LLC_BY_NODE };
extern const char *const llc_interleave_names[]; /* by value, then NULL */

struct llc_config {
#include "emu/sim/fields_struct.h"

#include "emu/mem/llc.def"
    /* block distributed round-robin over slices: a power of two, at least a line; 0: one line */
    uint32_t slice_bytes;
    /* with grain PROTOCOL_LINE and directory rows; that of all attached caches. NULL: MESI */
    const struct protocol *protocol;
};

extern const struct part_kind llc_kind;

/* The counters since the start: LLC_COUNTER(name, unit, meaning). A request is counted once, when its line is not
 * busy: reads + writes = hits + misses + late_writes. */
#define LLC_COUNTERS(LLC_COUNTER)                                                                            \
    LLC_COUNTER(reads, "requests", "Reads, including exclusive ones")                                        \
    LLC_COUNTER(writes, "requests", "Write-backs from first-level caches, and stores")                       \
    LLC_COUNTER(atomics, "requests", "Atomics, which are also counted as writes")                            \
    LLC_COUNTER(hits, "requests", "Requests whose line was in the cache")                                    \
    LLC_COUNTER(misses, "requests", "Requests whose line was not in the cache")                              \
    LLC_COUNTER(fills, "lines", "Lines read from memory")                                                    \
    LLC_COUNTER(write_backs, "lines", "Lines written to memory")                                             \
    LLC_COUNTER(evictions, "lines", "Lines evicted to make room")                                            \
    LLC_COUNTER(written_through, "requests", "Stores whose words went to memory at once")                    \
    LLC_COUNTER(combined, "requests", "Stores whose words joined an earlier write of their line")            \
    LLC_COUNTER(store_evictions, "lines", "Lines evicted by a store (write_evict)")                          \
    LLC_COUNTER(probes, "probes", "Probes of copies in first-level caches")                                  \
    LLC_COUNTER(dirty_probes, "probes", "Probes that found the newest version")                              \
    LLC_COUNTER(back_invalidations, "probes", "Copies invalidated because this cache evicted the line")      \
    LLC_COUNTER(upgrades, "requests", "Exclusive reads by a holder of a copy")                               \
    LLC_COUNTER(lost_upgrades, "requests", "Upgrades whose copy was taken away before")                      \
    LLC_COUNTER(late_writes, "requests", "Write-backs of lines that were taken away before")                 \
    LLC_COUNTER(line_waits, "requests", "Requests that waited for another request for their line")           \
    LLC_COUNTER(stalls, "requests", "Requests that waited for an MSHR, a way or room in the write buffer")   \
    LLC_COUNTER(retries, "lookups", "Further lookups of the tags by requests that stalled")                  \
    LLC_COUNTER(bank_waits, "requests", "Requests that waited until their bank accepted them")               \
    LLC_COUNTER(array_waits, "requests", "Requests that waited for the data array of their bank")            \
    LLC_COUNTER(atomic_waits, "requests", "Atomics that waited for the atomic unit")                         \
    LLC_COUNTER(refusals, "requests", "Requests refused because the queue was full")                         \
    LLC_COUNTER(uncached, "requests", "Uncached requests, forwarded to memory")                              \
    LLC_COUNTER(maintenance, "requests", "Ranges cleaned or invalidated")                                    \
    LLC_COUNTER(maintained, "lines", "Lines in the cache that were cleaned or invalidated")                  \
    LLC_COUNTER(dropped, "lines", "Dirty lines lost by an invalidation")                                     \
    LLC_COUNTER(prefetches, "lines", "Prefetches issued by this cache")                                      \
    LLC_COUNTER(prefetches_useful, "lines", "Prefetched lines that were used")                               \
    LLC_COUNTER(prefetches_late, "lines", "Prefetches still outstanding at the first request for the line")  \
    LLC_COUNTER(prefetches_unused, "lines", "Prefetched lines that left the cache without having been used") \
    LLC_COUNTER(                                                                                             \
        prefetches_dropped, "lines",                                                                         \
        "Prefetches not issued for lack of an MSHR, a way or write buffer, or because of other writers")     \
    LLC_COUNTER(                                                                                             \
        speculative_dropped, "requests",                                                                     \
        "Prefetches of first-level caches, and wrong-path reads, answered without a line for these reasons")

struct llc_counters {
#define LLC_COUNTER(name, unit, meaning) uint64_t name;
    LLC_COUNTERS(LLC_COUNTER)
#undef LLC_COUNTER
};

struct llc;
struct denovo_domain;
struct denovo_place;
struct word_versions;

extern const struct mem_port_ops llc_ops;

/* Like cache_new(). */
struct llc *llc_new(const char *name, const struct llc_config *config, struct event_queue *queue,
                    const struct clock *clock, uint32_t component, uint16_t requester,
                    const struct mem_port_ops *lower_ops, void *lower);
void llc_free(struct llc *llc);

/* Connects the cache to the port below, if llc_new() was given none. Call it before the first request. */
void llc_connect(struct llc *llc, const struct mem_port_ops *ops, void *port);

/* Makes the cache slice `number` of config->slices. It must then get only addresses in its own blocks: those
 * whose number modulo `slices` is the slice's. Of a range to clean or invalidate, it checks only these
 * lines. */
void llc_set_slice(struct llc *llc, uint32_t number);

/* Makes the cache a slice by partition. Of a range to clean or invalidate, it checks all lines. */
void llc_set_partition(struct llc *llc);

/* Which lines come to a cache: `has` returns whether the line is one of cache `number`. */
struct llc_share {
    bool (*has)(const void *context, uint32_t number, uint64_t line);
    const void *context;
    uint32_t number;
};

/* Lets the cache prefetch only lines of its share. Without a share, all lines come to it. */
void llc_set_share(struct llc *llc, const struct llc_share *share);

/* Keeps prefetches and wrong-path reads, its own and those of its clients, out of the ranges of the list,
 * also those that it has accepted when a range is set. The list, or NULL, must outlive the cache's last
 * event. */
void llc_keep_out(struct llc *llc, const struct keep_out *list);

/* Makes the cache the last one above memory: its requests get their homes from this map, which must outlive
 * it. */
void llc_set_homes(struct llc *llc, struct home_map *homes);

/* Removes a line that is not dirty, without time. If the line is busy, it is removed when its transaction has
 * ended, unless the transaction has made it dirty. */
void llc_expire(struct llc *llc, uint64_t line, uint64_t now);

/* Calls the push when memory has answered all writes that this cache has begun. Returns false if there are none. */
bool llc_push(struct llc *llc, struct mem_push *push);

/* The same for the writes with words of a requester, and those of evicted lines. */
bool llc_push_of(struct llc *llc, uint16_t requester, struct mem_push *push);

/* Returns whether a write of words of the line to memory has begun and has not been answered. */
bool llc_writing(const struct llc *llc, uint64_t line);

/* Adds a first-level cache, whose lower port is this one, to the holders of the directory. Clients are
 * numbered from 0 in order of attachment; their number is not limited. */
void llc_attach(struct llc *llc, struct cache *cache);

/* Like llc_attach(), for a cache whose requests come through other parts. It must call llc_received(), with its link, for each
 * line that it reads or writes back, when the response has arrived. */
void llc_attach_far(struct llc *llc, struct cache *cache);
void llc_received(struct llc *llc, const struct mem_link *link, uint64_t line, uint64_t now);

/* A holder of any kind, identified by its link. probe() does what cache_probe() does. */
struct llc_client {
    const struct mem_link *link;
    bool (*probe)(void *context, uint64_t line, enum protocol_event event, uint64_t now);
    void *context;
    bool far; /* as with llc_attach_far() */
};
void llc_attach_client(struct llc *llc, const struct llc_client *client);

/* Makes the cache the home of a DeNovo registry of the domain, with the number of llc_set_slice() (LLC_DENOVO). */
void llc_serve(struct llc *llc, struct denovo_domain *domain, const struct denovo_place *place);

/* Makes the words of such a cache's lines carry versions. Call it before the first message. */
void llc_check_words(struct llc *llc, struct word_versions *versions);

/* Adds an observer of the traffic between this cache and memory; `cache` is NULL in its calls. fill: the line
 * has arrived. write_back: the line goes to the write buffer. evict: the line is removed. probe: a copy was
 * probed. Warming is also reported. The caller owns the observer (emu/sim/observer.h). */
void llc_observe(struct llc *llc, struct cache_observer *observer);

/* Shows the cache on tracks of the sink (emu/mem/cache/track.h), as a group of its name. Call it at most once,
 * before the first request. */
void llc_track(struct llc *llc, struct track_sink *sink);

const struct llc_config *llc_configuration(const struct llc *llc);
const struct llc_counters *llc_counted(const struct llc *llc);

/* Returns the number of prefetches of this cache that are outstanding or whose lines are in the cache, not
 * used so far. It equals the counter prefetches less prefetches_useful, prefetches_late and
 * prefetches_unused. */
uint64_t llc_prefetches_pending(const struct llc *llc);

/* The directory's record of a line, for tests and debuggers. */
struct llc_line {
    bool present, dirty, busy;
    int owner; /* number of the client that may have changed the line; -1: none */
    /* set of clients, in words of 64; NULL: not present. Valid until the next event or attachment */
    const uint64_t *holders;
};
struct llc_line llc_line_state(const struct llc *llc, uint64_t physical);

/* Returns the number of requests and write-backs under way. 0: idle. */
unsigned llc_pending(const struct llc *llc);

/* Registers "hits", "misses" and the other statistics. */
void llc_publish(struct llc *llc, struct stats *stats, struct scope scope);

/* Opens the account "access": reads and writes of lines in the data array. */
void llc_energy(struct llc *llc, struct energy_ledger *ledger, struct scope scope);

#endif
