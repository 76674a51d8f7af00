/* Core files of programs that died, as Linux writes them on RISC-V; gdb reads them. */
#ifndef EMU_DEBUG_CORE_DUMP_H
#define EMU_DEBUG_CORE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CORE_DUMP_PAGE = 4096 };

struct core_thread {
    unsigned number; /* from 1 */
    uint64_t pc;
    const uint64_t *x, *f; /* 32 of each */
    uint32_t fcsr;
};

/* Addresses, multiples of CORE_DUMP_PAGE. */
struct core_range {
    uint64_t first, end;
};

/* The state that a core file holds: threads, and all pages of ascending ranges that exist. */
struct core_dump {
    int signal;                        /* Linux's number of the signal that ended the program */
    const struct core_thread *threads; /* first the thread that caused the signal */
    size_t thread_count;
    const struct core_range *ranges;
    size_t range_count;
    /* Copies the page at an address. Returns false if there is none. */
    bool (*read)(void *context, uint64_t address, uint8_t bytes[CORE_DUMP_PAGE]);
    void *context;
};

/* Writes the file to an open stream. Pages of zeros take no room in it if the file system allows holes. Returns false with
 * errno set if the stream cannot be positioned (ESPIPE: it is no regular file). The caller checks other errors with ferror(). */
bool core_dump_write(FILE *out, const struct core_dump *dump);

#endif
