/* The internals of the last level, private to its files: llc.c (the port, and the responses of memory),
 * access.c (reads and writes), atomic.c (the atomic unit), maintain.c (ranges), prefetch.c (the prefetcher),
 * directory.c (array and directory), stall.c (requests that wait for a resource), lower.c (requests to
 * memory), clients.c, keys.c, report.c. */
#ifndef EMU_MEM_LLC_STATE_H
#define EMU_MEM_LLC_STATE_H

#include <assert.h>

#include "emu/mem/llc.h"
#include "emu/sim/list.h"

enum { LLC_NOBODY = -1 };

/* States in the tags. */
enum llc_state { LLC_CLEAN = 1, LLC_DIRTY };

struct llc_entry;

/* A list of requests in order of arrival. */
struct llc_list {
    struct llc_entry *first, *last;
};

/* What a stalled entry lacks: an MSHR, the end of the write of its line to memory, a way of its set that is not busy,
 * room in the write buffer for the victim of its set, for its own words, or for the next step of a range. */
enum llc_lack {
    LLC_NO_MSHR,
    LLC_LINE_LEAVING,
    LLC_NO_WAY,
    LLC_NO_VICTIM_ROOM,
    LLC_NO_STORE_ROOM,
    LLC_NO_RANGE_ROOM
};

/* A member of a queue of stalled entries. */
struct llc_member {
    struct llc_member *next, *previous;
    struct llc_queue *queue; /* NULL: in none */
    struct llc_stalled *of;
};

/* An entry's place among the stalled ones. */
struct llc_stalled {
    uint64_t turn; /* from 1; 0: the entry is not stalled */
    enum llc_lack lack;
    struct llc_entry *entry;
    /* of a range: the frame of its next line, and its owner and tags entry when the range stalled */
    uint32_t frame;
    int32_t owner;
    uint64_t tag;
    struct llc_member lacking; /* in the queue of what it lacks */
    struct llc_member writing; /* in llc_stalls.writes */
    struct llc_member by_line; /* in llc_stalls.lines */
};

/* Stalled entries in order of their turns. */
struct llc_queue {
    struct llc_member *first, *last;
};

/* A set of the array, for the entries that wait for one of its ways. */
struct llc_set {
    struct llc_queue waiting;
    bool changed; /* a way may have become available since the first of them looked */
    bool listed;  /* in llc_stalls.changed */
    uint32_t next;
};

/* All stalled entries (stall.c). */
struct llc_stalls {
    uint64_t last;               /* the newest turn */
    uint64_t retried;            /* turn of the entry that looks up the tags again; 0: none does */
    uint32_t count;              /* of stalled entries */
    struct llc_stalled *entries; /* by number of the entry */
    struct llc_queue ready;      /* to look up the tags again at the next retry */
    struct llc_queue mshrs;      /* lack an MSHR */
    struct llc_queue writes;     /* lack room in the write buffer */
    struct llc_queue *lines;     /* hash table of `slots` queues, by line */
    uint32_t slots;              /* a power of two */
    struct llc_set *sets;
    uint32_t changed; /* first of the list of changed sets, or TAGS_NONE */
};

/* The directory entry of a way. A busy one belongs to a transaction, for which other requests of its line
 * wait. */
struct llc_frame {
    struct llc_list waiting;
    int32_t owner;    /* client that may have changed the line, or LLC_NOBODY */
    uint16_t atomics; /* in the atomic unit; it is busy with these only */
    bool busy;
    bool expired;     /* the line leaves as soon as it is not busy */
    bool prefetching; /* busy with a prefetch that no request has waited for */
    bool prefetched;  /* prefetched by this cache and not used yet */
};

/* An accepted request, until its response. */
struct llc_entry {
    struct llc *llc;
    struct llc_entry *next; /* in the list that contains it */
    struct mem_request *request;
    struct event event;
    uint64_t line;
    uint64_t asked;   /* time of arrival */
    uint64_t cursor;  /* of a range: next step of its walk */
    uint64_t barrier; /* of a range: number of writes that memory must have accepted */
    uint32_t frame;   /* the frame that it keeps busy, or TAGS_NONE */
    int32_t client;   /* LLC_NOBODY: not attached */
    bool waited;      /* counted in line_waits */
    bool stalled;     /* counted in stalls */
    bool missed;      /* counted as a miss */
    bool counted;     /* counted in reads or writes */
    bool trained;     /* looked up before: does not train the prefetcher again */
};

