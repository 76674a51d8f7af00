/* One way to ask for memory: requests that belong to their requesters, and the links that they travel on. */
#ifndef EMU_MEM_REQUEST_H
#define EMU_MEM_REQUEST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/mem/home.h"
#include "emu/sim/event.h"

enum mem_op {
    MEM_READ,
    MEM_WRITE,
    MEM_CLEAN,      /* write dirty lines of the range back */
    MEM_INVALIDATE, /* forget lines of the range */
    MEM_CLEAN_INVALIDATE,
    MEM_COMMAND, /* for a device; what it means is the device's affair */
};

enum mem_kind {
    MEM_DATA,
    MEM_FETCH,    /* an instruction */
    MEM_WALK,     /* a page-table entry */
    MEM_UNCACHED, /* passes all caches */
};

/* Who has answered: as far down as a request had to go. */
enum mem_level {
    MEM_LEVEL_L1,
    MEM_LEVEL_L2,     /* a shared cache, or another core's through it */
    MEM_LEVEL_MEMORY, /* DRAM */
    MEM_LEVELS
};

/* Links that one request can pass between its originator and memory. Each costs 8 bytes of every request, behind
 * the fields that are used on the way. Nine modules in a tree of three levels need 11: above the last level 2, a
 * module's crossbar, and a link and a crossbar for each of four steps. Whoever builds a machine checks its longest
 * path by mem_path_length(). */
enum { MEM_HOPS = 24 };

struct mem_link;

/* A request belongs to its originator from first to last, who reuses it; nothing is allocated on its way. The
 * originator fills in the first part by mem_request_init(). Bytes do not travel: function and time are apart.
 */
struct mem_request {
    uint64_t address; /* physical, of the first byte */
    uint64_t mask;    /* bit i: 32-bit word i, counted from address, is meant; words from 64 on always are */
    uint32_t size;    /* in bytes, not 0 */
    uint16_t requester; /* for statistics and traces: number of the core or device */
    uint8_t op;         /* enum mem_op */
    uint8_t kind;       /* enum mem_kind */
    bool divergent;     /* of a SIMT access of more lines than its bytes take: emu/simt/coalesce.h */

    /* Between a cache and the last level below it. */
    bool exclusive; /* of a read: asks for the line to be written; in the response: nobody else has a copy */
    bool upgrade;   /* of an exclusive read: the requester has a copy, so that no data need come */
    uint8_t level;  /* enum mem_level, set by whoever answers */

    uint8_t depth;    /* links on the way from the originator to the present holder */
    struct home home; /* of the first byte, from the last level on */

    /* For the holder, the component that accepted the request last. */
    uint16_t parts;           /* pieces that are still under way */
    uint64_t time;            /* of its choice */
    struct mem_request *next; /* in a list of its choice */
    struct event event;       /* of its choice: mostly the one that sends the response */

    struct mem_link *route[MEM_HOPS]; /* the links on the way, the originator's first */
};

/* The lower end of a link, which serves requests. */
struct mem_port_ops {
    /* Takes the request, or refuses it (false) because it is full. Who refuses keeps link in its mem_waiters
     * and wakes it when there is room. Requests start at an address that the port is responsible for. */
    bool (*request)(void *port, struct mem_link *link, struct mem_request *request, uint64_t now);
    /* The client has room for the responses that it refused. */
    void (*response_room)(void *port, struct mem_link *link, uint64_t now);
    /* Brings the line of a cache below up to date as a read by link's client would, without time: to
     * fast-forward. exclusive: it is going to be written. Returns whether the client alone has it now. NULL:
     * no cache below. */
    bool (*warm)(void *port, struct mem_link *link, uint64_t address, bool exclusive);
    /* op (MEM_CLEAN ...) of the range in the caches below, without time. NULL: no cache below. */
    void (*maintain)(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size);
    /* The link on which the port passes on a request for that home. NULL: it answers itself. */
    const struct mem_link *(*next)(const void *port, const struct home *home);
};

