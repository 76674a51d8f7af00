/* Snapshots: a file with the state of a machine, which each part writes and reads with one function of its own.
 *
 * The file is text: a first line with the format's number, sections, and in them a line for each field, "NAME VALUE". Blocks of
 * bytes follow their line. The last line holds a digest of all bytes before it. A function that visits the fields of a part
 * serves both directions: it replaces each by what the snapshot function returns, which is the field itself while the file is
 * written. After an error nothing more is read or written, and all functions return what they were given. */
#ifndef EMU_SIM_SNAPSHOT_SNAPSHOT_H
#define EMU_SIM_SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"

enum { SNAPSHOT_FORMAT = 1, SNAPSHOT_NAME = 64 };

struct snapshot {
    FILE *file;
    const char *path; /* for messages */
    bool saves;       /* the file is written; otherwise it is read */
    bool failed;
    unsigned
        harts; /* whose state the file has: the machine's first ones; devices have inputs for more of them */
    char section[SNAPSHOT_NAME];
    uint64_t digest;
    struct error *err;
};

/* Begins to write to or read from an open file: the first line. file, path and err must outlive the snapshot. Sets harts to the
 * most; the caller may set it. */
void snapshot_begin(struct snapshot *snapshot, FILE *file, const char *path, bool saves, struct error *err);

/* Writes or checks the last line. Returns false with err set if anything has failed. */
bool snapshot_end(struct snapshot *snapshot);

/* Begins a part's section; a file that has another one here belongs to another machine. */
void snapshot_section(struct snapshot *snapshot, const char *name);

/* Writes or reads a number from 0 to `most`. */
uint64_t snapshot_number(struct snapshot *snapshot, const char *name, uint64_t value, uint64_t most);

/* The same with false and true. */
bool snapshot_flag(struct snapshot *snapshot, const char *name, bool value);

/* Writes a number, or checks that the file has the same: the machine's own, which a snapshot cannot change. */
void snapshot_same(struct snapshot *snapshot, const char *name, uint64_t value);

/* Writes or reads a block of bytes whose size the machine knows, after a line with its size. */
void snapshot_bytes(struct snapshot *snapshot, const char *name, void *bytes, uint64_t size);

/* Writes or reads the bytes alone. */
void snapshot_block(struct snapshot *snapshot, void *bytes, uint64_t size);

/* Notes an error in what was read, unless there is one already. */
void snapshot_fail(struct snapshot *snapshot, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
