/* Memory requests, which belong to their originators, and the links on which they travel. */
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
    MEM_INVALIDATE, /* invalidate lines of the range */
    MEM_CLEAN_INVALIDATE,
    MEM_COMMAND, /* a command for a device, which defines its meaning */
};

enum mem_kind {
    MEM_DATA,
    MEM_FETCH,    /* an instruction */
    MEM_WALK,     /* a page-table entry */
    MEM_UNCACHED, /* bypasses all caches */
};

/* The level that has answered a request: the farthest one that it had to reach. */
enum mem_level {
    MEM_LEVEL_L1,
    MEM_LEVEL_L2,     /* a shared cache, or another core's cache through it */
    MEM_LEVEL_MEMORY, /* DRAM */
    MEM_LEVELS
};

/* The maximum number of links between an originator and memory. Each costs 8 bytes of every request, behind
 * the fields that are used at every link. Nine modules in a tree of three levels need 11: two above the last
 * level, one for a module's crossbar, and two (a link and a crossbar) for each of four steps. The limit is
 * not a size of the description, because a request is a member of its owner (an entry of MSHRs, of a write
 * buffer, of a multiprocessor), which would have to keep memory for the links. A machine with a longer route
 * is refused with the names of part and memory (emu/machine/plan/plan.c: "is too many links away from"). */
enum { MEM_HOPS = 24 };

struct mem_link;

/* A request always belongs to its originator, which reuses it after the response; nothing is allocated on its
 * way. The originator initializes the first part with mem_request_init(). A request carries no data: function
 * and time are separate. */
struct mem_request {
    uint64_t address; /* physical, of the first byte */
    /* set of the 32-bit words accessed, counted from address; words from 64 on are always accessed */
    uint64_t mask;
    uint32_t size;      /* in bytes, not 0 */
    uint16_t requester; /* number of the core or device, for statistics and traces */
    uint8_t op;         /* enum mem_op */
    uint8_t kind;       /* enum mem_kind */
    /* part of a SIMT access that touches more lines than its bytes need (emu/simt/coalesce.h); if the request
     * serves several accesses, each of them does */
    bool divergent;
    /* Of a write: it reads and writes its words in one step, at a shared cache if there is one. */
    bool atomic;
    /* of a thread stack (cache_set_stacks()), where words that nobody has written have no contents. A read needs the
     * words of its mask; the response has the mask of the words that come */
    bool stack;
    bool packed; /* networks carry the words of the mask alone, without those between them */

    /* Used between a cache and the last level below it. */
    /* in a read: it asks for the line in order to write it; in the response: no other cache has a copy */
    bool exclusive;
    bool upgrade;  /* in an exclusive read: the requester has a copy, so the response need not bring data */
    bool prefetch; /* a read that no access waits for: it is dropped instead of waiting for room */
    /* a prefetch, or a read for the wrong path only: it is dropped if its line is kept out (keep_out.h) */
    bool speculative;
    bool dropped;  /* in the response to a speculative read: it brings no line */
    uint8_t level; /* enum mem_level, set by the port that answers */

    uint8_t depth; /* number of links between the originator and the present holder */

    /* For the holder: the component that has accepted the request last. Fields that all holders use are near
     * the first ones, so that they are in one or two lines of the host's cache. */
    uint16_t parts;           /* pieces that are still outstanding */
    struct mem_request *next; /* next request in a list of the holder */

    struct mem_link *route[MEM_HOPS]; /* the first `depth` links on the way, the originator's first */

    struct home home;   /* home of the first byte, set when the request leaves the last level */
    uint64_t time;      /* free for the holder's use */
    struct event event; /* free for the holder's use; most holders send the response from it */
};

/* The lower end of a link, which serves requests. */
struct mem_port_ops {
    /* Accepts the request, or returns false because the port is full. A port that returns false adds the link
     * to its mem_waiters and wakes it when there is room. The request's first byte is at an address for which
     * the port is responsible. */
    bool (*request)(void *port, struct mem_link *link, struct mem_request *request, uint64_t now);
    /* Called when the client has room for the responses that it has refused. */
    void (*response_room)(void *port, struct mem_link *link, uint64_t now);
    /* Brings a line of the cache below into the state in which a read by the link's client leaves it, without
     * time, for fast-forwarding. exclusive: the client is about to write it. Returns whether only the client
     * has the line. NULL: there is no cache below. */
    bool (*warm)(void *port, struct mem_link *link, uint64_t address, bool exclusive);
    /* Does op (MEM_CLEAN ...) for the range in the caches below, without time. NULL: there is no cache
     * below. */
    void (*maintain)(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size);
    /* Returns a time before which no response comes, at least now. NULL: not known. */
    uint64_t (*quiet)(const void *port, uint64_t now);
};

/* The upper end of a link, which sends requests. */
struct mem_client_ops {
    /* Accepts the response, or returns false because the client is full. A client that returns false calls
     * mem_link_response_room() later. The originator of the request must accept. */
    bool (*respond)(void *client, struct mem_link *link, struct mem_request *request, uint64_t now);
    /* Called when the port has room again, once for each refusal. */
    void (*request_room)(void *client, struct mem_link *link, uint64_t now);
};

