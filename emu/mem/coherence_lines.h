/* What the coherence checker knows of lines: a hash table of them, with the copies that holders have. */
#ifndef EMU_MEM_COHERENCE_LINES_H
#define EMU_MEM_COHERENCE_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* A version of a line, with who made it. Number 0 is what was there at the beginning. */
struct coherence_version {
    uint64_t number;
    uint64_t pc, time;
    uint16_t core, holder;
};

/* A holder's copy. Records stay when copies go. */
struct coherence_copy {
    struct coherence_version version;
    uint64_t base;   /* number of memory's version that it comes from */
    uint64_t filled; /* time */
    uint32_t next;   /* of the same line; 0: none */
    uint16_t holder;
    bool present;
};

struct coherence_line {
    uint64_t address;
    struct coherence_version newest, memory;
    uint32_t copies; /* the first; 0: none */
};

struct coherence_lines {
    uint32_t *table; /* number of a line + 1, by hash of its address; 0: free */
    uint32_t bits;   /* log2 of the table's size */
    uint32_t line_count, line_room, copy_count, copy_room;
    struct coherence_line *lines;
    struct coherence_copy *copies; /* number 0 is not used */
};

/* Out of memory aborts. */
void coherence_lines_init(struct coherence_lines *lines);
void coherence_lines_free(struct coherence_lines *lines);

/* The line at the address, made when it is new; valid until the next call. */
struct coherence_line *coherence_line_at(struct coherence_lines *lines, uint64_t address);

/* The holder's copy or what is left of it, NULL if it never had one. */
struct coherence_copy *coherence_copy_of(const struct coherence_lines *lines,
                                         const struct coherence_line *line, unsigned holder);

/* The same, made when it is new; valid until the next call. */
struct coherence_copy *coherence_copy_at(struct coherence_lines *lines, struct coherence_line *line,
                                         unsigned holder);

#endif
