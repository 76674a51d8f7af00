/* The offload controllers' table of candidates, checked against the code. */
#ifndef EMU_TOM_TABLE_H
#define EMU_TOM_TABLE_H

#include "emu/analysis/candidate_table.h"
#include "emu/analysis/reach.h"

enum { TOM_FILTER = 1024 };

struct tom_entry {
    struct candidate_entry of;
    unsigned number;          /* in the program's table */
    unsigned in, out;         /* registers of a packet and of its answer; coordinates count */
    unsigned registers;       /* 32-bit registers of a thread that executes the block */
    uint64_t lowest, highest; /* addresses of its instructions */
};

struct tom_table {
    struct tom_entry entries[CANDIDATE_ENTRIES]; /* by `begin` */
    unsigned count;
    /* by bits of the address: an entry may begin or end there. All bits are set until tom_table_load(). */
    uint64_t filter[TOM_FILTER / 64];
};

void tom_table_init(struct tom_table *table);

/* Takes the entries whose blocks can be executed elsewhere: code of at most TOM_BLOCK instructions, all paths of which lead to
 * `end`, without calls, indirect jumps, atomics, fences, calls of the environment and CSRs other than coordinates, which reads
 * no register before it writes it that is not sent. Calls refused() with a message for each of the others. */
enum { TOM_BLOCK = 4096 };
void tom_table_load(struct tom_table *table, const struct candidate_entry *entries, size_t count,
                    const struct decoder *decoder, const struct reach_code *code,
                    void (*refused)(void *context, const char *message), void *context);

static inline bool tom_table_near(const struct tom_table *table, uint64_t pc)
{
    unsigned bit = (unsigned)(pc / 2) % TOM_FILTER;
    return table->filter[bit / 64] >> bit % 64 & 1;
}

/* Returns the entry that begins at pc, or NULL. */
struct tom_entry *tom_table_find(struct tom_table *table, uint64_t pc);

#endif
