/* A memory alone, from a description of a machine's part `dram`: requests come from a caller, and answers go to it. */
#ifndef EMU_MACHINE_ALONE_MEMORY_H
#define EMU_MACHINE_ALONE_MEMORY_H

#include "emu/dram/memory.h"
#include "emu/schema/tree.h"

struct alone_memory;

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

enum alone_offer { ALONE_TAKEN, ALONE_FULL, ALONE_MISFIT };

/* Offers a request at the queue's time. ALONE_MISFIT, with err set: the memory does not have all of the bytes, or takes fewer in
 * one request. After ALONE_FULL, the client's room() is called once for the first controller and direction of the request; until
 * then requests to them are refused. */
enum alone_offer alone_memory_offer(struct alone_memory *memory, bool write, uint64_t address, uint64_t size,
                                    uint64_t tag, struct error *err);

/* Its parts: the queue that moves its time, the memory itself, its statistics, which have a fact `warning` if
 * energies are not told, and its energies. */
struct event_queue *alone_memory_queue(struct alone_memory *memory);
struct dram_memory *alone_memory_dram(struct alone_memory *memory);
struct stats *alone_memory_stats(struct alone_memory *memory);
const struct energy_ledger *alone_memory_energies(const struct alone_memory *memory);

/* Returns the number of requests that are not answered yet. */
uint64_t alone_memory_outstanding(const struct alone_memory *memory);

#endif