/* An outstanding prefetch of this cache, or a free place for one. Its entry has no client and is in no
 * list. */
struct llc_prefetch {
    struct llc_entry entry;
    struct llc_prefetch *next; /* of the free ones */
    struct mem_request request;
};

/* An outstanding read of a line from memory. */
struct llc_mshr {
    struct llc_mshr *next; /* of the free ones, or of those that memory has not accepted */
    struct llc_entry *entry;
    struct mem_request request;
};

/* An outstanding write of a line or of words of one to memory. */
struct llc_outgoing {
    uint64_t line;
    uint64_t words;            /* set of the line's words */
    uint64_t number;           /* in order of their beginning */
    struct llc_outgoing *next; /* of the free ones, or of those that memory has not accepted */
    struct mem_request request;
    uint16_t by; /* requester whose words these are; LLC_SEVERAL: of an evicted line, or of several */
    bool used;
};

enum { LLC_SEVERAL = UINT16_MAX };

enum { LLC_RECENT = 64 }; /* operations that can begin within the most atomic_clocks */

/* An operation of the atomic unit. */
struct llc_operation {
    uint64_t line, words;
    uint64_t start;
};

struct llc_atomic_unit {
    uint64_t free;                           /* time from which it can begin the next operation */
    uint64_t begun;                          /* number of operations */
    struct llc_operation recent[LLC_RECENT]; /* the latest ones, by number modulo LLC_RECENT */
};

enum { LLC_LEAVING = 64 };

struct llc_bank {
    uint64_t start; /* time from which it can accept the next request */
    uint64_t array; /* time from which the data array is free */
};

/* Requests to memory have three links, so that a refusal on one does not block the others. */
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
    bool mapped;              /* keys in the tags differ from lines */
    uint32_t moved;           /* slice-selecting bits that llc_key() moves to the top of a key; 0: none */
    uint32_t block_shift;     /* log2 of config.slice_bytes */
    uint32_t slice, stride;   /* its number among the slices, and their count; 0 and 1: not known */
    struct llc_share share;   /* has: NULL if all lines come to the cache */
    struct llc_frame *frames; /* by index of the tags */
    uint64_t *words_held; /* by index of the tags: set of 32-bit words of a line held in part; 0: all of it */
    uint64_t *holders;    /* by index of the tags: sets of clients, of `words` words each */
    unsigned words;       /* enough for all clients, at least 1 */
    unsigned client_count;
    struct llc_client *clients;
    uint32_t slots;       /* a power of two, at least twice the clients; 0: no clients */
    int32_t *client_slot; /* hash table of clients by link; LLC_NOBODY: free */

    struct llc_bank *banks;
    struct llc_atomic_unit unit;
    unsigned held; /* entries in use */
    struct llc_entry *entries, *free_entries;
    struct llc_stalls stalls;
    struct llc_list away;    /* responses on their way to far clients */
    struct llc_list refused; /* responses for which the client had no room */
    uint32_t refused_count;
    const struct mem_link *refuser; /* the link of all of them; NULL: they have several */
    struct llc_list ranges;         /* done in this cache; wait until memory has accepted their write-backs */
    struct mem_waiters full;

    struct mem_link lower[LLC_WAYS];
    struct mem_waiters passed; /* clients whose uncached requests were refused */
    bool response_refused;     /* memory holds a response for which a client had no room */
    struct llc_mshr *mshrs, *free_mshrs, *unsent_reads, *unsent_reads_last;
    uint32_t mshrs_used;
    struct llc_outgoing *writes, *free_writes, *unsent_writes, *unsent_writes_last;
    uint16_t leaving[LLC_LEAVING]; /* numbers of outstanding writes, by hash of the line */
    uint32_t writes_used;
    struct mem_pushes pushes;
    uint64_t written, accepted; /* number of writes begun, and of those accepted by memory */

    struct llc_registry *by_word; /* NULL: lines have states, and the directory is by line */
    struct prefetcher prefetcher;
    struct llc_prefetch *prefetches, *free_prefetches; /* NULL without a prefetcher */
    uint32_t prefetches_used;
    uint64_t prefetches_elsewhere;   /* lines not prefetched because they are not of its share */
    const struct keep_out *keep_out; /* or NULL */

    struct llc_counters counters;
    uint64_t transfers;             /* reads and writes of lines in the data array */
    struct observer_list observers; /* struct cache_observer */
    struct cache_track *track;      /* one of them, or NULL */
};

