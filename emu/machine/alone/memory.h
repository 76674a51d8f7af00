/* A memory alone, from a description of a machine's part `dram`: requests come from a caller, and answers go to it. */
#ifndef EMU_MACHINE_ALONE_MEMORY_H
#define EMU_MACHINE_ALONE_MEMORY_H

#include "emu/dram/memory.h"
#include "emu/mem/home.h"
#include "emu/mem/request.h"
#include "emu/schema/tree.h"

struct alone_memory;

/* A request that is under way, or free. Its own fields are in the line of the host's cache in which the request begins. */
struct alone_slot {
    union {
        uint64_t tag;            /* under way */
        struct alone_slot *next; /* among the free ones */
    };
    struct mem_request request;
};

/* Where a memory takes requests. Its fields are for alone_memory_offer(), which simulators call for each request. */
struct alone_intake {
    const struct event_queue *queue;
    const struct home_map *homes;
    struct mem_link *links; /* by controller and direction */
    struct alone_slot *free;
    uint64_t outstanding;
    uint64_t burst, bytes;          /* of a burst, and of the memory */
    uint64_t span[DRAM_DIRECTIONS]; /* bytes of as many bursts as a request may have */
};

/* A description: the text, or the file at the path `name`, or the standard of that name ("hbm1"). */
struct alone_source {
    const char *name;        /* messages call the description so */
    const char *text;        /* or NULL */
    const char *const *sets; /* NAME=VALUE each */
    size_t set_count;
};

/* Loads a description of a memory. Returns NULL with err set on failure. Free it with tree_free(). */
struct tree *alone_memory_tree(const struct alone_source *source, struct error *err);

struct alone_client {
    /* A request is answered, at time `now` (fs). It may offer others. */
    void (*answer)(void *context, uint64_t tag, uint64_t now);
    /* There may be room again for requests that were refused. It may offer them. NULL: nobody waits. */
    void (*room)(void *context, uint64_t now);
    void *context;
};

/* Makes the memory that a tree describes; both must outlive it. Never NULL. Free it with alone_memory_free(). */
struct alone_memory *alone_memory_new(const struct tree *tree, const struct alone_client *client);
void alone_memory_free(struct alone_memory *memory);

/* Its intake, which lives as long. */
struct alone_intake *alone_memory_intake(struct alone_memory *memory);

/* Makes slots when there are no free ones. Returns the first. */
struct alone_slot *alone_memory_slots(struct alone_intake *intake);

enum alone_offer { ALONE_TAKEN, ALONE_FULL, ALONE_MISFIT };

/* Offers a request at the queue's time. ALONE_MISFIT: the memory does not have all of the bytes, or takes fewer in one request;
 * alone_memory_misfit() says why. After ALONE_FULL, the client's room() is called once for the first controller and direction of the request; until
 * then requests to them are refused. */
static inline enum alone_offer alone_memory_offer(struct alone_intake *intake, bool write, uint64_t address,
                                                  uint64_t size, uint64_t tag)
{
    const enum dram_direction direction = write ? DRAM_WRITES : DRAM_READS;
    /* of 0 bytes, size - 1 is the largest number */
    if (address >= intake->bytes || size - 1 >= intake->bytes - address ||
        (address & (intake->burst - 1)) + size - 1 >= intake->span[direction])
        return ALONE_MISFIT;
    struct alone_slot *slot = intake->free ? intake->free : alone_memory_slots(intake);
    struct mem_request *request = &slot->request;
    intake->free = slot->next;
    slot->tag = tag;
    request->op = write ? MEM_WRITE : MEM_READ; /* the rest is as it was made, or as an answer has left it */
    request->address = address;
    request->size = (uint32_t)size;
    home_resolve(intake->homes, address, &request->home);
    struct mem_link *link = &intake->links[request->home.controller * DRAM_DIRECTIONS + direction];
    if (!link->waiting && mem_link_request(link, request, intake->queue->now)) {
        intake->outstanding++;
        return ALONE_TAKEN;
    }
    slot->next = intake->free;
    intake->free = slot;
    return ALONE_FULL;
}
void alone_memory_misfit(const struct alone_memory *memory, bool write, uint64_t address, uint64_t size,
                         struct error *err);

/* Its parts: the queue that moves its time, the memory itself, its statistics, which have a fact `warning` if
 * energies are not told, and its energies. */
struct event_queue *alone_memory_queue(struct alone_memory *memory);
struct dram_memory *alone_memory_dram(struct alone_memory *memory);
struct stats *alone_memory_stats(struct alone_memory *memory);
const struct energy_ledger *alone_memory_energies(const struct alone_memory *memory);

/* Returns the number of requests that are not answered yet. */
uint64_t alone_memory_outstanding(const struct alone_memory *memory);

#endif
