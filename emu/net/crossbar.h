/* A crossbar between requesters (the host's last-level cache, accelerators' caches) and memory controllers.
 *
 * Requests and responses cross on virtual channels of their own (emu/net/vc.h: queues, round robin, head-of-line
 * blocking), so that neither class waits for the other. A message of n clocks crosses an idle crossbar in
 * latency + n - 1 clocks from the first edge at or after its arrival. n is 1 for a message without data (a
 * read's request, a write's acknowledge, maintenance both ways, an upgrade's grant) and ceil(size / width)
 * for one with data, the address travelling beside them. Back-pressure is real: what a receiver refuses stays
 * in the buffer of its end, a full buffer stops the arbiter there, full queues refuse. Left out: virtual
 * output queues, and a choice of width by end.
 */
#ifndef EMU_NET_CROSSBAR_H
#define EMU_NET_CROSSBAR_H

#include "emu/mem/request.h"
#include "emu/sim/part.h"
#include "emu/sim/stats.h"

enum {
    CROSSBAR_PORTS = 65535, /* inputs, and outputs, at most: routes name outputs in 16 bits */
    CROSSBAR_GRAIN = 16,    /* bytes, aligned, that always have one route */
};

struct crossbar_config {
#include "emu/sim/fields_struct.h"

#include "emu/net/crossbar.def"
    uint32_t inputs, outputs; /* 1 to CROSSBAR_PORTS; follow from what is connected */
};

extern const struct part_kind crossbar_kind;

/* How requests find their output: by the home that they carry, or, above the last level, by their address.
 *
 * By home (`homes` is set): a table has the output for each home, [(module * stacks + stack) * controllers +
 * controller]. An entry is the output of a memory here, or of the link towards it: a module's crossbar has its
 * stacks' controllers and, for all homes of another module, the link to that one. Untimed accesses, which carry no
 * home, ask `homes`. By address: the output is address >> shift, modulo the number of outputs. */
struct crossbar_route {
    const struct home_map *homes;          /* outlives the crossbar; NULL: by address */
    uint32_t modules, stacks, controllers; /* numbers are below these */
    const uint16_t *outputs; /* the table, which is copied; NULL: outputs are numbered like its entries */
    uint32_t shift;
};

struct crossbar;

/* What inputs give their clients: port is crossbar_port(). A request with maintenance of a range goes to the
 * output of its first address and is answered there. */
extern const struct mem_port_ops crossbar_ops;

/* config must have passed the check, and every output of the route must exist; queue and clock must outlive the
 * crossbar. A request goes to the output of its first address, even if it is longer than what has one route. Out of
 * memory aborts; never NULL. */
struct crossbar *crossbar_new(const struct crossbar_config *config, struct event_queue *queue,
                              const struct clock *clock, uint32_t component,
                              const struct crossbar_route *route);
void crossbar_free(struct crossbar *crossbar);

/* The port for crossbar_ops of an input; it can have several clients. */
void *crossbar_port(struct crossbar *crossbar, uint32_t input);

/* Joins an output to the port below it. To be called for each output before the first request. */
void crossbar_connect(struct crossbar *crossbar, uint32_t output, const struct mem_port_ops *ops, void *port);

/* Opens the account "transfer" of data that has crossed in either direction; addresses are not counted. */
void crossbar_energy(struct crossbar *crossbar, struct energy_ledger *ledger, struct scope scope);

/* Registers "in.0.requests", "out.0.requests" and all else that is counted. */
void crossbar_publish(struct crossbar *crossbar, struct stats *stats, struct scope scope);

#endif