/* A pass over the stalled entries, in the order of their turns. */
struct llc_retry {
    uint64_t turn;               /* of the entry that was taken last; 0: none */
    struct llc_stalled *stalled; /* that one */
    struct llc_set *set;         /* for which it was queued, or NULL */
};

/* Queue operations. llc_list_take() returns NULL if the list is empty. */
static inline void llc_list_add(struct llc_list *list, struct llc_entry *entry)
{
    LIST_APPEND(list->first, list->last, entry, next);
}
static inline struct llc_entry *llc_list_take(struct llc_list *list)
{
    struct llc_entry *entry = list->first;
    if (entry)
        list->first = entry->next;
    return entry;
}

/* keys.c. llc_key() returns the key of a line in the tags; llc_line_at() is its inverse. The set must not
 * depend on the bits that select the slice; their number is log2 of the largest power of two that divides `slices`.
 * (The odd factor of `slices` only permutes the sets: line numbers of a slice differ by multiples of it, and
 * an odd number has an inverse modulo a power of two.) The bits are the lowest ones of the block number. If a
 * block is one line, the tags' shift skips them; if it is longer, llc_key() moves them to the top of the
 * key. */
enum { LLC_TOP = 56 };
uint64_t llc_moved_key(const struct llc *llc, uint64_t line);
uint64_t llc_moved_line(const struct llc *llc, uint64_t key);
/* With partitions, XORs the line's set with the folded bits above it; so it is its own inverse. */
uint64_t llc_folded(const struct llc *llc, uint64_t line);
static inline uint64_t llc_key(const struct llc *llc, uint64_t line)
{
    if (!llc->mapped)
        return line;
    return llc->moved ? llc_moved_key(llc, line) : llc_folded(llc, line);
}
static inline uint64_t llc_line_at(const struct llc *llc, uint32_t index)
{
    uint64_t key = tags_key(&llc->tags, index);
    if (!llc->mapped)
        return key;
    return llc->moved ? llc_moved_line(llc, key) : llc_folded(llc, key);
}
static inline uint32_t llc_find(const struct llc *llc, uint64_t line)
{
    return tags_find(&llc->tags, llc_key(llc, line));
}

static inline uint64_t llc_after(const struct llc *llc, uint64_t now, uint32_t clocks)
{
    return now + clocks * llc->clock.period;
}
static inline struct llc_bank *llc_bank(const struct llc *llc, uint64_t line)
{
    return &llc->banks[tags_set(&llc->tags, llc_key(llc, line)) & (llc->config.banks - 1)];
}
/* Counts a read or write of a line in the data array, which keeps the array busy. Returns the time at which
 * it begins. */
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
/* llc_transfer() for a request that waits for the line. */
static inline uint64_t llc_transfer_waited(struct llc *llc, uint64_t line, uint64_t now)
{
    uint64_t start = llc_transfer(llc, line, now);
    llc->counters.array_waits += start > now;
    return start;
}

/* stall.c */
void llc_stalls_init(struct llc *llc);
void llc_stalls_free(struct llc *llc);
/* Keeps the entry until it has what it lacks. */
void llc_stall(struct llc_entry *entry, enum llc_lack lack);
/* llc_stall() for a range, which lacks room in the write buffer for the line in that frame. */
void llc_stall_range(struct llc_entry *entry, uint32_t frame);
/* Takes the next stalled entry that may have got what it lacks, or returns NULL. The entry must look up the
 * tags again; it keeps its turn if it stalls. Then call llc_stalls_looked(). */