/* One client connected to one port. Requests go down and responses go up; requests never wait for responses,
 * nor responses for requests. */
struct mem_link {
    const struct mem_port_ops *port_ops;
    void *port;
    const struct mem_client_ops *client_ops;
    void *client;
    struct mem_link *next_waiting; /* in the port's mem_waiters */
    bool waiting;
    /* for a link that leaves the last level: the map that gives requests their homes; else NULL */
    struct home_map *homes;
    /* Returns whether the client would refuse each response that is offered now; if so, it counts `count` refusals, and calls
     * port_ops->response_room() later as after a refusal. So a port need not offer them. NULL: it must */
    bool (*refuses)(void *client, uint64_t count);
};

/* The clients that a port has refused, in order of their refusal. */
struct mem_waiters {
    struct mem_link *first, *last;
};

/* Returns the name of an operation: "read". */
const char *mem_op_name(enum mem_op op);

/* Initializes a request for all words of [address, address + size). mem_request_pack() limits it to some of them, by their mask. */
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
    request->atomic = false;
    request->stack = false;
    request->packed = false;
    request->exclusive = false;
    request->upgrade = false;
    request->prefetch = false;
    request->speculative = false;
    request->dropped = false;
    request->level = MEM_LEVEL_L1;
    request->depth = 0;
    request->home.generation = 0;
    request->parts = 0;
    request->event.place = 0;
}

/* Makes a request one for the words of the mask, of which the first one is at its address, and the last one at its end. Networks carry
 * them alone. */
static inline void mem_request_pack(struct mem_request *request, uint64_t words)
{
    const unsigned last = 63 - (unsigned)__builtin_clzll(words);
    request->packed = words != UINT64_MAX >> (63 - last);
    request->mask = request->packed ? words : UINT64_MAX;
}

/* Gives a request its home when it leaves the last level, and counts it as outstanding. Returns false if the
 * home is being changed; the change waits for outstanding requests and then wakes the link. */
static inline bool mem_link_enter(struct mem_link *link, struct mem_request *request)
{
    home_resolve(link->homes, request->address, &request->home);
    if (request->home.slot->change) {
        home_wait(request->home.slot, link);
        return false;
    }
    if (!request->home.slot->uncounted)
        request->home.slot->outstanding++;
    return true;
}

/* Offers the request to the port. On true, the port holds the request until it responds. On false, nothing
 * has changed, and client_ops->request_room() will be called. */
static inline bool mem_link_request(struct mem_link *link, struct mem_request *request, uint64_t now)
{
    assert(request->depth < MEM_HOPS);
    if (link->homes && !mem_link_enter(link, request))
        return false;
    request->route[request->depth++] = link;
    if (link->port_ops->request(link->port, link, request, now))
        return true;
    request->depth--;
    if (link->homes && !request->home.slot->uncounted)
        request->home.slot->outstanding--;
    return false;
}

/* Warms a line in the caches below, as mem_port_ops.warm does. Returns true if there is no cache below. */
static inline bool mem_link_warm(struct mem_link *link, uint64_t address, bool exclusive)
{
    return !link->port_ops->warm || link->port_ops->warm(link->port, link, address, exclusive);
}

/* Does op for a range in the caches below, if there are any, without time. */
static inline void mem_link_maintain(struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    if (link->port_ops->maintain)
        link->port_ops->maintain(link->port, link, op, address, size);
}

/* Returns the link on which the holder of the request has received it. */
static inline struct mem_link *mem_request_link(const struct mem_request *request)
{
    assert(request->depth > 0);
    return request->route[request->depth - 1];
}

/* Returns the map by which the request got its home; NULL: it has none. */
static inline const struct home_map *mem_request_homes(const struct mem_request *request)
{
    for (unsigned i = request->depth; i-- > 0;)
        if (request->route[i]->homes)
            return request->route[i]->homes;
    return NULL;
}

/* Offers the response to the client that has sent the request. On false, the port keeps the request until
 * port_ops->response_room() is called. */
static inline bool mem_request_respond(struct mem_request *request, uint64_t now)
{
    struct mem_link *link = mem_request_link(request);
    struct home_slot *slot =
        link->homes ? request->home.slot : NULL; /* read now: the client may reuse the request */
    request->depth--;
    if (!link->client_ops->respond(link->client, link, request, now)) {
        request->depth++;
        return false;
    }
    if (slot && !slot->uncounted && --slot->outstanding == 0 && slot->change)
        home_quiet(slot, now);
    return true;
}

/* Call it after the client has refused a response and has room again. */
static inline void mem_link_response_room(struct mem_link *link, uint64_t now)
{
    link->port_ops->response_room(link->port, link, now);
}

/* Appends a refused link to the list, unless it is in the list. */
void mem_waiters_add(struct mem_waiters *waiters, struct mem_link *link);

/* Removes the first link from the list and calls its client's request_room(). Returns false if the list is
 * empty. The client may send at once; if it is refused again, its link goes to the end of the list. */
bool mem_waiters_wake(struct mem_waiters *waiters, uint64_t now);

#endif
