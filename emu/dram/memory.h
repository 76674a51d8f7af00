/* A memory: a port that distributes requests to channels and answers when their bursts are done. */
#ifndef EMU_DRAM_MEMORY_H
#define EMU_DRAM_MEMORY_H

#include <stddef.h>

#include "emu/dram/controller/channel.h"
#include "emu/sim/report/energy.h"
#include "emu/sim/report/stats.h"
#include "emu/sim/report/track.h"

/* A request to an idle memory with closed banks has a latency of front_latency + tRCDRD + tCL + tBURST +
 * back_latency from the first clock edge at or after its arrival (with act_last_clock, act_clocks - 1 clocks
 * more). A write, and a read that is satisfied by a queued write, is answered tCK + front_latency + back_latency after its arrival. Both latencies of the
 * controller are added to the response, so they delay responses but do not change the order of commands.
 * Maintenance (MEM_CLEAN ...) is answered like a write and does not reach the devices, because accepted
 * writes are in memory. */
struct dram_memory {
    struct dram_common common;
    const struct home_map *homes; /* gives the homes of a request's bursts after the first */
    uint16_t module, stack;       /* this memory's numbers in `homes` */
    struct event_queue *queue;
    uint64_t lookahead;  /* time from a read command to its response */
    uint64_t reciprocal; /* 2^64 / tCK, rounded down */
    double edges_per_fs;
    uint32_t component;
    struct mem_request *refused_first, *refused_last; /* responses for which the client had no room */
    uint64_t requests_read, requests_write;
    struct home *bursts;          /* homes of the current request's bursts */
    uint64_t read_latency;        /* fs, summed over read requests */
    struct histogram read_clocks; /* of read requests, in tCK, rounded */
    struct dram_track *track;     /* an observer, or NULL */
    struct dram_trace *trace;     /* an observer, or NULL */
    struct dram_banks *banks;     /* an observer, or NULL */
    struct dram_figure **figures; /* the published figures */
    uint32_t figure_count;
    struct dram_slice {
        struct dram_channel channel;
        struct dram_memory *memory;
        struct event event;
        struct mem_waiters waiters[DRAM_DIRECTIONS];
        struct mem_link *woken; /* waiter that is being woken, with precedence over the others */
        uint32_t wanted;        /* bursts of the current request for this channel */
    } * slices;                 /* by channel */
};

extern const struct mem_port_ops dram_memory_ops;

/* Initializes a memory whose events have the given component number. Requests must come with a home of
 * `homes` in this memory, which is module 0 and stack 0 unless dram_memory_serve() sets others; its
 * controllers are the channels. The numbers of a home must be within the configuration's. All bursts of a
 * request must be in this memory; there may be at most read_queue or write_queue of them. The configuration must have
 * passed part_check(). `homes` and `queue` must outlive the memory. The memory must not be moved. */
void dram_memory_init(struct dram_memory *memory, const struct dram_config *config, struct event_queue *queue,
                      uint32_t component, const struct home_map *homes);

/* Makes the memory the given stack of the given module. */
void dram_memory_serve(struct dram_memory *memory, uint16_t module, uint16_t stack);

void dram_memory_free(struct dram_memory *memory);

/* Adds an observer of all commands, which the caller owns (emu/sim/observer.h). Call it before the first
 * request. */
void dram_memory_observe(struct dram_memory *memory, struct dram_observer *observer);

/* Shows the commands on tracks of the sink (track.h, trace.h), as groups or a stream of that name. Call it at
 * most once, before the first request. */
void dram_memory_track(struct dram_memory *memory, struct track_sink *sink, const char *name);

/* For agents of a channel (agent.h). Before changing, from outside, what an agent wants, or adding one, call
 * dram_memory_reach(), which brings the channel up to the queue's time and returns it. Then call
 * dram_memory_changed(), so that the channel chooses again and is run in time. */
struct dram_channel *dram_memory_reach(struct dram_memory *memory, uint32_t channel);
void dram_memory_changed(struct dram_memory *memory, uint32_t channel);

/* Issues all commands before `now`, because channels run lazily. Call it before counters are read or an
 * observer is closed. */
void dram_memory_sync(struct dram_memory *memory, uint64_t now);

/* The sum of a counter over all channels at the last sync. `counter` is a field of struct dram_counters. */
#define DRAM_MEMORY_SUM(memory, counter)                                                                     \
    dram_memory_sum(memory, offsetof(struct dram_channel, counters.counter))
uint64_t dram_memory_sum(const struct dram_memory *memory, size_t offset);

/* Registers "reads" ..., each channel's "3.reads" ..., and with bank_statistics each bank's "3.bank.5.reads" .... Reading
 * them brings the memory up to the queue's time. */
void dram_memory_publish(struct dram_memory *memory, struct stats *stats, struct scope scope);

/* Opens the memory's accounts "activate" ... in the ledger. Reading them brings the memory up to the queue's
 * time. */
void dram_memory_energy(struct dram_memory *memory, struct energy_ledger *ledger, struct scope scope);

#endif
