/* The inside of the coherent level, shared by its files: llc.c (the port), llc_protocol.c (what a request
 * does), llc_frame.c (array and directory), llc_lower.c (memory), llc_maintain.c (ranges), llc_report.c.
 */
#ifndef EMU_MEM_LLC_STATE_H
#define EMU_MEM_LLC_STATE_H

#include "emu/mem/llc.h"

enum { LLC_WORDS = LLC_CLIENTS / 64, LLC_NOBODY = -1 };

/* States in the tags. */
enum llc_state { LLC_CLEAN = 1, LLC_DIRTY };

struct llc_entry;

/* Requests in order of arrival. */
struct llc_list {
    struct llc_entry *first, *last;
};

/* The directory's part of a way. A busy one belongs to a transaction, and others wait for it. */
struct llc_frame {
    uint64_t holders[LLC_WORDS];
    struct llc_list waiting;
    int16_t owner; /* who may have it EXCLUSIVE or MODIFIED */
    bool busy;
};

/* A request that has been accepted, until its response. */
struct llc_entry {
    struct llc *llc;
    struct llc_entry *next; /* in the one list that it is in */
    struct mem_request *request;
    struct event event;
    uint64_t line;
    uint64_t asked;   /* when it arrived */
    uint64_t cursor;  /* of a range: the next line, or way */
    uint64_t barrier; /* of a range: write-backs that memory must have accepted */
    uint32_t frame;   /* which it keeps busy, or TAGS_NONE */
    int16_t client;   /* LLC_NOBODY: not attached */
    bool waited;      /* it has been counted as waiting for its line */
    bool stalled;     /* likewise for room */
    bool missed;      /* the line was not here */
};

/* A line on its way from memory. */
struct llc_mshr {
    struct llc_mshr *next; /* free, or not accepted by memory yet */
    struct llc_entry *entry;
    struct mem_request request;
};

/* A line on its way to memory. */
struct llc_outgoing {
    struct llc_outgoing *next; /* free, or not accepted by memory yet */
    struct mem_request request;
    bool used;
};

/* What goes down keeps apart, so that refusing one kind does not stop the others. */
enum llc_way { LLC_READS, LLC_WRITES, LLC_PASSED, LLC_WAYS };

struct llc {
    struct llc_config config;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component;
    uint16_t requester;
    char *name;

    struct tags tags;
    struct llc_frame *frames; /* by index of the tags */
    unsigned client_count;
    struct llc_client clients[LLC_CLIENTS];

    uint64_t start; /* when the next request can be accepted */
    unsigned held;  /* entries in use */
    struct llc_entry *entries, *free_entries;
    struct llc_list stalled; /* for an MSHR, a way or room in the write buffer */
    struct llc_list refused; /* responses that clients had no room for */
    struct llc_list ranges;  /* done here: wait until memory has accepted what was written back */
    struct mem_waiters full;

    struct mem_link lower[LLC_WAYS];
    struct mem_waiters passed; /* clients whose requests could not pass */
    bool response_refused;     /* memory keeps a response that a client had no room for */
    struct llc_mshr *mshrs, *free_mshrs, *unsent_reads, *unsent_reads_last;
    struct llc_outgoing *writes, *free_writes, *unsent_writes, *unsent_writes_last;
    uint64_t written, accepted; /* write-backs begun; accepted by memory */

    struct llc_counters counters;
    uint64_t transfers;             /* of lines from or to the data array */
    struct observer_list observers; /* struct cache_observer */
};

/* Lists. */
void llc_list_add(struct llc_list *list, struct llc_entry *entry);
struct llc_entry *llc_list_take(struct llc_list *list);

/* llc.c */
static inline uint64_t llc_after(const struct llc *llc, uint64_t now, uint32_t clocks)
{
    return now + clocks * llc->clock.period;
}
/* Looks at the tags on behalf of the entry: its event, and whenever what it waited for is there. */
void llc_look(struct llc_entry *entry, uint64_t now);
/* Offers the response; then lets its line go and the entry be used again. */
void llc_answer(struct llc_entry *entry, uint64_t now);
/* Frees the entry of a request that is answered or has passed on. */
void llc_release(struct llc_entry *entry, uint64_t now);
/* Lets a frame go and looks again for those that wait for its line. */
void llc_unlock(struct llc *llc, uint32_t frame, uint64_t now);
/* Keeps the entry until an MSHR, a way or a place in the write buffer is free. */
void llc_stall(struct llc_entry *entry);
/* Something of that has become free: all look again in order, before newcomers can. */
void llc_retry(struct llc *llc, uint64_t now);

/* llc_frame.c */
int llc_client_of(const struct llc *llc, const struct mem_link *link);
bool llc_holds(const struct llc_frame *frame, int client);
/* Whether nobody but the client has a copy. */
bool llc_alone(const struct llc_frame *frame, int client);
/* Lets others than the client have the line in no better state than `remains`; returns the number of probes.
 */
unsigned llc_take(struct llc *llc, uint32_t frame, int client, enum cache_state remains, uint64_t now);
/* Records that the client gets the line, which others have at most SHARED (exclusive: not at all). */
void llc_grant(struct llc *llc, uint32_t frame, int client, bool exclusive);
/* A way for the line, emptied: a dirty victim has gone to the write buffer, if `timed`. TAGS_NONE when all
 * ways are busy or the write buffer may have no room. */
uint32_t llc_make_room(struct llc *llc, uint64_t line, bool timed, uint64_t now);
/* Takes the line out of here and of all first-level caches, its newest version being of no interest. */
void llc_forget(struct llc *llc, uint32_t frame, uint64_t now);

/* llc_lower.c */
bool llc_can_write(const struct llc *llc);
/* Whether the line is on its way to memory. */
bool llc_writing(const struct llc *llc, uint64_t line);
void llc_write_back(struct llc *llc, uint64_t line, uint64_t now);
void llc_read_memory(struct llc *llc, struct llc_entry *entry, uint64_t now);
/* Passes a request to the level below; false: it was refused, and the link is woken when there is room. */
bool llc_pass(struct llc *llc, struct mem_link *link, struct mem_request *request, uint64_t now);
/* Passes on ranges whose write-backs have been accepted. */
void llc_pass_ranges(struct llc *llc, uint64_t now);
extern const struct mem_client_ops llc_lower_ops;

/* llc_protocol.c, llc_maintain.c: the look at the tags when the line is not busy. */
void llc_read(struct llc_entry *entry, uint32_t frame, uint64_t now);
void llc_write(struct llc_entry *entry, uint32_t frame, uint64_t now);
void llc_maintain(struct llc_entry *entry, uint64_t now);
/* Without time; lines that are busy are left as they are. */
void llc_warm_maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size);
/* Settles what a response grants. */
void llc_conclude(struct llc_entry *entry, uint64_t now);

/* For all observers. */
void llc_tell_fill(const struct llc *llc, uint64_t line, uint64_t asked, uint64_t now, unsigned level);
void llc_tell_write(const struct llc *llc, uint64_t line, uint64_t now);
void llc_tell_evict(const struct llc *llc, uint64_t line, uint64_t now);

#endif