struct llc_entry *llc_stalls_take(struct llc *llc, struct llc_retry *retry);
void llc_stalls_looked(struct llc *llc, const struct llc_retry *retry);
/* Returns whether an older request waits until the line has left for memory. A store must not pass it, or a stream
 * of stores could keep the line leaving for ever. */
bool llc_line_awaited(const struct llc *llc, uint64_t line);
/* Make the next retry look at the entries of the line, or at those that wait for a way of the frame's set. */
void llc_stalled_line(struct llc *llc, uint64_t line);
void llc_stalled_set(struct llc *llc, uint32_t frame);
/* Call llc_line_changed() when the line has come into the array or its write to memory has been answered, and
 * llc_frame_changed() when a frame's state, use or line has changed. */
static inline void llc_line_changed(struct llc *llc, uint64_t line)
{
    if (llc->stalls.count)
        llc_stalled_line(llc, line);
}
static inline void llc_frame_changed(struct llc *llc, uint32_t frame)
{
    if (llc->stalls.count)
        llc_stalled_set(llc, frame);
}

/* Returns whether the entry may use the frame's line, although it is busy. */
static inline bool llc_joins(const struct llc_frame *frame, const struct llc_entry *entry)
{
    return frame->atomics && entry->request->atomic;
}

/* clients.c */
/* Returns the number of the client with that link, or LLC_NOBODY. */
int llc_client_of(const struct llc *llc, const struct mem_link *link);
/* Takes an entry for a request. NULL if there is none: the request is refused, and its link is woken when
 * there is room. */
struct llc_entry *llc_accept(struct llc *llc, struct mem_link *link, struct mem_request *request,
                             uint64_t now);
/* Frees the entry of a request that was answered or forwarded. */
void llc_release(struct llc_entry *entry, uint64_t now);

/* directory.c */
static inline uint64_t *llc_holders(const struct llc *llc, uint32_t frame)
{
    return llc->holders + (size_t)frame * llc->words;
}
bool llc_holds(const struct llc *llc, uint32_t frame, int client);
/* Returns the record of the frame's line from the client's point of view. */
enum protocol_standing llc_standing(const struct llc *llc, uint32_t frame, int client);
/* Sends the probes of the request's row. Returns their number. */
unsigned llc_probe(struct llc *llc, uint32_t frame, int client, enum protocol_request request, uint64_t now);
/* Completes the request's row after its probes: updates the record and returns the reply. Also probes clients
 * that have got the line since. */
enum protocol_reply llc_settle(struct llc *llc, uint32_t frame, int client, enum protocol_request request,
                               uint64_t now);
/* Returns a free way for the line, after evicting a victim. If `timed`, a dirty victim goes to the write
 * buffer. TAGS_NONE if all ways are busy or, if `timed`, the write buffer may be full; then *lack tells which. */
uint32_t llc_make_room(struct llc *llc, uint64_t line, bool timed, uint64_t now, enum llc_lack *lack);
/* Removes the line from this cache and all first-level caches; dirty data is lost. */
void llc_forget(struct llc *llc, uint32_t frame, uint64_t now);

/* lower.c */
bool llc_can_write(const struct llc *llc);
void llc_write_back(struct llc *llc, uint32_t frame, uint64_t now);
/* Returns whether the words of a store to the line can be sent now. */
bool llc_can_store(const struct llc *llc, uint64_t line);
/* Returns the set of 32-bit words of its line that a request accesses, in part or as a whole. */
uint64_t llc_words_of(const struct llc_entry *entry);
/* Sends the words of the entry's store. Call it only if llc_can_store(). */
void llc_store_words(struct llc_entry *entry, uint64_t now);
/* Requests the entry's line from memory, or a line for a registry. An MSHR must be free. */
void llc_read_memory(struct llc *llc, struct llc_entry *entry, uint64_t now);
void llc_read_line(struct llc *llc, uint64_t line, uint64_t now);
/* Send the reads or writes that memory has not accepted, until it refuses one. */
void llc_send_reads(struct llc *llc, uint64_t now);
void llc_send_writes(struct llc *llc, uint64_t now);
/* Memory has answered a read: frees its MSHR. Returns the entry that has requested the line. */
struct llc_entry *llc_line_arrived(struct llc *llc, struct mem_request *request, uint64_t now);
/* Memory has answered a write: frees its place. Returns it; it is valid until the next write. */
const struct llc_outgoing *llc_line_written(struct llc *llc, struct mem_request *request);
/* Forwards a request to the level below. Returns false if it was refused; then the link is woken when there
 * is room. */
