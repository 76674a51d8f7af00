/* The coherence checker's data of lines: a hash table of lines, with the copies of each. */
#ifndef EMU_MEM_COHERENCE_LINES_H
#define EMU_MEM_COHERENCE_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* A version of a line and the access that made it. Number 0 is the initial version. */
struct coherence_version {
    uint64_t number;
    uint64_t pc, time;
    uint16_t core, holder;
};

/* A holder's copy of a line. The record stays when the copy is evicted. */
struct coherence_copy {
    struct coherence_version version;
    uint64_t base;   /* number of memory's version when it was filled */
    uint64_t filled; /* time */
    uint32_t next;   /* next copy of the line; 0: none */
    uint16_t holder;
    bool present;
};

struct coherence_line {
    uint64_t address;
    struct coherence_version newest, memory;
    uint32_t copies; /* first copy; 0: none */
};

struct coherence_lines {
    uint32_t *table; /* number of a line plus 1, by hash of its address; 0: free */
    uint32_t bits;   /* log2 of the table's size */
    uint32_t line_count, line_room, copy_count, copy_room;
    struct coherence_line *lines;
    struct coherence_copy *copies; /* number 0 is not used */
};

/* coherence_lines_init() aborts if the host has no memory, as do the functions that add. */
void coherence_lines_init(struct coherence_lines *lines);
void coherence_lines_free(struct coherence_lines *lines);

/* Returns the line at the address; adds it if it is new. Valid until the next call. */
struct coherence_line *coherence_line_at(struct coherence_lines *lines, uint64_t address);

/* Returns the holder's copy, which may have been evicted; NULL if the holder never had one. */
struct coherence_copy *coherence_copy_of(const struct coherence_lines *lines,
                                         const struct coherence_line *line, unsigned holder);

/* Returns the holder's copy; adds it if it is new. Valid until the next call. */
struct coherence_copy *coherence_copy_at(struct coherence_lines *lines, struct coherence_line *line,
                                         unsigned holder);

#endif
