/* The offload controllers' table of candidates, checked against the code. */
#ifndef EMU_TOM_TABLE_H
#define EMU_TOM_TABLE_H

#include "emu/analysis/candidate_table.h"
#include "emu/analysis/flow/reach.h"

enum { TOM_FILTER = 1024, TOM_PASSED = 32 };

struct tom_entry {
    struct candidate_entry of;
    unsigned number;          /* in the program's table */
    unsigned in, out;         /* number of registers in a packet, coordinates included, and in its answer */
    unsigned registers;       /* 32-bit registers of a thread that executes the block */
    uint64_t lowest, highest; /* addresses of its instructions */
    /* addresses of loads that all threads of a launch make at one address, as those of arguments: the first TOM_PASSED of them */
    uint64_t passed[TOM_PASSED];
    unsigned passed_count;
    /* instructions and, of these, loads and stores: of the code, then also those that warps in stacks have executed */
    uint64_t instructions, accesses;
    /* fs, means in which the latest execution counts a sixteenth: in front; as a warp of a stack, and on the way there and back.
     * 0: there was none */
    uint64_t front, inside, outside;
};

struct tom_table {
    struct tom_entry entries[CANDIDATE_ENTRIES]; /* by `begin` */
    unsigned count;
    /* bit pc / 2 % TOM_FILTER: an entry may begin or end at pc. All bits are set until tom_table_load(). */
    uint64_t filter[TOM_FILTER / 64];
};

void tom_table_init(struct tom_table *table);

/* Takes the entries whose blocks can be executed elsewhere. Such a block has at most TOM_BLOCK instructions; its paths leave it
 * only at `end`; it has no calls, indirect jumps, atomics, fences, calls of the environment, HINTs, custom instructions, or CSRs
 * other than coordinates; and it writes each register that is not sent before it reads it. Calls refused() with a message for
 * each other entry. */
enum { TOM_BLOCK = 4096 };
void tom_table_load(struct tom_table *table, const struct candidate_entry *entries, size_t count,
                    const struct decoder *decoder, const struct reach_code *code,
                    void (*refused)(void *context, const char *message), void *context);

static inline bool tom_table_near(const struct tom_table *table, uint64_t pc)
{
    unsigned bit = (unsigned)(pc / 2) % TOM_FILTER;
    return table->filter[bit / 64] >> bit % 64 & 1;
}

/* Returns whether the instruction is one of entry->passed. */
bool tom_entry_passes(const struct tom_entry *entry, uint64_t pc);

/* Returns the entry that begins at pc, or NULL. */
struct tom_entry *tom_table_find(struct tom_table *table, uint64_t pc);

#endif
