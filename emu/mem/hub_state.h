/* The inside of the coherent level, shared by its files: hub.c (the port), hub_protocol.c (what a request
 * does), hub_frame.c (array and directory), hub_lower.c (memory), hub_maintain.c (ranges), hub_report.c.
 */
#ifndef EMU_MEM_HUB_STATE_H
#define EMU_MEM_HUB_STATE_H

#include "emu/mem/hub.h"

enum { HUB_OBSERVERS = 4, HUB_WORDS = HUB_CLIENTS / 64, HUB_NOBODY = -1 };

/* States in the tags. */
enum hub_state { HUB_CLEAN = 1, HUB_DIRTY };

struct hub_entry;

/* Requests in order of arrival. */
struct hub_list {
    struct hub_entry *first, *last;
};

/* The directory's part of a way. A busy one belongs to a transaction, and others wait for it. */
struct hub_frame {
    uint64_t holders[HUB_WORDS];
    struct hub_list waiting;
    int16_t owner; /* who may have it EXCLUSIVE or MODIFIED */
    bool busy;
};

/* A request that has been accepted, until its response. */
struct hub_entry {
    struct hub *hub;
    struct hub_entry *next; /* in the one list that it is in */
    struct mem_request *request;
    struct event event;
    uint64_t line;
    uint64_t asked;   /* when it arrived */
    uint64_t cursor;  /* of a range: the next line, or way */
    uint64_t barrier; /* of a range: write-backs that memory must have accepted */
    uint32_t frame;   /* which it keeps busy, or TAGS_NONE */
    int16_t client;   /* HUB_NOBODY: not attached */
    bool waited;      /* it has been counted as waiting for its line */
    bool stalled;     /* likewise for room */
    bool missed;      /* the line was not here */
};

/* A line on its way from memory. */
struct hub_mshr {
    struct hub_mshr *next; /* free, or not accepted by memory yet */
    struct hub_entry *entry;
    struct mem_request request;
};

/* A line on its way to memory. */
struct hub_outgoing {
    struct hub_outgoing *next; /* free, or not accepted by memory yet */
    struct mem_request request;
    bool used;
};

/* What goes down keeps apart, so that refusing one kind does not stop the others. */
enum hub_way { HUB_READS, HUB_WRITES, HUB_PASSED, HUB_WAYS };

struct hub {
    struct hub_config config;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component;
    uint16_t requester;
    char *name;

    struct tags tags;
    struct hub_frame *frames; /* by index of the tags */
    unsigned client_count;
    struct hub_client clients[HUB_CLIENTS];

    uint64_t start; /* when the next request can be accepted */
    unsigned held;  /* entries in use */
    struct hub_entry *entries, *free_entries;
    struct hub_list stalled; /* for an MSHR, a way or room in the write buffer */
    struct hub_list refused; /* responses that clients had no room for */
    struct hub_list ranges;  /* done here: wait until memory has accepted what was written back */
    struct mem_waiters full;

    struct mem_link lower[HUB_WAYS];
    struct mem_waiters passed; /* clients whose requests could not pass */
    bool response_refused;     /* memory keeps a response that a client had no room for */
    struct hub_mshr *mshrs, *free_mshrs, *unsent_reads, *unsent_reads_last;
    struct hub_outgoing *writes, *free_writes, *unsent_writes, *unsent_writes_last;
    uint64_t written, accepted; /* write-backs begun; accepted by memory */

    struct hub_counters counters;
    uint64_t transfers; /* of lines from or to the data array */
    unsigned observer_count;
    struct cache_observer observers[HUB_OBSERVERS];
};

/* Lists. */
void hub_list_add(struct hub_list *list, struct hub_entry *entry);
struct hub_entry *hub_list_take(struct hub_list *list);

/* hub.c */
static inline uint64_t hub_after(const struct hub *hub, uint64_t now, uint32_t clocks)
{
    return now + clocks * hub->clock.period;
}
/* Looks at the tags on behalf of the entry: its event, and whenever what it waited for is there. */
void hub_look(struct hub_entry *entry, uint64_t now);
/* Offers the response; then lets its line go and the entry be used again. */
void hub_answer(struct hub_entry *entry, uint64_t now);
/* Frees the entry of a request that is answered or has passed on. */
void hub_release(struct hub_entry *entry, uint64_t now);
/* Lets a frame go and looks again for those that wait for its line. */
void hub_unlock(struct hub *hub, uint32_t frame, uint64_t now);
/* Keeps the entry until an MSHR, a way or a place in the write buffer is free. */
void hub_stall(struct hub_entry *entry);
/* Something of that has become free: all look again in order, before newcomers can. */
void hub_retry(struct hub *hub, uint64_t now);

/* hub_frame.c */
int hub_client_of(const struct hub *hub, const struct mem_link *link);
bool hub_holds(const struct hub_frame *frame, int client);
/* Whether nobody but the client has a copy. */
bool hub_alone(const struct hub_frame *frame, int client);
/* Lets others than the client have the line in no better state than `remains`; returns the number of probes.
 */
unsigned hub_take(struct hub *hub, uint32_t frame, int client, enum cache_state remains, uint64_t now);
/* Records that the client gets the line, which others have at most SHARED (exclusive: not at all). */
void hub_grant(struct hub *hub, uint32_t frame, int client, bool exclusive);
/* A way for the line, emptied: a dirty victim has gone to the write buffer, if `timed`. TAGS_NONE when all
 * ways are busy or the write buffer may have no room. */
uint32_t hub_make_room(struct hub *hub, uint64_t line, bool timed, uint64_t now);
/* Takes the line out of here and of all first-level caches, its newest version being of no interest. */
void hub_forget(struct hub *hub, uint32_t frame, uint64_t now);

/* hub_lower.c */
bool hub_can_write(const struct hub *hub);
/* Whether the line is on its way to memory. */
bool hub_writing(const struct hub *hub, uint64_t line);
void hub_write_back(struct hub *hub, uint64_t line, uint64_t now);
void hub_read_memory(struct hub *hub, struct hub_entry *entry, uint64_t now);
/* Passes a request to the level below; false: it was refused, and the link is woken when there is room. */
bool hub_pass(struct hub *hub, struct mem_link *link, struct mem_request *request, uint64_t now);
/* Passes on ranges whose write-backs have been accepted. */
void hub_pass_ranges(struct hub *hub, uint64_t now);
extern const struct mem_client_ops hub_lower_ops;

/* hub_protocol.c, hub_maintain.c: the look at the tags when the line is not busy. */
void hub_read(struct hub_entry *entry, uint32_t frame, uint64_t now);
void hub_write(struct hub_entry *entry, uint32_t frame, uint64_t now);
void hub_maintain(struct hub_entry *entry, uint64_t now);
/* Without time; lines that are busy are left as they are. */
void hub_warm_maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size);
/* Settles what a response grants. */
void hub_conclude(struct hub_entry *entry, uint64_t now);

/* For all observers. */
void hub_tell_fill(const struct hub *hub, uint64_t line, uint64_t asked, uint64_t now, unsigned level);
void hub_tell_write(const struct hub *hub, uint64_t line, uint64_t now);
void hub_tell_evict(const struct hub *hub, uint64_t line, uint64_t now);

#endif