bool llc_pass(struct llc *llc, struct mem_link *link, struct mem_request *request, uint64_t now);
/* Forwards the ranges whose write-backs memory has accepted. */
void llc_pass_ranges(struct llc *llc, uint64_t now);

/* Returns the configured protocol, or the default for NULL. */
static inline const struct protocol *llc_protocol(const struct llc_config *config)
{
    return config->protocol ? config->protocol : &protocol_mesi;
}

/* prefetch.c */
/* Initializes the prefetcher, but not the events of its entries. */
void llc_prefetch_init(struct llc *llc);
void llc_prefetch_free(struct llc *llc);
/* Trains the prefetcher with a read of a client, and prefetches the lines that it returns. fresh: prefetch.h.
 * Call it after the request was handled, because it may take MSHRs and ways. */
void llc_prefetch_train(struct llc *llc, const struct mem_request *request, bool fresh, uint64_t now);
/* The line of the entry's prefetch is in the array: frees its place. */
void llc_prefetch_done(struct llc *llc, struct llc_entry *entry);
/* Returns whether a prefetch may read a line from memory now. */
static inline bool llc_may_prefetch(const struct llc *llc)
{
    return llc->mshrs_used + llc->config.prefetch_reserve < llc->config.mshrs && !llc->unsent_reads &&
           !llc->stalls.count;
}
/* Counts the first use of a prefetched line. */
static inline void llc_first_use(struct llc *llc, uint32_t frame)
{
    llc->counters.prefetches_useful += llc->frames[frame].prefetched;
    llc->frames[frame].prefetched = false;
}
/* Returns whether a line stays in the array when a store or an atomic has sent its words to memory. With write_evict,
 * only a dirty one does: of a thread stack, or written back by a client. */
static inline bool llc_keeps(const struct llc *llc, uint32_t frame)
{
    return llc->config.write_policy != LLC_WRITE_EVICT || tags_state(&llc->tags, frame) == LLC_DIRTY;
}
/* Removes a line from the array, without a write-back, probes or a call of observers. */
static inline void llc_remove(struct llc *llc, uint32_t frame)
{
    llc->counters.prefetches_unused += llc->frames[frame].prefetched;
    llc->frames[frame].prefetched = false;
    llc->words_held[frame] = 0;
    tags_remove(&llc->tags, frame);
}

/* access.c, maintain.c: handle a request after the tags were looked up and the line is not busy. */
void llc_read(struct llc_entry *entry, uint32_t frame, uint64_t now);
void llc_write(struct llc_entry *entry, uint32_t frame, uint64_t now);
void llc_maintain(struct llc_entry *entry, uint64_t now);
/* atomic.c. The line is in the array, and not busy or busy with atomics only. */
void llc_atomic(struct llc_entry *entry, uint32_t frame, uint64_t now);
/* Returns the time at which the atomic unit begins an operation on words of a line that could begin at `now`. */
uint64_t llc_operation(struct llc *llc, uint64_t line, uint64_t words, uint64_t now);
/* The line of an atomic that has missed is in the array. It may then be used by further ones. */
void llc_atomic_filled(struct llc_entry *entry, uint64_t now);
/* maintain.c. Cleans or invalidates a range without time. Leaves busy lines as they are. */
void llc_warm_maintain(struct llc *llc, enum mem_op op, uint64_t address, uint64_t size);
/* access.c. Completes the transaction when its response is sent, and sets what the response grants. */
void llc_conclude(struct llc_entry *entry, uint64_t now);

/* report.c: call all observers. */
void llc_tell_fill(const struct llc *llc, uint64_t line, uint64_t asked, uint64_t now, unsigned level);
void llc_tell_write(const struct llc *llc, uint64_t line, uint64_t now);
void llc_tell_evict(const struct llc *llc, uint64_t line, uint64_t now);

#endif
