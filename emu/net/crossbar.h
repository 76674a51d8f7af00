/* A crossbar between requesters (the host's last-level cache, accelerators' caches) and memory controllers.
 *
 * Requests and responses cross on separate virtual channels (emu/net/crossbar/vc.h: queues, round robin, head-of-line
 * blocking or virtual output queues), so that neither class blocks the other. A message of n clocks crosses an idle crossbar in
 * latency + n - 1 clocks from the first clock edge at or after its arrival. n is 1 for a message without data
 * (a read request, a write acknowledgement, both messages of a maintenance operation, an upgrade grant) and
 * ceil(size / width) for a message with data; the address travels beside the data. Back-pressure: a message
 * that its receiver refuses stays in the buffer at the far end of its channel; a full buffer stops the
 * arbiter of that end; a full queue refuses messages. Not modelled: a width per input or
 * output, and a speed-up: an internal clock beyond that of inputs and outputs.
 */
#ifndef EMU_NET_CROSSBAR_H
#define EMU_NET_CROSSBAR_H

#include "emu/mem/request.h"
#include "emu/net/outputs.h"
#include "emu/sim/part.h"
#include "emu/sim/report/stats.h"

enum {
    CROSSBAR_PORTS = 65535, /* most inputs, and most outputs: routes name outputs in 16 bits */
    CROSSBAR_GRAIN = OUTPUTS_GRAIN,
};

enum crossbar_queues { CROSSBAR_FIFO, CROSSBAR_VIRTUAL };
extern const char *const crossbar_queues_names[]; /* indexed by value; ends with NULL */

struct crossbar_config {
#include "emu/sim/fields_struct.h"

#include "emu/net/crossbar.def"
    uint32_t inputs, outputs; /* 1 to CROSSBAR_PORTS each; derived from the connections */
};

extern const struct part_kind crossbar_kind;

struct crossbar;
struct track_sink;

/* Interface of the inputs for their clients; the port is crossbar_port(). A maintenance request for a range
 * goes to the output of its first address and is answered there. */
extern const struct mem_port_ops crossbar_ops;

/* Creates a crossbar. config must have passed the check, and every output of the route must exist. queue and
 * clock must outlive the crossbar. A request goes to the output of its first address, even if it is longer
 * than CROSSBAR_GRAIN. Never NULL; aborts when out of memory. */
struct crossbar *crossbar_new(const struct crossbar_config *config, struct event_queue *queue,
                              const struct clock *clock, uint32_t component,
                              const struct crossbar_route *route);
void crossbar_free(struct crossbar *crossbar);

/* Returns the port of an input for crossbar_ops. Several clients may use it. */
void *crossbar_port(struct crossbar *crossbar, uint32_t input);

/* Connects an output to the port below it. Call it for each output before the first request. */
void crossbar_connect(struct crossbar *crossbar, uint32_t output, const struct mem_port_ops *ops, void *port);

/* Sends a message that answers no request, from an output to an input; it has no data. It takes part in the output's virtual channel
 * of responses, before those of the port below if that is full. At its arrival, the client of the request's last link (depth > 0)
 * gets it as a response, and must accept it. The holder's fields of the request are the crossbar's until then. */
void crossbar_signal(struct crossbar *crossbar, uint32_t output, uint32_t input, struct mem_request *request,
                     uint64_t now);

/* Returns the output for an address. */
uint32_t crossbar_output(const struct crossbar *crossbar, uint64_t address);

/* Shows messages on tracks of the sink (track.h), as a group of that name. Call it once, before the first
 * request. */
void crossbar_track(struct crossbar *crossbar, struct track_sink *sink, const char *name);

/* Adds the account "transfer": energy of the data that crosses in either direction. Addresses are not
 * counted. */
void crossbar_energy(struct crossbar *crossbar, struct energy_ledger *ledger, struct scope scope);

/* Registers all statistics: "in.0.requests", "out.0.requests" and so on. */
void crossbar_publish(struct crossbar *crossbar, struct stats *stats, struct scope scope);

#endif
