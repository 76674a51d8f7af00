/* The inside of the last level, shared by its files: llc.c (the port), llc_client.c (who asks),
 * llc_protocol.c (what a request does), llc_frame.c (array and directory), llc_lower.c (memory),
 * llc_maintain.c (ranges), llc_report.c. */
#ifndef EMU_MEM_LLC_STATE_H
#define EMU_MEM_LLC_STATE_H

#include <assert.h>

#include "emu/mem/llc.h"

enum { LLC_NOBODY = -1 };

/* States in the tags. */
enum llc_state { LLC_CLEAN = 1, LLC_DIRTY };

struct llc_entry;

/* Requests in order of arrival. */
struct llc_list {
    struct llc_entry *first, *last;
};

/* The directory's part of a way. A busy one belongs to a transaction, and others wait for it. */
struct llc_frame {
    struct llc_list waiting;
    int32_t owner; /* who may have changed it */
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
    int32_t client;   /* LLC_NOBODY: not attached */
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

struct llc_bank {
    uint64_t start; /* when the next request can be accepted */
    uint64_t array; /* when the data array is free */
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

    struct protocol_rules rules;
    struct tags tags;
    uint32_t moved;           /* bits between an address and its key in the tags: llc_key() */
    uint32_t block_shift;     /* log2 of config.slice_bytes */
    uint32_t slice, stride;   /* which of how many slices it is; 0 of 1: its own lines are not known */
    struct llc_frame *frames; /* by index of the tags */
    uint64_t *holders;        /* by index of the tags: `words` each, bit: client */
    unsigned words;           /* enough for all clients, at least 1 */
    unsigned client_count;
    struct llc_client *clients;
    uint32_t slots;       /* a power of two, at least twice the clients; 0: there are none */
    int32_t *client_slot; /* hash table of clients by link; LLC_NOBODY: empty */

    struct llc_bank *banks;
    unsigned held; /* entries in use */
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
    struct cache_track *track;      /* one of them, or NULL */
};

/* Lists. */
void llc_list_add(struct llc_list *list, struct llc_entry *entry);
struct llc_entry *llc_list_take(struct llc_list *list);

/* The tags' key of a line, and the line of an entry. The set does not depend on the bits that choose the
 * slice: those that the power of two in `slices` stands for. (The odd factor only permutes the sets: lines
 * of a slice differ in their numbers by multiples of it, and an odd number has an inverse modulo a power
 * of two.) They are the lowest bits of the line's number, which the tags' shift skips; if blocks are
 * longer than a line, they lie above others and move to the top of the key. */
enum { LLC_TOP = 56 };
static inline uint64_t llc_key(const struct llc *llc, uint64_t line)
{
    if (!llc->moved)
        return line;
    uint64_t low = line & ((UINT64_C(1) << llc->block_shift) - 1), rest = line >> llc->block_shift;
    uint64_t chooses = rest & ((UINT64_C(1) << llc->moved) - 1);
    assert(line >> LLC_TOP == 0);
    return (rest >> llc->moved) << llc->block_shift | low | chooses << LLC_TOP;
}
static inline uint64_t llc_line_at(const struct llc *llc, uint32_t index)
{
    uint64_t key = tags_key(&llc->tags, index);
    if (!llc->moved)
        return key;
    uint64_t low = key & ((UINT64_C(1) << llc->block_shift) - 1), chooses = key >> LLC_TOP;
    uint64_t rest = (key & ((UINT64_C(1) << LLC_TOP) - 1)) >> llc->block_shift;
    return (rest << llc->moved | chooses) << llc->block_shift | low;
}
static inline uint32_t llc_find(const struct llc *llc, uint64_t line)
{
    return tags_find(&llc->tags, llc_key(llc, line));
}

/* llc.c */
static inline uint64_t llc_after(const struct llc *llc, uint64_t now, uint32_t clocks)
{
    return now + clocks * llc->clock.period;
}
static inline struct llc_bank *llc_bank(const struct llc *llc, uint64_t line)
{
    return &llc->banks[tags_set(&llc->tags, llc_key(llc, line)) & (llc->config.banks - 1)];
}
/* A line is read from or written to the data array; returns when that begins. */
static inline uint64_t llc_transfer(struct llc *llc, uint64_t line, uint64_t now)
{
    llc->transfers++;
    if (!llc->config.bank_clocks)
        return now;
    struct llc_bank *bank = llc_bank(llc, line);
    uint64_t start = now < bank->array ? bank->array : now;
    bank->array = llc_after(llc, start, llc->config.bank_clocks);
    return start;
}
/* The same for a request, which waits for it. */
static inline uint64_t llc_transfer_waited(struct llc *llc, uint64_t line, uint64_t now)
{
    uint64_t start = llc_transfer(llc, line, now);
    llc->counters.array_waits += start > now;
    return start;
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

/* llc_client.c */
int llc_client_of(const struct llc *llc, const struct mem_link *link);

/* llc_frame.c */
static inline uint64_t *llc_holders(const struct llc *llc, uint32_t frame)
{
    return llc->holders + (size_t)frame * llc->words;
}
bool llc_holds(const struct llc *llc, uint32_t frame, int client);
/* What is recorded of the frame's line, seen from the client. */
enum protocol_standing llc_standing(const struct llc *llc, uint32_t frame, int client);
/* Sends the probes of the request's row; returns their number. */
unsigned llc_probe(struct llc *llc, uint32_t frame, int client, enum protocol_request request, uint64_t now);
/* Does what is left of the request's row when its probes are done, and returns the reply. Probes those
 * that have got the line since. */
enum protocol_reply llc_settle(struct llc *llc, uint32_t frame, int client, enum protocol_request request,
                               uint64_t now);
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

/* llc_report.c: the configuration's protocol, or the one that stands for NULL. */
const struct protocol *llc_protocol(const struct llc_config *config);

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
