/* Memory traces of `croft dram`, in the formats of Ramulator 2 and DRAMsim3.
 *
 *    LD 0x12340 | ST 74560       Ramulator 2: a load or store; the address is decimal, or hexadecimal behind 0x
 *    0x12340 READ 17             DRAMsim3: address (hexadecimal, with or without 0x), READ or WRITE, clock
 *
 * The first line decides the format for all. Empty lines, and those that begin with #, are left out. */
#ifndef EMU_CMD_DRAM_TRACE_H
#define EMU_CMD_DRAM_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/sim/error.h"

enum trace_format { TRACE_UNKNOWN, TRACE_RAMULATOR, TRACE_DRAMSIM };

struct access_line {
    uint64_t address, clock; /* clock: of DRAMsim3's format */
    bool write;
};

struct access_file {
    FILE *file;
    const char *path;
    enum trace_format format;
    uint64_t line;  /* number of the line that was read last */
    uint64_t clock; /* of the access that was read last */
    char *text;
    size_t room;
};

/* Opens the trace; "-" is standard input. False with err set. */
bool access_file_open(struct access_file *file, const char *path, struct error *err);
void access_file_close(struct access_file *file);

/* Reads the next access. Returns 1, 0 at the end, or -1 with err set, naming file and line. */
int access_file_next(struct access_file *file, struct access_line *access, struct error *err);

/* Prefixes a message about the line that was read last with file and line. Returns false. */
bool access_file_at(const struct access_file *file, struct error *err);

#endif
