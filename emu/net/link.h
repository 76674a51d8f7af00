/* A link: joins a client above to a port below over a distance, as a serial link between stacks does.
 *
 * Requests go one way and responses the other, each with its own lanes, queue and buffer, so that neither waits
 * for the other. A message becomes a packet of header and data, padded to whole flits of `width` bytes; a flit
 * takes width / bandwidth, rounded to the nearest femtosecond. A packet of n flits that meets an idle link arrives
 * n flits and `latency` after it was offered: it is handed on when its last byte is there. Which messages have data
 * stands in message.h. A link has no clock: whoever receives a message waits for its own next edge.
 *
 * Back-pressure: a message waits in its queue until the lanes are free and the far end has a credit for it. There
 * are `buffer` credits; one returns, without a delay, when the receiver takes the message. A full queue refuses.
 * Left out: the time and the bandwidth that credits take on their way back, transmission errors, sleep states.
 */
#ifndef EMU_NET_LINK_H
#define EMU_NET_LINK_H

#include "emu/mem/request.h"
#include "emu/sim/energy.h"
#include "emu/sim/part.h"
#include "emu/sim/stats.h"

struct link_config {
#include "emu/sim/fields_struct.h"

#include "emu/net/link.def"
};

extern const struct part_kind link_kind;

struct link;

/* What the upper end gives its clients: port is the link. Untimed accesses pass to the port below. */
extern const struct mem_port_ops link_ops;

/* config must have passed the check; queue must outlive the link. Out of memory aborts; never NULL. */
struct link *link_new(const struct link_config *config, struct event_queue *queue, uint32_t component);
void link_free(struct link *link);

/* Joins the lower end to a port. To be called before the first request. */
void link_connect(struct link *link, const struct mem_port_ops *ops, void *port);

/* Femtoseconds that a message of so many bytes of data takes over an idle link. */
uint64_t link_request_time(const struct link *link, uint32_t bytes);
uint64_t link_response_time(const struct link *link, uint32_t bytes);

/* Registers "request.messages", "response.messages" and all else that is counted. */
void link_publish(struct link *link, struct stats *stats, struct scope scope);

/* Opens the accounts "request.transfer" and "request.idle", and the response's. */
void link_energy(struct link *link, struct energy_ledger *ledger, struct scope scope);

#endif