/* The upper end of a link, which asks. */
struct mem_client_ops {
    /* Takes the response, or refuses it (false) because it is full; then it calls mem_link_response_room()
     * later. The originator must accept. */
    bool (*respond)(void *client, struct mem_link *link, struct mem_request *request, uint64_t now);
    /* The port has room again; called once for each time of refusal. */
    void (*request_room)(void *client, struct mem_link *link, uint64_t now);
};

/* One client joined to one port. Requests go down and responses up; neither class waits for the other. */
struct mem_link {
    const struct mem_port_ops *port_ops;
    void *port;
    const struct mem_client_ops *client_ops;
    void *client;
    struct mem_link *next_waiting; /* in the port's mem_waiters */
    bool waiting;
    struct home_map *homes; /* of a link that leaves the last level: gives requests their homes; else NULL */
};

/* The clients that a port has refused, first come first served. */
struct mem_waiters {
    struct mem_link *first, *last;
};

/* The name of an operation: "read". */
const char *mem_op_name(enum mem_op op);

/* A request for all words of [address, address + size). */
static inline void mem_request_init(struct mem_request *request, enum mem_op op, uint64_t address,
                                    uint32_t size)
{
    assert(size > 0);
    request->address = address;
    request->mask = UINT64_MAX;
    request->size = size;
    request->requester = 0;
    request->op = (uint8_t)op;
    request->kind = MEM_DATA;
    request->divergent = false;
    request->exclusive = false;
    request->upgrade = false;
    request->level = MEM_LEVEL_L1;
    request->depth = 0;
    request->home.generation = 0;
    request->parts = 0;
    request->event.place = 0;
}

/* Gives a request its home when it leaves the last level, and counts it. False: a change waits for the requests
 * that are under way, and wakes the link. */
static inline bool mem_link_enter(struct mem_link *link, struct mem_request *request)
{
    home_resolve(link->homes, request->address, &request->home);
    if (request->home.slot->change) {
        home_wait(request->home.slot, link);
        return false;
    }
    request->home.slot->outstanding++;
    return true;
}

/* Offers the request to the port. When it is accepted the port holds it until it responds; when it is refused
 * (false) nothing has changed, and client_ops->request_room() will be called. */
static inline bool mem_link_request(struct mem_link *link, struct mem_request *request, uint64_t now)
{
    assert(request->depth < MEM_HOPS);
    if (link->homes && !mem_link_enter(link, request))
        return false;
    request->route[request->depth++] = link;
    if (link->port_ops->request(link->port, link, request, now))
        return true;
    request->depth--;
    if (link->homes)
        request->home.slot->outstanding--;
    return false;
}

/* The link on which the holder of a request has received it. */
static inline struct mem_link *mem_request_link(const struct mem_request *request)
{
    assert(request->depth > 0);
    return request->route[request->depth - 1];
}

/* Offers the response to the client that sent the request. When it is refused (false) the port keeps the
 * request and is told by port_ops->response_room(). */
static inline bool mem_request_respond(struct mem_request *request, uint64_t now)
{
    struct mem_link *link = mem_request_link(request);
    struct home_slot *slot =
        link->homes ? request->home.slot : NULL; /* the client may use the request again */
    request->depth--;
    if (!link->client_ops->respond(link->client, link, request, now)) {
        request->depth++;
        return false;
    }
    if (slot && --slot->outstanding == 0 && slot->change)
        home_quiet(slot, now);
    return true;
}

/* A client calls this when it has refused a response and has room again. */
static inline void mem_link_response_room(struct mem_link *link, uint64_t now)
{
    link->port_ops->response_room(link->port, link, now);
}

/* Links on the way of a request for that home, from `first` to the port that answers it; MEM_HOPS + 1 when there are
 * more than MEM_HOPS, as when routes go round in a circle. */
unsigned mem_path_length(const struct mem_link *first, const struct home *home);

/* Puts a refused link at the end, unless it waits already. */
void mem_waiters_add(struct mem_waiters *waiters, struct mem_link *link);

/* Takes the first link out and calls its client's request_room(); false if none waits. The client may ask at
 * once, and is at the end of the list if it is refused again. */
bool mem_waiters_wake(struct mem_waiters *waiters, uint64_t now);

#endif
