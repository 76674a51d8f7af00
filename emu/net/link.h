/* A link: connects a client above to a port below at a distance, like a serial link between stacks.
 *
 * Requests travel in one direction and responses in the other. Each direction has its own lanes, queue and
 * buffer, so that neither blocks the other. A message becomes a packet of header and data, padded to whole
 * flits of `width` bytes. A flit takes width / bandwidth, rounded to the nearest femtosecond. On an idle
 * link, a packet of n flits is delivered n flits plus `latency` after it was offered, when its last byte has
 * arrived. message.h defines which messages have data. A link has no clock: a receiver waits for its own next
 * clock edge.
 *
 * Back-pressure: a message waits in its queue until the lanes are free and the far end has a credit for it.
 * There are `buffer` credits; a credit returns without delay when the receiver takes a message. A full queue
 * refuses messages. Not modelled: the time and bandwidth of returning credits, transmission errors, sleep
 * states.
 */
#ifndef EMU_NET_LINK_H
#define EMU_NET_LINK_H

#include "emu/mem/request.h"
#include "emu/net/wires.h"
#include "emu/sim/part.h"
#include "emu/sim/report/energy.h"
#include "emu/sim/report/stats.h"

struct link_config {
#include "emu/sim/fields_struct.h"

#include "emu/net/link.def"
};

extern const struct part_kind link_kind;

struct link;
struct track_sink;

/* Interface of the upper end for its clients; the port is the link. Accesses without time go on to the port
 * below. */
extern const struct mem_port_ops link_ops;

/* Creates a link. config must have passed the check; queue must outlive the link. Never NULL; aborts when out
 * of memory. */
struct link *link_new(const struct link_config *config, struct event_queue *queue, uint32_t component);
void link_free(struct link *link);

/* Connects the lower end to a port. Call it before the first request. */
void link_connect(struct link *link, const struct mem_port_ops *ops, void *port);

/* Shows messages on tracks of the sink (track.h), as a group of that name. Call it once, before the first
 * request. */
void link_track(struct link *link, struct track_sink *sink, const char *name);

/* Return the time in fs that a message with `bytes` of data takes over an idle link. */
uint64_t link_request_time(const struct link *link, uint32_t bytes);
uint64_t link_response_time(const struct link *link, uint32_t bytes);

/* Returns the time up to now in which the lanes of the requests or of the responses were busy, in fs. */
uint64_t link_busy_time(const struct link *link, bool responses);

/* Registers all statistics: "request.messages", "response.messages" and so on. */
void link_publish(struct link *link, struct stats *stats, struct scope scope);

/* Adds the accounts "request.transfer", "request.idle", "response.transfer" and "response.idle". */
void link_energy(struct link *link, struct energy_ledger *ledger, struct scope scope);

#endif
